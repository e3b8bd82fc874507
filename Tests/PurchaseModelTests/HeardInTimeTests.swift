import PurchaseModel
import Testing

/// A period that was over before anybody told of it gives nothing. What was told of in time is owed, also where it is decided
/// about only when it is over.
@Suite struct HeardInTimeTests {
    /// What came before its customer shows the month, ten days after its end.
    enum Past: String, CaseIterable {
        case told, toldByHistory, toldOnItsLastDay, toldInItsGrace, graceToldLate, shownAndNotSold, shownToTheSandbox
        case toldAtItsEnd, toldAfterItsEnd, shownAfterItsEnd, never

        var isInTime: Bool { ![.toldAtItsEnd, .toldAfterItsEnd, .shownAfterItsEnd, .never].contains(self) }

        var realm: Realm { self == .shownToTheSandbox ? Shop.sandbox : Shop.production }
    }

    private static func failing() throws -> Renewal {
        try SubscriptionEventTests.renewal(on: 30) { renewal in
            (renewal.isInBillingRetry, renewal.expirationIntent) = (true, 2)
            renewal.graceEndsAt = SubscriptionCase.at(36)
        }
    }

    private static func shop(after past: Past) throws -> Shop {
        var shop = try Shop()
        let month = try Sold.month(1)
        switch past {
        case .told: try shop.show(month, by: nil)
        case .toldByHistory: try shop.show(month, by: nil, from: .history)
        case .toldOnItsLastDay, .toldInItsGrace, .toldAtItsEnd, .toldAfterItsEnd:
            let days: [Past: Double] = [.toldOnItsLastDay: 29.9, .toldInItsGrace: 33, .toldAtItsEnd: 30]
            shop.now = SubscriptionCase.at(days[past] ?? 31)
            try shop.show(month, renewals: past == .toldInItsGrace ? [failing()] : [], by: nil)
        case .graceToldLate:
            shop.now = SubscriptionCase.at(33)
            try shop.show(month, by: nil)
            shop.now = SubscriptionCase.at(38)
            try shop.show(renewals: [failing()], by: nil)
        case .shownAndNotSold:
            let terms = shop.terms
            shop.terms.products?[month.product] = nil
            try shop.show(month)
            #expect(try shop.word(1) == "waiting unknown_product")
            shop.terms = terms
        case .shownToTheSandbox:
            try shop.show(month, realm: Shop.sandbox)
            #expect(try shop.word(1, realm: Shop.sandbox) == "waiting sandbox")
            shop.terms.sandbox = .everybody(until: SubscriptionCase.at(90))
        case .shownAfterItsEnd:
            shop.now = SubscriptionCase.at(31)
            try shop.show(month)
        case .never: break
        }
        return shop
    }

    @Test(arguments: Past.allCases) func whatWasToldOfInTimeIsOwed(past: Past) throws {
        var shop = try Self.shop(after: past)
        shop.now = SubscriptionCase.at(40)
        // Showing it again gives nothing again.
        for _ in 1...2 {
            try shop.show(Sold.month(1), realm: past.realm)
            #expect(try shop.word(1, realm: past.realm) == (past.isInTime ? "granted" : "withheld expired"))
            #expect(try shop.gems(realm: past.realm) == (past.isInTime ? 10 : 0))
            #expect(try shop.rights() == [])
        }
        #expect(shop.types.count { $0 == "delivery.granted" } == (past.isInTime ? 1 : 0))
        try Invariants.check(shop, "\(past)")
    }

    /// Its proof waited for Apple's answer until it was over. Each row: the day on which it was shown, and when it was bought.
    @Test(arguments: [(29.9, Int64(0), "granted"), (30, 0, "withheld expired"), (5, 6, "withheld expired")])
    func whatWasShownInTimeIsOwedThoughAppleAnsweredLate(shown: Double, bought: Int64, expected: String) throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(50)
        for _ in 1...2 {
            try shop.show([Sold.month(1, from: bought)], presentedAt: SubscriptionCase.at(shown))
            #expect(try shop.word(1) == expected)
            #expect(try shop.rebuild([1]) == [])
        }
        #expect(try shop.gems() == (expected == "granted" ? 10 : 0))
        try Invariants.check(shop, "\(shown) \(bought)")
    }

    /// The same was shown once more, and decided about at once, when it was over: what was shown first is owed all the same.
    @Test func whatWasShownInTimeIsOwedThoughItWasShownAgain() throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(31)
        try shop.show(Sold.month(1))
        #expect(try shop.word(1) == "withheld expired")
        shop.now = SubscriptionCase.at(32)
        try shop.show([Sold.month(1)], presentedAt: SubscriptionCase.at(29))
        #expect(try shop.word(1) == "granted" && shop.gems() == 10)
        try Invariants.check(shop, "shown again")
    }

    /// It waits for an order, and goes on when a later period pays one.
    @Test(arguments: [(Double(0), Int64(20)), (31, 10)])
    func whatWaitsForAnOrderIsOwedAsWell(day: Double, gems: Int64) throws {
        var shop = try Shop(needsOrder: true)
        shop.now = SubscriptionCase.at(day)
        try shop.show(Sold.month(1))
        #expect(try shop.word(1) == "waiting no_order")
        shop.now = SubscriptionCase.at(35)
        try shop.place("o-1", "monthly")
        try shop.show(Sold.month(2, original: 1, from: 30))
        #expect(try shop.order("o-1").payment?.transaction.number == 2)
        #expect(try shop.word(1) == (gems == 20 ? "granted" : "withheld expired"))
        #expect(try shop.gems() == gems)
        try Invariants.check(shop, "\(day)")
    }

    /// The catalogue lacked it until it was over.
    @Test(arguments: [(Double(0), "granted"), (31, "withheld expired")])
    func whatWaitsForTheCatalogueIsOwedAsWell(day: Double, expected: String) throws {
        var shop = try Shop()
        let (terms, month) = (shop.terms, try Sold.month(1))
        shop.terms.products?[month.product] = nil
        shop.now = SubscriptionCase.at(day)
        try shop.show(month)
        shop.terms = terms
        shop.now = SubscriptionCase.at(40)
        _ = try shop.rebuild([1])
        #expect(try shop.word(1) == expected)
        #expect(try shop.gems() == (expected == "granted" ? 10 : 0))
        #expect(try shop.rebuild([1]) == [])
    }

    /// A restore by StoreKit 1 shows it under another number, of which nobody had told: it is owed once.
    @Test(arguments: [[Int64(9)], [9, 1], [1, 9]]) func whatIsShownByAnotherNumberIsOwedOnce(shown: [Int64]) throws {
        var shop = try Shop()
        try shop.show(Sold.month(1), by: nil)
        shop.now = SubscriptionCase.at(40)
        for _ in 1...2 {
            for number in shown { try shop.show(Sold.month(number, original: 1)) }
            #expect(try shop.word(1) == "granted")
            #expect(try shop.gems() == 10)
        }
        try Invariants.check(shop, "\(shown)")
    }

    /// Nothing was owed for a family's copy while its product was for no family: what is over by then stays so.
    @Test(arguments: [20, 40]) func aCopyIsOwedNothingOfThePast(day: Double) throws {
        var shop = try Shop()
        var copy = try Sold.month(1)
        copy.ownership = .familyShared
        try shop.show(copy)
        #expect(try shop.word(1) == "withheld family_shared")
        shop.now = SubscriptionCase.at(day)
        shop.terms.products?[copy.product]?.isFamilyShared = true
        _ = try shop.rebuild([1])
        try shop.show(copy)
        #expect(try shop.word(1) == (day < 30 ? "granted" : "withheld expired"))
        try Invariants.check(shop, "day \(day)")
    }

    /// What was heard of too late, however often it is shown, until its end is moved.
    @Test func whatWasWithheldStaysSo() throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(40)
        for _ in 1...2 {
            try shop.show(Sold.month(1))
            #expect(try shop.word(1) == "withheld expired")
            #expect(try shop.rebuild([1]) == [])
            #expect(try shop.gems() == 0)
        }
        var longer = Sold.again(try Sold.month(1), after: 40 * 86_400)
        longer.expiresAt = SubscriptionCase.at(45)
        try shop.show(longer)
        #expect(try shop.word(1) == "granted")
        #expect(try shop.gems() == 10)
    }
}
