import AppleFormats
import Encoding
import PurchaseModel

/// StoreKit 2 transactions in our own words.
enum TransactionTranslation {
    static func claims(of payload: TransactionPayload) throws(Refusal) -> Claims {
        var claims = Claims()
        claims.bundleID = try FieldReader.required(payload.bundleID, "bundleId")
        claims.environment = payload.environment.map { StoreEnvironment(apple: $0.rawValue) }
        claims.signedAt = payload.signedDate.map(Timestamp.init(milliseconds:))
        // Made where it will lie: a transaction is large.
        claims.transactions = try Array(capacity: 1) { (places: inout OutputSpan<Transaction>) throws(Refusal) in
            places.append(try transaction(payload))
        }
        claims.isAdvancedCommerce = payload.others.contains { $0.name == "advancedCommerceInfo" }
        return claims
    }

    private static func transaction(_ payload: TransactionPayload) throws(Refusal) -> Transaction {
        // In one expression, so that it is made where it will lie.
        Transaction(
            id: try FieldReader.transactionID(payload.transactionID, "transactionId"),
            originalID: try FieldReader.optionalTransactionID(
                payload.originalTransactionID,
                "originalTransactionId"
            ),
            product: try FieldReader.product(payload.productID, "productId"),
            kind: payload.type.map { kind($0.rawValue) },
            quantity: try FieldReader.quantity(payload.quantity),
            purchasedAt: try FieldReader.moment(payload.purchaseDate, "purchaseDate"),
            originallyPurchasedAt: payload.originalPurchaseDate.map(Timestamp.init(milliseconds:)),
            expiresAt: payload.expiresDate.map(Timestamp.init(milliseconds:)),
            revocation: revocation(payload),
            isUpgraded: payload.isUpgraded ?? false,
            reason: payload.transactionReason.map { TransactionReason(rawValue: $0.rawValue.lowercased()) },
            ownership: payload.inAppOwnershipType.map(ownership),
            accountToken: payload.appAccountToken.flatMap(AccountToken.init(uuid:)),
            offer: offer(payload),
            price: price(payload),
            storefront: payload.storefront,
            subscriptionGroup: payload.subscriptionGroupIdentifier,
            webOrderLineItem: payload.webOrderLineItemID,
            appTransaction: payload.appTransactionID,
            previousOriginalID: previousOriginalID(payload),
            billingPlan: payload.billingPlanType,
            commitmentEndsAt: commitmentEnd(payload),
            advancedCommerce: payload.others.rare("advancedCommerceInfo").flatMap(AdvancedCommerceTranslation.goods),
            signedAt: Timestamp(milliseconds: payload.signedDate ?? 0)
        )
    }

    private static func ownership(_ word: AppleOwnershipType) -> Ownership {
        word.rawValue == "PURCHASED" ? .purchased : Ownership(rawValue: word.rawValue.lowercased())
    }

    /// A purchase is nobody's loss that names no chain which could be one: its own number alone must be right.
    private static func previousOriginalID(_ payload: TransactionPayload) -> TransactionID? {
        let previous = payload.previousOriginalTransactionID.flatMap { TransactionID($0) }
        return previous?.description == payload.originalTransactionID ? nil : previous
    }

    private static func commitmentEnd(_ payload: TransactionPayload) -> Timestamp? {
        let moment = payload.others.rare("commitmentInfo")?["commitmentExpiresDate"]?.milliseconds
        return moment.map(Timestamp.init(milliseconds:))
    }

    private static func offer(_ payload: TransactionPayload) -> Offer? {
        payload.offerType.map { type in
            Offer(
                kind: OfferKind(rawValue: Int(type.rawValue)),
                identifier: payload.offerIdentifier,
                discount: payload.offerDiscountType?.rawValue,
                period: payload.offerPeriod
            )
        }
    }

    private static func price(_ payload: TransactionPayload) -> Price? {
        guard let milliunits = payload.price, let currency = payload.currency else { return nil }
        return Price(milliunits: milliunits, currency: currency)
    }

    /// Presence of the date is what takes a transaction back; the rest only says why. Of what was upgraded older ones say so,
    /// too, with the reason that stands for all others: nobody has asked for that money.
    private static func revocation(_ payload: TransactionPayload) -> Revocation? {
        guard let date = payload.revocationDate else { return nil }
        let isOfUpgrade =
            payload.isUpgraded == true && payload.revocationReason == 0 && payload.revocationType == nil
            && payload.revocationPercentage == nil
        return Revocation(
            at: Timestamp(milliseconds: date),
            reason: isOfUpgrade ? nil : payload.revocationReason.map(Int.init),
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

extension [RawMember] {
    /// An object that few payloads have. What is none tells nothing: the rest counts all the same.
    func rare(_ name: String) -> JSONObject? {
        first { $0.name == name }?.object
    }
}

extension RawMember {
    /// `nil` for any other value.
    var object: JSONObject? { (try? JSONDocument(json))?.root.object }
}
