import Encoding
import HTTP
package import PurchaseModel

/// One message to an app's server, and what became of it. All attempts send the same text.
package struct NoticeMessage: Sendable {
    /// Of all messages, in the order in which they were made.
    package let number: Int
    package let notice: StoreNotice
    /// Version 2's type, or the `notification_type` of version 1.
    package let type: String
    package let content: Content
    package var attempts: [SentNotice.Attempt] = []
    /// When it will be tried next; nil once it has arrived or was given up.
    package var nextAttemptAt: Timestamp?
    /// It was made, and will never be tried.
    package var isLost = false

    package enum Content: Hashable, Sendable {
        /// Version 2's `signedPayload`.
        case signed(String)
        /// The whole body of version 1.
        case plain([UInt8])
    }

    package init(number: Int, notice: StoreNotice, type: String, content: Content) {
        self.number = number
        self.notice = notice
        self.type = type
        self.content = content
    }

    package var version: NotificationTarget.Version {
        if case .signed = content { .two } else { .one }
    }

    package var isDelivered: Bool { attempts.contains { $0.result == .success } }

    /// What is posted.
    package var body: [UInt8] {
        switch content {
        case .signed(let text): JSONWriter.object(reserving: text.utf8.count + 32) { $0.member("signedPayload", text) }
        case .plain(let body): body
        }
    }

    /// As Apple's history tells it: version 2 only.
    package var sent: SentNotice? {
        guard case .signed(let text) = content else { return nil }
        return SentNotice(notice, number: number, signedPayload: text, attempts: attempts, isLost: isLost)
    }

    func call(to url: String) -> HTTPCall {
        HTTPCall(method: .post, url: url, fields: ["Content-Type": "application/json"], body: body)
    }
}

/// When Apple tries again, each time counted from the attempt before. The sandbox does not.
///
/// Source: Apple, *Responding to App Store Server Notifications*.
package enum RetrySchedule {
    /// - Parameters:
    ///   - count: attempts that were made.
    ///   - version: of the message.
    ///   - environment: of the purchase.
    /// - Returns: `nil` when it is given up.
    package static func delay(
        after count: Int,
        _ version: NotificationTarget.Version,
        _ environment: StoreEnvironment
    ) -> Duration? {
        guard environment == .production else { return nil }
        let hours = version == .two ? [1, 12, 24, 48, 72] : [6, 24, 48]
        guard hours.indices.contains(count - 1) else { return nil }
        return .seconds(hours[count - 1] * 3_600)
    }
}
