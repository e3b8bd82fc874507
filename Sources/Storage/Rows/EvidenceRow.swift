package import PurchaseModel

/// A proof that changed the ledger, kept for audit and to be verified again.
package struct EvidenceRow: Hashable, Sendable {
    package var digest: ProofDigest
    /// The word for the kind of proof, such as `jws`.
    package var format: String
    /// The raw bytes as they were received.
    package var proof: [UInt8]
    /// Who presented it.
    package var customer: CustomerID?
    package var receivedAt: Timestamp
    /// The word for what was decided about it.
    package var verdict: String

    package init(
        digest: ProofDigest,
        format: String,
        proof: [UInt8],
        customer: CustomerID?,
        receivedAt: Timestamp,
        verdict: String
    ) {
        self.digest = digest
        self.format = format
        self.proof = proof
        self.customer = customer
        self.receivedAt = receivedAt
        self.verdict = verdict
    }

    var isStorable: Bool { StorableText.isWord(format) && StorableText.isWord(verdict) }
}
