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
}
