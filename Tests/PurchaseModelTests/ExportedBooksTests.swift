import PurchaseModel
import Testing

/// What comes out of another ledger of ours: its shop knows what that one has told.
@Suite struct ExportedBooksTests {
    private static let exportedAt = SubscriptionCase.at(29)

    /// One row of an export: one transaction, and a proof in which others may stand.
    private static func take(
        _ proof: [Transaction],
        _ number: Int64,
        _ outcome: ExportedOutcome,
        by customer: String? = "ann",
        until: Timestamp? = nil,
        into shop: inout Shop
    ) throws {
        let id = try #require(TransactionID(number: number))
        try shop.show(
            proof,
            by: customer,
            from: .imported,
            booksClosedAt: exportedAt,
            claiming: number,
            exported: ExportedRow(id, outcome, booksUntil: until)
        )
    }

    /// The server that has written it was stopped then: what was renewed since nobody has delivered.
    @Test(arguments: [false, true]) func whatWasRenewedSinceTheExportIsDelivered(byApple: Bool) throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(31)
        try Self.take([Sold.month(1)], 1, .delivered(fence: 1), into: &shop)
        #expect(shop.events == [])
        var missed = try Sold.month(2, original: 1, from: 30)
        missed.signedAt = missed.purchasedAt
        try shop.show(missed, by: byApple ? nil : "ann")
        #expect(shop.types == ["delivery.granted", "subscription.renewed"])
        #expect(try !shop.fulfilment(2).isImported && shop.gems() == 10)
        try Invariants.check(shop, "renewed")
    }

    /// Its ledger did not hear of it any more, though it sold something else after it. Whether Apple tells of it before its
    /// chain's row is taken, or after.
    @Test(arguments: [false, true]) func whatItsLedgerDidNotHearIsDelivered(isFirst: Bool) throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(31)
        let old = try Sold.month(1)
        var missed = try Sold.month(2, original: 1, from: 28)
        missed.signedAt = missed.purchasedAt
        if isFirst { try shop.show(missed, by: nil) }
        let before = shop.events.count
        try Self.take([old], 1, .delivered(fence: 1), until: old.purchasedAt.advanced(by: .seconds(1)), into: &shop)
        if !isFirst { try shop.show(missed, by: nil) }
        #expect(shop.types.dropFirst(before).contains("delivery.granted"), "\(shop.types)")
        #expect(try !shop.fulfilment(2).isImported && shop.gems() == 10)
        try Invariants.check(shop, "missed")
    }

    /// What has a row of its own is as that says, though Apple tells of it in between.
    @Test func whatIsStillToComeIsNotDelivered() throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(31)
        let (old, new) = (try Sold.month(1), try Sold.month(2, original: 1, from: 30))
        let until = new.purchasedAt.advanced(by: .seconds(1))
        try Self.take([old], 1, .delivered(fence: 1), until: until, into: &shop)
        try shop.show(new, by: nil)
        try Self.take([new], 2, .delivered(fence: 1), until: until, into: &shop)
        #expect(try shop.events == [] && shop.gems() == 0 && shop.fulfilment(2).isImported)
        try Invariants.check(shop, "both")
    }

    /// What waits for somebody says so by its own row as well, and no longer by that of another one in its proof.
    @Test func itsOwnRowSaysUntilWhen() throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(31)
        let receipt = [try Sold.coins(1), try Sold.month(2)]
        let until = try Sold.month(2).purchasedAt.advanced(by: .seconds(1))
        let waiting = ExportedOutcome.delivered(fence: 0)
        try Self.take(receipt, 1, waiting, by: nil, until: until.advanced(by: .seconds(5)), into: &shop)
        #expect(try shop.fulfilment(2).booksClosedAt == Self.exportedAt)
        try Self.take(receipt, 2, waiting, by: nil, until: until, into: &shop)
        #expect(try shop.word(2) == "waiting no_customer" && shop.fulfilment(2).booksClosedAt == until)
    }

    /// Apple tells of a refund before the row is taken: of that the shop has heard nothing, unless its ledger had told it.
    @Test(arguments: [false, true]) func aRefundThatWasHeardFirstIsTold(wasToldThere: Bool) throws {
        var shop = try Shop()
        let sold = try Sold.coins()
        try shop.show(Sold.refunded(sold), by: nil)
        let before = shop.events.count
        try Self.take([sold], 1, .delivered(fence: wasToldThere ? 2 : 1, isTakenBack: wasToldThere), into: &shop)
        #expect(try shop.word(1) == "reversed" && shop.fulfilment(1).fence == 2)
        #expect(shop.types.dropFirst(before) == (wasToldThere ? [] : ["delivery.compensated"]))
        try Invariants.check(shop, "refunded")
    }

    /// Apple charges for a period before it begins: what the export has, its ledger has delivered.
    @Test func whatStandsInItWasDelivered() throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(31)
        try Self.take([Sold.month(1)], 1, .delivered(fence: 1), into: &shop)
        try Self.take([Sold.month(2, original: 1, from: 30)], 2, .delivered(fence: 1), into: &shop)
        #expect(try shop.fulfilment(2).isImported && shop.gems() == 0)
        #expect(shop.events == [])
    }

    /// The shop leaves alone what comes with no greater fence than it has.
    @Test func theFenceGoesOn() throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(31)
        let sold = try Sold.month(1)
        try Self.take([sold], 1, .delivered(fence: 2), into: &shop)
        #expect(try shop.fulfilment(1).fence == 2)
        // Once more, and by an export that was taken later: told there.
        try Self.take([sold], 1, .delivered(fence: 2), into: &shop)
        try Self.take([sold], 1, .delivered(fence: 4), into: &shop)
        #expect(try shop.fulfilment(1).fence == 4 && shop.events == [])
        try shop.show(Sold.refunded(sold), by: nil)
        #expect(try shop.fulfilment(1).fence == 5 && shop.fulfilment(1).importedFence == 4)
        #expect(shop.types.contains("delivery.compensated"))
        // An older export says nothing new.
        try Self.take([sold], 1, .delivered(fence: 2), into: &shop)
        #expect(try shop.fulfilment(1).fence == 5)
        try Invariants.check(shop, "refunded")
    }

    /// What was taken back there may be given again here.
    @Test(arguments: [nil, 40_000] as [Int?]) func whatWasTakenBackThereIsGivenAgain(percentage: Int?) throws {
        // Of the lamp the part of its amounts is left that the catalogue names: as there.
        for sold in [try Sold.coins(), try Sold.lamp()] {
            var shop = try Shop()
            let taken = Sold.refunded(sold, percentage: percentage)
            try Self.take([taken], 1, .delivered(fence: 2, isTakenBack: true), into: &shop)
            #expect(
                try shop.word(1) == (percentage == nil ? "reversed" : "partly_reversed")
                    && shop.fulfilment(1).fence == 2
            )
            #expect(try shop.events == [] && shop.rights() == [])
            try Invariants.check(shop, "taken in")
            try shop.show(Sold.again(sold, after: 600), by: nil)
            #expect(try shop.word(1) == "granted" && shop.fulfilment(1).fence == 3)
            #expect(shop.types == ["delivery.restored"])
            try Invariants.check(shop, "restored")
        }
    }

    /// The newest proof may be a receipt, which knows no upgrade; what does has a row of its own.
    @Test func whatItsOtherRowsTellIsNoNews() throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(10)
        let poor = try Sold.month(1)
        var full = poor
        (full.isUpgraded, full.ownership) = (true, .purchased)
        for outcome in [ExportedOutcome.delivered(fence: 2), .notGiven(.withheld, .upgraded)] {
            var shop = shop
            try Self.take([poor], 1, outcome, into: &shop)
            try Self.take([full], 1, outcome, into: &shop)
            let isGiven = outcome == .delivered(fence: 2)
            #expect(try shop.word(1) == (isGiven ? "granted" : "withheld upgraded"))
            #expect(try shop.fulfilment(1).fence == (isGiven ? 2 : 0))
            #expect(try shop.events == [] && shop.rights() == [])
            #expect(try !isGiven || shop.fulfilment(1).delivery == .acknowledged)
            try Invariants.check(shop, "\(outcome)")
        }
    }

    /// It waited for whoever presents it, and does so here.
    @Test func whatWaitedForSomebodyIsGivenToWhoeverPresentsIt() throws {
        var shop = try Shop()
        try Self.take([Sold.coins()], 1, .notGiven(.waiting, .noCustomer), by: nil, into: &shop)
        #expect(try shop.word(1) == "waiting no_customer" && !shop.fulfilment(1).isImported)
        #expect(shop.events == [])
        try shop.show(Sold.coins())
        #expect(try shop.types == ["delivery.granted"] && shop.gems() == 100)
        try Invariants.check(shop, "presented")
    }

    /// What another system had delivered before that ledger is still that one's.
    @Test func whatWasImportedThereTooIsNotDelivered() throws {
        var shop = try Shop()
        let outcome = ExportedOutcome(.waiting, .noCustomer, fence: 0, isImported: true)
        #expect(outcome == .delivered(fence: 0))
        try Self.take([Sold.coins()], 1, outcome, by: nil, into: &shop)
        try shop.show(Sold.coins())
        #expect(try shop.events == [] && shop.gems() == 0 && shop.fulfilment(1).isImported)
    }

    /// This ledger knows from another system's books what that one has delivered, and the exported one does not.
    @Test func whatAnotherSystemHadDeliveredStaysSo() throws {
        var shop = try Shop()
        try shop.show(Sold.coins(), by: nil, from: .imported)
        #expect(try shop.fulfilment(1).isImported)
        try Self.take([Sold.coins()], 1, .notGiven(.waiting, .noCustomer), by: nil, into: &shop)
        try shop.show(Sold.coins())
        #expect(try shop.events == [] && shop.gems() == 0 && shop.fulfilment(1).isImported)
        try Invariants.check(shop, "two books")
    }

    /// It was given again there, and the shop was told by that one.
    @Test func whatWasGivenAgainThereIsAcknowledged() throws {
        var shop = try Shop()
        let sold = try Sold.coins()
        try Self.take([Sold.refunded(sold)], 1, .delivered(fence: 2, isTakenBack: true), into: &shop)
        #expect(try shop.fulfilment(1).delivery == .compensated)
        try Self.take([Sold.again(sold, after: 600)], 1, .delivered(fence: 3), into: &shop)
        #expect(try shop.word(1) == "granted" && shop.fulfilment(1).delivery == .acknowledged)
        #expect(try shop.events == [] && shop.fulfilment(1).fence == 3)
        try Invariants.check(shop, "given again")
    }

    /// One receipt has what was given and what waits: each is as its own row says, whichever comes first.
    @Test(arguments: [false, true]) func eachIsAsItsOwnRowSays(isReversed: Bool) throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(31)
        let receipt = [
            try Sold.coins(1), try Sold.coins(2), try Sold.month(3), try Sold.month(4, original: 3, from: 30),
        ]
        let rows: [(Int64, ExportedOutcome, String?)] = [
            (1, .delivered(fence: 1), "ann"), (2, .notGiven(.waiting, .noCustomer), nil),
            (3, .delivered(fence: 3), "bob"), (4, .notGiven(.waiting, .outOfRange), "bob"),
        ]
        for (number, outcome, customer) in isReversed ? rows.reversed() : rows {
            try Self.take(receipt, number, outcome, by: customer, into: &shop)
        }
        #expect(
            try (1...4).map { try shop.word($0) } == [
                "granted", "waiting no_customer", "granted", "waiting out_of_range",
            ]
        )
        #expect(try (1...4).map { try shop.fulfilment($0).fence } == [1, 0, 3, 0])
        #expect(try (1...4).map { try shop.fulfilment($0).isImported } == [true, false, true, false])
        #expect(shop.events == [])
        try Invariants.check(shop, "taken in")
        try shop.show(receipt, by: "ann")
        #expect(try shop.gems() == 100 && shop.word(2) == "granted")
    }

    /// Periods that wait for their order have none by being together in a receipt.
    @Test func whatWaitsForItsOrderGoesOnWaiting() throws {
        var shop = try Shop(needsOrder: true)
        shop.now = SubscriptionCase.at(29)
        let receipt = [try Sold.month(1), try Sold.month(2, original: 1, from: 30)]
        for number in [Int64(1), 2, 1] {
            try Self.take(receipt, number, .notGiven(.waiting, .noOrder), into: &shop)
        }
        #expect(try shop.word(1) == "waiting no_order" && shop.word(2) == "waiting no_order")
        #expect(try shop.events == [] && shop.rights() == [])
        try shop.place("o-1", "monthly")
        #expect(try shop.types.contains("delivery.granted") && shop.gems() == 20)
        try Invariants.check(shop, "paid")
    }

    /// Only Apple's history told of it: no order has it here either.
    @Test func whatOnlyHistoryToldOfWaitsForWhoeverPresentsIt() throws {
        var shop = try Shop()
        try Self.take([Sold.coins()], 1, .notGiven(.waiting, .fromHistory), by: nil, into: &shop)
        #expect(try shop.word(1) == "waiting from_history" && shop.fulfilment(1).isOfHistory)
        #expect(shop.events == [])
        try shop.show(Sold.coins())
        #expect(try shop.gems() == 100)
    }

    /// The same of what was refunded when history told of it: that it is given back is no reason to have it.
    @Test func whatOnlyHistoryToldOfStaysSoWhereItWasRefunded() throws {
        var shop = try Shop()
        let token = AccountToken(high: 1, low: 2)
        let sold = try Sold.coins(token: token)
        try shop.show(Sold.coins(9, token: token), token: token)
        let (gems, outcome) = (try shop.gems(), ExportedOutcome.notGiven(.withheld, .revoked, isOfHistory: true))
        try Self.take([Sold.refunded(sold)], 1, outcome, by: nil, into: &shop)
        #expect(try shop.fulfilment(1).isOfHistory)
        try shop.lookUp(Sold.again(sold, after: 600))
        #expect(try shop.word(1) == "waiting from_history" && shop.gems() == gems)
    }

    /// This ledger has heard of it by itself: what it has given stays, and what waits here for its order does.
    @Test func whatIsKnownHereStays() throws {
        var shop = try Shop()
        try shop.show(Sold.coins(1))
        try Self.take([Sold.coins(1)], 1, .delivered(fence: 3), into: &shop)
        #expect(try shop.fulfilment(1).fence == 1 && !shop.fulfilment(1).isImported && shop.gems() == 100)
        try Invariants.check(shop, "known")
    }
}
