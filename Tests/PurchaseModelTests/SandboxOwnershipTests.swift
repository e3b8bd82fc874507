import PurchaseModel
import Testing

/// What was bought in the sandbox costs nothing: it comes to nobody to whom the app would not deliver it.
@Suite struct SandboxOwnershipTests {
    private static let xcode = Realm(environment: .xcode, isTestSigned: true)

    private static func customers(_ names: String...) throws -> SandboxRule {
        .customers(Set(try names.map { try #require(CustomerID($0)) }))
    }

    private static func users(of number: Int64, _ shop: Shop, _ realm: Realm = Shop.sandbox) throws -> [String] {
        let owner = try #require(shop.situation.owner(of: try shop.fulfilment(number, realm: realm).chain))
        return ["ann", "bob"].filter { CustomerID($0).map(owner.mayUse) == true }
    }

    /// It was given to Ann while everybody got it; then Bob shows the same. Each row: from where it is, who else gets it by then,
    /// and whether Bob has it by a rule that lets him.
    @Test(
        arguments: BindingRule.allCases,
        [
            (Shop.sandbox, "ann", false), (Shop.sandbox, "nobody", false), (Shop.sandbox, "bob", true),
            (xcode, "ann", false), (xcode, "nobody", false), (xcode, "bob", true), (Shop.production, "nobody", true),
        ]
    )
    func whatWasGivenForNothingComesToNobodyElse(
        rule: BindingRule,
        store: (realm: Realm, delivered: String, isLet: Bool)
    ) throws {
        var shop = try Shop { terms in
            terms.binding = rule
            terms.sandbox = .everybody(until: Facts.now.advanced(by: .seconds(1)))
        }
        try shop.show(Sold.lamp(1), realm: store.realm)
        shop.now = Facts.now.advanced(by: .seconds(1))
        if store.delivered != "nobody" { shop.terms.sandbox = try Self.customers("ann", store.delivered) }
        let decision = try shop.show(Sold.lamp(1), by: "bob", realm: store.realm)
        let users =
            switch rule {
            case .transfer where store.isLet: ["bob"]
            case .share where store.isLet: ["ann", "bob"]
            default: ["ann"]
            }
        #expect(try Self.users(of: 1, shop, store.realm) == users)
        let isAnothers = decision.outcomes.first?.standing == .ownedByAnother
        #expect(isAnothers == !users.contains("bob") && decision.isEmpty == isAnothers)
        for customer in ["ann", "bob"] {
            #expect(try shop.rights(of: customer) == (users.contains(customer) ? ["light"] : []), "\(customer)")
        }
    }

    /// It waits for an order, and is Ann's alone when that comes.
    @Test(arguments: BindingRule.allCases) func whatWaitsIsSharedByNobodyElse(rule: BindingRule) throws {
        var shop = try Shop(needsOrder: true) { $0.binding = rule }
        shop.terms.sandbox = try Self.customers("ann")
        try shop.show(Sold.lamp(1), realm: Shop.sandbox)
        try shop.show(Sold.lamp(1), by: "bob", realm: Shop.sandbox)
        try shop.place("o-1", "lamp")
        #expect(try shop.word(1, realm: Shop.sandbox) == "granted")
        #expect(try shop.rights() == ["light"])
        #expect(try shop.rights(of: "bob") == [])
    }

    /// Bob showed it first, and was given nothing: it is Ann's by the rule, to whom the sandbox delivers.
    @Test func whoeverGetsItTakesItFromWhoDoesNot() throws {
        var shop = try Shop { $0.binding = .transferIfInactive }
        shop.terms.sandbox = try Self.customers("ann")
        try shop.show(Sold.lamp(1), by: "bob", realm: Shop.sandbox)
        #expect(try shop.word(1, realm: Shop.sandbox) == "waiting sandbox")
        try shop.show(Sold.lamp(1), realm: Shop.sandbox)
        #expect(try shop.word(1, realm: Shop.sandbox) == "granted")
        #expect(try shop.rights() == ["light"])
    }

    @Test func aPersonMayMoveItToAnybody() throws {
        var shop = try Shop()
        shop.terms.sandbox = try Self.customers("ann")
        try shop.show(Sold.lamp(1), realm: Shop.sandbox)
        let decision = try decide(
            shop.situation,
            transferring: try shop.fulfilment(1, realm: Shop.sandbox).chain,
            to: try #require(CustomerID("bob")),
            ownToken: { _ in nil },
            at: shop.now
        )
        shop.apply(decision)
        #expect(try shop.rights(of: "bob") == ["light"])
    }

    /// A longer period runs when the newest one is over, and Apple signs the next one for Bob. Each row: to whom the sandbox
    /// delivers beside Ann, and whose the chain is.
    @Test(arguments: [("nobody", "ann"), ("bob", "bob")])
    func whatRunsIsNotHandedOverByAToken(delivered: String, owner: String) throws {
        var shop = try Shop()
        shop.terms.sandbox = try Self.customers("ann", delivered)
        let token = AccountToken(high: 1, low: 2)
        try shop.place("o-1", "monthly", for: "bob", token: token)
        var long = try Sold.month(1)
        long.expiresAt = SubscriptionCase.at(365)
        try shop.show(long, realm: Shop.sandbox)
        shop.now = SubscriptionCase.at(1)
        try shop.show(Sold.month(2, original: 1, from: 1), realm: Shop.sandbox)
        shop.now = SubscriptionCase.at(40)
        var next = try Sold.month(3, original: 1, from: 40)
        next.accountToken = token
        try shop.show(next, by: nil, realm: Shop.sandbox)
        #expect(try Self.users(of: 1, shop) == [owner])
    }

    /// Apple takes back what runs, signs for Bob what is bought next, and then gives back what it took. Each row: to whom the
    /// sandbox delivers beside Ann, and who has it.
    @Test(arguments: [("nobody", "ann"), ("bob", "bob")])
    func whatIsGivenBackIsNotHandedOverByAToken(delivered: String, owner: String) throws {
        var shop = try Shop()
        shop.terms.sandbox = try Self.customers("ann", delivered)
        let token = AccountToken(high: 1, low: 2)
        try shop.place("o-1", "monthly", for: "bob", token: token)
        let first = try Sold.month(1)
        try shop.show(first, realm: Shop.sandbox)
        try shop.show(Sold.refunded(first), by: nil, realm: Shop.sandbox)
        shop.now = SubscriptionCase.at(1)
        var next = try Sold.month(2, original: 1, from: 1)
        next.accountToken = token
        try shop.show(next, by: nil, realm: Shop.sandbox)
        try shop.show(Sold.again(first, after: 80_000), by: nil, realm: Shop.sandbox)
        #expect(try shop.word(1, realm: Shop.sandbox) == "granted")
        #expect(try Self.users(of: 1, shop) == [owner])
        for customer in ["ann", "bob"] {
            #expect(try shop.rights(of: customer) == (customer == owner ? ["premium"] : []), "\(customer)")
        }
    }

    /// A tester has bought in the sandbox, and then for money, before her order is placed. Each row: how the one and the other
    /// say that they are for it, by its name, by its token or by her own; and which of them pays it.
    @Test(
        arguments: [
            ("", "", Shop.production), ("own", "", Shop.production), ("", "own", Shop.production),
            ("own", "own", Shop.production), ("token", "", Shop.sandbox), ("name", "", Shop.sandbox),
            ("token", "token", Shop.production), ("name", "name", Shop.production), ("token", "name", Shop.production),
            ("name", "token", Shop.sandbox),
        ] as [(String, String, Realm)]
    )
    func whatCostNothingUsesUpNoOrder(free: String, paid: String, realm: Realm) throws {
        var shop = try Shop(needsOrder: true)
        shop.terms.sandbox = try Self.customers("ann")
        let (own, wanted) = (AccountToken(high: 1, low: 2), AccountToken(high: 3, low: 4))
        shop.ownTokens["ann"] = own
        for (number, how, store) in [(Int64(1), free, Shop.sandbox), (2, paid, Shop.production)] {
            let token: AccountToken? = how == "own" ? own : how == "token" ? wanted : nil
            try shop.show(Sold.coins(number, token: token), order: how == "name" ? "o-1" : nil, realm: store)
        }
        try shop.place("o-1", token: [free, paid].contains("token") ? wanted : nil)
        #expect(try shop.order("o-1").payment?.realm == realm)
        #expect(try shop.gems(realm: realm) == 100)
        // The other one is there for the next.
        try shop.place("o-2", token: [free, paid] == ["token", "token"] ? wanted : nil)
        let other = realm == Shop.production ? Shop.sandbox : Shop.production
        #expect(try shop.order("o-2").payment?.realm == other)
    }

    /// Apple goes on with it under another number. Each row: to whom the sandbox delivers by then beside Ann, and who has it.
    @Test(arguments: [("nobody", ["ann"]), ("bob", ["ann", "bob"])])
    func whatGoesOnIsSharedByWhomItIsDeliveredTo(delivered: String, users: [String]) throws {
        var shop = try Shop { $0.binding = .share }
        shop.terms.sandbox = try Self.customers("ann", "bob")
        try shop.show(Sold.month(1), realm: Shop.sandbox)
        try shop.show(Sold.month(1), by: "bob", realm: Shop.sandbox)
        #expect(try Self.users(of: 1, shop) == ["ann", "bob"])
        shop.terms.sandbox = try Self.customers("ann", delivered)
        var moved = try Sold.month(90, from: 30)
        moved.previousOriginalID = TransactionID(number: 1)
        try shop.show(moved, by: nil, realm: Shop.sandbox)
        #expect(try Self.users(of: 90, shop) == users)
    }
}
