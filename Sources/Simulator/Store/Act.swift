package import PurchaseModel

/// What somebody does in the store: the customer, her family, the merchant, Apple's support. Stories, the control API
/// and tests all speak in these.
package enum Act: Hashable, Sendable {
    case buy(Purchase)
    /// A parent's answer to the oldest purchase that waits for one.
    case answerAskToBuy(customer: String, isApproved: Bool)
    /// The app is done with it: a finished consumable leaves receipts.
    case finish(TransactionID)
    /// Auto-renew off or on, of the subscription in this group or product.
    case setAutoRenew(Subscription, isOn: Bool)
    /// Another plan of the same group: at once for an upgrade, at the next renewal for a downgrade.
    case changePlan(Subscription, to: ProductID)
    /// Whether her way of paying works; when it works again, what is due is charged at once.
    case setPayment(customer: String, works: Bool)
    case askRefund(RefundRequest)
    case decideRefund(TransactionID, RefundDecision)
    case reverseRefund(TransactionID)
    /// Joins a family with everybody else in it; nil leaves.
    case setFamily(customer: String, family: String?)
    /// Family Sharing of one subscription or product, on or off.
    case setSharing(TransactionID, isOn: Bool)
    case raisePrice(PriceRise)
    case answerPriceRise(Subscription, isAccepted: Bool)
    /// An offer by its identifier or, of a code, its reference name.
    case redeemOffer(Subscription, offer: String)
    case setForSale(app: BundleID, ProductID, isOn: Bool)
    case extend(TransactionID, Extension)
    /// All active subscriptions of a product, some time later.
    case extendAll(MassExtension)
    /// What the merchant tells Apple about a purchase whose refund was asked for.
    case sendConsumption(TransactionID, Consumption)
    case setAccountToken(TransactionID, AccountToken)
    /// The subscription ends at once, for a reason that Apple does not name.
    case end(Subscription)
    /// The merchant changed the subscription by the Advanced Commerce API, of which only this is simulated.
    case announceAdvancedCommerce(Subscription, AdvancedCommerceChange)
    /// A guardian withdraws consent for the app.
    case rescindConsent(customer: String, app: BundleID)
    case createExternalPurchase(app: BundleID, environment: StoreEnvironment, kind: ExternalPurchaseKind)
    case requestTestNotification(app: BundleID, environment: StoreEnvironment)

    package struct Purchase: Hashable, Sendable {
        package var customer: String
        package var app: BundleID
        package var product: ProductID
        package var quantity = 1
        package var accountToken: AccountToken?
        /// A promotional or win-back offer's identifier, or an offer code's reference name.
        package var offer: String?

        package init(customer: String, app: BundleID, product: ProductID) {
            self.customer = customer
            self.app = app
            self.product = product
        }
    }

    /// Which subscription of a customer: the one of this product's group.
    package struct Subscription: Hashable, Sendable {
        package var customer: String
        package var app: BundleID
        package var product: ProductID

        package init(customer: String, app: BundleID, product: ProductID) {
            self.customer = customer
            self.app = app
            self.product = product
        }
    }

    package struct RefundRequest: Hashable, Sendable {
        package var transaction: TransactionID
        /// Apple's word for why.
        package var reason: RefundReason = .unintendedPurchase
        /// Asked inside the app, which also turns auto-renew off, and lets a refusal be told.
        package var isInApp = true
        /// What Apple will decide when the merchant's time to answer is over; nil leaves it to ``Act/decideRefund(_:_:)``.
        package var outcome: RefundDecision?

        package init(transaction: TransactionID) { self.transaction = transaction }
    }

    /// Apple's `consumptionRequestReason`.
    package enum RefundReason: String, Hashable, Sendable, CaseIterable {
        case unintendedPurchase = "UNINTENDED_PURCHASE"
        case fulfillmentIssue = "FULFILLMENT_ISSUE"
        case unsatisfied = "UNSATISFIED_WITH_PURCHASE"
        case legal = "LEGAL"
        case other = "OTHER"
    }

    package enum RefundDecision: Hashable, Sendable {
        case full
        /// Thousandths of a percent, 1 to 99 999; nil is what is left of a period, or half of anything else.
        case prorated(percentage: Int?)
        case declined
    }

    package struct PriceRise: Hashable, Sendable {
        package var app: BundleID
        package var product: ProductID
        package var price: Price
        package var needsConsent: Bool

        package init(app: BundleID, product: ProductID, price: Price, needsConsent: Bool) {
            self.app = app
            self.product = product
            self.price = price
            self.needsConsent = needsConsent
        }
    }

    package struct Extension: Hashable, Sendable {
        /// 1 to 90.
        package var days: Int
        /// 0 undeclared, 1 customer satisfaction, 2 other, 3 service issue.
        package var reason: Int
        /// At most 128 characters.
        package var requestIdentifier: String

        package init(days: Int, reason: Int, requestIdentifier: String) {
            self.days = days
            self.reason = reason
            self.requestIdentifier = requestIdentifier
        }
    }

    package struct MassExtension: Hashable, Sendable {
        package var app: BundleID
        package var environment: StoreEnvironment
        package var product: ProductID
        /// Countries of storefronts; none for all.
        package var countries: [String] = []
        package var terms: Extension

        package init(app: BundleID, environment: StoreEnvironment, product: ProductID, terms: Extension) {
            self.app = app
            self.environment = environment
            self.product = product
            self.terms = terms
        }
    }

    package struct Consumption: Hashable, Sendable {
        /// What the merchant would like: nothing, or one of the decisions.
        package var preference: RefundDecision?
        /// Thousandths of a percent of the goods that were used up.
        package var percentage: Int?
        /// The body as it was sent, for checkers.
        package var body: [UInt8]

        package init(preference: RefundDecision? = nil, percentage: Int? = nil, body: [UInt8] = []) {
            self.preference = preference
            self.percentage = percentage
            self.body = body
        }
    }

    /// Apple's types of notifications about the Advanced Commerce API.
    package enum AdvancedCommerceChange: String, Hashable, Sendable, CaseIterable {
        case metadata = "METADATA_UPDATE"
        case migration = "MIGRATION"
        case price = "PRICE_CHANGE"
    }

    package enum ExternalPurchaseKind: String, Hashable, Sendable, CaseIterable {
        case created = "CREATED"
        case reminder = "ACTIVE_TOKEN_REMINDER"
        case unreported = "UNREPORTED"
    }
}

/// Why the store did not do it. The words are stable.
package enum ActRefusal: String, Error, Hashable, Sendable, CaseIterable {
    case unknownCustomer = "unknown_customer"
    case unknownApp = "unknown_app"
    case unknownProduct = "unknown_product"
    case unknownTransaction = "unknown_transaction"
    case unknownOffer = "unknown_offer"
    case notForSale = "not_for_sale"
    /// Of a non-consumable that she owns, or a subscription that runs.
    case alreadyOwned = "already_owned"
    case paymentDeclined = "payment_declined"
    case notASubscription = "not_a_subscription"
    case notSubscribed = "not_subscribed"
    case otherGroup = "other_group"
    case notEligible = "not_eligible"
    case quantityOutOfRange = "quantity_out_of_range"
    case alreadyRefunded = "already_refunded"
    case notRefunded = "not_refunded"
    case notShareable = "not_shareable"
    case nothingWaits = "nothing_waits"
    case noTarget = "no_notification_url"
    case extensionIneligible = "extension_ineligible"
    case extensionsUsedUp = "extensions_used_up"
    case familyShared = "family_shared"
    case notOriginal = "not_an_original_transaction"
}

/// What came of an act.
package enum ActOutcome: Hashable, Sendable {
    /// Done; the transactions that it made or changed, newest last.
    case done([TransactionID])
    /// The purchase waits for a parent.
    case waits
    /// The test notification's token.
    case test(token: String)
}
