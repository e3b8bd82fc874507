package import PurchaseModel

/// A notification with every attempt to deliver it.
package struct SentNotice: Hashable, Sendable {
    package let notice: StoreNotice
    /// Its place among all that were made.
    package let number: Int
    /// As it was sent: the original text, whatever has changed since.
    package let signedPayload: String
    /// In order; none while the first is still to come.
    package var attempts: [Attempt]
    /// It will never be tried: only the history tells of it.
    package let isLost: Bool

    package init(
        _ notice: StoreNotice,
        number: Int,
        signedPayload: String,
        attempts: [Attempt],
        isLost: Bool = false
    ) {
        self.isLost = isLost
        self.notice = notice
        self.number = number
        self.signedPayload = signedPayload
        self.attempts = attempts
    }

    /// One try to deliver.
    package struct Attempt: Hashable, Sendable {
        package let at: Timestamp
        package let result: Result

        package init(at: Timestamp, result: Result) {
            self.at = at
            self.result = result
        }
    }

    /// Apple's words for how an attempt ended. Source: Apple, *sendAttemptResult*.
    package enum Result: String, Hashable, Sendable, CaseIterable {
        case success = "SUCCESS"
        case timedOut = "TIMED_OUT"
        case tlsIssue = "TLS_ISSUE"
        case circularRedirect = "CIRCULAR_REDIRECT"
        case noResponse = "NO_RESPONSE"
        case socketIssue = "SOCKET_ISSUE"
        case unsupportedCharset = "UNSUPPORTED_CHARSET"
        case invalidResponse = "INVALID_RESPONSE"
        case prematureClose = "PREMATURE_CLOSE"
        case unsuccessfulStatus = "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
        case other = "OTHER"
    }

    /// Apple's history follows the order of sending.
    package var sentAt: Timestamp { attempts.first?.at ?? notice.at }

    package var isDelivered: Bool { attempts.contains { $0.result == .success } }
}

/// What was sent to an app's server: kept by whoever delivers, told to whoever answers.
package struct SentNotices: Sendable {
    /// All notifications of version 2 that were sent, in any order.
    package var all: @Sendable (BundleID, StoreEnvironment) -> [SentNotice]
    /// One of them by its UUID.
    package var one: @Sendable (BundleID, StoreEnvironment, _ uuid: String) -> SentNotice?

    package init(
        all: @escaping @Sendable (BundleID, StoreEnvironment) -> [SentNotice],
        one: @escaping @Sendable (BundleID, StoreEnvironment, _ uuid: String) -> SentNotice?
    ) {
        self.all = all
        self.one = one
    }

    /// Of a store that sends nothing.
    package static let none = SentNotices(all: { _, _ in [] }, one: { _, _, _ in nil })
}
