import PurchaseModel
import Testing

/// An order that is placed after its purchase was given without one, and that a person has paid by it.
@Suite struct LateOrderTests {
    /// How what was given stands when the order is placed.
    enum Given: CaseIterable {
        case pending, sent, failed, acknowledged, partlyReversed, partlyReversedAfterDelivery
        case reversed, imported, ofAnotherOrder

        /// Why it pays no other order.
        var fault: RequestFault? {
            switch self {
            case .reversed: .fulfilmentIs(.reversed)
            case .imported, .ofAnotherOrder: .fulfilmentIs(.granted)
            default: nil
            }
        }

        var isPartlyReversed: Bool { self == .partlyReversed || self == .partlyReversedAfterDelivery }

        var isAcknowledged: Bool { self == .acknowledged || self == .partlyReversedAfterDelivery }

        func happen(to shop: inout Shop, with sold: Transaction) throws {
            if self == .ofAnotherOrder { try shop.place("o-0") }
            try shop.show(sold, from: self == .imported ? .imported : .presented)
            if self == .sent { try shop.note(.sent, of: 1, fence: 1) }
            if self == .failed { try shop.note(.failed, of: 1, fence: 1) }
            if isAcknowledged { try shop.acknowledge(1, fence: 1) }
            if isPartlyReversed { try shop.show(Sold.refunded(sold, percentage: 40_000), by: nil) }
            if self == .reversed { try shop.show(Sold.refunded(sold), by: nil) }
        }
    }

    /// What the order asks for.
    enum Fit: CaseIterable {
        case same, otherProduct, otherQuantity, otherCustomer, otherToken

        var product: String { self == .otherProduct ? "lamp" : "coins" }
        var quantity: Int { self == .otherQuantity ? 2 : 1 }
        var customer: String { self == .otherCustomer ? "bob" : "ann" }
        var token: AccountToken? { self == .otherToken ? OrderTests.token : nil }

        var fault: RequestFault? {
            switch self {
            case .same: nil
            case .otherToken: .tokenContradicts
            default: .doesNotFit
            }
        }

        func sold(_ number: Int64, token: AccountToken?) throws -> Transaction {
            if self == .otherProduct { return try Sold.lamp(number) }
            return try Sold.coins(number, quantity: quantity, token: token)
        }
    }

    /// Places the order, and brings it to a state.
    private static func place(_ fit: Fit, _ state: OrderState, in shop: inout Shop) throws {
        try shop.place("o-1", fit.product, for: fit.customer, quantity: fit.quantity, token: fit.token)
        let other = try fit.sold(9, token: fit.token)
        if [.paid, .delivered, .refunded].contains(state) { try shop.show(other, by: fit.customer, order: "o-1") }
        switch state {
        case .pending, .paid: break
        case .delivered: try shop.acknowledge(9, fence: 1)
        case .refunded: try shop.show(Sold.refunded(other), by: nil)
        case .cancelled: try shop.cancel("o-1")
        case .expired:
            shop.now = shop.now.advanced(by: .seconds(3_600))
            try shop.expire("o-1")
        }
        #expect(try shop.order("o-1").state == state)
    }

    @Test(arguments: Given.allCases, OrderState.allCases)
    func whatWasGivenPaysWhatItFitsAndIsGivenOnce(given: Given, state: OrderState) throws {
        for fit in Fit.allCases {
            var shop = try Shop()
            let sold = try Sold.coins(1, token: fit == .otherToken ? OrderTests.otherToken : nil)
            try given.happen(to: &shop, with: sold)
            try Self.place(fit, state, in: &shop)
            let comment: Comment = "\(given) \(state) \(fit)"
            let isOpen = [.pending, .expired, .cancelled].contains(state)
            let (before, events) = (try shop.fulfilment(1), shop.events.count)
            guard let fault = given.fault ?? (isOpen ? fit.fault : .orderIs(state)) else {
                try Self.pay(sold, given, in: &shop, comment)
                continue
            }
            #expect(throws: fault, comment) { try shop.attach(1, to: "o-1") }
            #expect(try shop.fulfilment(1) == before && shop.order("o-1").state == state, comment)
            #expect(shop.events.count == events, comment)
            guard fault == .tokenContradicts else { continue }
            try shop.attach(1, to: "o-1", overrulesToken: true)
            #expect(try shop.order("o-1").payment?.match == .byHandAgainstToken, comment)
            #expect(try shop.fulfilment(1).fence == before.fence, comment)
            try Invariants.check(shop, comment)
        }
    }

    /// It pays, and nothing else changes; and what Apple takes back of it afterwards is taken back of the order, once.
    private static func pay(_ sold: Transaction, _ given: Given, in shop: inout Shop, _ comment: Comment) throws {
        let (before, gems) = (try shop.fulfilment(1), try shop.gems())
        let decision = try shop.attach(1, to: "o-1")
        var told: [EventType] = [.orderPaid]
        if given.isPartlyReversed { told.append(.orderRefundChanged) }
        if given.isAcknowledged { told.append(.orderDelivered) }
        #expect(decision.events.map(\.type) == told, comment)
        #expect(decision.postings.isEmpty && decision.fulfilments.count == 1, comment)
        let (after, order) = (try shop.fulfilment(1), try shop.order("o-1"))
        #expect(after.order == order.id && after.match == .byHand, comment)
        #expect(after.state == before.state && after.unit == before.unit && after.goods == before.goods, comment)
        #expect(after.fence == before.fence && after.delivery == before.delivery, comment)
        #expect(after.reversed == before.reversed && after.reversedAt == before.reversedAt, comment)
        #expect(order.state == (given.isAcknowledged ? .delivered : .paid), comment)
        #expect(order.refunded == before.reversed && order.payment?.transaction == sold.id, comment)
        let (repeated, rebuilt) = (try shop.attach(1, to: "o-1"), try shop.rebuild([1]))
        #expect(repeated.isEmpty && rebuilt == [], comment)
        #expect(try shop.fulfilment(1) == after && shop.gems() == gems, comment)
        try Invariants.check(shop, comment)
        if !given.isAcknowledged { try shop.acknowledge(1, fence: before.fence) }
        #expect(try shop.order("o-1").state == .delivered, comment)
        let refund = Sold.refunded(sold, after: 120)
        let (refunded, refundedAgain) = (try shop.show(refund, by: nil), try shop.show(refund, by: nil))
        #expect(refunded.events.map(\.type) == [.orderRefunded, .deliveryCompensated], comment)
        #expect(refundedAgain.events.isEmpty, comment)
        #expect(try shop.order("o-1").state == .refunded && shop.gems() == 0, comment)
        let restored = try shop.show(Sold.again(sold, after: 180), by: nil)
        #expect(restored.events.map(\.type) == [.orderPaid, .deliveryRestored], comment)
        #expect(try shop.order("o-1").state == .paid && shop.gems() == 100, comment)
        try Invariants.check(shop, comment)
    }

    /// What was given before it was moved stays whose it was, and is nobody's to pay with.
    @Test(arguments: ["ann", "bob"]) func whatWasMovedPaysForNobody(customer: String) throws {
        var shop = try Shop()
        try shop.show(Sold.lamp())
        try shop.transfer(1, to: "bob")
        try shop.place("o-1", "lamp", for: customer)
        #expect(throws: RequestFault.doesNotFit) { try shop.attach(1, to: "o-1", overrulesToken: true) }
    }

    /// Nothing pays it by itself, however often the purchase is shown again.
    @Test func byItselfNothingPaysALateOrder() throws {
        var shop = try Shop()
        try shop.show(Sold.coins())
        try shop.place("o-1")
        try shop.show(Sold.coins(), order: "o-1")
        try shop.show(Sold.again(Sold.coins(), after: 60), by: nil)
        #expect(try shop.order("o-1").state == .pending)
    }
}
