import PurchaseModel
import Storage
import TestSupport
import Testing

/// What Apple took back in part, and the orders that it pays.
@Suite struct PartialRefundTests {
    @Test(arguments: StoreKind.allCases)
    func thePartIsKeptWithTheOrder(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await PartiallyRefunded.record(in: store)
            #expect(try await PartiallyRefunded.words(in: store) == PartiallyRefunded.expected("paid", "pending"))
            #expect(try await Purchases.uncounted(in: store) == [false, false])
        }
    }

    /// Earlier versions told of a part as of the whole.
    @Test(.enabled(if: Python.isThere, "python3 is missing: nothing makes an old file"))
    func anOlderFileTellsOfThePart() async throws {
        try await TemporaryFolder.with { folder in
            let first = try SQLiteStore.open(folder: folder + "/data")
            try await PartiallyRefunded.record(in: first)
            await first.close()
            try Python.run(
                PartiallyRefunded.before + Python.withoutColumnsSince40 + [
                    "DELETE FROM migrations WHERE number > 40", "PRAGMA user_version = 40",
                ],
                in: folder + "/data"
            )
            let second = try SQLiteStore.open(folder: folder + "/data")
            #expect(
                try await PartiallyRefunded.words(in: second) == PartiallyRefunded.expected("delivered", "compensated")
            )
            #expect(try await Purchases.uncounted(in: second) == [true, false])
            await second.close()
        }
    }

    @Test(.enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"))
    func anOlderSchemaTellsOfThePart() async throws {
        try await PostgreSQLServer.withSchema { schema in
            let settings = try PostgreSQLServer.settings(schema: schema)
            let first = try await PostgreSQLStore.open(settings)
            try await PartiallyRefunded.record(in: first)
            await first.close()
            let statements =
                PartiallyRefunded.before + [
                    "ALTER TABLE orders DROP COLUMN refunded", "DELETE FROM migrations WHERE number > 39",
                    "DELETE FROM migration_steps WHERE number > 39",
                ]
            try TestDatabase.query((["SET search_path TO \(schema)"] + statements).joined(separator: "; "))
            let second = try await PostgreSQLStore.open(settings)
            #expect(
                try await PartiallyRefunded.words(in: second) == PartiallyRefunded.expected("delivered", "compensated")
            )
            #expect(try await Purchases.uncounted(in: second) == [true, false])
            await second.close()
        }
    }
}

/// Four orders, each paid and then refunded: coins in part and whole, a season in part, and in part what is used up and of
/// which nobody knows what it gives.
private enum PartiallyRefunded {
    private static let rows: [(product: String, percentage: Int?)] = [
        ("coins", 40_000), ("coins", nil), ("season", 60_000), ("tokens", 25_000),
    ]

    /// What earlier versions left of it.
    static let before = [
        "UPDATE fulfilments SET state = 'reversed', delivery = 'compensated' WHERE state = 'partly_reversed'",
        "UPDATE orders SET state = 'refunded' WHERE refunded > 0",
    ]

    /// How the orders stand, what they are paid by, and its delivery; `order` and `delivery` are those of which a part is left.
    static func expected(_ order: String, _ delivery: String) -> [String] {
        [
            "\(order) 40000, partly_reversed 40000 \(delivery)", "refunded 100000, reversed 100000 compensated",
            "refunded 60000, reversed 60000 compensated", "\(order) 25000, partly_reversed 25000 \(delivery)",
        ]
    }

    private static func terms() throws -> AppTerms {
        let (coins, season) = (try #require(ProductID("coins")), try #require(ProductID("season")))
        let tokens = try #require(ProductID("tokens"))
        let (gems, right) = (try #require(CurrencyID("gems")), try #require(EntitlementID("amount")))
        let products = [
            // The name of a right is no amount of a currency.
            ProductTerms(product: coins, kind: .consumable, goods: [.entitlement(right), .amount(100, gems)]),
            ProductTerms(product: season, kind: .nonRenewing, goods: [.entitlement(right)], period: .seconds(86_400)),
            ProductTerms(product: tokens, kind: .consumable, goods: []),
        ]
        return AppTerms(products: Dictionary(uniqueKeysWithValues: products.map { ($0.product, $0) }))
    }

    static func record(in store: any Store) async throws {
        let (app, terms, customer) = (try Samples.app(), try terms(), try Samples.customer("ann"))
        for (place, row) in rows.enumerated() {
            let order = Order(
                app: app,
                id: try #require(OrderID("o-\(place + 1)")),
                customer: customer,
                product: try #require(ProductID(row.product)),
                quantity: 1,
                accountToken: nil,
                placedAt: Samples.now,
                expiresAt: Samples.now.advanced(by: .seconds(3_600))
            )
            try await store.write { write throws(StoreFailure) in
                let known = try write.situation(placing: order, customerToken: nil, terms)
                guard
                    let decision = try? decide(
                        known,
                        placing: order,
                        ownToken: { _ in nil },
                        terms: terms,
                        at: Samples.now
                    )
                else { return }
                try write.apply(decision, evidence: nil)
            }
            var sold = try Samples.transaction(Int64(place + 1))
            (sold.originalID, sold.product, sold.kind) = (sold.id, order.product, terms.products?[order.product]?.kind)
            (sold.expiresAt, sold.revocation) = (nil, nil)
            var refunded = sold
            refunded.signedAt = sold.signedAt.advanced(by: .seconds(60))
            refunded.revocation = Revocation(at: refunded.signedAt, reason: 0, percentage: row.percentage)
            for fact in [sold, refunded] {
                let recording = Recording(
                    app: app,
                    realm: Samples.production,
                    transactions: [fact],
                    customer: customer,
                    order: order.id,
                    terms: terms
                )
                try await Purchases.record([recording], try Samples.evidence([UInt8(place)]), in: store)
            }
        }
    }

    static func words(in store: any Store) async throws -> [String] {
        let app = try Samples.app()
        return try await store.read { reader throws(StoreFailure) in
            let orders = try reader.orders(app: app, customer: nil, after: nil, limit: 10).orders
            let keys = orders.compactMap { order in
                order.payment.map { TransactionKey(app: app, realm: $0.realm, id: $0.transaction) }
            }
            let rows = try reader.fulfilments(keys.map { ChainKey(app: app, realm: $0.realm, original: $0.id) })
            return orders.map { order in
                let row = rows.first { $0.order == order.id }
                let given = row.map { "\($0.state.rawValue) \($0.reversed) \($0.delivery?.rawValue ?? "")" }
                return "\(order.state.rawValue) \(order.refunded), \(given ?? "")"
            }
        }
    }
}
