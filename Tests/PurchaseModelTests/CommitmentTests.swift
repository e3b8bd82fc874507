import PurchaseModel
import Testing

/// A year that is paid for by the month: cancelled it goes on until the commitment ends.
@Suite struct CommitmentTests {
    private static func period(
        _ number: Int64 = 1,
        from day: Int64 = 0,
        committedUntil end: Double
    ) throws -> Transaction {
        var sold = try Sold.month(number, original: 1, from: day)
        (sold.billingPlan, sold.commitmentEndsAt) = ("MONTHLY", SubscriptionCase.at(end))
        sold.signedAt = sold.purchasedAt
        return sold
    }

    /// What Apple says of a commitment on the day after a month began: the next month is charged for, also when it is
    /// cancelled.
    private static func word(
        isKept: Bool,
        of day: Double = 0,
        committedUntil end: Double,
        _ change: (inout Renewal) throws -> Void = { _ in }
    ) throws -> Renewal {
        var renewal = Renewal(
            originalID: try #require(TransactionID(number: 1)),
            product: try Shop.product("monthly"),
            signedAt: SubscriptionCase.at(day + 1)
        )
        (renewal.renewsAt, renewal.willAutoRenew) = (SubscriptionCase.at(day + 30), true)
        (renewal.nextProduct, renewal.nextBillingPlan) = (renewal.product, "MONTHLY")
        var next = NextCommitment()
        (next.willRenew, next.beginsAt) = (isKept, SubscriptionCase.at(end))
        (next.product, next.billingPlan) = (renewal.product, "MONTHLY")
        renewal.nextCommitment = next
        try change(&renewal)
        return renewal
    }

    /// The subscription of the last event that is about one.
    private static func told(in shop: Shop) -> Subscription? {
        let told = shop.events.compactMap { event -> Subscription? in
            if case .subscription(let told, _) = event.subject { told } else { nil }
        }
        return told.last
    }

    private static let changed = "subscription.renewal_preference_changed"

    /// Each row: until when she is committed, on which day it is looked at, and what is told after she has cancelled.
    @Test(arguments: [
        (360.0, 30.5, [String]()), (360, 31.5, ["no word"]), (30, 30.5, ["cancelled"]), (20, 30.5, ["cancelled"]),
    ])
    func anEndIsNoneWhileTheCommitmentLasts(until: Double, day: Double, told: [String]) throws {
        var shop = try Shop()
        let word = try Self.word(isKept: false, committedUntil: until)
        try shop.show(Self.period(committedUntil: until), renewals: [word])
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
        let before = shop.events.count
        try shop.show([], renewals: [Self.word(isKept: true, committedUntil: 360)])
        #expect(shop.events.count == before)
        let off = try Self.word(isKept: false, committedUntil: 360) { $0.signedAt = SubscriptionCase.at(2) }
        try shop.show([], renewals: [off])
        #expect(shop.types.dropFirst(before) == [Self.changed])
        #expect(shop.figures.total(.renewalsDue) == 1)
        let told = try #require(Self.told(in: shop))
        #expect(told.willAutoRenew == true && told.goesOn == true && told.nextCommitment?.willRenew == false)
        #expect(told.billingPlan == "MONTHLY" && told.commitmentEndsAt == SubscriptionCase.at(360))
        let again = try Self.word(isKept: true, committedUntil: 360) { $0.signedAt = SubscriptionCase.at(3) }
        try shop.show([], renewals: [again])
        #expect(shop.types.dropFirst(before) == [Self.changed, Self.changed])
        try Invariants.check(shop, "cancelled and back")
    }

    /// It is told once: each of the months that follow comes alone first, and then with the same word.
    @Test func monthsThatFollowTellItNoMore() throws {
        var shop = try Shop()
        let off = try Self.word(isKept: false, committedUntil: 120)
        try shop.show(Self.period(committedUntil: 120), renewals: [off])
        for month in Int64(1)...3 {
            let start = Double(30 * month)
            shop.now = SubscriptionCase.at(start)
            try shop.show(Self.period(month + 1, from: 30 * month, committedUntil: 120))
            #expect(Self.told(in: shop)?.nextCommitment?.willRenew == false)
            try shop.show([], renewals: [Self.word(isKept: false, of: start, committedUntil: 120)])
        }
        #expect(shop.types.count { $0 == Self.changed } == 0)
        #expect(shop.types.count { $0 == "subscription.renewed" } == 3)
        // The last month is the last.
        #expect(try shop.subscription().willAutoRenew == false)
        #expect(shop.figures.total(.renewalsDue) == 0)
        try Invariants.check(shop, "to its end")
    }

    /// An answer of verifyReceipt says nothing of it, in whichever month.
    @Test(arguments: [30.0, 360]) func anAnswerThatKnowsOfNoneEndsNone(until: Double) throws {
        var shop = try Shop()
        let off = try Self.word(isKept: false, committedUntil: until)
        try shop.show(Self.period(committedUntil: until), renewals: [off])
        var poor = Renewal(originalID: off.originalID, product: off.product, signedAt: SubscriptionCase.at(2))
        (poor.willAutoRenew, poor.nextProduct, poor.telling) = (true, off.nextProduct, .less(than: nil))
        try shop.show([], renewals: [poor], by: nil)
        #expect(try shop.subscription().willAutoRenew == (until > 30))
        #expect(shop.figures.total(.renewalsDue) == (until > 30 ? 1 : 0))
        if until > 30 {
            shop.now = SubscriptionCase.at(30)
            poor.signedAt = SubscriptionCase.at(30.5)
            try shop.show(Self.period(2, from: 30, committedUntil: until), renewals: [poor])
            #expect(Self.told(in: shop)?.nextCommitment?.willRenew == false)
            poor.signedAt = SubscriptionCase.at(31)
            try shop.show([], renewals: [poor], by: nil)
        }
        #expect(shop.types.count { $0 == Self.changed } == 0)
        try Invariants.check(shop, "\(until)")
    }

    /// What is bought anew, and paid for at once, is of none, whatever was said of the one before.
    @Test(arguments: ["BILLED_UPFRONT", "MONTHLY"]) func whatIsPaidForAtOnceIsOfNone(plan: String) throws {
        let off = try Self.word(isKept: false, committedUntil: 360)
        var poor = Renewal(originalID: off.originalID, product: off.product, signedAt: SubscriptionCase.at(201))
        (poor.willAutoRenew, poor.nextProduct, poor.telling) = (true, off.nextProduct, .less(than: off))
        var anew = try Sold.month(2, original: 1, from: 200)
        anew.billingPlan = plan
        let found = try #require(fold(try Shop.chain(1), anew, poor, at: SubscriptionCase.at(202)))
        #expect(found.nextCommitment?.willRenew == (plan == "MONTHLY" ? false : nil))
    }

    /// Another plan, or another product, for what comes after it is a wish like that of any renewal.
    @Test(arguments: [true, false]) func whatItIsToBeRenewedAsIsTold(isOfPlan: Bool) throws {
        var shop = try Shop()
        let kept = try Self.word(isKept: true, committedUntil: 360)
        try shop.show(Self.period(committedUntil: 360), renewals: [kept])
        let before = shop.events.count
        let other = try Self.word(isKept: true, committedUntil: 360) { word in
            word.signedAt = SubscriptionCase.at(2)
            if isOfPlan {
                word.nextCommitment?.billingPlan = "BILLED_UPFRONT"
            } else {
                word.nextCommitment?.product = try Shop.product("lamp")
            }
        }
        try shop.show([], renewals: [other])
        #expect(shop.types.dropFirst(before) == [Self.changed])
    }

    /// Whose plan Apple begins to name wished nothing.
    @Test func aPlanThatIsNamedForTheFirstTimeIsNoNews() throws {
        var shop = try Shop()
        try shop.show(Sold.month(1))
        let before = shop.events.count
        try shop.show([], renewals: [Self.word(isKept: true, committedUntil: 360)])
        var named = try Self.period(committedUntil: 360)
        named.signedAt = SubscriptionCase.at(3)
        try shop.show(named)
        #expect(shop.events.count == before)
    }
}
