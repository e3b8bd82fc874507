import Pipeline
import PurchaseModel
import Storage
import Testing

/// Orders that are placed for what was bought before.
@Suite struct PlacingTests {
    @Test func whoGaveAPurchaseAwayCanStillOrderTheSame() async throws {
        let shop = try CheckedShop(MemoryStore()) { $0.needsOrder = true }
        try await shop.show(CheckedShop.sold(1), by: "bob")
        try await shop.show(CheckedShop.sold(2))
        // It waits for an order, and is bob's now, who has had events of his own.
        try await shop.transfer(2, to: "bob")
        try await shop.place("o1")
        let key = OrderKey(app: shop.app.id, id: try #require(OrderID("o1")))
        let orders = try await shop.store.read { reader throws(StoreFailure) in try reader.orders([key]) }
        #expect(orders.map(\.state) == [.pending])
        #expect(try await shop.findings().listed == [])
    }

    /// What waits for another quantity does not hide what she pays.
    @Test func whoOrdersOftenPaysTheOneThatFits() async throws {
        let shop = try CheckedShop(MemoryStore()) { $0.needsOrder = true }
        for number in 0..<120 { try await shop.place("many\(number)", quantity: 2) }
        try await shop.place("one")
        try await shop.show(CheckedShop.sold(1))
        let key = OrderKey(app: shop.app.id, id: try #require(OrderID("one")))
        let orders = try await shop.store.read { reader throws(StoreFailure) in try reader.orders([key]) }
        #expect(orders.map(\.payment?.transaction.number) == [1])
    }

    /// Each tap on "buy" places an order, and most end there.
    @Test func whoGaveUpOftenPaysWhatSheWaitsFor() async throws {
        var shop = try CheckedShop(MemoryStore()) { $0.needsOrder = true }
        for number in 0..<(Order.openMax + 10) { try await shop.place("tapped\(number)") }
        shop.now = shop.now.advanced(by: .seconds(86_400))
        try await shop.expire()
        try await shop.place("wanted")
        try await shop.show(CheckedShop.sold(1))
        let key = OrderKey(app: shop.app.id, id: try #require(OrderID("wanted")))
        let orders = try await shop.store.read { reader throws(StoreFailure) in try reader.orders([key]) }
        #expect(orders.map(\.payment?.transaction.number) == [1])
    }
}
