import PurchaseModel

/// What keeps a process calm, whatever Apple does: budgets by lane, breakers by host and by key. A pure value.
struct Calm: Sendable {
    /// Who can fail as a whole.
    enum Suspect: Hashable, Sendable {
        /// All apps ask one host; a store's trouble is not the other's.
        case host(String, StoreEnvironment)
        case key(AppleLane.Owner)
    }

    /// Why a request must not go.
    enum Hold: Hashable, Sendable {
        case budget(until: Timestamp)
        case rest(until: Timestamp)
    }

    /// What a request's end says of host and key.
    enum Word: Hashable, Sendable {
        case good
        case hostFails
        case keyFails
        /// It speaks of neither: 429, or a call that was never made.
        case nothing
    }

    private let share: RequestBudget.Share
    private var budgets: [AppleLane: RequestBudget] = [:]
    private var breakers: [Suspect: CircuitBreaker] = [:]

    init(share: RequestBudget.Share) {
        self.share = share
    }

    /// - Returns: `nil` when the request may go.
    mutating func take(_ lane: AppleLane, _ host: String, for urgency: AppleUrgency, at now: Timestamp) -> Hold? {
        // Whoever rests uses up no budget; and whoever has none must not be the probe.
        var budget = self.budget(lane, at: now)
        if let until = budget.take(at: now, for: urgency) {
            budgets[lane] = budget
            return .budget(until: until)
        }
        let suspects = Calm.suspects(lane, host)
        var taken: [Suspect: CircuitBreaker] = [:]
        for (suspect, rule) in suspects {
            var breaker = breakers[suspect] ?? CircuitBreaker(rule)
            if let until = breaker.take(at: now) { return .rest(until: until) }
            taken[suspect] = breaker
        }
        breakers.merge(taken) { _, new in new }
        budgets[lane] = budget
        return nil
    }

    /// - Returns: until when something rests that this made rest, and whether something recovered.
    mutating func note(
        _ word: Word,
        _ lane: AppleLane,
        _ host: String,
        at now: Timestamp
    ) -> (rests: Timestamp?, hasRecovered: Bool) {
        var (rests, hasRecovered) = (Timestamp?.none, false)
        if word == .good { budgets[lane]?.answered() }
        for (suspect, rule) in Calm.suspects(lane, host) {
            var breaker = breakers[suspect] ?? CircuitBreaker(rule)
            switch (word, suspect) {
            case (.good, _), (.keyFails, .host): hasRecovered = breaker.succeed() || hasRecovered
            case (.hostFails, .host), (.keyFails, .key): rests = breaker.fail(at: now) ?? rests
            case (.nothing, _), (.hostFails, .key): breaker.tellNothing(at: now)
            }
            breakers[suspect] = breaker
        }
        return (rests, hasRecovered)
    }

    /// - Returns: until when nothing goes.
    mutating func block(_ lane: AppleLane, until moment: Timestamp, at now: Timestamp) -> Timestamp {
        var budget = self.budget(lane, at: now)
        budget.block(until: moment, at: now)
        budgets[lane] = budget
        return budget.blockedUntil ?? moment
    }

    /// Whether anything that this lane needs rests.
    func rests(_ lane: AppleLane, _ host: String) -> Bool {
        Calm.suspects(lane, host).contains { breakers[$0.suspect]?.isOpen == true }
    }

    /// Whether an app's key rests.
    func rests(_ owner: AppleLane.Owner) -> Bool { breakers[.key(owner)]?.isOpen == true }

    private func budget(_ lane: AppleLane, at now: Timestamp) -> RequestBudget {
        budgets[lane]
            ?? RequestBudget(
                perSecond: lane.perSecond,
                isProduction: lane.store == .production,
                share: share,
                at: now
            )
    }

    private static func suspects(
        _ lane: AppleLane,
        _ host: String
    ) -> [(suspect: Suspect, rule: CircuitBreaker.Rule)] {
        let host = (Suspect.host(host, lane.store), CircuitBreaker.Rule.host)
        return lane.isByKey ? [host, (.key(lane.owner), .key)] : [host]
    }
}
