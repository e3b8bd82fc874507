import PurchaseModel
import Testing

@Suite struct OrderTests {
    /// She thought better of it, and Apple renews what she has. Each row: on which day the next period begins, what names the
    /// order beside it, and whether that pays it.
    @Test(arguments: [(Int64(30), nil, false), (30, "o-2", true), (60, nil, true)] as [(Int64, String?, Bool)])
    func aRenewalPaysNoAbandonedOrder(day: Int64, named: String?, isPaid: Bool) throws {
        var shop = try Shop()
        let token = AccountToken(high: 0, low: 5)
        try shop.place("o-1", "monthly", token: token)
        var (first, next) = (try Sold.month(1), try Sold.month(2, original: 1, from: day))
        (first.accountToken, next.accountToken) = (token, token)
        try shop.show(first)
        try shop.place("o-2", "monthly", token: token)
        shop.now = SubscriptionCase.at(Double(day))
        try shop.show(next, by: named == nil ? nil : "ann", order: named)
        #expect(try shop.order("o-2").state == (isPaid ? .paid : .pending))
        #expect(try shop.word(2) == "granted")
    }

    static let token = AccountToken(high: 1, low: 2)
    static let otherToken = AccountToken(high: 3, low: 4)

    @Test func anOrderIsPaidByWhatWasBoughtForIt() throws {
        var shop = try Shop(needsOrder: true)
        try shop.place("o-1")
        try shop.show(Sold.coins())
        let order = try shop.order("o-1")
        #expect(order.state == .paid)
        #expect(order.payment?.transaction.number == 1)
        #expect(order.payment?.match == .customerAndProduct)
        #expect(try shop.fulfilment(1).order == order.id)
        #expect(shop.types == ["order.placed", "order.paid", "delivery.granted"])
    }

    @Test func anOrderIsDeliveredWhenTheShopSaysSo() throws {
        var shop = try Shop()
        try shop.place("o-1")
        try shop.show(Sold.coins())
        try shop.acknowledge(1, fence: 1)
        #expect(try shop.order("o-1").state == .delivered)
        #expect(try shop.fulfilment(1).delivery == .acknowledged)
        #expect(try shop.acknowledge(1, fence: 1).isEmpty)
        #expect(shop.types.suffix(2) == ["delivery.acknowledged", "order.delivered"])
    }

    /// What came of a message, at one endpoint and then at another. Each row: what is noted, in order; and how far it is then.
    @Test(
        arguments: [
            ([.sent], .sent), ([.failed], .failed), ([.sent, .failed], .sent), ([.failed, .sent], .sent),
            ([.failed, .failed], .failed), ([.sent, .pending], .sent), ([.sent, .failed, .sent], .sent),
        ] as [([DeliveryProgress], DeliveryProgress)]
    )
    func whatWasAnsweredIsNotUnsaid(noted: [DeliveryProgress], progress: DeliveryProgress) throws {
        for isAcknowledged in [false, true] {
            var shop = try Shop()
            try shop.show(Sold.coins())
            if isAcknowledged { try shop.acknowledge(1, fence: 1) }
            let key = try Shop.key(1, Shop.production)
            for word in noted {
                shop.apply(decide(shop.situation, noting: word, of: key, fence: 1, at: shop.now))
            }
            #expect(try shop.fulfilment(1).delivery == (isAcknowledged ? .acknowledged : progress))
        }
    }

    /// Each row, with nothing where there is none: the order, what is bought, who shows it naming which order; and how the order was matched.
    @Test(arguments: [
        ("coins for ann", "coins", "ann", "", "customer_and_product"),
        ("coins for ann", "coins", "ann", "o-1", "order_id"),
        ("coins for ann", "coins", "bob", "", ""),
        ("coins for ann", "coins", "bob", "o-1", ""),
        ("coins for ann", "lamp", "ann", "", ""),
        ("coins for ann", "lamp", "ann", "o-1", ""),
        ("two coins for ann", "coins", "ann", "o-1", ""),
        ("coins for ann by token", "coins", "ann", "", "customer_and_product"),
        ("coins for ann by token", "coins by token", "ann", "", "account_token"),
        ("coins for ann by token", "coins by token", "", "", "account_token"),
        ("coins for ann by token", "coins by another token", "ann", "", ""),
        ("coins for ann by token", "coins by another token", "ann", "o-1", ""),
        ("coins for ann by name", "coins by token", "", "", "customer_token"),
        ("coins for ann by token", "coins by token", "bob", "", "account_token"),
    ])
    func aReceiptForOneThingNeverPaysForAnother(
        placed: String,
        bought: String,
        by customer: String,
        naming order: String,
        expected: String
    ) throws {
        var shop = try Shop(needsOrder: true)
        try shop.place(
            "o-1",
            quantity: placed.hasPrefix("two") ? 2 : 1,
            token: placed.hasSuffix("by token") ? Self.token : nil,
            customerToken: placed.hasSuffix("by name") ? Self.token : nil
        )
        let transaction =
            switch bought {
            case "lamp": try Sold.lamp()
            case "coins by token": try Sold.coins(token: Self.token)
            case "coins by another token": try Sold.coins(token: Self.otherToken)
            default: try Sold.coins()
            }
        try shop.show(
            transaction,
            by: customer.isEmpty ? nil : customer,
            order: order.isEmpty ? nil : order
        )
        #expect(try shop.order("o-1").payment?.match.rawValue ?? "" == expected)
        #expect(try shop.order("o-1").state == (expected.isEmpty ? .pending : .paid))
        #expect(try shop.gems() == (expected.isEmpty ? 0 : 100))
        #expect(try shop.gems(of: "bob") == 0)
    }

    /// She bought twice before the orders came. Each row: how the second purchase says that it is for the second order.
    @Test(arguments: ["token", "name"])
    func aLateOrderFindsTheSurestFirst(how: String) throws {
        var shop = try Shop(needsOrder: true)
        let (first, second) = (how == "token" ? Self.otherToken : nil, how == "token" ? Self.token : nil)
        try shop.show(Sold.coins(1))
        try shop.show(Sold.coins(2, token: second), order: how == "name" ? "o-2" : nil)
        try shop.place("o-2", token: second)
        #expect(try shop.order("o-2").payment?.transaction == TransactionID(number: 2))
        #expect(try shop.order("o-2").payment?.match == (how == "token" ? .accountToken : .orderID))
        try shop.place("o-1", token: first)
        #expect(try shop.order("o-1").payment?.transaction == TransactionID(number: 1))
        try Invariants.check(shop, "\(how)")
    }

    /// It is left to that one, which is placed later; what Apple signed for another says more than a name.
    @Test func whatNamesItsOrderPaysNoOther() throws {
        var shop = try Shop(needsOrder: true)
        try shop.place("o-0")
        try shop.place("o-9", token: Self.token)
        try shop.show(Sold.coins(1), order: "o-1")
        #expect(try shop.word(1) == "waiting order_contradicts")
        try shop.place("o-1")
        #expect(try shop.order("o-1").payment?.transaction.number == 1)
        #expect(try shop.order("o-1").payment?.match == .orderID)
        try shop.show(Sold.coins(2), order: "o-2")
        try shop.place("o-3")
        #expect(try shop.order("o-3").payment == nil)
        try shop.place("o-2")
        #expect(try shop.order("o-2").payment?.transaction.number == 2)
        try shop.show(Sold.coins(3, token: Self.token), order: "o-4")
        #expect(try shop.order("o-9").payment?.match == .accountToken)
        #expect(try ["o-0", "o-3"].map { try shop.order($0).payment == nil } == [true, true])
        try Invariants.check(shop, "named")
    }

    /// It holds what was bought for years.
    @Test func aReceiptNamesItsOrderForWhatItAsksFor() throws {
        var shop = try Shop(needsOrder: true)
        shop.now = SubscriptionCase.at(1)
        try shop.place("o-7")
        let sold = [try Sold.month(1), try Sold.coins(5), try Sold.coins(6, quantity: 2), try Sold.lamp(7)]
        try shop.show(sold, order: "o-7")
        #expect(try shop.order("o-7").payment?.transaction.number == 5)
        let named = shop.recorded.filter { $0.order != nil }.map(\.id.number)
        #expect(named == [5])
        // The others pay what is placed for them.
        try shop.place("o-8", "lamp")
        #expect(try shop.order("o-8").payment?.transaction.number == 7)
        try Invariants.check(shop, "receipt")
    }

    /// Nobody knows yet what it is for: it waits for whatever is placed.
    @Test func aReceiptWhoseOrderIsPlacedLaterPaysIt() throws {
        var shop = try Shop(needsOrder: true)
        shop.now = SubscriptionCase.at(1)
        try shop.show([Sold.lamp(7), Sold.coins(5)], order: "o-7")
        #expect(shop.recorded.allSatisfy { $0.order == nil })
        try shop.place("o-7")
        #expect(try shop.order("o-7").payment?.transaction.number == 5)
        #expect(try shop.word(7) == "waiting no_order")
    }

    @Test func theOldestOrderIsPaidFirstAndWhatIsLeftWaitsVisibly() throws {
        var shop = try Shop(needsOrder: true)
        try shop.place("o-2")
        shop.now = shop.now.advanced(by: .seconds(1))
        try shop.place("o-1")
        for number in Int64(1)...3 { try shop.show(Sold.coins(number)) }
        #expect(try shop.order("o-2").payment?.transaction.number == 1)
        #expect(try shop.order("o-1").payment?.transaction.number == 2)
        #expect(try shop.word(3) == "waiting no_order")
        #expect(try shop.gems() == 200)
    }

    @Test func aLateOrderFindsWhatWasBoughtBefore() throws {
        var shop = try Shop(needsOrder: true)
        try shop.show(Sold.coins(1))
        try shop.show(Sold.lamp(2))
        try shop.place("o-1", "lamp")
        #expect(try shop.word(1) == "waiting no_order")
        #expect(try shop.order("o-1").payment?.transaction.number == 2)
        try shop.place("o-2")
        #expect(try shop.order("o-2").payment?.transaction.number == 1)
    }

    @Test func aLateOrderSaysWhoseTheTokenIs() throws {
        var shop = try Shop(needsOrder: true)
        try shop.show(Sold.coins(1, token: Self.token), by: nil)
        #expect(try shop.word(1) == "waiting no_customer")
        try shop.place("o-1", token: Self.token)
        #expect(try shop.order("o-1").payment?.match == .accountToken)
        #expect(try shop.gems() == 100)
    }

    @Test func onePaymentPaysOneOrder() throws {
        var shop = try Shop(needsOrder: true)
        try shop.place("o-1")
        try shop.place("o-2")
        try shop.show(Sold.coins(1), order: "o-1")
        try shop.show(Sold.coins(1), order: "o-2")
        #expect(try shop.order("o-1").state == .paid)
        #expect(try shop.order("o-2").state == .pending)
        #expect(try shop.gems() == 100)
    }

    @Test func aPeriodThatWasOverWhenTheOrderWasPlacedDoesNotPayIt() throws {
        var shop = try Shop(needsOrder: true)
        try shop.place("o-1", "monthly")
        try shop.show(Sold.month(1, from: -60), order: "o-1")
        #expect(try shop.order("o-1").state == .pending)
        #expect(try shop.word(1) == "waiting order_contradicts")
        try shop.show(Sold.month(2, original: 1, from: 0))
        #expect(try shop.order("o-1").payment?.transaction.number == 2)
    }

    /// A receipt keeps the seasons of years ago for good. Each row: in which order it has the old one and the new one.
    @Test(arguments: [[1, 2], [2, 1]])
    func aSeasonThatWasOverPaysNoOrder(shown: [Int64]) throws {
        var shop = try Shop(needsOrder: true)
        let seasons = try shown.map { number in
            var season = try Sold.transaction(number, "season", .nonRenewing)
            if number == 1 { season.purchasedAt = Facts.now.advanced(by: .seconds(-90 * 86_400)) }
            return season
        }
        try shop.place("o-1", "season")
        try shop.show(seasons)
        #expect(try shop.order("o-1").payment?.transaction.number == 2)
        #expect(try shop.rights() == ["season"])
        try shop.place("o-2", "season")
        try shop.show(seasons)
        #expect(try shop.order("o-2").state == .pending)
        #expect(try shop.word(1) == "waiting no_order")
    }

    @Test func aRenewalAndARestoreNeedNoOrderOfTheirOwn() throws {
        var shop = try Shop(needsOrder: true)
        try shop.place("o-1", "monthly")
        try shop.show(Sold.month(1))
        try shop.show(Sold.month(2, original: 1, from: 30), by: nil)
        #expect(try shop.word(2) == "granted")
        #expect(try shop.gems() == 20)
    }

    /// Each row: what is shown one after the other, of three periods and a coin bought beside them; `o` places the order.
    @Test(arguments: ["o123", "o321", "3o12", "32o1", "231o", "321o", "o3+21", "32+1o", "o2c13"])
    func renewalsThatCameFirstGoOnWhenAnythingOfTheirChainIsGiven(order: String) throws {
        var shop = try Shop(needsOrder: true)
        var together: [Transaction] = []
        for (place, step) in order.enumerated() {
            switch step {
            case "+": continue
            case "o": try shop.place("o-1", "monthly")
            case "c": try shop.show(Sold.coins(9))
            default:
                let number = try #require(Int64(String(step)))
                together.append(try Sold.month(number, original: 1, from: 30 * (number - 1)))
                if order.dropFirst(place + 1).first == "+" { continue }
                try shop.show(together)
                together = []
            }
        }
        for number in Int64(1)...3 { #expect(try shop.word(number) == "granted") }
        #expect(try shop.gems() == 30)
        #expect(try shop.order("o-1").state == .paid)
        if order.contains("c") { #expect(try shop.word(9) == "waiting no_order") }
        try Invariants.check(shop, "in the end")
    }

    @Test func whatGoesOnTogetherIsNotSaidToWaitFirst() throws {
        var shop = try Shop(needsOrder: true)
        try shop.place("o-1", "monthly")
        try shop.show(
            Sold.month(3, original: 1, from: 60),
            Sold.month(1),
            Sold.month(2, original: 1, from: 30),
            order: "o-1"
        )
        #expect(try shop.gems() == 30)
        #expect(!shop.types.contains("purchase.waiting"))
    }

    @Test func whatIsAttachedByHandLetsItsChainGoOn() throws {
        var shop = try Shop(needsOrder: true)
        try shop.place("o-1", "monthly", token: Self.token)
        for number in Int64(1)...2 {
            var period = try Sold.month(number, original: 1, from: 30 * (number - 1))
            period.accountToken = Self.otherToken
            try shop.show(period)
            #expect(try shop.word(number) == "waiting no_order")
        }
        try shop.attach(2, to: "o-1", overrulesToken: true)
        #expect(try shop.word(1) == "granted")
        #expect(try shop.gems() == 20)
    }

    @Test func anAppWithoutOrdersGivesByProductAndStillPaysAnOrder() throws {
        var shop = try Shop()
        try shop.show(Sold.coins(1))
        try shop.place("o-1")
        try shop.show(Sold.coins(2))
        try shop.show(Sold.coins(3))
        #expect(try shop.order("o-1").payment?.transaction.number == 2)
        #expect(try shop.gems() == 300)
    }

    @Test func anExpiredOrderIsStillPaidAndACancelledOneIsNot() throws {
        var shop = try Shop(needsOrder: true)
        try shop.place("o-1")
        shop.now = shop.now.advanced(by: .seconds(3_600))
        try shop.expire("o-1")
        #expect(try shop.order("o-1").state == .expired)
        try shop.show(Sold.coins(1))
        #expect(try shop.order("o-1").state == .paid)
        try shop.place("o-2")
        try shop.cancel("o-2")
        #expect(try shop.cancel("o-2").isEmpty)
        try shop.show(Sold.coins(2), order: "o-2")
        #expect(try shop.word(2) == "waiting order_contradicts")
        #expect(throws: RequestFault.orderIs(.paid)) { try shop.cancel("o-1") }
    }

    /// Between its end and the moment at which that is noted.
    @Test func anOrderWhoseTimeIsOverComesAfterOneThatWaits() throws {
        var shop = try Shop(needsOrder: true)
        try shop.place("o-1")
        shop.now = shop.now.advanced(by: .seconds(1_800))
        try shop.place("o-2")
        shop.now = shop.now.advanced(by: .seconds(1_800))
        #expect(try shop.order("o-1").state == .pending)
        try shop.show(Sold.coins(1))
        #expect(try shop.order("o-2").payment?.transaction.number == 1)
        #expect(try shop.order("o-1").state == .pending)
        try shop.show(Sold.coins(2))
        #expect(try shop.order("o-1").payment?.transaction.number == 2)
    }

    @Test func anOrderWhoseTimeIsNotOverDoesNotExpire() throws {
        var shop = try Shop()
        try shop.place("o-1")
        shop.now = shop.now.advanced(by: .seconds(3_599))
        try shop.expire("o-1", "o-9")
        #expect(try shop.order("o-1").state == .pending)
    }

    @Test func whatWaitsIsAttachedByHandOnlyWhereItFits() throws {
        var shop = try Shop(needsOrder: true)
        try shop.place("o-1", token: Self.token)
        try shop.show(Sold.coins(1, token: Self.otherToken))
        #expect(try shop.word(1) == "waiting no_order")
        try shop.place("o-2", "lamp")
        #expect(throws: RequestFault.doesNotFit) { try shop.attach(1, to: "o-2") }
        try shop.place("o-3", for: "bob")
        #expect(throws: RequestFault.doesNotFit) { try shop.attach(1, to: "o-3") }
        #expect(throws: RequestFault.tokenContradicts) { try shop.attach(1, to: "o-1") }
        #expect(try shop.order("o-1").state == .pending && shop.word(1) == "waiting no_order")
        try shop.attach(1, to: "o-1", overrulesToken: true)
        #expect(try shop.order("o-1").payment?.match == .byHandAgainstToken)
        #expect(try shop.gems() == 100)
        #expect(try shop.attach(1, to: "o-1").isEmpty)
        try shop.place("o-4")
        #expect(throws: RequestFault.fulfilmentIs(.granted)) { try shop.attach(1, to: "o-4") }
        #expect(throws: RequestFault.unknown) { try shop.attach(7, to: "o-4") }
    }

    @Test func whatWasTakenBackIsNotAttached() throws {
        var shop = try Shop(needsOrder: true)
        try shop.show(Sold.refunded(Sold.coins(1)))
        try shop.place("o-1")
        #expect(throws: RequestFault.fulfilmentIs(.withheld)) { try shop.attach(1, to: "o-1") }
        #expect(try shop.order("o-1").state == .pending)
    }

    @Test func theSameOrderIsPlacedOnceAndItsIDIsNobodyElses() throws {
        var shop = try Shop()
        try shop.place("o-1")
        #expect(try shop.place("o-1").isEmpty)
        #expect(throws: RequestFault.otherOrder) { try shop.place("o-1", "lamp") }
        #expect(throws: RequestFault.otherOrder) { try shop.place("o-1", for: "bob") }
        #expect(throws: RequestFault.otherOrder) { try shop.place("o-1", quantity: 2) }
    }
}
