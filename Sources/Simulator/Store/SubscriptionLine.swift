package import PurchaseModel

/// One customer's subscription in one group: what Apple calls by its original transaction id.
package struct SubscriptionLine: Hashable, Sendable {
    package let originalID: TransactionID
    package let customer: String
    package let app: BundleID
    package let environment: StoreEnvironment
    package let group: String
    /// The newest transaction.
    package var current: TransactionID
    /// What will renew next.
    package var nextProduct: ProductID
    package var willAutoRenew = true
    package var accountToken: AccountToken?
    /// The start of the newest stretch without a long gap.
    package var recentStartAt: Timestamp
    /// When paid service ends, extensions counted.
    package var expiresAt: Timestamp
    /// How many periods were renewed since the customer last bought.
    package var renewalsCount = 0
    /// The offer that the next renewals have, and for how many more.
    package var pendingOffer: StoreOffer?
    package var pendingOfferCount = 0
    package var failure: BillingFailure?
    package var expirationIntent: ExpirationIntent?
    package var hasExpired = false
    /// Auto-renew was switched off during a grace period, and that was the end.
    package var endedInGrace = false
    package var priceIncrease: PriceIncrease?
    /// When each extension was granted.
    package var extensions: [Timestamp] = []
    /// The requests that were granted: sent again, they change nothing.
    package var extensionRequests: Set<String> = []
    /// A family member's line: the purchaser's.
    package var sharedFrom: TransactionID?

    /// A renewal that could not be charged.
    package struct BillingFailure: Hashable, Sendable {
        package var since: Timestamp
        package var graceEndsAt: Timestamp?
        package var retriesUntil: Timestamp
    }

    /// Apple's numbers for why a subscription ended.
    package enum ExpirationIntent: Int, Hashable, Sendable {
        case cancelled = 1
        case billingError = 2
        case noConsent = 3
        case productUnavailable = 4
        case other = 5
    }

    /// A higher price that was announced.
    package struct PriceIncrease: Hashable, Sendable {
        package var price: Price
        package var needsConsent: Bool
        package var isAccepted: Bool
    }

    /// Apple's five states of a subscription.
    package enum Status: Int, Hashable, Sendable, CaseIterable {
        case active = 1
        case expired = 2
        case billingRetry = 3
        case gracePeriod = 4
        case revoked = 5
    }
}

/// What Apple signs about a subscription's future at one moment.
package struct SubscriptionOutlook: Hashable, Sendable {
    package var renewal: Renewal
    /// Identifiers, best first; none for who has not left.
    package var winBackOffers: [String]
    package var appTransaction: String?
}
