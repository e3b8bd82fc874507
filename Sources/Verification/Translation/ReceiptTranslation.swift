import AppleFormats
import PurchaseModel

/// App receipts in our own words.
enum ReceiptTranslation {
    static func claims(of receipt: AppReceipt) throws(Refusal) -> Claims {
        let signedAt = try FieldReader.signingMoment(receipt.creationDate, "receipt_creation_date")
        var claims = Claims()
        claims.bundleID = try FieldReader.required(receipt.bundleID, "bundle_id")
        claims.environment = receipt.kind.map(StoreEnvironment.init(apple:))
        claims.appleID = receipt.appAppleID.flatMap { $0 == 0 ? nil : $0 }
        claims.signedAt = signedAt
        claims.transactions.reserveCapacity(receipt.purchases.count)
        for purchase in receipt.purchases {
            claims.transactions.append(try transaction(purchase, signedAt: signedAt))
        }
        claims.download = download(of: receipt, claims, signedAt: signedAt)
        return claims
    }

    private static func transaction(_ purchase: ReceiptPurchase, signedAt: Timestamp) throws(Refusal) -> Transaction {
        var transaction = Transaction(
            id: try FieldReader.transactionID(purchase.transactionID, "transaction_id"),
            originalID: try FieldReader.optionalTransactionID(
                purchase.originalTransactionID,
                "original_transaction_id"
            ),
            product: try FieldReader.product(purchase.productID),
            purchasedAt: try FieldReader.moment(purchase.purchaseDate, "purchase_date"),
            signedAt: signedAt
        )
        transaction.quantity = try FieldReader.quantity(purchase.quantity)
        transaction.kind = purchase.productType.flatMap(kind)
        transaction.originallyPurchasedAt = purchase.originalPurchaseDate.map(Timestamp.init(milliseconds:))
        transaction.expiresAt = purchase.expiresDate.map(Timestamp.init(milliseconds:))
        transaction.revocation = purchase.cancellationDate.map { Revocation(at: Timestamp(milliseconds: $0)) }
        transaction.webOrderLineItem = purchase.webOrderLineItemID.flatMap { $0 == 0 ? nil : String($0) }
        transaction.offer = offer(of: purchase)
        return transaction
    }

    /// The numbers of the undocumented attribute 1707, as they were found beside Apple's own answers.
    private static func kind(_ number: Int64) -> ProductKind? {
        switch number {
        case 0: .nonConsumable
        case 1: .consumable
        case 2: .nonRenewing
        case 3: .autoRenewable
        case 4: .freeSubscription
        default: nil
        }
    }

    private static func offer(of purchase: ReceiptPurchase) -> Offer? {
        if let identifier = purchase.promotionalOfferID { return Offer(kind: .promotional, identifier: identifier) }
        if purchase.isTrialPeriod == true { return Offer(kind: .introductory, discount: "FREE_TRIAL") }
        return purchase.isInIntroOfferPeriod == true ? Offer(kind: .introductory) : nil
    }

    private static func download(of receipt: AppReceipt, _ claims: Claims, signedAt: Timestamp) -> AppDownload? {
        guard let text = claims.bundleID, let bundleID = BundleID(text) else { return nil }
        var download = AppDownload(bundleID: bundleID, signedAt: signedAt)
        download.environment = claims.environment
        download.appleID = claims.appleID
        download.version = receipt.applicationVersion
        download.originalVersion = receipt.originalApplicationVersion
        download.originallyPurchasedAt = receipt.originalPurchaseDate.map(Timestamp.init(milliseconds:))
        return download
    }
}
