import AppleFormats
import Encoding
import PurchaseModel

/// Renewal infos in our own words. They name no app: only what carries them does.
enum RenewalTranslation {
    static func claims(of payload: RenewalInfoPayload) throws(Refusal) -> Claims {
        let renewal = try renewal(payload)
        var claims = Claims()
        claims.environment = renewal.environment
        claims.signedAt = payload.signedDate.map(Timestamp.init(milliseconds:))
        claims.renewal = renewal
        return claims
    }

    private static func renewal(_ payload: RenewalInfoPayload) throws(Refusal) -> Renewal {
        var renewal = Renewal(
            originalID: try FieldReader.transactionID(payload.originalTransactionID, "originalTransactionId"),
            product: try FieldReader.product(payload.productID, "productId"),
            signedAt: Timestamp(milliseconds: payload.signedDate ?? 0)
        )
        renewal.nextProduct = payload.autoRenewProductID.flatMap { ProductID($0) }
        renewal.willAutoRenew = payload.autoRenewStatus.map { $0 == 1 }
        renewal.environment = payload.environment.map { StoreEnvironment(apple: $0.rawValue) }
        renewal.expirationIntent = payload.expirationIntent.map { Int($0.rawValue) }
        renewal.isInBillingRetry = payload.isInBillingRetryPeriod
        renewal.graceEndsAt = payload.gracePeriodExpiresDate.map(Timestamp.init(milliseconds:))
        renewal.renewsAt = payload.renewalDate.map(Timestamp.init(milliseconds:))
        renewal.recentStartAt = payload.recentSubscriptionStartDate.map(Timestamp.init(milliseconds:))
        if let milliunits = payload.renewalPrice, let currency = payload.currency {
            renewal.nextPrice = Price(milliunits: milliunits, currency: currency)
        }
        renewal.priceIncreaseStatus = payload.priceIncreaseStatus.map(Int.init)
        renewal.offer = payload.offerType.map { type in
            Offer(
                kind: OfferKind(rawValue: Int(type.rawValue)),
                identifier: payload.offerIdentifier,
                discount: payload.offerDiscountType?.rawValue,
                period: payload.offerPeriod
            )
        }
        renewal.nextBillingPlan = payload.renewalBillingPlanType
        renewal.nextCommitment = payload.others.rare("commitmentInfo").flatMap(commitment)
        // A line each where they are kept.
        let offers = payload.eligibleWinBackOfferIDs ?? []
        renewal.winBackOffers = Array(offers.filter { $0.isLine(of: 255) }.prefix(Renewal.winBackOffersMax))
        renewal.accountToken = payload.appAccountToken.flatMap(AccountToken.init(uuid:))
        return renewal
    }

    /// `nil` where nothing in it is known.
    private static func commitment(_ info: JSONObject) -> NextCommitment? {
        var next = NextCommitment()
        next.willRenew = info["commitmentAutoRenewStatus"]?.int64.map { $0 == 1 }
        next.product = info["commitmentAutoRenewProductId"]?.string.flatMap { ProductID($0) }
        next.billingPlan = info["commitmentRenewalBillingPlanType"]?.string
        next.beginsAt = info["commitmentRenewalDate"]?.milliseconds.map(Timestamp.init(milliseconds:))
        return next == NextCommitment() ? nil : next
    }
}

extension String {
    /// Whether it is a name as Apple's are: not empty, of so many bytes at most, and without control characters, so that it can
    /// be kept as a line.
    func isLine(of bytesMax: Int) -> Bool { (1...bytesMax).contains(utf8.count) && utf8.allSatisfy { $0 >= 0x20 } }
}
