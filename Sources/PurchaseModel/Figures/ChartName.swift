/// The charts of figures over time. Stable words of the API; what each shows is said in ``definition`` and docs/charts.md.
package enum ChartName: String, Hashable, Sendable, CaseIterable {
    case purchases
    case revenue
    case refunds
    case refundRate = "refund_rate"
    case subscribers
    case recurring = "mrr"
    case movements = "mrr_movements"
    case churn
    case trials
    case trialConversion = "trial_conversion"
    case renewalRate = "renewal_rate"
    case retention
    case renewalsDue = "renewals_due"
    case valueDue = "value_due"
    case billing
    case recovery
    case recoveryRate = "recovery_rate"
    case orders
    case deliveries

    /// How finely it is drawn.
    package enum Grain: String, Hashable, Sendable { case day, month }

    /// What its numbers are.
    package enum Unit: String, Hashable, Sendable {
        case count
        /// Thousandths of a currency's unit.
        case milliunits
        /// Hundredths of a percent.
        case basisPoints = "basis_points"
    }

    /// Which of its points are over and will not change by time alone.
    package enum Reach: Hashable, Sendable {
        /// Up to today.
        case past
        /// Up to the last month that is over.
        case finishedMonths
        /// From today on.
        case future
    }

    /// One line, or one layer of the bars: a sum of measures, or how much of one sum is in another.
    package struct Series: Hashable, Sendable {
        /// A stable word of the API.
        package let name: String
        package let measures: [Measure]
        /// Taken off.
        package var less: [Measure] = []
        /// `nil` for what is no share.
        package var of: [Measure]?

        init(_ name: String, _ measures: Measure..., less: [Measure] = [], of: [Measure]? = nil) {
            self.name = name
            self.measures = measures
            self.less = less
            self.of = of
        }
    }

    package var grain: Grain {
        switch self {
        case .purchases, .revenue, .refunds, .trials, .renewalsDue, .valueDue, .billing, .recovery, .orders,
            .deliveries:
            .day
        case .refundRate, .subscribers, .recurring, .movements, .churn, .trialConversion, .renewalRate, .retention,
            .recoveryRate:
            .month
        }
    }

    package var unit: Unit {
        switch self {
        case .revenue, .recurring, .movements, .valueDue: .milliunits
        case .refundRate, .churn, .trialConversion, .renewalRate, .retention, .recoveryRate: .basisPoints
        default: .count
        }
    }

    package var reach: Reach {
        switch self {
        case .movements, .churn, .renewalRate: .finishedMonths
        case .renewalsDue, .valueDue: .future
        default: .past
        }
    }

    /// What can become of a renewal that failed.
    private static let settledRenewals = [Measure.renewalsPaidInGrace, .renewalsPaidInRetry, .renewalsLost]

    /// How many months a cohort is followed.
    package static let cohortMonths = 24

    /// Whether it is of one side of the wall: an order is of none until it is paid, and is counted under none after it.
    package var hasRealm: Bool { self != .orders }

    package var series: [Series] {
        switch self {
        case .purchases:
            [
                Series("first_purchases", .firstPurchases), Series("renewals", .renewals), Series("trials", .trials),
            ]
        case .revenue:
            [
                Series("net", .revenue, less: [.refunded, .upgradeCredit]), Series("gross", .revenue),
                Series("refunded", .refunded), Series("upgrade_credit", .upgradeCredit),
            ]
        case .refunds: [Series("refunds", .refunds)]
        case .refundRate: [Series("refund_rate", .refunds, of: [.firstPurchases, .renewals, .trials])]
        case .subscribers: [Series("subscribers", .subscribers)]
        case .recurring: [Series("mrr", .recurring)]
        case .movements:
            [
                Series("new", .recurringNew), Series("expansion", .recurringExpansion),
                Series("reactivation", .recurringReactivation), Series("contraction", .recurringContraction),
                Series("churn", .recurringChurn),
            ]
        case .churn: [Series("churn", .subscribersLost, of: [.subscribers])]
        case .trials: [Series("trials", .trials), Series("converted", .trialsConverted)]
        case .trialConversion: [Series("trial_conversion", .convertedTrials, of: [.trials])]
        case .renewalRate: [Series("renewal_rate", .periodsRenewed, of: [.periodsEnded])]
        case .retention: (1...Self.cohortMonths).map { Series("month_\($0)", .cohort, of: [.cohort]) }
        case .renewalsDue: [Series("renewals_due", .renewalsDue)]
        case .valueDue: [Series("value_due", .valueDue)]
        case .billing:
            [
                Series("grace_started", .graceStarted), Series("billing_retry_started", .retryStarted),
                Series("recovered", .recovered), Series("lapsed", .lapsed),
            ]
        case .recovery:
            [
                Series("failed", .renewalsFailed), Series("paid_in_grace", .renewalsPaidInGrace),
                Series("paid_in_retry", .renewalsPaidInRetry), Series("lost", .renewalsLost),
                Series("open", .renewalsFailed, less: Self.settledRenewals),
            ]
        case .recoveryRate:
            [
                Series("recovered", .renewalsPaidInGrace, .renewalsPaidInRetry, of: Self.settledRenewals),
                Series("in_grace", .renewalsPaidInGrace, of: Self.settledRenewals),
                Series("in_retry", .renewalsPaidInRetry, of: Self.settledRenewals),
            ]
        case .orders:
            [
                Series("placed", .ordersPlaced), Series("paid", .ordersPaid), Series("delivered", .ordersDelivered),
                Series("expired", .ordersExpired),
            ]
        case .deliveries: [Series("granted", .granted), Series("acknowledged", .acknowledged)]
        }
    }
}
