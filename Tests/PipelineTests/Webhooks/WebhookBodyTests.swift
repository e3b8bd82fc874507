import Encoding
import Pipeline
import PurchaseModel
import Storage
import Testing

@Suite struct WebhookBodyTests {
    private static func event(_ data: String = "{}") -> EventRow {
        EventRow(
            id: EventID(checked: "evt_1"),
            app: AppID(checked: "shop"),
            realm: Realm(environment: .sandbox, isTestSigned: false),
            customer: CustomerID(checked: "user-42"),
            sequence: 7,
            type: "order.paid",
            happenedAt: Timestamp(milliseconds: 1_800_000_000_123),
            learnedAt: Timestamp(milliseconds: 1_800_000_001_000),
            data: Array(data.utf8)
        )
    }

    private static func data(of body: [UInt8]) throws -> JSONObject {
        try #require(try JSONDocument(body).root.object?["data"]?.object)
    }

    @Test func theShapeIsAContract() throws {
        var event = Self.event(#"{"order_id":"ord_1","lines":[1,{"a":null}]}"#)
        let expected =
            #"{"type":"order.paid","timestamp":"2027-01-15T08:00:00.123Z","data":{"event_id":"evt_1","version":1,"#
            + #""app":"shop","environment":"sandbox","customer_id":"user-42","sequence":7,"#
            + #""learned_at":"2027-01-15T08:00:01.000Z","order_id":"ord_1","lines":[1,{"a":null}]}}"#
        #expect(String(decoding: WebhookBody.bytes(of: event), as: UTF8.self) == expected)
        event.realm = Realm(environment: .production, isTestSigned: true)
        event.customer = nil
        let data = try Self.data(of: WebhookBody.bytes(of: event))
        #expect(data["test_signed"]?.bool == true && data["environment"]?.string == "production")
        #expect(data["customer_id"] == nil)
    }

    @Test func theEventsOwnDataChangesNothingThatEveryMessageSays() throws {
        let body = WebhookBody.bytes(of: Self.event(#"{"event_id":"evt_2","test_signed":true,"sequence":8,"x":1}"#))
        let data = try Self.data(of: body)
        #expect(data["event_id"]?.string == "evt_1" && data["test_signed"] == nil && data["sequence"]?.int64 == 7)
        #expect(data["x"]?.int64 == 1 && data["is_thin"] == nil)
    }

    @Test func whatWasKeptThinSaysSo() throws {
        let data = try Self.data(of: WebhookBody.bytes(of: Self.event(#"{"is_thin":true,"delivery":{"fence":2}}"#)))
        #expect(data["is_thin"]?.bool == true && data["delivery"]?.object?["fence"]?.int64 == 2)
    }

    @Test func whatIsTooLongIsSentWithoutItsOwnMembers() throws {
        func bytes(_ count: Int) -> [UInt8] {
            WebhookBody.bytes(of: Self.event(#"{"note":""# + String(repeating: "x", count: count) + #""}"#))
        }
        let empty = bytes(0).count
        #expect(bytes(WebhookBody.bytesMax - empty).count == 19_999)
        for thin in [bytes(WebhookBody.bytesMax - empty + 1), WebhookBody.bytes(of: Self.event("{nonsense}"))] {
            let data = try Self.data(of: thin)
            #expect(data["is_thin"]?.bool == true && data["note"] == nil && data["event_id"]?.string == "evt_1")
        }
    }

    @Test func aTestSaysWhatItIs() throws {
        let now = Timestamp(milliseconds: 1_800_000_000_000)
        let id = try #require(WebhookMessageID("evt_test_1"))
        let body = WebhookBody.test(app: AppID(checked: "shop"), id: id, at: now)
        let expected =
            #"{"type":"webhook.test","timestamp":"2027-01-15T08:00:00.000Z","data":{"event_id":"evt_test_1","version":1,"#
            + #""app":"shop"}}"#
        #expect(String(decoding: body, as: UTF8.self) == expected)
    }

    @Test(arguments: [
        ("order.paid", true), ("a", true), ("A_1.b.c", true), ("", false), (".", false), ("a.", false), (".a", false),
        ("a..b", false), ("a-b", false), ("a b", false), ("ä", false), (String(repeating: "a", count: 129), false),
    ])
    func aTypeIsWordsAndFullStops(text: String, isOne: Bool) {
        #expect((WebhookEventType(text) != nil) == isOne)
    }
}
