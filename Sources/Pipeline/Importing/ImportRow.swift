package import PurchaseModel

/// One row of a source of old purchases.
package struct ImportRow: Hashable, Sendable {
    /// What it says was bought, by whom.
    package struct Claim: Hashable, Sendable {
        /// A proof, or the digits of a transaction's number.
        package var proof: [UInt8]
        package var customer: CustomerID?

        package init(proof: [UInt8], customer: CustomerID? = nil) {
            self.proof = proof
            self.customer = customer
        }
    }

    package var line: Int64
    /// Where the next row begins, in bytes, and on which line.
    package var end: Int64
    package var lineAfter: Int64
    package var claim: Result<Claim, ImportRowFault>

    package init(line: Int64, end: Int64, lineAfter: Int64, claim: Result<Claim, ImportRowFault>) {
        self.line = line
        self.end = end
        self.lineAfter = lineAfter
        self.claim = claim
    }
}

/// Why something is no row of an import. Stable words of the report.
package enum ImportRowFault: String, Error, Hashable, Sendable, CaseIterable {
    case tooLong = "row_too_long"
    /// A quote is open, or closed in the middle of a field.
    case quote = "quote"
    case tooManyFields = "too_many_fields"
    /// Fewer or more fields than the first line has.
    case fieldCount = "field_count"
    case json
    /// Neither a proof nor a transaction's number.
    case noProof = "no_proof"
    case transactionID = "transaction_id"
    /// 1 to 255 printable ASCII characters without spaces.
    case customer = "customer_id"
    /// A file that cannot be read.
    case unreadable = "file_unreadable"
    /// Bought elsewhere than from Apple: nothing to import.
    case otherStore = "other_store"
    /// Another row of an export than a transaction: nothing to import.
    case otherKind = "other_kind"
}
