import Pipeline
import PurchaseModel
import Storage
import TestSupport
import Testing

/// A paid period has two numbers: a ledger knows how the subscription stands by what it looks up of both.
@Suite struct RestoredPeriodCheckTests {
    /// Each row: what is heard, the period as 1, its restore as 8, refunds and reversals of the restore as - and +, those of the
    /// period as v and ^.
    @Test(arguments: ["18v^", "81v^", "18-+", "81-+", "18-v+^", "18v-^+", "1v8^", "-81+", "v^8-+"])
    func whatStandsFollowsFromBoth(heard: String) async throws {
        var shop = try CheckedShop(MemoryStore())
        let period = try CheckedShop.sold(1, "monthly")
        var restore = try CheckedShop.sold(8, "monthly", original: 1)
        (restore.purchasedAt, restore.expiresAt) = (period.purchasedAt, period.expiresAt)
        for step in heard {
            shop.now = shop.now.advanced(by: .seconds(60))
            switch step {
            case "1": try await shop.show(period)
            case "8": try await shop.show(restore)
            default:
                var changed = "v^".contains(step) ? period : restore
                changed.signedAt = shop.now
                if "v-".contains(step) { changed.revocation = Revocation(at: shop.now) }
                try await shop.show(changed, by: nil)
            }
            #expect(try await shop.findings().listed == [], "\(step) of \(heard)")
        }
        let rebuilt = try await LedgerRebuild(apps: [shop.app], at: shop.now).apply(to: shop.store)
        #expect(rebuilt.listed == [])
    }
    /// An older version went by the higher number alone: the check says so, and a rebuild mends it.
    @Test func whatWentByOneNumberIsMended() async throws {
        let shop = try CheckedShop(MemoryStore())
        var period = try CheckedShop.sold(1, "monthly")
        var restore = try CheckedShop.sold(8, "monthly", original: 1)
        (restore.purchasedAt, restore.expiresAt) = (period.purchasedAt, period.expiresAt)
        try await shop.show(period)
        try await shop.show(restore)
        period.signedAt = shop.now.advanced(by: .seconds(60))
        period.revocation = Revocation(at: period.signedAt)
        try await shop.show(period, by: nil)
        let (key, now) = (try shop.key(8), shop.now)
        let chain = ChainKey(app: key.app, realm: key.realm, original: try shop.key(1).id)
        try await shop.store.write { write throws(StoreFailure) in
            let stored = try write.subscriptions([chain]).first
            var otherHand = Decision()
            if let row = rebuild(chain, from: try write.transactions([key]), stored: stored, at: now) {
                otherHand.subscriptions = [.update(row)]
            }
            try write.apply(otherHand, evidence: nil)
        }
        #expect(try await shop.findings().listed.map(\.code) == [.subscriptionContradicts])
        _ = try await LedgerRebuild(apps: [shop.app], at: shop.now).apply(to: shop.store)
        #expect(try await shop.findings().listed == [])
        let row = try await shop.store.read { reader throws(StoreFailure) in try reader.subscriptions([chain]).first }
        #expect(row?.current == chain.original)
    }
}
