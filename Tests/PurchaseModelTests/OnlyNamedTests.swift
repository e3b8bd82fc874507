import PurchaseModel
import TestSupport
import Testing

/// Whoever names a purchase by its number shows that she knows it, and not that she has bought it.
@Suite struct OnlyNamedTests {
    private static let token = AccountToken(high: 1, low: 2)

    private static func owner(_ shop: Shop, of original: Int64 = 1) throws -> String? {
        shop.situation.owner(of: try Shop.chain(original))?.customer.text
    }

    /// Each row: where purchases need orders, and whether Apple had told of it before.
    @Test(arguments: [true, false], [true, false])
    func whatIsNobodysStaysNobodysUntilItIsShown(needsOrder: Bool, isKnown: Bool) throws {
        var shop = try Shop(needsOrder: needsOrder)
        if needsOrder { for name in ["eve", "ann"] { try shop.place("o-\(name)", "lamp", for: name) } }
        if isKnown { try shop.show(Sold.lamp(), by: nil) }
        let named = try shop.name(Sold.lamp(), by: "eve", order: needsOrder ? "o-eve" : nil)
        #expect(named.outcomes.map(\.standing) == [.ownedByAnother])
        #expect(named.outcomes.map(\.fulfilment) == [nil])
        #expect(named.outcomes.map(\.isNew) == [!isKnown])
        #expect(try Self.owner(shop) == nil)
        #expect(try shop.word(1) == "waiting no_customer")
        let row = try #require(shop.situation[try Shop.key(1, Shop.production)])
        #expect(row.customer == nil && row.order == nil)
        // Again it is no news.
        #expect(try shop.name(Sold.lamp(), by: "eve").isEmpty)
        if needsOrder { #expect(try shop.order("o-eve").state == .pending) }
        let shown = try shop.show(Sold.lamp(), by: "ann", order: needsOrder ? "o-ann" : nil)
        #expect(shown.outcomes.map(\.standing) == [.recorded])
        #expect(try shop.rights(of: "ann") == ["light"] && shop.rights(of: "eve") == [])
        if needsOrder { #expect(try shop.order("o-ann").state == .paid) }
        try Invariants.check(shop, "\(needsOrder) \(isKnown)")
    }

    /// What Apple signed with her token is hers: one that is made of her name, or that an order of hers has.
    @Test(arguments: [true, false]) func whatIsSignedForHerIsHers(isByName: Bool) throws {
        var shop = try Shop()
        if isByName { shop.ownTokens = ["ann": Self.token] }
        if !isByName { try shop.place("o-1", "lamp", for: "ann", token: Self.token) }
        var sold = try Sold.lamp()
        sold.accountToken = Self.token
        #expect(try shop.name(sold, by: "ann").outcomes.map(\.standing) == [.recorded])
        #expect(try shop.rights(of: "ann") == ["light"])
        if !isByName { #expect(try shop.order("o-1").state == .paid) }
        try Invariants.check(shop, "\(isByName)")
    }

    /// One that nobody is known by says nothing for her, and one that is another's gives it to that one.
    @Test func whatIsSignedForSomebodyElseIsNotHers() throws {
        var shop = try Shop()
        var sold = try Sold.lamp()
        sold.accountToken = Self.token
        #expect(try shop.name(sold, by: "eve").outcomes.map(\.standing) == [.ownedByAnother])
        #expect(try Self.owner(shop) == nil)
        shop.ownTokens = ["ann": Self.token]
        try shop.show(sold, by: "ann")
        #expect(try Self.owner(shop) == "ann")
        #expect(try shop.name(sold, by: "eve").outcomes.map(\.standing) == [.ownedByAnother])
    }

    /// Hers stays hers, and its next period is hers; another's is not moved and not shared, whatever rule binds.
    @Test(arguments: BindingRule.allCases) func whoseItIsItStays(rule: BindingRule) throws {
        var shop = try Shop { $0.binding = rule }
        try shop.show(Sold.month(), by: "ann")
        let next = try Sold.month(2, original: 1, from: 30)
        #expect(try shop.name(next, by: "eve").outcomes.map(\.standing) == [.ownedByAnother])
        #expect(try Self.owner(shop) == "ann")
        #expect(try shop.word(2) == "granted")
        #expect(try shop.name(Sold.month(), next, by: "ann").outcomes.map(\.standing) == [.recorded, .recorded])
        #expect(shop.situation.owner(of: try Shop.chain(1))?.sharers == [])
        try Invariants.check(shop, "\(rule)")
    }

    /// One proof may name several people's: each is decided about by itself.
    @Test func amongOthersHerOwnIsHers() throws {
        var shop = try Shop()
        try shop.show(Sold.lamp(), by: "ann")
        let named = try shop.name(Sold.coins(2), Sold.lamp(), Sold.coins(3), by: "ann")
        #expect(named.outcomes.map(\.standing) == [.ownedByAnother, .recorded, .ownedByAnother])
        #expect(try shop.gems(of: "ann") == 5)
        #expect(try shop.name(Sold.coins(4), by: nil).outcomes.map(\.standing) == [.recorded])
        #expect(try Self.owner(shop, of: 4) == nil)
    }

    /// What only Apple's history has told of waits for whoever shows it: its number is no such thing.
    @Test func whatIsOfHistoryIsShownByNoNumber() throws {
        var shop = try Shop()
        try shop.show(Sold.lamp(), by: nil, from: .history)
        let before = shop.events.count
        try shop.name(Sold.lamp(), by: "eve")
        #expect(try shop.word(1) == "waiting from_history")
        #expect(shop.events.count == before)
        try shop.show(Sold.lamp(), by: "ann")
        #expect(try shop.rights(of: "ann") == ["light"])
    }
}
