import PurchaseModel
import TestSupport
import Testing

/// Whatever can happen in a shop, by seeds.
enum Happenings {
    static func shop(_ random: inout SeededRandom) throws -> Shop {
        let rule = try #require(BindingRule.allCases.randomElement(using: &random))
        let mayBeNegative = Bool.random(using: &random)
        var shop = try Shop(needsOrder: Bool.random(using: &random)) { terms in
            terms.binding = rule
            terms.allowsNegativeBalance = mayBeNegative
            terms.sandbox = .everybody(until: Timestamp(milliseconds: .max))
        }
        if Bool.random(using: &random) {
            shop.ownTokens = ["ann": AccountToken(high: 0, low: 1), "bob": AccountToken(high: 0, low: 2)]
        }
        return shop
    }

    static func pass(over shop: inout Shop, _ random: inout SeededRandom) {
        shop.now = shop.now.advanced(by: .seconds(Int64.random(in: 0...100_000, using: &random)))
    }

    /// One of all things that can happen.
    ///
    /// - Returns: what was decided; `nil` when it was refused, and nothing was changed.
    @discardableResult
    static func happen(to shop: inout Shop, _ random: inout SeededRandom) throws -> Decision? {
        let customer = ["ann", "bob", "eve"].randomElement(using: &random) ?? "ann"
        let order = "o-\(Int.random(in: 1...6, using: &random))"
        let number = Int64.random(in: 1...12, using: &random)
        let token = AccountToken(high: 0, low: UInt64.random(in: 1...3, using: &random))
        do throws(RequestFault) {
            switch Int.random(in: 0...11, using: &random) {
            case 0, 1: return try perform { try shop.place(order, product(number), for: customer, token: token) }
            case 2: return try perform { try shop.cancel(order) }
            case 3: return try perform { try shop.expire(order) }
            case 4: return try perform { try shop.attach(number, to: order) }
            case 5: return try perform { try shop.transfer(number, to: customer) }
            case 6: return try perform { try shop.acknowledge(number, fence: Int64.random(in: 1...3, using: &random)) }
            case 7:
                return try perform { try shop.adjust(customer, by: Int64.random(in: -50 ... -1, using: &random), .use) }
            case 8: return try perform { try shop.look(at: 2) }
            case 9:
                let said = try perform { try renewal(in: shop, &random) }
                return try perform {
                    try shop.show([], renewals: [said], by: Bool.random(using: &random) ? customer : nil)
                }
            default:
                let transaction = try perform { try sold(number, token, &random) }
                let realm = number > 10 ? Shop.sandbox : Shop.production
                return try perform {
                    try shop.show(
                        transaction,
                        by: Bool.random(using: &random) ? customer : nil,
                        order: Bool.random(using: &random) ? order : nil,
                        realm: realm
                    )
                }
            }
        } catch {
            return nil
        }
    }

    /// A refusal is one of the rules'; anything else is a broken test.
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
        // The second number is a restore of the first one's period.
        case "monthly": sold = try Sold.month(number, original: 2, from: number == 6 ? 20 : number * 10)
        case "season": sold = try Sold.transaction(number, "season", .nonRenewing)
        default: sold = try Sold.coins(number, quantity: Int(number % 3) + 1)
        }
        if number % 5 == 0, Int.random(in: 0...3, using: &random) > 0 { sold.accountToken = token }
        if sold.isSubscriptionPeriod { sold.reason = [nil, .purchase, .renewal][Int(number % 3)] }
        // Receipts do not say it.
        let ownerships: [Ownership?] = [nil, .purchased, .familyShared]
        sold.ownership = ownerships[Int.random(in: 0..<3, using: &random)]
        let second = Int64.random(in: 0...100, using: &random)
        // From then on Apple says a later end.
        if second > 70 { sold.expiresAt = sold.expiresAt?.advanced(by: .seconds(14 * 86_400)) }
        return switch Int.random(in: 0...3, using: &random) {
        case 0: Sold.refunded(sold, after: second)
        case 1: Sold.refunded(sold, after: second, percentage: Int.random(in: 0...100_000, using: &random))
        default: Sold.again(sold, after: second)
        }
    }

    /// What Apple says of how the one subscription goes on.
    private static func renewal(in shop: Shop, _ random: inout SeededRandom) throws -> Renewal {
        let product = try Shop.product("monthly")
        var renewal = Renewal(
            originalID: try #require(TransactionID(number: 2)),
            product: product,
            signedAt: shop.now.advanced(by: .seconds(Int64.random(in: -100_000...0, using: &random)))
        )
        renewal.renewsAt = shop.now.advanced(by: .seconds(Int64.random(in: -9...9, using: &random) * 86_400))
        renewal.willAutoRenew = Bool.random(using: &random)
        renewal.nextProduct = product
        renewal.isInBillingRetry = Bool.random(using: &random)
        if renewal.isInBillingRetry == true, Bool.random(using: &random) {
            renewal.graceEndsAt = shop.now.advanced(by: .seconds(Int64.random(in: -2...9, using: &random) * 86_400))
        }
        return renewal
    }
}
