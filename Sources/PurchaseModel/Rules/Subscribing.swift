/// A subscription about which a proof tells something new. It is large, and goes through many hands: they share it.
final class FoldedSubscription: Sendable {
    /// What a receipt of hundreds of subscriptions tells for the first time has none of it, and no room for it either.
    private final class Past: Sendable {
        let before: RecordedSubscription?
        let last: Transaction?
        let old: Subscription?
        let renewal: Renewal?
        let ends: PeriodEnds

        init(
            _ before: RecordedSubscription?,
            _ last: Transaction?,
            _ old: Subscription?,
            _ renewal: Renewal?,
            _ ends: PeriodEnds
        ) {
            self.before = before
            self.last = last
            self.old = old
            self.renewal = renewal
            self.ends = ends
        }
    }

    private let past: Past?
    let new: Subscription
    let period: RecordedTransaction?
    /// Whether Apple is to be asked what became of a period that the newest one took the place of.
    let upgrade: UnheardUpgrade?
    private let lookedAt: Timestamp

    init(
        before: RecordedSubscription?,
        last: Transaction?,
        old: Subscription?,
        new: Subscription,
        period: RecordedTransaction?,
        renewal: Renewal?,
        ends: PeriodEnds,
        upgrade: UnheardUpgrade? = nil,
        lookedAt now: Timestamp
    ) {
        let isFirst = before == nil && last == nil && old == nil && renewal == nil && ends.isEmpty
        past = isFirst ? nil : Past(before, last, old, renewal, ends)
        self.new = new
        self.period = period
        self.upgrade = upgrade
        lookedAt = now
    }

    var before: RecordedSubscription? { past?.before }

    /// The period that the shop was told of.
    var last: Transaction? { past?.last }

    /// How it would stand by the facts before, at this moment.
    var old: Subscription? { past?.old }

    /// What is to be written, save for what the shop is told.
    var row: RecordedSubscription {
        RecordedSubscription(new, renewal: past?.renewal, ends: past?.ends ?? PeriodEnds(), lookedAt: lookedAt)
    }
}

// How subscriptions stand, by the periods that were recorded and by what Apple signed of their renewal.
extension Draft {
    /// Folds what a proof tells into the subscriptions that it is about. Nothing is written or told yet: what the periods
    /// give comes first.
    mutating func foldSubscriptions(_ recording: Recording) {
        var chains: [ChainKey] = []
        var fresh: [ChainKey: [RecordedTransaction]] = [:]
        var toldByLess: Set<TransactionID> = []
        for change in decision.changes where change.recorded.isSubscriptionPeriod {
            let chain = chain(of: change.recorded)
            if fresh[chain] == nil { chains.append(chain) }
            fresh[chain, default: []].append(change.recorded)
            if case .updateByLess = change { toldByLess.insert(change.recorded.id) }
        }
        var renewals: [ChainKey: Renewal] = [:]
        var ends: [ChainKey: PeriodEnds] = [:]
        for renewal in recording.renewals {
            let chain = recording.chain(of: renewal)
            if fresh[chain] == nil, renewals[chain] == nil { chains.append(chain) }
            let before = known.subscription(of: chain)
            renewals[chain] = fold(renewals[chain] ?? before?.renewal, renewal)
            ends[chain, default: before?.ends ?? PeriodEnds()].note(renewal)
        }
        for chain in noteMoves(among: chains, fresh, in: &ends) where !chains.contains(chain) { chains.append(chain) }
        for chain in chains {
            let before = known.subscription(of: chain)
            let renewal = renewals[chain] ?? before?.renewal
            let ends = ends[chain] ?? before?.ends ?? PeriodEnds()
            let isNew = renewal != before?.renewal || ends != before?.ends ?? PeriodEnds()
            guard fresh[chain] != nil || isNew else { continue }
            let period = newestPeriod(of: chain, fresh[chain] ?? [], before)
            guard let new = PurchaseModel.fold(chain, period?.transaction, renewal, ends, at: now) else { continue }
            let last = before?.currentKey.flatMap { known[$0]?.transaction }
            note(
                FoldedSubscription(
                    before: before,
                    last: last,
                    old: before.flatMap { PurchaseModel.fold(chain, last, $0.renewal, $0.ends, at: now) },
                    new: new,
                    period: period,
                    renewal: renewal,
                    ends: ends,
                    upgrade: unheardUpgrade(
                        of: fresh[chain, default: []],
                        last,
                        before: period,
                        toldByLess
                    ),
                    lookedAt: now
                )
            )
        }
    }

    private func newestPeriod(
        of chain: ChainKey,
        _ fresh: [RecordedTransaction],
        _ before: RecordedSubscription?
    ) -> RecordedTransaction? {
        let ids = Set(fresh.map(\.id))
        let current = before?.currentKey.flatMap { known[$0]?.transaction }
        // Where its newest period has changed, its other numbers tell as well whether it was taken back.
        let isChanged = current.map { current in fresh.contains { $0.transaction.isSamePeriod(as: current) } } ?? true
        var others = [before?.currentKey].compactMap(\.self)
        if before == nil || isChanged { others += known.fulfilments(of: chain).values.map(\.transaction) }
        let earlier = others.filter { !ids.contains($0.id) }.compactMap { known[$0] }
        return PurchaseModel.newestPeriod(fresh + earlier.filter(\.isSubscriptionPeriod))
    }

    /// Writes the subscriptions that a proof has changed, and tells what has become of them.
    mutating func tellOfSubscriptions(_ recording: Recording) {
        var left = takeFolded()
        let awaited = awaitedSubscription(of: recording, among: left)
        while let subscription = left.popLast() {
            let isTold = tells(of: subscription, recording)
            write(
                subscription,
                recording.schedule,
                isTold: isTold,
                isFollowed: recording.isFollowed,
                isOfBooks: recording.source == .imported,
                isAwaited: subscription.new.chain == awaited
            )
        }
    }

    /// Of the subscriptions that a customer presents, and that are over by the clock alone, the one that ended last:
    /// she waits for Apple's word on it. Asked about one, Apple tells of all of hers, so that the others can wait for that.
    private func awaitedSubscription(of recording: Recording, among folded: [FoldedSubscription]) -> ChainKey? {
        guard recording.source == .presented, recording.customer != nil else { return nil }
        var found: Subscription?
        for new in folded.lazy.map(\.new) where recording.schedule.once(after: now, of: new) != nil {
            if let last = found?.expiresAt, let end = new.expiresAt, end <= last { continue }
            found = new
        }
        return found?.chain
    }

    /// Whether what a proof says of a subscription is for the shop: nobody is told of what was over, or somebody else's to
    /// deliver, before we knew of it.
    private func tells(of subscription: FoldedSubscription, _ recording: Recording) -> Bool {
        let (chain, source) = (subscription.new.chain, recording.source)
        if subscription.new.state == .active || recording.isFollowed, source != .imported,
            booksClosed(over: subscription) != nil
        {
            // It began before the books were closed that it belongs to, and runs.
            return false
        }
        return switch source {
        case .presented: true
        case .imported:
            // Of what waited in the ledger that it is from the shop has heard there.
            fulfilments(of: chain).values.contains { !$0.isImported && (recording.exported == nil || $0.isGiven) }
        case .history: owner(of: chain) != nil
        }
    }

    /// When the books were closed to which the newest period of a subscription belongs, that nobody knew before; `nil` where it
    /// belongs to none. That it has ended since is news, and nothing of before.
    private func booksClosed(over subscription: FoldedSubscription) -> Timestamp? {
        guard let period = subscription.period, period.id != subscription.before?.current else { return nil }
        return fulfilment(period).flatMap { $0.isImported ? $0.booksClosedAt ?? $0.purchasedAt : nil }
    }

    /// Writes how a subscription stands now, and tells what is new.
    ///
    /// - Parameters:
    ///   - folded: how it stands.
    ///   - schedule: when to look again.
    ///   - isTold: whether the shop is told.
    ///   - isFollowed: whether a newer period of it is recorded next.
    ///   - isOfBooks: whether it was imported: a look that is planned comes no later.
    ///   - isAwaited: whether a customer waits for Apple's word on it, where it is over by the clock alone.
    ///   - isLook: whether time alone has passed over it: then the next look is written, also where nothing else has changed.
    ///   - newest: its newest period when the look began; `nil` for the one that it has.
    mutating func write(
        _ folded: FoldedSubscription,
        _ schedule: LookSchedule,
        isTold: Bool = true,
        isFollowed: Bool = false,
        isOfBooks: Bool = false,
        isAwaited: Bool = false,
        isLook: Bool = false,
        askedOf newest: TransactionID? = nil
    ) {
        let (before, new) = (folded.before, folded.new)
        var row = folded.row
        (row.state, row.since) = standing(of: folded, schedule, isTold: isTold, isFollowed: isFollowed)
        let wasAsked = isLook && (newest == nil || newest == new.current)
        // Since then there is news that nobody tells; by a clock that is behind Apple's, since now.
        let next = schedule.next(after: now, of: new)
        // Books bring many at once: what is over for long can wait a little, where it is looked at again anyway.
        let canWait = folded.upgrade == .old && isOfBooks && (next ?? schedule.once(after: now, of: new)) != nil
        let begun = folded.upgrade == nil || canWait ? nil : new.periodStartedAt.map { min($0, now) }
        let open = begun ?? (wasAsked ? nil : before?.upgradeToHear(since: folded.old?.periodStartedAt))
        row.nextLook = open ?? next
        if !isLook, open == nil {
            let once = schedule.once(after: now, of: new, isAwaited: isAwaited)
            let isSooner = isAwaited && !schedule.isInHand(before?.nextLook, at: now)
            row.nextLook =
                row.nextLook.map { isAwaited || isOfBooks ? soonest($0, folded, once) : $0 }
                ?? lookOnce(at: new, knownAs: before, by: once, isSooner: isSooner)
        }
        if open == nil, isOfBooks {
            let soon = canWait ? schedule.withinADay(after: now, of: row.chain) : nil
            row.nextLook = [row.nextLook, before?.nextLook, soon].compactMap(\.self).min()
        }
        guard isNews(row, of: folded, schedule, isLook: isLook, isAwaited: isAwaited) else { return }
        let stream = StreamKey(
            app: row.chain.app,
            realm: row.chain.realm,
            customer: owner(of: row.chain)?.customer
        )
        let transition = SubscriptionTransition(
            from: before?.state,
            wasJustOver: before?.wasJustOver ?? false,
            of: folded.last,
            folded.old,
            to: row.state,
            new,
            by: folded.period?.transaction
        )
        let closed = isOfBooks ? nil : booksClosed(over: folded)
        for (type, moment) in transition.events where isTold {
            if let closed, moment ?? now < closed { continue }
            // It goes on under another number.
            if type == .subscriptionExpired, new.movedTo != nil { continue }
            tell(type, stream, happenedAt: moment ?? now, .subscription(new, folded.period))
        }
        put(row)
    }

    /// As what the shop knows a subscription from now on, and since when.
    private func standing(
        of folded: FoldedSubscription,
        _ schedule: LookSchedule,
        isTold: Bool,
        isFollowed: Bool
    ) -> (SubscriptionState, Timestamp?) {
        let (before, new) = (folded.before, folded.new)
        let there = (before?.state ?? .unknown, before?.since)
        if isFollowed, new.current != nil, new.state != .active {
            // It went on after this period, whatever the clock says of that.
            let isKnown = before?.current == new.current
            return isKnown ? there : (.active, new.periodStartedAt)
        }
        // Nobody is told of its first period: what comes after that does not begin it.
        if new.current != nil, before?.current == nil, !isTold { return (new.state, new.since) }
        if new.current == nil || new.isWaited || schedule.waits(for: new, toldOf: before, at: now) {
            return there
        }
        return (new.state, new.since)
    }

    /// Whether a row is to be written: something is new, or it is looked at when it was not to be.
    private func isNews(
        _ row: RecordedSubscription,
        of folded: FoldedSubscription,
        _ schedule: LookSchedule,
        isLook: Bool,
        isAwaited: Bool
    ) -> Bool {
        guard let before = folded.before, folded.upgrade == nil, before.saysTheSame(as: row),
            before.state == row.state, before.since == row.since
        else { return true }
        // A look that found nothing has still been one, and whoever took it in hand has put the next one off.
        if before.nextLook.map({ $0 <= now }) ?? (row.nextLook != nil) { return true }
        // Or a customer has come to wait for it.
        return (isLook || isAwaited) && !schedule.isNearly(before.nextLook, row.nextLook)
    }

    /// The look at what is over by the clock alone, and is presented or imported: at once where nobody had shown its newest
    /// period before, and no later than was planned by then.
    private func soonest(_ next: Timestamp, _ folded: FoldedSubscription, _ once: Timestamp?) -> Timestamp {
        guard let period = folded.period, let once else { return next }
        let isKnown = folded.before?.current == period.id
        if !isKnown || decision.shown.contains(period.key) { return min(next, once) }
        return folded.before?.nextLook.map { min(next, $0) } ?? next
    }

    /// The look at what has none of its own any more.
    ///
    /// - Parameters:
    ///   - new: how it stands.
    ///   - before: what was known of it.
    ///   - once: when Apple is asked about what only the clock says is over; `nil` where that is not so.
    ///   - isSooner: whether one that is planned comes sooner, as a customer waits for it.
    /// - Returns: `nil` where nothing is to be asked, or was asked: about its newest period Apple is asked once.
    private func lookOnce(
        at new: Subscription,
        knownAs before: RecordedSubscription?,
        by once: Timestamp?,
        isSooner: Bool
    ) -> Timestamp? {
        let planned = once != nil ? before?.nextLook : nil
        if let before, before.current == new.current, !isSooner || planned == nil { return planned }
        guard let planned, let once else { return planned ?? once }
        return min(planned, once)
    }
}

extension Subscription {
    /// Whether its newest transaction has not come yet: it is told of when it comes.
    fileprivate var isWaited: Bool { isBehind && state.isAlive }
}

extension RecordedSubscription {
    /// Since when Apple is to be asked what became of the period before its newest one; `nil` when it is not. Until it was,
    /// other news changes nothing of that, a newer period among it. Any other look comes after the newest period has begun.
    ///
    /// - Parameter start: of its newest period.
    /// - Returns: the moment of the look that is due.
    fileprivate func upgradeToHear(since start: Timestamp?) -> Timestamp? {
        guard let look = nextLook, let start else { return nil }
        return look <= start ? look : nil
    }
}

extension LookSchedule {
    /// Whether nobody is told yet that it has expired: only the clock says so, Apple meant to renew it, and the news of that
    /// may be on its way.
    fileprivate func waits(for new: Subscription, toldOf before: RecordedSubscription?, at now: Timestamp) -> Bool {
        guard new.state == .expired, !new.isEndConfirmed, new.goesOn != false, let end = new.expiresAt else {
            return false
        }
        if let before, before.state == .expired, before.current == new.current { return false }
        return now < end.advanced(by: patience)
    }
}
