/// What Apple tells by itself, beside the facts that it signed with it.
package struct Announcement: Hashable, Sendable {
    package let id: NotificationID
    /// Apple's word, such as `REFUND_DECLINED`; unknown ones are kept.
    package let type: String
    package let subtype: String?
    package let signedAt: Timestamp
    package let transaction: TransactionID?
    package let original: TransactionID?
    package let matter: Matter

    /// What only notifications of its type say. An unknown type says nothing that we could name.
    package indirect enum Matter: Hashable, Sendable {
        case none
        /// A customer asks Apple for money back; Apple's word for why, and how the purchase came about.
        case refundRequest(reason: String?, isAdvancedCommerce: Bool)
        /// The extension of many subscriptions has ended.
        case extensions(ExtensionSummary)
        case externalPurchase(ExternalPurchase)
        /// It is about an account's copy of the app: its app transaction.
        case download(appTransaction: String?)
    }

    package init(
        id: NotificationID,
        type: String,
        subtype: String? = nil,
        signedAt: Timestamp,
        transaction: TransactionID? = nil,
        original: TransactionID? = nil,
        matter: Matter = .none
    ) {
        self.id = id
        self.type = type
        self.subtype = subtype
        self.signedAt = signedAt
        self.transaction = transaction
        self.original = original
        self.matter = matter
    }

    /// The types whose facts have events of their own; and the test, which is told to nobody.
    private static let toldByFacts: Set = [
        "SUBSCRIBED", "DID_RENEW", "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_STATUS", "OFFER_REDEEMED",
        "DID_FAIL_TO_RENEW", "GRACE_PERIOD_EXPIRED", "EXPIRED", "PRICE_INCREASE", "CONSUMPTION_REQUEST", "REFUND",
        "REFUND_REVERSED", "REVOKE", "RENEWAL_EXTENDED", "ONE_TIME_CHARGE", "TEST",
    ]

    /// Whether the shop hears of it by no other event: also of types that are new to us.
    package var isToldItself: Bool { !Announcement.toldByFacts.contains(type) }

    /// Whether notifications of version 2 of a type and subtype tell of something just bought, and not of what became of it:
    /// each of them carries a transaction that is new.
    ///
    /// Source: Apple, *notificationType* and *subtype* (App Store Server Notifications 2.21).
    package static func tellsOfPurchase(type: String, subtype: String?) -> Bool {
        switch (type, subtype) {
        case ("SUBSCRIBED", _), ("DID_RENEW", _), ("ONE_TIME_CHARGE", _): true
        // A lesser plan, and an offer for the plan that runs, begin with the next renewal: until then the old period goes on.
        case ("DID_CHANGE_RENEWAL_PREF", "UPGRADE"), ("OFFER_REDEEMED", "UPGRADE"): true
        // Of those whose subscription was over, until January 2024.
        case ("OFFER_REDEEMED", "INITIAL_BUY"), ("OFFER_REDEEMED", "RESUBSCRIBE"): true
        default: false
        }
    }

    var tellsOfPurchase: Bool { Announcement.tellsOfPurchase(type: type, subtype: subtype) }

    /// Apple has decided about the refund that a customer asked for.
    var endsRefundRequest: Bool { type == "REFUND" || type == Self.refundDeclined }

    package static let refundDeclined = "REFUND_DECLINED"
}

/// How the extension of many subscriptions ended.
package struct ExtensionSummary: Hashable, Sendable {
    package var requestIdentifier: String?
    package var product: String?
    /// ISO 3166-1 alpha-3; `nil` for all.
    package var storefronts: [String]?
    package var succeeded: Int64?
    package var failed: Int64?

    package init(
        requestIdentifier: String? = nil,
        product: String? = nil,
        storefronts: [String]? = nil,
        succeeded: Int64? = nil,
        failed: Int64? = nil
    ) {
        self.requestIdentifier = requestIdentifier
        self.product = product
        self.storefronts = storefronts
        self.succeeded = succeeded
        self.failed = failed
    }
}

/// A token for purchases outside of the App Store, which the merchant is to report to Apple.
package struct ExternalPurchase: Hashable, Sendable {
    package var id: String?
    package var createdAt: Timestamp?
    package var expiresAt: Timestamp?
    /// Apple's word: `SERVICES` or `ACQUISITION`.
    package var tokenType: String?

    package init(id: String? = nil, createdAt: Timestamp? = nil, expiresAt: Timestamp? = nil, tokenType: String? = nil)
    {
        self.id = id
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.tokenType = tokenType
    }
}
