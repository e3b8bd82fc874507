import PurchaseModel
import Testing

@Suite struct OwnershipTests {
    static let token = AccountToken(high: 1, low: 2)

    /// Each row: the app's rule, what is shown by a second customer, and who has what then.
    @Test(arguments: [
        (BindingRule.refuse, "lamp", ["ann"]), (.transfer, "lamp", ["bob"]),
        (.transferIfInactive, "lamp", ["ann"]), (.share, "lamp", ["ann", "bob"]),
        (.transferIfInactive, "monthly", ["ann"]), (.transferIfInactive, "ended", ["bob"]),
    ])
    func whoeverShowsWhatIsAnothersGetsItByRule(rule: BindingRule, shown: String, users: [String]) throws {
        var shop = try Shop { $0.binding = rule }
        if shown == "lamp" {
            try shop.show(Sold.lamp(1))
            try shop.show(Sold.lamp(1), by: "bob")
        } else {
            try shop.show(Sold.month(1))
            if shown == "ended" { shop.now = shop.now.advanced(by: .seconds(30 * 86_400)) }
            let outcome = try shop.show(Sold.month(1), by: "bob").outcomes.first
            #expect((outcome?.standing == .ownedByAnother) == (shown != "ended"))
            // A later period is the new owner's.
            shop.now = shop.now.advanced(by: .seconds(1))
            try shop.show(Sold.month(2, original: 1, from: 30), by: nil)
        }
        for customer in ["ann", "bob"] {
            #expect(try !shop.rights(of: customer).isEmpty == users.contains(customer), "\(customer)")
        }
        // What was credited stays where it was credited, and is credited once.
        #expect(try shop.gems() + shop.gems(of: "bob") == (shown == "lamp" ? 5 : 20))
    }

    /// What is in force is no matter of goods. Each row: what the product gives, or no catalogue, and how long it is shown
    /// after it was bought, in days.
    @Test(arguments: [
        ("gems", 29, "ann"), ("gems", 30, "bob"), ("nothing", 29, "ann"), ("nothing", 30, "bob"), ("lamp", 999, "ann"),
    ])
    func whatRunsIsTakenFromNobodyWhateverItGives(gives: String, days: Int64, owner: String) throws {
        let gems = try Shop.currency("gems")
        var shop = try Shop { terms in
            terms.binding = .transferIfInactive
            guard gives == "gems" else { return terms.products = nil }
            for id in terms.products?.keys.map(\.self) ?? [] { terms.products?[id]?.goods = [.amount(1, gems)] }
        }
        let bought = gives == "lamp" ? try Sold.lamp(1) : try Sold.month(1)
        try shop.show(bought)
        shop.now = shop.now.advanced(by: .seconds(days * 86_400))
        try shop.show(bought, by: "bob")
        #expect(shop.situation.owner(of: try Shop.chain(1))?.customer.text == owner)
    }

    /// The second period is refunded; somebody else buys the third. Each row: on which day, and whose it is.
    @Test(arguments: [(Int64(40), false, "ann"), (40, true, "bob"), (61, false, "bob")])
    func whatWasRefundedRunsNoMore(day: Int64, isRefunded: Bool, owner: String) throws {
        var shop = try Shop { $0.binding = .transferIfInactive }
        try shop.show(Sold.month(1))
        shop.now = SubscriptionCase.at(30)
        let second = try Sold.month(2, original: 1, from: 30)
        try shop.show(second)
        shop.now = SubscriptionCase.at(Double(day))
        if isRefunded { try shop.show(Sold.refunded(second, after: 5 * 86_400), by: nil) }
        try shop.show(Sold.month(3, original: 1, from: day), by: "bob")
        #expect(shop.situation.owner(of: try Shop.chain(1))?.customer.text == owner)
        #expect(try shop.gems(of: "bob") == (owner == "bob" ? 10 : 0))
    }

    /// Apple told of a renewal before anybody had shown anything; then she shows the period before it, which is over.
    @Test func whoeverShowsOnePeriodHasWhatApplesToldOfTheChain() throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(31)
        try shop.show(Sold.month(2, original: 1, from: 30), by: nil)
        #expect(try shop.word(2) == "waiting no_customer")
        try shop.show(Sold.month(1))
        #expect(try shop.word(1) == "withheld expired" && shop.word(2) == "granted")
        #expect(try shop.rights() == ["premium"] && shop.gems() == 10)
        // Showing it again gives nothing again.
        try shop.show(Sold.month(1))
        #expect(try shop.gems() == 10)
    }

    @Test(arguments: BindingRule.allCases)
    func somebodyElsesConsumableGivesNothingWhateverTheRule(rule: BindingRule) throws {
        var shop = try Shop { $0.binding = rule }
        try shop.show(Sold.coins(1))
        let decision = try shop.show(Sold.coins(1), by: "bob")
        #expect(decision.isEmpty)
        #expect(decision.outcomes.map(\.standing) == [.ownedByAnother])
        // Nor is anything told of what became of it.
        #expect(decision.outcomes.map(\.fulfilment) == [nil])
        #expect(try shop.gems(of: "bob") == 0)
    }

    /// Nor where a copy of it does not say that it is one.
    @Test(arguments: BindingRule.allCases)
    func somebodyElsesConsumableStaysHisWhereTheCopyDoesNotSayWhatItIs(rule: BindingRule) throws {
        var shop = try Shop { terms in
            terms.binding = rule
            terms.products = nil
        }
        try shop.show(Sold.coins(1))
        var copy = try Sold.coins(1)
        copy.kind = nil
        #expect(try shop.show(copy, by: "bob").isEmpty)
        #expect(shop.situation.owner(of: try Shop.chain(1))?.customer.text == "ann")
    }

    @Test func aProductMayHaveARuleOfItsOwn() throws {
        var shop = try Shop { terms in
            for id in terms.products?.keys.map(\.self) ?? [] { terms.products?[id]?.binding = .share }
        }
        try shop.show(Sold.lamp(1))
        try shop.show(Sold.lamp(1), by: "bob")
        #expect(try shop.rights(of: "bob") == ["light"])
    }

    /// Ann had one product, and has another one in the same chain. Each row: the rule of each, for each of what Bob shows.
    @Test(arguments: BindingRule.allCases, BindingRule.allCases)
    func anOldPeriodBringsNoMoreThanTheOneThatRuns(old: BindingRule, running: BindingRule) throws {
        for (shown, day) in [("old", 31.0), ("old", 60), ("running", 31)] {
            var shop = try Self.shopOfTwo(old: old, running: running)
            let first = try Self.basicMonth()
            try shop.show(first)
            shop.now = SubscriptionCase.at(30)
            let second = try Sold.month(2, original: 1, from: 30)
            try shop.show(second, by: nil)
            shop.now = SubscriptionCase.at(day)
            try shop.show(shown == "old" ? first : second, by: "bob")
            let rules = shown == "running" ? [running] : day == 60 ? [old] : [old, running]
            #expect(try Self.users(shop) == Self.users(by: rules, isOver: day == 60), "\(shown), day \(day)")
        }
    }

    /// Bob's proof tells of what runs before anybody else does. Each row: its rule, and who has it.
    @Test(arguments: [
        (BindingRule.refuse, ["ann"]), (.transferIfInactive, ["ann"]), (.share, ["ann", "bob"]), (.transfer, ["bob"]),
    ])
    func whatGoesOnByTheSameProofCounts(running: BindingRule, users: [String]) throws {
        var shop = try Self.shopOfTwo(old: .transfer, running: running)
        let first = try Self.basicMonth()
        try shop.show(first)
        shop.now = SubscriptionCase.at(31)
        try shop.show(first, Sold.month(2, original: 1, from: 30), by: "bob")
        #expect(try Self.users(shop) == users)
    }

    /// Each row: what became of what runs, and whether its rule counts no more. It gives amounts alone.
    @Test(arguments: [("granted", false), ("in grace", false), ("refunded", true), ("replaced", true)])
    func whatRunsNoMoreHasNoSay(state: String, isOver: Bool) throws {
        let gems = try Shop.currency("gems")
        var shop = try Self.shopOfTwo(old: .transfer, running: .refuse)
        let first = try Self.basicMonth()
        shop.terms.products?[try Shop.product("monthly")]?.goods = [.amount(10, gems)]
        try shop.show(first)
        shop.now = SubscriptionCase.at(30)
        let second = try Sold.month(2, original: 1, from: 30)
        try shop.show(second)
        shop.now = SubscriptionCase.at(40)
        switch state {
        case "refunded": try shop.show(Sold.refunded(second, after: 40 * 86_400), by: nil)
        case "replaced":
            var third = try Sold.month(3, original: 1, from: 40)
            third.product = first.product
            try shop.show(third, by: nil)
        case "in grace":
            shop.now = SubscriptionCase.at(61)
            let failing = try SubscriptionEventTests.renewal(on: 60, renews: 60) { word in
                (word.isInBillingRetry, word.expirationIntent) = (true, 2)
                word.graceEndsAt = SubscriptionCase.at(66)
            }
            try shop.show(renewals: [failing], by: nil)
        default: break
        }
        try shop.show(first, by: "bob")
        #expect(try Self.users(shop) == (isOver ? ["bob"] : ["ann"]))
    }

    /// Sells `basic`, too, which comes before `monthly`; with the rules of both.
    private static func shopOfTwo(old: BindingRule, running: BindingRule) throws -> Shop {
        let basic = ProductTerms(
            product: try Shop.product("basic"),
            kind: .autoRenewable,
            goods: [.entitlement(try Shop.right("basic"))],
            binding: old
        )
        let monthly = try Shop.product("monthly")
        return try Shop { terms in
            terms.products?[basic.product] = basic
            terms.products?[monthly]?.binding = running
        }
    }

    private static func basicMonth() throws -> Transaction {
        var sold = try Sold.month(1)
        sold.product = try Shop.product("basic")
        return sold
    }

    private static func users(_ shop: Shop) throws -> [String] {
        let owner = try #require(shop.situation.owner(of: try Shop.chain(1)))
        return ["ann", "bob"].filter { CustomerID($0).map(owner.mayUse) == true }
    }

    /// Who has it by the one of some rules that takes the least from Ann.
    private static func users(by rules: [BindingRule], isOver: Bool) -> [String] {
        if rules.contains(.refuse) { return ["ann"] }
        if rules.contains(.transferIfInactive) { return isOver ? ["bob"] : ["ann"] }
        return rules.contains(.share) ? ["ann", "bob"] : ["bob"]
    }

    /// Bob shows a copy in which no token stands; then Apple's word comes, whose it is. Each row: who brings it, and what was
    /// given before.
    @Test(arguments: BindingRule.allCases, ["ann", "Apple"])
    func whatNothingWasGivenForIsWhoseAppleSaysItIs(rule: BindingRule, bringer: String) throws {
        var shop = try Shop(needsOrder: true) { $0.binding = rule }
        var signed = Sold.again(try Sold.lamp(1), after: 60)
        signed.accountToken = Self.token
        try shop.show(Sold.lamp(1), by: "bob")
        try shop.show(Sold.lamp(2, original: 1), by: "bob")
        try shop.place("o-1", "sword", for: "ann", token: Self.token)
        try shop.show(signed, by: bringer == "ann" ? "ann" : nil)
        #expect(shop.situation.owner(of: try Shop.chain(1))?.customer.text == "ann")
        for number in Int64(1)...2 { #expect(try shop.fulfilment(number).customer?.text == "ann") }
        // Nor does he have it back by that copy.
        try shop.show(Sold.lamp(1), by: "bob")
        #expect(shop.situation.owner(of: try Shop.chain(1))?.customer.text == "ann")
        try shop.place("o-2", "lamp", for: "bob")
        #expect(try shop.order("o-2").state == .pending)
        try shop.place("o-3", "lamp", for: "ann")
        #expect(try shop.order("o-3").state == .paid)
        try Invariants.check(shop, "taken back")
    }

    /// What was given is not taken away, and what a person decided neither.
    @Test(arguments: ["given", "by hand"])
    func whoHasItKeepsItUntilAPersonSaysOtherwise(why: String) throws {
        var shop = try Shop(needsOrder: why == "by hand")
        var signed = Sold.again(try Sold.lamp(1), after: 60)
        signed.accountToken = Self.token
        try shop.show(Sold.lamp(1), by: why == "given" ? "bob" : "eve")
        if why == "by hand" { try shop.transfer(1, to: "bob") }
        try shop.place("o-1", "sword", for: "ann", token: Self.token)
        try shop.show(signed, by: "ann")
        #expect(shop.situation.owner(of: try Shop.chain(1))?.customer.text == "bob")
        #expect(try shop.fulfilment(1).customer?.text == "bob")
    }

    /// Bob shows what Apple signed for ann before anybody knows her token; her order comes late. Each row: what happened before
    /// it, and who has it in the end.
    @Test(arguments: [
        ("nothing", "ann"), ("given", "bob"), ("by hand", "bob"), ("his token", "bob"), ("his order", "bob"),
        ("another quantity", "ann"), ("his name", "bob"),
    ])
    func aLateOrderFindsWhatIsInOtherHands(before: String, owner: String) throws {
        var shop = try Shop(needsOrder: before != "given")
        var signed = try Sold.lamp(1)
        signed.accountToken = Self.token
        // What client libraries make of a name anybody can make of it.
        if before == "his name" { shop.ownTokens["bob"] = Self.token }
        if before == "his token" { try shop.place("o-0", "sword", for: "bob", token: Self.token) }
        if before == "his order" { try shop.place("o-0", "lamp", for: "bob") }
        try shop.show(signed, by: before == "by hand" ? "eve" : "bob")
        if before == "by hand" { try shop.transfer(1, to: "bob") }
        try shop.place(
            "o-1",
            "lamp",
            for: "ann",
            quantity: before == "another quantity" ? 2 : 1,
            token: Self.token
        )
        #expect(shop.situation.owner(of: try Shop.chain(1))?.customer.text == owner)
        #expect(try shop.fulfilment(1).customer?.text == owner)
        #expect(try shop.order("o-1").state == (before == "nothing" ? .paid : .pending))
        try Invariants.check(shop, "\(before)")
    }

    /// Bob had a copy first; by now it is known for whom Apple signed it, and she has not come yet.
    @Test func anOrderOfWhoHasACopyTakesNothingThatIsAnothers() throws {
        var shop = try Shop(needsOrder: true)
        var signed = try Sold.lamp(1)
        signed.accountToken = Self.token
        try shop.show(signed, by: "bob")
        try shop.place("o-1", "sword", for: "ann", token: Self.token)
        try shop.place("o-2", "lamp", for: "bob")
        #expect(try shop.order("o-2").state == .pending)
        try shop.show(signed, by: "ann")
        try shop.place("o-3", "lamp", for: "ann")
        #expect(try shop.order("o-3").state == .paid)
        try Invariants.check(shop, "an order of who has a copy")
    }

    @Test func bothHearOfATransferInStreamsWithoutGaps() throws {
        var shop = try Shop { $0.binding = .transfer }
        try shop.show(Sold.lamp(1))
        try shop.show(Sold.lamp(1), by: "bob")
        try shop.show(Sold.lamp(1), by: "ann")
        #expect(shop.types.filter { $0 == "customer.transferred" }.count == 4)
        for customer in ["ann", "bob"] {
            let theirs = shop.events.filter { $0.stream.customer?.text == customer }
            #expect(theirs.map(\.sequence) == (1...theirs.count).map(Int64.init))
        }
        #expect(try shop.rights() == ["light"])
    }

    /// Apple signed for whom it was bought: nobody who holds a copy of the proof takes it away.
    @Test(arguments: BindingRule.allCases)
    func aTokenThatContradictsIsNotOverruled(rule: BindingRule) throws {
        var shop = try Shop { $0.binding = rule }
        try shop.place("o-1", "lamp", token: Self.token)
        var sold = try Sold.lamp(1)
        sold.accountToken = Self.token
        let decision = try shop.show(sold, by: "bob")
        #expect(decision.outcomes.map(\.standing) == [.ownedByAnother])
        try shop.show(sold, by: "bob")
        #expect(try shop.rights() == ["light"])
        #expect(try shop.rights(of: "bob") == [])
        #expect(try shop.order("o-1").state == .paid)
    }

    @Test func aTokenOfTheCustomersNameSaysWhoseItIs() throws {
        var shop = try Shop()
        var sold = try Sold.lamp(1)
        sold.accountToken = Self.token
        try shop.show(sold, by: "ann", token: Self.token)
        #expect(try shop.rights() == ["light"])
    }

    /// What Apple tells of before anybody is known waits for the catalogue with whoever comes to have its chain.
    @Test(arguments: ["unknown_product", "kind_contradicts"])
    func whatTheCatalogueLacksComesToWhoeverHasItsChain(reason: String) throws {
        var shop = try Shop()
        var renewal = try Sold.month(2, original: 1, from: 20)
        if reason == "unknown_product" {
            renewal.product = try Shop.product("yearly")
        } else {
            renewal.kind = .nonRenewing
        }
        try shop.show(renewal, by: nil)
        #expect(try shop.word(2) == "waiting \(reason)")
        #expect(try shop.fulfilment(2).customer == nil)
        try shop.show(Sold.month(1))
        #expect(try shop.fulfilment(2).customer?.text == "ann")
        let told = shop.events.filter { $0.type == .purchaseWaiting }
        #expect(told.map(\.stream.customer?.text) == [nil, "ann"])
        // It is told once, and given as soon as the catalogue has it.
        #expect(try shop.show(Sold.month(1)).isEmpty)
        shop.terms.products?[renewal.product] = ProductTerms(
            product: renewal.product,
            kind: try #require(renewal.kind),
            goods: [.entitlement(try Shop.right("premium"))],
            period: .seconds(86_400)
        )
        try shop.show(renewal, by: nil)
        #expect(try shop.word(2) == "granted" && shop.fulfilment(2).customer?.text == "ann")
    }

    @Test func aPersonMayMoveItAndMoveItBack() throws {
        var shop = try Shop()
        try shop.show(Sold.lamp(1))
        try shop.transfer(1, to: "bob")
        #expect(try shop.rights(of: "bob") == ["light"])
        #expect(throws: RequestFault.sameOwner) { try shop.transfer(1, to: "bob") }
        #expect(throws: RequestFault.unknown) { try shop.transfer(7, to: "bob") }
        let chain = try shop.fulfilment(1).chain
        #expect(shop.situation.owner(of: chain)?.previous?.text == "ann")
        try shop.transfer(1, to: "ann")
        #expect(try shop.rights() == ["light"])
    }

    @Test func soManyShareAndNoMore() throws {
        var shop = try Shop { $0.binding = .share }
        try shop.show(Sold.lamp(1))
        for number in 1...20 { try shop.show(Sold.lamp(1), by: "friend-\(number)") }
        #expect(try shop.rights(of: "friend-16") == ["light"])
        #expect(try shop.rights(of: "friend-17") == [])
    }

    /// What was over when it was first heard of goes along, and nobody is told of it once more.
    @Test func whatWasNotGivenMovesWithItsChain() throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(40)
        try shop.show(Sold.month(1), Sold.month(2, original: 1, from: 30))
        #expect(try shop.word(1) == "withheld expired")
        let told = shop.types.count
        try shop.transfer(1, to: "bob")
        #expect(try shop.fulfilment(1).customer?.text == "bob")
        #expect(shop.types[told...].allSatisfy { $0 == "customer.transferred" })
        let keys = try [1, 2].map { try Shop.key($0, Shop.production) }
        let rebuilt = decide(shop.situation, rebuilding: keys, tokens: [:], terms: shop.terms, at: shop.now)
        #expect(rebuilt.fulfilments.isEmpty)
    }
}
