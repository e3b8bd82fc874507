/// A value out of a list that Apple may extend: the known ones have names, an unknown one stays what it is.
package protocol OpenValue: RawRepresentable, Hashable, Sendable where RawValue: Sendable {
    init(rawValue: RawValue)
}

/// Which App Store a value comes from. Only the signed text tells: the same key signs for production and sandbox.
package struct AppleEnvironment: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let production = AppleEnvironment(rawValue: "Production")
    package static let sandbox = AppleEnvironment(rawValue: "Sandbox")
    package static let xcode = AppleEnvironment(rawValue: "Xcode")
    package static let localTesting = AppleEnvironment(rawValue: "LocalTesting")
}

/// What kind of product was bought, in Apple's exact words.
package struct AppleProductType: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let autoRenewable = AppleProductType(rawValue: "Auto-Renewable Subscription")
    package static let nonConsumable = AppleProductType(rawValue: "Non-Consumable")
    package static let consumable = AppleProductType(rawValue: "Consumable")
    package static let nonRenewing = AppleProductType(rawValue: "Non-Renewing Subscription")

    static let known = [autoRenewable, consumable, nonConsumable, nonRenewing]
}

/// How an account came by a purchase.
package struct AppleOwnershipType: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let purchased = AppleOwnershipType(rawValue: "PURCHASED")
    package static let familyShared = AppleOwnershipType(rawValue: "FAMILY_SHARED")
    /// Since API 1.22: through an organization or group.
    package static let assigned = AppleOwnershipType(rawValue: "ASSIGNED")
}

/// The kind of offer that applied.
package struct AppleOfferType: OpenValue {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    package static let introductory = AppleOfferType(rawValue: 1)
    package static let promotional = AppleOfferType(rawValue: 2)
    package static let offerCode = AppleOfferType(rawValue: 3)
    package static let winBack = AppleOfferType(rawValue: 4)
}

/// How an offer is paid for.
package struct AppleOfferDiscountType: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let freeTrial = AppleOfferDiscountType(rawValue: "FREE_TRIAL")
    package static let payAsYouGo = AppleOfferDiscountType(rawValue: "PAY_AS_YOU_GO")
    package static let payUpFront = AppleOfferDiscountType(rawValue: "PAY_UP_FRONT")
    package static let oneTime = AppleOfferDiscountType(rawValue: "ONE_TIME")
}

/// Whether the customer or the App Store brought a transaction about.
package struct AppleTransactionReason: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let purchase = AppleTransactionReason(rawValue: "PURCHASE")
    package static let renewal = AppleTransactionReason(rawValue: "RENEWAL")
}

/// How a purchase was taken back.
package struct AppleRevocationType: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let refundFull = AppleRevocationType(rawValue: "REFUND_FULL")
    package static let refundProrated = AppleRevocationType(rawValue: "REFUND_PRORATED")
    package static let familyRevoke = AppleRevocationType(rawValue: "FAMILY_REVOKE")
}

/// Why a subscription ended; the same numbers in renewal info and in verifyReceipt's answers.
package struct AppleExpirationIntent: OpenValue {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    package static let customerCancelled = AppleExpirationIntent(rawValue: 1)
    package static let billingError = AppleExpirationIntent(rawValue: 2)
    package static let noConsent = AppleExpirationIntent(rawValue: 3)
    package static let productUnavailable = AppleExpirationIntent(rawValue: 4)
    package static let other = AppleExpirationIntent(rawValue: 5)
}

/// The state of a subscription as a notification tells it.
package struct AppleSubscriptionStatus: OpenValue {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    package static let active = AppleSubscriptionStatus(rawValue: 1)
    package static let expired = AppleSubscriptionStatus(rawValue: 2)
    package static let billingRetry = AppleSubscriptionStatus(rawValue: 3)
    package static let gracePeriod = AppleSubscriptionStatus(rawValue: 4)
    package static let revoked = AppleSubscriptionStatus(rawValue: 5)
}
