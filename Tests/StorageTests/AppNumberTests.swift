import PurchaseModel
import Storage
import TestSupport
import Testing

/// An app's number is kept beside a connection, and another database may come to stand behind it: one that was restored, or a
/// pooler's next server. What is written then goes by the numbers that are there.
@Suite(.enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"))
struct AppNumberTests {
    @Test(arguments: [true, false])
    func anotherDatabaseHasItsOwnNumbers(isPooled: Bool) async throws {
        let schema = TestDatabase.freshName()
        defer { _ = try? TestDatabase.query("DROP SCHEMA IF EXISTS \(schema) CASCADE") }
        let url = try #require(TestDatabase.url)
        let made = PostgreSQLSettings(url: url, schema: schema, pause: { try? await Task.sleep(for: $0) })
        var settings = try #require(made)
        (settings.writers, settings.readers, settings.isPooled) = (1, 1, isPooled)
        let store = try await PostgreSQLStore.open(settings)
        let apps = ["one", "two"]
        for number in 1...2 { for app in apps { try await Self.place("o-\(number)", app, store) } }
        let renamed = [("one", "x"), ("two", "one"), ("x", "two")]
        var statements = renamed.map { "UPDATE apps SET name = '\($1)' WHERE name = '\($0)'" }
        // What was restored is from before: its numbers go back.
        if !isPooled { statements += ["UPDATE writers SET batch = 0", "SELECT setval('batches', 1)"] }
        for statement in statements { try TestDatabase.query("SET search_path TO \(schema); \(statement)") }
        for app in apps { try await Self.place("o-3-\(app)", app, store) }
        await store.close()
        let fresh = try await PostgreSQLStore.open(settings)
        for app in apps {
            let keys = try apps.map { OrderKey(app: try Samples.app(app), id: try #require(OrderID("o-3-\($0)"))) }
            let found = try await fresh.read { reader throws(StoreFailure) in try reader.orders(keys).map(\.id.text) }
            #expect(found == ["o-3-\(app)"])
        }
        await fresh.close()
    }

    private static func place(_ id: String, _ app: String, _ store: PostgreSQLStore) async throws {
        let order = Order(
            app: try Samples.app(app),
            id: try #require(OrderID(id)),
            customer: try Samples.customer("ann"),
            product: try #require(ProductID("coins.100")),
            quantity: 1,
            accountToken: nil,
            placedAt: Samples.now,
            expiresAt: Samples.now.advanced(by: .seconds(3_600))
        )
        try await store.write { write throws(StoreFailure) in
            var decision = Decision()
            decision.orders = [.insert(order)]
            try write.apply(decision, evidence: nil)
        }
    }
}
