import PurchaseModel
import Testing

/// Whom Apple signed a purchase for, whatever copy of it comes, and whoever names the token.
@Suite struct SignedTokenTests {
    static let token = AccountToken(high: 1, low: 2)
    static let other = AccountToken(high: 3, low: 4)

    private static func lamp(
        _ number: Int64 = 1,
        _ token: AccountToken? = token,
        original: Int64? = nil
    ) throws -> Transaction {
        var sold = try Sold.lamp(number, original: original)
        sold.accountToken = token
        return sold
    }

    private static func owner(in shop: Shop) throws -> String? {
        shop.situation.owner(of: try Shop.chain(1))?.customer.text
    }

    /// Apple signed what client libraries make of Bob's name, and Eve has an order name it. Each row: where purchases need
    /// orders, and what comes first.
    @Test(arguments: [true, false], ["his copy", "his poorer copy", "her order", "Apple"])
    func anothersNameTakesNothing(needsOrder: Bool, first: String) throws {
        var shop = try Shop(needsOrder: needsOrder)
        shop.ownTokens = ["bob": Self.token]
        switch first {
        case "his copy": try shop.show(Self.lamp(), by: "bob")
        case "his poorer copy": try shop.show(Self.lamp(1, nil), by: "bob")
        case "Apple": try shop.show(Self.lamp(), by: nil)
        default: break
        }
        try shop.place("o-1", "sword", for: "eve", token: Self.token)
        if needsOrder || first != "her order" { try shop.show(Self.lamp(), by: nil) }
        try shop.show(Self.lamp(), by: "bob")
        if !needsOrder, first == "Apple" { return }
        #expect(try Self.owner(in: shop) == "bob")
        try shop.place("o-2", "lamp", for: "eve")
        #expect(try shop.order("o-2").state == .pending)
        try shop.place("o-3", "lamp", for: "bob")
        if needsOrder { #expect(try shop.order("o-3").state == .paid) }
        #expect(try shop.rights(of: "bob") == ["light"] && shop.gems(of: "eve") == 0)
        try Invariants.check(shop, "\(needsOrder) \(first)")
    }

    /// What Bob is known by is his, also where Eve had named it: what Apple tells of next is his at once.
    @Test func whoeverHasATokenByNameIsKnownByIt() throws {
        var shop = try Shop()
        shop.ownTokens = ["bob": Self.token]
        try shop.place("o-1", "sword", for: "eve", token: Self.token)
        try shop.show(Self.lamp(), by: "bob")
        try shop.show(Sold.coins(2, token: Self.token), by: nil)
        #expect(try shop.gems(of: "bob") == 105 && shop.gems(of: "eve") == 0)
    }

    /// A restore has a number of its own, and says nothing of the token that its purchase was signed with.
    @Test(arguments: [BindingRule.transfer, .transferIfInactive, .share, .refuse], [true, false])
    func aNumberWithoutATokenTakesNothing(rule: BindingRule, isKnownFirst: Bool) throws {
        var shop = try Shop { $0.binding = rule }
        if isKnownFirst { try shop.place("o-1", "sword", token: Self.token) }
        try shop.show(Self.lamp(), by: isKnownFirst ? "ann" : nil)
        if !isKnownFirst { try shop.place("o-1", "sword", token: Self.token) }
        try shop.show(Self.lamp(8, nil, original: 1), by: "bob")
        #expect(try Self.owner(in: shop) == "ann")
        #expect(try shop.rights() == ["light"] && shop.rights(of: "bob") == [])
        #expect(try shop.gems() == 5 && shop.gems(of: "bob") == 0)
        try Invariants.check(shop, "\(rule) \(isKnownFirst)")
    }

    /// Nor does such a copy pay an order of whoever holds it.
    @Test func anOrderTakesNoCopyOfWhatIsAnothers() throws {
        var shop = try Shop(needsOrder: true)
        try shop.show(Self.lamp(8, nil, original: 1), by: "bob")
        try shop.show(Self.lamp(), by: nil)
        try shop.place("o-1", "sword", token: Self.token)
        try shop.place("o-2", "lamp", for: "bob")
        #expect(try shop.order("o-2").state == .pending)
        try shop.place("o-3", "lamp", token: Self.token)
        #expect(try shop.order("o-3").state == .paid)
    }

    /// The first copy says nothing of it; the second one waits no longer than the order that names it.
    @Test(arguments: [nil, "bob"]) func aLateOrderFindsWhatOnlyTheSecondCopyNames(first: String?) throws {
        var shop = try Shop(needsOrder: true)
        try shop.show(Self.lamp(1, nil), by: first)
        try shop.show(Sold.again(Self.lamp(), after: 60), by: nil)
        #expect(try shop.fulfilment(1).accountToken == Self.token)
        try shop.place("o-1", "lamp", token: Self.token)
        #expect(try shop.order("o-1").state == .paid)
        #expect(try shop.fulfilment(1).customer?.text == "ann")
        try Invariants.check(shop, "\(first ?? "nobody")")
    }

    /// A shop can have Apple sign another token: then an older copy says nothing any more.
    @Test func anOlderCopySaysNothingOfWhoseItIsNow() throws {
        var shop = try Shop(needsOrder: true)
        try shop.place("o-1", "sword", for: "bob", token: Self.token)
        try shop.place("o-2", "sword", for: "ann", token: Self.other)
        try shop.show(Self.lamp(), by: nil)
        #expect(try Self.owner(in: shop) == "bob")
        try shop.show(Sold.again(Self.lamp(1, Self.other), after: 60), by: nil)
        #expect(try Self.owner(in: shop) == "ann")
        for bringer in [nil, "bob"] { try shop.show(Self.lamp(), by: bringer) }
        #expect(try Self.owner(in: shop) == "ann")
    }

    /// Whom a rule gave it has it until it is known for whom it was signed; whom a person gave it keeps it.
    @Test(arguments: [false, true]) func aRuleSettlesNothing(isByHand: Bool) throws {
        var shop = try Shop(needsOrder: true) { $0.binding = .transfer }
        try shop.show(Self.lamp(1, nil), by: "eve")
        if isByHand { try shop.transfer(1, to: "bob") } else { try shop.show(Self.lamp(1, nil), by: "bob") }
        #expect(try Self.owner(in: shop) == "bob")
        try shop.place("o-1", "lamp", token: Self.token)
        try shop.show(Sold.again(Self.lamp(), after: 60), by: nil)
        #expect(try Self.owner(in: shop) == (isByHand ? "bob" : "ann"))
        #expect(try shop.order("o-1").state == (isByHand ? .pending : .paid))
    }

    /// Each row: what waits, and what becomes of it when a person makes it somebody's whose order waits.
    @Test(arguments: [nil, "order-1"]) func whatIsMovedByHandPaysTheOrderThatWaits(named: String?) throws {
        var shop = try Shop(needsOrder: true)
        try shop.show(Self.lamp(1, nil), by: "ann", order: named)
        try shop.show(Self.lamp(8, nil, original: 1), by: "ann")
        try shop.place("order-1", "lamp", for: "bob")
        try shop.transfer(1, to: "bob")
        #expect(try shop.order("order-1").state == .paid)
        #expect(try shop.word(1) == "granted" && shop.word(8) == "withheld already_granted")
        #expect(try shop.rights(of: "bob") == ["light"] && shop.gems(of: "bob") == 5)
        try Invariants.check(shop, "moved")
    }
}
