import Encoding
import Foundation
import HTTP
import PurchaseModel
import Testing

/// What the page about webhooks and the description show to whoever writes a receiver.
@Suite struct WebhookPageTests {
    /// Those by which a shop gives and takes back.
    private static let deliveries: Set = [
        "delivery.granted", "delivery.changed", "delivery.compensated", "delivery.restored",
    ]

    private static func page() throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: "docs/webhooks.md"), encoding: .utf8)
    }

    /// The names in an object and in those in it, each with its way.
    private static func names(_ value: JSONValue, _ way: String = "") -> Set<String> {
        if let elements = value.array { return elements.reduce(into: []) { $0.formUnion(names($1, way + "[]")) } }
        guard let object = value.object else { return [way] }
        return object.members.reduce(into: []) { $0.formUnion(names($1.value, way + "." + $1.key)) }
    }

    /// The message that is shown has what a real one has; what the test's authority signed says so, and is of the sandbox.
    @Test func theMessageThatIsShownIsOneThatIsSent() async throws {
        let match = try #require(try Self.page().firstMatch(of: /```json\n((?s).*?)```/))
        let shown = try JSONDocument(Array(String(match.1).utf8)).root
        try await TestHouse(terms: OrderTests.terms()).open { house in
            #expect(await house.change("/v1/orders", OrderTests.order).status == .created)
            #expect(await house.submit(try OrderTests.purchase(), customer: "ann").status == .ok)
            let events = try #require(try await house.get("/v1/events").json()["events"]?.array)
            let sent = events.compactMap { $0.object?["event"] }.first {
                $0.object?["type"]?.string == shown.object?["type"]?.string
            }
            let names = Self.names(try #require(sent)).filter { !$0.hasSuffix(".test_signed") }
            #expect(Self.names(shown) == names)
        }
    }

    /// An example that names some of them and not all would have a shop deliver what it never takes back, or the reverse.
    @Test func noExampleLeavesOutWhatTakesBack() async throws {
        let description = String(decoding: try await TestHouse().get("/openapi.json", key: nil).body, as: UTF8.self)
        for list in description.matches(of: /"types": ?\[([^\]]*)\]/) {
            let named = Set(list.1.matches(of: /"(delivery\.\w+)"/).map { String($0.1) })
            #expect(named.isEmpty || named == Self.deliveries, "\(named.sorted())")
        }
    }
}
