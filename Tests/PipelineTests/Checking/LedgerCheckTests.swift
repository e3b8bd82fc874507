import Pipeline
import PurchaseModel
import Storage
import TestSupport
import Testing

/// The check finds nothing in what servers write, whatever happened, and names whatever another hand has changed.
@Suite struct LedgerCheckTests {
    @Test(arguments: UInt64(0)..<100)
    func whatHappensLeavesALedgerSound(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let rule = try #require(BindingRule.allCases.randomElement(using: &random))
        let (needsOrder, mayBeNegative) = (Bool.random(using: &random), Bool.random(using: &random))
        var shop = try CheckedShop(MemoryStore()) { terms in
            terms.needsOrder = needsOrder
            terms.binding = rule
            terms.allowsNegativeBalance = mayBeNegative
            terms.sandbox = .everybody(until: Timestamp(milliseconds: .max))
        }
        try await shop.addEndpoint("first")
        for step in 0..<60 {
            try await shop.act(&random)
            if step % 20 == 19 { #expect(try await shop.findings().listed == [], "step \(step)") }
        }
        let found = try await shop.findings()
        #expect(found.fulfilments == found.transactions)
        #expect(found.events == found.deliveries)
    }

    @Test func everyRowIsLookedAt() async throws {
        let shop = try CheckedShop(MemoryStore())
        try await shop.live()
        let found = try await shop.findings()
        #expect(found.listed == [])
        #expect(found.isSound)
        #expect([found.transactions, found.fulfilments, found.orders] == [7, 7, 2])
        #expect([found.wallets, found.postings, found.proofs, found.submissions] == [2, 7, 8, 1])
        #expect([found.consumptions, found.supports] == [1, 1])
        #expect(found.events == found.deliveries && found.events > 10)
    }

    @Test(.enabled(if: Tampering.hasPython, "python3 is missing: nothing changes a file"), arguments: Damage.all)
    func whatAnotherHandChangedInAFileIsNamed(damage: Damage) async throws {
        guard let statements = damage.onSQLite else { return }
        try await Tampering.withFolder { folder in
            let data = folder + "/data"
            let store = try SQLiteStore.open(folder: data)
            try await CheckedShop(store).live()
            await store.close()
            try Tampering.run(statements, in: data)
            let ledger = try ReadOnlyLedger.open(folder: data)
            let found = try await ledger.read { reader throws(StoreFailure) in try LedgerCheck.run(over: reader) }
            await ledger.close()
            Self.expect(damage, in: found)
        }
    }

    @Test(.enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"), arguments: Damage.all)
    func whatAnotherHandChangedInADatabaseIsNamed(damage: Damage) async throws {
        try await Tampering.withSchema { settings in
            let store = try await PostgreSQLStore.open(settings)
            try await CheckedShop(store).live()
            await store.close()
            try Tampering.run(damage.onPostgreSQL, schema: settings.schema)
            let ledger = try await PostgreSQLStore.open(toRead: settings)
            let found = try await ledger.read { reader throws(StoreFailure) in try LedgerCheck.run(over: reader) }
            await ledger.close()
            Self.expect(damage, in: found)
        }
    }

    /// It was placed too late, and a person had it paid by what was given without it.
    @Test(arguments: [false, true]) func aLateOrderThatWasPaidByHandIsSound(isAcknowledged: Bool) async throws {
        let shop = try CheckedShop(MemoryStore())
        try await shop.show(CheckedShop.sold(1))
        if isAcknowledged { try await shop.acknowledge(1, fence: 1) }
        try await shop.show(CheckedShop.refunded(CheckedShop.sold(1), percentage: 40_000), by: nil)
        try await shop.place("o-1")
        try await shop.attach(1, to: "o-1")
        let key = OrderKey(app: shop.app.id, id: try #require(OrderID("o-1")))
        let order = try await shop.store.read { reader throws(StoreFailure) in try reader.orders([key]).first }
        #expect(order?.state == (isAcknowledged ? .delivered : .paid) && order?.refunded == 40_000)
        #expect(try await shop.findings().listed == [])
    }

    /// What was given for a restore, when Apple took back the number that was bought first.
    @Test(
        .enabled(if: Tampering.hasPython, "python3 is missing: nothing changes a file"),
        arguments: [
            "UPDATE fulfilments SET state = 'granted' WHERE transaction_id = 8",
            "UPDATE fulfilments SET reversed_at = NULL WHERE transaction_id = 3",
            "UPDATE fulfilments SET product = 'monthly' WHERE transaction_id = 3",
        ]
    )
    func aRestoreThatDoesNotFollowItsPurchaseIsNamed(statement: String) async throws {
        try await Tampering.withFolder { folder in
            let data = folder + "/data"
            let store = try SQLiteStore.open(folder: data)
            let shop = try CheckedShop(store)
            try await shop.show(CheckedShop.sold(8, "lamp", original: 3))
            try await shop.show(CheckedShop.refunded(CheckedShop.sold(3, "lamp")), by: nil)
            #expect(try await shop.findings().listed == [])
            await store.close()
            try Tampering.run([statement], in: data)
            let ledger = try ReadOnlyLedger.open(folder: data)
            let found = try await ledger.read { reader throws(StoreFailure) in try LedgerCheck.run(over: reader) }
            await ledger.close()
            #expect(found.listed.contains { $0.code == .revocationContradicts }, "\(found.counts)")
        }
    }

    /// Of what another system has delivered the catalogue knew whether a part is left, and earlier versions did not ask it.
    @Test(arguments: ["lamp", "monthly"]) func ofWhatWasImportedAPartMayBeLeft(product: String) async throws {
        let shop = try CheckedShop(MemoryStore())
        let sold = try CheckedShop.sold(3, product)
        try await shop.show(sold, from: .imported)
        try await shop.show(CheckedShop.refunded(sold, percentage: 40_000), by: nil)
        #expect(try await shop.findings().listed == [])
        let (app, original) = (shop.app.id, sold.id)
        try await shop.store.write { write throws(StoreFailure) in
            let chain = ChainKey(app: app, realm: CheckedShop.production, original: original)
            var earlier = Decision()
            earlier.fulfilments = try write.fulfilments([chain]).map { row in
                RowChange.update(
                    row.copy { stored in
                        stored.version += 1
                        (stored.state, stored.delivery) = (.reversed, .compensated)
                    }
                )
            }
            try write.apply(earlier, evidence: nil)
        }
        // The sums do not know of it: no decision has made this row.
        let found = try await shop.findings().listed.filter { $0.code != .figureDiffers }
        #expect(found == [], "\(found)")
        let key = try shop.key(3)
        _ = try await LedgerRebuild(apps: [shop.app], at: shop.now).apply(to: shop.store)
        #expect(try await shop.findings().listed == [])
        let row = try await shop.store.read { reader throws(StoreFailure) in
            try reader.fulfilments([ChainKey(app: app, realm: key.realm, original: key.id)]).first
        }
        #expect(row?.state == .partlyReversed && row?.fence == 3)
    }

    @Test func everyCodeHasARow() {
        #expect(Set(Damage.all.map(\.code)) == Set(ViolationCode.allCases))
        #expect(ViolationCode.allCases.allSatisfy { !$0.advice.isEmpty })
    }

    /// A page ends in the middle of everything.
    @Test func manyAreCountedAndSomeListed() async throws {
        let shop = try CheckedShop(MemoryStore())
        for number in Int64(1)...620 { try await shop.show(CheckedShop.sold(number)) }
        #expect(try await shop.findings().listed == [])
        let chains = (Int64(1)...620).compactMap { TransactionID(number: $0) }.map { id in
            ChainKey(app: shop.app.id, realm: CheckedShop.production, original: id)
        }
        // What was given is gone from the goods, but not from the balance.
        try await shop.store.write { write throws(StoreFailure) in
            var decision = Decision()
            for row in try write.fulfilments(chains) {
                let emptied = row.copy { stored in
                    (stored.goods, stored.fence, stored.version) = ([], 1, row.version + 1)
                }
                decision.fulfilments.append(.update(emptied))
            }
            try write.apply(decision, evidence: nil)
        }
        let found = try await shop.findings()
        #expect(found.counts == [.amountsDiffer: 620])
        #expect(found.listed.count == LedgerFindings.listedMax)
        #expect(found.violations == 620)
    }

    private static func expect(_ damage: Damage, in found: LedgerFindings) {
        let hits = found.listed.filter { $0.code == damage.code }
        #expect(!hits.isEmpty, "\(found.counts)")
        #expect(
            hits.contains { hit in hit.names.contains { "\($0.key)=\($0.value)" == damage.names } },
            "\(hits.map(\.names))"
        )
        #expect(!found.isSound)
    }
}
