package import PurchaseModel
import Storage
import Verification

/// One row of a source of old purchases.
package struct ImportRow: Hashable, Sendable {
    /// What it says was bought, by whom.
    package struct Claim: Hashable, Sendable {
        /// A proof, or the digits of a transaction's number; of a request to verifyReceipt the receipt alone.
        package var proof: [UInt8]
        package var customer: CustomerID?
        /// What the customer owns; `nil` for all that the proof holds.
        package var subject: Subject?
        /// What became of the subject in the ledger that it is from; `nil` when the row does not say.
        package var exported: ExportedFulfilment?
        /// Of the whole request to verifyReceipt that the proof came in, by which older versions know it; `nil` for any other.
        let digestOfRequest: ProofDigest?

        package init(
            proof: [UInt8],
            customer: CustomerID? = nil,
            subject: Subject? = nil,
            exported: ExportedFulfilment? = nil
        ) {
            let bare = BareProof.of(proof)
            self.proof = bare
            digestOfRequest = bare == proof ? nil : ProofDigest(of: proof)
            self.customer = customer
            self.subject = subject
            self.exported = exported
        }
    }

    /// The one transaction that a row is about.
    package struct Subject: Hashable, Sendable {
        package var id: TransactionID
        /// On which side of the wall; `nil` when the row does not say.
        package var realm: Realm?

        package init(_ id: TransactionID, in realm: Realm? = nil) {
            self.id = id
            self.realm = realm
        }

        /// As Apple is asked about it where its proof does not tell enough.
        var digits: [UInt8] { Array(id.description.utf8) }
    }

    package var line: Int64
    /// The same unless fields between quotes hold line ends.
    package var lastLine: Int64
    /// Where the next row begins, in bytes, and on which line.
    package var end: Int64
    package var lineAfter: Int64
    package var claim: Result<Claim, ImportRowFault>

    /// - Parameters:
    ///   - line: on which it begins.
    ///   - lastLine: on which it ends; the same if not given.
    ///   - end: where the next row begins, in bytes.
    ///   - lineAfter: on which line.
    ///   - claim: what it says.
    package init(
        line: Int64,
        lastLine: Int64? = nil,
        end: Int64,
        lineAfter: Int64,
        claim: Result<Claim, ImportRowFault>
    ) {
        self.line = line
        self.lastLine = lastLine ?? line
        self.end = end
        self.lineAfter = lineAfter
        self.claim = claim
    }

    /// Why it is none though it has several lines: a quote that is not closed has taken other rows along. `nil` for any other.
    package var faultOfManyLines: ImportRowFault? {
        guard lastLine > line, case .failure(let fault) = claim, fault.isInvalid else { return nil }
        return fault
    }

    /// The names under which Apple may have been asked about it: of its proof, as it is kept now and as older versions kept it,
    /// and of the number of its one transaction.
    func askedUnder(_ app: AppID) -> [SubmissionName] {
        guard case .success(let claim) = claim else { return [] }
        let proofs = [claim.proof] + (claim.subject.map { [$0.digits] } ?? [])
        let digests = proofs.map { ProofDigest(of: $0) } + [claim.digestOfRequest].compactMap(\.self)
        return digests.map { SubmissionName(app: app, digest: $0, customer: claim.customer) }
    }

    /// Whether it tells of a purchase, and not whose it is.
    var namesNobody: Bool {
        if case .success(let claim) = claim { claim.customer == nil } else { false }
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
    /// Its proof is of other transactions than the one that it names.
    case otherTransaction = "other_transaction"
    /// No name that a customer may be given: see `CustomerID`.
    case customer = "customer_id"
    /// A file that cannot be read.
    case unreadable = "file_unreadable"
    /// Bought elsewhere than from Apple: nothing to import.
    case otherStore = "other_store"
    /// Another row of an export than a transaction: nothing to import.
    case otherKind = "other_kind"

    /// Whether something is wrong with the row: it is not only of no concern here.
    var isInvalid: Bool { self != .otherStore && self != .otherKind }
}
