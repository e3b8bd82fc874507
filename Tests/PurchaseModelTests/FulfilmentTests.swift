import PurchaseModel
import Testing

@Suite struct FulfilmentTests {
    @Test func aConsumableIsCreditedAsOftenAsItWasBought() throws {
        var shop = try Shop()
        let decision = try shop.show(Sold.coins(1, quantity: 3))
        #expect(try shop.gems() == 300)
        #expect(try shop.word(1) == "granted")
        #expect(shop.types == ["delivery.granted"])
        #expect(decision.outcomes.map(\.fulfilment?.delivery) == [.pending])
        #expect(decision.outcomes.map(\.fulfilment?.fence) == [1])
        #expect(shop.postings.map(\.debit) == [.issued])
        #expect(shop.postings.map(\.credit) == [.balance])
    }

    @Test func theSameProofAgainGivesNothingAndWritesNothing() throws {
        var shop = try Shop()
        let sold = [try Sold.coins(1), try Sold.lamp(2), try Sold.month(3)]
        for transaction in sold { try shop.show(transaction) }
        for transaction in sold { #expect(try shop.show(transaction).isEmpty) }
        #expect(try shop.gems() == 115)
    }

    /// Each row: what came before, what comes, and what becomes of it.
    @Test(arguments: [
        ("coins", "granted"), ("coins refunded", "withheld revoked"), ("lamp upgraded", "withheld upgraded"),
        ("lamp family", "withheld family_shared"), ("ended", "withheld expired"), ("sword", "waiting unknown_product"),
        ("coins as lamp", "waiting kind_contradicts"), ("coins of nobody", "waiting no_customer"),
        ("no coins", "waiting out_of_range"), ("all coins", "waiting out_of_range"),
    ])
    func eachTransactionIsGivenOrSaysWhyNot(sold: String, expected: String) throws {
        var shop = try Shop()
        switch sold {
        case "coins refunded": try shop.show(Sold.refunded(Sold.coins()))
        case "lamp upgraded":
            var upgraded = try Sold.lamp()
            upgraded.isUpgraded = true
            try shop.show(upgraded)
        case "lamp family":
            var shared = try Sold.lamp()
            shared.ownership = .familyShared
            try shop.show(shared)
        case "ended": try shop.show(Sold.month(from: -30))
        case "sword": try shop.show(Sold.transaction(1, "sword", .consumable))
        case "coins as lamp": try shop.show(Sold.transaction(1, "coins", .nonConsumable))
        case "coins of nobody": try shop.show(Sold.coins(), by: nil)
        case "no coins": try shop.show(Sold.coins(quantity: 0))
        case "all coins": try shop.show(Sold.coins(quantity: .max))
        default: try shop.show(Sold.coins())
        }
        #expect(try shop.word(1) == expected)
        let isGiven = expected == "granted"
        #expect(try shop.gems() == (isGiven ? 100 : 0))
        #expect(shop.events.count == 1)
        #expect(try shop.fulfilment(1).delivery == (isGiven ? .pending : nil))
    }

    /// Taken back when she left the family, or when another member did; the copy that she has when she is back has the
    /// period of the one who pays.
    @Test(arguments: [false, true])
    func whoComesBackToAFamilyMayUseItAgain(isReturnFirst: Bool) throws {
        var shop = try Shop { terms in
            for id in terms.products?.keys.map(\.self) ?? [] { terms.products?[id]?.isFamilyShared = true }
        }
        var copy = try Sold.month(1)
        copy.ownership = .familyShared
        let gone = Sold.refunded(copy)
        var next = Sold.again(try Sold.month(2, original: 1), after: 120)
        next.ownership = .familyShared
        try shop.show(copy)
        for fact in isReturnFirst ? [next, gone] : [gone, next] { try shop.show(fact) }
        #expect(try shop.rights() == ["premium"])
        // It costs nothing to leave and to come back, so that amounts are not given again.
        #expect(try shop.gems() == 0)
    }

    @Test func aFamilyMemberGetsWhatTheProductSharesAndRevenueIsNobodys() throws {
        var shop = try Shop { terms in
            for (id, product) in terms.products ?? [:] where product.kind == .nonConsumable {
                terms.products?[id]?.isFamilyShared = true
            }
        }
        var shared = try Sold.lamp()
        shared.ownership = .familyShared
        try shop.show(shared)
        #expect(try shop.rights() == ["light"])
    }

    @Test func aProductThatIsBoughtForGoodIsGivenOnceHoweverOftenItIsRestored() throws {
        var shop = try Shop()
        try shop.show(Sold.lamp(1))
        try shop.show(Sold.lamp(2, original: 1))
        try shop.show(Sold.lamp(3, original: 1), by: nil)
        #expect(try shop.word(2) == "withheld already_granted")
        #expect(try shop.gems() == 5)
        #expect(try shop.rights() == ["light"])
    }

    @Test func whatIsBoughtAnewAfterARefundIsGivenAnew() throws {
        var shop = try Shop()
        try shop.show(Sold.refunded(Sold.lamp(1)))
        try shop.show(Sold.lamp(1))
        #expect(try shop.word(1) == "withheld revoked")
        try shop.show(Sold.lamp(5))
        try shop.show(Sold.refunded(Sold.lamp(5), after: 60))
        #expect(try shop.rights() == [])
        var anew = try Sold.lamp(6, original: 5)
        anew.purchasedAt = Facts.now.advanced(by: .seconds(120))
        try shop.show(anew)
        #expect(try shop.word(6) == "granted")
        #expect(try shop.rights() == ["light"])
        #expect(try shop.gems() == 5)
    }

    /// Each row: how the product is sold. The free ones of Newsstand have periods like any other.
    @Test(arguments: [ProductKind.autoRenewable, .freeSubscription])
    func eachPeriodOfASubscriptionIsGivenOnce(kind: ProductKind) throws {
        let monthly = try Shop.product("monthly")
        var shop = try Shop { terms in
            let goods = terms.products?[monthly]?.goods ?? []
            terms.products?[monthly] = ProductTerms(product: monthly, kind: kind, goods: goods)
        }
        // The last is a restore: another number, the same period.
        for (number, day) in [(Int64(1), Int64(0)), (2, 30), (9, 30)] {
            var month = try Sold.month(number, original: 1, from: day)
            month.kind = kind
            try shop.show(month)
        }
        #expect(try shop.word(9) == "withheld already_granted")
        #expect(try shop.gems() == 20)
        #expect(try shop.rights(at: Facts.now.advanced(by: .seconds(59 * 86_400))) == ["premium"])
        #expect(try shop.rights(at: Facts.now.advanced(by: .seconds(60 * 86_400))) == [])
    }

    @Test func aPeriodThatIsOverGivesItsAmountsOnlyWhereTheProductSaysSo() throws {
        var shop = try Shop { terms in
            for id in terms.products?.keys.map(\.self) ?? [] { terms.products?[id]?.deliversExpired = true }
        }
        try shop.show(Sold.month(1, from: -60), Sold.month(2, original: 1, from: -30))
        #expect(try shop.gems() == 20)
        #expect(try shop.rights() == [])
    }

    @Test func aNonRenewingSubscriptionLastsAsLongAsTheCatalogueSays() throws {
        var shop = try Shop()
        try shop.show(Sold.transaction(1, "season", .nonRenewing))
        #expect(try shop.rights(at: Facts.now.advanced(by: .seconds(90 * 86_400 - 1))) == ["season"])
        #expect(try shop.rights(at: Facts.now.advanced(by: .seconds(90 * 86_400))) == [])
    }

    /// Several seasons at once follow one another; a number beyond all calendars is one of 32 bits, and ends no server.
    @Test(arguments: [1, 2, 10]) func soManySeasonsLastSoManyTimesAsLong(quantity: Int) throws {
        var shop = try Shop()
        var bought = try Sold.transaction(1, "season", .nonRenewing)
        bought.quantity = quantity
        try shop.show(bought)
        let length = Int64(quantity) * 90 * 86_400
        #expect(try shop.rights(at: Facts.now.advanced(by: .seconds(length - 1))) == ["season"])
        #expect(try shop.rights(at: Facts.now.advanced(by: .seconds(length))) == [])
        bought = try Sold.transaction(2, "season", .nonRenewing)
        bought.quantity = Int(Int32.max)
        try shop.show(bought)
        #expect(try shop.rights(at: Facts.now.advanced(by: .seconds(length))) == ["season"])
    }

    /// Two that were bought by themselves run beside each other: none begins at the other's end, so that neither order of
    /// arrival nor the refund of one moves the other.
    @Test(arguments: [[Int64(1), 2], [2, 1]], [false, true])
    func seasonsBoughtApartRunBesideEachOther(order: [Int64], isFirstRefunded: Bool) throws {
        var shop = try Shop()
        var sold: [Int64: Transaction] = [:]
        for number in [Int64(1), 2] {
            var season = try Sold.transaction(number, "season", .nonRenewing)
            season.purchasedAt = Facts.now.advanced(by: .seconds((number - 3) * 30 * 86_400))
            sold[number] = season
        }
        for number in order { try shop.show(try #require(sold[number])) }
        if isFirstRefunded { try shop.show(Sold.refunded(try #require(sold[1]), after: 60), by: nil) }
        #expect(try shop.rights(at: Facts.now.advanced(by: .seconds(60 * 86_400 - 1))) == ["season"])
        #expect(try shop.rights(at: Facts.now.advanced(by: .seconds(60 * 86_400))) == [])
    }

    /// Each row: what the shop changes after it was bought.
    @Test(arguments: ["product", "period", "catalogue"])
    func aSeasonEndsAlthoughTheShopSellsItNoMore(gone: String) throws {
        var shop = try Shop()
        let bought = try Sold.transaction(1, "season", .nonRenewing)
        try shop.show(bought)
        let season = try Shop.product("season")
        switch gone {
        case "product": shop.terms.products?[season] = nil
        case "period":
            let goods = shop.terms.products?[season]?.goods ?? []
            shop.terms.products?[season] = ProductTerms(product: season, kind: .nonRenewing, goods: goods)
        default: shop.terms.products = nil
        }
        // Whatever is heard of it, also from a format that does not say what kind it is.
        for after in [Int64(60), 120] {
            var again = Sold.again(bought, after: after)
            if after == 120 { again.kind = nil }
            try shop.show(again)
            #expect(try shop.rights(at: Facts.now.advanced(by: .seconds(90 * 86_400 - 1))) == ["season"])
            #expect(try shop.rights(at: Facts.now.advanced(by: .seconds(90 * 86_400))) == [])
        }
        #expect(shop.types == ["delivery.granted"])
        try shop.show(Sold.refunded(bought, after: 180), by: nil)
        #expect(try shop.rights(at: Facts.now.advanced(by: .seconds(181))) == [])
        // Nobody knows any more when it would have ended; whoever paid for it has it.
        try shop.show(Sold.again(bought, after: 240), by: nil)
        #expect(try shop.rights(at: Facts.now.advanced(by: .seconds(300))) == ["season"])
    }

    @Test func anExtensionLastsLongerAndTellsTheShop() throws {
        var shop = try Shop()
        try shop.show(Sold.month(1))
        var extended = Sold.again(try Sold.month(1), after: 60)
        extended.expiresAt = Facts.now.advanced(by: .seconds(45 * 86_400))
        try shop.show(extended, by: nil)
        #expect(try shop.rights(at: Facts.now.advanced(by: .seconds(40 * 86_400))) == ["premium"])
        #expect(try shop.fulfilment(1).fence == 2)
        #expect(
            shop.types == [
                "delivery.granted", "subscription.started", "delivery.changed", "subscription.extended",
            ]
        )
        #expect(try shop.gems() == 10)
    }

    @Test func anUpgradeEndsWhatItReplaces() throws {
        var shop = try Shop()
        try shop.show(Sold.month(1))
        var upgraded = Sold.again(try Sold.month(1), after: 60)
        upgraded.isUpgraded = true
        try shop.show(upgraded, by: nil)
        #expect(try shop.rights() == [])
        // The amounts of the period that was paid stay: Apple refunds the rest of it by itself.
        #expect(try shop.gems() == 10)
    }

    /// verifyReceipt and receipts give what was upgraded a date of cancellation. Each row: who tells first.
    @Test(arguments: [true, false])
    func whatWasUpgradedIsNoRefundHoweverItIsTold(isCancelledFirst: Bool) throws {
        var shop = try Shop(needsOrder: true)
        try shop.place("o-1", "monthly")
        let bought = try Sold.month(1)
        try shop.show(bought)
        var told = [Sold.again(bought, after: 60), Sold.again(bought, after: 60)]
        for place in told.indices { told[place].isUpgraded = true }
        told[isCancelledFirst ? 0 : 1].revocation = Revocation(at: Facts.now.advanced(by: .seconds(30)))
        told[1].signedAt = told[1].signedAt.advanced(by: .seconds(60))
        for fact in told { try shop.show(fact, by: nil) }
        #expect(try shop.word(1) == "granted")
        #expect(try shop.rights() == [])
        #expect(try shop.gems() == 10)
        #expect(try shop.order("o-1").state == .paid)
        #expect(!shop.types.contains { $0 == "delivery.compensated" || $0 == "subscription.revoked" })
        // A refund says why.
        try shop.show(Sold.refunded(bought, after: 300, percentage: 100_000), by: nil)
        #expect(try shop.word(1) == "reversed")
        #expect(try shop.gems() == 0)
    }

    /// Apple told of a period and of its refund before anybody was known: whoever presents the next one has all of the chain.
    @Test func whatWasTakenBackBeforeAnybodyWasKnownIsTheOwnersToo() throws {
        var shop = try Shop()
        let first = try Sold.month(1)
        try shop.show(first, by: nil)
        try shop.show(Sold.refunded(first), by: nil)
        #expect(try shop.fulfilment(1).reason == .revoked && shop.fulfilment(1).customer == nil)
        try shop.show(Sold.month(2, original: 1, from: 1))
        #expect(try shop.word(1) == "withheld revoked" && shop.fulfilment(1).customer?.text == "ann")
        #expect(try shop.word(2) == "granted")
        // Once when nobody was known, and once to whom it belongs.
        #expect(shop.types.filter { $0 == "purchase.withheld" }.count == 2)
        try Invariants.check(shop, "taken back before anybody was known")
    }

    /// What an app without a catalogue delivers is Apple's word: which product, how often.
    @Test func withoutACatalogueEverythingIsGivenByItsName() throws {
        var shop = try Shop { $0.products = nil }
        try shop.show(Sold.transaction(1, "sword", .consumable))
        #expect(try shop.word(1) == "granted")
        #expect(try shop.fulfilment(1).goods == [])
    }

    /// Receipts do not say what kind a product is. Each row: what is heard of one lamp in order, a number with Apple's word on
    /// its kind or, with a question mark, without; a refund is a minus.
    @Test(arguments: [
        ("1?8?", 1), ("8?1?", 1), ("18?", 1), ("8?1", 1), ("1?8", 1), ("8?-", 0), ("-8?", 0), ("1?8?-", 0),
        ("8?1?9?", 1),
    ])
    func whatMayBeARestoreIsGivenOnceWhereNobodySaysItsKind(heard: String, expected: Int) throws {
        var shop = try Shop { $0.products = nil }
        var rest = Substring(heard)
        while let number = rest.popFirst() {
            if number == "-" {
                var refunded = Sold.refunded(try Sold.lamp(1))
                refunded.kind = nil
                try shop.show(refunded, by: nil)
                continue
            }
            var sold = try Sold.lamp(Int64(number.wholeNumberValue ?? 0), original: 1)
            if rest.first == "?" {
                rest.removeFirst()
                sold.kind = nil
            }
            try shop.show(sold)
            try Invariants.check(shop, "\(number) of \(heard)")
        }
        let given = shop.types.count { $0 == "delivery.granted" } - shop.types.count { $0 == "delivery.compensated" }
        #expect(given == expected)
    }

    /// Each row: the rule, by whom, and whether it is given.
    @Test(arguments: [
        ("record_only", "ann", false), ("customers", "ann", true), ("customers", "bob", false),
        ("everybody", "bob", true), ("ended", "bob", false),
    ])
    func sandboxPurchasesAreGivenByPolicyAndStayBehindTheWall(rule: String, customer: String, isGiven: Bool) throws {
        let ann = try #require(CustomerID("ann"))
        var shop = try Shop { terms in
            switch rule {
            case "customers": terms.sandbox = .customers([ann])
            case "everybody": terms.sandbox = .everybody(until: Facts.now.advanced(by: .seconds(1)))
            case "ended": terms.sandbox = .everybody(until: Facts.now)
            default: terms.sandbox = .recordOnly
            }
        }
        try shop.show(Sold.coins(), by: customer, realm: Shop.sandbox)
        #expect(try shop.word(1, realm: Shop.sandbox) == (isGiven ? "granted" : "waiting sandbox"))
        #expect(try shop.gems(of: customer, realm: Shop.sandbox) == (isGiven ? 100 : 0))
        #expect(try shop.gems(of: customer) == 0)
        #expect(shop.events.allSatisfy { $0.stream.realm == Shop.sandbox })
    }

    @Test func aTransactionOfNobodyIsGivenOnceSomebodyShowsIt() throws {
        var shop = try Shop()
        try shop.show(Sold.coins(), by: nil)
        try shop.show(Sold.coins(), by: "ann")
        try shop.show(Sold.coins(), by: "bob")
        #expect(try shop.gems() == 100)
        #expect(try shop.gems(of: "bob") == 0)
    }

    @Test func theFirstProofMayNotKnowTheChain() throws {
        var shop = try Shop()
        var poor = try Sold.lamp(2, original: 1)
        poor.originalID = nil
        try shop.show(poor)
        try shop.show(Sold.again(try Sold.lamp(2, original: 1), after: 60))
        try shop.show(Sold.refunded(Sold.lamp(2, original: 1), after: 120))
        #expect(try shop.gems() == 0)
        #expect(try shop.word(2) == "reversed")
    }
}
