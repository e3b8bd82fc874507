import PurchaseModel
import Testing

/// Refunds of what another system has delivered: before its books came, and after.
@Suite struct ImportedRefundTests {
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

    /// The old system took it back; whoever keeps the goods gives them again. Each row: whether the refund was known here before
    /// the books came, and who tells of its reversal.
    @Test(
        arguments: [
            (false, .presented), (true, .presented), (false, .history), (false, .imported),
        ] as [(Bool, RecordingSource)]
    )
    func aRefundBeforeTheImportThatIsReversedIsGivenAgain(isKnown: Bool, source: RecordingSource) throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(1)
        let sold = [try Sold.coins(1), try Sold.lamp(2), try Sold.month(3)]
        if isKnown { for one in sold { try shop.show(Sold.refunded(one), by: nil) } }
        for one in sold { try shop.show(Sold.refunded(one), from: .imported) }
        let told = shop.types.count
        for one in sold { try shop.show(Sold.again(one, after: 120), by: nil, from: source) }
        let isTold = source != .imported
        for number in Int64(1)...3 {
            let row = try shop.fulfilment(number)
            #expect(row.state == .granted && row.isImported)
            #expect(row.delivery == (isTold ? .pending : .acknowledged) && row.fence == (isTold ? 2 : 1))
        }
        #expect(shop.types.dropFirst(told).count { $0 == "delivery.restored" } == (isTold ? 3 : 0))
        #expect(shop.types.dropFirst(told).count { $0 == "delivery.granted" } == 0)
        #expect(try shop.gems() == 0)
        #expect(try shop.rights() == ["light", "premium"])
        try Invariants.check(shop, "\(source)")
        // Nobody hears it twice, and the next refund takes it back.
        for one in sold { try shop.show(Sold.again(one, after: 180), by: nil) }
        #expect(shop.types.dropFirst(told).count { $0 == "delivery.restored" } == (isTold ? 3 : 0))
        for one in sold { try shop.show(Sold.refunded(Sold.again(one, after: 240)), by: nil) }
        #expect(shop.types.dropFirst(told).count { $0 == "delivery.compensated" } == 3)
        try Invariants.check(shop, "\(source), again")
    }

    /// Nobody heard of the refund of what waited, and nobody took anything back.
    @Test func aRefundOfWhatWaitsIsReversedInSilence() throws {
        var shop = try Shop()
        try shop.show(Sold.coins(1), by: nil, from: .imported)
        shop.now = SubscriptionCase.at(1)
        try shop.show(Sold.refunded(Sold.coins(1)), by: nil)
        #expect(try shop.word(1) == "withheld revoked")
        try shop.show(Sold.again(Sold.coins(1), after: 120))
        #expect(try shop.word(1) == "granted" && shop.fulfilment(1).delivery == .acknowledged)
        #expect(shop.types.filter { $0 == "delivery.restored" } == [])
        try Invariants.check(shop, "waited")
    }
}
