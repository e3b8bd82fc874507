import PurchaseModel
import Storage
import TestSupport
import Testing

/// What a customer may use, however often she bought.
@Suite struct HoldingsTests {
    /// More than are asked for at once.
    private static let coins: Int64 = 1_100
    private static let batch = 50

    /// Both what she bought before all the coins and what she bought after them.
    @Test(arguments: StoreKind.allCases)
    func whoBoughtCoinsAThousandTimesKeepsWhatLasts(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let bought =
                [try Self.bought(1, .nonConsumable)]
                + (try (2...Self.coins).map { try Self.bought($0, .consumable) })
                + [try Self.bought(Self.coins + 1, .autoRenewable)]
            for start in stride(from: 0, to: bought.count, by: Self.batch) {
                let part = Array(bought[start..<min(start + Self.batch, bought.count)])
                try await Self.record(part, store)
            }
            let (app, ann) = (try Samples.app(), try Samples.customer("ann"))
            let (chains, holdings) = try await store.read { reader throws(StoreFailure) in
                let chains = try reader.chains(app: app, customer: ann)
                return (chains, try Holdings(chains, reader))
            }
            #expect(chains.count == bought.count)
            #expect(holdings.subscriptions.map(\.chain.original.number) == [Self.coins + 1])
            let inForce = holdings.entitlements(and: [], at: Samples.now)
            #expect(inForce.map(\.id.text) == ["auto_renewable_subscription", "non_consumable"])
        }
    }

    /// A period that gave nothing, because its product gives nothing any more, ends the one before it all the same.
    @Test(arguments: StoreKind.allCases)
    func whatGaveNothingStillTakesItsPlaceInASubscription(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let first = try Self.bought(1, .autoRenewable)
            var next = try Self.bought(2, .autoRenewable)
            next.originalID = first.originalID
            next.product = try #require(ProductID("a.bare"))
            next.purchasedAt = first.purchasedAt.advanced(by: .seconds(100))
            try await Self.record([first, next], store)
            let (app, ann) = (try Samples.app(), try Samples.customer("ann"))
            let holdings = try await store.read { reader throws(StoreFailure) in
                try Holdings(try reader.chains(app: app, customer: ann), reader)
            }
            let instants = [99, 100].map { Samples.now.advanced(by: .seconds($0)) }
            #expect(instants.map { holdings.entitlements(and: [], at: $0).count } == [1, 0])
        }
    }

    private static func bought(_ number: Int64, _ kind: ProductKind) throws -> Transaction {
        var bought = try Samples.transaction(number)
        bought.product = try #require(ProductID("a.\(kind)"))
        bought.kind = kind
        bought.ownership = .purchased
        if kind == .autoRenewable { bought.expiresAt = Samples.now.advanced(by: .seconds(1_000_000)) }
        return bought
    }

    private static func terms() throws -> AppTerms {
        let coins = try #require(CurrencyID("coins"))
        let lasting = try [ProductKind.nonConsumable, .autoRenewable].map { kind in
            ProductTerms(
                product: try #require(ProductID("a.\(kind)")),
                kind: kind,
                goods: [.entitlement(try #require(EntitlementID("\(kind)")))]
            )
        }
        let others = [
            ProductTerms(
                product: try #require(ProductID("a.consumable")),
                kind: .consumable,
                goods: [.amount(1, coins)]
            ),
            ProductTerms(product: try #require(ProductID("a.bare")), kind: .autoRenewable, goods: []),
        ]
        return AppTerms(products: Dictionary(uniqueKeysWithValues: (lasting + others).map { ($0.product, $0) }))
    }

    private static func record(_ bought: [Transaction], _ store: any Store) async throws {
        let recording = Recording(
            app: try Samples.app(),
            realm: Samples.production,
            transactions: bought,
            customer: try Samples.customer("ann"),
            terms: try terms()
        )
        let evidence = try Samples.evidence()
        try await store.write { transaction throws(StoreFailure) in
            let situation = try transaction.situation(around: [recording])
            try transaction.apply(decide(situation, recording, at: Samples.now), evidence: evidence)
        }
    }
}
