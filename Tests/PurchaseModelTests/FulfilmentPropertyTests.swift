import PurchaseModel
import TestSupport
import Testing

/// What holds whatever happens, in whatever order. A red seed is a name to run again.
@Suite struct FulfilmentPropertyTests {
    @Test(arguments: UInt64(0)..<300)
    func nothingIsGivenTwiceAndEverySumIsRight(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var shop = try Self.shop(&random)
        for step in 0..<60 {
            try Self.act(on: &shop, step, &random)
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
        return try ["\(shop.gems())"] + shop.rights()
    }

    /// What Apple signs about one of four purchases at some moment: the second is refunded for good, the third for a
    /// while.
    private static func fact(_ random: inout SeededRandom) throws -> Transaction {
        let number = Int64.random(in: 1...4, using: &random)
        let second = Int64.random(in: 0...9, using: &random)
        let sold = try number == 4 ? Sold.month(4) : number == 3 ? Sold.lamp(3) : Sold.coins(number)
        let isRefunded = number == 2 && second >= 3 || number == 3 && (3..<6).contains(second)
        guard isRefunded else { return Sold.again(sold, after: second) }
        var refunded = Sold.again(sold, after: second)
        refunded.revocation = Revocation(at: Facts.now.advanced(by: .seconds(3)))
        return refunded
    }

    private static func shop(_ random: inout SeededRandom) throws -> Shop {
        let rule = try #require(BindingRule.allCases.randomElement(using: &random))
        let mayBeNegative = Bool.random(using: &random)
        return try Shop(needsOrder: Bool.random(using: &random)) { terms in
            terms.binding = rule
            terms.allowsNegativeBalance = mayBeNegative
            terms.sandbox = .everybody(until: Timestamp(milliseconds: .max))
        }
    }

    /// One of all things that can happen, some of which are refused.
    private static func act(on shop: inout Shop, _ step: Int, _ random: inout SeededRandom) throws {
        let customer = ["ann", "bob", "eve"].randomElement(using: &random) ?? "ann"
        let order = "o-\(Int.random(in: 1...6, using: &random))"
        let number = Int64.random(in: 1...12, using: &random)
        let token = AccountToken(high: 0, low: UInt64.random(in: 1...3, using: &random))
        shop.now = shop.now.advanced(by: .seconds(Int64.random(in: 0...100_000, using: &random)))
        do throws(RequestFault) {
            switch Int.random(in: 0...9, using: &random) {
            case 0, 1: try perform { try shop.place(order, product(number), for: customer, token: token) }
            case 2: try perform { try shop.cancel(order) }
            case 3: try perform { try shop.expire(order) }
            case 4: try perform { try shop.attach(number, to: order) }
            case 5: try perform { try shop.transfer(number, to: customer) }
            case 6: try perform { try shop.acknowledge(number, fence: Int64.random(in: 1...3, using: &random)) }
            case 7: try perform { try shop.adjust(customer, by: Int64.random(in: -50 ... -1, using: &random), .use) }
            default:
                let transaction = try perform { try sold(number, token, &random) }
                let realm = number > 10 ? Shop.sandbox : Shop.production
                try perform {
                    try shop.show(
                        transaction,
                        by: Bool.random(using: &random) ? customer : nil,
                        order: Bool.random(using: &random) ? order : nil,
                        realm: realm
                    )
                }
            }
        } catch {
            // Refused: nothing was changed, which the invariants show.
        }
    }

    /// A refusal is one of the rules'; anything else is a broken test.
    @discardableResult
    private static func perform<Value>(_ body: () throws -> Value) throws(RequestFault) -> Value {
        do { return try body() } catch let fault as RequestFault { throw fault } catch {
            Issue.record(error)
            throw .unknown
        }
    }

    private static func product(_ number: Int64) -> String {
        ["coins", "lamp", "monthly", "season"][Int(number % 4)]
    }

    private static func sold(_ number: Int64, _ token: AccountToken, _ random: inout SeededRandom) throws -> Transaction
    {
        var sold: Transaction
        switch product(number) {
        case "lamp": sold = try Sold.lamp(number, original: 1)
        case "monthly": sold = try Sold.month(number, original: 2, from: number * 10)
        case "season": sold = try Sold.transaction(number, "season", .nonRenewing)
        default: sold = try Sold.coins(number, quantity: Int(number % 3) + 1)
        }
        if number % 5 == 0 { sold.accountToken = token }
        let second = Int64.random(in: 0...100, using: &random)
        return switch Int.random(in: 0...3, using: &random) {
        case 0: Sold.refunded(sold, after: second)
        case 1: Sold.refunded(sold, after: second, percentage: Int.random(in: 0...100_000, using: &random))
        default: Sold.again(sold, after: second)
        }
    }
}
