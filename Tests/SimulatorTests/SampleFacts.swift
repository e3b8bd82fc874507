import PurchaseModel
import TestSupport

/// Facts to sign.
enum SampleFacts {
    static let app = TestAuthority.app(.production)

    static let subscription = Transaction(
        id: TransactionID(number: 2_000_000_950_112_345) ?? zero,
        originalID: TransactionID(number: 2_000_000_950_100_001),
        product: ProductID(checked: "com.example.pro.month"),
        kind: .autoRenewable,
        purchasedAt: Timestamp(milliseconds: 1_749_980_000_000),
        originallyPurchasedAt: Timestamp(milliseconds: 1_740_000_000_000),
        expiresAt: Timestamp(milliseconds: 1_752_572_000_000),
        offer: Offer(kind: .introductory, discount: "FREE_TRIAL", period: "P1W"),
        price: Price(milliunits: 4_990, currency: "USD"),
        storefront: "USA",
        subscriptionGroup: "21456789",
        webOrderLineItem: "2000000101112131",
        signedAt: TestAuthority.moment
    )

    static let refunded = Transaction(
        id: TransactionID(number: 70_001) ?? zero,
        originalID: TransactionID(number: 70_001),
        product: ProductID(checked: "com.example.coins"),
        kind: .consumable,
        quantity: 3,
        purchasedAt: Timestamp(milliseconds: 1_749_900_000_000),
        revocation: Revocation(
            at: Timestamp(milliseconds: 1_749_970_000_000),
            reason: 1,
            type: "REFUND_FULL",
            percentage: 100_000
        ),
        accountToken: AccountToken(high: 0x7B1F_0A52_6C0E_4D7C, low: 0x9D7A_3A0A_2F5C_9E11),
        signedAt: TestAuthority.moment
    )

    static var renewal: Renewal {
        var renewal = Renewal(
            originalID: TransactionID(number: 2_000_000_950_100_001) ?? zero,
            product: ProductID(checked: "com.example.pro.month"),
            signedAt: TestAuthority.moment
        )
        renewal.willAutoRenew = false
        renewal.expirationIntent = 1
        renewal.renewsAt = Timestamp(milliseconds: 1_752_572_000_000)
        return renewal
    }

    private static let zero = TransactionID(checked: 0)
}

extension TransactionID {
    /// For numbers that are written in a test.
    fileprivate init(checked number: UInt32) {
        guard let id = TransactionID(number: Int64(number)) else { preconditionFailure("no negative number") }
        self = id
    }
}
