package import Encoding

/// A notification that Apple has sent, and how its delivery went: Get Test Notification Status, and each element of Get
/// Notification History.
package struct SentNotification: ServerAnswerModel {
    /// One attempt to deliver it.
    package struct Attempt: Hashable, Sendable {
        /// Milliseconds since 1970.
        package let date: Int64?
        package let result: AppleSendResult?
    }

    package let signedPayload: String
    /// At most six.
    package let attempts: [Attempt]
    /// Older answers have only this.
    package let firstResult: AppleSendResult?
    package let others: [RawMember]

    package init(_ document: JSONDocument) throws(FormatFault) {
        var reader = AnswerReader(try document.members())
        try self.init(&reader)
    }

    init(_ reader: inout AnswerReader) throws(FormatFault) {
        signedPayload = try reader.required("signedPayload")
        attempts = try reader.list("sendAttempts") { reader throws(FormatFault) in
            Attempt(
                date: try reader.number("attemptDate"),
                result: try reader.text("sendAttemptResult").map(AppleSendResult.init(rawValue:))
            )
        }
        firstResult = try reader.text("firstSendAttemptResult").map(AppleSendResult.init(rawValue:))
        others = try reader.others()
    }
}

/// How an attempt to deliver a notification ended.
package struct AppleSendResult: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let success = AppleSendResult(rawValue: "SUCCESS")
}

/// One page of Get Notification History.
package struct NotificationHistoryAnswer: ServerAnswerModel {
    package let notifications: [SentNotification]
    package let hasMore: Bool
    package let paginationToken: String?
    package let others: [RawMember]

    package init(_ document: JSONDocument) throws(FormatFault) {
        var reader = AnswerReader(try document.members())
        notifications = try reader.list("notificationHistory") { reader throws(FormatFault) in
            try SentNotification(&reader)
        }
        hasMore = try reader.flag("hasMore") ?? false
        paginationToken = try reader.text("paginationToken")
        others = try reader.others()
    }
}

/// What Get Notification History is asked for.
package struct NotificationHistoryRequest: Hashable, Sendable {
    /// Milliseconds since 1970; Apple keeps 180 days, the sandbox 30.
    package var startDate: Int64
    package var endDate: Int64
    /// Not together with ``transactionID``.
    package var notificationType: String?
    package var notificationSubtype: String?
    package var transactionID: String?
    /// Those that have not been delivered so far.
    package var onlyFailures: Bool?

    package init(startDate: Int64, endDate: Int64) {
        self.startDate = startDate
        self.endDate = endDate
    }

    package var json: [UInt8] {
        JSONWriter.object { body in
            body.member("startDate", startDate)
            body.member("endDate", endDate)
            body.member("notificationType", notificationType)
            body.member("notificationSubtype", notificationSubtype)
            body.member("transactionId", transactionID)
            body.member("onlyFailures", onlyFailures)
        }
    }
}

/// Request a Test Notification.
package struct TestNotificationAnswer: ServerAnswerModel {
    package let testNotificationToken: String

    package init(_ document: JSONDocument) throws(FormatFault) {
        var reader = AnswerReader(try document.members())
        testNotificationToken = try reader.required("testNotificationToken")
    }
}
