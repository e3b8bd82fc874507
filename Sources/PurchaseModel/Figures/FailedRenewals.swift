/// What became of the renewals of one subscription that Apple could not charge, on the day on which the period before ended.
///
/// It follows from all periods and from what was said of their ends. What is neither paid nor said to be lost is open for as
/// long as Apple tries; that this is over follows from the day alone, and is worked out where it is read.
struct FailedRenewals {
    let chain: ChainKey
    /// Each once, by the moment of purchase, and nobody's of a family.
    let periods: [Transaction]
    let ends: [PeriodEnds.End]

    func add(to sums: inout FigureSums) {
        for end in ends {
            // Of an end that no known period has nobody can say what was to be renewed.
            guard let place = periods.lastIndex(where: { $0.expiresAt?.seconds == end.at.seconds }) else { continue }
            let period = periods[place]
            let next = periods.indices.contains(place + 1) ? periods[place + 1] : nil
            // An upgrade before the end leaves nothing to charge for; one after it has paid, and is known when its period is.
            if period.isUpgraded, next.map({ $0.purchasedAt.seconds < end.at.seconds }) ?? true { continue }
            count(.renewalsFailed, period, to: &sums)
            if let outcome = outcome(of: period, end, next) { count(outcome, period, to: &sums) }
        }
    }

    /// `nil` while nothing is known of it.
    private func outcome(of period: Transaction, _ end: PeriodEnds.End, _ next: Transaction?) -> Measure? {
        let overAt = [end.overAt, period.takenBack?.at].compactMap(\.self).min()
        guard let next else { return overAt == nil ? nil : .renewalsLost }
        let start = next.purchasedAt
        // Within the grace a charge leaves the billing date where it was.
        if start.seconds <= end.at.seconds + PaidPeriods.gap { return .renewalsPaidInGrace }
        // It was bought again.
        if let overAt, overAt <= start { return .renewalsLost }
        if let grace = end.graceEndsAt, start < grace { return .renewalsPaidInGrace }
        let last = end.at.advanced(by: SubscriptionRules.billingRetry(on: period.billingPlan))
        return start <= last ? .renewalsPaidInRetry : .renewalsLost
    }

    private func count(_ measure: Measure, _ period: Transaction, to sums: inout FigureSums) {
        guard let end = period.expiresAt else { return }
        let day = DayOfTime(containing: end)
        sums.add(
            1,
            to: FigureKey(app: chain.app, realm: chain.realm, measure: measure, day: day, product: period.product)
        )
    }
}
