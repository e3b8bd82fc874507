import PurchaseModel
import Testing

/// What another system's books lack because they are older than their import.
@Suite struct ClosedBooksTests {
    /// The second month of subscription 1, bought so many hours after the books were handed in, on day 31.
    private static func next(after hours: Int64) throws -> Transaction {
        var next = try Sold.month(2, original: 1, from: 31)
        next.purchasedAt = next.purchasedAt.advanced(by: .seconds(hours * 3_600))
        next.signedAt = next.purchasedAt
        return next
    }

    /// How it comes that a period is heard of: an app presents it, or Apple tells of it, asked or not.
    enum Teller: CaseIterable { case app, notification, history }

    /// Renewed after the export and before the import, delivered by the old system: she may use it, and nobody is told or credited.
    @Test(arguments: Teller.allCases) func whatWasRenewedBeforeTheImportIsTheirs(teller: Teller) throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(31)
        try shop.show(Sold.month(1), from: .imported)
        let (missed, source) = (try Self.next(after: -20), teller == .history ? RecordingSource.history : .presented)
        try shop.show(missed, by: teller == .app ? "ann" : nil, from: source)
        #expect(try shop.word(2) == "granted")
        #expect(try shop.fulfilment(2).isImported)
        #expect(shop.events == [])
        #expect(try shop.gems() == 0 && shop.rights() == ["premium"])
        #expect(try shop.subscription().state == .active)
        try Invariants.check(shop, "\(teller)")
        // What follows is told, and so is what becomes of it.
        let next = try Sold.month(3, original: 1, from: 61)
        shop.now = next.purchasedAt
        try shop.show(next, by: nil)
        #expect(shop.types == ["delivery.granted", "subscription.renewed"])
        #expect(try shop.gems() == 10)
        try shop.show(Sold.refunded(missed), by: nil)
        #expect(shop.types.contains("delivery.compensated"))
        try Invariants.check(shop, "\(teller), refunded")
    }

    /// What has become of it since is told, also where that is the first that is heard of it.
    @Test func whatBecameOfItSinceIsTold() throws {
        for isTakenBack in [true, false] {
            var shop = try Shop()
            shop.now = SubscriptionCase.at(31)
            try shop.show(Sold.month(1), from: .imported)
            shop.now = SubscriptionCase.at(isTakenBack ? 40 : 62)
            let missed = try Self.next(after: -20)
            var over = Renewal(
                originalID: try #require(TransactionID(number: 1)),
                product: missed.product,
                signedAt: shop.now
            )
            (over.willAutoRenew, over.expirationIntent, over.renewsAt) = (false, 1, missed.expiresAt)
            if isTakenBack {
                try shop.show(Sold.refunded(missed), by: nil)
                #expect(shop.types.contains("purchase.withheld"))
                #expect(shop.types.contains("subscription.revoked"))
            } else {
                try shop.show(missed, renewals: [over], by: nil)
                #expect(shop.types.last == "subscription.expired")
            }
            #expect(!shop.types.contains("delivery.granted"))
        }
    }

    /// Renewed since: it is delivered here, also what was bought while Apple had not answered about the books yet.
    @Test(arguments: [0, 1]) func whatIsRenewedSinceIsDelivered(hours: Int64) throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(33)
        var recording = try Sold.month(1)
        recording.signedAt = SubscriptionCase.at(33)
        try shop.show(recording, from: .imported, booksClosedAt: SubscriptionCase.at(31))
        try shop.show(Self.next(after: hours), by: nil)
        #expect(try !shop.fulfilment(2).isImported)
        #expect(shop.types.contains("delivery.granted"))
        #expect(try shop.gems() == 10)
    }

    /// What waited here before, by an order that it names, is no word of the books; nor is another purchase than a period.
    @Test func whatIsNoPeriodOfItIsDelivered() throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(31)
        try shop.show(Sold.month(1), from: .imported)
        try shop.show(Sold.coins(5))
        #expect(try shop.gems() == 100)
        try shop.place("o-1", "monthly")
        try shop.show(Self.next(after: -20), order: "o-1")
        #expect(try !shop.fulfilment(2).isImported)
    }

    /// Her receipt came with the order of something else in it.
    @Test(arguments: [false, true]) func anOrderForSomethingElseIsNoWordOfIt(isBefore: Bool) throws {
        var shop = try Shop(needsOrder: true)
        shop.now = SubscriptionCase.at(31)
        let receipt = [try Sold.month(1), try Self.next(after: -20), try Sold.coins(5)]
        if !isBefore { try shop.show(Sold.month(1), from: .imported) }
        try shop.place("o-7")
        try shop.show(receipt, order: "o-7")
        if isBefore { try shop.show(Array(receipt.prefix(2)), from: .imported) }
        #expect(try shop.fulfilment(1).isImported && shop.fulfilment(2).isImported)
        #expect(try shop.gems() == 100 && shop.rights() == ["premium"])
        #expect(shop.types.filter { $0 == "delivery.granted" }.count == 1)
        try Invariants.check(shop, "\(isBefore)")
    }

    /// She presented it here, and Apple had to be asked: books that are handed in before the answer do not hold it.
    @Test(arguments: [false, true]) func whatWasPresentedBeforeTheImportIsDelivered(isBefore: Bool) throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(31)
        try shop.show(Sold.month(1), from: .imported)
        try shop.show([Self.next(after: -20)], presentedAt: SubscriptionCase.at(isBefore ? 30.5 : 31))
        #expect(try shop.fulfilment(2).isImported != isBefore)
        #expect(try shop.gems() == (isBefore ? 10 : 0))
        #expect(shop.types.contains("delivery.granted") == isBefore)
    }

    /// A month of the books was over when it was heard of: nobody hears that it began, and of its end only who had not closed the
    /// books by then. Each row: the day of the import, and what is told.
    @Test(arguments: [(35, ["subscription.expired"]), (61, [])] as [(Double, [String])])
    func ofWhatIsOverOnlyTheEndIsNews(day: Double, told: [String]) throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(day)
        try shop.show(Sold.month(1), from: .imported)
        shop.now = SubscriptionCase.at(70)
        try shop.show(Sold.month(2, original: 1, from: 30))
        #expect(try shop.fulfilment(2).isImported)
        #expect(try shop.subscription().state == .expired)
        #expect(shop.types == told)
        try Invariants.check(shop, "day \(day)")
    }

    /// The old system was off by then, and its operator has the rest delivered here.
    @Test func whatNobodyHasDeliveredIsDeliveredHere() throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(31)
        try shop.show(Sold.month(1), from: .imported)
        try shop.show([Self.next(after: -20)], isUndelivered: true)
        #expect(try !shop.fulfilment(2).isImported)
        #expect(try shop.types.contains("delivery.granted") && shop.gems() == 10)
    }

    /// Its last period in the books ended so many days before: Apple is asked once, however long that is.
    @Test(arguments: [1, 61, 400, 4_000] as [Double]) func whatIsOverByTheBooksIsAskedAbout(days: Double) throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(30 + days)
        try shop.show(Sold.month(1), from: .imported)
        let look = try #require(try shop.subscription().nextLook)
        #expect(shop.now < look && look <= shop.now.advanced(by: .seconds(3 * 86_400)))
        // Nobody has heard anything since, and it is not asked about for ever.
        shop.now = look
        try shop.look()
        if days > 60 { #expect(try shop.subscription().nextLook == nil) }
        #expect(shop.events == [])
    }

    /// An older period that is imported after it changes nothing of when that is; and what Apple has ended is over.
    @Test func aQuestionThatIsPlannedStays() throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(400)
        try shop.show(Sold.month(2, original: 1, from: 30), from: .imported)
        let look = try shop.subscription().nextLook
        try shop.show(Sold.month(1), from: .imported)
        #expect(try look != nil && shop.subscription().nextLook == look)
        var over = Renewal(
            originalID: try #require(TransactionID(number: 1)),
            product: try Shop.product("monthly"),
            signedAt: SubscriptionCase.at(399)
        )
        (over.willAutoRenew, over.expirationIntent, over.renewsAt) = (false, 1, SubscriptionCase.at(60))
        try shop.show(renewals: [over], by: nil)
        #expect(try shop.subscription().nextLook == nil)
    }
}
