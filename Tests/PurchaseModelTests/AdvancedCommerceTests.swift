import PurchaseModel
import Testing

/// What Apple takes back of a purchase through Advanced Commerce: single items, of which the transaction itself says nothing.
@Suite struct AdvancedCommerceTests {
    private static func bought(isTakenBack: Bool = false, isRefunded: Bool = false) throws -> Transaction {
        var sold = try Sold.coins()
        sold.ownership = .purchased
        let refund = AdvancedCommerce.Refund(type: "FULL", milliunits: 990, at: Facts.now)
        let item = AdvancedCommerce.Item(
            sku: "coins.big",
            milliunits: 990,
            revokedAt: isTakenBack ? Facts.now : nil,
            refunds: isTakenBack ? [refund] : []
        )
        sold.advancedCommerce = AdvancedCommerce(items: [item])
        if isTakenBack { sold.signedAt = sold.signedAt.advanced(by: .seconds(60)) }
        return isRefunded ? Sold.refunded(sold) : sold
    }

    private static func heard(_ type: String, _ sold: Transaction) throws -> Announcement {
        let id = try #require(NotificationID("n-1"))
        return Announcement(id: id, type: type, signedAt: sold.signedAt, transaction: sold.id)
    }

    @Test(arguments: ["REFUND", "REVOKE"]) func whatOnlyAnItemLostIsTold(type: String) throws {
        var shop = try Shop()
        try shop.show(Self.bought())
        let after = try Self.bought(isTakenBack: true)
        try shop.hear(Self.heard(type, after), after)
        #expect(shop.types.last == "notification.received")
        #expect(try shop.word(1) == "granted" && shop.gems() == 100)
        // What stands in the ledger says of which.
        let items = shop.recorded.first?.transaction.advancedCommerce?.items
        #expect(items?.map(\.revokedAt) == [Facts.now] && items?.first?.refunds.map(\.type) == ["FULL"])
        try Invariants.check(shop, "an item")
    }

    /// The shop has undone the item on our word: it hears that it was paid after all.
    @Test func thatAnItemIsGoodAgainIsTold() throws {
        var shop = try Shop()
        try shop.show(Self.bought())
        var after = try Self.bought(isTakenBack: true)
        try shop.hear(Self.heard("REFUND", after), after)
        let told = shop.types.count
        after = try Self.bought()
        after.signedAt = after.signedAt.advanced(by: .seconds(86_400))
        try shop.hear(Self.heard("REFUND_REVERSED", after), after)
        #expect(shop.types.dropFirst(told) == ["notification.received"])
        #expect(try shop.word(1) == "granted" && shop.gems() == 100)
    }

    /// Of what has no items nothing is told beside its delivery, also where that was heard first.
    @Test func thatAPurchaseIsGoodAgainIsToldByItsDelivery() throws {
        var shop = try Shop()
        var sold = try Sold.coins()
        sold.ownership = .purchased
        try shop.show(sold)
        try shop.show(Sold.refunded(sold), by: nil)
        sold.signedAt = sold.signedAt.advanced(by: .seconds(864_000))
        try shop.show(sold)
        try shop.hear(Self.heard("REFUND_REVERSED", sold), sold)
        #expect(try shop.word(1) == "granted")
        #expect(!shop.types.contains("notification.received"))
    }

    /// What the whole of it says is told by its delivery.
    @Test func thatAllOfItIsGoodAgainIsToldOnce() throws {
        var shop = try Shop()
        try shop.show(Self.bought())
        let gone = try Self.bought(isTakenBack: true, isRefunded: true)
        try shop.hear(Self.heard("REFUND", gone), gone)
        var after = try Self.bought()
        after.signedAt = gone.signedAt.advanced(by: .seconds(86_400))
        try shop.hear(Self.heard("REFUND_REVERSED", after), after)
        #expect(try shop.word(1) == "granted" && shop.gems() == 100)
        #expect(!shop.types.contains("notification.received"))
    }

    @Test func whatTheTransactionTellsIsToldOnce() throws {
        var shop = try Shop()
        try shop.show(Self.bought())
        let after = try Self.bought(isTakenBack: true, isRefunded: true)
        for _ in 0..<2 { try shop.hear(Self.heard("REFUND", after), after) }
        #expect(try shop.word(1) == "reversed")
        #expect(!shop.types.contains("notification.received"))
    }

    /// A receipt never tells the refund of a consumable: there Apple is asked.
    @Test func ofAReceiptNothingIsToldTwice() throws {
        var shop = try Shop()
        var sold = try Sold.coins()
        sold.ownership = nil
        try shop.show(sold)
        try shop.hear(Self.heard("REFUND", sold), sold)
        #expect(!shop.types.contains("notification.received"))
    }
}
