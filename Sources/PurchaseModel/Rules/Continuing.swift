/// What a proof tells of how a chain went on from where it stood: receipts hold all of its periods, and none of those that
/// were missed says by itself that it follows another one.
struct Continuation: Sendable {
    /// The periods that follow what is known, one after the other without time between them.
    fileprivate(set) var periods: Set<TransactionID> = []
    /// When the last of them ends that Apple has not ended before.
    fileprivate(set) var end: Timestamp?
}

extension Draft {
    /// Whether a transaction was bought when its chain was over, by what is known of it and what the same proof tells: there was
    /// time without it, or it was taken back. What Apple tried to charge for until then goes on, and so does what Apple says that
    /// it has renewed.
    mutating func isBoughtAnew(_ transaction: Transaction, in chain: ChainKey, _ recording: Recording) -> Bool {
        guard let end = end(of: chain), end.isBefore(transaction) else { return false }
        return !continuation(of: chain, by: recording).periods.contains(transaction.id)
    }

    /// Whether a period that runs follows what was given in a chain, or waits there, without time between them: the proof tells
    /// of it before anybody else does.
    mutating func goesOn(_ chain: ChainKey, by recording: Recording) -> Bool {
        guard hasGrants(chain) || !awaited(in: chain).isEmpty,
            let end = continuation(of: chain, by: recording).end
        else { return false }
        return now < end
    }

    /// The products of the periods that run by what a proof tells, and follow what was given in a chain, or waits there, without
    /// time between them.
    mutating func productsGoingOn(in chain: ChainKey, by recording: Recording) -> Set<ProductID> {
        guard goesOn(chain, by: recording) else { return [] }
        let following = continuation(of: chain, by: recording).periods
        let now = now
        let running = recording.transactions.filter { period in
            guard let end = period.expiresAt, period.revocation == nil else { return false }
            return now < end && following.contains(period.id)
        }
        return Set(running.map(\.product))
    }

    /// Nothing of a chain changes it while a proof is recorded.
    private mutating func continuation(of chain: ChainKey, by recording: Recording) -> Continuation {
        if let found = continuations[chain] { return found }
        let found = continuation(read: chain, recording)
        continuations.set(found, for: chain)
        return found
    }

    private func continuation(read chain: ChainKey, _ recording: Recording) -> Continuation {
        let current = subscription(of: chain)?.current
        var (found, end) = (Continuation(), end(of: chain))
        let last = current.flatMap { fulfilments(of: chain)[$0] }
        // What was taken back ran no more, whatever followed.
        if end?.isTakenBack == true || last?.ranNoMore == true { return found }
        let periods = periods(of: chain, in: recording)
        for period in periods {
            guard let periodEnd = period.expiresAt else { continue }
            let isLater = end.map { $0.at < periodEnd } ?? true
            if period.takenBack != nil, isLater || period.id == current, !period.hasGivenWay(among: periods) {
                return Continuation()
            }
            guard isLater else { continue }
            if end?.isBefore(period) == true { break }
            found.periods.insert(period.id)
            if period.revocation == nil { found.end = periodEnd }
            end = ChainEnd(at: periodEnd)
        }
        return found
    }

    /// The first one first.
    private func periods(of chain: ChainKey, in recording: Recording) -> [Transaction] {
        let all = zip(recording.transactions, recording.keys).filter { transaction, key in
            transaction.isSubscriptionPeriod && known.chain(of: transaction, key, in: recording) == chain
        }
        return all.map { $0.0 }.sorted { ($0.purchasedAt, $0.id) < ($1.purchasedAt, $1.id) }
    }

    /// How a chain ends by what is known of it; `nil` where that is nothing.
    private func end(of chain: ChainKey) -> ChainEnd? {
        let rows = fulfilments(of: chain)
        guard !rows.isEmpty else { return nil }
        if rows.values.allSatisfy(\.ranNoMore), let end = rows.values.compactMap(\.reversedAt).max() {
            return ChainEnd(at: end, isTakenBack: true)
        }
        guard let subscription = subscription(of: chain) else { return nil }
        // What was taken back ran no more; a period before it may run still.
        if let current = subscription.current.flatMap({ rows[$0] }), current.ranNoMore, let end = current.reversedAt {
            let others = rows.values.filter(\.isInForce).flatMap(\.goods).compactMap(\.end)
            return ChainEnd(at: max(end, others.max() ?? end), isTakenBack: true)
        }
        guard let end = [subscription.expiresAt, subscription.graceEndsAt].compactMap(\.self).max() else { return nil }
        return ChainEnd(at: end, isRetried: subscription.renewal?.isRetrying == true)
    }
}

extension Fulfilment {
    /// Whether Apple took back all or a part of a period, whether or not it had been given.
    fileprivate var ranNoMore: Bool { isTakenBack || tellsOfReturn }
}

extension Transaction {
    /// Whether another plan took its place when Apple took it back: of an upgrade receipts tell no more than that.
    ///
    /// - Parameter periods: of its chain, that the same proof tells of.
    /// - Returns: false for what has a reason, too, and where the next plan began more than a minute from then.
    fileprivate func hasGivenWay(among periods: [Transaction]) -> Bool {
        guard let revocation, revocation.isBare else { return false }
        return periods.contains { next in
            next.product != product && next.purchasedAt.seconds > purchasedAt.seconds
                && abs(next.purchasedAt.seconds - revocation.at.seconds) <= SubscriptionTransition.gap
        }
    }
}

/// When a chain is over, and how.
private struct ChainEnd {
    let at: Timestamp
    var isTakenBack = false
    /// Whether Apple tried to charge for what follows.
    var isRetried = false

    /// Whether a transaction began something new after it.
    func isBefore(_ transaction: Transaction) -> Bool {
        if transaction.reason == .renewal { return false }
        if isTakenBack { return at < transaction.purchasedAt }
        if transaction.reason == .purchase { return transaction.purchasedAt >= at }
        return !isRetried && transaction.purchasedAt.seconds > at.seconds + SubscriptionTransition.gap
    }
}

extension GrantedGoods {
    /// When access ends; `nil` for an amount, and of what is for ever.
    fileprivate var end: Timestamp? {
        guard case .entitlement(_, let until) = self else { return nil }
        return until
    }
}
