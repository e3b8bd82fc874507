import PurchaseModel
import Testing

/// What the shop is told of a subscription's life, and until when its buyer has access.
@Suite struct SubscriptionEventTests {
    /// Only what is about subscriptions, without the word itself.
    static func told(_ shop: Shop) -> [String] {
        shop.types.filter { $0.utf8.starts(with: "subscription.".utf8) }.map { String($0.dropFirst(13)) }
    }

    /// What is said of why it ended, each time that it is told.
    private static func endings(_ shop: Shop) -> [SubscriptionEnding?] {
        shop.events.compactMap { event in
            guard event.type == .subscriptionExpired, case .subscription(let told, _) = event.subject else {
                return nil
            }
            return .some(told.ending)
        }
    }

    static func renewal(
        on day: Double,
        renews: Double = 30,
        _ change: (inout Renewal) -> Void = { _ in }
    ) throws -> Renewal {
        var renewal = Renewal(
            originalID: try #require(TransactionID(number: 1)),
            product: try Shop.product("monthly"),
            signedAt: SubscriptionCase.at(day)
        )
        renewal.renewsAt = SubscriptionCase.at(renews)
        renewal.willAutoRenew = true
        renewal.nextProduct = renewal.product
        change(&renewal)
        return renewal
    }

    private static func shop(after change: (inout Renewal) -> Void = { _ in }) throws -> Shop {
        var shop = try Shop()
        try shop.show(Sold.month(1), renewals: [renewal(on: 0, change)])
        return shop
    }

    private static func failing(_ renewal: inout Renewal) {
        (renewal.isInBillingRetry, renewal.expirationIntent) = (true, 2)
        renewal.graceEndsAt = SubscriptionCase.at(46)
    }

    static func next(_ product: String = "monthly", from day: Int64 = 30) throws -> Transaction {
        var period = try Sold.month(2, original: 1, from: day)
        period.product = try Shop.product(product)
        period.signedAt = period.purchasedAt
        return period
    }

    @Test func aRenewalIsTold() throws {
        var shop = try Self.shop()
        shop.now = SubscriptionCase.at(30)
        try shop.show(Self.next(), renewals: [Self.renewal(on: 30, renews: 60)])
        #expect(Self.told(shop) == ["started", "renewed"])
        #expect(try shop.subscription().expiresAt == SubscriptionCase.at(60))
    }

    @Test func graceIsAccessAndBillingRetryIsNone() throws {
        var shop = try Self.shop()
        shop.now = SubscriptionCase.at(30)
        #expect(try shop.rights() == [])
        try shop.show(renewals: [Self.renewal(on: 30, Self.failing)], by: nil)
        #expect(Self.told(shop) == ["started", "grace_started"])
        #expect(try shop.rights(at: SubscriptionCase.at(45.9)) == ["premium"])
        #expect(try shop.rights(at: SubscriptionCase.at(46)) == [])
        shop.now = SubscriptionCase.at(46)
        try shop.look()
        #expect(Self.told(shop) == ["started", "grace_started", "billing_retry_started"])
        shop.now = SubscriptionCase.at(90)
        try shop.look()
        try shop.look()
        #expect(Self.told(shop) == ["started", "grace_started", "billing_retry_started", "expired"])
        #expect(try shop.subscription().nextLook != nil)
    }

    /// For as long as Apple's flag says so, and no longer than as long again as Apple says that it tries.
    @Test func whatAppleTriesForEverEnds() throws {
        var shop = try Self.shop()
        for day in [30.5, 91, 120, 149, 151, 200, 400] {
            shop.now = SubscriptionCase.at(day)
            try shop.show(renewals: [Self.renewal(on: day) { $0.isInBillingRetry = true }], by: nil)
            try shop.look()
            #expect(try shop.subscription().state == (day < 150 ? .billingRetry : .expired))
        }
        #expect(Self.told(shop) == ["started", "billing_retry_started", "expired"])
        #expect(Self.endings(shop) == [.billingError])
        #expect(try shop.subscription().nextLook == nil)
    }

    /// A restore by StoreKit 1 has a number of its own, and nothing is given for it: the higher number tells how the
    /// subscription stands, whichever came first.
    @Test(arguments: [[1, 9], [9, 1]]) func graceIsAccessByWhicheverNumberThePeriodWasGiven(numbers: [Int64]) throws {
        var shop = try Shop()
        for number in numbers { try shop.show(Sold.month(number, original: 1)) }
        #expect(try shop.word(numbers[1]) == "withheld already_granted")
        shop.now = SubscriptionCase.at(30)
        try shop.show(renewals: [Self.renewal(on: 30, Self.failing)], by: nil)
        #expect(try shop.rights(at: SubscriptionCase.at(45.9)) == ["premium"])
        #expect(try shop.rights(at: SubscriptionCase.at(46)) == [])
        // An earlier period has no part in it.
        try shop.show(Sold.month(10, original: 1, from: 30), renewals: [Self.renewal(on: 31, renews: 60)])
        #expect(try shop.rights(at: SubscriptionCase.at(59)) == ["premium"])
        #expect(try shop.rights(at: SubscriptionCase.at(61)) == [])
    }

    /// Apple moves the end of a period by any of its numbers. Each row: what is heard, in order, 1 the period, 8 its restore,
    /// x the restore with a later end, y the same of the period; and on which day it ends.
    @Test(arguments: [
        ("18", 30), ("18x", 44), ("81x", 44), ("x1", 44), ("1x", 44), ("8y", 44), ("18y", 44), ("81y", 44),
        ("18x1", 44), ("18x8", 44), ("18xy", 44),
    ])
    func anEndIsMovedByWhicheverNumber(heard: String, day: Double) throws {
        var shop = try Shop()
        for step in heard {
            var sold = try "1y".contains(step) ? Sold.month(1) : Sold.month(8, original: 1)
            if "xy".contains(step) {
                sold.signedAt = Facts.now.advanced(by: .seconds(60))
                sold.expiresAt = SubscriptionCase.at(44)
            }
            try shop.show(sold, by: step == "x" && shop.events.isEmpty || step != "x" ? "ann" : nil)
            try Invariants.check(shop, "\(step) of \(heard)")
        }
        #expect(try shop.rights(at: SubscriptionCase.at(day - 0.1)) == ["premium"])
        #expect(try shop.rights(at: SubscriptionCase.at(day)) == [])
        #expect(shop.types.count { $0 == "delivery.granted" } == 1)
        // Taken back and given again it lasts as long as before.
        let given = try #require(shop.fulfilments.first { $0.unit != nil }).transaction.id
        let isFirst = given == TransactionID(number: 1)
        var period = try isFirst ? Sold.month(1) : Sold.month(8, original: 1)
        if heard.contains(isFirst ? "y" : "x") { period.expiresAt = SubscriptionCase.at(44) }
        try shop.show(Sold.refunded(period, after: 600), by: nil)
        #expect(try shop.rights() == [])
        try shop.show(Sold.again(period, after: 1_200), by: nil)
        #expect(try shop.rights(at: SubscriptionCase.at(day - 0.1)) == ["premium"])
    }

    @Test func whatIsPaidInGraceGoesOn() throws {
        var shop = try Self.shop()
        shop.now = SubscriptionCase.at(33)
        try shop.show(renewals: [Self.renewal(on: 30, Self.failing)], by: nil)
        var paid = try Self.next()
        paid.signedAt = shop.now
        try shop.show(paid, renewals: [Self.renewal(on: 33, renews: 60)])
        #expect(Self.told(shop) == ["started", "grace_started", "recovered"])
        #expect(try shop.rights(at: SubscriptionCase.at(59)) == ["premium"])
    }

    @Test func aRefundEndsTheGraceAsWell() throws {
        var shop = try Self.shop()
        shop.now = SubscriptionCase.at(33)
        try shop.show(renewals: [Self.renewal(on: 30, Self.failing)], by: nil)
        try shop.show(Sold.refunded(Sold.month(1), after: 33 * 86_400), by: nil)
        #expect(Self.told(shop) == ["started", "grace_started", "revoked"])
        #expect(try shop.rights() == [])
        try shop.show(Sold.again(Sold.month(1), after: 34 * 86_400), by: nil)
        #expect(Self.told(shop).last == "grace_started")
        #expect(try shop.rights() == ["premium"])
    }

    @Test func whatIsFirstHeardOfInItsGraceIsGivenWhateverComesFirst() throws {
        let word = try Self.renewal(on: 30, Self.failing)
        for isWordFirst in [true, false] {
            var shop = try Shop()
            shop.now = SubscriptionCase.at(40)
            if isWordFirst { try shop.show(renewals: [word]) }
            try shop.show(Sold.month(1))
            if !isWordFirst {
                #expect(try shop.word(1) == "withheld expired")
                try shop.show(renewals: [word])
            }
            #expect(try shop.word(1) == "granted")
            #expect(try shop.rights() == ["premium"])
            #expect(try shop.rights(at: SubscriptionCase.at(46)) == [])
        }
    }

    @Test func aRefundAndItsReversalAreTold() throws {
        var shop = try Self.shop()
        try shop.show(Sold.refunded(Sold.month(1), after: 86_400), by: nil)
        try shop.show(Sold.again(Sold.month(1), after: 2 * 86_400), by: nil)
        #expect(Self.told(shop) == ["started", "revoked", "restored"])
        let moments = shop.events.filter { $0.type == .subscriptionRevoked || $0.type == .subscriptionRestored }
        let signed = [
            try Sold.refunded(Sold.month(1), after: 86_400).signedAt,
            try Sold.again(Sold.month(1), after: 2 * 86_400).signedAt,
        ]
        #expect(moments.map(\.happenedAt) == signed)
        #expect(try shop.rights() == ["premium"])
    }

    @Test(arguments: [
        (product: "yearly", day: 12, told: ["started", "product_changed"]),
        (product: "yearly", day: 30, told: ["started", "renewed", "product_changed"]),
        (product: "monthly", day: 200, told: ["started", "resubscribed"]),
        (product: "yearly", day: 200, told: ["started", "resubscribed", "product_changed"]),
    ])
    func aNewPeriodIsWhatItsStartAndItsPlanMakeIt(product: String, day: Int64, told: [String]) throws {
        var shop = try Self.shop()
        shop.now = SubscriptionCase.at(Double(day))
        let period = try Self.next(product, from: day)
        let word = try Self.renewal(on: Double(day), renews: Double(day + 30)) { renewal in
            (renewal.product, renewal.nextProduct) = (period.product, period.product)
        }
        try shop.show(period, renewals: [word])
        #expect(Self.told(shop) == told)
        // What the plan before gave ends with it, though nobody has said that it was upgraded.
        #expect(try shop.rights() == (product == "monthly" ? ["premium"] : []))
    }

    @Test func whatSheWishesForTheRenewalIsToldOnce() throws {
        var shop = try Self.shop()
        try shop.show(renewals: [Self.renewal(on: 1) { $0.willAutoRenew = false }], by: nil)
        try shop.show(renewals: [Self.renewal(on: 2) { $0.willAutoRenew = false }], by: nil)
        try shop.show(renewals: [Self.renewal(on: 3)], by: nil)
        try shop.show(renewals: [Self.renewal(on: 4) { $0.nextProduct = ProductID(checked: "yearly") }], by: nil)
        // What is older tells nothing.
        try shop.show(renewals: [Self.renewal(on: 2.5)], by: nil)
        try shop.show(renewals: [Self.renewal(on: 5) { $0.priceIncreaseStatus = 0 }], by: nil)
        try shop.show(renewals: [Self.renewal(on: 6) { $0.priceIncreaseStatus = 1 }], by: nil)
        let change = "renewal_preference_changed"
        #expect(
            Self.told(shop) == [
                "started", change, change, change, change, "price_increase_pending", "price_increase_accepted",
            ]
        )
    }

    /// Each row: Apple's words on the renewal, one after the other, as days after the start: `o` with an offer, `p` with a
    /// price that is raised to so much; and what is told.
    @Test(arguments: [
        (["o1"], ["renewal_preference_changed"]), (["o1", "o2"], ["renewal_preference_changed"]),
        (["o1", "-2"], ["renewal_preference_changed"]),
        (["p1 12", "p2 12"], ["price_increase_accepted"]),
        (["p1 12", "p2 15"], ["price_increase_accepted", "price_increase_accepted"]),
        (["p1 12", "p2 10"], ["price_increase_accepted"]), (["-1", "-2"], []),
    ])
    func otherTermsOfTheRenewalAreTold(words: [String], told: [String]) throws {
        var shop = try Self.shop()
        for word in words {
            let numbers = word.dropFirst().split(separator: " ").compactMap { Double($0) }
            let renewal = try Self.renewal(on: numbers[0]) { renewal in
                if word.hasPrefix("o") { renewal.offer = Offer(kind: .offerCode, identifier: "half") }
                guard word.hasPrefix("p") else { return }
                renewal.priceIncreaseStatus = 1
                renewal.nextPrice = Price(milliunits: Int64(numbers[1]) * 1_000, currency: "EUR")
            }
            try shop.show(renewals: [renewal], by: nil)
        }
        #expect(Self.told(shop) == ["started"] + told)
    }

    /// Of what nobody had spoken of before nothing is another.
    @Test func theFirstWordOnARenewalIsNoOtherWish() throws {
        var shop = try Shop()
        try shop.show(Sold.month(1))
        let offer = Offer(kind: .introductory, discount: "PAY_AS_YOU_GO")
        try shop.show(renewals: [Self.renewal(on: 1) { $0.offer = offer }], by: nil)
        #expect(Self.told(shop) == ["started"])
    }

    @Test func theClockAloneTellsOfAnEndOnceAndNotTooSoon() throws {
        var shop = try Self.shop()
        shop.now = SubscriptionCase.at(30.5)
        try shop.look()
        #expect(Self.told(shop) == ["started"])
        shop.now = SubscriptionCase.at(31)
        try shop.look()
        try shop.look()
        #expect(Self.told(shop) == ["started", "expired"])
        // It was renewed after all, and we could not hear of it.
        try shop.show(Self.next())
        #expect(Self.told(shop) == ["started", "expired", "renewed"])
        // Nobody waits for what was cancelled.
        var cancelled = try Self.shop { $0.willAutoRenew = false }
        cancelled.now = SubscriptionCase.at(30)
        try cancelled.look()
        #expect(Self.told(cancelled) == ["started", "expired"])
        #expect([shop, cancelled].map(Self.endings) == [[nil], [.cancelled]])
    }

    @Test func anExtensionIsTold() throws {
        var shop = try Self.shop()
        var extended = Sold.again(try Sold.month(1), after: 86_400)
        extended.expiresAt = SubscriptionCase.at(45)
        try shop.show(extended, renewals: [Self.renewal(on: 1, renews: 45)])
        #expect(Self.told(shop) == ["started", "extended"])
    }

    /// Apple told of the renewal, and its transaction comes later.
    @Test(arguments: [false, true])
    func aRenewalIsToldWhenItsTransactionComes(isExpired: Bool) throws {
        var shop = try Self.shop()
        if isExpired {
            shop.now = SubscriptionCase.at(32)
            try shop.look()
        }
        shop.now = SubscriptionCase.at(33)
        try shop.show(renewals: [Self.renewal(on: 30, renews: 60)], by: nil)
        #expect(try shop.subscription().nextLook.map { $0 < SubscriptionCase.at(40) } == true)
        try shop.show(Self.next())
        #expect(Self.told(shop) == (isExpired ? ["started", "expired", "renewed"] : ["started", "renewed"]))
        #expect(try shop.subscription().state == .active)
    }

    /// Apple said in the middle of a period that it was over. What was paid for may still be used.
    @Test(arguments: ["monthly", "yearly"])
    func whatIsBoughtAfterAnEarlyEndIsBoughtAgain(product: String) throws {
        var shop = try Self.shop()
        shop.now = SubscriptionCase.at(5)
        let over = try Self.renewal(on: 5) { ($0.willAutoRenew, $0.expirationIntent) = (false, 5) }
        try shop.show(renewals: [over], by: nil)
        #expect(Self.told(shop) == ["started", "expired"])
        #expect(try shop.rights() == ["premium"])
        shop.now = SubscriptionCase.at(10)
        var period = try Self.next(product, from: 10)
        period.reason = .purchase
        try shop.show(period, by: nil)
        let told = ["started", "expired", "resubscribed"]
        #expect(Self.told(shop) == (product == "monthly" ? told : told + ["product_changed"]))
    }

    @Test func eventsStandInTheOwnersStream() throws {
        var shop = try Shop()
        try shop.show(renewals: [Self.renewal(on: 0)], by: "ann")
        try shop.show(Sold.month(1))
        let streams = shop.events.filter { $0.type == .subscriptionStarted }.map(\.stream.customer?.text)
        // Of a word on a renewal alone nobody is told: whose it is comes with the transaction.
        #expect(streams == ["ann"])
        #expect(try shop.subscription().state == .active)
    }
}
