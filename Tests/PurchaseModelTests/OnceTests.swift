import PurchaseModel
import Testing

/// What was paid once is given once, under whatever number and with whatever end it comes, and lasts as it was sold.
@Suite struct OnceTests {
    /// What was sold for ninety days lasts so long, also when the shop sells thirty by now; a mistake in the customer's
    /// disfavour is mended.
    @Test(arguments: [(Int64(30), Int64(90)), (120, 120)])
    func aSeasonIsNotCutAfterwards(days: Int64, lasts: Int64) throws {
        var shop = try Shop()
        let (bought, season) = (try Sold.transaction(1, "season", .nonRenewing), try Shop.product("season"))
        try shop.show(bought)
        let goods = shop.terms.products?[season]?.goods ?? []
        let terms = ProductTerms(product: season, kind: .nonRenewing, goods: goods, period: .seconds(days * 86_400))
        shop.terms.products?[season] = terms
        try shop.show(Sold.again(bought, after: 60))
        #expect(try shop.rights(at: Facts.now.advanced(by: .seconds(lasts * 86_400 - 1))) == ["season"])
        #expect(try shop.rights(at: Facts.now.advanced(by: .seconds(lasts * 86_400))) == [])
    }

    /// One paid period comes under two numbers: as Apple sold it, and restored, before its end was moved or after it.
    @Test(arguments: [false, true]) func aPeriodWhoseEndWasMovedIsGivenOnce(isMovedFirst: Bool) throws {
        var shop = try Shop()
        let sold = try Sold.month(1)
        var moved = Sold.again(sold, after: 60)
        moved.expiresAt = moved.expiresAt?.advanced(by: .seconds(10 * 86_400))
        var restored = try Sold.month(9, original: 1)
        restored.expiresAt = isMovedFirst ? moved.expiresAt : sold.expiresAt
        try shop.show(sold)
        try shop.show(isMovedFirst ? moved : restored, by: nil)
        try shop.show(isMovedFirst ? restored : moved)
        #expect(try shop.word(9) == "withheld already_granted")
        #expect(try shop.gems() == 10)
        #expect(try shop.rights(at: Facts.now.advanced(by: .seconds(39 * 86_400))) == ["premium"])
        try Invariants.check(shop, "moved first: \(isMovedFirst)")
    }

    /// A transaction receipt of iOS 6 does not say what kind a product is, and has a number of its own for each device.
    @Test(arguments: [false, true]) func withoutACatalogueAPeriodIsGivenOnceToo(isPoorerFirst: Bool) throws {
        var shop = try Shop { $0.products = nil }
        var poorer = try Sold.month(9, original: 1)
        poorer.kind = nil
        let copies = [poorer, try Sold.month(1)]
        for copy in isPoorerFirst ? copies : copies.reversed() { try shop.show(copy) }
        #expect(shop.types.filter { $0 == "delivery.granted" }.count == 1)
        #expect(shop.fulfilments.filter { $0.reason == .alreadyGranted }.count == 1)
    }
}
