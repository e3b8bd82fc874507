import AppleFormats
import PurchaseModel

/// iOS 6 receipts in our own words.
enum PlistTranslation {
    static func claims(of receipt: PlistReceipt) throws(Refusal) -> Claims {
        let purchase = receipt.purchase
        let purchasedAt = try FieldReader.signingMoment(purchase.purchaseDate, "purchase-date")
        let id = try FieldReader.transactionID(purchase.transactionID, "transaction-id")
        var transaction = Transaction(
            id: id,
            originalID: try FieldReader.optionalTransactionID(
                purchase.originalTransactionID,
                "original-transaction-id"
            ),
            product: try FieldReader.product(purchase.productID, "product-id"),
            purchasedAt: purchasedAt,
            signedAt: purchasedAt
        )
        transaction.quantity = try FieldReader.quantity(purchase.quantity)
        transaction.originallyPurchasedAt = purchase.originalPurchaseDate.map(Timestamp.init(milliseconds:))
        transaction.expiresAt = purchase.expiresDate.map(Timestamp.init(milliseconds:))
        transaction.revocation = purchase.cancellationDate.map { Revocation(at: Timestamp(milliseconds: $0)) }
        transaction.webOrderLineItem = purchase.webOrderLineItemID
        if purchase.isTrialPeriod == true {
            transaction.offer = Offer(kind: .introductory, discount: "FREE_TRIAL")
        } else if purchase.isInIntroOfferPeriod == true {
            transaction.offer = Offer(kind: .introductory)
        }
        var claims = Claims()
        claims.bundleID = try FieldReader.required(purchase.bundleID, "bid")
        claims.environment = environment(of: id)
        claims.appleID = purchase.appItemID.flatMap { Int64($0) }.flatMap { $0 == 0 ? nil : $0 }
        claims.signedAt = purchasedAt
        claims.transactions = [transaction]
        return claims
    }

    /// The store by the one signed value that shows it: Sandbox numbers its transactions from 10^15 on, first 1000000…
    /// and later 200000…; Production has not come near that. `nil` for a number that is neither.
    private static func environment(of id: TransactionID) -> StoreEnvironment? {
        switch id.number {
        case 10_000_000_000..<1_000_000_000_000_000: .production
        case 1_000_000_000_000_000..<3_000_000_000_000_000: .sandbox
        default: nil
        }
    }
}
