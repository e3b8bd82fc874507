import PurchaseModel
import Testing

/// A period has another number on each device on which it was restored: it is none of its own.
@Suite struct RestoredPeriodTests {
    private static func told(_ shop: Shop) -> [String] {
        shop.types.filter { $0.utf8.starts(with: "subscription.".utf8) }.map { String($0.dropFirst(13)) }
    }

    private static func word(on day: Double, _ change: (inout Renewal) -> Void = { _ in }) throws -> Renewal {
        var word = Renewal(
            originalID: try #require(TransactionID(number: 1)),
            product: try Shop.product("monthly"),
            signedAt: SubscriptionCase.at(day)
        )
        (word.renewsAt, word.willAutoRenew, word.nextProduct) = (SubscriptionCase.at(30), true, word.product)
        change(&word)
        return word
    }

    enum Past: CaseIterable {
        case active, grace, retry, expired, revoked
    }

    /// Whatever has become of it since, a restore of it tells nobody anything, and changes nothing of how it stands.
    @Test(arguments: Past.allCases, [8, 90]) func aRestoreIsNoNews(past: Past, days: Int64) throws {
        var shop = try Shop()
        try shop.show(Sold.month(1), renewals: [Self.word(on: 0)])
        let failing = { (word: inout Renewal) in
            (word.isInBillingRetry, word.expirationIntent) = (true, 2)
            if past == .grace { word.graceEndsAt = SubscriptionCase.at(46) }
        }
        shop.now = SubscriptionCase.at(past == .active || past == .revoked ? 3 : 31)
        switch past {
        case .active: break
        case .grace, .retry: try shop.show(renewals: [Self.word(on: 30, failing)], by: nil)
        case .expired:
            let over = try Self.word(on: 30) { ($0.willAutoRenew, $0.expirationIntent) = (false, 1) }
            try shop.show(renewals: [over], by: nil)
        case .revoked: try shop.show(Sold.refunded(Sold.month(1), after: 2 * 86_400), by: nil)
        }
        if past == .expired { shop.now = SubscriptionCase.at(Double(30 + days)) }
        let (before, told) = (try shop.subscription(), Self.told(shop))
        try shop.show(Sold.month(8, original: 1))
        #expect(Self.told(shop) == told)
        let after = try shop.subscription()
        #expect(after.state == before.state && after.since == before.since)
        #expect(after.expiresAt == before.expiresAt)
        try Invariants.check(shop, "\(past)")
    }

    /// Apple takes it back by either number, and gives it again. Each row as in `RefundTests`, and what the shop is told.
    @Test(arguments: [
        ("18", ["started"]), ("81", ["started"]), ("18-", ["started", "revoked"]), ("81-", ["started", "revoked"]),
        ("1-8", ["started", "revoked"]), ("-8", ["revoked"]), ("18v", ["started", "revoked"]),
        ("81v", ["started", "revoked"]),
        ("18v^", ["started", "revoked", "restored"]), ("81v^", ["started", "revoked", "restored"]),
        ("18-+", ["started", "revoked", "restored"]), ("18-v", ["started", "revoked"]),
        ("18-v+", ["started", "revoked"]), ("18v-^", ["started", "revoked"]),
        ("18-v+^", ["started", "revoked", "restored"]), ("18v-^+", ["started", "revoked", "restored"]),
    ])
    func whatIsTakenBackByAnyNumberIsRevoked(heard: String, told: [String]) throws {
        var shop = try Shop()
        let (period, restore) = (try Sold.month(1), try Sold.month(8, original: 1))
        var seconds: Int64 = 60
        for step in heard {
            switch step {
            case "8": try shop.show(restore)
            case "1": try shop.show(period)
            case "-": try shop.show(Sold.refunded(restore, after: seconds), by: nil)
            case "+": try shop.show(Sold.again(restore, after: seconds), by: nil)
            case "v": try shop.show(Sold.refunded(period, after: seconds), by: nil)
            default: try shop.show(Sold.again(period, after: seconds), by: nil)
            }
            seconds += 60
            shop.now = Facts.now.advanced(by: .seconds(seconds))
            try Invariants.check(shop, "\(step) of \(heard)")
        }
        #expect(Self.told(shop) == told)
        #expect(try shop.subscription().state == (told.last == "revoked" ? .revoked : .active))
        #expect(try shop.rights() == (told.last == "revoked" ? [] : ["premium"]))
        // Its row is what a newcomer would make of all that is recorded.
        let rows = try [1, 8].compactMap { shop.situation[try Shop.key($0, Shop.production)] }
        let row = shop.situation.subscription(of: try Shop.chain(1))
        #expect(rebuild(try Shop.chain(1), from: rows, stored: row, at: shop.now) == nil)
    }
}
