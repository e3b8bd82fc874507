import PurchaseModel
import Simulator
import Testing

/// What the store does with subscriptions where two things meet.
struct SubscriptionCornerTests {
    private static func family() throws -> StoreLife {
        var life = StoreLife()
        for name in ["anna", "berta"] { try life.perform(.setFamily(customer: name, family: "family")) }
        try life.buy("premium.monthly")
        return life
    }

    @Test func aMembersLineSaysWhatTheNextRenewalWillBe() throws {
        var life = try Self.family()
        let monthly = DemoCatalogue.product("pro.monthly")
        try life.perform(.changePlan(life.subscription("pro.monthly"), to: monthly))
        #expect(try life.line(of: "berta").nextProduct == monthly)
        let premium = DemoCatalogue.product("premium.monthly")
        try life.perform(.changePlan(life.subscription("premium.monthly"), to: premium))
        #expect(try life.line(of: "berta").nextProduct == premium)
        try life.perform(.askRefund(Act.RefundRequest(transaction: life.line().current)))
        #expect(try life.line(of: "berta").willAutoRenew == false)
    }

    @Test func aPeriodThatIsOverIsNotShared() throws {
        var life = try Self.family()
        let first = try life.line().current
        try life.perform(.setSharing(first, isOn: false))
        let yearly = DemoCatalogue.product("pro.yearly")
        try life.perform(.changePlan(life.subscription("pro.yearly"), to: yearly))
        life.days(32)
        #expect(throws: ActRefusal.notShareable) { try life.perform(.setSharing(first, isOn: true)) }
        #expect(life.told(about: "berta").contains("SUBSCRIBED/RESUBSCRIBE") == false)
    }

    @Test func whoDoesNotPayIsNotAskedAboutThePrice() throws {
        var life = try Self.family()
        try life.perform(
            .raisePrice(
                Act.PriceRise(
                    app: life.app,
                    product: DemoCatalogue.product("premium.monthly"),
                    price: Price(milliunits: 19_990, currency: "USD"),
                    needsConsent: true
                )
            )
        )
        try life.perform(.answerPriceRise(life.subscription("premium.monthly"), isAccepted: true))
        #expect(life.told(about: "anna").dropFirst() == ["PRICE_INCREASE/PENDING", "PRICE_INCREASE/ACCEPTED"])
        #expect(life.told(about: "berta") == ["SUBSCRIBED/INITIAL_BUY"])
    }

    @Test func theOfferOfAPlanThatWasGivenUpGoesWithIt() throws {
        var life = StoreLife()
        try life.buy("premium.monthly")
        try life.perform(.redeemOffer(life.subscription("pro.monthly"), offer: "THREE-MONTHS-HALF"))
        try life.perform(
            .changePlan(life.subscription("premium.monthly"), to: DemoCatalogue.product("premium.monthly"))
        )
        life.days(32)
        let renewal = try #require(life.owned().last)
        #expect(renewal.fact.product == DemoCatalogue.product("premium.monthly"))
        #expect(renewal.fact.price?.milliunits == 9_990)
        #expect(renewal.fact.offer == nil)
    }

    @Test func anOfferThatRunsOutlivesAPlanThatWasGivenUp() throws {
        var life = StoreLife()
        try life.buy("pro.monthly", offer: "TRIAL")
        try life.perform(.redeemOffer(life.subscription("pro.monthly"), offer: "THREE-MONTHS-HALF"))
        // The same plan once more is no change that could end what was redeemed.
        #expect(throws: ActRefusal.alreadyOwned) {
            try life.perform(.changePlan(life.subscription("pro.monthly"), to: DemoCatalogue.product("pro.monthly")))
        }
        life.days(8)
        #expect(life.owned().last?.fact.price?.milliunits == 2_490)
    }

    private static let (old, new) = (AccountToken(high: 1, low: 1), AccountToken(high: 2, low: 2))

    /// The app gives the store a token with each purchase: Apple signs it with that one, and with those that follow from it.
    /// What begins later is signed with the token of the subscription. Each row: the plan that is bought, under which offer,
    /// with which token, and what the next transaction and its renewal are signed with.
    @Test(
        arguments: [
            ("premium.monthly", nil, new, new), ("premium.monthly", nil, nil, old),
            ("premium.monthly", "PREMIUM-FIRST-MONTH", new, new), ("pro.weekly", nil, new, old),
        ] as [(String, String?, AccountToken?, AccountToken)]
    )
    func anotherPlanIsSignedWithTheTokenThatItWasBoughtWith(
        product: String,
        offer: String?,
        token: AccountToken?,
        signed: AccountToken
    ) throws {
        var life = StoreLife()
        var purchase = Act.Purchase(customer: "anna", app: life.app, product: DemoCatalogue.product("pro.monthly"))
        purchase.accountToken = Self.old
        try life.perform(.buy(purchase))
        var other = Act.Purchase(customer: "anna", app: life.app, product: DemoCatalogue.product(product))
        (other.offer, other.accountToken) = (offer, token)
        try life.perform(.buy(other))
        life.days(40)
        let sold = life.owned().map(\.fact)
        #expect(sold.first?.accountToken == Self.old)
        #expect(sold.dropFirst().first?.product == DemoCatalogue.product(product))
        #expect(sold.count > 2 && sold.dropFirst().allSatisfy { $0.accountToken == signed })
    }

    /// TestFlight: every period takes a day, and the grace of a weekly subscription six.
    @Test func whoPaysLateCatchesUpWithThePeriodsThatArePast() throws {
        var life = StoreLife()
        life.store.set(StoreCustomer(name: "flyer", environment: .sandbox, rate: .testFlight))
        try life.buy("pro.weekly", by: "flyer")
        try life.perform(.setPayment(customer: "flyer", works: false))
        life.days(3.5)
        #expect(try life.status(of: "flyer") == .gracePeriod)
        try life.perform(.setPayment(customer: "flyer", works: true))
        life.days(0.1)
        #expect(try life.line(of: "flyer").expiresAt == StoreLife.start.advanced(by: .seconds(4 * 86_400)))
        #expect(life.owned(by: "flyer").count == 4)
        life.days(10)
        #expect(try life.status(of: "flyer") == .expired)
        #expect(life.owned(by: "flyer").count == 7)
    }

    /// Sandbox at 15 minutes: grace is 7.5 minutes, retry 30, and a gap of more than 10 begins anew.
    @Test(arguments: [(minutes: 8.0, isNew: false), (11, true)])
    func aLongGapBeforeARecoveryBeginsAnew(minutes: Double, isNew: Bool) throws {
        var life = StoreLife()
        let rate = TimeRate.sandbox(minutesPerMonth: 15)
        life.store.set(StoreCustomer(name: "slow", environment: .sandbox, rate: rate))
        try life.buy("premium.monthly", by: "slow")
        try life.perform(.setPayment(customer: "slow", works: false))
        life.days((15 + minutes) / 1_440)
        #expect(try life.status(of: "slow") == .billingRetry)
        try life.perform(.setPayment(customer: "slow", works: true))
        #expect(try life.line(of: "slow").recentStartAt == (isNew ? life.store.now : StoreLife.start))
    }
}
