import PurchaseModel
import Testing

/// Apple does not send the older transaction with an upgrade: that it gave way is seen by the newer one.
@Suite struct UpgradingTests {
    private static func yearly(_ number: Int64, original: Int64? = nil, from day: Int64 = 0) throws -> Transaction {
        var sold = try Sold.month(number, original: original, from: day)
        sold.product = try Shop.product("yearly")
        sold.expiresAt = SubscriptionCase.at(Double(day + 365))
        return sold
    }

    /// Each row: what comes after a year that began on day 0, and whether that ended it before its time.
    @Test(arguments: [
        ("month", 30, true), ("month", 363, true), ("month", 364, false), ("month", 365, false), ("month", 400, false),
        ("year", 30, false), ("month", 0, false), ("family", 30, false), ("another chain", 30, false),
        ("refunded", 30, false), ("marked", 400, true),
    ])
    func aNewerPlanInItsMiddleEndsAPeriod(what: String, day: Int64, isCut: Bool) throws {
        var first = try Self.yearly(1)
        var next = try what == "year" ? Self.yearly(2, original: 1, from: day) : Sold.month(2, original: 1, from: day)
        switch what {
        case "family": next.ownership = .familyShared
        case "another chain": next.originalID = next.id
        case "refunded": first = Sold.refunded(first)
        case "marked": first.isUpgraded = true
        default: break
        }
        let expected: Set = isCut ? [first.id] : []
        #expect(replacedPeriods(among: [first, next]) == expected)
        #expect(replacedPeriods(among: [next, first]) == expected)
    }

    @Test func momentsBeyondAllReasonEndNothing() throws {
        var first = try Self.yearly(1)
        (first.purchasedAt, first.expiresAt) = (Timestamp(milliseconds: .min), Timestamp(milliseconds: .max))
        #expect(replacedPeriods(among: [first, try Sold.month(2, original: 1)]) == [first.id])
        (first.purchasedAt, first.expiresAt) = (Timestamp(milliseconds: .max), Timestamp(milliseconds: .min))
        #expect(replacedPeriods(among: [first, try Sold.month(2, original: 1)]).isEmpty)
    }

    /// Each row: what is known of a year from day 0 and of a month after it, and whether Apple is asked about the year.
    @Test(arguments: [
        ("month", 30, true), ("month", 364, true), ("month", 365, false), ("month", 0, false), ("year", 30, true),
        ("year", 363, true), ("year", 364, false), ("year", 365, false), ("year", 0, false),
        ("family", 30, false), ("refunded", 30, false), ("cancelled in a receipt", 30, true), ("marked", 30, false),
        ("said later", 30, false), ("said later by a receipt", 30, true),
    ])
    func whatBecameOfItIsAskedOnce(what: String, day: Int64, isAsked: Bool) throws {
        var first = try Self.yearly(1)
        first.ownership = .purchased
        var next = try what == "year" ? Self.yearly(2, original: 1, from: day) : Sold.month(2, original: 1, from: day)
        next.ownership = what == "family" ? .familyShared : .purchased
        switch what {
        case "refunded": first = Sold.refunded(first)
        case "cancelled in a receipt": first.revocation = Revocation(at: next.purchasedAt)
        case "marked": first.isUpgraded = true
        case "said later": first.signedAt = next.purchasedAt
        case "said later by a receipt": (first.signedAt, first.ownership) = (next.purchasedAt, nil)
        default: break
        }
        let expected = isAsked ? [first.id] : []
        #expect(upgradesToHear(among: [first, next]) == expected)
        #expect(upgradesToHear(among: [next, first]) == expected)
        // It is asked at once, in whatever order they came.
        for periods in [[first, next], [next, first]] {
            var shop = try Shop()
            shop.now = SubscriptionCase.at(Double(day) + 1)
            for period in periods { try shop.show(period) }
            let look = try #require(try shop.subscription().nextLook)
            #expect((look <= shop.now) == isAsked, "\(periods.map(\.id))")
            // Other news leaves it as it is; a look is one.
            var word = Renewal(originalID: first.id, product: next.product, signedAt: next.purchasedAt)
            word.willAutoRenew = false
            try shop.show(renewals: [word], by: nil)
            #expect(try shop.subscription().willAutoRenew == false || what == "family")
            #expect(try (shop.subscription().nextLook.map { $0 <= shop.now } == true) == isAsked)
            try shop.look()
            #expect(try shop.subscription().nextLook.map { $0 <= shop.now } != true)
        }
    }

    /// A receipt is newer than what StoreKit 2 said of the old plan, and says nothing of upgrades.
    @Test func aReceiptThatTellsOfTheNewPlanHidesNoUpgrade() throws {
        var shop = try Shop()
        var first = try Self.yearly(1)
        first.ownership = .purchased
        try shop.show(first)
        shop.now = SubscriptionCase.at(100)
        first = Sold.again(first, after: 100 * 86_400)
        first.ownership = nil
        var next = try Sold.month(2, original: 1, from: 30)
        next.signedAt = first.signedAt
        try shop.show(first, next)
        #expect(try shop.subscription().nextLook.map { $0 <= shop.now } == true)
        try shop.look()
        #expect(try shop.subscription().nextLook.map { $0 > shop.now } == true)
        // The next receipt tells nothing new.
        try shop.show(Sold.again(first, after: 60), Sold.again(next, after: 60))
        #expect(try shop.subscription().nextLook.map { $0 > shop.now } == true)
    }

    /// A look reads no more of a chain whose periods only follow one another. Each row: when a second year begins, and the number
    /// that the first has once more.
    @Test(arguments: [(30, nil, true), (363, 9, true), (364, 9, false), (365, nil, false)] as [(Int64, Int64?, Bool)])
    func whatWasGivenShowsWhetherToAsk(day: Int64, again: Int64?, isAsked: Bool) throws {
        var shop = try Shop { $0.products = nil }
        try shop.show(Self.yearly(1))
        try shop.show(Self.yearly(2, original: 1, from: day))
        if let again { try shop.show(Self.yearly(again, original: 1)) }
        let rows = shop.situation.fulfilments(of: try Shop.chain(1)).values
        #expect(rows.count == (again == nil ? 2 : 3))
        #expect(rows.compactMap(\.span).count == 2)
        #expect(overlap(rows.compactMap(\.span)) == isAsked)
        #expect(mayHideUpgrades(Array(rows)) == isAsked)
        #expect(rows.compactMap(\.span).map(\.start).min() == SubscriptionCase.at(0))
    }

    /// How long it lasts is not known of what waits for its customer. Each row: how many periods nobody has shown, and the product of
    /// another one that somebody has.
    @Test(
        arguments: [
            (0, nil, false), (1, nil, false), (2, nil, true), (0, "yearly", false), (1, "yearly", false),
            (1, "monthly", true), (0, "monthly", false),
        ] as [(Int, String?, Bool)]
    )
    func whatWaitsIsLookedAt(waiting: Int, given: String?, isAsked: Bool) throws {
        var shop = try Shop { $0.products = nil }
        for number in 0..<Int64(waiting) {
            try shop.show(Self.yearly(number + 1, original: 1, from: number * 365), by: nil, from: .history)
        }
        if let given {
            var period = try Self.yearly(9, original: 1, from: 3 * 365)
            period.product = try #require(ProductID(given))
            try shop.show(period)
        }
        #expect(mayHideUpgrades(Array(shop.situation.fulfilments(of: try Shop.chain(1)).values)) == isAsked)
    }

    /// What Apple answers has nothing asked again, whatever it says.
    @Test func anAnswerRaisesNoQuestion() throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(31)
        var first = try Self.yearly(1)
        try shop.show(first, Sold.month(2, original: 1, from: 30))
        #expect(try shop.subscription().nextLook == SubscriptionCase.at(30))
        (first.ownership, first.signedAt) = (.purchased, shop.now)
        try shop.lookUp(first)
        try shop.look()
        #expect(try shop.subscription().nextLook.map { $0 > shop.now } == true)
        try shop.lookUp(Sold.again(first, after: 60))
        #expect(try shop.subscription().nextLook.map { $0 > shop.now } == true)
    }

    /// It is asked at once, not when the clock here comes to where Apple's was.
    @Test func aClockThatIsBehindDelaysNoQuestion() throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(1)
        try shop.show(Self.yearly(1), Sold.month(2, original: 1, from: 30))
        #expect(try shop.subscription().nextLook == shop.now)
        var word = Renewal(
            originalID: try #require(TransactionID(number: 1)),
            product: try Shop.product("monthly"),
            signedAt: SubscriptionCase.at(30)
        )
        word.willAutoRenew = false
        let asked = shop.now
        shop.now = SubscriptionCase.at(1.5)
        try shop.show(renewals: [word], by: nil)
        #expect(try shop.subscription().nextLook == asked)
        try shop.look()
        #expect(try shop.subscription().nextLook.map { $0 > shop.now } == true)
    }

    /// The new plan has been renewed before anybody looked: what became of the old one is still not known.
    @Test func aPeriodThatFollowsTheUpgradeEndsNoQuestion() throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(61)
        try shop.show(Self.yearly(1))
        try shop.show(Sold.month(2, original: 1, from: 30))
        try shop.show(Sold.month(3, original: 1, from: 60))
        #expect(try shop.subscription().nextLook == SubscriptionCase.at(30))
        // Nor does its end, after which nobody looks.
        var word = Renewal(
            originalID: try #require(TransactionID(number: 1)),
            product: try Shop.product("monthly"),
            signedAt: SubscriptionCase.at(95)
        )
        (word.willAutoRenew, word.expirationIntent) = (false, 1)
        shop.now = SubscriptionCase.at(95)
        try shop.show(renewals: [word], by: nil)
        #expect(try shop.subscription().state == .expired)
        #expect(try shop.subscription().nextLook == SubscriptionCase.at(30))
        try shop.look()
        #expect(try shop.subscription().nextLook.map { $0 > shop.now } != false)
    }

    /// The old plan, the new one and its renewal come together, and the renewal began when the old plan would have been over.
    @Test func anUpgradeBeforeTheNewestPeriodIsAskedAbout() throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(42)
        var second = try Self.yearly(2, original: 1, from: 10)
        second.expiresAt = SubscriptionCase.at(41)
        var third = try Self.yearly(3, original: 1, from: 41)
        third.expiresAt = SubscriptionCase.at(71)
        try shop.show(Sold.month(1), second, third)
        #expect(try shop.subscription().nextLook == SubscriptionCase.at(41))
    }

    /// Apple was asked about the period before: the question about that one is as open as it was.
    @Test func aLookThatBeganBeforeTheUpgradeEndsNoQuestion() throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(31)
        let first = try Self.yearly(1)
        try shop.show(first)
        try shop.show(Sold.month(2, original: 1, from: 30))
        try shop.look(askedOf: first.id)
        #expect(try shop.subscription().nextLook == SubscriptionCase.at(30))
        try shop.look(askedOf: TransactionID(number: 2))
        #expect(try shop.subscription().nextLook.map { $0 > shop.now } == true)
    }

    /// Each row: so many seconds before a renewal begins another plan is bought, and whether Apple is asked about the renewal.
    @Test(arguments: [(60, true), (86_400, true), (86_401, false)])
    func aRenewalChargedAheadIsAskedAbout(seconds: Int64, isAsked: Bool) throws {
        let renewal = try Sold.month(2, original: 1, from: 30)
        var year = try Self.yearly(3, original: 1, from: 30)
        year.purchasedAt = renewal.purchasedAt.advanced(by: .seconds(-seconds))
        let between = try (4...6).map { try Sold.month($0, original: 1, from: 30) }
        for periods in [
            [renewal, year], [year] + between + [renewal], [try Sold.month(1), renewal] + between + [year],
        ] {
            #expect(upgradesToHear(among: periods).contains(renewal.id) == isAsked)
        }
    }

    @Test func whatIsOverForLongIsAskedAboutAtOnceAndOnce() throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(365 + 61)
        let periods = [
            try Self.yearly(1), try Self.yearly(3, original: 1, from: 300), try Sold.month(2, original: 1, from: 30),
        ]
        for period in periods { try shop.show(period) }
        #expect(try shop.subscription().nextLook.map { $0 <= shop.now } == true)
        #expect(upgradesToHear(among: [try Self.yearly(1), try Sold.month(2, original: 1, from: 30)]).count == 1)
        try shop.look()
        #expect(try shop.subscription().nextLook.map { $0 > shop.now } == true)
        for period in periods { try shop.show(Sold.again(period, after: 1)) }
        #expect(try shop.subscription().nextLook.map { $0 > shop.now } == true)
    }

    /// A year that another plan took the place of on day 11, all of it over for long. Each row: in which order its periods come,
    /// and on which day. There is no other look at what Apple has ended, or has taken back.
    @Test(
        arguments: [
            ([1, 2, 3], 800, "ended"), ([3, 2, 1], 800, "ended"), ([2, 3, 1], 800, "ended"), ([1, 3, 2], 800, "ended"),
            ([1, 2, 3], 800, "refunded"), ([3, 1, 2], 800, "refunded"), ([1, 2, 3], 4_000, "by the clock"),
        ] as [([Int64], Double, String)]
    )
    func whatHasNoOtherLookIsAskedAboutOnce(order: [Int64], day: Double, how: String) throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(day)
        var periods: [Int64: Transaction] = [
            1: try Self.yearly(1),
            2: try Sold.month(2, original: 1, from: 11),
            3: try Sold.month(3, original: 1, from: 41),
        ]
        if how == "refunded" {
            periods[3] = Sold.refunded(try Sold.month(3, original: 1, from: 41), after: 60 * 86_400)
        }
        if how == "ended" {
            var word = Renewal(
                originalID: try #require(TransactionID(number: 1)),
                product: try Shop.product("monthly"),
                signedAt: SubscriptionCase.at(71)
            )
            (word.willAutoRenew, word.expirationIntent, word.renewsAt) = (false, 1, word.signedAt)
            try shop.show(renewals: [word], by: nil)
        }
        for number in order { try shop.show(try #require(periods[number]), by: nil) }
        #expect(try shop.subscription().state == (how == "refunded" ? .revoked : .expired))
        #expect(try shop.subscription().nextLook.map { $0 <= SubscriptionCase.at(41) } == true)
        try shop.look()
        #expect(try shop.subscription().nextLook == nil)
        // What is known already raises the question no more, if it is signed anew.
        let again = periods.values.map { Sold.again($0, after: 1) }.sorted { $0.id < $1.id }
        if how == "ended" { try shop.show(again, by: nil) }
        #expect(try shop.subscription().nextLook == nil)
    }

    /// The old plan had ended before the new one was renewed. Each row: in which order they come.
    @Test(arguments: [[2, 3, 1], [1, 3, 2], [3, 2, 1], [3, 1, 2]] as [[Int64]])
    func aPeriodIsComparedWithItsNeighbour(order: [Int64]) throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(50)
        var first = try Sold.month(1)
        first.product = try Shop.product("yearly")
        let periods = [first, try Sold.month(2, original: 1, from: 11), try Sold.month(3, original: 1, from: 41)]
        for number in order { try shop.show(periods[Int(number) - 1], by: nil) }
        #expect(try shop.subscription().nextLook == SubscriptionCase.at(41))
        try shop.look()
        #expect(try shop.subscription().nextLook.map { $0 > shop.now } == true)
    }

    /// Books bring a million at once, and who presents something waits behind none of them. Each row: when the three periods are
    /// imported, together or each by itself, and whether Apple is asked at once about the first, which ends on day 365.
    @Test(arguments: [(400.0, false, true), (800, false, false), (400, true, true), (800, true, false)])
    func whatIsImportedIsAskedAboutWithinADay(day: Double, isTogether: Bool, isAtOnce: Bool) throws {
        for number in Int64(1)...20 {
            var shop = try Shop()
            shop.now = SubscriptionCase.at(day)
            let next = try Sold.month(number + 20, original: number, from: 30)
            let newest = try Sold.month(number + 40, original: number, from: Int64(day) - 10)
            let periods = [try Self.yearly(number), next, newest]
            if isTogether {
                try shop.show(periods, from: .imported)
            } else {
                for period in periods { try shop.show(period, from: .imported) }
            }
            let look = try #require(try shop.subscription(number).nextLook)
            #expect((look <= shop.now) == isAtOnce && look <= shop.now.advanced(by: .seconds(90_000)))
        }
    }

    /// Its next look may never come: Apple's word that it is over can be there before.
    @Test func aLivingChainIsAskedAboutBeforeAppleEndsIt() throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(800)
        try shop.show(Sold.month(4, original: 1, from: 790))
        try shop.show(Self.yearly(1))
        try shop.show(Sold.month(2, original: 1, from: 11))
        #expect(try shop.subscription().nextLook.map { $0 <= shop.now } == true)
        var word = Renewal(
            originalID: try #require(TransactionID(number: 1)),
            product: try Shop.product("monthly"),
            signedAt: SubscriptionCase.at(821)
        )
        (word.willAutoRenew, word.expirationIntent, word.renewsAt) = (false, 1, word.signedAt)
        shop.now = SubscriptionCase.at(821)
        try shop.show(renewals: [word], by: nil)
        #expect(try shop.subscription().state == .expired)
        #expect(try shop.subscription().nextLook.map { $0 <= shop.now } == true)
        try shop.look()
        #expect(try shop.subscription().nextLook == nil)
    }
}
