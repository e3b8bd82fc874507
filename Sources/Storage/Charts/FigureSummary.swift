package import PurchaseModel

/// How an app stands at a glance.
package struct FigureSummary: Hashable, Sendable {
    /// Over how many days the recent ones are, today's among them.
    package static let days: Int64 = 30

    package var subscriptions: [SubscriptionState: Int64] = [:]
    package var purchases: Int64 = 0
    package var trials: Int64 = 0
    package var refunds: Int64 = 0
    package var priceUnknown: Int64 = 0
    package var renewalsDue: Int64 = 0
    /// By currency, in thousandths of its unit.
    package var revenue: [String: Int64] = [:]
    package var refunded: [String: Int64] = [:]
    package var upgradeCredit: [String: Int64] = [:]
    package var recurring: [String: Int64] = [:]
    /// Paid periods whose price nobody knows.
    package var recurringUnknown: Int64 = 0
    /// Whether there are rows that were never counted, or not as they are now.
    package var isIncomplete = false

    package init() {}

    /// What was left of the revenue.
    package func net(_ currency: String) -> Int64 {
        (revenue[currency] ?? 0) - (refunded[currency] ?? 0) - (upgradeCredit[currency] ?? 0)
    }

    /// All that money came in or went out, the most first, then by name.
    package var currencies: [String] {
        let names = Set(revenue.keys).union(refunded.keys).union(upgradeCredit.keys).union(recurring.keys)
        return names.sorted { left, right in
            let (one, other) = (revenue[left] ?? 0, revenue[right] ?? 0)
            return one == other ? left.utf8.lexicographicallyPrecedes(right.utf8) : one > other
        }
    }
}

/// The subscriptions that began in one month, and how many of them ran in those after it.
package struct Cohort: Hashable, Sendable {
    package let month: MonthOfTime
    package let size: Int64
    /// From the first month after it, as far as they have come.
    package let running: [Int64]
}

extension StoreReader {
    package func figureSummary(
        app: AppID,
        realm: Realm,
        at now: Timestamp
    ) throws(StoreFailure) -> FigureSummary {
        let today = DayOfTime(containing: now)
        let recent = today.advanced(by: 1 - FigureSummary.days)...today
        let month = MonthOfTime(containing: now).firstDay
        func rows(_ measure: Measure, _ days: ClosedRange<DayOfTime>) throws(StoreFailure) -> [FigureRow] {
            try figures(FigureQuestion(app: app, realm: realm, measure: measure, days: days))
        }
        func count(_ measure: Measure, _ days: ClosedRange<DayOfTime>) throws(StoreFailure) -> Int64 {
            try rows(measure, days).reduce(0) { $0 + $1.amount }
        }
        func money(_ measure: Measure, _ days: ClosedRange<DayOfTime>) throws(StoreFailure) -> [String: Int64] {
            Dictionary(try rows(measure, days).map { ($0.currency, $0.amount) }, uniquingKeysWith: +)
        }
        var found = FigureSummary()
        let always = DayOfTime(number: 0)...DayOfTime(number: 0)
        for state in SubscriptionState.allCases { found.subscriptions[state] = try count(Measure(state), always) }
        found.trials = try count(.trials, recent)
        found.purchases = try count(.firstPurchases, recent) + count(.renewals, recent) + found.trials
        found.refunds = try count(.refunds, recent)
        found.priceUnknown = try count(.priceUnknown, recent)
        found.renewalsDue = try count(.renewalsDue, today...today.advanced(by: FigureSummary.days - 1))
        found.revenue = try money(.revenue, recent)
        found.refunded = try money(.refunded, recent)
        found.upgradeCredit = try money(.upgradeCredit, recent)
        found.recurring = try money(.recurring, month...month)
        found.recurringUnknown = try count(.recurringUnknown, month...month)
        found.isIncomplete = try figuresAreDue(app: app)
        return found
    }

    /// The cohorts of the last months up to this one, the oldest first.
    package func cohorts(
        app: AppID,
        realm: Realm,
        months: Int64,
        at now: Timestamp
    ) throws(StoreFailure) -> [Cohort] {
        let last = MonthOfTime(containing: now)
        let first = last.advanced(by: 1 - months)
        return try cohorts(
            app: app,
            realm: realm,
            of: (first.number...last.number).map { MonthOfTime(number: $0) },
            at: now
        )
    }

    /// Those that began in these months, which follow each other.
    func cohorts(
        app: AppID,
        realm: Realm,
        of months: [MonthOfTime],
        at now: Timestamp
    ) throws(StoreFailure) -> [Cohort] {
        guard let first = months.first, let last = months.last else { return [] }
        let today = MonthOfTime(containing: now)
        let days = first.firstDay...last.firstDay
        let rows = try figures(FigureQuestion(app: app, realm: realm, measure: .cohort, days: days, by: [.day]))
        var found: [MonthOfTime: [Int64: Int64]] = [:]
        for row in rows {
            guard let day = row.day else { continue }
            found[MonthOfTime(containing: day), default: [:]][row.step, default: 0] += row.amount
        }
        return months.map { month in
            let steps = found[month] ?? [:]
            // What lies ahead follows only from what was paid for already.
            let past = min(today.number - month.number, Int64(ChartName.cohortMonths))
            return Cohort(
                month: month,
                size: steps[0] ?? 0,
                running: past > 0 ? (1...past).map { steps[$0] ?? 0 } : []
            )
        }
    }
}
