import PurchaseModel
import Storage
import TestSupport
import Testing

/// An order, and a purchase that comes to wait for one, do not miss each other, in whatever store it was bought: orders are told
/// of among what is paid for, and what costs nothing beside that.
@Suite struct MeetingTests {
    private static let own = AccountToken(high: 7, low: 9)
    private static let terms: AppTerms = {
        var terms = AppTerms(needsOrder: true)
        terms.sandbox = .everybody(until: Timestamp(milliseconds: .max))
        return terms
    }()

    /// Both have looked before either is written; whoever comes second is told, and looks again.
    @Test(
        arguments: StoreKind.allCases,
        [
            Realm(environment: .sandbox, isTestSigned: false), Realm(environment: .sandbox, isTestSigned: true),
            Realm(environment: .production, isTestSigned: true),
        ]
    )
    func anOrderAndWhatWaitsForItSeeEachOther(kind: StoreKind, realm: Realm) async throws {
        for isPlacedFirst in [true, false] {
            // Or her name is known from before, by an order for something else.
            for isKnown in [false, true] {
                try await kind.withStore { store in
                    if isKnown { try await Self.place(try Samples.order("o-0", "coins.500"), in: store) }
                    let (order, shown) = (try Samples.order("o-1", "coins.100"), try Self.shown(in: realm))
                    let (placed, kept) = (try await Self.placing(order, store), try await Self.showing(shown, store))
                    try await Self.write(isPlacedFirst ? placed : kept, store)
                    await #expect(throws: StoreFailure.conflict, "\(isPlacedFirst) \(isKnown)") {
                        try await Self.write(isPlacedFirst ? kept : placed, store)
                    }
                    if isPlacedFirst {
                        try await Self.write(try await Self.showing(shown, store), store)
                    } else {
                        try await Self.place(order, in: store)
                    }
                    let found = try await store.read { reader throws(StoreFailure) in try reader.orders([order.key]) }
                    #expect(found.first?.payment?.transaction == shown.transactions[0].id)
                }
            }
        }
    }

    /// Where nothing has to be ordered, what is given waits for none: an order is written by itself.
    @Test(arguments: StoreKind.allCases) func whereNothingIsOrderedNobodyIsToldTwice(kind: StoreKind) async throws {
        try await kind.withStore { store in
            var shown = try Self.shown(in: Realm(environment: .sandbox, isTestSigned: false))
            shown.terms.needsOrder = false
            let placed = try await Self.placing(try Samples.order("o-1", "coins.100"), store, terms: shown.terms)
            let given = try await Self.showing(shown, store)
            #expect(given.tokens.isEmpty)
            try await Self.write(placed, store)
            try await Self.write(given, store)
        }
    }

    private static func shown(in realm: Realm) throws -> Recording {
        var sold = try Samples.transaction(1)
        sold.kind = .consumable
        return Recording(
            app: try Samples.app(),
            realm: realm,
            transactions: [sold],
            customer: try Samples.customer("ann"),
            terms: terms
        )
    }

    private static func showing(_ recording: Recording, _ store: any Store) async throws -> Decision {
        try await store.read { reader throws(StoreFailure) in
            let situation = try reader.situation(around: [recording], ownToken: { _ in own })
            return decide(situation, recording, ownToken: { _ in own }, at: Samples.now)
        }
    }

    private static func placing(
        _ order: Order,
        _ store: any Store,
        terms: AppTerms = Self.terms
    ) async throws -> Decision {
        let situation = try await store.read { reader throws(StoreFailure) in
            try reader.situation(placing: order, customerToken: own, terms)
        }
        return try decide(situation, placing: order, ownToken: { _ in own }, terms: terms, at: Samples.now)
    }

    private static func place(_ order: Order, in store: any Store) async throws {
        try await write(try await placing(order, store), store)
    }

    private static func write(_ decision: Decision, _ store: any Store) async throws {
        let evidence = try Samples.evidence()
        try await store.write { write throws(StoreFailure) in
            try write.apply(decision, evidence: evidence)
        }
    }
}
