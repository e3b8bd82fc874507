package import PurchaseModel

/// How fast subscriptions run for one customer. Source: App Store Connect help, *Manage Sandbox Apple Account
/// settings*; Apple, *Testing In-App Purchases with sandbox*.
package enum TimeRate: Hashable, Sendable {
    /// The calendar's.
    case real
    /// A sandbox tester's: monthly subscriptions renew every 3, 5, 15, 30 or 60 minutes, at most twelve times.
    case sandbox(minutesPerMonth: Int)
    /// A TestFlight build with a normal account: every subscription renews daily, up to six times.
    case testFlight

    package static let sandboxMinutes = [3, 5, 15, 30, 60]

    /// How often a subscription renews before it ends as if it had been cancelled; nil without a limit.
    package var renewalsMax: Int? {
        switch self {
        case .real: nil
        case .sandbox: 12
        case .testFlight: 6
        }
    }

    /// When a period that starts now will end.
    package func end(of period: BillingPeriod, from start: Timestamp, times: Int = 1) -> Timestamp {
        switch self {
        case .real: period.end(from: start, times: times)
        case .sandbox(let minutes):
            start.advanced(by: .seconds(Self.seconds(of: period, minutesPerMonth: minutes) * Int64(times)))
        case .testFlight: start.advanced(by: .seconds(86_400 * Int64(times)))
        }
    }

    /// How long Apple tries to charge again.
    package var billingRetry: Duration {
        switch self {
        case .real, .testFlight: .seconds(60 * 86_400)
        case .sandbox(let minutes): .seconds(Int64(minutes) * 120)
        }
    }

    /// The gap in paid service that makes a subscription's start anew.
    package var freshStartGap: Duration {
        switch self {
        case .real, .testFlight: .seconds(60 * 86_400)
        case .sandbox: .seconds(600)
        }
    }

    /// How long a merchant may answer a consumption request.
    package var consumptionWindow: Duration {
        switch self {
        case .real, .testFlight: .seconds(12 * 3_600)
        case .sandbox: .seconds(300)
        }
    }

    /// How long access goes on after a failed renewal.
    package func grace(_ setting: GracePeriod, of period: BillingPeriod) -> Duration {
        let isWeekly = period.nominalDays <= 7
        switch self {
        case .real, .testFlight:
            let days = isWeekly ? min(setting.days, 6) : setting.days
            return .seconds(Int64(days) * 86_400)
        case .sandbox(let minutes):
            // Apple's table for five minutes and more; three minutes is not in it and is taken in proportion.
            guard isWeekly else { return .seconds(Int64(minutes) * 30) }
            switch minutes {
            case 15: return .seconds(257)
            case 30: return .seconds(514)
            case 60: return .seconds(771)
            default: return .seconds(Int64(minutes) * 154 / 5)
            }
        }
    }

    /// So many days of an extension; the sandbox makes minutes of them.
    package func days(_ count: Int) -> Duration {
        switch self {
        case .real, .testFlight: .seconds(Int64(count) * 86_400)
        case .sandbox(let minutes): .seconds(Int64(count) * Int64(minutes) * 2)
        }
    }

    private static func seconds(of period: BillingPeriod, minutesPerMonth minutes: Int) -> Int64 {
        let month = Int64(minutes) * 60
        switch period.unit {
        case .month: return month * Int64(period.count)
        case .year: return month * 12 * Int64(period.count)
        case .week:
            let week: Int64 =
                switch minutes {
                case 15: 300
                case 30: 600
                case 60: 900
                default: 180
                }
            return week * Int64(period.count)
        // Apple names no figure for days: what a trial of some days takes is the month's share of them.
        case .day: return max(1, month * Int64(period.count) / 30)
        }
    }
}
