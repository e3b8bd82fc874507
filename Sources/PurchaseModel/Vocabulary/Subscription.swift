/// A subscription at one moment: what Apple knows by its original transaction, renewals and changes of plan included.
///
/// It is a fold: of the chain's newest period, of what Apple last signed about its renewal, and of the moment. What no
/// proof has told is `nil`.
package struct Subscription: Hashable, Sendable {
    package let chain: ChainKey
    package internal(set) var product: ProductID
    package internal(set) var group: String?
    package internal(set) var state: SubscriptionState
    /// When this state began, by Apple's moments.
    package internal(set) var since: Timestamp?
    /// The newest period's transaction; `nil` while only Apple's word on the renewal is known.
    package internal(set) var current: TransactionID?
    /// When the chain began.
    package internal(set) var startedAt: Timestamp?
    /// When its newest stretch without a long gap in paid service began.
    package internal(set) var recentStartAt: Timestamp?
    package internal(set) var periodStartedAt: Timestamp?
    /// When what was paid for ends, extensions counted and grace not.
    package internal(set) var expiresAt: Timestamp?
    /// Until when access goes on after a renewal that could not be charged; also when that is over.
    package internal(set) var graceEndsAt: Timestamp?
    /// Until when Apple may try to charge; only after a renewal that could not be charged. Where it was heard trying for
    /// longer than it says, twice as long after the end.
    package internal(set) var retriesUntil: Timestamp?
    package internal(set) var willAutoRenew: Bool?
    /// What renews next; another product than this one after a change of plan that waits.
    package internal(set) var nextProduct: ProductID?
    package internal(set) var nextPrice: Price?
    package internal(set) var nextOffer: Offer?
    /// Apple's word for how the next period is paid for.
    package internal(set) var nextBillingPlan: String?
    /// What comes after the commitment that runs.
    package internal(set) var nextCommitment: NextCommitment?
    /// What the customer may be won back by, the best first.
    package internal(set) var winBackOffers: [String] = []
    package internal(set) var priceIncrease: PriceIncrease?
    package internal(set) var price: Price?
    package internal(set) var offer: Offer?
    package internal(set) var ownership: Ownership?
    /// Apple's word for how the newest period is paid for.
    package internal(set) var billingPlan: String?
    /// Until when its customer has committed herself, where a year is paid for by the month.
    package internal(set) var commitmentEndsAt: Timestamp?
    package internal(set) var accountToken: AccountToken?
    /// Why it ended, in Apple's words; where Apple has not said, what follows from the rest.
    package internal(set) var ending: SubscriptionEnding?
    package internal(set) var revocation: Revocation?
    /// An upgrade took the place of the newest period that we have seen. `nil` too while nobody has said by what.
    package internal(set) var upgradedTo: ProductID?
    /// Under which original transaction Apple goes on with it, and from which one it came, as when it is moved to Advanced
    /// Commerce.
    package internal(set) var movedTo: TransactionID?
    package internal(set) var movedFrom: TransactionID?
    /// Whether Apple has told of something newer than the newest transaction that we have seen.
    package internal(set) var isBehind: Bool
    /// Whether Apple itself said that it ended: otherwise only the time that was paid for is over.
    package internal(set) var isEndConfirmed: Bool
    /// When Apple signed the newest of all this.
    package internal(set) var signedAt: Timestamp?

    package var isFamilyShared: Bool { ownership == .familyShared }

    /// Whether Apple means to charge for a next period: until the commitment ends it does, also where its renewal is off.
    package var goesOn: Bool? {
        if let commitmentEndsAt, let expiresAt, commitmentEndsAt.seconds > expiresAt.seconds { return true }
        return nextCommitment?.willRenew == false ? false : willAutoRenew
    }

    package var isTrial: Bool { offer?.discount == "FREE_TRIAL" }

    package var isIntroductory: Bool { offer?.kind == .introductory }

    /// Whether it lapsed for long, and was bought again; `nil` while that is unknown.
    package var hasReturned: Bool? {
        guard let startedAt, let recentStartAt else { return nil }
        return recentStartAt.seconds > startedAt.seconds
    }

    /// Until when what it gives may be used: the grace counts, what was taken back does not.
    package var accessUntil: Timestamp? {
        switch state {
        case .active: expiresAt
        case .grace: graceEndsAt
        case .expired, .billingRetry, .revoked, .unknown: nil
        }
    }
}

/// Where a subscription stands. Stable words of the API; Apple has a number for each but the last.
package enum SubscriptionState: String, Hashable, Sendable, CaseIterable {
    case active
    case expired
    /// A renewal could not be charged; Apple tries again, and access is over.
    case billingRetry = "billing_retry"
    /// A renewal could not be charged; Apple tries again, and access goes on.
    case grace = "grace_period"
    /// Apple took the newest period back.
    case revoked
    /// Too little is known.
    case unknown

    /// Apple's number, as the App Store Server API has it.
    package var number: Int? {
        switch self {
        case .active: 1
        case .expired: 2
        case .billingRetry: 3
        case .grace: 4
        case .revoked: 5
        case .unknown: nil
        }
    }

    /// Whether it can still go on without being bought again.
    package var isAlive: Bool { self == .active || self == .grace || self == .billingRetry }
}

/// Why a subscription ended: Apple's `expirationIntent`. A number that we do not know stays what it is.
package struct SubscriptionEnding: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let cancelled = SubscriptionEnding(rawValue: 1)
    package static let billingError = SubscriptionEnding(rawValue: 2)
    package static let noConsent = SubscriptionEnding(rawValue: 3)
    package static let productUnavailable = SubscriptionEnding(rawValue: 4)
    package static let other = SubscriptionEnding(rawValue: 5)

    /// A stable word of the API.
    package var description: String {
        switch self {
        case .cancelled: "cancelled"
        case .billingError: "billing_error"
        case .noConsent: "no_consent_to_price_increase"
        case .productUnavailable: "product_unavailable"
        case .other: "other"
        default: "apple_\(rawValue)"
        }
    }
}

/// How far a higher price has come: Apple's `priceIncreaseStatus`. A number that we do not know stays what it is.
package struct PriceIncrease: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// The customer has not answered yet.
    package static let pending = PriceIncrease(rawValue: 0)
    /// The customer has consented, or was told of one that needs no consent.
    package static let accepted = PriceIncrease(rawValue: 1)

    /// A stable word of the API.
    package var description: String {
        switch self {
        case .pending: "pending"
        case .accepted: "accepted"
        default: "apple_\(rawValue)"
        }
    }
}

/// Apple's own figures about subscriptions. Sources: Apple, *Reducing Involuntary Subscriber Churn*; *Managing the life
/// cycle of monthly subscriptions with a 12-month commitment*.
package enum SubscriptionRules {
    /// Apple's word for a year that is paid for by the month.
    package static let monthlyPlan = "MONTHLY"
    /// For how long Apple tries to charge at most, whatever the plan.
    package static let longestRetry = commitmentRetry
    /// How long paid service may be missing without a new start.
    static let longestGap = Duration.seconds(60 * 86_400)
    private static let billingRetry = Duration.seconds(60 * 86_400)
    private static let commitmentRetry = Duration.seconds(90 * 86_400)

    /// How long Apple tries to charge for what comes after a period at most.
    ///
    /// - Parameter plan: Apple's word for how the period is paid for; `nil` where nobody said.
    /// - Returns: 60 days; 90 within a commitment.
    package static func billingRetry(on plan: String?) -> Duration {
        plan == monthlyPlan ? commitmentRetry : billingRetry
    }
}
