package import Encoding
package import PurchaseModel

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

/// What a message says of its event, whatever the event is.
package struct WebhookEnvelope: Sendable, Equatable {
    package var eventID: String
    package var type: WebhookEventType
    package var app: AppID
    package var realm: Realm
    /// When it happened.
    package var occurredAt: Timestamp
    /// When it was learned of.
    package var recordedAt: Timestamp
    /// Of all events of this customer, without gaps; nil when the event is nobody's.
    package var customer: CustomerID?
    package var sequence: Int64?

    package init(
        eventID: String,
        type: WebhookEventType,
        app: AppID,
        realm: Realm,
        occurredAt: Timestamp,
        recordedAt: Timestamp,
        customer: CustomerID? = nil,
        sequence: Int64? = nil
    ) {
        self.eventID = eventID
        self.type = type
        self.app = app
        self.realm = realm
        self.occurredAt = occurredAt
        self.recordedAt = recordedAt
        self.customer = customer
        self.sequence = sequence
    }
}

/// The text that is sent: `{"type", "timestamp", "data": {…}}`. It is made once, and every attempt sends the same bytes.
///
/// Source: Standard Webhooks 1.0.0, *Payload structure*, *Payload size*.
package enum WebhookBody {
    /// The specification recommends to stay below 20 kB.
    package static let bytesMax = 19_999
    /// Of the shape of `data`; a new number when a member changes its meaning.
    static let version = 1

    /// - Parameters:
    ///   - envelope: what every message says.
    ///   - members: writes what only this kind of event says, into `data`.
    /// - Returns: the message; when all of it would be too long, one without those members that says
    ///   `"is_thin": true`, for the receiver to ask for the event by its id.
    package static func bytes(
        _ envelope: WebhookEnvelope,
        _ members: (inout JSONObjectWriter) -> Void = { _ in }
    ) -> [UInt8] {
        let whole = write(envelope, members)
        return whole.count <= bytesMax ? whole : write(envelope) { $0.member("is_thin", true) }
    }

    private static func write(_ envelope: WebhookEnvelope, _ members: (inout JSONObjectWriter) -> Void) -> [UInt8] {
        JSONWriter.object(reserving: 1_024) { message in
            message.member("type", envelope.type.text)
            message.member("timestamp", RFC3339.text(milliseconds: envelope.occurredAt.milliseconds))
            message.object("data") { data in
                data.member("event_id", envelope.eventID)
                data.member("version", version)
                data.member("app", envelope.app.text)
                data.member("environment", envelope.realm.environment.rawValue)
                if envelope.realm.isTestSigned { data.member("test_signed", true) }
                data.member("customer_id", envelope.customer?.text)
                data.member("sequence", envelope.sequence)
                data.member("recorded_at", RFC3339.text(milliseconds: envelope.recordedAt.milliseconds))
                members(&data)
            }
        }
    }
}
