/// What comes after a commitment, where a year is paid for by the month: Apple's `commitmentInfo` of a renewal.
///
/// Whoever cancels in the middle says only here that it is not renewed: the next month is charged for all the same. Source: Apple,
/// *Managing the life cycle of monthly subscriptions with a 12-month commitment*.
package struct NextCommitment: Hashable, Sendable {
    package var willRenew: Bool?
    /// What it is renewed as.
    package var product: ProductID?
    /// Apple's word for how that is paid for.
    package var billingPlan: String?
    /// When the commitment that runs is over; a charge that was late puts it off.
    package var beginsAt: Timestamp?

    package init() {}
}

/// What Apple will do next with a subscription, as it said at one moment.
package struct Renewal: Hashable, Sendable {
    /// How much a statement tells.
    package indirect enum Telling: Hashable, Sendable {
        /// All that Apple signs of a renewal: what it leaves out is not so.
        case all
        /// What verifyReceipt tells: no price, commitment, plan or offers to win somebody back by, and not which end it is about.
        /// Each may be there all the same. Beside it stands the newest statement that told all; `nil` where none is known.
        case less(than: Renewal?)
    }

    package var originalID: TransactionID
    package var product: ProductID
    package var nextProduct: ProductID?
    package var willAutoRenew: Bool?
    package var environment: StoreEnvironment?
    package var expirationIntent: Int?
    package var isInBillingRetry: Bool?
    package var graceEndsAt: Timestamp?
    package var renewsAt: Timestamp?
    package var recentStartAt: Timestamp?
    package var nextPrice: Price?
    package var priceIncreaseStatus: Int?
    package var offer: Offer?
    /// Apple's word for how the next period is paid for.
    package var nextBillingPlan: String?
    package var nextCommitment: NextCommitment?
    /// What the customer may be won back by, the best first.
    package var winBackOffers: [String] = []
    package var accountToken: AccountToken?
    package var signedAt: Timestamp
    package var telling = Telling.all

    /// More than a group will ever have at once.
    package static let winBackOffersMax = 50

    package init(originalID: TransactionID, product: ProductID, signedAt: Timestamp) {
        self.originalID = originalID
        self.product = product
        self.signedAt = signedAt
    }

    /// The newest statement that told all: this one, or the one beside it.
    package var full: Renewal? {
        switch telling {
        case .all: self
        case .less(let full): full
        }
    }

    /// Whether it says that the subscription is over.
    var isOver: Bool { expirationIntent != nil && !isRetrying }

    /// Whether Apple tries to charge for the next period. Notifications of a grace that begins were seen without the flag:
    /// a grace that goes on says the same, unless the flag says otherwise.
    var isRetrying: Bool {
        if let isInBillingRetry { return isInBillingRetry }
        let isBillingError = expirationIntent.map { $0 == SubscriptionEnding.billingError.rawValue } ?? true
        return isBillingError && graceEndsAt.map { $0 > signedAt } ?? false
    }
}
