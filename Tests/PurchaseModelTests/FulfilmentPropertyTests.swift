import PurchaseModel
import TestSupport
import Testing

/// What holds whatever happens, in whatever order. A red seed is a name to run again.
@Suite struct FulfilmentPropertyTests {
    @Test(arguments: UInt64(0)..<300)
    func nothingIsGivenTwiceAndEverySumIsRight(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var shop = try Happenings.shop(&random)
        for step in 0..<60 {
            Happenings.pass(over: &shop, &random)
            try Happenings.happen(to: &shop, &random)
            try Invariants.check(shop, "step \(step)")
        }
    }

    /// What customers have in the end depends on the facts, and not on their order or on how often they came.
    @Test(arguments: UInt64(0)..<300)
    func anyOrderAndRepetitionEndsWithTheSameGoods(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let facts = try (0..<12).map { _ in try Self.fact(&random) }
        let expected = try Self.goods(after: facts)
        for _ in 0..<5 {
            let again = (0..<4).compactMap { _ in facts.randomElement(using: &random) }
            #expect(try Self.goods(after: (facts + again).shuffled(using: &random)) == expected)
        }
    }

    private static func goods(after facts: [Transaction]) throws -> [String] {
        var shop = try Shop()
        for fact in facts { try shop.show(fact) }
        let later = Facts.now.advanced(by: .seconds(40 * 86_400))
        return try ["\(shop.gems())"] + shop.rights() + shop.rights(at: later)
    }

    /// What Apple signs about one of four purchases at some moment: the second is refunded for good, the third for a
    /// while, and once more by the number that it was restored under, the fourth for a while by such a number, and by that it
    /// comes to last longer.
    private static func fact(_ random: inout SeededRandom) throws -> Transaction {
        let number = Int64.random(in: 1...6, using: &random)
        let second = Int64.random(in: 0...9, using: &random)
        var sold =
            switch number {
            case 3: try Sold.lamp(3)
            case 4: try Sold.month(4)
            case 5: try Sold.lamp(5, original: 3)
            case 6: try Sold.month(6, original: 4)
            default: try Sold.coins(number)
            }
        if number == 6, second >= 5 { sold.expiresAt = sold.expiresAt?.advanced(by: .seconds(14 * 86_400)) }
        let isRefunded =
            number == 2 && second >= 3 || number == 3 && (3..<6).contains(second)
            || number >= 5 && (6..<8).contains(second)
        guard isRefunded else { return Sold.again(sold, after: second) }
        var refunded = Sold.again(sold, after: second)
        refunded.revocation = Revocation(at: Facts.now.advanced(by: .seconds(3)))
        return refunded
    }
}
