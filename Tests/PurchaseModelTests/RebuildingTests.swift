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
}

extension Shop {
    /// Decides about some transactions again, and tells what it tells.
    mutating func rebuild(_ numbers: [Int64]) throws -> [LedgerEvent] {
        let keys = try numbers.map { try Shop.key($0, Shop.production) }
        return apply(decide(situation, rebuilding: keys, tokens: [:], terms: terms, at: now)).events
    }
}
