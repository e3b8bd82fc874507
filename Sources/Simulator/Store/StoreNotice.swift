package import PurchaseModel

/// One notification that Apple would send: what happened, and the facts as they were at that moment.
package struct StoreNotice: Hashable, Sendable {
    package let uuid: String
    package let type: NoticeType
    package let subtype: String?
    package let at: Timestamp
    package let app: BundleID
    package let environment: StoreEnvironment
    package let subject: Subject

    /// What the notification is about: exactly one of Apple's members.
    package enum Subject: Hashable, Sendable {
        case purchase(Purchase)
        case test
        case extensionSummary(ExtensionSummary)
        case externalPurchase(ExternalPurchase)
        /// The app transaction of a customer whose guardian withdrew consent.
        case consent(customer: String)
    }

    /// `data`, with both facts as they stood.
    package struct Purchase: Hashable, Sendable {
        package var transaction: SoldTransaction
        package var line: SubscriptionLine?
        /// Of a subscription; told anew, it would say what became of it later.
        package var outlook: SubscriptionOutlook?
        package var status: SubscriptionLine.Status?
        /// Apple's word, of a consumption request only.
        package var consumptionReason: String?

        package init(
            transaction: SoldTransaction,
            line: SubscriptionLine? = nil,
            outlook: SubscriptionOutlook? = nil,
            status: SubscriptionLine.Status? = nil,
            consumptionReason: String? = nil
        ) {
            self.transaction = transaction
            self.line = line
            self.outlook = outlook
            self.status = status
            self.consumptionReason = consumptionReason
        }
    }

    /// `summary`.
    package struct ExtensionSummary: Hashable, Sendable {
        package var requestIdentifier: String
        package var product: ProductID
        /// None for all storefronts.
        package var countries: [String]
        package var succeeded: Int
        package var failed: Int
    }

    /// `externalPurchaseToken`.
    package struct ExternalPurchase: Hashable, Sendable {
        package var id: String
        package var createdAt: Timestamp
        package var expiresAt: Timestamp?
        /// `SERVICES` or `ACQUISITION`, of tokens of custom links.
        package var tokenType: String?
    }
}

/// Apple's types of notifications. Source: Apple, *notificationType*.
package enum NoticeType: String, Hashable, Sendable, CaseIterable {
    case subscribed = "SUBSCRIBED"
    case didRenew = "DID_RENEW"
    case didChangeRenewalPreference = "DID_CHANGE_RENEWAL_PREF"
    case didChangeRenewalStatus = "DID_CHANGE_RENEWAL_STATUS"
    case offerRedeemed = "OFFER_REDEEMED"
    case didFailToRenew = "DID_FAIL_TO_RENEW"
    case gracePeriodExpired = "GRACE_PERIOD_EXPIRED"
    case expired = "EXPIRED"
    case priceIncrease = "PRICE_INCREASE"
    case consumptionRequest = "CONSUMPTION_REQUEST"
    case refund = "REFUND"
    case refundDeclined = "REFUND_DECLINED"
    case refundReversed = "REFUND_REVERSED"
    case revoke = "REVOKE"
    case renewalExtended = "RENEWAL_EXTENDED"
    case renewalExtension = "RENEWAL_EXTENSION"
    case oneTimeCharge = "ONE_TIME_CHARGE"
    case externalPurchaseToken = "EXTERNAL_PURCHASE_TOKEN"
    case rescindConsent = "RESCIND_CONSENT"
    case metadataUpdate = "METADATA_UPDATE"
    case migration = "MIGRATION"
    case priceChange = "PRICE_CHANGE"
    case test = "TEST"
}
