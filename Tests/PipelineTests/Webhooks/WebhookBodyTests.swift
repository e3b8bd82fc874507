import Encoding
import Pipeline
import PurchaseModel
import Testing

@Suite struct WebhookBodyTests {
    private static func envelope() throws -> WebhookEnvelope {
        WebhookEnvelope(
            eventID: "evt_1",
            type: try #require(WebhookEventType("order.paid")),
            app: AppID(checked: "shop"),
            realm: Realm(environment: .sandbox, isTestSigned: false),
            occurredAt: Timestamp(milliseconds: 1_800_000_000_123),
            recordedAt: Timestamp(milliseconds: 1_800_000_001_000),
            customer: CustomerID(checked: "user-42"),
            sequence: 7
        )
    }

    @Test func theShapeIsAContract() throws {
        var envelope = try Self.envelope()
        let body = WebhookBody.bytes(envelope) { $0.member("order_id", "ord_1") }
        let expected =
            #"{"type":"order.paid","timestamp":"2027-01-15T08:00:00.123Z","data":{"event_id":"evt_1","version":1,"#
            + #""app":"shop","environment":"sandbox","customer_id":"user-42","sequence":7,"#
            + #""recorded_at":"2027-01-15T08:00:01.000Z","order_id":"ord_1"}}"#
        #expect(String(decoding: body, as: UTF8.self) == expected)
        envelope.realm = Realm(environment: .production, isTestSigned: true)
        envelope.customer = nil
        envelope.sequence = nil
        let data = try #require(try JSONDocument(WebhookBody.bytes(envelope)).root.object?["data"]?.object)
        #expect(data["test_signed"]?.bool == true && data["environment"]?.string == "production")
        #expect(data["customer_id"] == nil && data["sequence"] == nil)
    }

    @Test func whatIsTooLongIsSentWithoutItsOwnMembers() throws {
        let envelope = try Self.envelope()
        let empty = WebhookBody.bytes(envelope) { $0.member("note", "") }.count
        func bytes(_ count: Int) -> [UInt8] {
            WebhookBody.bytes(envelope) { $0.member("note", String(repeating: "x", count: count)) }
        }
        #expect(bytes(WebhookBody.bytesMax - empty).count == 19_999)
        let thin = bytes(WebhookBody.bytesMax - empty + 1)
        let data = try #require(try JSONDocument(thin).root.object?["data"]?.object)
        #expect(data["is_thin"]?.bool == true && data["note"] == nil && data["event_id"]?.string == "evt_1")
    }

    @Test(arguments: [
        ("order.paid", true), ("a", true), ("A_1.b.c", true), ("", false), (".", false), ("a.", false), (".a", false),
        ("a..b", false), ("a-b", false), ("a b", false), ("ä", false), (String(repeating: "a", count: 129), false),
    ])
    func aTypeIsWordsAndFullStops(text: String, isOne: Bool) {
        #expect((WebhookEventType(text) != nil) == isOne)
    }
}
