package import PurchaseModel

/// A fact, and where it was proved. Its `init` is internal: outside this target none can be made up, not even by a
/// test.
package struct Verified<Fact: Sendable>: Sendable {
    package let fact: Fact
    package let provenance: Provenance

    init(_ fact: Fact, provenance: Provenance) {
        self.fact = fact
        self.provenance = provenance
    }

    /// `genuine` or `test_signed`: nothing else is ever proved.
    package var verdict: Verdict { provenance.vouchedBy.isTest ? .testSigned : .genuine }
}

/// Who vouches for a fact.
package struct Provenance: Hashable, Sendable {
    package let vouchedBy: Voucher
    /// When it was signed, by the signed bytes themselves.
    package let signedAt: Timestamp
}

/// What a proof proves: the transactions in it, and what it says of renewals, the app or a notification.
package struct Proof: Hashable, Sendable {
    package let format: ProofFormat
    package let claims: Claims
    /// What was examined, as it came: the evidence.
    package let bytes: [UInt8]

    package var transactions: [Transaction] { claims.transactions }

    /// What it proves of the renewals of its app. A renewal info alone names none, so that it could be any app's.
    package var renewals: [Renewal] {
        format == .jwsRenewalInfo ? [] : [claims.renewal].compactMap(\.self)
    }
}
