/// One charge, renewal or restore, in our own words: what every format of proof is translated into.
///
/// A field that the proof did not carry is `nil`; none is guessed.
package struct Transaction: Hashable, Sendable {
    package var id: TransactionID
    /// The first transaction of the chain; equal to ``id`` for a first purchase. Xcode's receipts leave it out.
    package var originalID: TransactionID?
    /// The first transaction of the chain that this one goes on from: Apple has moved the subscription to Advanced Commerce.
    package var previousOriginalID: TransactionID?
    package var product: ProductID
    package var kind: ProductKind?
    package var quantity: Int
    package var purchasedAt: Timestamp
    package var originallyPurchasedAt: Timestamp?
    package var expiresAt: Timestamp?
    package var revocation: Revocation?
    package var isUpgraded: Bool
    /// Who made it; of StoreKit 2 only.
    package var reason: TransactionReason?
    package var ownership: Ownership?
    package var accountToken: AccountToken?
    package var offer: Offer?
    package var price: Price?
    /// ISO 3166-1 alpha-3, such as `USA`.
    package var storefront: String?
    package var subscriptionGroup: String?
    package var webOrderLineItem: String?
    package var appTransaction: String?
    /// Apple's word for how a subscription is paid for: `BILLED_UPFRONT`, `MONTHLY`.
    package var billingPlan: String?
    /// Until when its customer has committed herself, where a year is paid for by the month.
    package var commitmentEndsAt: Timestamp?
    package var advancedCommerce: AdvancedCommerce?
    /// When Apple signed what proves this: the order in which facts about one transaction count.
    package var signedAt: Timestamp

    package init(
        id: TransactionID,
        originalID: TransactionID?,
        product: ProductID,
        kind: ProductKind? = nil,
        quantity: Int = 1,
        purchasedAt: Timestamp,
        originallyPurchasedAt: Timestamp? = nil,
        expiresAt: Timestamp? = nil,
        revocation: Revocation? = nil,
        isUpgraded: Bool = false,
        reason: TransactionReason? = nil,
        ownership: Ownership? = nil,
        accountToken: AccountToken? = nil,
        offer: Offer? = nil,
        price: Price? = nil,
        storefront: String? = nil,
        subscriptionGroup: String? = nil,
        webOrderLineItem: String? = nil,
        appTransaction: String? = nil,
        previousOriginalID: TransactionID? = nil,
        billingPlan: String? = nil,
        commitmentEndsAt: Timestamp? = nil,
        advancedCommerce: AdvancedCommerce? = nil,
        signedAt: Timestamp
    ) {
        self.id = id
        self.originalID = originalID
        self.product = product
        self.kind = kind
        self.quantity = quantity
        self.purchasedAt = purchasedAt
        self.originallyPurchasedAt = originallyPurchasedAt
        self.expiresAt = expiresAt
        self.revocation = revocation
        self.isUpgraded = isUpgraded
        self.reason = reason
        self.ownership = ownership
        self.accountToken = accountToken
        self.offer = offer
        self.price = price
        self.storefront = storefront
        self.subscriptionGroup = subscriptionGroup
        self.webOrderLineItem = webOrderLineItem
        self.appTransaction = appTransaction
        self.previousOriginalID = previousOriginalID
        self.billingPlan = billingPlan
        self.commitmentEndsAt = commitmentEndsAt
        self.advancedCommerce = advancedCommerce
        self.signedAt = signedAt
    }
}

extension Transaction {
    /// Whether it is a period of a subscription that renews by itself. Older receipts do not say, but nothing else ends.
    package var isSubscriptionPeriod: Bool {
        if let kind { return kind == .autoRenewable }
        return expiresAt != nil || subscriptionGroup != nil || webOrderLineItem != nil
    }

    /// Whether who has it bought it. Receipts do not say who did.
    package var isOwnPurchase: Bool { ownership == nil || ownership == .purchased }

    /// That Apple took it back, which is more than that another plan took its place: of what was upgraded some formats give
    /// a date of cancellation, too, and nothing else. What was paid for it stays then.
    package var takenBack: Revocation? { isUpgraded && revocation?.isBare == true ? nil : revocation }

    /// Whether another number is one of the same paid period: a restore by StoreKit 1 has its own. A family member's copy is taken
    /// back by itself, and comes again as a new one.
    package func isSamePeriod(as other: Transaction) -> Bool {
        purchasedAt.seconds == other.purchasedAt.seconds && product == other.product
            && ownership != .familyShared && other.ownership != .familyShared
    }

    /// Whether Apple took back a part and left the rest: of what is used up. What gives access ends with any refund.
    package var isPartlyTakenBack: Bool {
        kind == .consumable && takenBack.map { $0.share < Fulfilment.whole } ?? false
    }
}

/// That Apple took a transaction back, and since when.
package struct Revocation: Hashable, Sendable {
    package var at: Timestamp
    /// Apple's number: 1 an actual or perceived issue in the app, 0 anything else.
    package var reason: Int?
    /// Apple's word since 2025-12: `REFUND_FULL`, `REFUND_PRORATED`, `FAMILY_REVOKE`.
    package var type: String?
    /// Thousandths of a percent of the price that were refunded, 0 to 100 000.
    package var percentage: Int?

    package init(at: Timestamp, reason: Int? = nil, type: String? = nil, percentage: Int? = nil) {
        self.at = at
        self.reason = reason
        self.type = type
        self.percentage = percentage
    }

    /// Whether nothing but a moment is said.
    var isBare: Bool { reason == nil && type == nil && percentage == nil }
}

/// Whose act a transaction is. An open value.
///
/// Source: Apple, *transactionReason*.
package struct TransactionReason: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    /// The customer's, who buys, changes to a higher plan, comes back or takes an offer.
    package static let purchase = TransactionReason(rawValue: "purchase")
    /// Apple's, who goes on with a subscription; also with a lower plan that begins.
    package static let renewal = TransactionReason(rawValue: "renewal")
}

/// How an account came by a transaction. An open value.
package struct Ownership: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let purchased = Ownership(rawValue: "purchased")
    package static let familyShared = Ownership(rawValue: "family_shared")
    package static let assigned = Ownership(rawValue: "assigned")
}

/// The offer under which a transaction was made.
package struct Offer: Hashable, Sendable {
    package var kind: OfferKind
    package var identifier: String?
    /// Apple's word: `FREE_TRIAL`, `PAY_AS_YOU_GO`, `PAY_UP_FRONT`, `ONE_TIME`.
    package var discount: String?
    /// ISO 8601 duration, such as `P1M`.
    package var period: String?

    package init(kind: OfferKind, identifier: String? = nil, discount: String? = nil, period: String? = nil) {
        self.kind = kind
        self.identifier = identifier
        self.discount = discount
        self.period = period
    }
}

/// Apple's offer kinds by number. A number that we do not know stays what it is.
package struct OfferKind: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let introductory = OfferKind(rawValue: 1)
    package static let promotional = OfferKind(rawValue: 2)
    package static let offerCode = OfferKind(rawValue: 3)
    package static let winBack = OfferKind(rawValue: 4)
}
