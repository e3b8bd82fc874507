import PurchaseModel
import Testing

/// What is decided again comes to its end in one decision.
@Suite struct RebuildingTests {
    /// In whatever order the transactions are looked at: what is given lets all of its chain go on without an order.
    @Test(arguments: [[Int64(2), 3, 4], [4, 3, 2], [3, 2, 4]])
    func whatIsGivenLetsTheOthersOfItsChainGoOn(keys: [Int64]) throws {
        let lamp = try Shop.product("lamp")
        var shop = try Shop(needsOrder: true) { $0.products?[lamp] = nil }
        try shop.show(Sold.month(2, original: 1))
        // It names an order that does not fit.
        try shop.show(Sold.month(4, original: 1, from: 30), order: "o-1")
        try shop.show(Sold.lamp(3, original: 1))
        try shop.place("o-1", "lamp")
        #expect(
            try [2, 3, 4].map { try shop.word($0) } == [
                "waiting no_order", "waiting unknown_product", "waiting order_contradicts",
            ]
        )
        shop.terms = try Shop(needsOrder: true).terms
        #expect(
            try shop.rebuild(keys).map(\.type) == [.orderPaid, .deliveryGranted, .deliveryGranted, .deliveryGranted]
        )
        #expect(try [2, 3, 4].map { try shop.word($0) } == ["granted", "granted", "granted"])
        #expect(try shop.rebuild(keys) == [])
    }

    /// Ann's two months wait for an order, and come to Bob, who has one. Each row: how, on which day, and whether his order is
    /// placed after that: the order looks for what waits by then.
    @Test(arguments: [
        ("transfer", Int64(40), false), ("over", 61, false), ("by hand", 40, false), ("by hand", 40, true),
    ])
    func whatWaitsInAChainThatMovesPaysNoOrderByThat(how: String, day: Int64, isLate: Bool) throws {
        var shop = try Shop(needsOrder: true) { $0.binding = how == "transfer" ? .transfer : .transferIfInactive }
        let first = try Sold.month(1)
        try shop.show(first)
        shop.now = SubscriptionCase.at(31)
        try shop.show(Sold.month(2, original: 1, from: 30), by: nil)
        if !isLate { try shop.place("o-1", "monthly", for: "bob") }
        shop.now = SubscriptionCase.at(Double(day))
        if how == "by hand" { try shop.transfer(1, to: "bob") } else { try shop.show(first, by: "bob") }
        if isLate {
            shop.now = SubscriptionCase.at(Double(day) + 1)
            try shop.place("o-1", "monthly", for: "bob")
        }
        #expect(try shop.fulfilment(2).customer?.text == "bob")
        #expect(try shop.word(2) == (isLate ? "granted" : "waiting no_order"))
        #expect(try shop.rebuild([1, 2]) == [])
        #expect(try shop.word(2) == (isLate ? "granted" : "waiting no_order"))
        #expect(try shop.order("o-1").state == (isLate ? .paid : .pending))
        // A person may say that it is for it.
        if !isLate { try shop.attach(2, to: "o-1") }
        #expect(try shop.order("o-1").state == .paid)
        try Invariants.check(shop, "\(how)")
    }

    /// Bob's copy waits, and Ann is known by the token since. Each row: what it waits for.
    @Test(arguments: ["order", "catalogue"]) func whatIsSignedForAnotherIsHisToShow(what: String) throws {
        let token = AccountToken(high: 1, low: 2)
        var shop = try Shop(needsOrder: what == "order")
        let (terms, coins) = (shop.terms, try Sold.coins(1, token: token))
        if what == "catalogue" { shop.terms.products?[coins.product] = nil }
        try shop.show(coins, by: "bob")
        let word = try shop.word(1)
        try shop.place("o-1", "lamp", for: "ann", token: token)
        if what == "order" { try shop.place("o-2", for: "bob") }
        shop.terms = terms
        #expect(try shop.rebuild([1]) == [])
        #expect(try shop.word(1) == word)
        // By her copy it is hers.
        if what == "order" { try shop.place("o-3", for: "ann") }
        try shop.show(coins)
        #expect(try shop.word(1) == "granted" && shop.fulfilment(1).customer?.text == "ann")
        try Invariants.check(shop, "\(what)")
    }

    /// Nor does it where it waited for the catalogue when it moved, however often the ledger is rebuilt.
    @Test func whatMovesWhileItIsNotSoldPaysNoOrderLater() throws {
        var shop = try Shop(needsOrder: true)
        let (terms, month) = (shop.terms, try Sold.month(1))
        shop.terms.products?[month.product] = nil
        try shop.show(month)
        try shop.place("o-1", "monthly", for: "bob")
        shop.now = SubscriptionCase.at(2)
        try shop.transfer(1, to: "bob")
        #expect(try shop.word(1) == "waiting unknown_product")
        shop.terms = terms
        for day in 3...5 {
            shop.now = SubscriptionCase.at(Double(day))
            _ = try shop.rebuild([1])
            #expect(try shop.word(1) == "waiting no_order")
            #expect(try shop.order("o-1").state == .pending)
        }
        try shop.place("o-2", "monthly", for: "bob")
        #expect(try shop.order("o-2").payment?.transaction == month.id)
        try Invariants.check(shop, "")
    }

    /// It came to whom Apple signed it for, with her order, while it was not sold: that is paid once it is.
    @Test(arguments: [true, false]) func whatComesWithItsOrderPaysItOnceItIsSold(isPlacedFirst: Bool) throws {
        var shop = try Shop(needsOrder: true)
        let (terms, token) = (shop.terms, AccountToken(high: 3, low: 4))
        let coins = try Sold.coins(1, token: token)
        shop.terms.products?[coins.product] = nil
        try shop.show(coins)
        try shop.place("o-1", for: "bob", token: token)
        if isPlacedFirst { try shop.show(coins, by: "bob") }
        #expect(try shop.fulfilment(1).customer?.text == "bob")
        shop.terms = terms
        shop.now = SubscriptionCase.at(1)
        _ = try shop.rebuild([1])
        #expect(try shop.order("o-1").payment?.transaction == coins.id)
        try Invariants.check(shop, "\(isPlacedFirst)")
    }

    /// It goes on without one, where another one of its chain pays an order by hand.
    @Test func whatCameByAMoveGoesOnWithoutAnOrder() throws {
        var shop = try Shop(needsOrder: true)
        var (first, second) = (try Sold.month(1), try Sold.month(2, original: 1, from: 40))
        (first.reason, second.reason) = (.purchase, .purchase)
        try shop.show(first)
        shop.now = SubscriptionCase.at(41)
        try shop.show(second)
        try shop.place("o-1", "monthly", for: "bob")
        try shop.place("o-2", "monthly", for: "bob")
        shop.now = SubscriptionCase.at(42)
        try shop.transfer(1, to: "bob")
        shop.now = SubscriptionCase.at(43)
        try shop.attach(2, to: "o-2")
        #expect(try [1, 2].map { try shop.word($0) } == ["granted", "granted"])
        #expect(try shop.order("o-1").state == .pending && shop.order("o-2").state == .paid)
        try Invariants.check(shop, "attached")
    }
}

extension Shop {
    /// Decides about some transactions again, and tells what it tells.
    mutating func rebuild(_ numbers: [Int64]) throws -> [LedgerEvent] {
        let keys = try numbers.map { try Shop.key($0, Shop.production) }
        return apply(decide(situation, rebuilding: keys, tokens: [:], terms: terms, at: now)).events
    }
}
