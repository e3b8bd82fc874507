import PurchaseModel
import Testing

@Suite struct RefundTests {
    @Test func aRefundTakesBackWhatWasGivenAndTellsTheShop() throws {
        var shop = try Shop()
        try shop.place("o-1")
        try shop.show(Sold.coins(1))
        try shop.show(Sold.refunded(Sold.coins(1)), by: nil)
        #expect(try shop.gems() == 0)
        #expect(try shop.word(1) == "reversed")
        #expect(try shop.fulfilment(1).delivery == .compensated)
        #expect(try shop.fulfilment(1).fence == 2)
        #expect(try shop.order("o-1").state == .refunded)
        #expect(shop.types.suffix(2) == ["order.refunded", "delivery.compensated"])
        #expect(shop.events.last?.happenedAt == Facts.now.advanced(by: .seconds(60)))
        try shop.show(Sold.refunded(Sold.coins(1)))
        #expect(try shop.gems() == 0)
    }

    @Test func aReversedRefundGivesItAgain() throws {
        var shop = try Shop()
        try shop.show(Sold.lamp(1))
        try shop.show(Sold.refunded(Sold.lamp(1)), by: nil)
        #expect(try shop.rights() == [])
        try shop.show(Sold.again(Sold.lamp(1), after: 120), by: nil)
        #expect(try shop.rights() == ["light"])
        #expect(try shop.gems() == 5)
        #expect(try shop.fulfilment(1).delivery == .pending)
        #expect(try shop.fulfilment(1).fence == 3)
        #expect(shop.types.last == "delivery.restored")
        // The refund again, which Apple signed before: it is over.
        #expect(try shop.show(Sold.refunded(Sold.lamp(1)), by: nil).isEmpty)
    }

    /// Apple takes back the purchase, by its first number; a restore of it has another. Each row: what is heard, in order: the
    /// restore, the refund, its reversal, the purchase itself; and whether she has it in the end.
    @Test(arguments: [
        ("8", true), ("8-", false), ("-8", false), ("8-+", true), ("-8+", true), ("-+8", true), ("8-8", false),
        ("-8-", false), ("8-+8", true), ("-8+8", true), ("18-", false), ("1-8", false), ("18-+", true), ("1-8+", true),
        ("8-+-", false), ("-8+-", false),
    ])
    func whatIsRestoredFollowsItsPurchase(heard: String, isHers: Bool) throws {
        var shop = try Shop()
        var seconds: Int64 = 60
        for step in heard {
            switch step {
            case "8": try shop.show(Sold.lamp(8, original: 1))
            case "1": try shop.show(Sold.lamp(1))
            case "-": try shop.show(Sold.refunded(Sold.lamp(1), after: seconds), by: nil)
            default: try shop.show(Sold.again(Sold.lamp(1), after: seconds), by: nil)
            }
            seconds += 60
            try Invariants.check(shop, "\(step) of \(heard)")
        }
        #expect(try shop.rights() == (isHers ? ["light"] : []))
        #expect(try shop.gems() == (isHers ? 5 : 0))
        let given = shop.types.count { $0 == "delivery.granted" || $0 == "delivery.restored" }
        #expect(given - shop.types.count { $0 == "delivery.compensated" } == (isHers ? 1 : 0))
        let keys = try [1, 8].map { try Shop.key($0, Shop.production) }
        let rebuilt = decide(shop.situation, rebuilding: keys, tokens: [:], terms: shop.terms, at: shop.now)
        for row in rebuilt.fulfilments.map(\.row) {
            #expect(shop.situation.fulfilment(of: row.transaction)?.state == row.state)
        }
    }

    /// A paid period and a restore of it, of whose numbers Apple takes back one and gives it again. Each row: what is heard, in
    /// order, the restore's refund and its reversal as - and +, those of the period as v and ^; and whether she has it in the
    /// end.
    @Test(arguments: [
        ("18", true), ("18-", false), ("81-", false), ("8-1", false), ("-1", false), ("1-", false), ("-18", false),
        ("18-+", true), ("8-1+", true), ("-1+", true), ("1-+8", true), ("18v", false), ("81v", false), ("81v^", true),
        ("v8", false), ("v8^", true), ("18-v", false), ("18-v+", false), ("18-v^", false), ("18-v+^", true),
        ("81-+-", false),
    ])
    func whatIsRestoredOfAPeriodFollowsIt(heard: String, isHers: Bool) throws {
        var shop = try Shop()
        try shop.hear(heard)
        #expect(try shop.rights() == (isHers ? ["premium"] : []))
        #expect(try shop.gems() == (isHers ? 10 : 0))
        let keys = try [1, 8].map { try Shop.key($0, Shop.production) }
        let rebuilt = decide(shop.situation, rebuilding: keys, tokens: [:], terms: shop.terms, at: shop.now)
        for row in rebuilt.fulfilments.map(\.row) {
            let stands = shop.situation.fulfilment(of: row.transaction)
            #expect(stands?.state == row.state && stands?.reason == row.reason)
        }
    }

    /// Shown again by its own number, of which Apple has told nothing new: all of it is taken back by the other one, or a part,
    /// whether it was given or came after that. So is what turned out to be a family member's copy.
    @Test(arguments: [(part: nil as Int?, standing: Standing.revoked), (40_000, .partlyRevoked)])
    func whatIsTakenBackByAnotherNumberStandsAsThat(part: Int?, standing: Standing) throws {
        for isFirst in [true, false] {
            var shop = try Shop()
            let refund = Sold.refunded(try Sold.lamp(8, original: 1), percentage: part)
            if isFirst { try shop.show(Sold.lamp(1)) }
            try shop.show(refund, by: nil)
            let again = try shop.show(Sold.lamp(1))
            #expect(again.outcomes.map(\.standing) == [standing], "first: \(isFirst)")
        }
        var (shop, copy) = (try Shop(), try Sold.lamp(8, original: 1))
        (copy.ownership, copy.signedAt) = (.familyShared, Facts.now.advanced(by: .seconds(60)))
        var shown = try Sold.lamp(1)
        shown.ownership = nil
        try shop.show(shown)
        try shop.show(copy, by: nil)
        #expect(try shop.word(1) == "reversed family_shared")
        #expect(try shop.show(shown).outcomes.map(\.standing) == [.revoked])
    }

    /// Nobody has it yet, or who has it lacks an order: what is taken back waits for nothing any more, by whichever number
    /// that was told. Each row as above, of what is bought for good and of a period.
    @Test(arguments: ["8-", "-8", "8-+", "-8+", "-+8", "8-8"], [true, false])
    func whatIsTakenBackWaitsNoMore(heard: String, isPeriod: Bool) throws {
        for customer in [nil, "ann"] {
            var shop = try Shop(needsOrder: customer != nil)
            let sold = isPeriod ? try Sold.month(1) : try Sold.lamp(1)
            let restored = isPeriod ? try Sold.month(8, original: 1) : try Sold.lamp(8, original: 1)
            var seconds: Int64 = 60
            for step in heard {
                switch step {
                case "8": try shop.show(restored, by: customer)
                case "-": try shop.show(Sold.refunded(sold, after: seconds), by: nil)
                default: try shop.show(Sold.again(sold, after: seconds), by: nil)
                }
                seconds += 60
                try Invariants.check(shop, "\(step) of \(heard)")
            }
            let waits = customer == nil ? "waiting no_customer" : "waiting no_order"
            #expect(try shop.word(8) == (heard.contains("+") ? waits : "withheld revoked"), "\(heard) \(waits)")
        }
    }

    /// Bought anew after the refund, in the same chain or in another: what was taken back is not that.
    @Test(arguments: ["8-6", "86-", "-86", "-68"])
    func whatIsBoughtAnewDoesNotFollowThatPurchase(heard: String) throws {
        var shop = try Shop()
        var anew = try Sold.lamp(6, original: 1)
        anew.purchasedAt = Facts.now.advanced(by: .seconds(120))
        for step in heard {
            switch step {
            case "8": try shop.show(Sold.lamp(8, original: 1))
            case "6": try shop.show(anew)
            default: try shop.show(Sold.refunded(Sold.lamp(1)), by: nil)
            }
        }
        #expect(try shop.word(6) == "granted")
        #expect(try shop.rights() == ["light"])
        #expect(try shop.gems() == 5)
    }

    /// The customer has paid twice and was given her money back once, whichever of it we hear first.
    @Test func whatWasBoughtAnewIsGivenAlsoWhenTheRefundIsHeardOfLater() throws {
        var anew = try Sold.lamp(2, original: 1)
        anew.purchasedAt = Facts.now.advanced(by: .seconds(120))
        let refunded = Sold.refunded(try Sold.lamp(1))
        for isToldLate in [false, true] {
            var shop = try Shop()
            try shop.show(Sold.lamp(1))
            if !isToldLate { try shop.show(refunded, by: nil) }
            try shop.show(anew)
            if isToldLate {
                #expect(try shop.word(2) == "withheld already_granted")
                try shop.show(refunded, by: nil)
            }
            #expect(try shop.word(1) == "reversed")
            #expect(try shop.word(2) == "granted")
            #expect(try shop.rights() == ["light"])
            #expect(try shop.gems() == 5)
        }
    }

    /// Both in one proof, where the refund may stand behind.
    @Test func whatWasBoughtAnewIsGivenByTheProofThatTellsOfTheRefund() throws {
        var anew = try Sold.lamp(2, original: 1)
        anew.purchasedAt = Facts.now.advanced(by: .seconds(120))
        var shop = try Shop()
        try shop.show(Sold.lamp(1))
        let decision = try shop.show(anew, Sold.refunded(Sold.lamp(1)))
        #expect(decision.outcomes.map { $0.fulfilment?.state } == [.granted, .reversed])
        #expect(try shop.gems() == 5)
    }

    @Test func aRestoreOfWhatWasBoughtAnewGivesNothingMore() throws {
        var shop = try Shop()
        try shop.show(Sold.lamp(1))
        try shop.show(Sold.refunded(Sold.lamp(1)))
        for number in Int64(2)...4 {
            var sold = try Sold.lamp(number, original: 1)
            sold.purchasedAt = Facts.now.advanced(by: .seconds(60 * number))
            try shop.show(sold)
        }
        #expect(try shop.word(2) == "granted")
        #expect(try shop.word(3) == "withheld already_granted")
        #expect(try shop.word(4) == "withheld already_granted")
        #expect(try shop.gems() == 5)
    }

    @Test func whatWasRefundedBeforeWeHeardOfItIsGivenOnceTheRefundIsReversed() throws {
        var shop = try Shop()
        try shop.show(Sold.refunded(Sold.coins(1)))
        #expect(try shop.gems() == 0)
        try shop.show(Sold.again(Sold.coins(1), after: 120))
        #expect(try shop.gems() == 100)
    }

    @Test func ofWhatWasRefundedInPartBeforeWeHeardOfItTheRestIsGiven() throws {
        var shop = try Shop()
        try shop.show(Sold.refunded(Sold.coins(1), percentage: 40_000))
        #expect(try shop.gems() == 60)
        #expect(try shop.word(1) == "partly_reversed")
        #expect(shop.types == ["delivery.granted", "delivery.compensated"])
        try shop.show(Sold.coins(1))
        #expect(try shop.gems() == 60)
    }

    /// Each row: how many were bought, how much of it Apple took back, and what is left.
    @Test(arguments: [
        (3, 33_333, 201), (3, 66_666, 101), (1, 0, 100), (1, 1, 100), (1, 99_999, 1), (1, 100_000, 0), (1, 200_000, 0),
        (1, -1, 100),
    ])
    func aPartIsTakenBackInTheCustomersFavour(quantity: Int, percentage: Int, left: Int64) throws {
        var shop = try Shop()
        try shop.show(Sold.coins(1, quantity: quantity))
        try shop.show(Sold.refunded(Sold.coins(1, quantity: quantity), percentage: percentage))
        #expect(try shop.gems() == left)
    }

    @Test func aSecondPartIsTakenOnTopOfTheFirst() throws {
        var shop = try Shop()
        try shop.show(Sold.coins(1, quantity: 2))
        try shop.show(Sold.refunded(Sold.coins(1, quantity: 2), after: 60, percentage: 50_000))
        #expect(try shop.gems() == 100)
        try shop.show(Sold.refunded(Sold.coins(1, quantity: 2), after: 120))
        #expect(try shop.gems() == 0)
        try shop.show(Sold.refunded(Sold.coins(1, quantity: 2), after: 180, percentage: 25_000))
        #expect(try shop.gems() == 150)
        #expect(shop.types.last == "delivery.restored")
    }

    @Test(arguments: [true, false])
    func whatWasUsedIsOwedOrForgivenByPolicy(mayBeNegative: Bool) throws {
        var shop = try Shop { $0.allowsNegativeBalance = mayBeNegative }
        try shop.show(Sold.coins(1))
        try shop.adjust("ann", by: -70, .use)
        try shop.show(Sold.refunded(Sold.coins(1)))
        let wallet = shop.situation.wallet(try shop.wallet(of: "ann"))
        #expect(wallet.balance == (mayBeNegative ? -70 : 0))
        #expect(wallet.uncollected == (mayBeNegative ? 0 : -70))
        try shop.show(Sold.again(Sold.coins(1), after: 120))
        #expect(try shop.gems() == 30)
        #expect(shop.situation.wallet(try shop.wallet(of: "ann")).uncollected == 0)
    }

    @Test func nobodyUsesMoreThanThereIs() throws {
        var shop = try Shop()
        try shop.show(Sold.coins(1))
        #expect(throws: RequestFault.insufficient(100)) { try shop.adjust("ann", by: -101, .use) }
        try shop.adjust("ann", by: -101, .adjustment)
        #expect(try shop.gems() == -1)
        #expect(throws: RequestFault.outOfRange) { try shop.adjust("ann", by: 0, .adjustment) }
        #expect(throws: RequestFault.outOfRange) { try shop.adjust("ann", by: .min, .adjustment) }
    }

    /// What products give, or gave the customer once, is a currency; anything else is a slip of the pen.
    @Test func aCurrencyThatNoProductGivesIsNone() throws {
        var shop = try Shop()
        let known = RequestFault.unknownCurrency([try Shop.currency("gems")])
        #expect(throws: known) { try shop.adjust("ann", by: 5, .adjustment, currency: "gmes") }
        #expect(throws: known) { try shop.adjust("ann", by: -5, .use, currency: "gmes") }
        #expect(shop.events.isEmpty && shop.postings.isEmpty)
        // She has some, and the shop sells no more of it.
        try shop.adjust("ann", by: 5, .adjustment)
        let coins = ProductTerms(
            product: try Shop.product("coins"),
            kind: .consumable,
            goods: [.amount(100, try Shop.currency("stars"))]
        )
        shop.terms.products = [coins.product: coins]
        try shop.adjust("ann", by: -5, .use)
        #expect(throws: RequestFault.unknownCurrency([try Shop.currency("stars")])) {
            try shop.adjust("bob", by: 5, .adjustment)
        }
        // Nothing tells which there are.
        for products in [nil, [:]] as [[ProductID: ProductTerms]?] {
            shop.terms.products = products
            try shop.adjust("ann", by: 5, .adjustment, currency: "points")
        }
    }

    @Test func anOldFenceIsNotAcknowledged() throws {
        var shop = try Shop()
        try shop.show(Sold.lamp(1))
        try shop.show(Sold.refunded(Sold.lamp(1)), by: nil)
        #expect(throws: RequestFault.staleFence(2)) { try shop.acknowledge(1, fence: 1) }
        #expect(try shop.acknowledge(1, fence: 2).isEmpty)
        try shop.show(Sold.again(Sold.lamp(1), after: 120), by: nil)
        try shop.acknowledge(1, fence: 3)
        #expect(try shop.fulfilment(1).delivery == .acknowledged)
        try shop.show(Sold.refunded(Sold.coins(2)))
        #expect(throws: RequestFault.unknown) { try shop.acknowledge(2, fence: 0) }
    }

    @Test func aRefundedPeriodEndsAtItsRefund() throws {
        var shop = try Shop()
        try shop.show(Sold.month(1))
        try shop.show(Sold.refunded(Sold.month(1), after: 86_400, percentage: 50_000), by: nil)
        #expect(try shop.rights(at: Facts.now.advanced(by: .seconds(2 * 86_400))) == [])
        #expect(try shop.gems() == 5)
    }
}

extension Shop {
    /// Hears of a paid period, 1, and of a restore of it, 8: refunds and reversals of the restore as - and +, those of the period
    /// as v and ^, one a minute.
    mutating func hear(_ heard: String) throws {
        let (period, restore) = (try Sold.month(1), try Sold.month(8, original: 1))
        var seconds: Int64 = 60
        for step in heard {
            switch step {
            case "8": try show(restore)
            case "1": try show(period)
            case "-": try show(Sold.refunded(restore, after: seconds), by: nil)
            case "+": try show(Sold.again(restore, after: seconds), by: nil)
            case "v": try show(Sold.refunded(period, after: seconds), by: nil)
            default: try show(Sold.again(period, after: seconds), by: nil)
            }
            seconds += 60
            now = Facts.now.advanced(by: .seconds(seconds))
            try Invariants.check(self, "\(step) of \(heard)")
        }
    }
}
