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

    /// Apple told of both periods while they were nobody's, or only of the first; Ann shows no more than the second.
    @Test(arguments: [false, true], [nil, .renewal] as [TransactionReason?])
    func theOrderIsPaidByWhatWasBoughtThoughOnlyItsRenewalIsShown(needsOrder: Bool, reason: TransactionReason?) throws {
        for isRenewalTold in [false, true] {
            var shop = try Shop(needsOrder: needsOrder)
            try shop.place("o-1", "monthly")
            try shop.show(Sold.month(1), by: nil)
            shop.now = SubscriptionCase.at(31)
            var renewal = try Sold.month(2, original: 1, from: 30)
            renewal.reason = reason
            if isRenewalTold { try shop.show(renewal, by: nil) }
            try shop.show(renewal)
            let comment: Comment = "\(needsOrder) \(String(describing: reason)) \(isRenewalTold)"
            #expect(try shop.order("o-1").payment?.transaction.number == 1, comment)
            #expect(try shop.word(1) == "granted", comment)
            #expect(try shop.word(2) == "granted", comment)
            #expect(try shop.gems() == 20, comment)
            try Invariants.check(shop, comment)
        }
    }

    /// What is presented as bought anew pays its own order, also where an older period of its chain was nobody's.
    @Test func whatWasBoughtAnewPaysItsOrder() throws {
        var shop = try Shop()
        let token = AccountToken(high: 3, low: 5)
        try shop.show(Sold.month(1), by: nil)
        shop.now = SubscriptionCase.at(29)
        try shop.place("o-1", "monthly", token: token)
        shop.now = SubscriptionCase.at(30.1)
        var anew = try Sold.month(2, original: 1, from: 30)
        (anew.reason, anew.accountToken) = (.purchase, token)
        try shop.show(anew)
        #expect(try shop.order("o-1").payment?.transaction.number == 2)
        try Invariants.check(shop, "anew")
    }

    /// Who names the order with the renewal has it paid by that.
    @Test func theOrderThatIsNamedWithARenewalIsPaidByIt() throws {
        var shop = try Shop()
        try shop.place("o-1", "monthly")
        try shop.show(Sold.month(1), by: nil)
        shop.now = SubscriptionCase.at(31)
        try shop.show(Sold.month(2, original: 1, from: 30), order: "o-1")
        #expect(try shop.order("o-1").payment?.transaction.number == 2)
        #expect(try shop.word(1) == "granted")
        try Invariants.check(shop, "")
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

    /// What became of five periods of a chain, the last of which runs.
    enum Past: CaseIterable {
        case renewed, signedAsRenewed, takenBack
        /// The third was bought anew.
        case gap, purchase, takenBackBefore, familyCopyBefore

        /// Which of them were bought.
        var bought: [Int64] {
            switch self {
            case .renewed, .signedAsRenewed, .takenBack: [1]
            case .gap, .purchase, .takenBackBefore, .familyCopyBefore: [1, 3]
            }
        }

        func periods() throws -> [Transaction] {
            var periods = try (0..<5).map { try Sold.month($0 + 1, original: 1, from: $0 * 30) }
            switch self {
            case .renewed: break
            case .signedAsRenewed: for place in 1...4 { periods[place].reason = .renewal }
            case .takenBack: periods[1] = Sold.refunded(periods[1], after: 40 * 86_400)
            case .gap: for place in 2...4 { periods[place].move(by: 120) }
            case .purchase: periods[2].reason = .purchase
            case .takenBackBefore:
                periods[1] = Sold.refunded(periods[1], after: 40 * 86_400)
                for place in 2...4 { periods[place].move(by: -10 * 86_400) }
            case .familyCopyBefore: periods[1].ownership = .familyShared
            }
            return periods
        }
    }

    /// How they are told of.
    enum Way: CaseIterable {
        case inOneReceipt, inOneReceiptTheLastFirst, oneByOne

        func tell(_ periods: [Transaction], to shop: inout Shop) throws {
            switch self {
            case .inOneReceipt: try shop.show(periods)
            case .inOneReceiptTheLastFirst: try shop.show(Array(periods.reversed()))
            case .oneByOne: for period in periods { try shop.show(period) }
            }
        }
    }

    /// Ann has three orders open for what she bought once, or twice: what was bought pays one each, and no renewal pays another,
    /// though what it follows was over when it was heard of.
    @Test(arguments: Past.allCases, Way.allCases)
    func aRenewalOfWhatWasWithheldPaysNoOrder(past: Past, way: Way) throws {
        for needsOrder in [false, true] {
            var shop = try Shop(needsOrder: needsOrder)
            let orders = ["o-1", "o-2", "o-3"]
            for order in orders { try shop.place(order, "monthly") }
            shop.now = SubscriptionCase.at(130)
            try way.tell(past.periods(), to: &shop)
            let comment: Comment = "\(past) \(way) \(needsOrder)"
            #expect(try Self.payments(of: orders, in: shop) == past.bought, comment)
            #expect(try shop.word(4) == "withheld expired", comment)
            #expect(try shop.word(5) == "granted", comment)
            // The one that runs as well.
            #expect(try shop.gems() == 10 * Int64(past.bought.count + 1), comment)
            let rebuilt = try shop.rebuild([1, 2, 3, 4, 5])
            #expect(rebuilt == [], comment)
            #expect(try Self.payments(of: orders, in: shop) == past.bought, comment)
            try Invariants.check(shop, comment)
        }
    }

    /// Of a chain of which something was given an older period is heard of, while an order of that time is open. Each row: whose
    /// act it was, and whether it pays.
    @Test(arguments: [(.renewal, false), (.purchase, true), (nil, true)] as [(TransactionReason?, Bool)])
    func anOlderRenewalPaysNoOrder(reason: TransactionReason?, isPaid: Bool) throws {
        var shop = try Shop()
        for order in ["o-1", "o-2"] { try shop.place(order, "monthly") }
        shop.now = SubscriptionCase.at(61)
        var newer = try Sold.month(3, original: 1, from: 60)
        newer.reason = .renewal
        try shop.show(newer)
        // Nothing of the chain was given before.
        #expect(try Self.payments(of: ["o-1"], in: shop) == [3])
        var older = try Sold.month(2, original: 1, from: 30)
        older.reason = reason
        try shop.show(older)
        #expect(try Self.payments(of: ["o-2"], in: shop) == (isPaid ? [2] : []))
        #expect(try shop.word(2) == (isPaid ? "granted" : "withheld expired"))
        try Invariants.check(shop, "\(String(describing: reason))")
    }

    /// By which transactions orders are paid, as far as they are.
    private static func payments(of orders: [String], in shop: Shop) throws -> [Int64] {
        try orders.compactMap { try shop.order($0).payment?.transaction.number }
    }
}

extension Transaction {
    /// Has a period begin and end so many seconds later.
    fileprivate mutating func move(by seconds: Int64) {
        purchasedAt = purchasedAt.advanced(by: .seconds(seconds))
        expiresAt = expiresAt?.advanced(by: .seconds(seconds))
    }
}
