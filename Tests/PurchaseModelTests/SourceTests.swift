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

    @Test func itsRefundIsToldAndItsReversalToo() throws {
        var shop = try Shop()
        try shop.show(Sold.coins(1), Sold.lamp(2), from: .imported)
        try shop.show(Sold.refunded(Sold.coins(1)), Sold.refunded(Sold.lamp(2)), by: nil)
        #expect(shop.types == ["delivery.compensated", "delivery.compensated"])
        #expect(try shop.fulfilment(1).fence == 2)
        #expect(try shop.rights() == [])
        #expect(try shop.gems() == 0)
        try shop.show(Sold.again(Sold.lamp(2), after: 120), by: nil)
        #expect(shop.types.last == "delivery.restored")
        #expect(try shop.rights() == ["light"])
        try Invariants.check(shop, "refunded")
    }

    @Test func whatWasTakenBackBeforeTheImportIsNoNews() throws {
        var shop = try Shop()
        try shop.show(
            Sold.refunded(Sold.lamp(1)),
            Sold.refunded(Sold.lamp(2), percentage: 30_000),
            from: .imported
        )
        #expect(shop.events == [])
        #expect(try shop.word(1) == "withheld revoked")
        #expect(try shop.fulfilment(2).reversed == 30_000)
        #expect(try shop.fulfilment(2).fence == 1)
    }

    @Test func itsNextPeriodIsDeliveredHereWithoutAnOrder() throws {
        var shop = try Shop(needsOrder: true)
        shop.now = Facts.now.advanced(by: .seconds(31 * 86_400))
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
        #expect(try shop.word(2) == "waiting no_customer")
        #expect(try shop.word(3) == "waiting no_customer")
        #expect(shop.types == before)
        try shop.show(Sold.coins(2, token: token), by: "ann")
        #expect(try shop.word(2) == "granted")
        #expect(shop.types.last == "delivery.granted")
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
