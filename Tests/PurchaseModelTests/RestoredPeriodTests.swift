import PurchaseModel
import Testing

/// A period has another number on each device on which it was restored: it is none of its own.
@Suite struct RestoredPeriodTests {
    enum Past: CaseIterable {
        case active, grace, retry, expired, expiredForLong, revoked
    }

    /// Whatever has become of it since, a restore of it tells nobody anything, and changes nothing of how it stands.
    @Test(arguments: Past.allCases) func aRestoreIsNoNews(past: Past) throws {
        var shop = try Shop()
        try shop.show(Sold.month(1), renewals: [SubscriptionEventTests.renewal(on: 0)])
        let failing = { (word: inout Renewal) in
            (word.isInBillingRetry, word.expirationIntent) = (true, 2)
            if past == .grace { word.graceEndsAt = SubscriptionCase.at(46) }
        }
        shop.now = SubscriptionCase.at(past == .active || past == .revoked ? 3 : 31)
        switch past {
        case .active: break
        case .grace, .retry: try shop.show(renewals: [SubscriptionEventTests.renewal(on: 30, failing)], by: nil)
        case .expired, .expiredForLong:
            let over = try SubscriptionEventTests.renewal(on: 30) { word in
                (word.willAutoRenew, word.expirationIntent) = (false, 1)
            }
            try shop.show(renewals: [over], by: nil)
        case .revoked: try shop.show(Sold.refunded(Sold.month(1), after: 2 * 86_400), by: nil)
        }
        if past == .expiredForLong { shop.now = SubscriptionCase.at(120) }
        let (before, told) = (try shop.subscription(), SubscriptionEventTests.told(shop))
        try shop.show(Sold.month(8, original: 1))
        #expect(SubscriptionEventTests.told(shop) == told)
        let after = try shop.subscription()
        #expect(after.state == before.state && after.since == before.since)
        #expect(after.expiresAt == before.expiresAt)
        try Invariants.check(shop, "\(past)")
    }

    /// Apple takes it back by either number, and gives it again. Each row as `Shop.hear` has it, and what the shop is told.
    @Test(arguments: [
        ("18", ["started"]), ("81", ["started"]), ("18-", ["started", "revoked"]), ("81-", ["started", "revoked"]),
        ("1-8", ["started", "revoked"]), ("-8", ["revoked"]), ("18v", ["started", "revoked"]),
        ("81v", ["started", "revoked"]), ("18v^", ["started", "revoked", "restored"]),
        ("81v^", ["started", "revoked", "restored"]),
        ("18-+", ["started", "revoked", "restored"]), ("18-v", ["started", "revoked"]),
        ("18-v+", ["started", "revoked"]), ("18v-^", ["started", "revoked"]),
        ("18-v+^", ["started", "revoked", "restored"]), ("18v-^+", ["started", "revoked", "restored"]),
    ])
    func whatIsTakenBackByAnyNumberIsRevoked(heard: String, told: [String]) throws {
        var shop = try Shop()
        try shop.hear(heard)
        #expect(SubscriptionEventTests.told(shop) == told)
        #expect(try shop.subscription().state == (told.last == "revoked" ? .revoked : .active))
        #expect(try shop.rights() == (told.last == "revoked" ? [] : ["premium"]))
        // Its row is what a newcomer would make of all that is recorded.
        let rows = try [1, 8].compactMap { shop.situation[try Shop.key($0, Shop.production)] }
        let row = shop.situation.subscription(of: try Shop.chain(1))
        #expect(rebuild(try Shop.chain(1), from: rows, stored: row, at: shop.now) == nil)
    }
}
