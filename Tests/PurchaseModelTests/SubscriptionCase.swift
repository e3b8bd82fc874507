import PurchaseModel
import Testing

/// A row of the table: what Apple signed of one chain, and how it stands on a day. Days are counted from
/// `Facts.now`; a period lasts 30 of them.
struct SubscriptionCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let periods: [@Sendable (inout Transaction) -> Void]
    let renewal: (@Sendable (inout Renewal) -> Void)?
    let day: Double
    let word: String

    init(
        _ name: String,
        _ periods: [@Sendable (inout Transaction) -> Void] = [{ _ in }],
        _ renewal: (@Sendable (inout Renewal) -> Void)? = nil,
        on day: Double,
        is word: String
    ) {
        testDescription = "\(name), day \(day)"
        self.periods = periods
        self.renewal = renewal
        self.day = day
        self.word = word
    }

    static func at(_ day: Double) -> Timestamp { Facts.now.advanced(by: .seconds(Int64(day * 86_400))) }

    func subscription() throws -> Subscription? {
        let ledger = try recorded()
        return PurchaseModel.fold(
            try Shop.chain(1),
            newestPeriod(ledger)?.transaction,
            try renewal.map { change in
                var renewal = Renewal(
                    originalID: try #require(TransactionID(number: 1)),
                    product: try Shop.product("monthly"),
                    signedAt: Self.at(1)
                )
                renewal.renewsAt = Self.at(30)
                renewal.willAutoRenew = true
                renewal.nextProduct = renewal.product
                change(&renewal)
                return renewal
            },
            at: Self.at(day)
        )
    }

    private func recorded() throws -> [RecordedTransaction] {
        try periods.enumerated().map { place, change in
            var sold = try Sold.month(Int64(place + 1), original: 1, from: Int64(place) * 30)
            sold.signedAt = sold.purchasedAt
            change(&sold)
            return RecordedTransaction(
                app: try Shop.app(),
                realm: Shop.production,
                transaction: sold,
                customer: nil,
                order: nil,
                recordedAt: Facts.now
            )
        }
    }
}

/// The state, and what matters beside it.
func word(_ subscription: Subscription?) -> String {
    guard let subscription else { return "none" }
    var words = [subscription.state.rawValue]
    if let ending = subscription.ending { words.append(ending.description) }
    if subscription.isBehind { words.append("behind") }
    if let product = subscription.upgradedTo { words.append("to \(product)") }
    if subscription.willAutoRenew == false { words.append("off") }
    if let next = subscription.nextProduct, next != subscription.product { words.append("next \(next)") }
    if let increase = subscription.priceIncrease { words.append("price \(increase)") }
    return words.joined(separator: " ")
}
