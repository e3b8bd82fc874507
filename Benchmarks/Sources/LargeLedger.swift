import PurchaseModel

/// What a shop has sold in two years up to a moment: each customer five things, four months of a subscription and then a
/// consumable. A twentieth of the subscriptions' last months was refunded.
struct LargeLedger {
    static let purchasesEach = 5
    private static let days = 720
    private static let month = Duration.seconds(30 * 86_400)

    let samples: Samples
    let end: Timestamp

    /// The customers whose purchases are all among so many.
    static func customers(_ purchases: Int) -> Range<Int> { 0..<purchases / purchasesEach }

    func work(_ number: Int) -> PurchaseWork {
        PurchaseWork(
            number,
            [Self.transaction(number, until: end)],
            customer: number / Self.purchasesEach,
            proof: samples.tokens[number % samples.tokens.count],
            at: end
        )
    }

    /// The number of a transaction of a customer.
    static func id(_ customer: Int, _ index: Int) -> TransactionID {
        Samples.scattered(customer * purchasesEach + index, 1)
    }

    private static func transaction(_ number: Int, until end: Timestamp) -> Transaction {
        let (customer, index) = number.quotientAndRemainder(dividingBy: purchasesEach)
        // Customers come at all times, and not in the order of their numbers.
        let first = end.advanced(by: .seconds(-(customer &* 7_919 % (days * 86_400))))
        var transaction = Samples.renewal(number)
        transaction.purchasedAt = first.advanced(by: month * index)
        transaction.signedAt = transaction.purchasedAt
        transaction.originallyPurchasedAt = first
        if index == purchasesEach - 1 {
            transaction.originalID = transaction.id
            transaction.kind = .consumable
            transaction.product = ProductID(checked: "com.example.space-quest.coins")
            (transaction.expiresAt, transaction.subscriptionGroup, transaction.offer) = (nil, nil, nil)
        } else {
            transaction.originalID = id(customer, 0)
            transaction.expiresAt = transaction.purchasedAt.advanced(by: month)
            if index > 0 { transaction.offer = nil }
            if index == purchasesEach - 2, customer % 20 == 0 {
                transaction.revocation = Revocation(
                    at: transaction.purchasedAt.advanced(by: .seconds(86_400)),
                    reason: 0
                )
            }
        }
        return transaction
    }
}
