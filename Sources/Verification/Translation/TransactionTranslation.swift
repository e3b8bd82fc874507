import AppleFormats
import PurchaseModel

/// StoreKit 2 transactions in our own words.
enum TransactionTranslation {
    static func claims(of payload: TransactionPayload) throws(Refusal) -> Claims {
        var claims = Claims()
        claims.bundleID = try FieldReader.required(payload.bundleID, "bundleId")
        claims.environment = payload.environment.map { StoreEnvironment(apple: $0.rawValue) }
        claims.signedAt = payload.signedDate.map(Timestamp.init(milliseconds:))
        claims.transactions = [try transaction(payload)]
        return claims
    }

    private static func transaction(_ payload: TransactionPayload) throws(Refusal) -> Transaction {
        var transaction = Transaction(
            id: try FieldReader.transactionID(payload.transactionID, "transactionId"),
            originalID: try FieldReader.optionalTransactionID(
                payload.originalTransactionID,
                "originalTransactionId"
            ),
            product: try FieldReader.product(payload.productID, "productId"),
            purchasedAt: try FieldReader.moment(payload.purchaseDate, "purchaseDate"),
            signedAt: Timestamp(milliseconds: payload.signedDate ?? 0)
        )
        transaction.kind = payload.type.map { kind($0.rawValue) }
        transaction.quantity = try FieldReader.quantity(payload.quantity)
        transaction.originallyPurchasedAt = payload.originalPurchaseDate.map(Timestamp.init(milliseconds:))
        transaction.expiresAt = payload.expiresDate.map(Timestamp.init(milliseconds:))
        transaction.revocation = revocation(payload)
        transaction.isUpgraded = payload.isUpgraded ?? false
        transaction.ownership = payload.inAppOwnershipType.map { Ownership(rawValue: $0.rawValue.lowercased()) }
        transaction.accountToken = FieldReader.accountToken(payload.appAccountToken)
        transaction.offer = payload.offerType.map { type in
            Offer(
                kind: OfferKind(rawValue: Int(type.rawValue)),
                identifier: payload.offerIdentifier,
                discount: payload.offerDiscountType?.rawValue,
                period: payload.offerPeriod
            )
        }
        if let milliunits = payload.price, let currency = payload.currency {
            transaction.price = Price(milliunits: milliunits, currency: currency)
        }
        transaction.storefront = payload.storefront
        transaction.subscriptionGroup = payload.subscriptionGroupIdentifier
        transaction.webOrderLineItem = payload.webOrderLineItemID
        transaction.appTransaction = payload.appTransactionID
        return transaction
    }

    /// Presence of the date is what takes a transaction back; the rest only says why.
    private static func revocation(_ payload: TransactionPayload) -> Revocation? {
        guard let date = payload.revocationDate else { return nil }
        return Revocation(
            at: Timestamp(milliseconds: date),
            reason: payload.revocationReason.map(Int.init),
            type: payload.revocationType?.rawValue,
            percentage: payload.revocationPercentage.map(Int.init)
        )
    }

    private static func kind(_ word: String) -> ProductKind {
        switch word {
        case "Auto-Renewable Subscription": .autoRenewable
        case "Non-Consumable": .nonConsumable
        case "Consumable": .consumable
        case "Non-Renewing Subscription": .nonRenewing
        default: ProductKind(rawValue: word)
        }
    }
}
