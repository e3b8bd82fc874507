package import AppleFormats

/// What to do about each status of verifyReceipt.
///
/// Source: Apple, *status* of *App Store Receipts*.
package enum StatusAdvice: Hashable, Sendable {
    /// Read the receipt.
    case accept
    /// Read the receipt; the subscription of an iOS 6 receipt is over.
    case acceptExpired
    /// Ask the other host, once.
    case askSandbox, askProduction
    /// Set the right shared secret: the receipt is not judged.
    case fixSecret
    /// Ask again later: no word about the receipt.
    case retry
    /// Ask again a few times: it is malformed, or Apple has a passing trouble.
    case retryThenRefuse
    /// Give up on this receipt.
    case refuse

    package init(_ status: VerifyReceiptStatus, isRetryable: Bool?) {
        switch status {
        case .valid: self = .accept
        case .subscriptionExpired: self = .acceptExpired
        case .sandboxReceipt: self = .askSandbox
        case .productionReceipt: self = .askProduction
        case .wrongSharedSecret: self = .fixSecret
        case .malformedReceipt: self = .retryThenRefuse
        // A request that cannot be read is ours, or whoever's stands between: the receipt was not judged.
        case .unavailable, .internalError, .unreadableRequest: self = .retry
        case .notAuthenticated, .accountNotFound: self = .refuse
        default:
            // A number that nobody has documented is no verdict.
            let isForGood = status.isInternalDataAccessError && isRetryable == false
            self = isForGood ? .refuse : .retry
        }
    }
}
