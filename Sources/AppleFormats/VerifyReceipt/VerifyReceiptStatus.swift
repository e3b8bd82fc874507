/// The number in which verifyReceipt answers; the HTTP status is 200 nearly always.
///
/// Source: Apple, *status* of *App Store Receipts* (frozen at 1.7).
package struct VerifyReceiptStatus: OpenValue {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// The receipt is genuine as a whole; every subscription in it may have expired.
    package static let valid = VerifyReceiptStatus(rawValue: 0)
    /// The request was no POST, in older words: no readable JSON.
    package static let unreadableRequest = VerifyReceiptStatus(rawValue: 21_000)
    /// No longer sent.
    package static let retired = VerifyReceiptStatus(rawValue: 21_001)
    /// The receipt is malformed or missing, or the service had a passing trouble.
    package static let malformedReceipt = VerifyReceiptStatus(rawValue: 21_002)
    /// Signature or chain is bad.
    package static let notAuthenticated = VerifyReceiptStatus(rawValue: 21_003)
    package static let wrongSharedSecret = VerifyReceiptStatus(rawValue: 21_004)
    package static let unavailable = VerifyReceiptStatus(rawValue: 21_005)
    /// iOS 6 receipts only: genuine, the subscription has expired. The decoded receipt comes too.
    package static let subscriptionExpired = VerifyReceiptStatus(rawValue: 21_006)
    /// A sandbox receipt was sent to production.
    package static let sandboxReceipt = VerifyReceiptStatus(rawValue: 21_007)
    /// A production receipt was sent to sandbox.
    package static let productionReceipt = VerifyReceiptStatus(rawValue: 21_008)
    package static let internalError = VerifyReceiptStatus(rawValue: 21_009)
    /// Account not found or deleted.
    package static let accountNotFound = VerifyReceiptStatus(rawValue: 21_010)

    /// 21100 to 21199, for which the answer's `is-retryable` says whether to ask again.
    package var isInternalDataAccessError: Bool { (21_100...21_199).contains(rawValue) }

    /// Whether the answer has a decoded receipt.
    package var hasReceipt: Bool { self == .valid || self == .subscriptionExpired }

    /// Whether to ask again later; what the answer says of it counts for the internal data access errors only.
    package func deservesRetry(isRetryable: Bool?) -> Bool {
        switch self {
        case .malformedReceipt, .unavailable, .internalError: true
        default: isInternalDataAccessError && isRetryable != false
        }
    }
}
