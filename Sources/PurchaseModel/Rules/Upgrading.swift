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

extension Transaction {
    // By what was bought after it, by the moment.
    fileprivate func isCutShort(by later: ArraySlice<Transaction>) -> Bool {
        guard isSubscriptionPeriod, revocation == nil, let end = lastMoment else { return false }
        return later.prefix { $0.purchasedAt < end }.contains { next in
            next.isSubscriptionPeriod && next.product != product && next.isShared == isShared
                && next.purchasedAt.seconds > purchasedAt.seconds
        }
    }

    /// Until when another plan takes the place of a period, and does not follow it: Apple charges for the next one up to a
    /// day before the end.
    private var lastMoment: Timestamp? {
        guard let expiresAt, purchasedAt < expiresAt else { return nil }
        let ahead = min(86_400, purchasedAt.duration(to: expiresAt).components.seconds / 10)
        return expiresAt.advanced(by: .seconds(-ahead))
    }

    private var isShared: Bool { ownership == .familyShared }
}
