import PurchaseModel
import Storage
import TestSupport
import Testing

/// Whose a period is, of which a receipt tells, is known by others of its chain: they are looked up whatever it is decided for.
@Suite struct CopyBesideTests {
    /// How a period may stand of which Apple has said whose it is, and that waits for nothing.
    enum Past: CaseIterable { case refunded, upgraded, over }

    /// What has a period decided about once more.
    static let ways: [[CopyShop.Act]] = [
        [.place], [.place, .attach(3)], [.place, .receive(3)], [.rebuild(3), .place],
    ]

    /// What she bought after a copy pays her order, however the period before stands that tells so.
    @Test(arguments: StoreKind.allCases, Past.allCases) func whatFollowsABoughtPeriodPays(kind: StoreKind, past: Past)
        async throws
    {
        for way in Self.ways {
            try await kind.withStore { store in
                var shop = try CopyShop(store, needsOrder: past != .over)
                shop.now = Samples.now.advanced(by: .seconds(61 * 86_400))
                if past == .refunded { shop.refunded = [2] }
                if past == .upgraded { shop.upgraded = [2] }
                try await shop.act(.hear(1, .familyShared), .hear(2, .purchased))
                shop.terms.needsOrder = true
                try await shop.act(.receive(3))
                for act in way { try await shop.act(act) }
                #expect(try shop.words(1, 3) == ["withheld family_shared", "granted"], "\(way)")
                #expect(try shop.state() == .paid && shop.gems() == 10)
            }
        }
    }

    /// What a family was given before tells that what follows is a copy, too, and of what goes to no family.
    @Test(arguments: StoreKind.allCases, [true, false]) func whatFollowsACopyPaysNothing(
        kind: StoreKind,
        isUpgraded: Bool
    )
        async throws
    {
        for way in Self.ways {
            try await kind.withStore { store in
                var shop = try CopyShop(store, needsOrder: false)
                shop.products[2] = CopyShop.silver
                if isUpgraded { shop.upgraded = [2] }
                shop.now = Samples.now.advanced(by: .seconds(45 * 86_400))
                let gold = try CopyShop.product(CopyShop.gold), terms = try #require(shop.terms.products?[gold])
                shop.terms.products?[gold] = nil
                try await shop.act(.hear(2, .familyShared), .receive(3))
                #expect(try shop.words(3) == ["waiting unknown_product"])
                shop.terms.products?[gold] = terms
                for act in way { try await shop.act(act) }
                #expect(try shop.words(3) == ["withheld family_shared"], "\(way)")
                #expect(try shop.state() == .pending && shop.gems() == (isUpgraded ? 0 : 10))
            }
        }
    }
}
