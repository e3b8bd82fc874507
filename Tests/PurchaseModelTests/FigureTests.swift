import PurchaseModel
import Testing

/// What each history is counted as. Days are counted from 2023-11-14, when it begins.
@Suite struct FigureTests {
    @Test func aPurchaseCountsOnceHoweverOftenItIsShown() throws {
        var shop = try Shop()
        let sold = try Self.priced(Sold.coins(1), 4_990)
        for _ in 0..<3 { try shop.show(sold) }
        try shop.show(try Self.priced(Sold.coins(2), 2_000, "EUR"), by: nil)
        #expect(shop.figures.lines(.firstPurchases) == ["0 2"])
        #expect(shop.figures.total(.revenue) == 6_990)
        #expect(shop.figures[try Self.key(.revenue, Shop.product("coins"), "EUR")] == 2_000)
        #expect(shop.figures.lines(.granted) == ["0 1"])
        try Invariants.check(shop, "shown again")
    }

    /// Receipts know no price: it is unknown until a fact says it.
    @Test func aPriceIsUnknownUntilItIsSigned() throws {
        var shop = try Shop()
        let sold = try Sold.coins(1)
        try shop.show(sold)
        #expect(shop.figures.lines(.priceUnknown) == ["0 1"])
        #expect(shop.figures.lines(.revenue).isEmpty)
        try shop.show(Self.priced(Sold.again(sold, after: 10), 990))
        #expect(shop.figures.lines(.priceUnknown).isEmpty)
        #expect(shop.figures.lines(.revenue) == ["0 USD 990"])
        var absurd = try Self.priced(Sold.coins(2), .max)
        absurd.storefront = "USA"
        try shop.show(absurd)
        #expect(shop.figures.lines(.priceUnknown) == ["0 1"])
        try Invariants.check(shop, "absurd")
    }

    @Test(arguments: [(nil, 1_000), (50_000, 500), (0, 0), (100_000, 1_000), (33_333, 333)] as [(Int?, Int64)])
    func aRefundCountsOnItsDayByWhatWasPaidBack(percentage: Int?, refunded: Int64) throws {
        var shop = try Shop()
        let sold = try Self.priced(Sold.coins(1), 1_000)
        try shop.show(sold)
        try shop.show(Sold.refunded(sold, after: 3 * 86_400, percentage: percentage))
        #expect(shop.figures.lines(.refunds) == ["3 1"])
        #expect(shop.figures.total(.refunded) == refunded)
        #expect(shop.figures.lines(.revenue) == ["0 USD 1000"])
        try shop.show(Sold.again(sold, after: 4 * 86_400))
        #expect(shop.figures.lines(.refunds).isEmpty && shop.figures.lines(.refunded).isEmpty)
        try Invariants.check(shop, "refunded")
    }

    @Test func whatAFamilySharesOrARestoreRepeatsIsNoPurchase() throws {
        var shop = try Shop()
        try shop.show(try Self.priced(Sold.lamp(1), 1_000))
        try shop.show(try Self.priced(Sold.lamp(2, original: 1), 1_000))
        var shared = try Self.priced(Sold.lamp(3), 1_000)
        shared.ownership = .familyShared
        try shop.show(shared, by: "bob")
        // The second period under another number.
        try shop.show(Self.months(2) + [try Self.priced(Sold.month(19, original: 11, from: 30), 9_990)])
        #expect(shop.figures.total(.firstPurchases) == 2)
        #expect(shop.figures.lines(.renewals) == ["30 1"])
        #expect(shop.figures.total(.restores) == 2 && shop.figures.total(.familyShared) == 1)
        #expect(shop.figures.total(.revenue) == 1_000 + 2 * 9_990)
        try Invariants.check(shop, "shared")
    }

    /// From 2023-11-14, 90 days: the first moments of December, January and February lie in it.
    @Test func aSubscriptionCountsInEachMonthItRuns() throws {
        var shop = try Shop()
        try shop.show(try Self.months(3))
        #expect(shop.figures.lines(.subscribers) == ["17 1", "48 1", "79 1"])
        #expect(shop.figures.lines(.recurring) == ["17 USD 9990", "48 USD 9990", "79 USD 9990"])
        #expect(shop.figures.lines(.recurringNew) == ["-13 USD 9990"])
        #expect(shop.figures.lines(.recurringChurn) == ["79 USD 9990"])
        #expect(shop.figures.lines(.subscribersLost) == ["79 1"])
        #expect(shop.figures.lines(.cohort) == ["-13 1", "-13 +1 1", "-13 +2 1", "-13 +3 1"])
        #expect(shop.figures.lines(.periodsEnded) == ["30 1", "60 1", "90 1"])
        #expect(shop.figures.lines(.periodsRenewed) == ["30 1", "60 1"])
        try Invariants.check(shop, "three months")
    }

    /// Whoever subscribed long before there was a ledger has paid before, and began in another month.
    @Test func whatBeganBeforeItWasHeardOfIsNotNew() throws {
        var shop = try Shop()
        var months = try Self.months(3)
        for place in months.indices { months[place].originallyPurchasedAt = months[0].purchasedAt }
        for month in months.dropFirst() { try shop.show(month) }
        #expect(shop.figures.lines(.subscribers) == ["48 1", "79 1"])
        #expect(shop.figures.lines(.recurringNew).isEmpty && shop.figures.lines(.cohort).isEmpty)
        #expect(shop.figures.lines(.recurringExpansion) == ["17 USD 9990"])
        #expect(shop.figures.lines(.recurringChurn) == ["79 USD 9990"])
        try Invariants.check(shop, "unseen")
        // Its history tells of the beginning after all.
        try shop.show(months[0])
        #expect(shop.figures.lines(.recurringNew) == ["-13 USD 9990"])
        #expect(shop.figures.lines(.recurringExpansion).isEmpty)
        #expect(shop.figures.lines(.cohort) == ["-13 1", "-13 +1 1", "-13 +2 1", "-13 +3 1"])
        try Invariants.check(shop, "seen")
    }

    /// Three cheap months end: what was signed as the price of the third says nothing of what is due after it.
    @Test(arguments: [false, true]) func whatWasDueForARenewalBeforeIsNotDue(isCommitted: Bool) throws {
        var shop = try Shop()
        var months = try Self.months(2)
        if isCommitted {
            for place in months.indices {
                (months[place].billingPlan, months[place].commitmentEndsAt) = ("MONTHLY", SubscriptionCase.at(360))
            }
        }
        var word = try Self.renewal(of: months[0])
        word.nextPrice = Price(milliunits: 990, currency: "USD")
        try shop.show(months[0], renewals: [word])
        #expect(shop.figures.lines(.valueDue) == ["30 USD 990"])
        shop.now = months[1].purchasedAt
        var next = months[1]
        next.signedAt = next.purchasedAt
        try shop.show(next)
        #expect(shop.figures.lines(.valueDue).isEmpty && shop.figures.lines(.renewalsDue) == ["60 1"])
        word = try Self.renewal(of: next)
        try shop.show(renewals: [word])
        #expect(shop.figures.lines(.valueDue) == ["60 USD 9990"])
        try Invariants.check(shop, "due")
    }

    @Test func whoComesBackIsReactivatedAndWhoNeverLeftIsNot() throws {
        var shop = try Shop()
        let months = try [0, 30, 150].enumerated().map { index, day in
            try Self.priced(Sold.month(Int64(11 + index), original: 11, from: Int64(day)), index == 1 ? 4_990 : 9_990)
        }
        // The last one first: what comes late is counted as if it had come in time.
        for month in months.reversed() { try shop.show(month) }
        #expect(shop.figures.lines(.recurringContraction) == ["17 USD 5000"])
        #expect(shop.figures.lines(.recurringChurn) == ["48 USD 4990", "169 USD 9990"])
        #expect(shop.figures.lines(.recurringReactivation) == ["139 USD 9990"])
        #expect(shop.figures.lines(.periodsRenewed) == ["30 1"])
        try Invariants.check(shop, "back again")
    }

    @Test func aTrialIsNoRevenueUntilItIsPaidFor() throws {
        var shop = try Shop()
        var trial = try Self.priced(Sold.month(11), 0)
        trial.offer = Offer(kind: .introductory, discount: "FREE_TRIAL")
        try shop.show(trial)
        #expect(shop.figures.lines(.trials) == ["0 1"])
        #expect(shop.figures.lines(.subscribers) == ["17 1"])
        #expect(shop.figures.lines(.recurring).isEmpty && shop.figures.lines(.trialsConverted).isEmpty)
        try shop.show(try Self.priced(Sold.month(12, original: 11, from: 30), 9_990))
        #expect(shop.figures.lines(.trialsConverted) == ["30 1"] && shop.figures.lines(.convertedTrials) == ["0 1"])
        #expect(shop.figures.lines(.renewals) == ["30 1"] && shop.figures.lines(.firstPurchases).isEmpty)
        #expect(shop.figures.lines(.recurringNew) == ["17 USD 9990"])
        try Invariants.check(shop, "converted")
    }

    /// The days on which trials and paid months of one subscription begin, of thirty days each; which trials are paid for, and
    /// on which days.
    @Test(
        arguments: [
            ([0], [], [], []), ([0], [30], ["0 1"], ["30 1"]), ([0], [75, 105], ["0 1"], ["75 1"]),
            // One that lapsed, and another one after it.
            ([0, 150], [180, 210], ["150 1"], ["180 1"]), ([0, 150], [], [], []),
            ([0, 150], [30, 180], ["0 1", "150 1"], ["30 1", "180 1"]),
            ([0, 150], [75, 180], ["0 1", "150 1"], ["75 1", "180 1"]), ([0, 150, 300], [180], ["150 1"], ["180 1"]),
            // Several free periods of one offer, and a trial that gave way to that of another plan.
            ([0, 30, 60], [90], ["0 1", "30 1", "60 1"], ["90 3"]), ([0, 10], [40], ["0 1", "10 1"], ["40 2"]),
            ([0, 120, 150], [180], ["120 1", "150 1"], ["180 2"]), ([0, 30], [], [], []),
        ] as [([Int64], [Int64], [String], [String])]
    )
    func eachTrialIsPaidForByWhatFollowsIt(
        trials: [Int64],
        paid: [Int64],
        converted: [String],
        days: [String]
    ) throws {
        var shop = try Shop()
        let months = try (trials + paid).sorted().enumerated().map { place, day in
            let isFree = trials.contains(day)
            let number = Int64(11 + place)
            var month = try Self.priced(Sold.month(number, original: 11, from: day), isFree ? 0 : 9_990)
            if isFree { month.offer = Offer(kind: .offerCode, discount: "FREE_TRIAL") }
            return month
        }
        // The last one first: what comes late is counted as if it had come in time.
        for month in months.reversed() { try shop.show(month) }
        #expect(shop.figures.lines(.trials) == trials.map { "\($0) 1" })
        #expect(shop.figures.lines(.convertedTrials) == converted)
        #expect(shop.figures.lines(.trialsConverted) == days)
        try Invariants.check(shop, "trials")
    }

    @Test func anUpgradeTakesOverAndCreditsTheRest() throws {
        var shop = try Shop()
        var old = try Self.priced(Sold.month(11), 3_000)
        var new = try Self.priced(Sold.month(12, original: 11, from: 10), 12_000)
        new.expiresAt = new.purchasedAt.advanced(by: .seconds(365 * 86_400))
        try shop.show(old)
        old.isUpgraded = true
        old.signedAt = new.purchasedAt
        try shop.show(old, new)
        #expect(shop.figures.lines(.upgrades) == ["10 1"])
        #expect(shop.figures.lines(.upgradeCredit) == ["10 USD 2000"])
        #expect(shop.figures.lines(.refunds).isEmpty)
        #expect(shop.figures.lines(.recurring).first == "17 USD 1000" && shop.figures.lines(.recurring).count == 12)
        #expect(shop.figures.lines(.recurringNew) == ["-13 USD 1000"])
        try Invariants.check(shop, "upgraded")
    }

    /// Each row: the share that Apple paid back of what an upgrade had taken the place of, in thousandths of a percent; what
    /// is counted as paid back, and what as credited.
    @Test(arguments: [
        (Int?.none, ["10 USD 3000"], ["10 USD 0"]), (100_000, ["10 USD 3000"], ["10 USD 0"]),
        (50_000, ["10 USD 1500"], ["10 USD 1500"]), (10_000, ["10 USD 300"], ["10 USD 2000"]),
    ])
    func whatIsPaidBackOfAnUpgradedPeriodIsCounted(share: Int?, refunded: [String], credited: [String]) throws {
        var shop = try Shop()
        var old = try Self.priced(Sold.month(11), 3_000)
        let new = try Self.priced(Sold.month(12, original: 11, from: 10), 12_000)
        try shop.show(old)
        old.isUpgraded = true
        old.signedAt = new.purchasedAt
        try shop.show(old, new)
        try shop.show(Sold.refunded(old, percentage: share), by: nil)
        #expect(shop.figures.lines(.refunds) == ["10 1"])
        #expect(shop.figures.lines(.refunded) == refunded)
        #expect(shop.figures.lines(.upgradeCredit) == credited.filter { $0 != "10 USD 0" })
        try Invariants.check(shop, "refunded after an upgrade")
    }

    @Test(arguments: [(7, 4_348), (30, 1_000), (31, 1_000), (61, 500), (91, 333), (182, 166), (365, 83), (45, 676)])
    func anyPeriodIsWorthItsMonth(days: Int64, monthly: Int64) throws {
        var sold = try Self.priced(Sold.month(11, from: 15), 1_000)
        sold.purchasedAt = Facts.now.advanced(by: .seconds(16 * 86_400))
        sold.expiresAt = sold.purchasedAt.advanced(by: .seconds(days * 86_400))
        let sums = try Shop.chain(11).figures([sold], PeriodEnds())
        #expect(sums.lines(.recurring).first == "17 USD \(monthly)")
    }

    /// In the sandbox a year may last an hour or a day: so many hours, and what a period of that brings in a month there.
    @Test(arguments: [1, 12, 24, 24 * 7, 24 * 365])
    func whereNobodyPaysAPeriodIsAMonth(hours: Int64) throws {
        var sold = try Self.priced(Sold.month(11, from: 15), 1_000)
        // A few minutes before a month begins.
        sold.purchasedAt = Facts.now.advanced(by: .seconds(16 * 86_400 + 6_000))
        sold.expiresAt = sold.purchasedAt.advanced(by: .seconds(hours * 3_600))
        let real = try Shop.chain(11)
        for realm in Realm.known where realm.environment != .production {
            let chain = ChainKey(app: real.app, realm: realm, original: real.original)
            #expect(chain.figures([sold], PeriodEnds()).lines(.recurring).first?.hasSuffix("USD 1000") == true)
        }
    }

    @Test func anOrdersWayIsCountedOnTheDayItWasPlaced() throws {
        var shop = try Shop(needsOrder: true)
        for id in ["one", "two", "three"] { try shop.place(id) }
        shop.now = shop.now.advanced(by: .seconds(2 * 86_400))
        try shop.show(try Sold.coins(1), order: "one")
        #expect(shop.figures.lines(.ordersPlaced) == ["0 3"] && shop.figures.lines(.ordersPaid) == ["0 1"])
        try shop.acknowledge(1, fence: 1)
        try shop.expire("two")
        try shop.cancel("three")
        #expect(shop.figures.lines(.ordersDelivered) == ["0 1"] && shop.figures.lines(.acknowledged) == ["0 1"])
        #expect(shop.figures.lines(.ordersExpired) == ["0 1"] && shop.figures.lines(.ordersCancelled) == ["0 1"])
        try Invariants.check(shop, "orders")
    }

    @Test func subscriptionsCountWhereTheyStandNow() throws {
        var shop = try Shop()
        try shop.show(try Self.priced(Sold.month(1), 9_990))
        #expect(shop.figures.lines(.renewalsDue) == ["30 1"])
        #expect(shop.figures.total(.active) == 1)
        shop.now = shop.now.advanced(by: .seconds(100 * 86_400))
        try shop.look()
        #expect(shop.figures.total(.active) == 0 && shop.figures.total(.expired) == 1)
        #expect(shop.figures.lines(.renewalsDue).isEmpty && shop.figures.lines(.lapsed) == ["100 1"])
        try Invariants.check(shop, "over")
    }

    /// What one member of a family buys and two others share is charged for once; each of them may use it.
    @Test func whatAFamilySharesIsDueOnce() throws {
        var shop = try Shop()
        for number in Int64(1)...3 {
            var month = try Self.priced(Sold.month(number), 9_990)
            month.ownership = number == 1 ? .purchased : .familyShared
            try shop.show(month, renewals: [Self.renewal(of: month)], by: "member-\(number)")
        }
        #expect(shop.figures.lines(.renewalsDue) == ["30 1"])
        #expect(shop.figures.lines(.valueDue) == ["30 USD 9990"])
        #expect(shop.figures.total(.active) == 3)
        #expect(shop.figures.lines(.subscribers) == ["17 1"])
        try Invariants.check(shop, "shared")
    }

    /// A receipt does not say whose purchase it is. Whatever says so later counts, and nothing else has changed.
    @Test func aCopyIsDueUntilItIsKnownToBeOne() throws {
        var shop = try Shop()
        var month = try Self.priced(Sold.month(1), 9_990)
        month.ownership = nil
        try shop.show(month, renewals: [Self.renewal(of: month)])
        #expect(shop.figures.lines(.renewalsDue) == ["30 1"] && shop.figures.lines(.valueDue) == ["30 USD 9990"])
        let version = try shop.subscription().version
        month = Sold.again(month, after: 60)
        month.ownership = .familyShared
        try shop.show(month)
        #expect(shop.figures.lines(.renewalsDue).isEmpty && shop.figures.lines(.valueDue).isEmpty)
        #expect(try shop.subscription().isShared)
        #expect(try shop.subscription().version == version + 1)
        // Who leaves the family may buy it, and pays.
        try shop.show(try Self.priced(Sold.month(2, original: 1, from: 30), 9_990))
        #expect(shop.figures.lines(.renewalsDue) == ["60 1"])
        try Invariants.check(shop, "known")
    }

    @Test(arguments: [(0, 1970, 1), (30, 1970, 1), (31, 1970, 2), (-1, 1969, 12), (19_782, 2024, 2), (19_783, 2024, 3)])
    func aDayLiesInItsMonth(day: Int64, year: Int64, month: Int64) {
        let found = MonthOfTime(containing: DayOfTime(number: day))
        #expect(found == MonthOfTime(year: year, month: month))
        #expect(found.year == year && found.month == month)
    }

    @Test func everyDayIsInTheMonthThatItsFirstDayBegins() {
        for day in Int64(-800_000)...800_000 where day % 13 == 0 {
            let month = MonthOfTime(containing: DayOfTime(number: day))
            let (first, next) = (month.firstDay.number, month.advanced(by: 1).firstDay.number)
            #expect(first <= day && day < next && (28...31).contains(next - first))
        }
    }

    // MARK: Histories

    private static func key(_ measure: Measure, _ product: ProductID, _ currency: String) throws -> FigureKey {
        FigureKey(
            app: try Shop.app(),
            realm: Shop.production,
            measure: measure,
            day: DayOfTime(containing: Facts.now),
            product: product,
            currency: currency
        )
    }

    /// What Apple signs of a period that will renew, for the same price.
    private static func renewal(of period: Transaction) throws -> Renewal {
        let original = try #require(period.originalID)
        var renewal = Renewal(originalID: original, product: period.product, signedAt: period.signedAt)
        (renewal.renewsAt, renewal.willAutoRenew, renewal.nextPrice) = (period.expiresAt, true, period.price)
        return renewal
    }

    static func priced(_ sold: Transaction, _ milliunits: Int64, _ currency: String = "USD") -> Transaction {
        var sold = sold
        sold.price = Price(milliunits: milliunits, currency: currency)
        return sold
    }

    /// Periods of 30 days of one subscription, one behind the other.
    static func months(_ count: Int64) throws -> [Transaction] {
        try (0..<count).map { try priced(Sold.month(11 + $0, original: 11, from: 30 * $0), 9_990) }
    }
}
