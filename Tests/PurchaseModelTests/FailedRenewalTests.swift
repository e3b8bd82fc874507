import PurchaseModel
import TestSupport
import Testing

/// One subscription whose renewal fails, or does not, and what it is counted as.
struct FailedLife: Sendable, CustomTestStringConvertible {
    enum Fact: Sendable {
        /// A period of thirty days from a day on.
        case period(Int64, from: Int64, @Sendable (inout Transaction) throws -> Void = { _ in })
        /// What Apple signed on a day of the renewal at the end of a period; `nil` when it does not say of which.
        case word(Int64, of: Int64?, @Sendable (inout Renewal) throws -> Void)
    }

    let testDescription: String
    let facts: [Fact]
    /// Failed, paid in grace, paid in retry, lost.
    let counts: [Int64]

    init(_ name: String, _ facts: [Fact], _ counts: [Int64]) {
        (testDescription, self.facts, self.counts) = (name, facts, counts)
    }

    static func at(_ day: Int64) -> Timestamp { Facts.now.advanced(by: .seconds(day * 86_400)) }

    static func show(_ fact: Fact, in shop: inout Shop) throws {
        switch fact {
        case .period(let number, let day, let change):
            var sold = try FigureTests.priced(Sold.month(number, original: 1, from: day), 9_990)
            sold.signedAt = sold.purchasedAt
            try change(&sold)
            try shop.show(sold)
        case .word(let day, let end, let change):
            let original = try #require(TransactionID(number: 1))
            var word = Renewal(originalID: original, product: try Shop.product("monthly"), signedAt: at(day))
            word.renewsAt = end.map(at)
            try change(&word)
            try shop.show([], renewals: [word])
        }
    }

    static func counts(_ sums: FigureSums) -> [Int64] {
        [.renewalsFailed, .renewalsPaidInGrace, .renewalsPaidInRetry, .renewalsLost].map { sums.total($0) }
    }

    // MARK: What Apple says

    static func failed(_ day: Int64, of end: Int64, grace: Int64? = nil) -> Fact {
        .word(day, of: end) { word in
            (word.isInBillingRetry, word.expirationIntent) = (true, 2)
            word.graceEndsAt = grace.map(at)
        }
    }

    static func over(_ day: Int64, of end: Int64, _ intent: Int) -> Fact {
        .word(day, of: end) { word in
            (word.isInBillingRetry, word.expirationIntent, word.willAutoRenew) = (false, intent, false)
        }
    }

    static func well(_ day: Int64, of end: Int64) -> Fact { .word(day, of: end) { $0.willAutoRenew = true } }

    // MARK: Lives

    static let paid: [FailedLife] = [
        FailedLife("never in trouble", [.period(1, from: 0), well(1, of: 30), .period(2, from: 30)], [0, 0, 0, 0]),
        FailedLife(
            "paid in grace",
            [.period(1, from: 0), failed(30, of: 30, grace: 46), .period(2, from: 30), well(35, of: 60)],
            [1, 1, 0, 0]
        ),
        FailedLife(
            "paid in a grace whose end was not told",
            [.period(1, from: 0), failed(30, of: 30), .period(2, from: 30), well(35, of: 60)],
            [1, 1, 0, 0]
        ),
        FailedLife(
            "in grace without the flag",
            [.period(1, from: 0), .word(30, of: 30) { $0.graceEndsAt = at(36) }, .period(2, from: 30)],
            [1, 1, 0, 0]
        ),
        FailedLife(
            "paid in retry, after a gap",
            [.period(1, from: 0), failed(30, of: 30), .period(2, from: 47), well(47, of: 77)],
            [1, 0, 1, 0]
        ),
        FailedLife(
            "paid in retry, after the grace",
            [.period(1, from: 0), failed(30, of: 30, grace: 46), failed(46, of: 30), .period(2, from: 50)],
            [1, 0, 1, 0]
        ),
        FailedLife(
            "a trial that could not be charged for at once",
            [.period(1, from: 0) { $0.offer = Offer(kind: .introductory, discount: "FREE_TRIAL") }]
                + [failed(30, of: 30), .period(2, from: 31)],
            [1, 0, 1, 0]
        ),
        FailedLife(
            "in trouble twice",
            [.period(1, from: 0), failed(30, of: 30, grace: 46), .period(2, from: 30), failed(60, of: 60)]
                + [failed(61, of: 60), .period(3, from: 70), well(70, of: 100)],
            [2, 1, 1, 0]
        ),
        FailedLife(
            "refunded after it was paid",
            [.period(1, from: 0), failed(30, of: 30, grace: 46)]
                + [.period(2, from: 30) { $0.revocation = Revocation(at: at(50)) }],
            [1, 1, 0, 0]
        ),
        FailedLife(
            "refunded both after it was paid",
            [.period(1, from: 0) { $0.revocation = Revocation(at: at(50)) }, failed(30, of: 30)]
                + [.period(2, from: 47) { $0.revocation = Revocation(at: at(50)) }],
            [1, 0, 1, 0]
        ),
        FailedLife(
            "upgraded in grace, and a receipt says that the old one was taken back",
            [.period(1, from: 0) { ($0.isUpgraded, $0.revocation) = (true, Revocation(at: at(40))) }]
                + [failed(30, of: 30, grace: 46), .period(2, from: 40) { $0.product = try Shop.product("lamp") }],
            [1, 1, 0, 0]
        ),
        FailedLife(
            "upgraded in retry",
            [.period(1, from: 0) { $0.isUpgraded = true }, failed(30, of: 30)]
                + [.period(2, from: 50) { $0.product = try Shop.product("lamp") }],
            [1, 0, 1, 0]
        ),
    ]

    static let unpaid: [FailedLife] = [
        FailedLife("open", [.period(1, from: 0), failed(30, of: 30, grace: 46)], [1, 0, 0, 0]),
        FailedLife(
            "given up",
            [.period(1, from: 0), failed(30, of: 30), over(90, of: 30, 2)],
            [1, 0, 0, 1]
        ),
        FailedLife("given up, and only that was heard", [.period(1, from: 0), over(90, of: 30, 2)], [1, 0, 0, 1]),
        FailedLife(
            "cancelled in retry",
            [.period(1, from: 0), failed(30, of: 30), over(40, of: 30, 1)],
            [1, 0, 0, 1]
        ),
        FailedLife(
            "cancelled in retry and bought again",
            [.period(1, from: 0), failed(30, of: 30), over(40, of: 30, 1), .period(2, from: 45), well(45, of: 75)],
            [1, 0, 0, 1]
        ),
        FailedLife(
            "cancelled in grace and bought again in it",
            [.period(1, from: 0), failed(30, of: 30, grace: 46), over(35, of: 30, 1), .period(2, from: 40)],
            [1, 0, 0, 1]
        ),
        FailedLife(
            "bought again, and what was between was not heard",
            [.period(1, from: 0), failed(30, of: 30), .period(2, from: 95), well(95, of: 125)],
            [1, 0, 0, 1]
        ),
        FailedLife(
            "a month of a year, paid in retry after as long",
            [.period(1, from: 0) { $0.billingPlan = "MONTHLY" }, failed(30, of: 30), .period(2, from: 95)],
            [1, 0, 1, 0]
        ),
        FailedLife(
            "a month of a year, bought again",
            [.period(1, from: 0) { $0.billingPlan = "MONTHLY" }, failed(30, of: 30), .period(2, from: 121)],
            [1, 0, 0, 1]
        ),
        FailedLife(
            "refunded while Apple tried",
            [.period(1, from: 0) { $0.revocation = Revocation(at: at(33)) }, failed(30, of: 30)],
            [1, 0, 0, 1]
        ),
        FailedLife(
            "refunded while Apple tried, and bought again",
            [.period(1, from: 0) { $0.revocation = Revocation(at: at(33)) }, failed(30, of: 30)]
                + [.period(2, from: 40)],
            [1, 0, 0, 1]
        ),
        FailedLife(
            "upgraded before it could fail",
            [.period(1, from: 0) { $0.isUpgraded = true }, failed(29, of: 30)]
                + [.period(2, from: 20) { $0.product = try Shop.product("lamp") }],
            [0, 0, 0, 0]
        ),
        FailedLife(
            "cancelled in time",
            [.period(1, from: 0), over(30, of: 30, 1), .period(2, from: 35)],
            [0, 0, 0, 0]
        ),
        FailedLife("of an unknown period", [failed(30, of: 30), over(90, of: 30, 2)], [0, 0, 0, 0]),
        FailedLife(
            "a family's copy",
            [.period(1, from: 0) { $0.ownership = .familyShared }, failed(30, of: 30)],
            [0, 0, 0, 0]
        ),
        FailedLife(
            "by a statement that names no end",
            [.period(1, from: 0), .word(30, of: nil) { $0.isInBillingRetry = true }],
            [0, 0, 0, 0]
        ),
    ]
}

/// What became of renewals that Apple could not charge.
@Suite struct FailedRenewalTests {
    /// In the order of the story, backwards, and in any other, some facts twice.
    @Test(arguments: FailedLife.paid + FailedLife.unpaid)
    func eachLifeIsCountedInAnyOrder(life: FailedLife) throws {
        var orders = [life.facts, life.facts.reversed()]
        for seed in UInt64(0)..<20 {
            var random = SeededRandom(seed: seed)
            let again = [life.facts.randomElement(using: &random)].compactMap(\.self)
            orders.append((life.facts + again).shuffled(using: &random))
        }
        for (place, order) in orders.enumerated() {
            var shop = try Shop()
            for fact in order {
                shop.now = shop.now.advanced(by: .seconds(7 * 86_400))
                try FailedLife.show(fact, in: &shop)
                #expect(shop.figures == Recount(shop).sums, "order \(place)")
            }
            shop.now = FailedLife.at(400)
            try shop.look()
            #expect(FailedLife.counts(shop.figures) == life.counts, "order \(place)")
            try Invariants.check(shop, "order \(place)")
        }
    }

    /// On the day of the end, under the product that was to be renewed.
    @Test func itCountsWhereTheTroubleBegan() throws {
        var shop = try Shop()
        for fact in FailedLife.paid.last?.facts ?? [] { try FailedLife.show(fact, in: &shop) }
        for measure in [Measure.renewalsFailed, .renewalsPaidInRetry] {
            #expect(shop.figures.lines(measure) == ["30 1"])
            let products = shop.figures.values.keys.filter { $0.measure == measure }.map(\.product)
            #expect(products == [try Shop.product("monthly")])
        }
    }

    /// The period, and another word on its end, come years later.
    @Test func whatIsLearnedLateCountsAsIfItHadComeInTime() throws {
        var shop = try Shop()
        try FailedLife.show(FailedLife.failed(30, of: 30), in: &shop)
        try FailedLife.show(.period(1, from: 0), in: &shop)
        #expect(FailedLife.counts(shop.figures) == [1, 0, 0, 0])
        shop.now = FailedLife.at(1_000)
        try FailedLife.show(.period(2, from: 45), in: &shop)
        #expect(FailedLife.counts(shop.figures) == [1, 0, 1, 0])
        try FailedLife.show(FailedLife.over(40, of: 30, 1), in: &shop)
        #expect(FailedLife.counts(shop.figures) == [1, 0, 0, 1])
        try Invariants.check(shop, "late")
    }

    /// Of more ends than are kept the last ones are, whatever came first.
    @Test(arguments: UInt64(0)..<5) func thereIsALimit(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let original = try #require(TransactionID(number: 1))
        var words: [Renewal] = []
        for week in 0..<Int64(PeriodEnds.countMax) + 100 {
            let end = 7 * week + 7
            for day in [end, end + 2] {
                var word = Renewal(
                    originalID: original,
                    product: try Shop.product("monthly"),
                    signedAt: FailedLife.at(day)
                )
                word.renewsAt = FailedLife.at(end)
                (word.isInBillingRetry, word.expirationIntent) = (day == end, 2)
                words.append(word)
            }
        }
        var (ordered, shuffled) = (PeriodEnds(), PeriodEnds())
        for word in words { ordered.note(word) }
        for word in words.shuffled(using: &random) { shuffled.note(word) }
        #expect(ordered == shuffled && ordered.ends.count == PeriodEnds.countMax)
        #expect(ordered.ends.last?.overAt == words.last?.signedAt)
        #expect(PeriodEnds(ordered.ends.shuffled(using: &random)) == ordered)
    }

    /// Nothing more is looked up for a proof of an ordinary purchase, renewal or end; for one of trouble the whole chain is.
    @Test func onlyTroubleLooksAtTheWholeChain() throws {
        var shop = try Shop()
        try FailedLife.show(.period(1, from: 0), in: &shop)
        try FailedLife.show(.period(2, from: 30), in: &shop)
        func periods(_ change: (inout Renewal) -> Void) throws -> [Int64] {
            let original = try #require(TransactionID(number: 1))
            var word = Renewal(originalID: original, product: try Shop.product("monthly"), signedAt: FailedLife.at(60))
            word.renewsAt = FailedLife.at(60)
            change(&word)
            let app = try Shop.app()
            let recording = Recording(app: app, realm: Shop.production, transactions: [], renewals: [word])
            return shop.situation.periods(before: [recording]).map(\.id.number)
        }
        #expect(try periods { $0.willAutoRenew = true }.isEmpty)
        #expect(try periods { $0.expirationIntent = 1 }.isEmpty)
        #expect(try periods { $0.isInBillingRetry = true } == [1, 2])
        try FailedLife.show(FailedLife.failed(60, of: 60), in: &shop)
        #expect(try periods { ($0.isInBillingRetry, $0.expirationIntent) = (true, 2) }.isEmpty)
        #expect(try periods { $0.expirationIntent = 1 } == [1, 2])
    }
}
