import PurchaseModel
import Testing

/// What comes out of other systems' books and out of Apple's history is known, and nobody delivers it anew.
@Suite struct SourceTests {
    @Test func whatWasDeliveredElsewhereIsGrantedAndNobodyIsTold() throws {
        var shop = try Shop()
        try shop.show(Sold.coins(1), Sold.lamp(2), Sold.month(3), from: .imported)
        #expect(shop.events == [])
        #expect(try shop.gems() == 0)
        #expect(try shop.rights() == ["light", "premium"])
        for number in Int64(1)...3 {
            #expect(try shop.word(number) == "granted")
            #expect(try shop.fulfilment(number).isImported)
            #expect(try shop.fulfilment(number).delivery == .acknowledged)
            #expect(try shop.fulfilment(number).fence == 1)
        }
        try Invariants.check(shop, "imported")
        // The same bytes out of the app's hand are the same purchase.
        try shop.show(Sold.coins(1), Sold.lamp(2), Sold.month(3))
        #expect(shop.events == [])
        #expect(try shop.gems() == 0)
    }

    @Test func itsNextPeriodIsDeliveredHereWithoutAnOrder() throws {
        var shop = try Shop(needsOrder: true)
        shop.now = SubscriptionCase.at(30)
        // Over when it was imported, it still shows that the chain is paid for.
        try shop.show(Sold.month(1), from: .imported)
        #expect(try shop.word(1) == "granted")
        #expect(shop.events == [])
        try shop.show(Sold.month(2, original: 1, from: 30), by: nil)
        #expect(try shop.word(2) == "granted")
        #expect(shop.types.contains("delivery.granted"))
        #expect(shop.types.contains("subscription.renewed"))
        #expect(try shop.gems() == 10)
    }

    @Test func anOrderOfTodayIsNotPaidByIt() throws {
        var shop = try Shop(needsOrder: true)
        try shop.place("o-1")
        try shop.show(Sold.coins(1), from: .imported)
        #expect(try shop.word(1) == "granted")
        #expect(try shop.order("o-1").state == .pending)
        try shop.show(Sold.coins(2))
        #expect(try shop.order("o-1").state == .paid)
    }

    @Test func withoutACustomerItWaitsForWhoPresentsItAndIsDeliveredToNobodyAnew() throws {
        var shop = try Shop()
        try shop.show(Sold.coins(1), Sold.lamp(2), by: nil, from: .imported)
        #expect(try shop.word(1) == "waiting no_customer")
        try shop.show(Sold.coins(1), Sold.lamp(2), by: "bob")
        #expect(try shop.word(1) == "granted")
        #expect(shop.events == [])
        #expect(try shop.gems(of: "bob") == 0)
        #expect(try shop.rights(of: "bob") == ["light"])
    }

    /// Apple told of a renewal while the old system still delivered; then its books come.
    @Test func whatWaitedOfItsChainIsDeliveredToNobodyAnewEither() throws {
        var shop = try Shop()
        shop.now = Facts.now.advanced(by: .seconds(31 * 86_400))
        try shop.show(Sold.month(2, original: 1, from: 30), by: nil)
        #expect(try shop.word(2) == "waiting no_customer")
        let before = shop.types
        try shop.show(Sold.month(1), from: .imported)
        #expect(try shop.word(2) == "granted")
        #expect(try shop.fulfilment(2).isImported)
        #expect(shop.types == before)
        #expect(try shop.gems() == 0)
        #expect(try shop.rights() == ["premium"])
    }

    /// Apple answers about a row of the books long after they were handed in, and has told of a renewal in between.
    @Test func whatWasBoughtSinceTheBooksWereHandedInIsDelivered() throws {
        for isInAnswer in [false, true] {
            var shop = try Shop()
            let renewal = try Sold.month(2, original: 1, from: 30)
            let old = try Sold.month(1)
            let books = Facts.now.advanced(by: .seconds(15 * 86_400))
            shop.now = Facts.now.advanced(by: .seconds(31 * 86_400))
            try shop.show(renewal, by: nil)
            try shop.show(isInAnswer ? [old, renewal] : [old], from: .imported, booksClosedAt: books)
            #expect(try shop.fulfilment(1).isImported)
            #expect(try !shop.fulfilment(2).isImported && shop.fulfilment(2).delivery == .pending)
            #expect(shop.types.filter { $0 == "delivery.granted" }.count == 1)
            #expect(try shop.rights() == ["premium"])
            try Invariants.check(shop, "\(isInAnswer)")
        }
    }

    /// Apple charges for a period up to a day before it begins, and the old system was told as we were.
    @Test func whatWasKnownBeforeTheBooksWereHandedInIsTheirs() throws {
        var shop = try Shop()
        shop.now = Facts.now.advanced(by: .seconds(29 * 86_400))
        try shop.show(Sold.month(2, original: 1, from: 30), by: nil)
        shop.now = Facts.now.advanced(by: .seconds(31 * 86_400))
        let books = Facts.now.advanced(by: .seconds(29 * 86_400 + 3_600))
        try shop.show(Sold.month(1), from: .imported, booksClosedAt: books)
        #expect(try shop.fulfilment(2).isImported)
        #expect(shop.types.filter { $0 == "delivery.granted" }.isEmpty)
    }

    /// Who named an order for it expects it of us, whatever old books say; what only waits may be the old system's.
    @Test(arguments: [nil, "o1"]) func whatHasNamedAnOrderGoesOnWaitingForIt(order: String?) throws {
        var shop = try Shop(needsOrder: true)
        try shop.show(Sold.coins(1), order: order)
        #expect(try shop.fulfilment(1).state == .waiting)
        let types = shop.types
        try shop.show(Sold.coins(1), from: .imported)
        #expect(try shop.fulfilment(1).isImported == (order == nil))
        #expect(shop.types == types)
        try shop.place("o1")
        #expect(try shop.fulfilment(1).delivery == (order == nil ? .acknowledged : .pending))
        #expect(try (shop.gems() > 0) == (order != nil))
        try Invariants.check(shop, "ordered")
    }

    @Test func whatWasDeliveredHereIsNotTouchedAndItsRefundIsTold() throws {
        var shop = try Shop()
        try shop.show(Sold.coins(1))
        let types = shop.types
        #expect(try shop.show(Sold.coins(1), from: .imported).isEmpty)
        #expect(try !shop.fulfilment(1).isImported)
        try shop.show(Sold.refunded(Sold.coins(1)), from: .imported)
        #expect(shop.types == types + ["delivery.compensated"])
        #expect(try shop.gems() == 0)
    }

    @Test func oldBooksTakeNothingFromAnybody() throws {
        var shop = try Shop { $0.binding = .transfer }
        try shop.show(Sold.lamp(1), by: "ann")
        try shop.show(Sold.lamp(1), by: "bob", from: .imported)
        #expect(try shop.rights(of: "ann") == ["light"])
        #expect(try shop.rights(of: "bob") == [])
    }

    // MARK: Apple's history

    @Test func whatHistoryTellsAndNobodyPresentedWaitsInSilence() throws {
        var shop = try Shop()
        let token = AccountToken(high: 1, low: 2)
        try shop.show(Sold.coins(1), by: "ann", token: token)
        let before = shop.types
        // Also what Apple signed to be hers: only she knows what she still waits for.
        try shop.show(Sold.coins(2, token: token), Sold.month(3), by: nil, from: .history)
        #expect(try shop.word(2) == "waiting from_history")
        #expect(try shop.word(3) == "waiting from_history")
        #expect(shop.types == before)
        try shop.show(Sold.coins(2, token: token), by: "ann")
        #expect(try shop.word(2) == "granted")
        #expect(shop.types.last == "delivery.granted")
    }

    /// Nobody knows what another system delivered before: the order of today is paid by what is bought today.
    @Test(arguments: [true, false], [true, false])
    func itPaysNoOrderBeforeItIsPresented(needsOrder: Bool, isTokenOfCustomer: Bool) throws {
        var shop = try Shop(needsOrder: needsOrder)
        let token = AccountToken(high: 1, low: 2)
        for number in Int64(1)...2 { try shop.show(Sold.coins(number, token: token), by: nil, from: .history) }
        try shop.place("o-1", token: isTokenOfCustomer ? nil : token, customerToken: isTokenOfCustomer ? token : nil)
        #expect(try shop.order("o-1").state == .pending)
        #expect(try shop.gems() == 0)
        #expect(shop.types == ["order.placed"])
        let keys = try [1, 2].map { try Shop.key($0, Shop.production) }
        #expect(decide(shop.situation, rebuilding: keys, tokens: [:], terms: shop.terms, at: shop.now).isEmpty)
        try shop.show(Sold.coins(3, token: token), by: nil)
        #expect(try shop.order("o-1").payment?.transaction.number == 3)
        // What she presents she still waits for.
        try shop.place("o-2", token: token)
        #expect(try shop.order("o-2").state == .pending)
        try shop.show(Sold.coins(2, token: token))
        #expect(try shop.order("o-2").payment?.transaction.number == 2)
        #expect(try shop.word(1) == "waiting from_history")
        try Invariants.check(shop, "presented")
    }

    /// Each row: what tells of it after history did, and what becomes of it; then an order names its token.
    @Test(arguments: [
        ("ONE_TIME_CHARGE", "waiting no_customer", "paid"), ("REFUND_DECLINED", "waiting from_history", "pending"),
        ("CONSUMPTION_REQUEST", "waiting from_history", "pending"), ("history", "waiting from_history", "pending"),
        ("nobody", "waiting no_customer", "paid"), ("SUBSCRIBED INITIAL_BUY", "waiting no_customer", "paid"),
        ("SUBSCRIBED RESUBSCRIBE", "waiting no_customer", "paid"), ("DID_RENEW", "waiting no_customer", "paid"),
        ("DID_RENEW BILLING_RECOVERY", "waiting no_customer", "paid"),
        ("DID_CHANGE_RENEWAL_PREF", "waiting from_history", "pending"),
        ("DID_CHANGE_RENEWAL_PREF DOWNGRADE", "waiting from_history", "pending"),
        ("DID_CHANGE_RENEWAL_PREF UPGRADE", "waiting no_customer", "paid"),
        ("OFFER_REDEEMED", "waiting from_history", "pending"),
        ("OFFER_REDEEMED DOWNGRADE", "waiting from_history", "pending"),
        ("OFFER_REDEEMED UPGRADE", "waiting no_customer", "paid"),
        ("OFFER_REDEEMED INITIAL_BUY", "waiting no_customer", "paid"),
        ("OFFER_REDEEMED RESUBSCRIBE", "waiting no_customer", "paid"),
    ])
    func itIsLikeAnyOtherOnceItIsToldOfAsJustBought(teller: String, expected: String, state: String) throws {
        var shop = try Shop(needsOrder: true)
        let token = AccountToken(high: 1, low: 2)
        let sold = try Sold.coins(1, token: token)
        try shop.show(sold, by: nil, from: .history)
        try tell(of: sold, teller, &shop)
        #expect(try shop.word(1) == expected)
        #expect(shop.types.contains("purchase.waiting") == (state == "paid"))
        try shop.place("o-1", token: token)
        #expect(try shop.order("o-1").state.rawValue == state)
        // What was told of otherwise first is not history's alone.
        let other = try Sold.coins(2, token: AccountToken(high: 3, low: 4))
        try shop.show(other, by: nil)
        try shop.show(other, by: nil, from: .history)
        #expect(try shop.word(2) == "waiting no_customer")
    }

    /// What becomes of it is no reason to give it to whom Apple signed it to be, either.
    @Test(arguments: [
        ("ONE_TIME_CHARGE", "granted"), ("REFUND_DECLINED", "waiting from_history"),
        ("CONSUMPTION_REQUEST", "waiting from_history"), ("history", "waiting from_history"), ("nobody", "granted"),
        ("SUBSCRIBED INITIAL_BUY", "granted"), ("DID_RENEW", "granted"), ("DID_CHANGE_RENEWAL_PREF UPGRADE", "granted"),
        ("DID_CHANGE_RENEWAL_PREF DOWNGRADE", "waiting from_history"), ("OFFER_REDEEMED", "waiting from_history"),
        ("OFFER_REDEEMED DOWNGRADE", "waiting from_history"), ("OFFER_REDEEMED UPGRADE", "granted"),
        ("OFFER_REDEEMED INITIAL_BUY", "granted"), ("OFFER_REDEEMED RESUBSCRIBE", "granted"),
    ])
    func itIsNotGivenBecauseOfWhatBecomesOfIt(teller: String, expected: String) throws {
        var shop = try Shop()
        let token = AccountToken(high: 1, low: 2)
        try shop.place("o-1", "lamp", token: token)
        let sold = try Sold.coins(1, token: token)
        try shop.show(sold, by: nil, from: .history)
        try tell(of: sold, teller, &shop)
        #expect(try shop.word(1) == expected)
        #expect(try shop.gems() == (expected == "granted" ? 100 : 0))
    }

    /// A look at a subscription, or a notification that somebody decides once more, tells what became of what it names; a
    /// period that nobody knew is news.
    @Test func whatIsLookedUpIsGivenOnlyWhereItIsNew() throws {
        var shop = try Shop()
        let token = AccountToken(high: 1, low: 2)
        try shop.place("o-1", "monthly", token: token)
        var (month, next) = (try Sold.month(1), try Sold.month(2, original: 1, from: 30))
        (month.accountToken, next.accountToken) = (token, token)
        try shop.show(month, by: nil, from: .history)
        try shop.lookUp(month)
        #expect(try shop.word(1) == "waiting from_history")
        #expect(try shop.order("o-1").state == .pending)
        #expect(try shop.gems() == 0)
        shop.now = SubscriptionCase.at(30)
        try shop.lookUp(next)
        // With that it is somebody's, and so is the month before, which the order was placed for.
        #expect(try shop.word(2) == "granted")
        #expect(try shop.word(1) == "granted")
        #expect(try shop.order("o-1").payment?.transaction.number == 1)
        try Invariants.check(shop, "looked up")
    }

    /// That Apple takes it back and gives it again tells nobody what was delivered before; it is a lasting thing, and coins.
    /// What Apple tells of it by itself is told to the shop: only the reading of the past is silent.
    @Test(arguments: ["lamp", "coins"], ["REFUND", "history", "history alone"])
    func itIsNotGivenBecauseItIsGoodAgain(product: String, refund: String) throws {
        var shop = try Shop()
        let token = AccountToken(high: 1, low: 2)
        try shop.place("o-1", "monthly", token: token)
        var sold = try Sold.transaction(1, product, product == "lamp" ? .nonConsumable : .consumable)
        sold.accountToken = token
        if refund != "history alone" { try shop.show(sold, by: nil, from: .history) }
        try tell(of: Sold.refunded(sold), refund == "REFUND" ? refund : "history", &shop)
        #expect(try shop.word(1) == "withheld revoked")
        #expect(shop.types == (refund == "REFUND" ? ["order.placed", "purchase.withheld"] : ["order.placed"]))
        let before = shop
        let again = Sold.again(sold, after: 120)
        try tell(of: again, "REFUND_REVERSED", &shop)
        #expect(try shop.word(1) == "waiting from_history")
        #expect(shop.types.last == "purchase.waiting")
        try Invariants.check(shop, "good again")
        try shop.show(again)
        #expect(try shop.word(1) == "granted")
        // Looked up it is the same, and what is told of as just bought is like any other.
        shop = before
        try shop.lookUp(again)
        #expect(try shop.word(1) == "waiting from_history")
        shop = before
        try tell(of: Sold.refunded(sold), "ONE_TIME_CHARGE", &shop)
        #expect(shop.types.last == "purchase.withheld")
        try tell(of: again, "REFUND_REVERSED", &shop)
        #expect(try shop.word(1) == "granted")
    }

    /// A restore by StoreKit 1 has a number of its own: what becomes of it gives it to nobody, either.
    @Test(arguments: ["REFUND_DECLINED", "CONSUMPTION_REQUEST", "REFUND"])
    func anotherNumberOfItIsOfHistoryToo(type: String) throws {
        var shop = try Shop()
        let token = AccountToken(high: 1, low: 2)
        try shop.place("o-1", "monthly", token: token)
        var (sold, restored) = (try Sold.lamp(1), try Sold.lamp(2, original: 1))
        (sold.accountToken, restored.accountToken) = (token, token)
        try shop.show(sold, by: nil, from: .history)
        try tell(of: type == "REFUND" ? Sold.refunded(restored) : restored, type, &shop)
        if type == "REFUND" { try tell(of: Sold.again(restored, after: 120), "REFUND_REVERSED", &shop) }
        #expect(try [shop.word(1), shop.word(2)] == ["waiting from_history", "waiting from_history"])
        try Invariants.check(shop, "told of")
        // Whoever presents one of them has the purchase.
        try shop.show(sold)
        #expect(try shop.word(1) == "granted")
        #expect(try shop.word(2) == "withheld already_granted")
    }

    private func tell(of sold: Transaction, _ teller: String, _ shop: inout Shop) throws {
        switch teller {
        case "history": try shop.show(sold, by: nil, from: .history)
        case "nobody": try shop.show(sold, by: nil)
        default:
            let id = try #require(NotificationID("n-1"))
            let words = teller.split(separator: " ").map { String($0) }
            let announcement = Announcement(
                id: id,
                type: words[0],
                subtype: words.count > 1 ? words[1] : nil,
                signedAt: sold.signedAt,
                transaction: sold.id
            )
            try shop.hear(announcement, sold)
        }
    }

    /// The catalogue lacks it when history tells of it, and has it when the order is placed.
    @Test func whatTheCatalogueLackedThenIsOfHistoryAsWell() throws {
        var shop = try Shop(needsOrder: true)
        let (token, product) = (AccountToken(high: 1, low: 2), try Shop.product("sword"))
        var sold = try Sold.transaction(1, "sword", .consumable)
        sold.accountToken = token
        try shop.show(sold, by: nil, from: .history)
        shop.terms.products?[product] = ProductTerms(product: product, kind: .consumable, goods: [])
        try shop.place("o-1", "sword", token: token)
        #expect(try shop.order("o-1").state == .pending)
        try shop.show(sold)
        #expect(try shop.order("o-1").state == .paid)
    }

    @Test func whatHistoryTellsOfAKnownSubscriptionIsDelivered() throws {
        var shop = try Shop()
        try shop.show(Sold.month(1))
        shop.now = Facts.now.advanced(by: .seconds(31 * 86_400))
        try shop.show(Sold.month(2, original: 1, from: 30), by: nil, from: .history)
        #expect(try shop.word(2) == "granted")
        #expect(shop.types.suffix(2) == ["delivery.granted", "subscription.renewed"])
        try shop.show(Sold.refunded(Sold.month(1)), by: nil, from: .history)
        #expect(shop.types.contains("delivery.compensated"))
    }
}
