/// What has become of a subscription since the shop was told of it last.
///
/// Only changes tell. How a subscription stands in the end does not depend on the order in which its facts arrive; what is
/// told on the way does: of a period that came late nobody hears that it began.
struct SubscriptionTransition {
    /// What the shop was told last, and of which period; `nil` before it was told anything.
    private let told: SubscriptionState?
    /// Whether nobody was told of it, as its newest period was over for less than a day when it was first heard of.
    private let wasJustOver: Bool
    private let last: Transaction?
    /// By the facts before.
    private let old: Subscription?
    private let new: Subscription
    /// What the shop is told now.
    private let state: SubscriptionState
    /// Its newest period.
    private let period: Transaction?

    init(
        from told: SubscriptionState?,
        wasJustOver: Bool,
        of last: Transaction?,
        _ old: Subscription?,
        to state: SubscriptionState,
        _ new: Subscription,
        by period: Transaction?
    ) {
        self.told = told
        self.wasJustOver = wasJustOver
        self.last = last
        self.old = old
        self.new = new
        self.state = state
        self.period = period
    }

    /// Apple's moments; `nil` where there is none.
    var events: [(type: EventType, happenedAt: Timestamp?)] {
        // Of what has no transaction nobody is told anything.
        guard new.current != nil else { return [] }
        guard let told, let last, let old else { return first }
        let isNewPeriod = new.current != last.id && !(period?.isSamePeriod(as: last) ?? false)
        // Nobody was told of the one before: it had given way, or was over while the news of the next one was on its way.
        if isNewPeriod, told == .unknown, old.state != .unknown { return first }
        // Nor of this one, until it was known what became of it.
        if !isNewPeriod, wasJustOver, !old.isBehind { return first }
        var events: [(type: EventType, happenedAt: Timestamp?)] = []
        if isNewPeriod {
            if let type = renewal(after: last, told) { events.append((type, new.periodStartedAt)) }
            if isAnotherPlan(after: last) { events.append((.subscriptionProductChanged, new.periodStartedAt)) }
        }
        if let type = change(from: isNewPeriod ? .active : told) {
            // What was taken back ended it once, and it goes on from when Apple gave it back.
            events.append((type, type == .subscriptionRestored ? new.signedAt : new.since))
        }
        if !isNewPeriod, !new.isBehind, let end = last.expiresAt,
            new.expiresAt.map({ $0.seconds > end.seconds }) ?? false
        {
            events.append((.subscriptionExtended, new.signedAt))
        }
        let isTold = events.contains { $0.type == .subscriptionProductChanged || $0.type == .subscriptionResubscribed }
        // What a renewal brings with it is no wish: an offer that is used up, say.
        let isOfferNew =
            !isNewPeriod && old.willAutoRenew != nil && new.nextOffer != nil && new.nextOffer != old.nextOffer
        let isPlanNew = !isNewPeriod && new.otherPlan != old.otherPlan
        let isPreferenceNew = new.preference != old.preference || isOfferNew || isPlanNew
        if state.isAlive, told.isAlive || told == .unknown, !isTold, isPreferenceNew {
            events.append((.subscriptionRenewalPreferenceChanged, new.signedAt))
        }
        if state.isAlive, isPriceNews(old), let type = priceEvent { events.append((type, new.signedAt)) }
        return events
    }

    /// Whether Apple says something else of a higher price than before, or has raised it once more.
    private func isPriceNews(_ old: Subscription) -> Bool {
        if new.priceIncrease != old.priceIncrease { return true }
        guard let after = new.nextPrice, let before = old.nextPrice else { return false }
        return after.currency == before.currency && after.milliunits > before.milliunits
            && new.nextProduct == old.nextProduct && new.nextOffer == old.nextOffer
    }

    private var first: [(type: EventType, happenedAt: Timestamp?)] {
        state == .active
            ? [(.subscriptionStarted, new.periodStartedAt ?? new.since)]
            : change(from: .active).map { [($0, new.since)] } ?? []
    }

    /// What a new period means.
    private func renewal(after last: Transaction, _ told: SubscriptionState) -> EventType? {
        let start = new.periodStartedAt?.seconds ?? .min
        let end = last.expiresAt?.seconds ?? .max
        let reason = period?.reason
        switch told {
        case .grace, .billingRetry: return .subscriptionRecovered
        case .revoked: return .subscriptionResubscribed
        // Apple may have ended it in the middle of a period.
        case .expired where reason == .purchase && old?.isEndConfirmed != false: return .subscriptionResubscribed
        case .expired, .active, .unknown:
            if reason == .purchase, end < .max, start >= end { return .subscriptionResubscribed }
            if end < .max, start > end + Self.gap {
                // Apple was paid later than it wanted, and nobody has told that it tried.
                return reason == .renewal ? .subscriptionRecovered : .subscriptionResubscribed
            }
            guard isAnotherPlan(after: last), start < end else { return .subscriptionRenewed }
            // A change of plan in the middle of a period is no renewal.
            guard told == .expired else { return nil }
            // The clock alone may have ended that before we heard of it.
            return old?.isEndConfirmed == true ? .subscriptionResubscribed : .subscriptionRestored
        }
    }

    /// Whether a new period is one of another product or, through Advanced Commerce, of the same one with other items: those
    /// are changed in the middle of a period, and bought.
    private func isAnotherPlan(after last: Transaction) -> Bool {
        if new.product != last.product { return true }
        guard let period, period.advancedCommerce != nil, period.reason == .purchase, let end = last.expiresAt else {
            return false
        }
        return period.purchasedAt < end
    }

    /// Paid service that is missing for so many seconds was bought again: Apple's renewals have none.
    static let gap: Int64 = 60

    private func change(from told: SubscriptionState) -> EventType? {
        guard state != told else { return nil }
        switch state {
        case .active:
            switch told {
            case .grace, .billingRetry: return .subscriptionRecovered
            case .revoked, .expired: return .subscriptionRestored
            case .active, .unknown: return nil
            }
        case .grace: return .subscriptionGraceStarted
        case .billingRetry: return .subscriptionBillingRetryStarted
        // Of what was recorded before subscriptions were looked at nobody is told anew.
        case .expired: return told == .unknown ? nil : .subscriptionExpired
        case .revoked: return .subscriptionRevoked
        case .unknown: return nil
        }
    }

    private var priceEvent: EventType? {
        switch new.priceIncrease {
        case .pending: .subscriptionPriceIncreasePending
        case .accepted: .subscriptionPriceIncreaseAccepted
        default: nil
        }
    }
}

extension Subscription {
    /// Whether it will renew, and as what; and the commitment. As long as nobody has said so, it renews as what it is.
    fileprivate var preference: [String] {
        let next = nextProduct ?? product
        let goesOn = [willAutoRenew, nextCommitment?.willRenew].map { $0 ?? true ? "on" : "off" }
        return goesOn + [next.text, (nextCommitment?.product ?? next).text]
    }

    /// By which other plan than now it is to be paid for; `nil` also while nobody has said how it is now.
    fileprivate var otherPlan: String? {
        guard let billingPlan, let next = nextCommitment?.billingPlan ?? nextBillingPlan else { return nil }
        return next == billingPlan ? nil : next
    }
}

extension RecordedSubscription {
    /// See ``SubscriptionTransition``. What was recorded before subscriptions were looked at never was.
    var wasJustOver: Bool { state == .unknown && expiresAt.map { $0 <= lookedAt } ?? false }
}
