import PurchaseModel
import Testing

/// Which periods of a subscription pay the orders of its customer, in whatever order they are told of.
@Suite struct RenewalOrderTests {
    /// Ann places an order and subscribes; by the time she shows her receipt the subscription has been renewed. Each row: whether
    /// the app needs orders, and how the receipt lists the two periods.
    @Test(arguments: [false, true], [[1, 2], [2, 1]])
    func theOrderIsPaidByWhatItWasPlacedFor(needsOrder: Bool, listed: [Int]) throws {
        // Or Apple has told of both, and of the refund of a part of the renewal.
        for percentage in [nil, 10_000] as [Int?] {
            var shop = try Shop(needsOrder: needsOrder)
            try shop.place("o-1", "monthly")
            var first = try Sold.month(1)
            first.reason = .purchase
            try shop.show(first, by: nil)
            shop.now = SubscriptionCase.at(40)
            var second = try Sold.month(2, original: 1, from: 30)
            if let percentage {
                second = Sold.refunded(second, after: 31 * 86_400, percentage: percentage)
                try shop.show(second, by: nil)
            }
            let periods = [first, second]
            try shop.show(listed.map { periods[$0 - 1] })
            let comment: Comment = "\(needsOrder) \(listed) \(String(describing: percentage))"
            #expect(try shop.order("o-1").payment?.transaction == first.id, comment)
            #expect(try shop.word(1) == "granted", comment)
            #expect(try shop.word(2) == (percentage == nil ? "granted" : "partly_reversed"), comment)
            #expect(try shop.gems() == (percentage == nil ? 20 : 19), comment)
            try Invariants.check(shop, comment)
        }
    }

    /// A restore has the period of what was taken back in part: nothing is given for it, not even for a moment.
    @Test(arguments: [false, true]) func aRestoreOfWhatWasTakenBackInPartGivesNothing(isFirst: Bool) throws {
        var shop = try Shop()
        let refunded = try Sold.refunded(Sold.month(1), percentage: 40_000)
        let restore = try Sold.month(8, original: 1)
        try shop.show(isFirst ? [restore, refunded] : [refunded, restore])
        #expect(try shop.word(1) == "partly_reversed")
        #expect(try shop.word(8) == "withheld already_granted")
        #expect(shop.types.filter { $0 == "delivery.granted" }.count == 1)
        try Invariants.check(shop, "\(isFirst)")
    }
}
