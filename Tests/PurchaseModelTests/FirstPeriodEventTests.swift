import PurchaseModel
import Testing

/// What the shop is told of a subscription of which the first that is heard of is a period that has given way, or is over.
@Suite struct FirstPeriodEventTests {
    /// The first month, another plan having taken its place.
    private static func upgraded() throws -> Transaction {
        var period = try Sold.month(1)
        (period.isUpgraded, period.signedAt) = (true, SubscriptionCase.at(1))
        return period
    }

    /// Nobody was told of what had given way when it was heard of: what took its place begins it for the shop.
    @Test(arguments: [false, true])
    func whatHadGivenWayIsStartedByWhatTookItsPlace(isHistory: Bool) throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(2)
        try shop.show(Self.upgraded())
        #expect(SubscriptionEventTests.told(shop) == [])
        #expect(try shop.subscription().nextLook != nil)
        // A row that is made anew may have been told of.
        let rebuilt = rebuild(try Shop.chain(1), from: shop.recorded, stored: nil, at: shop.now)
        #expect(rebuilt?.state == .active && rebuilt?.since == SubscriptionCase.at(0))
        try shop.show(SubscriptionEventTests.next("yearly", from: 1), by: nil, from: isHistory ? .history : .presented)
        #expect(SubscriptionEventTests.told(shop) == ["started"])
        #expect(shop.events.last { $0.type == .subscriptionStarted }?.happenedAt == SubscriptionCase.at(1))
        try shop.look()
        #expect(SubscriptionEventTests.told(shop) == ["started"])
    }

    /// So does the renewal of what was just over by the clock.
    @Test func whatWasJustOverIsStartedByItsRenewal() throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(30.5)
        try shop.show(Sold.month(1))
        #expect(SubscriptionEventTests.told(shop) == [])
        try shop.show(SubscriptionEventTests.next())
        #expect(SubscriptionEventTests.told(shop) == ["started"])
    }

    /// What became of it is told as if it had begun. Each row: what Apple says of it, and what is told then.
    @Test(arguments: [("over", "expired"), ("nothing", "expired"), ("longer", "started"), ("grace", "grace_started")])
    func whatBecameOfWhatWasJustOverIsTold(word: String, event: String) throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(30.5)
        try shop.show(Sold.month(1))
        switch word {
        case "over":
            let over = try SubscriptionEventTests.renewal(on: 30) { $0.expirationIntent = 1 }
            try shop.show(renewals: [over], by: nil)
        case "longer":
            var longer = Sold.again(try Sold.month(1), after: 86_400)
            longer.expiresAt = SubscriptionCase.at(40)
            try shop.show(longer, by: nil)
        case "grace":
            let late = try SubscriptionEventTests.renewal(on: 30) {
                ($0.isInBillingRetry, $0.graceEndsAt) = (true, SubscriptionCase.at(46))
            }
            try shop.show(renewals: [late], by: nil)
        default:
            shop.now = SubscriptionCase.at(31)
            try shop.look()
        }
        #expect(SubscriptionEventTests.told(shop) == [event])
        try shop.look()
        #expect(SubscriptionEventTests.told(shop) == [event])
        try Invariants.check(shop, "\(word)")
    }

    /// The books knew it, and who keeps them that it ran.
    @Test func whatTheBooksKnewIsNotStarted() throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(2)
        try shop.show(Self.upgraded(), from: .imported)
        #expect(try shop.subscription().state == .active)
        shop.now = SubscriptionCase.at(3)
        try shop.show(SubscriptionEventTests.next("yearly", from: 3), by: nil)
        #expect(SubscriptionEventTests.told(shop) == ["product_changed"])
    }

    @Test func whatIsOverWhenItIsFirstHeardOfNeverBegan() throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(100)
        try shop.show(Sold.month(1), SubscriptionEventTests.next())
        #expect(SubscriptionEventTests.told(shop) == ["expired"])
    }
}
