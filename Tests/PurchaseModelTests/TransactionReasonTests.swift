import PurchaseModel
import Testing

/// What follows from Apple's word for whose act a transaction is, where gaps between periods would tell something else.
@Suite struct TransactionReasonTests {
    private static let minute: Int64 = 60

    /// The second period of chain 1, so many seconds after the first one's end.
    private static func next(after gap: Int64, _ reason: TransactionReason?, _ product: String = "monthly") throws
        -> Transaction
    {
        var period = try Sold.month(2, original: 1, from: 30)
        period.product = try Shop.product(product)
        period.purchasedAt = period.purchasedAt.advanced(by: .seconds(gap))
        period.expiresAt = period.expiresAt?.advanced(by: .seconds(gap))
        period.signedAt = period.purchasedAt
        period.reason = reason
        return period
    }

    private static func addYearly(_ terms: inout AppTerms) {
        guard let yearly = ProductID("yearly"), let right = EntitlementID("premium") else { return }
        terms.products?[yearly] = ProductTerms(product: yearly, kind: .autoRenewable, goods: [.entitlement(right)])
    }

    private static func first() throws -> Transaction {
        var period = try Sold.month(1)
        period.reason = .purchase
        return period
    }

    /// Ann subscribed by her first order and has placed a second one since. Each row: how long after the end the next period
    /// begins, of what, whose act it is, and whether it pays.
    @Test(
        arguments: [
            (0, "monthly", .renewal, false), (0, "monthly", .purchase, true), (0, "monthly", nil, false),
            (20, "monthly", .purchase, true), (20, "monthly", .renewal, false),
            (86_400, "monthly", .renewal, false), (86_400, "monthly", .purchase, true), (86_400, "monthly", nil, true),
            (0, "yearly", .renewal, false), (-86_400 * 10, "yearly", .purchase, true), (0, "yearly", nil, true),
        ] as [(Int64, String, TransactionReason?, Bool)]
    )
    func onlyWhatTheCustomerBoughtPaysAWish(
        gap: Int64,
        product: String,
        reason: TransactionReason?,
        isPaid: Bool
    ) throws {
        var shop = try Shop(needsOrder: true, Self.addYearly)
        try shop.place("o-1", "monthly")
        try shop.show(Self.first())
        #expect(try shop.order("o-1").state == .paid)
        let period = try Self.next(after: gap, reason, product)
        shop.now = period.purchasedAt.advanced(by: .seconds(-1))
        try shop.place("o-2", product)
        shop.now = period.purchasedAt.advanced(by: .seconds(60))
        try shop.show(period)
        #expect(try shop.order("o-2").state == (isPaid ? .paid : .pending))
        // What goes on with what was given needs no order.
        #expect(try shop.word(2) == "granted")
        try Invariants.check(shop, "\(gap) \(product)")
    }

    /// Of what was never given even a renewal pays what its customer asks for.
    @Test func aRenewalOfWhatWasNeverGivenPaysAnOrder() throws {
        var shop = try Shop(needsOrder: true)
        shop.now = SubscriptionCase.at(30)
        try shop.show(Self.next(after: 0, .renewal))
        #expect(try shop.word(2) == "waiting no_order")
        try shop.place("o-1", "monthly")
        #expect(try shop.order("o-1").state == .paid)
    }

    /// Each row: how long after the end the next period begins, whose act it is, and what the shop hears after `started`.
    @Test(
        arguments: [
            (0, .renewal, "renewed"), (0, .purchase, "resubscribed"), (0, nil, "renewed"),
            (minute / 2, .purchase, "resubscribed"), (minute * 2, nil, "resubscribed"),
            (minute * 2, .renewal, "recovered"), (minute * 2, .purchase, "resubscribed"),
        ] as [(Int64, TransactionReason?, String)]
    )
    func theShopHearsWhoseActItWas(gap: Int64, reason: TransactionReason?, heard: String) throws {
        var shop = try Shop()
        try shop.show(Self.first())
        let period = try Self.next(after: gap, reason)
        shop.now = period.purchasedAt
        try shop.show(period)
        let told = shop.types.filter { $0.utf8.starts(with: "subscription.".utf8) }
        #expect(told == ["subscription.started", "subscription.\(heard)"])
    }

    /// Each row: whose act another plan was that was bought a day before the end of the one before; and heard of when the clock had
    /// ended that.
    @Test(arguments: [TransactionReason.purchase, nil]) func whatWasChangedBeforeItsEndWasNotBoughtAgain(
        reason: TransactionReason?
    ) throws {
        var shop = try Shop()
        try shop.show(Self.first())
        shop.now = SubscriptionCase.at(32)
        try shop.look()
        var period = try Sold.month(2, original: 1, from: 29)
        (period.product, period.reason) = (try Shop.product("yearly"), reason)
        try shop.show(period, by: nil)
        let told = shop.types.filter { $0.utf8.starts(with: "subscription.".utf8) }
        #expect(told == ["started", "expired", "restored", "product_changed"].map { "subscription.\($0)" })
    }

    /// Apple has said that it was over; a receipt does not say whose act the next plan was.
    @Test func whatWasBoughtAfterAppleEndedItWasBoughtAgain() throws {
        var shop = try Shop()
        try shop.show(Self.first())
        shop.now = SubscriptionCase.at(5)
        try shop.show(renewals: [SubscriptionEventTests.renewal(on: 5) { $0.expirationIntent = 5 }], by: nil)
        shop.now = SubscriptionCase.at(10)
        var period = try Sold.month(2, original: 1, from: 10)
        period.product = try Shop.product("yearly")
        try shop.show(period, by: nil)
        #expect(SubscriptionEventTests.told(shop) == ["started", "expired", "resubscribed", "product_changed"])
    }

    /// What else Bob's copy holds: receipts hold all periods, in no order.
    enum Proof: CaseIterable { case alone, afterTheFirst, beforeTheFirst }

    /// Bob shows a copy of what came after Ann's period, without a token, before Apple tells of it. Each row: how long after it
    /// that began, whose act it was, and whose the chain is then. Hers may have been signed for her.
    @Test(
        arguments: [
            (minute * 2, .renewal, "ann"), (minute * 2, .purchase, "bob"), (minute * 2, nil, "bob"),
            (0, .purchase, "bob"), (0, .renewal, "ann"), (0, nil, "ann"),
        ] as [(Int64, TransactionReason?, String)],
        [(true, .alone), (false, .alone), (false, .afterTheFirst), (false, .beforeTheFirst), (true, .afterTheFirst)]
            as [(Bool, Proof)]
    )
    func whatAppleRenewsIsNotBoughtAnew(
        row: (gap: Int64, reason: TransactionReason?, owner: String),
        copy: (isSigned: Bool, proof: Proof)
    ) throws {
        var shop = try Shop { $0.binding = .transferIfInactive }
        let ann = AccountToken(high: 0, low: 77)
        shop.ownTokens["ann"] = ann
        var first = try Self.first()
        if copy.isSigned { first.accountToken = ann }
        try shop.show(first)
        let period = try Self.next(after: row.gap, row.reason)
        shop.now = period.purchasedAt
        switch copy.proof {
        case .alone: try shop.show(period, by: "bob")
        case .afterTheFirst: try shop.show(first, period, by: "bob")
        case .beforeTheFirst: try shop.show(period, first, by: "bob")
        }
        #expect(shop.situation.owner(of: try Shop.chain(1))?.customer.text == row.owner)
        #expect(try shop.rights(of: row.owner) == ["premium"])
        #expect(try shop.rights(of: row.owner == "ann" ? "bob" : "ann") == [])
        try Invariants.check(shop, "\(row) \(copy)")
    }

    /// What becomes of the second of three periods of which nobody has told us, none of which bears a token.
    enum Missed: CaseIterable {
        case nothing, gap, purchase, refund
        /// Another plan took its place, or did a day after it was taken back: a receipt has a date of cancellation for both.
        case upgrade, refundBeforePlan
    }

    /// Bob shows a copy of a proof of all that followed Ann's period: three more, the last of which runs. Each row: what became
    /// of the middle one, whose act the others were, and whose the chain is then.
    @Test(
        arguments: [
            (.nothing, nil, "ann"), (.nothing, .renewal, "ann"), (.gap, nil, "bob"), (.gap, .renewal, "ann"),
            (.purchase, nil, "bob"), (.purchase, .renewal, "bob"), (.refund, nil, "bob"), (.refund, .renewal, "bob"),
            (.upgrade, nil, "ann"), (.refundBeforePlan, nil, "bob"),
        ] as [(Missed, TransactionReason?, String)],
        [[0, 1, 2, 3], [3, 2, 1, 0], [2, 3, 1], [3, 1, 2]]
    )
    func whatWasRenewedSeveralTimesIsNotBoughtAnew(
        row: (missed: Missed, reason: TransactionReason?, owner: String),
        order: [Int]
    ) throws {
        var shop = try Shop { terms in
            terms.binding = .transferIfInactive
            Self.addYearly(&terms)
        }
        let periods = try Self.missed(row.missed, row.reason)
        try shop.show(periods[0])
        shop.now = periods[3].purchasedAt
        try shop.show(order.map { periods[$0] }, by: "bob")
        #expect(shop.situation.owner(of: try Shop.chain(1))?.customer.text == row.owner)
        #expect(try shop.rights(of: row.owner) == ["premium"])
        try Invariants.check(shop, "\(row) \(order)")
    }

    /// What Apple signed for Ann stays hers through all the periods of a receipt, also where a purchase goes to whoever shows it.
    @Test(arguments: [
        ([0, 1, 2, 3], Missed.nothing, "ann"), ([3, 2, 1], .nothing, "ann"), ([0, 1, 2, 3], .gap, "bob"),
    ])
    func whatWasRenewedSeveralTimesStaysSigned(order: [Int], missed: Missed, owner: String) throws {
        var shop = try Shop { $0.binding = .transfer }
        let ann = AccountToken(high: 0, low: 77)
        shop.ownTokens["ann"] = ann
        let periods = try Self.missed(missed, nil)
        var signed = periods[0]
        signed.accountToken = ann
        try shop.show(signed)
        shop.now = periods[3].purchasedAt
        try shop.show(order.map { periods[$0] }, by: "bob")
        #expect(shop.situation.owner(of: try Shop.chain(1))?.customer.text == owner)
    }

    /// The first period of chain 1 and three more.
    private static func missed(_ missed: Missed, _ reason: TransactionReason?) throws -> [Transaction] {
        var periods = try (0...3).map { try Sold.month($0 + 1, original: 1, from: $0 * 30) }
        for place in 1...3 { (periods[place].signedAt, periods[place].reason) = (periods[place].purchasedAt, reason) }
        switch missed {
        case .nothing: break
        case .purchase: periods[2].reason = .purchase
        case .refund: periods[2] = Sold.refunded(periods[2])
        case .upgrade, .refundBeforePlan:
            let day: Double = missed == .upgrade ? 65 : 66
            periods[2].revocation = Revocation(at: SubscriptionCase.at(65))
            periods[3].product = try Shop.product("yearly")
            (periods[3].purchasedAt, periods[3].expiresAt) = (SubscriptionCase.at(day), SubscriptionCase.at(day + 365))
            for place in 2...3 { periods[place].signedAt = periods[3].purchasedAt }
        case .gap:
            for place in 2...3 {
                periods[place].purchasedAt = periods[place].purchasedAt.advanced(by: .seconds(minute * 2))
                periods[place].expiresAt = periods[place].expiresAt?.advanced(by: .seconds(minute * 2))
            }
        }
        return periods
    }

    /// What a customer has from a family or an organisation she did not buy: it pays an order that is named, and no other.
    @Test(arguments: [
        (Ownership.purchased, false, true), (.familyShared, false, false), (.familyShared, true, true),
        (.assigned, false, false), (.assigned, true, true),
    ])
    func whatWasNotBoughtPaysNoWish(ownership: Ownership, isNamed: Bool, isPaid: Bool) throws {
        var shop = try Shop { terms in
            guard let lamp = ProductID("lamp") else { return }
            terms.products?[lamp]?.isFamilyShared = true
        }
        try shop.place("o-1", "lamp")
        var lamp = try Sold.lamp()
        lamp.ownership = ownership
        try shop.show(lamp, order: isNamed ? "o-1" : nil)
        #expect(try shop.order("o-1").state == (isPaid ? .paid : .pending))
        #expect(try shop.word(1) == "granted")
    }
}
