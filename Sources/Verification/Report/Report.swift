package import PurchaseModel

/// Everything that was found out about a proof: for the operator, in full.
///
/// What a proof *says* stands here whether or not it is true; only ``verdict`` tells which. What has been proved, and
/// may be acted upon, is a ``Verified``.
package struct Report: Sendable {
    package var format: ProofFormat = .unknown
    package var reason: Reason = .unrecognised
    package var detail: String?
    package var difference: Difference?
    package var claims = Claims()
    /// Of a proof that was refused before its claims were read: a transaction that it names.
    package var glanced: TransactionID?
    package var checks: [Check] = []
    package var certificates: [CertificateFacts] = []
    /// Whose signature was found good, whatever else the reason is; `nil` when none was.
    package var vouchedBy: Voucher?

    package var verdict: Verdict { reason.verdict }

    /// The transactions that the proof names, true or not; of a forgery one at most.
    package var claimed: [TransactionID] {
        claims.transactions.isEmpty ? [glanced].compactMap(\.self) : claims.transactions.map(\.id)
    }

    /// Notes a good signature, under a chain that was valid when it was made.
    mutating func note(_ voucher: Voucher) {
        vouchedBy = voucher
        reason = voucher.reason
    }
}

/// What a proof says, in our own words.
package struct Claims: Hashable, Sendable {
    package var environment: StoreEnvironment?
    package var bundleID: String?
    package var appleID: Int64?
    package var signedAt: Timestamp?
    package var transactions: [Transaction] = []
    /// Whether the transaction, if it is one alone, was made through Advanced Commerce.
    package var isAdvancedCommerce = false
    @Seldom package var renewal: Renewal?
    @Seldom package var download: AppDownload?
    @Seldom package var notice: Notice?
}
