import PurchaseModel
import TestSupport
import Testing

/// What Apple gives back after a refund lasts as long as it was sold for, whatever the shop sells by then.
@Suite struct SoldEndTests {
    private static let day: Int64 = 86_400

    private static func moment(_ day: Int64) -> Timestamp { Facts.now.advanced(by: .seconds(day * Self.day)) }

    /// What becomes of a product whose season had ninety days.
    enum Change: CaseIterable {
        case gone, noCatalogue, days30, days120, endless

        func apply(to terms: inout AppTerms, of product: ProductID) {
            let goods = terms.products?[product]?.goods ?? []
            func season(_ days: Int64?) -> ProductTerms {
                ProductTerms(
                    product: product,
                    kind: .nonRenewing,
                    goods: goods,
                    period: days.map { .seconds($0 * SoldEndTests.day) }
                )
            }
            switch self {
            case .gone: terms.products?[product] = nil
            case .noCatalogue: terms.products = nil
            case .days30: terms.products?[product] = season(30)
            case .days120: terms.products?[product] = season(120)
            case .endless: terms.products?[product] = season(nil)
            }
        }
    }

    /// Refunded on the twentieth day, or after its end, and given back; or taken back in two steps, and in part. Receipts and
    /// transactions of iOS 6 do not say the kind.
    @Test(arguments: Change.allCases, [true, false])
    func aSeasonThatIsGivenBackLastsAsItWasSold(change: Change, saysKind: Bool) throws {
        let product = try Shop.product("season")
        var bought = try Sold.transaction(1, "season", .nonRenewing)
        if !saysKind { bought.kind = nil }
        let part = Sold.refunded(bought, after: 20 * Self.day, percentage: 40_000)
        let whole = Sold.refunded(bought, after: 21 * Self.day)
        let late = Sold.refunded(bought, after: 95 * Self.day)
        let lasts = Self.moment(change == .days120 ? 120 : 90)
        for refunds in [[part], [whole], [part, whole], [late], [whole, whole]] {
            for changesFirst in [true, false] {
                var shop = try Shop()
                try shop.show(bought)
                for (place, refund) in refunds.enumerated() {
                    if changesFirst, place == refunds.count - 1 { change.apply(to: &shop.terms, of: product) }
                    try shop.show(refund, by: nil)
                    #expect(try shop.word(1) == "reversed")
                    let sold = changesFirst && place == refunds.count - 1 ? lasts : Self.moment(90)
                    let end = min(try #require(refund.revocation).at, sold)
                    #expect(try shop.fulfilment(1).goodsByNow == [.entitlement(Shop.right("season"), until: end)])
                }
                change.apply(to: &shop.terms, of: product)
                try shop.show(Sold.again(bought, after: 99 * Self.day), by: nil)
                #expect(try shop.word(1) == "granted")
                let given = [GrantedGoods.entitlement(try Shop.right("season"), until: lasts)]
                #expect(try shop.fulfilment(1).goods == given, "\(change) \(refunds.count) \(changesFirst)")
                #expect(try shop.fulfilment(1).goodsByNow == given)
                #expect(try shop.rights(at: lasts.advanced(by: .seconds(-1))) == ["season"])
                #expect(try shop.rights(at: lasts) == [])
                #expect(shop.types.last == "delivery.restored")
            }
        }
    }

    /// Apple calls it a consumable, or the shop does by now: it was sold for ninety days all the same.
    @Test(arguments: [true, false]) func whatIsCalledAConsumableByNowLastsAsItWasSold(byApple: Bool) throws {
        var shop = try Shop()
        var bought = try Sold.transaction(1, "season", .nonRenewing)
        bought.kind = nil
        try shop.show(bought)
        let product = try Shop.product("season")
        let goods = try #require(shop.terms.products?[product]?.goods)
        if byApple {
            bought.kind = .consumable
        } else {
            shop.terms.products?[product] = ProductTerms(product: product, kind: .consumable, goods: goods)
        }
        let given = [GrantedGoods.entitlement(try Shop.right("season"), until: Self.moment(90))]
        try shop.show(Sold.again(bought, after: 120), by: nil)
        #expect(try shop.fulfilment(1).goods == given)
        try shop.show(Sold.refunded(bought, after: 200), by: nil)
        try shop.show(Sold.again(bought, after: 300), by: nil)
        #expect(try shop.fulfilment(1).goods == given)
        #expect(shop.types.last == "delivery.restored")
    }

    /// It was sold without an end, before the shop gave it one.
    @Test func whatWasSoldForGoodIsNotCutByALaterPeriod() throws {
        let product = try Shop.product("season")
        var shop = try Shop()
        Change.endless.apply(to: &shop.terms, of: product)
        let bought = try Sold.transaction(1, "season", .nonRenewing)
        try shop.show(bought)
        let given = [GrantedGoods.entitlement(try Shop.right("season"), until: nil)]
        #expect(try shop.fulfilment(1).goods == given)
        Change.days30.apply(to: &shop.terms, of: product)
        try shop.show(Sold.again(bought, after: 40 * Self.day), by: nil)
        #expect(try shop.fulfilment(1).goods == given)
        try shop.show(Sold.refunded(bought, after: 41 * Self.day), by: nil)
        #expect(try shop.rights(at: Self.moment(42)) == [])
        try shop.show(Sold.again(bought, after: 42 * Self.day), by: nil)
        #expect(try shop.fulfilment(1).goods == given)
        #expect(!shop.types.contains("delivery.changed"))
    }

    /// What has no end has none again.
    @Test func whatIsBoughtForGoodHasNoEndAgain() throws {
        var shop = try Shop()
        try shop.show(Sold.lamp())
        try shop.show(Sold.refunded(Sold.lamp()), by: nil)
        let light = try Shop.right("light")
        let end = Facts.now.advanced(by: .seconds(60))
        #expect(try shop.fulfilment(1).goodsByNow.first == .entitlement(light, until: end))
        shop.terms.products?[try Shop.product("lamp")] = nil
        try shop.show(Sold.again(Sold.lamp(), after: 120), by: nil)
        #expect(try shop.fulfilment(1).goodsByNow.first == .entitlement(light, until: nil))
    }

    /// A period that lasts longer by its other number, and an upgrade, which ends what it took the place of also when the refund
    /// is reversed.
    @Test func aPeriodThatIsGivenBackEndsAsAppleSays() throws {
        var shop = try Shop()
        try shop.show(Sold.month())
        var longer = try Sold.month(9, original: 1)
        longer.expiresAt = Self.moment(40)
        try shop.show(longer)
        try shop.show(Sold.refunded(Sold.month()), by: nil)
        #expect(try shop.rights() == [])
        try shop.show(Sold.again(Sold.month(), after: 120), by: nil)
        #expect(try shop.rights(at: Self.moment(40).advanced(by: .seconds(-1))) == ["premium"])
        #expect(try shop.rights(at: Self.moment(40)) == [])
        var upgraded = try Sold.again(Sold.month(), after: 180)
        upgraded.isUpgraded = true
        try shop.show(Sold.refunded(upgraded), by: nil)
        try shop.show(Sold.again(upgraded, after: 300), by: nil)
        #expect(try shop.rights() == [])
    }

    /// Apple asks once more, after it gave back a part: half of the season had passed by then.
    @Test func whatWasTakenBackWasUsedUntilThen() throws {
        var shop = try Shop { $0.consumption.answers = true }
        let bought = try Sold.transaction(1, "season", .nonRenewing)
        try shop.show(bought)
        let refunded = Sold.refunded(bought, after: 45 * Self.day, percentage: 40_000)
        shop.now = Self.moment(60)
        let asked = Announcement(
            id: try #require(NotificationID("n-1")),
            type: "CONSUMPTION_REQUEST",
            signedAt: shop.now,
            transaction: bought.id,
            original: bought.id,
            matter: .refundRequest(reason: nil, isAdvancedCommerce: false)
        )
        try shop.hear(asked, refunded)
        let key = ConsumptionKey(app: try Shop.app(), realm: Shop.production, id: asked.id)
        let request = try #require(shop.situation.consumption(key))
        let facts = ConsumptionFacts(transaction: shop.recorded.first, fulfilment: try shop.fulfilment(1))
        #expect(preview(of: request, facts, shop.terms.consumption, at: shop.now)?.percentage == 50_000)
    }

    /// Earlier versions left the moment of the refund in place of the end: that is none, and what was sold is what is sold now.
    @Test func theMomentOfARefundIsNoEnd() throws {
        var shop = try Shop()
        let season = try Sold.transaction(1, "season", .nonRenewing)
        let sold = [season, try Sold.lamp(2)]
        try shop.show(sold)
        try shop.show(sold.map { Sold.refunded($0) }, by: nil)
        for number in [Int64(1), 2] {
            var earlier = Decision()
            earlier.fulfilments = [.update(Self.asEarlierVersionsWrote(try shop.fulfilment(number)))]
            shop.apply(earlier)
        }
        try shop.show(sold.map { Sold.again($0, after: 120) }, by: nil)
        #expect(try shop.rights(at: Self.moment(89)) == ["light", "season"])
        #expect(try shop.rights(at: Self.moment(91)) == ["light"])
    }

    /// Of a season that is sold no more nobody knows the end then: it is over, and not for ever.
    @Test(arguments: [Change.gone, .noCatalogue]) func whatNobodyKnowsTheEndOfIsNotForEver(change: Change) throws {
        var shop = try Shop()
        let season = try Sold.transaction(1, "season", .nonRenewing)
        try shop.show(season)
        try shop.show(Sold.refunded(season), by: nil)
        var earlier = Decision()
        earlier.fulfilments = [.update(Self.asEarlierVersionsWrote(try shop.fulfilment(1)))]
        shop.apply(earlier)
        change.apply(to: &shop.terms, of: try Shop.product("season"))
        for (refund, reversal) in [(nil, Int64(120)), (180, 240)] as [(Int64?, Int64)] {
            if let refund { try shop.show(Sold.refunded(season, after: refund), by: nil) }
            try shop.show(Sold.again(season, after: reversal), by: nil)
            #expect(try shop.word(1) == "granted")
            #expect(try shop.rights(at: Self.moment(1)) == [])
            #expect(try shop.rights(at: Facts.now.advanced(by: .seconds(59))) == ["season"])
        }
    }

    private static func asEarlierVersionsWrote(_ row: Fulfilment) -> Fulfilment {
        row.copy { stored in
            stored.version += 1
            stored.goods = row.goods.map { goods in
                guard case .entitlement(let id, _) = goods else { return goods }
                return .entitlement(id, until: row.reversedAt)
            }
        }
    }
}
