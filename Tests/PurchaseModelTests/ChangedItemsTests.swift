import PurchaseModel
import Testing

/// A subscription through Advanced Commerce whose items are changed in the middle of a period, and which goes on until the same
/// end: what is bought with the change is a transaction of its own.
@Suite struct ChangedItemsTests {
    /// A month of one item and, from its tenth day on until the same end, of two.
    private static func month(_ number: Int64, isUpgraded: Bool = false) throws -> Transaction {
        var sold = try Sold.month(number, original: 1, from: number == 1 ? 0 : 10)
        sold.expiresAt = try Sold.month().expiresAt
        (sold.ownership, sold.reason) = (.purchased, .purchase)
        let skus = number == 1 ? ["news"] : ["news", "sport"]
        sold.advancedCommerce = AdvancedCommerce(
            items: skus.map { AdvancedCommerce.Item(sku: $0, milliunits: 990, revokedAt: nil, refunds: []) }
        )
        sold.signedAt = sold.purchasedAt
        guard isUpgraded else { return sold }
        sold.isUpgraded = true
        sold.signedAt = SubscriptionCase.at(11)
        return sold
    }

    /// What is heard: each by its number, `^` the first one as Apple marks it when another one has taken its place.
    private static func hear(_ heard: String, _ shop: inout Shop) throws {
        for sign in heard {
            let sold = sign == "^" ? try month(1, isUpgraded: true) : try month(sign == "1" ? 1 : 2)
            shop.now = max(shop.now, sold.signedAt)
            try shop.show(sold)
        }
    }

    @Test(arguments: ["12", "12^", "1^2", "^2", "2^", "21", "21^", "2^1", "122^", "1212"])
    func whatIsBoughtWithAChangeIsGiven(heard: String) throws {
        var shop = try Shop()
        try Self.hear(heard, &shop)
        #expect(try shop.word(2) == "granted")
        let deliveries = shop.types.filter { $0 == "delivery.granted" }
        #expect(deliveries.count == (heard.contains("1") && !heard.hasPrefix("2^") ? 2 : 1))
        #expect(try shop.subscription().current == TransactionID(number: 2))
        #expect(try shop.subscription().state == .active)
        #expect(try shop.rights(at: SubscriptionCase.at(29)) == ["premium"])
        #expect(try shop.rights(at: SubscriptionCase.at(31)) == [])
        try Invariants.check(shop, "\(heard)")
        let rows = try [1, 2].compactMap { shop.situation[try Shop.key($0, Shop.production)] }
        let row = shop.situation.subscription(of: try Shop.chain(1))
        #expect(rebuild(try Shop.chain(1), from: rows, stored: row, at: shop.now) == nil)
    }

    /// It is no renewal: the shop hears that another plan runs.
    @Test(arguments: ["12", "12^", "1^2", "1212"]) func aChangeIsNoRenewal(heard: String) throws {
        var shop = try Shop()
        try Self.hear(heard, &shop)
        #expect(SubscriptionEventTests.told(shop) == ["started", "product_changed"])
        var next = try Sold.month(3, original: 1, from: 30)
        (next.ownership, next.reason) = (.purchased, .renewal)
        next.advancedCommerce = try Self.month(2).advancedCommerce
        shop.now = next.purchasedAt
        try shop.show(next)
        #expect(SubscriptionEventTests.told(shop) == ["started", "product_changed", "renewed"])
        #expect(try shop.word(3) == "granted")
    }

    /// Apple takes back what was bought with the change: what she had before lasts on.
    @Test func theFirstLastsWhereTheChangeIsTakenBack() throws {
        var shop = try Shop()
        try Self.hear("12", &shop)
        shop.now = SubscriptionCase.at(12)
        try shop.show(Sold.refunded(Self.month(2)), by: nil)
        #expect(try shop.word(1) == "granted" && shop.word(2) == "reversed")
        #expect(try shop.rights(at: SubscriptionCase.at(29)) == ["premium"])
        try Invariants.check(shop, "refunded")
    }

    /// A month until the same end that was not bought through it is another number of the same one.
    @Test func elsewhereTheSameEndIsTheSameMonth() throws {
        var shop = try Shop()
        for number in [1, 2] as [Int64] {
            var sold = try Self.month(number)
            sold.advancedCommerce = nil
            try shop.show(sold)
        }
        #expect(try shop.word(2) == "withheld already_granted")
    }
}
