import PurchaseModel
import Testing

/// A subscription that Apple goes on with under another original transaction more than once. Whose it is and what was given
/// goes along the whole line.
@Suite struct MovedTwiceTests {
    private static let token = AccountToken(high: 3, low: 4)

    /// The first period under the first number; under the second from a day on, under the third from another.
    private static func facts(_ second: Int64, _ third: Int64) throws -> [Transaction] {
        var facts = [try Sold.month(1)]
        for day in stride(from: second, through: third, by: 30) {
            facts.append(try moved(Int64(facts.count) + 89, original: 90, after: 1, from: day))
        }
        for day in [third, third + 30] {
            facts.append(try moved(Int64(facts.count) + 189, original: 190, after: 90, from: day))
        }
        return facts.map { FigureTests.priced($0, 9_990) }
    }

    private static func moved(
        _ number: Int64,
        original: Int64,
        after previous: Int64,
        from day: Int64
    ) throws -> Transaction {
        var sold = try Sold.month(number, original: original, from: day)
        sold.previousOriginalID = TransactionID(number: previous)
        return sold
    }

    private static func orders(of all: [Transaction]) -> [[Transaction]] {
        if all.count <= 1 { return [all] }
        return all.indices.flatMap { place in
            var rest = all
            let first = rest.remove(at: place)
            return orders(of: rest).map { [first] + $0 }
        }
    }

    /// Each row: on which days it was moved, and how many periods were paid.
    @Test(arguments: [(Int64(0), Int64(30), 3), (0, 0, 2)])
    func itStaysWhoseItWasAndIsGivenOnce(second: Int64, third: Int64, periods: Int) throws {
        for order in Self.orders(of: try Self.facts(second, third)) {
            let names = "\(order.map(\.id.number))"
            var shop = try Shop()
            for fact in order { try shop.show(fact, by: fact.id.number == 1 ? "ann" : nil) }
            let owners = try [1, 90, 190].map { shop.situation.owner(of: try Shop.chain($0))?.customer.text }
            #expect(owners == ["ann", "ann", "ann"], "\(names)")
            #expect(try shop.gems() == Int64(periods) * 10, "\(names)")
            #expect(shop.figures.total(.revenue) == Int64(periods) * 9_990, "\(names)")
            let last = try #require(order.map(\.purchasedAt).max())
            #expect(try shop.rights(at: last.advanced(by: .seconds(29 * 86_400))) == ["premium"], "\(names)")
            try Invariants.check(shop, "\(names)")
        }
    }

    /// Whoever has the first one by a late order, or by hand, has all of them at once, and what waits needs no other order.
    @Test(arguments: [true, false], [true, false])
    func aLateOrderHandsOnTheWholeLine(isByHand: Bool, needsOrder: Bool) throws {
        var shop = try Shop(needsOrder: needsOrder)
        var facts = try Self.facts(0, 30)
        if !isByHand { facts[0].accountToken = Self.token }
        for fact in facts { try shop.show(fact, by: nil) }
        try shop.place("o-1", "monthly", token: isByHand ? nil : Self.token)
        if isByHand { try shop.attach(1, to: "o-1") }
        #expect(shop.situation.owner(of: try Shop.chain(190))?.customer.text == "ann")
        #expect(shop.fulfilments.allSatisfy { $0.state == .granted })
        #expect(try shop.gems() == 30)
        try Invariants.check(shop, "late")
    }

    /// Bob had a copy of the first one, and nothing was given to him.
    @Test func theWholeLineIsTakenAlong() throws {
        var shop = try Shop(needsOrder: true)
        var facts = try Self.facts(0, 30)
        facts[0].accountToken = Self.token
        for fact in facts { try shop.show(fact, by: fact.id.number == 1 ? "bob" : nil) }
        #expect(shop.situation.owner(of: try Shop.chain(190))?.customer.text == "bob")
        try shop.place("o-1", "monthly", token: Self.token)
        #expect(shop.situation.owner(of: try Shop.chain(190))?.customer.text == "ann")
        #expect(shop.fulfilments.allSatisfy { $0.state == .granted })
        try Invariants.check(shop, "taken along")
    }

    /// What goes on from itself ends somewhere.
    @Test func aCircleEnds() throws {
        var shop = try Shop(needsOrder: true)
        var first = try Self.moved(1, original: 1, after: 90, from: 0)
        first.accountToken = Self.token
        for fact in [first, try Self.moved(90, original: 90, after: 1, from: 30)] { try shop.show(fact, by: nil) }
        try shop.place("o-1", "monthly", token: Self.token)
        #expect(shop.fulfilments.allSatisfy { $0.state == .granted })
        var own = try Self.moved(5, original: 5, after: 5, from: 0)
        own.accountToken = AccountToken(high: 5, low: 5)
        try shop.show(own)
        try shop.place("o-2", "monthly")
        try Invariants.check(shop, "a circle")
    }
}
