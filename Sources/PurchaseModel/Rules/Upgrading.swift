/// The periods that gave way to another plan, as the periods of their chain show it.
///
/// Apple signs that of the older transaction, which it does not send with the newer one. But a chain has one plan at a time:
/// where one of another product begins in the middle of a period, that is over. What Apple took back was over before.
///
/// - Parameter periods: of any number of chains, in any order.
/// - Returns: those that Apple marks, and those that a newer one shows.
package func replacedPeriods(among periods: some Sequence<Transaction>) -> Set<TransactionID> {
    var found: Set<TransactionID> = []
    for chain in Dictionary(grouping: periods, by: { $0.originalID ?? $0.id }).values {
        let sorted = chain.sorted { ($0.purchasedAt, $0.id) < ($1.purchasedAt, $1.id) }
        for (place, period) in sorted.enumerated() {
            let later = sorted[(place + 1)...]
            if period.isUpgraded || period.isCutShort(by: later) { found.insert(period.id) }
        }
    }
    return found
}

/// The periods that Apple may mark by now as what another plan took the place of: one of another product began before they
/// ended, and what was said of them is older, or comes from a receipt, which does not say it.
///
/// To ask about one of them once is enough: the answer is newer than both, and no receipt.
///
/// - Parameter periods: of one chain, in any order.
/// - Returns: those to ask Apple about, the newest first.
package func upgradesToHear(among periods: [Transaction]) -> [TransactionID] {
    let sorted = periods.sorted { ($0.purchasedAt, $0.id) < ($1.purchasedAt, $1.id) }
    guard let newest = sorted.last?.purchasedAt else { return [] }
    // A chain may have hundreds of periods: only those are compared that lie together.
    let open = sorted.indices.filter { place in
        let period = sorted[place]
        guard period.mayBeMarked(byPurchaseAt: newest) else { return false }
        return sorted[(place + 1)...].prefix { $0.begins(before: period) }.contains { period.mayHaveGivenWay(to: $0) }
            || sorted[..<place].reversed().prefix { $0.mayComeBeforeCharge(of: period) }
                .contains { period.mayHaveGivenWayAhead(to: $0) }
    }
    return open.reversed().map { sorted[$0].id }
}

/// Whether Apple may have a word on a chain's periods that nobody sends: one of another product is among them, or one begins in
/// the middle of another. Mostly neither is so, and then their transactions need not be read.
///
/// - Parameter rows: of one chain, in any order.
/// - Returns: true as well where something waits, of which is not known here how long it lasts.
package func mayHideUpgrades(_ rows: [Fulfilment]) -> Bool {
    guard let first = rows.first else { return false }
    return rows.contains { $0.product != first.product }
        || rows.count > 1 && rows.contains(where: \.isHeldUp)
        || overlap(rows.compactMap(\.span))
}

/// Whether a period begins in the middle of another one, of whatever product.
///
/// - Parameter spans: of one chain, in any order.
/// - Returns: false where each only follows another one, if shortly before its end.
package func overlap(_ spans: [PeriodSpan]) -> Bool {
    var longest: PeriodSpan?
    for span in spans.sorted(by: { $0.start < $1.start }) {
        if let longest, longest.start.seconds < span.start.seconds, span.start < longest.lastMoment { return true }
        if longest.map({ $0.lastMoment < span.lastMoment }) ?? true { longest = span }
    }
    return false
}

/// How many seconds before it begins Apple charges for a renewal at the earliest.
private let chargedAheadMax: Int64 = 86_400

/// Whether a period that begins in the middle of another one was bought before it all the same: Apple charges for a renewal up to
/// a day before it begins, and dates it then. The plan that was bought in between took its place.
///
/// - Parameters:
///   - start: when it begins.
///   - id: its number.
///   - end: of it; `nil` if that is not known.
///   - other: when the other one began, which is before.
///   - otherID: the other one's number.
/// - Returns: false for what was bought after it, and for what was bought before it by more than that.
func wasChargedAhead(
    from start: Timestamp,
    _ id: TransactionID,
    until end: Timestamp?,
    of other: Timestamp,
    _ otherID: TransactionID
) -> Bool {
    let length = end.map { start.duration(to: $0).components.seconds / 10 } ?? chargedAheadMax
    return id < otherID && other.seconds < start.seconds
        && start.seconds - other.seconds <= min(chargedAheadMax, max(length, 0))
}

/// From when a period lasts until another one of its chain may follow it.
package struct PeriodSpan {
    package let start: Timestamp
    package let lastMoment: Timestamp

    fileprivate init(from start: Timestamp, until end: Timestamp?) {
        self.start = start
        lastMoment = end.flatMap { start.lastMoment(ofPeriodUntil: $0) } ?? start
    }
}

extension Fulfilment {
    /// What it was given for; `nil` if it is no period, or was not given.
    package var span: PeriodSpan? {
        unit?.base.endOfPeriod.map { PeriodSpan(from: purchasedAt, until: $0) }
    }
}

extension Transaction {
    var span: PeriodSpan { PeriodSpan(from: purchasedAt, until: expiresAt) }

    /// Whether Apple may say by now that a newer period took the place of this one. Sooner asked in vain than not at all: a
    /// next plan that is charged for shortly before the end is among them.
    func mayHaveGivenWay(to newer: Transaction) -> Bool {
        guard mayBeMarked(byPurchaseAt: newer.purchasedAt), isBefore(newer), newer.begins(before: self) else {
            return false
        }
        // Plans may share a product: one that begins in the middle of another one of it is no renewal.
        return newer.product != product || lastMoment.map { newer.purchasedAt < $0 } == true
    }

    /// The same of a renewal that Apple has charged for ahead, by a plan that was bought before it began.
    fileprivate func mayHaveGivenWayAhead(to newer: Transaction) -> Bool {
        guard mayBeMarked(byPurchaseAt: newer.purchasedAt), newer.isBefore(self), newer.product != product else {
            return false
        }
        return wasChargedAhead(from: purchasedAt, id, until: expiresAt, of: newer.purchasedAt, newer.id)
    }

    /// Whether Apple may have marked it since it was signed, for what was bought at this moment, or before.
    fileprivate func mayBeMarked(byPurchaseAt moment: Timestamp) -> Bool {
        guard !isUpgraded, ownership == nil || signedAt < moment else { return false }
        // What receipts say of an upgrade looks like a refund.
        return revocation == nil || revocation?.isBare == true
    }

    /// Whether it was bought so shortly before a renewal began that Apple may have charged for that before.
    fileprivate func mayComeBeforeCharge(of renewal: Transaction) -> Bool {
        renewal.purchasedAt.seconds - purchasedAt.seconds <= chargedAheadMax
    }

    fileprivate func begins(before older: Transaction) -> Bool { older.expiresAt.map { purchasedAt < $0 } == true }

    /// Whether another one was bought after it, by the same of the family.
    private func isBefore(_ next: Transaction) -> Bool {
        isSubscriptionPeriod && next.isSubscriptionPeriod && next.isShared == isShared
            && next.purchasedAt.seconds > purchasedAt.seconds
    }

    // By what was bought after it, by the moment.
    fileprivate func isCutShort(by later: ArraySlice<Transaction>) -> Bool {
        guard revocation == nil, let end = lastMoment else { return false }
        return later.prefix { $0.purchasedAt < end }.contains { next in
            isBefore(next) && next.product != product
                && !wasChargedAhead(from: next.purchasedAt, next.id, until: next.expiresAt, of: purchasedAt, id)
        }
    }

    private var lastMoment: Timestamp? { expiresAt.flatMap { purchasedAt.lastMoment(ofPeriodUntil: $0) } }

    private var isShared: Bool { ownership == .familyShared }
}

extension Timestamp {
    /// Until when another plan takes the place of a period that begins here, and does not follow it: Apple charges for the next
    /// one up to a day before the end.
    ///
    /// - Parameter end: of the period.
    /// - Returns: `nil` where it ends before it begins.
    func lastMoment(ofPeriodUntil end: Timestamp) -> Timestamp? {
        guard self < end else { return nil }
        let ahead = min(chargedAheadMax, duration(to: end).components.seconds / 10)
        return end.advanced(by: .seconds(-ahead))
    }
}
