import PurchaseModel
import Testing

/// What was paid for is its owner's also while nothing is given for it: whoever shows a copy takes nothing of what runs.
@Suite struct WaitingChainTests {
    /// Ann's period waits for an order, and Apple takes a part of it back: it runs no more, as if it had been given. Each row:
    /// whether it had been.
    @Test(arguments: [false, true]) func whatWasTakenBackInPartRunsNoMore(isGiven: Bool) throws {
        var shop = try Shop(needsOrder: true) { $0.binding = .transferIfInactive }
        if isGiven { try shop.place("o-1", "monthly") }
        try shop.show(Sold.month(1))
        try shop.show(Sold.refunded(Sold.month(1), percentage: 33_333))
        shop.now = SubscriptionCase.at(10)
        try shop.place("o-2", "monthly", for: "bob")
        var anew = try Sold.month(2, original: 1, from: 10)
        anew.signedAt = anew.purchasedAt
        try shop.show(anew, by: "bob", order: "o-2")
        #expect(try shop.fulfilment(2).customer?.text == "bob" && shop.word(2) == "granted")
        #expect(try shop.rights(of: "bob") == ["premium"] && shop.rights() == [])
        try Invariants.check(shop, "\(isGiven)")
    }

    /// Ann's first month waits for an order, and is over; what Apple told of next runs, and waits as well. Each row: the rule of
    /// each, what Bob shows and on which day, and whether it comes to be his.
    @Test(
        arguments: [
            (.transferIfInactive, .refuse, ["old"], 31, false),
            (.transferIfInactive, .refuse, ["old", "running"], 31, false),
            (.transfer, .refuse, ["running", "old"], 31, false),
            (.transferIfInactive, .transferIfInactive, ["old"], 31, false),
            (.transfer, .transferIfInactive, ["old"], 31, false),
            (.transfer, .transferIfInactive, ["running"], 31, false),
            (.transfer, .transfer, ["old"], 31, true),
            // Nothing runs any more.
            (.transferIfInactive, .refuse, ["old"], 60, true),
            (.transfer, .transferIfInactive, ["running"], 60, true),
            // A chain has one owner: what is refused of it comes with nothing else of it.
            (.transfer, .refuse, ["running", "old"], 60, false),
            (.transfer, .refuse, ["old", "running"], 60, false),
        ] as [(BindingRule, BindingRule, [String], Double, Bool)]
    )
    func whatRunsIsTakenFromNobodyWhileItWaits(
        old: BindingRule,
        running: BindingRule,
        shown: [String],
        day: Double,
        isMoved: Bool
    ) throws {
        for isKnown in [true, false] {
            // What Bob alone tells of follows what waits, if it is in his proof.
            if !isKnown, !shown.contains("running") { continue }
            var shop = try Self.shop(old: old, running: running)
            let (first, second) = (try Self.basicMonth(), try Sold.month(2, original: 1, from: 30))
            try shop.show(first)
            shop.now = SubscriptionCase.at(30)
            if isKnown { try shop.show(second, by: nil) }
            #expect(try shop.word(1) == "waiting no_order")
            shop.now = SubscriptionCase.at(day)
            let decision = try shop.show(shown.map { $0 == "old" ? first : second }, by: "bob")
            #expect(try Self.owner(shop) == (isMoved ? "bob" : "ann"), "known: \(isKnown)")
            // Every answer says the same as the list.
            let answers = Set(decision.outcomes.map { $0.standing == .ownedByAnother })
            #expect(answers == [!isMoved])
            try Invariants.check(shop, "\(shown) \(isKnown)")
        }
    }

    /// Each row: why it waits or what became of it, and whose it is once Bob shows it, if it goes to nobody while it runs.
    @Test(arguments: [
        ("no order", "ann"), ("not in the catalogue", "ann"), ("in grace", "ann"), ("for ever", "ann"), ("over", "bob"),
        ("refunded", "bob"), ("replaced", "ann"), ("sandbox", "bob"),
    ])
    func whatWaitsIsInForceWhileItRuns(state: String, owner: String) throws {
        var shop = try Self.shop(old: .transferIfInactive, running: .transferIfInactive)
        var bought = state == "for ever" ? try Sold.lamp(1) : try Sold.month(1)
        let realm = state == "sandbox" ? Shop.sandbox : Shop.production
        if state == "not in the catalogue" { bought.product = try Shop.product("yearly") }
        if state == "sandbox" { shop.terms.sandbox = .customers(Set([try #require(CustomerID("bob"))])) }
        try shop.show(bought, realm: realm)
        shop.now = SubscriptionCase.at(10)
        switch state {
        case "in grace":
            shop.now = SubscriptionCase.at(31)
            let failing = try SubscriptionEventTests.renewal(on: 30, renews: 30) { word in
                (word.isInBillingRetry, word.expirationIntent) = (true, 2)
                word.graceEndsAt = SubscriptionCase.at(36)
            }
            try shop.show(renewals: [failing], by: nil)
        case "over": shop.now = SubscriptionCase.at(31)
        case "refunded": try shop.show(Sold.refunded(bought, after: 5 * 86_400), by: nil)
        case "replaced":
            var plan = try Sold.month(2, original: 1, from: 10)
            plan.product = try Shop.product("basic")
            try shop.show(plan, by: nil)
        default: break
        }
        try shop.show(bought, by: "bob", realm: realm)
        #expect(try shop.fulfilment(1, realm: realm).customer?.text == owner)
        try Invariants.check(shop, "\(state)")
    }

    /// A month that waits has given way to another plan, whose rule alone counts by then. Each row: that rule, and whose it is.
    @Test(arguments: [(BindingRule.transfer, "bob"), (.refuse, "ann")])
    func whatGaveWayHasNoSay(rule: BindingRule, owner: String) throws {
        var shop = try Self.shop(old: rule, running: .refuse)
        try shop.show(Sold.month(1))
        var plan = try Sold.month(2, original: 1, from: 10)
        plan.product = try Shop.product("basic")
        shop.now = SubscriptionCase.at(10)
        try shop.show(plan, by: nil)
        shop.now = SubscriptionCase.at(11)
        try shop.show(plan, by: "bob")
        #expect(try Self.owner(shop) == owner)
    }

    private static func owner(_ shop: Shop) throws -> String? {
        shop.situation.owner(of: try Shop.chain(1))?.customer.text
    }

    /// Delivers against orders, and sells `basic`, too, which comes before `monthly`; with the rules of both.
    private static func shop(old: BindingRule, running: BindingRule) throws -> Shop {
        let basic = ProductTerms(
            product: try Shop.product("basic"),
            kind: .autoRenewable,
            goods: [.entitlement(try Shop.right("basic"))],
            binding: old
        )
        let monthly = try Shop.product("monthly")
        return try Shop(needsOrder: true) { terms in
            terms.binding = .transferIfInactive
            terms.products?[basic.product] = basic
            terms.products?[monthly]?.binding = running
        }
    }

    private static func basicMonth() throws -> Transaction {
        var sold = try Sold.month(1)
        sold.product = try Shop.product("basic")
        return sold
    }
}
