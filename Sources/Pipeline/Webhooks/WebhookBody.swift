import Encoding
package import PurchaseModel
package import Storage

/// Which kind of event a message tells of: `order.paid`, `entitlement.revoked`.
package struct WebhookEventType: Hashable, Sendable, CustomStringConvertible {
    /// The longest that is let in, in bytes.
    package static let bytesMax = 128

    package let text: String

    /// Nil unless the text is words of `a-z A-Z 0-9 _` with one full stop between two.
    package init?(_ text: String) {
        guard (1...WebhookEventType.bytesMax).contains(text.utf8.count) else { return nil }
        let words = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard words.allSatisfy({ !$0.isEmpty && $0.allSatisfy(WebhookEventType.isLetter) }) else { return nil }
        self.text = text
    }

    /// What an operator sends to see whether an endpoint answers. No customer's event has it.
    package static let test = WebhookEventType(checked: "webhook.test")

    private init(checked text: String) {
        self.text = text
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    package var description: String { text }
}

/// The text that is sent: `{"type", "timestamp", "data": {…}}`, the same bytes at every attempt.
///
/// Source: Standard Webhooks 1.0.0, *Payload structure*, *Payload size*.
package enum WebhookBody {
    /// The specification recommends to stay below 20 kB.
    package static let bytesMax = 19_999
    /// Of the shape of `data`; a new number when a member changes its meaning.
    static let version = 1

    /// What every message says of its event in `data`, whatever the event is.
    private static let common: Set = [
        "event_id", "version", "app", "environment", "test_signed", "customer_id", "sequence", "learned_at",
    ]

    /// The message that tells of an event.
    ///
    /// - Returns: with all members of the event's own data; when that would be too long, or the data is no JSON object,
    ///   without them and with `"is_thin": true`, for the receiver to ask for what it is about.
    package static func bytes(of event: EventRow) -> [UInt8] {
        if let document = try? JSONDocument(event.data), let own = document.root.object {
            let whole = write(event) { data in
                for (name, value) in own.members where !common.contains(name) { data.member(name, value) }
            }
            if whole.count <= bytesMax { return whole }
        }
        return write(event) { $0.member(EventRows.isThin, true) }
    }

    /// What an operator sends to see whether an endpoint answers.
    package static func test(app: AppID, id: WebhookMessageID, at now: Timestamp) -> [UInt8] {
        write(type: WebhookEventType.test.text, at: now) { data in
            data.member("event_id", id.text)
            data.member("version", version)
            data.member("app", app.text)
        }
    }

    private static func write(_ event: EventRow, _ members: (inout JSONObjectWriter) -> Void) -> [UInt8] {
        write(type: event.type, at: event.happenedAt) { data in
            data.member("event_id", event.id.text)
            data.member("version", version)
            data.member("app", event.app.text)
            data.member("environment", event.realm.environment.rawValue)
            if event.realm.isTestSigned { data.member("test_signed", true) }
            data.member("customer_id", event.customer?.text)
            data.member("sequence", event.sequence)
            data.member("learned_at", event.learnedAt)
            members(&data)
        }
    }

    private static func write(
        type: String,
        at moment: Timestamp,
        _ data: (inout JSONObjectWriter) -> Void
    ) -> [UInt8] {
        JSONWriter.object(reserving: 1_024) { message in
            message.member("type", type)
            message.member("timestamp", moment)
            message.object("data") { data(&$0) }
        }
    }
}
