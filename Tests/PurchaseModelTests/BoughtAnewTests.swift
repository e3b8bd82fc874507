import PurchaseModel
import Testing

/// What is bought after Apple took a later period back: the one before is over, or may run still.
@Suite struct BoughtAnewTests {
    private static let ann = SignedTokenTests.token
    private static let bob = AccountToken(high: 0, low: 77)

    private static func month(_ number: Int64, from day: Int64, _ token: AccountToken) throws -> Transaction {
        var period = try Sold.month(number, original: 1, from: day)
        period.accountToken = token
        return period
    }

    /// Ann's second month was refunded, and then somebody bought for bob's order. Each row: by how many numbers her months are
    /// known; when the second was charged, when refunded; when bob's begins; whose it is. Her first month runs until day 30.
    @Test(
        arguments: BindingRule.allCases,
        [
            (numbers: 1, charged: Int64(30), refunded: Int64(33), day: Int64(35), owner: "bob"),
            (2, 30, 33, 35, "bob"), (1, 30, 33, 33, "ann"), (1, 29, 30, 35, "bob"),
            (2, 10, 12, 35, "bob"), (1, 10, 12, 20, "ann"),
        ]
    )
    func whatIsBoughtAfterARefundIsTheBuyers(
        rule: BindingRule,
        row: (numbers: Int, charged: Int64, refunded: Int64, day: Int64, owner: String)
    ) throws {
        if row.owner == "ann", rule == .transfer || rule == .transferIfInactive || rule == .share { return }
        for isToldFirst in [false, true] {
            var shop = try Shop(needsOrder: true) { $0.binding = rule }
            try shop.place("o-1", "monthly", token: Self.ann)
            try shop.show(Self.month(1, from: 0, Self.ann))
            if row.numbers == 2 { try shop.show(Self.month(8, from: 0, Self.ann)) }
            let second = try Self.month(2, from: row.charged, Self.ann)
            shop.now = SubscriptionCase.at(Double(row.charged))
            try shop.show(second)
            if row.numbers == 2 { try shop.show(Self.month(9, from: row.charged, Self.ann)) }
            let refund = SubscriptionCase.at(Double(row.refunded))
            shop.now = refund
            var refunded = second
            (refunded.signedAt, refunded.revocation) = (refund, Revocation(at: refund, reason: 0))
            try shop.show(refunded, by: nil)
            #expect(try shop.subscription().state == .revoked)
            shop.now = SubscriptionCase.at(Double(row.day))
            try shop.place("o-2", "monthly", for: "bob", token: Self.bob)
            let bobs = try Self.month(10, from: row.day, Self.bob)
            if isToldFirst { try shop.show(bobs, by: nil) }
            try shop.show(bobs, by: "bob", order: "o-2")
            #expect(try SignedTokenTests.owner(in: shop) == row.owner)
            #expect(try shop.fulfilment(10).customer?.text == row.owner)
            #expect(try shop.order("o-2").state == (row.owner == "bob" ? .paid : .pending))
            try Invariants.check(shop, "\(rule) \(row)")
        }
    }
}
