import PurchaseModel
import TestSupport
import Testing

/// Apple takes back a part of what has two numbers, one of them of a restore by StoreKit 1: by either it is the same purchase.
@Suite struct RestoredPartTests {
    private static let products = ["lamp", "monthly"]

    /// Each product gives ten gems beside access.
    private static func shop() throws -> Shop {
        let (lamp, right, gems) = (try Shop.product("lamp"), try Shop.right("light"), try Shop.currency("gems"))
        return try Shop { $0.products?[lamp]?.goods = [.entitlement(right), .amount(10, gems)] }
    }

    /// The purchase, and its restore.
    private static func numbers(of product: String) throws -> [Transaction] {
        product == "lamp"
            ? [try Sold.lamp(1), try Sold.lamp(8, original: 1)] : [try Sold.month(1), try Sold.month(8, original: 1)]
    }

    /// Whether the rules, asked once more, leave it as it is.
    private static func isSettled(_ shop: Shop) throws -> Bool {
        let keys = try [1, 8].map { try Shop.key($0, Shop.production) }
        return decide(shop.situation, rebuilding: keys, tokens: [:], terms: shop.terms, at: shop.now).isEmpty
    }

    /// Each row: what is heard, in order: the purchase and its restore as 1 and 8; by the number of the restore a part of four
    /// tenths, or of two, as - and _, and that none is taken back any more as +; by the purchase's a half as v, and none as ^;
    /// and how many are left of ten.
    @Test(
        arguments: products,
        [
            ("18-", 6), ("81-", 6), ("8-1", 6), ("-1", 6), ("1-", 6), ("1-8", 6), ("18v", 5), ("81v", 5), ("8v1", 5),
            ("v8", 5), ("18-+", 10), ("-+1", 10), ("1-+", 10), ("18v^", 10), ("81v^", 10), ("8v^", 10), ("18-v", 5),
            ("18v-", 5), ("81v-", 5), ("8-v", 5), ("18-v^", 6), ("18-v+", 5), ("81-v+", 5), ("18-_", 8), ("1-_8", 8),
            ("18--", 6), ("18-1818", 6),
        ]
    )
    func aPartCountsByWhicheverNumber(product: String, row: (heard: String, left: Int64)) throws {
        var shop = try Self.shop()
        let sold = try Self.numbers(of: product)
        var seconds: Int64 = 60
        for step in row.heard {
            switch step {
            case "1": try shop.show(sold[0])
            case "8": try shop.show(sold[1])
            case "-": try shop.show(Sold.refunded(sold[1], after: seconds, percentage: 40_000), by: "ann")
            case "_": try shop.show(Sold.refunded(sold[1], after: seconds, percentage: 20_000), by: nil)
            case "+": try shop.show(Sold.again(sold[1], after: seconds), by: nil)
            case "v": try shop.show(Sold.refunded(sold[0], after: seconds, percentage: 50_000), by: "ann")
            default: try shop.show(Sold.again(sold[0], after: seconds), by: nil)
            }
            seconds += 60
            try Invariants.check(shop, "\(step) of \(row.heard)")
        }
        shop.now = Facts.now.advanced(by: .seconds(seconds))
        #expect(try shop.gems() == row.left)
        // Access ends with any refund.
        #expect(try shop.rights().isEmpty == (row.left < 10))
        #expect(try Self.isSettled(shop))
    }

    /// The order that it paid says how much of it is back.
    @Test(arguments: products) func itsOrderTellsOfThePart(product: String) throws {
        var shop = try Self.shop()
        let sold = try Self.numbers(of: product)
        try shop.place("o-1", product)
        try shop.show(sold[0])
        try shop.show(sold[1])
        let told = try shop.show(Sold.refunded(sold[1], percentage: 40_000), by: nil).events.map(\.type)
        #expect(told.prefix(2) == [.orderRefundChanged, .deliveryCompensated])
        #expect(try shop.order("o-1").state == .paid && shop.order("o-1").refunded == 40_000)
        #expect(try shop.word(1) == "partly_reversed" && shop.word(8) == "withheld already_granted")
    }

    /// Whatever comes in whatever order and however often: the larger of the parts that were signed last by the two numbers.
    @Test(arguments: products, UInt64(0)..<200) func anyOrderLeadsToTheSame(product: String, seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let sold = try Self.numbers(of: product)
        var facts = sold
        var last: [Int?] = [nil, nil]
        for second in Int64(1)...4 {
            let place = Int.random(in: 0...1, using: &random)
            let parts = [nil, 0, 100_000, Int.random(in: 0...100_000, using: &random)]
            last[place] = parts.randomElement(using: &random) ?? nil
            let fact = last[place].map { Sold.refunded(sold[place], after: second, percentage: $0) }
            facts.append(fact ?? Sold.again(sold[place], after: second))
        }
        let part = last.compactMap(\.self).max()
        let left = 10 - Int64((part ?? 0) / 10_000)
        for _ in 0..<4 {
            var shop = try Self.shop()
            for fact in facts.shuffled(using: &random) + facts.shuffled(using: &random).prefix(2) {
                try shop.show(fact)
                try Invariants.check(shop, "\(seed)")
            }
            shop.now = Facts.now.advanced(by: .seconds(60))
            #expect(try shop.gems() == left, "\(seed)")
            #expect(try shop.rights().isEmpty == (part != nil), "\(seed)")
            #expect(try Self.isSettled(shop), "\(seed)")
        }
    }
}
