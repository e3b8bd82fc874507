import PurchaseModel
import Simulator
import Testing

/// What the store does with subscriptions as time passes.
struct SubscriptionLifeTests {
    @Test func aTrialIsFollowedByPaidMonths() throws {
        var life = StoreLife()
        let first = try life.buy("pro.monthly")
        #expect(first.fact.offer?.kind == .introductory)
        #expect(first.fact.price?.milliunits == 0)
        life.days(7 + 31 + 28 + 1)
        let all = life.owned()
        #expect(all.count == 4)
        #expect(all.map(\.reason) == [.purchase, .renewal, .renewal, .renewal])
        #expect(all.dropFirst().allSatisfy { $0.fact.offer == nil && $0.fact.price?.milliunits == 4_990 })
        #expect(all.allSatisfy { $0.originalID == first.id && $0.fact.originallyPurchasedAt == first.fact.purchasedAt })
        for (earlier, later) in zip(all, all.dropFirst()) {
            #expect(later.fact.purchasedAt == earlier.fact.expiresAt)
        }
        #expect(Set(all.map(\.fact.webOrderLineItem)).count == 4)
        #expect(life.told() == ["SUBSCRIBED/INITIAL_BUY", "DID_RENEW", "DID_RENEW", "DID_RENEW"])
    }

    @Test func aCancelledSubscriptionRunsToItsEnd() throws {
        var life = StoreLife()
        try life.buy("pro.weekly")
        try life.perform(.setAutoRenew(life.subscription("pro.weekly"), isOn: false))
        life.days(6.9)
        #expect(try life.status() == .active)
        life.days(0.2)
        #expect(try life.status() == .expired)
        #expect(try life.line().expirationIntent == .cancelled)
        let told = ["SUBSCRIBED/INITIAL_BUY", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "EXPIRED/VOLUNTARY"]
        #expect(life.told() == told)
        let again = try life.buy("pro.yearly")
        #expect(again.originalID == life.owned().first?.id)
        #expect(life.told() == told + ["SUBSCRIBED/RESUBSCRIBE"])
        #expect(try life.line().hasExpired == false)
    }

    @Test func aFailedRenewalHasGraceAndThenSixtyDays() throws {
        var life = StoreLife()
        try life.buy("pro.weekly")
        try life.perform(.setPayment(customer: "anna", works: false))
        life.days(7)
        #expect(try life.status() == .gracePeriod)
        life.days(6)
        #expect(try life.status() == .billingRetry)
        life.days(54)
        #expect(try life.status() == .expired)
        #expect(try life.line().willAutoRenew == false)
        #expect(life.owned().count == 1)
        #expect(
            life.told().dropFirst() == [
                "DID_FAIL_TO_RENEW/GRACE_PERIOD", "GRACE_PERIOD_EXPIRED", "EXPIRED/BILLING_RETRY",
            ]
        )
    }

    static let recoveries: [(days: Double, cycleStays: Bool, told: [String])] = [
        (2, true, ["DID_FAIL_TO_RENEW/GRACE_PERIOD", "DID_RENEW/BILLING_RECOVERY"]),
        (20, false, ["DID_FAIL_TO_RENEW/GRACE_PERIOD", "GRACE_PERIOD_EXPIRED", "DID_RENEW/BILLING_RECOVERY"]),
    ]

    @Test(arguments: recoveries)
    func aRecoveryKeepsTheCycleOnlyInsideTheGracePeriod(
        _ row: (days: Double, cycleStays: Bool, told: [String])
    ) throws {
        var life = StoreLife()
        let first = try life.buy("pro.yearly")
        try life.perform(.setPayment(customer: "anna", works: false))
        life.days(365 + row.days)
        try life.perform(.setPayment(customer: "anna", works: true))
        let recovered = try #require(life.owned().last)
        #expect(recovered.reason == .renewal)
        #expect(recovered.fact.purchasedAt == (row.cycleStays ? first.fact.expiresAt : life.store.now))
        #expect(Array(life.told().dropFirst()) == row.told)
        #expect(try life.status() == .active)
        #expect(try life.line().failure == nil)
    }

    @Test func anUpgradeBeginsAtOnceAndADowngradeAtTheEnd() throws {
        var life = StoreLife()
        let first = try life.buy("pro.yearly")
        life.days(10)
        try life.perform(.changePlan(life.subscription("pro.yearly"), to: DemoCatalogue.product("premium.monthly")))
        let second = try #require(life.owned().last)
        #expect(life.owned().count == 2)
        #expect(life.owned().first?.fact.isUpgraded == true)
        #expect(second.fact.purchasedAt == life.store.now)
        #expect(second.originalID == first.id)
        #expect(second.reason == .purchase)
        try life.perform(.changePlan(life.subscription("pro.yearly"), to: DemoCatalogue.product("pro.monthly")))
        #expect(try life.line().nextProduct == DemoCatalogue.product("pro.monthly"))
        life.days(31)
        #expect(life.owned().last?.fact.product == DemoCatalogue.product("pro.monthly"))
        #expect(
            life.told().dropFirst() == [
                "DID_CHANGE_RENEWAL_PREF/UPGRADE", "DID_CHANGE_RENEWAL_PREF/DOWNGRADE", "DID_RENEW",
            ]
        )
    }

    @Test func theOldEndOfAnUpgradedPeriodIsNothing() throws {
        var life = StoreLife()
        try life.buy("pro.weekly")
        life.days(3)
        try life.perform(.changePlan(life.subscription("pro.weekly"), to: DemoCatalogue.product("premium.monthly")))
        life.days(20)
        #expect(life.owned().count == 2)
        #expect(life.told().last == "DID_CHANGE_RENEWAL_PREF/UPGRADE")
    }

    @Test func aRefundEndsTheCurrentPeriodOnly() throws {
        var life = StoreLife()
        try life.buy("pro.weekly")
        life.days(8)
        let all = life.owned()
        try life.perform(.decideRefund(all[0].id, .full))
        #expect(try life.status() == .active)
        try life.perform(.decideRefund(all[1].id, .prorated(percentage: nil)))
        #expect(try life.status() == .revoked)
        let revocation = try #require(life.owned()[1].fact.revocation)
        #expect(revocation.type == "REFUND_PRORATED")
        // Six of seven days are left.
        #expect(revocation.percentage == 85_714)
        life.days(30)
        #expect(life.owned().count == 2)
        try life.perform(.reverseRefund(all[1].id))
        #expect(try life.status() == .expired)
        #expect(life.owned()[1].fact.revocation == nil)
        #expect(life.told().suffix(3) == ["REFUND", "REFUND", "REFUND_REVERSED"])
    }

    @Test func aFamilyHasCopiesThatGoWithThePurchase() throws {
        var life = StoreLife()
        for name in ["anna", "berta"] { try life.perform(.setFamily(customer: name, family: "f")) }
        let bought = try life.buy("premium.monthly")
        let copy = try #require(life.owned(by: "berta").first)
        #expect(copy.id != bought.id)
        #expect(copy.fact.ownership == .familyShared)
        #expect(copy.fact.expiresAt == bought.fact.expiresAt)
        try life.perform(.setFamily(customer: "carla", family: "f"))
        #expect(life.owned(by: "carla").count == 1)
        life.days(32)
        #expect(life.owned(by: "berta").count == 2)
        #expect(life.owned(by: "berta").last?.fact.expiresAt == life.owned().last?.fact.expiresAt)
        try life.perform(.decideRefund(try #require(life.owned().last).id, .full))
        #expect(life.owned(by: "berta").last?.fact.revocation?.type == "FAMILY_REVOKE")
        #expect(try life.status(of: "carla") == .revoked)
        #expect(life.told(about: "berta") == ["SUBSCRIBED/INITIAL_BUY", "DID_RENEW", "REVOKE"])
    }

    @Test func silenceAboutAPriceThatNeedsConsentIsTheEnd() throws {
        var life = StoreLife()
        try life.buy("pro.weekly")
        try life.buy("pro.weekly", by: "berta")
        let price = Price(milliunits: 4_000, currency: "USD")
        let rise = Act.PriceRise(
            app: life.app,
            product: DemoCatalogue.product("pro.weekly"),
            price: price,
            needsConsent: true
        )
        try life.perform(.raisePrice(rise))
        try life.perform(.answerPriceRise(life.subscription("pro.weekly", of: "berta"), isAccepted: true))
        life.days(8)
        #expect(
            life.told(about: "anna") == [
                "SUBSCRIBED/INITIAL_BUY", "PRICE_INCREASE/PENDING", "EXPIRED/PRICE_INCREASE",
            ]
        )
        #expect(life.told(about: "berta").suffix(2) == ["PRICE_INCREASE/ACCEPTED", "DID_RENEW"])
        #expect(life.owned(by: "berta").last?.fact.price == price)
        #expect(try life.line().expirationIntent == .noConsent)
    }

    @Test func theSandboxRenewsTwelveTimesAndStops() throws {
        var life = StoreLife()
        try life.buy("premium.monthly", by: "tester")
        life.days(1)
        #expect(life.owned(by: "tester").count == 13)
        #expect(life.told().last == "EXPIRED/VOLUNTARY")
    }

    @Test func payAsYouGoReducesSeveralMonths() throws {
        var life = StoreLife()
        try life.buy("pro.weekly")
        try life.perform(.setAutoRenew(life.subscription("pro.weekly"), isOn: false))
        life.days(8)
        try life.buy("pro.monthly", offer: "THREE-MONTHS-HALF")
        life.days(31 * 4)
        let monthly = life.owned().dropFirst()
        #expect(
            monthly.prefix(3).allSatisfy { $0.fact.price?.milliunits == 2_490 && $0.fact.offer?.kind == .promotional }
        )
        #expect(monthly.dropFirst(3).allSatisfy { $0.fact.price?.milliunits == 4_990 && $0.fact.offer == nil })
        #expect(monthly.count == 5)
    }

    @Test func anExtensionMovesTheEndAndThereAreTwoAYear() throws {
        var life = StoreLife()
        let first = try life.buy("pro.yearly")
        let terms = ["one", "two", "three"].map { Act.Extension(days: 30, reason: 1, requestIdentifier: $0) }
        try life.perform(.extend(first.id, terms[0]))
        // Asked for again, not another one.
        try life.perform(.extend(first.id, terms[0]))
        try life.perform(.extend(first.id, terms[1]))
        #expect(throws: ActRefusal.extensionsUsedUp) { try life.perform(.extend(first.id, terms[2])) }
        life.days(365 + 59)
        #expect(life.owned().count == 1)
        life.days(2)
        #expect(life.owned().count == 2)
        #expect(life.told().suffix(3) == ["RENEWAL_EXTENDED", "RENEWAL_EXTENDED", "DID_RENEW"])
    }

    @Test func askingForMoneyBackInTheGracePeriodEndsItAtOnce() throws {
        var life = StoreLife()
        let first = try life.buy("pro.weekly")
        try life.perform(.setPayment(customer: "anna", works: false))
        life.days(8)
        #expect(try life.status() == .gracePeriod)
        try life.perform(.askRefund(Act.RefundRequest(transaction: first.id)))
        #expect(try life.status() == .expired)
        try life.perform(.setPayment(customer: "anna", works: true))
        #expect(life.owned().count == 1)
        #expect(
            life.told().suffix(3) == [
                "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "EXPIRED/VOLUNTARY", "CONSUMPTION_REQUEST",
            ]
        )
    }

    @Test func aRefundIsDecidedWhenTheMerchantHadHisTime() throws {
        var life = StoreLife()
        let bought = try life.buy("coins.100", quantity: 3)
        #expect(bought.fact.price?.milliunits == 2_970)
        var request = Act.RefundRequest(transaction: bought.id)
        request.outcome = .prorated(percentage: 30_000)
        try life.perform(.askRefund(request))
        life.days(0.49)
        #expect(life.owned().last?.isRevoked == false)
        life.days(0.02)
        #expect(life.owned().last?.fact.revocation?.percentage == 30_000)
        #expect(life.told() == ["ONE_TIME_CHARGE", "CONSUMPTION_REQUEST", "REFUND"])
    }

    static let refusals: [(product: String, quantity: Int, offer: String?, refusal: ActRefusal)] = [
        ("nothing", 1, nil, .unknownProduct),
        ("sword", 2, nil, .quantityOutOfRange),
        ("coins.100", 11, nil, .quantityOutOfRange),
        ("coins.100", 0, nil, .quantityOutOfRange),
        ("pro.monthly", 1, "NO-SUCH", .unknownOffer),
        ("pro.monthly", 1, "THREE-MONTHS-HALF", .notEligible),
        ("pro.monthly", 1, "COME-BACK", .notEligible),
    ]

    @Test(arguments: refusals)
    func whatTheStoreWillNotSell(
        _ row: (product: String, quantity: Int, offer: String?, refusal: ActRefusal)
    ) throws {
        var life = StoreLife()
        #expect(throws: row.refusal) { try life.buy(row.product, quantity: row.quantity, offer: row.offer) }
        #expect(life.owned().isEmpty)
        #expect(life.told().isEmpty)
    }

    @Test func nothingIsOwnedTwice() throws {
        var life = StoreLife()
        try life.buy("sword")
        #expect(throws: ActRefusal.alreadyOwned) { try life.buy("sword") }
        try life.buy("pro.yearly")
        #expect(throws: ActRefusal.alreadyOwned) { try life.buy("pro.yearly") }
    }

    @Test func aChildsPurchaseWaitsForAParent() throws {
        var life = StoreLife()
        var child = StoreCustomer(name: "child", environment: .production)
        child.asksToBuy = true
        life.store.set(child)
        let purchase = Act.Purchase(customer: "child", app: life.app, product: DemoCatalogue.product("coins.100"))
        #expect(try life.perform(.buy(purchase)) == .waits)
        #expect(try life.perform(.buy(purchase)) == .waits)
        #expect(life.owned(by: "child").isEmpty)
        try life.perform(.answerAskToBuy(customer: "child", isApproved: false))
        try life.perform(.answerAskToBuy(customer: "child", isApproved: true))
        #expect(life.owned(by: "child").count == 1)
        #expect(throws: ActRefusal.nothingWaits) {
            try life.perform(.answerAskToBuy(customer: "child", isApproved: true))
        }
    }

    @Test func aWinBackOfferBringsHerBack() throws {
        var life = StoreLife()
        try life.buy("pro.weekly")
        try life.perform(.setAutoRenew(life.subscription("pro.weekly"), isOn: false))
        life.days(30)
        #expect(life.store.winBackOffers(of: try life.line()).map(\.identifier) == ["COME-BACK"])
        let back = try life.buy("pro.monthly", offer: "COME-BACK")
        #expect(back.fact.offer?.kind == .winBack)
        #expect(back.fact.price?.milliunits == 7_490)
        #expect(life.store.winBackOffers(of: try life.line()).isEmpty)
    }
}
