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

    static func owner(in shop: Shop) throws -> String? {
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
        if first.hasPrefix("his") { #expect(try Self.owner(in: shop) == "bob") }
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

    /// Moving it back undoes it: nothing is given by moving it, until somebody says so.
    @Test func whatIsMovedByHandPaysNoOrderUntilItIsAttached() throws {
        var shop = try Shop(needsOrder: true)
        try shop.show(Sold.coins(1))
        try shop.place("o-1", for: "bob")
        try shop.transfer(1, to: "bob")
        #expect(try shop.order("o-1").state == .pending)
        try shop.attach(1, to: "o-1")
        #expect(try shop.order("o-1").state == .paid && shop.gems(of: "bob") == 100)
    }

    /// Each row: what was signed, and for whom; what the order names; whether the one speaks against the other.
    @Test(arguments: [
        ("nothing", true, false), ("another order's", true, true), ("another order's", false, false),
        ("her own", true, false), ("her name", true, false), ("another customer's", false, true),
        ("another customer's", true, true),
    ])
    func aTokenThatContradictsIsNotOverruledSilently(signed: String, names: Bool, isContradicted: Bool) throws {
        var shop = try Shop(needsOrder: true)
        shop.ownTokens["ann"] = AccountToken(high: 7, low: 8)
        let tokens = [
            "another order's": AccountToken(high: 5, low: 6), "her own": AccountToken(high: 3, low: 3),
            "her name": AccountToken(high: 7, low: 8), "another customer's": AccountToken(high: 9, low: 9),
        ]
        try shop.place("o-8", "lamp", for: "ann", token: tokens["her own"])
        try shop.place("o-9", "lamp", for: "bob", token: tokens["another customer's"])
        // Nobody has presented it: Apple's history tells of it.
        try shop.show(Sold.coins(1, token: tokens[signed]), by: nil, from: .history)
        try shop.place("o-1", token: names ? AccountToken(high: 1, low: 1) : nil)
        if isContradicted {
            #expect(throws: RequestFault.tokenContradicts) { try shop.attach(1, to: "o-1") }
            #expect(try shop.order("o-1").state == .pending && shop.gems() == 0)
            #expect(shop.situation.owner(of: try Shop.chain(1)) == nil)
        }
        try shop.attach(1, to: "o-1", overrulesToken: isContradicted)
        #expect(try shop.gems() == 100)
        let match = OrderMatch(rawValue: isContradicted ? "by_hand_against_token" : "by_hand")
        #expect(try shop.order("o-1").payment?.match == match && shop.fulfilment(1).match == match)
        try Invariants.check(shop, "\(signed)")
    }

    /// A word that is not needed says nothing.
    @Test func whatDoesNotContradictIsNotCalledOverruled() throws {
        var shop = try Shop(needsOrder: true)
        try shop.show(Sold.coins(1))
        shop.now = shop.now.advanced(by: .seconds(60))
        try shop.place("o-1", for: "bob", token: Self.token)
        try shop.transfer(1, to: "bob")
        try shop.attach(1, to: "o-1", overrulesToken: true)
        #expect(try shop.order("o-1").payment?.match == .byHand)
    }

    /// A person has said whose it is.
    @Test func whatWasMovedByHandGoesByNoToken() throws {
        var shop = try Shop(needsOrder: true)
        try shop.place("o-1", token: Self.token)
        try shop.place("o-2", "lamp", token: Self.token)
        try shop.show(Sold.coins(1, token: Self.token))
        try shop.show(Sold.coins(2, token: Self.token))
        try shop.place("o-3", for: "bob", token: AccountToken(high: 1, low: 1))
        #expect(throws: RequestFault.doesNotFit) { try shop.attach(2, to: "o-3", overrulesToken: true) }
        try shop.transfer(2, to: "bob", overrulesToken: true)
        try shop.attach(2, to: "o-3")
        #expect(try shop.order("o-3").payment?.match == .byHand)
    }

    /// Each row: the token that Apple signed, and whether it says that the purchase is not to be bob's.
    @Test(arguments: [
        ("another customer's", true), ("its owner's name", true), ("his own", false), ("his name", false),
        ("nobody's", false), ("none", false),
    ])
    func whatAppleSignedForSomebodyElseIsMovedOnlyWithAWordMore(signed: String, isContradicted: Bool) throws {
        var shop = try Shop(needsOrder: false)
        shop.ownTokens = ["ann": AccountToken(high: 7, low: 8), "bob": AccountToken(high: 7, low: 9)]
        let tokens = [
            "another customer's": AccountToken(high: 1, low: 1), "its owner's name": AccountToken(high: 7, low: 8),
            "his own": AccountToken(high: 2, low: 2), "his name": AccountToken(high: 7, low: 9),
            "nobody's": AccountToken(high: 3, low: 3),
        ]
        var sold = try Sold.lamp(1)
        sold.accountToken = tokens[signed]
        try shop.show(sold)
        try shop.place("o-1", for: "eve", token: tokens["another customer's"])
        try shop.place("o-2", for: "bob", token: tokens["his own"])
        let owner = try #require(shop.situation.owner(of: try Shop.chain(1)))
        if isContradicted {
            #expect(throws: RequestFault.tokenContradicts) { try shop.transfer(1, to: "bob") }
            #expect(shop.situation.owner(of: owner.chain) == owner)
        }
        try shop.transfer(1, to: "bob", overrulesToken: isContradicted)
        #expect(shop.situation.owner(of: owner.chain)?.customer.text == "bob")
        // A person has said whose it is: to undo it takes no word more.
        try shop.transfer(1, to: "ann")
        #expect(shop.situation.owner(of: owner.chain)?.customer.text == "ann")
        try Invariants.check(shop, "\(signed)")
    }

    // MARK: What a chain says

    /// Each row: the rule, whether what the token named is over, and whose the chain is when somebody else buys anew in it
    /// without a token, as by an offer code outside the app.
    @Test(arguments: [
        (BindingRule.transferIfInactive, true, "bob"), (.transferIfInactive, false, "ann"), (.transfer, true, "bob"),
        (.transfer, false, "ann"), (.refuse, true, "ann"),
    ])
    func whatIsBoughtAnewGoesByTheRule(rule: BindingRule, isOver: Bool, owner: String) throws {
        var shop = try Shop { $0.binding = rule }
        try shop.place("o-1", "sword", token: Self.token)
        var first = try Sold.month(1)
        first.accountToken = Self.token
        try shop.show(first)
        let day: Int64 = isOver ? 60 : 10
        shop.now = SubscriptionCase.at(Double(day))
        try shop.show(Sold.month(2, original: 1, from: day), by: "bob")
        #expect(try Self.owner(in: shop) == owner)
        #expect(try shop.gems(of: owner) == (owner == "ann" ? 20 : 10))
    }

    /// One Apple account, two accounts of the shop: Apple goes on in one chain. What was bought anew for bob's order is his,
    /// whatever the rule and whoever tells of it first; what goes on without a gap goes by the rule.
    @Test(arguments: BindingRule.allCases, [(Int64(60), "bob"), (30, "ann")])
    func whatIsBoughtAnewGoesToWhomItWasSignedFor(rule: BindingRule, bought: (day: Int64, owner: String)) throws {
        if bought.owner == "ann", rule == .transfer || rule == .transferIfInactive { return }
        for isToldFirst in [false, true] {
            var shop = try Shop(needsOrder: true) { $0.binding = rule }
            let bobs = AccountToken(high: 0, low: 77)
            try shop.place("o-1", "monthly", token: Self.token)
            var first = try Sold.month(1)
            first.accountToken = Self.token
            try shop.show(first)
            shop.now = SubscriptionCase.at(Double(bought.day))
            try shop.place("o-2", "monthly", for: "bob", token: bobs)
            var second = try Sold.month(2, original: 1, from: bought.day)
            second.accountToken = bobs
            if isToldFirst { try shop.show(second, by: nil) }
            try shop.show(second, by: "bob", order: "o-2")
            #expect(try Self.owner(in: shop) == bought.owner)
            #expect(try shop.fulfilment(2).customer?.text == bought.owner)
            #expect(try shop.order("o-2").state == (bought.owner == "bob" ? .paid : .pending))
            try Invariants.check(shop, "\(rule) \(bought.day)")
        }
    }

    /// Apple took back what named her. Each row: on which day somebody else's begins; before it is no other purchase.
    @Test(arguments: [(Int64(10), "bob"), (0, "ann")])
    func whatIsBoughtAfterARefundGoesByTheRule(day: Int64, owner: String) throws {
        var shop = try Shop { $0.binding = .transferIfInactive }
        try shop.place("o-1", "sword", token: Self.token)
        var first = try Sold.month(1)
        first.accountToken = Self.token
        try shop.show(first)
        try shop.show(Sold.refunded(first, after: 5 * 86_400), by: nil)
        shop.now = SubscriptionCase.at(12)
        try shop.show(Sold.month(2, original: 1, from: day), by: "bob")
        #expect(try Self.owner(in: shop) == owner)
    }

    /// It ended an hour ago, and Apple's word of the renewal has not come. Each row: whether Apple tried to charge for days.
    @Test(arguments: [false, true]) func aRenewalIsNotBoughtAnew(isLate: Bool) throws {
        var shop = try Shop { $0.binding = .transfer }
        try shop.place("o-1", "sword", token: Self.token)
        var first = try Sold.month(1)
        first.accountToken = Self.token
        try shop.show(first)
        if isLate {
            var word = Renewal(originalID: first.id, product: first.product, signedAt: SubscriptionCase.at(30.5))
            (word.renewsAt, word.isInBillingRetry, word.expirationIntent) = (SubscriptionCase.at(30), true, 2)
            try shop.show([], renewals: [word], by: nil)
        }
        shop.now = SubscriptionCase.at(isLate ? 50 : 30.1)
        try shop.show(Sold.month(2, original: 1, from: isLate ? 49 : 30), by: "bob")
        #expect(try Self.owner(in: shop) == "ann")
        #expect(try shop.gems() == 20 && shop.gems(of: "bob") == 0)
    }

    /// Nothing was given before. What she bought anew stays hers at the second word, and pays her order.
    @Test(arguments: [BindingRule.transferIfInactive, .refuse], [false, true])
    func whatIsBoughtAnewStays(rule: BindingRule, isKnownFirst: Bool) throws {
        var shop = try Shop(needsOrder: true) { $0.binding = rule }
        if isKnownFirst { try shop.place("o-1", "sword", token: Self.token) }
        var first = try Sold.month(1)
        first.accountToken = Self.token
        try shop.show(first, by: nil)
        if !isKnownFirst { try shop.place("o-1", "sword", token: Self.token) }
        shop.now = SubscriptionCase.at(60)
        let second = try Sold.month(2, original: 1, from: 60)
        try shop.show(second, by: "bob")
        let owner = isKnownFirst && rule == .refuse ? "ann" : "bob"
        #expect(try Self.owner(in: shop) == owner)
        try shop.show(second, by: nil)
        try shop.show(first, second, by: "bob")
        try shop.place("o-2", "monthly", for: owner)
        #expect(try Self.owner(in: shop) == owner)
        #expect(try shop.order("o-2").state == .paid)
        #expect(shop.types.filter { $0 == "customer.transferred" }.count <= 2)
    }

    /// Whichever of his numbers he shows, the token of his name is his.
    @Test func anOlderNumberMakesATokenOnesOwn() throws {
        var shop = try Shop()
        shop.ownTokens = ["bob": Self.token]
        var (first, second) = (try Sold.month(1), try Sold.month(2, original: 1, from: 30))
        (first.accountToken, second.accountToken) = (Self.token, Self.other)
        try shop.show(first, by: nil)
        try shop.show(second, by: nil)
        try shop.place("o-1", "sword", for: "eve", token: Self.token)
        try shop.show(first, by: "bob")
        try shop.show(Sold.coins(3, token: Self.token), by: nil)
        #expect(try shop.gems(of: "eve") == 0)
    }

    /// The token is made of Bob's name, and Eve has named it; he shows another number of it, which does not say so.
    @Test(arguments: [true, false]) func aRestoreOfOnesOwnIsOnesOwn(needsOrder: Bool) throws {
        var shop = try Shop(needsOrder: needsOrder)
        shop.ownTokens = ["bob": Self.token]
        try shop.show(Self.lamp(), by: nil)
        try shop.place("o-1", "sword", for: "eve", token: Self.token)
        try shop.show(Self.lamp(8, nil, original: 1), by: "bob")
        #expect(try Self.owner(in: shop) == "bob")
        try shop.place("o-2", "lamp", for: "bob")
        #expect(try shop.rights(of: "bob") == ["light"])
    }

    /// A receipt was given first; that Apple signed it for her was heard later.
    @Test func whatWasGivenKeepsTheTokenThatIsHeardLater() throws {
        var shop = try Shop { $0.binding = .transfer }
        try shop.place("o-1", "sword", token: Self.token)
        try shop.show(Self.lamp(1, nil))
        let (types, version) = (shop.types, try shop.fulfilment(1).version)
        try shop.show(Sold.again(Self.lamp(), after: 60), by: nil)
        #expect(try shop.fulfilment(1).accountToken == Self.token && shop.fulfilment(1).version == version + 1)
        #expect(shop.types == types)
        try shop.show(Self.lamp(8, nil, original: 1), by: "bob")
        #expect(try Self.owner(in: shop) == "ann")
    }

    /// One proof has several numbers of it. Each row: which of them name her.
    @Test(arguments: [[true, false], [false, true], [true, false, true], [false, true, false]])
    func ofOneProofEachNumberIsWhoseAnyIs(named: [Bool]) throws {
        var shop = try Shop { $0.binding = .transfer }
        try shop.place("o-1", "sword", token: Self.token)
        let sold = try named.enumerated().map { place, isNamed in
            try Self.lamp(Int64(place) + 1, isNamed ? Self.token : nil, original: 1)
        }
        try shop.show(sold, by: "bob")
        #expect(try Self.owner(in: shop) == "ann")
        #expect(try shop.rights(of: "bob") == [] && shop.gems() == 5)
        #expect(!shop.types.contains("customer.transferred"))
    }

    /// Two numbers name two people: the one that was bought last says whose it is, whichever comes again.
    @Test func theLastNumberSaysWhoseItIs() throws {
        var shop = try Shop(needsOrder: true)
        try shop.place("o-1", "sword", token: Self.token)
        try shop.place("o-2", "sword", for: "bob", token: Self.other)
        var (first, second) = (try Sold.month(1), try Sold.month(2, original: 1, from: 30))
        (first.accountToken, second.accountToken) = (Self.token, Self.other)
        for sold in [first, second, first, second, first] { try shop.show(sold, by: nil) }
        #expect(try Self.owner(in: shop) == "bob")
        #expect(shop.types.filter { $0 == "customer.transferred" }.count == 2)
    }

    /// It is made of her name, and his order has named it.
    @Test func anotherServerSeesThatATokenMayChangeHands() throws {
        var shop = try Shop(needsOrder: true)
        try shop.place("o-1", "sword", for: "bob", token: Self.token)
        shop.ownTokens = ["ann": Self.token]
        let decision = try shop.show(Self.lamp(), by: nil)
        // Whoever comes to be known by it writes the same row.
        #expect(decision.tokens.map(\.row.key.token) == [Self.token])
        #expect(decision.tokens.map(\.row.customer?.text) == ["bob"])
    }
}
