import Pipeline
import PurchaseModel
import Storage
import TestSupport
import Testing

/// A rebuild mends what follows from what is recorded, leaves what contradicts itself, and finds nothing to do twice.
@Suite struct LedgerRebuildTests {
    /// What another hand did, and what comes of it.
    struct Row: Sendable, CustomStringConvertible {
        let statements: [String]
        let differences: Int
        let left: Int
        let told: [EventType: Int]

        var description: String { statements.first ?? "" }

        init(_ statements: String..., differences: Int = 0, left: Int = 0, told: [EventType: Int] = [:]) {
            self.statements = statements
            self.differences = differences
            self.left = left
            self.told = told
        }
    }

    static let rows = [
        Row("UPDATE wallets SET balance = balance + 1 WHERE customer = 'ann'", differences: 1),
        Row("UPDATE wallets SET postings = 99, uncollected = -5", differences: 2),
        // Whether it is a copy is what its newest period says.
        Row("UPDATE subscriptions SET is_shared = 1 WHERE original_id = 4", differences: 1),
        // Its end is that of what Apple signed.
        Row(
            "UPDATE fulfilments SET goods = 'entitlement premium 5\namount gems 10 0 0' WHERE transaction_id = 5",
            differences: 1,
            told: [.deliveryChanged: 1]
        ),
        Row(
            "UPDATE transactions SET revoked_at = 5 WHERE transaction_id = 1",
            differences: 1,
            told: [.deliveryCompensated: 1, .orderRefunded: 1]
        ),
        Row(
            "UPDATE transactions SET revoked_at = NULL WHERE transaction_id = 2",
            differences: 1,
            told: [.deliveryRestored: 1]
        ),
        // Nothing was given for it: why not is found out again.
        Row("DELETE FROM fulfilments WHERE transaction_id = 6", differences: 1, told: [.purchaseWaiting: 1]),
        // Something was given for these, or an order was paid: it is not given again.
        Row("DELETE FROM fulfilments WHERE transaction_id = 3", left: 1),
        Row("UPDATE fulfilments SET delivery = NULL WHERE transaction_id = 1", left: 1),
        Row(
            """
            UPDATE fulfilments SET state = 'waiting', reason = 'no_order', unit = NULL, order_id = NULL, match = NULL,
                goods = '', delivery = NULL, fence = 0 WHERE transaction_id = 1
            """,
            left: 1
        ),
        Row(
            """
            UPDATE fulfilments SET state = 'granted', reversed = 0, goods = 'amount gems 100 0 0'
            WHERE transaction_id = 2
            """,
            left: 1
        ),
        Row("DELETE FROM postings WHERE customer = 'ann' AND number = 2", left: 1),
        Row("UPDATE fulfilments SET state = 'gone' WHERE transaction_id = 6", left: 1),
    ]

    @Test(.enabled(if: Tampering.hasPython, "python3 is missing: nothing changes a file"), arguments: rows)
    func whatFollowsIsMadeAgainInAFile(row: Row) async throws {
        try await Tampering.withFolder { folder in
            let data = folder + "/data"
            let first = try SQLiteStore.open(folder: data)
            try await CheckedShop(first).live()
            await first.close()
            try Tampering.run(row.statements, in: data)
            let store = try SQLiteStore.open(folder: data)
            try await Self.rebuild(row, try CheckedShop(store))
            await store.close()
        }
    }

    @Test(.enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"), arguments: rows)
    func whatFollowsIsMadeAgainInADatabase(row: Row) async throws {
        try await Tampering.withSchema { settings in
            let store = try await PostgreSQLStore.open(settings)
            let shop = try CheckedShop(store)
            try await shop.live()
            try Tampering.run(row.statements, schema: settings.schema)
            try await Self.rebuild(row, shop)
            await store.close()
        }
    }

    @Test(arguments: Array(UInt64(0)..<120) + [260])
    func whatWasMadeAgainOnceDiffersInNothing(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let rule = try #require(BindingRule.allCases.randomElement(using: &random))
        let needsOrder = Bool.random(using: &random)
        var shop = try CheckedShop(MemoryStore()) { terms in
            terms.needsOrder = needsOrder
            terms.binding = rule
            terms.sandbox = .everybody(until: Timestamp(milliseconds: .max))
        }
        try await shop.addEndpoint("first")
        for _ in 0..<60 { try await shop.act(&random) }
        let rebuild = LedgerRebuild(apps: [shop.app], at: shop.now)
        let before = try await Self.compare(rebuild, shop)
        let applied = try await rebuild.apply(to: shop.store)
        // Some of what waited can be given by now; nothing that was given changes.
        #expect(applied.left == 0)
        #expect(applied.differences == before.differences)
        for case .fulfilment(let stored?, _, _) in applied.listed {
            #expect(stored.state == .waiting || stored.state == .withheld)
        }
        let again = try await Self.compare(rebuild, shop).listed
        #expect(again == [])
        #expect(try await shop.findings().listed == [])
    }

    /// What is given lets what waits in its chain go on without an order, in whatever step of the walk it is.
    @Test(arguments: [Int64(1), 2, 150]) func aChainIsDecidedAboutAsAWhole(ordered: Int64) async throws {
        let store = MemoryStore()
        func shop(sells: (ProductID) -> Bool) throws -> CheckedShop {
            try CheckedShop(store) { terms in
                terms.needsOrder = true
                terms.products = terms.products?.filter { sells($0.key) }
            }
        }
        let old = try shop { $0.text != "lamp" }
        for number in Int64(1)...150 {
            let product = number == ordered ? "lamp" : "monthly"
            try await old.show(CheckedShop.sold(number, product, original: 1))
        }
        try await old.place("o1", "lamp")
        let shop = try shop { _ in true }
        let rebuild = LedgerRebuild(apps: [shop.app], at: shop.now)
        let shown = try await Self.compare(rebuild, shop)
        #expect(shown.told == [.deliveryGranted: 150, .orderPaid: 1])
        #expect(shown.ofRows == [150, 0])
        let applied = try await rebuild.apply(to: store)
        #expect(applied.told == shown.told && applied.ofRows == [150, 0])
        #expect(Set(applied.listed) == Set(shown.listed))
        #expect(try await Self.compare(rebuild, shop).listed == [])
        #expect(try await shop.findings().listed == [])
    }

    /// Of a period that waits Apple has not said whose it is: what it said of one in another step of the walk tells it, whether
    /// that was given to a family, or bought after a copy.
    @Test(arguments: [Ownership.familyShared, .purchased]) func whoseItIsIsKnownFarFromIt(ownership: Ownership)
        async throws
    {
        func month(_ number: Int64, _ product: String = "monthly") throws -> Transaction {
            var month = try CheckedShop.sold(number, product, original: 1)
            month.kind = .autoRenewable
            month.purchasedAt = PipelineHouse.now.advanced(by: .seconds((number - 102) * 30 * 86_400))
            month.expiresAt = month.purchasedAt.advanced(by: .seconds(30 * 86_400))
            month.ownership = number == 1 ? .familyShared : number == 60 ? ownership : nil
            return month
        }
        let old = try CheckedShop(MemoryStore()) { terms in
            for id in terms.products?.keys.map(\.self) ?? [] {
                terms.products?[id]?.isFamilyShared = ownership == .familyShared
                terms.products?[id]?.deliversExpired = true
            }
        }
        for number in Int64(1)...101 { try await old.show(month(number)) }
        try await old.show(month(102, "gold"))
        let gold = try #require(ProductID("gold"))
        let shop = try CheckedShop(old.store) { terms in
            terms.products?[gold] = ProductTerms(product: gold, kind: .autoRenewable, goods: [])
        }
        let rebuild = LedgerRebuild(apps: [shop.app], at: shop.now)
        let told = ownership == .purchased ? [EventType.deliveryGranted: 1] : [.purchaseWithheld: 1]
        let shown = try await Self.compare(rebuild, shop)
        #expect(shown.told == told)
        #expect(try await rebuild.apply(to: shop.store).told == told)
        #expect(try await Self.compare(rebuild, shop).listed == [])
    }

    /// What waited for the catalogue is given once it is there.
    @Test func anotherCatalogueGivesWhatItSays() async throws {
        let store = MemoryStore()
        let old = try CheckedShop(store) { terms in
            terms.products = terms.products?.filter { $0.key.text != "lamp" }
        }
        try await old.show(CheckedShop.sold(1, "lamp"))
        let shop = try CheckedShop(store)
        let rebuild = LedgerRebuild(apps: [shop.app], at: shop.now)
        #expect(try await Self.compare(rebuild, shop).told == [.deliveryGranted: 1])
        let key = try shop.key(1)
        let chain = ChainKey(app: key.app, realm: key.realm, original: key.id)
        #expect(try await Self.states(chain, store) == [.waiting])
        #expect(try await rebuild.apply(to: store).told == [.deliveryGranted: 1])
        #expect(try await Self.states(chain, store) == [.granted])
        #expect(try await shop.findings().listed == [])
        // Nobody knows how another app delivers.
        let nobody = try await LedgerRebuild(apps: [], at: shop.now).apply(to: store)
        #expect(nobody.listed == [.leftApp(shop.app.id)])
    }

    /// What is missing is found by both, and added by the first.
    @Test func twoRebuildsAtOnceCorrectTheFiguresOnce() async throws {
        let (base, app) = (MemoryStore(), try CheckedShop(MemoryStore()).app.id)
        let shop = try CheckedShop(base)
        try await shop.live()
        try await base.write { write throws(StoreFailure) in
            var wrong = FigureSums()
            for figure in try write.walkFigures(app: app, after: nil, limit: 5).rows { wrong.add(3, to: figure.key) }
            _ = try write.correctFigures(of: app, by: wrong, after: 0)
        }
        let (slow, rebuild) = (WatchedStore(base), LedgerRebuild(apps: [shop.app], at: shop.now))
        slow.hold()
        async let second = rebuild.apply(to: slow)
        await slow.untilHeld()
        #expect(try await rebuild.apply(to: base).differences == 1)
        slow.release()
        #expect(try await second.differences == 0)
        #expect(try await shop.findings().listed == [])
    }

    /// Several at once, on two servers, while both record.
    @Test(.enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"))
    func rebuildsBesideServersCorrectTheFiguresOnce() async throws {
        try await Tampering.withSchema { settings in
            let stores = [try await PostgreSQLStore.open(settings), try await PostgreSQLStore.open(settings)]
            let shops = try stores.map { try CheckedShop($0) }
            try await shops[0].live()
            for round in Int64(1)...5 {
                try Tampering.run(["UPDATE figures SET amount = amount + 1"], schema: settings.schema)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in Int64(0)..<6 {
                        let shop = shops[Int(number % 2)]
                        group.addTask {
                            _ = try await LedgerRebuild(apps: [shop.app], at: shop.now).apply(to: shop.store)
                        }
                        group.addTask {
                            try await shop.show(CheckedShop.sold(round * 100 + number), by: "customer\(number)")
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(try await shops[0].findings().listed == [])
            }
            for store in stores { await store.close() }
        }
    }

    private static func rebuild(_ row: Row, _ shop: CheckedShop) async throws {
        let rebuild = LedgerRebuild(apps: [shop.app], at: shop.now)
        let shown = try await compare(rebuild, shop)
        #expect(shown.ofRows == [row.differences, row.left], "\(shown.listed)")
        #expect(shown.told == row.told)
        let applied = try await rebuild.apply(to: shop.store)
        #expect(applied.ofRows == [row.differences, row.left])
        #expect(applied.told == row.told)
        let after = try await compare(rebuild, shop)
        #expect(after.ofRows == [0, row.left])
        if row.left == 0 { #expect(try await shop.findings().listed == []) }
    }

    private static func compare(_ rebuild: LedgerRebuild, _ shop: CheckedShop) async throws -> RebuildReport {
        try await shop.store.read { reader throws(StoreFailure) in try rebuild.compare(reader) }
    }

    private static func states(_ chain: ChainKey, _ store: any Store) async throws -> [FulfilmentState] {
        try await store.read { reader throws(StoreFailure) in try reader.fulfilments([chain]).map(\.state) }
    }
}

extension RebuildReport {
    /// How many rows differ, and are left. What another hand has changed is off in the figures that count it, too.
    var ofRows: [Int] {
        let rows = listed.filter { difference in
            switch difference {
            case .figures, .leftFigures: false
            default: true
            }
        }
        return [rows.count { !$0.isLeft }, rows.count(where: \.isLeft)]
    }
}
