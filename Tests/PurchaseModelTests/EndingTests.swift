import PurchaseModel
import TestSupport
import Testing

/// A proof that had to wait is recorded in the end: that its wait is over is told, unless what is told of its purchases says so.
@Suite struct EndingTests {
    private static func settled(for customer: String?) throws -> SettledSubmission {
        SettledSubmission(
            name: "5a",
            app: try Shop.app(),
            customer: customer.flatMap { CustomerID($0) },
            order: OrderID("o-1"),
            receivedAt: Facts.now,
            verdict: "genuine",
            settledAt: Facts.now.advanced(by: .seconds(60))
        )
    }

    /// Somebody's proof of some transactions, for which she was told to wait.
    private static func end(
        _ shop: inout Shop,
        _ transactions: Transaction...,
        for customer: String?
    ) throws -> [LedgerEvent] {
        var recording = Recording(
            app: try Shop.app(),
            realm: Shop.production,
            transactions: transactions,
            customer: customer.flatMap { CustomerID($0) },
            order: OrderID("o-1"),
            terms: shop.terms
        )
        recording.settled = try settled(for: customer)
        return shop.apply(decide(shop.situation, recording, ownToken: { _ in nil }, at: shop.now)).events
    }

    private struct Case {
        var needsOrder = false
        var binding: BindingRule?
        var known: [(Transaction, by: String?)] = []
        var proof: Transaction
        var customer: String?
        /// The types of all that is told, in order.
        var told: [String]
    }

    private static func cases() throws -> [Case] {
        let (coins, lamp, end) = (try Sold.coins(), try Sold.lamp(), "submission.settled")
        let transferred = Array(repeating: "customer.transferred", count: 2)
        let (first, second) = (try Sold.month(1), try Sold.month(2, original: 1, from: 30))
        return [
            Case(proof: coins, customer: "ann", told: ["delivery.granted"]),
            Case(needsOrder: true, proof: coins, customer: "ann", told: ["purchase.waiting"]),
            Case(proof: Sold.refunded(coins), customer: "ann", told: ["purchase.withheld"]),
            Case(proof: coins, customer: nil, told: ["purchase.waiting"]),
            Case(known: [(coins, "ann")], proof: coins, customer: "ann", told: [end]),
            Case(known: [(coins, "ann")], proof: coins, customer: "bob", told: [end]),
            Case(known: [(coins, "ann")], proof: coins, customer: nil, told: [end]),
            Case(known: [(coins, nil)], proof: coins, customer: "ann", told: ["delivery.granted"]),
            // Apple has signed something newer of what is hers.
            Case(
                known: [(lamp, "ann")],
                proof: Sold.refunded(lamp),
                customer: "ann",
                told: ["delivery.compensated"]
            ),
            // What is told is told to its owner.
            Case(
                known: [(lamp, "ann")],
                proof: Sold.refunded(lamp),
                customer: "bob",
                told: ["delivery.compensated", end]
            ),
            Case(binding: .transfer, known: [(lamp, "ann")], proof: lamp, customer: "bob", told: transferred),
            Case(
                binding: .share,
                known: [(first, "ann"), (first, "bob")],
                proof: second,
                customer: "bob",
                told: ["delivery.granted", "subscription.renewed", end]
            ),
        ]
    }

    @Test func itIsToldWhereNothingElseTellsIt() throws {
        for (place, row) in try Self.cases().enumerated() {
            var shop = try Shop(needsOrder: row.needsOrder) { terms in
                if let binding = row.binding { terms.binding = binding }
            }
            for (transaction, customer) in row.known { try shop.show(transaction, by: customer) }
            let events = try Self.end(&shop, row.proof, for: row.customer)
            #expect(events.map(\.type.rawValue) == row.told, "row \(place)")
            guard let event = events.last, event.type == .submissionSettled else { continue }
            let settled = try Self.settled(for: row.customer)
            #expect(event.stream == settled.stream && event.subject == .submission(settled), "row \(place)")
            #expect(event.happenedAt == settled.settledAt, "row \(place)")
            let before = shop.events.dropLast().filter { $0.stream == event.stream }.map(\.sequence).max() ?? 0
            #expect(event.sequence == before + 1, "row \(place)")
        }
    }

    /// Where it is told its stream must have been looked up: it is another one than that of a test purchase.
    @Test func itsStreamIsAskedFor() throws {
        let realm = Realm(environment: .sandbox, isTestSigned: true)
        let customer = CustomerID("ann")
        var recording = Recording(app: try Shop.app(), realm: realm, transactions: [], customer: customer)
        recording.settled = try Self.settled(for: "ann")
        let stream = StreamKey(app: try Shop.app(), realm: Shop.production, customer: customer)
        #expect(Inquiry([recording], among: Situation()).customers.contains(stream))
    }
}
