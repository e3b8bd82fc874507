import PurchaseModel
import Testing

/// A year that is paid for by the month: turned off it goes on until the commitment ends.
@Suite struct CommitmentTests {
    private static func period(committedUntil day: Double) throws -> Transaction {
        var sold = try Sold.month(1)
        (sold.billingPlan, sold.commitmentEndsAt) = ("MONTHLY", SubscriptionCase.at(day))
        return sold
    }

    private static func off() throws -> Renewal {
        var renewal = Renewal(
            originalID: try #require(TransactionID(number: 1)),
            product: try Shop.product("monthly"),
            signedAt: SubscriptionCase.at(1)
        )
        (renewal.renewsAt, renewal.willAutoRenew) = (SubscriptionCase.at(30), false)
        return renewal
    }

    /// Each row: until when she is committed, on which day it is looked at, and what is told.
    @Test(arguments: [
        (360.0, 30.5, [String]()), (360, 31.5, ["no word"]), (30, 30.5, ["cancelled"]), (20, 30.5, ["cancelled"]),
    ])
    func anEndIsNoneWhileTheCommitmentLasts(until: Double, day: Double, told: [String]) throws {
        var shop = try Shop()
        try shop.show(Self.period(committedUntil: until), renewals: [Self.off()])
        shop.now = SubscriptionCase.at(day)
        try shop.look()
        let endings = shop.events.compactMap { event -> String? in
            guard event.type == .subscriptionExpired, case .subscription(let over, _) = event.subject else {
                return nil
            }
            return over.ending?.description ?? "no word"
        }
        #expect(endings == told)
        try Invariants.check(shop, "\(until) \(day)")
    }

    @Test func itIsDueAndItsCustomersWishIsTold() throws {
        var shop = try Shop()
        try shop.show(Self.period(committedUntil: 360))
        try shop.show([], renewals: [Self.off()])
        #expect(shop.types.last == "subscription.renewal_preference_changed")
        #expect(shop.figures.total(.renewalsDue) == 1)
        guard case .subscription(let told, _) = try #require(shop.events.last).subject else {
            Issue.record("it is of no subscription")
            return
        }
        #expect(told.willAutoRenew == false && told.goesOn == true)
        #expect(told.billingPlan == "MONTHLY" && told.commitmentEndsAt == SubscriptionCase.at(360))
    }
}
