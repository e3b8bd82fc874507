/// How a subscription stands at a moment, by what Apple signed of it.
///
/// - Parameters:
///   - chain: which one.
///   - period: its newest transaction: see ``newestPeriod(_:)``.
///   - renewal: what Apple signed about its renewal: see ``fold(_:_:)``.
///   - ends: what else is kept of it: since when it is over, and whether Apple goes on with it under another number.
///   - now: the moment.
/// - Returns: `nil` when neither is known.
package func fold(
    _ chain: ChainKey,
    _ period: Transaction?,
    _ renewal: Renewal?,
    _ ends: PeriodEnds = PeriodEnds(),
    at now: Timestamp
) -> Subscription? {
    let renewal = renewal?.filled(about: period)
    guard let product = period?.product ?? renewal?.product else { return nil }
    let word = RenewalWord(renewal, about: period)
    let isAhead = word.isAhead
    var found = Subscription(
        chain: chain,
        product: isAhead ? renewal?.product ?? product : product,
        state: .unknown,
        isBehind: period == nil || isAhead,
        isEndConfirmed: false
    )
    if let period { found.take(period) }
    if isAhead { found.forgetPeriod() }
    found.expiresAt = word.end
    (found.movedTo, found.movedFrom) = (ends.move?.to, ends.origin?.from)
    found.recentStartAt = word.outlook?.recentStartAt
    if let period, word.outlook == nil { found.recentStartAt = renewal?.recentStart(before: period) }
    found.signedAt = [period?.signedAt, renewal?.signedAt].compactMap(\.self).max()
    if let outlook = word.outlook { found.take(outlook) }
    if let next = renewal?.nextCommitment, word.outlook != nil || next.isAfter(period) { found.nextCommitment = next }
    if period?.isUpgraded == true, !isAhead {
        found.isBehind = true
        found.upgradedTo = renewal.flatMap { $0.product == period?.product ? nil : $0.product }
    }
    found.stand(word.trouble, ends, at: now)
    return found
}

/// The transaction that says how a chain stands: the newest period, and of two that began at once the one with the higher
/// number. Neither ever changes, so that it can be told from the newest one known and those that are new.
///
/// Where Apple took that period back by another number of it, it is that other one: a restore has a number of its own.
package func newestPeriod(_ transactions: some Collection<RecordedTransaction>) -> RecordedTransaction? {
    guard let newest = newestOne(of: transactions, where: { _ in true }) else { return nil }
    if newest.transaction.takenBack != nil { return newest }
    return newestOne(of: transactions) {
        $0.transaction.takenBack != nil && $0.transaction.isSamePeriod(as: newest.transaction)
    } ?? newest
}

private func newestOne(
    of transactions: some Collection<RecordedTransaction>,
    where isMeant: (RecordedTransaction) -> Bool
) -> RecordedTransaction? {
    var newest: RecordedTransaction?
    for transaction in transactions where isMeant(transaction) && (newest.map { transaction.follows($0) } ?? true) {
        newest = transaction
    }
    return newest
}

extension RecordedTransaction {
    fileprivate func follows(_ other: RecordedTransaction) -> Bool {
        let (one, two) = (purchasedAt.seconds, other.purchasedAt.seconds)
        return one == two ? id > other.id : one > two
    }
}

extension NextCommitment {
    /// Whether it comes after the commitment that a period is of: a word on that holds for all its months.
    fileprivate func isAfter(_ period: Transaction?) -> Bool {
        guard let period, period.billingPlan == SubscriptionRules.monthlyPlan, let beginsAt else { return false }
        return period.purchasedAt.seconds < beginsAt.seconds
    }
}

extension Renewal {
    /// When the newest stretch without a long gap in paid service began, by a word that is not about the newest period.
    ///
    /// - Parameter period: the newest one.
    /// - Returns: what it says, where it was signed later, or no long gap is between the end that it is about and the period.
    ///   Otherwise when the period began, where it was bought after what was not to go on; `nil` where that is not known: it
    ///   may have gone on in between.
    fileprivate func recentStart(before period: Transaction) -> Timestamp? {
        let start = period.purchasedAt
        if signedAt.seconds > start.seconds { return recentStartAt }
        let last = (renewsAt ?? signedAt).advanced(by: SubscriptionRules.longestGap)
        if start.seconds <= last.seconds { return recentStartAt }
        return period.reason == .purchase && (isOver || willAutoRenew == false) ? start : nil
    }
}

/// What Apple's word on the renewal has to do with the newest period that we have seen.
///
/// It is about the period that ran, or had ended, when it was signed. A later period makes it void: what it says of
/// trouble above all, which would come up again at the end of the next one.
private struct RenewalWord {
    /// The renewal, where it speaks of what comes after this period.
    let outlook: Renewal?
    /// The renewal, where it speaks of how this period ended.
    let trouble: Renewal?
    /// Apple has told of a newer period than we have seen, or of a longer one.
    let isAhead: Bool
    /// When what was paid for ends.
    let end: Timestamp?

    init(_ renewal: Renewal?, about period: Transaction?) {
        guard let renewal else {
            self.init(outlook: nil, trouble: nil, isAhead: false, end: period?.expiresAt)
            return
        }
        guard let period else {
            self.init(outlook: renewal, trouble: renewal, isAhead: false, end: renewal.renewsAt)
            return
        }
        guard let end = period.expiresAt else {
            let isLater = renewal.signedAt.seconds >= period.purchasedAt.seconds
            self.init(
                outlook: isLater ? renewal : nil,
                trouble: isLater ? renewal : nil,
                isAhead: false,
                end: isLater ? renewal.renewsAt : nil
            )
            return
        }
        if RenewalWord.isAhead(renewal, of: period, end) {
            self.init(outlook: renewal, trouble: renewal, isAhead: true, end: renewal.renewsAt)
            return
        }
        let isAfterEnd = renewal.signedAt.seconds >= end.seconds
        let isOfEnd = RenewalWord.isOfEnd(renewal, of: period, end) || isAfterEnd
        let isOfPeriod = isOfEnd || RenewalWord.isOfPeriod(renewal, period)
        self.init(
            outlook: isOfPeriod ? renewal : nil,
            trouble: isOfEnd ? renewal : nil,
            isAhead: false,
            end: end
        )
    }

    private init(outlook: Renewal?, trouble: Renewal?, isAhead: Bool, end: Timestamp?) {
        self.outlook = outlook
        self.trouble = trouble
        self.isAhead = isAhead
        self.end = end
    }

    /// Only while all is well: a subscription in trouble has no newer period.
    private static func isAhead(_ renewal: Renewal, of period: Transaction, _ end: Timestamp) -> Bool {
        guard let renewsAt = renewal.renewsAt, !renewal.isRetrying, renewal.expirationIntent == nil,
            renewal.signedAt.seconds >= period.purchasedAt.seconds, renewsAt.seconds > period.purchasedAt.seconds
        else { return false }
        if let revocation = period.takenBack, revocation.at >= renewal.signedAt { return false }
        // What Apple signs in one breath is not behind itself, unless it tells of a period that was over by then.
        if renewal.signedAt.seconds == period.signedAt.seconds, renewal.signedAt.seconds < end.seconds { return false }
        return renewsAt.seconds > end.seconds || renewal.product != period.product && renewsAt.seconds < end.seconds
    }

    /// About the very end that the period has. A format that does not say is taken at its word when nothing of the
    /// period is newer.
    private static func isOfEnd(_ renewal: Renewal, of period: Transaction, _ end: Timestamp) -> Bool {
        if let renewsAt = renewal.renewsAt { return renewsAt.seconds == end.seconds }
        return renewal.signedAt.seconds >= max(period.signedAt, period.purchasedAt).seconds
    }

    /// About the period, by an end that has since moved, or by when it was signed. A renewal that was charged late begins
    /// where the one before ended: what was said while Apple tried is not about it.
    private static func isOfPeriod(_ renewal: Renewal, _ period: Transaction) -> Bool {
        guard renewal.signedAt.seconds >= period.purchasedAt.seconds else { return false }
        return renewal.renewsAt.map { $0.seconds > period.purchasedAt.seconds } ?? true
    }
}

extension Subscription {
    fileprivate init(
        chain: ChainKey,
        product: ProductID,
        state: SubscriptionState,
        isBehind: Bool,
        isEndConfirmed: Bool
    ) {
        self.chain = chain
        self.product = product
        self.state = state
        self.isBehind = isBehind
        self.isEndConfirmed = isEndConfirmed
    }

    fileprivate mutating func take(_ period: Transaction) {
        current = period.id
        group = period.subscriptionGroup
        startedAt = period.originallyPurchasedAt ?? (period.originalID == period.id ? period.purchasedAt : nil)
        periodStartedAt = period.purchasedAt
        price = period.price
        offer = period.offer
        ownership = period.ownership
        billingPlan = period.billingPlan
        commitmentEndsAt = period.commitmentEndsAt
        accountToken = period.accountToken
        revocation = period.takenBack
    }

    /// What is known of an older period says nothing of the one that Apple has told of.
    fileprivate mutating func forgetPeriod() {
        (price, offer, revocation) = (nil, nil, nil)
    }

    fileprivate mutating func take(_ outlook: Renewal) {
        willAutoRenew = outlook.willAutoRenew
        nextProduct = outlook.nextProduct
        nextPrice = outlook.nextPrice
        nextOffer = outlook.offer
        nextBillingPlan = outlook.nextBillingPlan
        winBackOffers = outlook.winBackOffers
        priceIncrease = outlook.priceIncreaseStatus.map(PriceIncrease.init(rawValue:))
    }

    /// Where it stands; the order of the questions is part of the answer.
    fileprivate mutating func stand(_ trouble: Renewal?, _ ends: PeriodEnds, at now: Timestamp) {
        if let revocation { return set(.revoked, since: revocation.at) }
        let isRetrying = trouble?.isRetrying == true
        if let trouble, let intent = trouble.expirationIntent, !isRetrying {
            ending = SubscriptionEnding(rawValue: intent)
            isEndConfirmed = true
            return set(.expired, since: end(by: trouble, ends))
        }
        guard let end = expiresAt else { return standWithoutEnd(trouble, isRetrying, at: now) }
        guard isRetrying, let trouble else {
            if now < end { return set(.active, since: periodStartedAt) }
            if wasTurnedOff { ending = .cancelled }
            return set(.expired, since: end)
        }
        graceEndsAt = trouble.graceEndsAt
        let retry = SubscriptionRules.billingRetry(on: billingPlan)
        // Who is heard trying after that has not given up, and may try for as long again: once, for Apple signs the same anew
        // whenever it is asked.
        let last = end.advanced(by: retry)
        retriesUntil = trouble.signedAt > last ? last.advanced(by: retry) : last
        if now < end { return set(.active, since: periodStartedAt) }
        if let graceEndsAt, now < graceEndsAt { return set(.grace, since: end) }
        if let retriesUntil, now >= retriesUntil {
            ending = .billingError
            return set(.expired, since: retriesUntil)
        }
        set(.billingRetry, since: max(graceEndsAt ?? end, end))
    }

    /// Since when it is over by Apple's word.
    ///
    /// Where a charge has failed that is long after the end of what was paid for: when Apple gave up, or its customer did,
    /// which is said again whenever Apple is asked.
    private func end(by trouble: Renewal, _ ends: PeriodEnds) -> Timestamp {
        let said = (trouble.renewsAt ?? expiresAt).flatMap { ends[$0] }
        if ending == .billingError || said?.isFailed == true { return said?.overAt ?? trouble.signedAt }
        return min(expiresAt ?? trouble.signedAt, trouble.signedAt)
    }

    /// Whether it ended as its customer wished, although Apple has not said so. Where a higher price waited for an answer, that
    /// may be what it ended for; and one that an upgrade took the place of did not end.
    private var wasTurnedOff: Bool { goesOn == false && priceIncrease != .pending && !isBehind }

    private mutating func standWithoutEnd(_ trouble: Renewal?, _ isRetrying: Bool, at now: Timestamp) {
        guard isRetrying, let trouble else { return set(.unknown, since: nil) }
        graceEndsAt = trouble.graceEndsAt
        if let graceEndsAt, now < graceEndsAt { return set(.grace, since: trouble.signedAt) }
        set(.billingRetry, since: graceEndsAt ?? trouble.signedAt)
    }

    private mutating func set(_ state: SubscriptionState, since: Timestamp?) {
        (self.state, self.since) = (state, since)
    }
}
