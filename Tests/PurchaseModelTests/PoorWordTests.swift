import PurchaseModel
import Testing

/// What verifyReceipt tells of a renewal is less than what Apple signs of it.
@Suite struct PoorWordTests {
    /// What is signed of a month that lasts 30 days, and what holds when verifyReceipt has told something a day later.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let full: @Sendable (inout Renewal) -> Void
        let poor: @Sendable (inout Renewal) -> Void
        let holds: String

        init(
            _ name: String,
            full: @escaping @Sendable (inout Renewal) -> Void = { _ in },
            poor: @escaping @Sendable (inout Renewal) -> Void,
            holds: String
        ) {
            testDescription = name
            self.full = full
            self.poor = poor
            self.holds = holds
        }
    }

    static let rows: [Row] = [
        Row("alike", poor: { _ in }, holds: "9990 MONTHLY begun"),
        Row("another next product", poor: { $0.nextProduct = ProductID("lamp") }, holds: ""),
        Row("another product", poor: { Self.rename(&$0) }, holds: ""),
        Row("off", poor: { $0.willAutoRenew = false }, holds: ""),
        Row("does not say", poor: { $0.willAutoRenew = nil }, holds: ""),
        Row("past the renewal", poor: { $0.signedAt = SubscriptionCase.at(31) }, holds: ""),
        Row("of another end", full: { $0.renewsAt = SubscriptionCase.at(20) }, poor: { _ in }, holds: ""),
        Row("of no end", full: { $0.renewsAt = nil }, poor: { _ in }, holds: ""),
        Row("still tried", poor: { Self.fail(&$0) }, holds: "9990 MONTHLY begun"),
        Row(
            "the same offer",
            full: { $0.offer = Offer(kind: .promotional, identifier: "x", discount: "PAY_UP_FRONT") },
            poor: { $0.offer = Offer(kind: .promotional, identifier: "x") },
            holds: "9990 MONTHLY begun PAY_UP_FRONT"
        ),
        Row(
            "an offer that it cannot name",
            full: { $0.offer = Offer(kind: .introductory, discount: "FREE_TRIAL") },
            poor: { _ in },
            holds: "9990 MONTHLY begun FREE_TRIAL"
        ),
        Row(
            "another offer",
            full: { $0.offer = Offer(kind: .promotional, identifier: "x", discount: "PAY_UP_FRONT") },
            poor: { $0.offer = Offer(kind: .promotional, identifier: "y") },
            holds: "MONTHLY begun no terms"
        ),
        Row(
            "a promotional offer that it would name",
            full: { $0.offer = Offer(kind: .promotional, identifier: "x", discount: "PAY_UP_FRONT") },
            poor: { _ in },
            holds: "MONTHLY begun"
        ),
        Row(
            "the offer of a code that it would name",
            full: { $0.offer = Offer(kind: .offerCode, identifier: "x", discount: "PAY_UP_FRONT") },
            poor: { _ in },
            holds: "MONTHLY begun"
        ),
        Row("a higher price", poor: { $0.priceIncreaseStatus = 0 }, holds: "MONTHLY begun pending"),
        Row(
            "a higher price that was told of",
            full: { $0.priceIncreaseStatus = 1 },
            poor: { _ in },
            holds: "9990 MONTHLY begun accepted"
        ),
        Row(
            "a higher price that was told of, off",
            full: { $0.priceIncreaseStatus = 1 },
            poor: { $0.willAutoRenew = false },
            holds: "accepted"
        ),
        Row("over", full: { Self.end(&$0, on: 31) }, poor: { Self.end(&$0, on: 32) }, holds: "begun back"),
        Row("over for another reason", full: { Self.end(&$0, on: 31) }, poor: { Self.giveUp(&$0) }, holds: ""),
        Row("over by it alone", poor: { Self.end(&$0, on: 32) }, holds: ""),
    ]

    private static func rename(_ word: inout Renewal) {
        guard let lamp = ProductID("lamp") else { return }
        word.product = lamp
    }

    private static func fail(_ word: inout Renewal) {
        word.signedAt = SubscriptionCase.at(31)
        (word.isInBillingRetry, word.expirationIntent) = (true, 2)
    }

    private static func giveUp(_ word: inout Renewal) {
        end(&word, on: 32)
        (word.isInBillingRetry, word.expirationIntent) = (false, 2)
    }

    private static func end(_ word: inout Renewal, on day: Double) {
        word.signedAt = SubscriptionCase.at(day)
        (word.willAutoRenew, word.expirationIntent) = (false, 1)
        if word.telling == .all { word.winBackOffers = ["back"] }
    }

    private static func full(on day: Double = 1, _ milliunits: Int64 = 9_990) throws -> Renewal {
        try SubscriptionEventTests.renewal(on: day) { word in
            word.nextPrice = Price(milliunits: milliunits, currency: "USD")
            word.nextBillingPlan = "MONTHLY"
            word.recentStartAt = SubscriptionCase.at(0)
        }
    }

    private static func poor(on day: Double = 2) throws -> Renewal {
        try SubscriptionEventTests.renewal(on: day) { word in
            word.renewsAt = nil
            word.telling = .less(than: nil)
        }
    }

    private static func word(_ found: Subscription) -> String {
        var words: [String] = []
        if let price = found.nextPrice { words.append("\(price.milliunits)") }
        if let plan = found.nextBillingPlan { words.append(plan) }
        if found.recentStartAt != nil { words.append("begun") }
        if let offer = found.nextOffer { words.append(offer.discount ?? "no terms") }
        if let increase = found.priceIncrease { words.append(increase.description) }
        return (words + found.winBackOffers).joined(separator: " ")
    }

    @Test(arguments: rows) func whatItCannotTellHoldsWhileBothAreAlike(row: Row) throws {
        var (full, poor) = (try Self.full(), try Self.poor())
        row.full(&full)
        row.poor(&poor)
        for order in [[full, poor], [poor, full], [poor, full, poor, full]] {
            let renewal = order.reduce(nil as Renewal?) { fold($0, $1) }
            let found = try #require(fold(try Shop.chain(1), try Sold.month(1), renewal, at: poor.signedAt))
            #expect(Self.word(found) == row.holds)
        }
    }

    /// Any of them, each once and the first one twice.
    @Test func anyOrderComesToTheSame() throws {
        var other = try Self.poor(on: 2)
        other.nextProduct = ProductID("lamp")
        // By when they were signed.
        let facts = try [Self.full(on: 1), other, Self.poor(on: 3), Self.full(on: 4, 4_990), Self.poor(on: 5)]
        for chosen in 1..<(1 << facts.count) {
            let heard = facts.indices.filter { chosen >> $0 & 1 == 1 }.map { facts[$0] }
            var expected = try #require(heard.last)
            if expected.telling != .all { expected.telling = .less(than: heard.last { $0.telling == .all }) }
            for order in permutations(of: heard) {
                let found = (order + order.prefix(1)).reduce(nil as Renewal?) { fold($0, $1) }
                #expect(found == expected)
            }
        }
    }

    /// The one that tells all, whichever is heard of first.
    @Test func ofTwoAtOneMomentTheFullOneIsTheNewest() throws {
        let full = try SubscriptionEventTests.renewal(on: 1)
        var poor = full
        poor.telling = .less(than: nil)
        #expect(fold(full, poor) == full)
        #expect(fold(poor, full) == full)
    }

    @Test func itTakesNothingAwayAndNobodyIsTold() throws {
        var shop = try Shop()
        try shop.show(FigureTests.priced(Sold.month(1), 9_990), renewals: [Self.full()])
        let before = shop.events.count
        for day in [2.0, 3] {
            try shop.show([], renewals: [Self.poor(on: day)], by: nil)
            #expect(shop.events.count == before)
            #expect(shop.figures.lines(.valueDue) == ["30 USD 9990"])
        }
        let stored = try shop.subscription()
        let beside = try Self.full()
        #expect(stored.renewal?.full == beside)
        #expect(rebuild(try Shop.chain(1), from: shop.recorded, stored: stored, at: shop.now) == nil)
        try Invariants.check(shop, "alike")
        // What it can tell counts.
        for (day, isOn) in [(4.0, false), (5, true)] {
            var word = try Self.poor(on: day)
            word.willAutoRenew = isOn
            try shop.show([], renewals: [word], by: nil)
            #expect(shop.figures.lines(.renewalsDue) == (isOn ? ["30 1"] : []))
            #expect(shop.figures.lines(.valueDue) == (isOn ? ["30 USD 9990"] : []))
        }
        let changed = "subscription.renewal_preference_changed"
        #expect(shop.types.dropFirst(before) == [changed, changed])
        try Invariants.check(shop, "off and on")
    }

    /// Who turns renewal off and on again has agreed to a higher price once.
    @Test func anAnswerToAHigherPriceIsToldOnce() throws {
        var shop = try Shop()
        var full = try Self.full()
        full.priceIncreaseStatus = 1
        try shop.show(FigureTests.priced(Sold.month(1), 9_990), renewals: [full])
        let accepted = "subscription.price_increase_accepted"
        let before = shop.types.count { $0 == accepted }
        for (day, isOn) in [(2.0, false), (3, true), (4, false), (5, true)] {
            var word = try Self.poor(on: day)
            word.willAutoRenew = isOn
            try shop.show([], renewals: [word], by: nil)
        }
        #expect(shop.types.count { $0 == accepted } == before)
        try Invariants.check(shop, "agreed once")
    }
}
