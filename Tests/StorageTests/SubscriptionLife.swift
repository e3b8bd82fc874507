import PurchaseModel
import TestSupport

/// What Apple signs in the life of one subscription: its periods, and what it says of their renewal.
struct SubscriptionLife {
    /// How it goes on after its last renewal, or instead of one.
    enum Course: CaseIterable {
        case renews, turnedOff, turnedOnAgain, grace, retry, graceAndRetry, recovered, givenUp, cancelled, returned

        /// How it stands after this, where nothing is refunded.
        var state: SubscriptionState {
            switch self {
            case .renews, .turnedOff, .turnedOnAgain, .recovered, .returned: .active
            case .grace: .grace
            case .retry, .graceAndRetry: .billingRetry
            case .givenUp, .cancelled: .expired
            }
        }

        /// When its last period ends, in days from now.
        fileprivate var end: Int64 {
            switch self {
            case .renews, .turnedOff, .turnedOnAgain, .recovered, .returned: 20
            case .grace, .cancelled: -5
            case .retry, .graceAndRetry: -25
            case .givenUp: -70
            }
        }

        /// How many days lie between the last period and the one before; `nil` where one may be the first.
        fileprivate var gap: Int64? {
            switch self {
            case .recovered: 5
            case .returned: 100
            default: nil
            }
        }
    }

    let course: Course
    private(set) var periods: [Transaction] = []
    private(set) var renewals: [Renewal] = []

    /// Days of one period.
    private static let length: Int64 = 30

    /// - Parameters:
    ///   - first: the first period's transaction; each of the others has the next number.
    ///   - random: which course it takes, and after how many periods.
    init(_ first: Transaction, _ random: inout SeededRandom) {
        course = Course.allCases.randomElement(using: &random) ?? .renews
        let hasGrace = Bool.random(using: &random)
        let count = Int64.random(in: 1...2, using: &random) + (course.gap == nil ? 0 : 1)
        for place in 0..<count {
            let isLast = place == count - 1
            var end = course.end - (count - 1 - place) * Self.length
            if !isLast { end -= course.gap ?? 0 }
            append(first, place, until: end)
            if isLast || course.gap != nil && place == count - 2 { say(until: end, isLast, hasGrace) }
        }
    }

    private mutating func append(_ first: Transaction, _ place: Int64, until end: Int64) {
        var period = first
        if let id = TransactionID(number: first.id.number + place) { period.id = id }
        period.purchasedAt = Self.at(end - Self.length)
        period.expiresAt = Self.at(end)
        period.signedAt = period.purchasedAt
        periods.append(period)
        say(end - Self.length, until: end) { $0.willAutoRenew = true }
    }

    /// What is said of the end of a period after which it did not simply go on.
    private mutating func say(until end: Int64, _ isLast: Bool, _ hasGrace: Bool) {
        let trouble: Course = isLast ? course : course == .recovered ? .retry : .cancelled
        switch trouble {
        case .renews, .recovered, .returned: break
        case .turnedOff, .turnedOnAgain, .cancelled:
            say(end - 20, until: end) { $0.willAutoRenew = false }
            if course == .turnedOnAgain { say(end - 19, until: end) { $0.willAutoRenew = true } }
            if trouble == .cancelled { say(end, until: end) { ($0.willAutoRenew, $0.expirationIntent) = (false, 1) } }
        case .grace, .retry, .graceAndRetry, .givenUp:
            let isInGrace = trouble == .grace || trouble == .graceAndRetry || course != .retry && hasGrace
            say(end, until: end) { renewal in
                (renewal.willAutoRenew, renewal.isInBillingRetry, renewal.expirationIntent) = (true, true, 2)
                if isInGrace { renewal.graceEndsAt = Self.at(end + 16) }
            }
            guard trouble == .givenUp else { return }
            say(end + 60, until: end) { renewal in
                (renewal.willAutoRenew, renewal.isInBillingRetry, renewal.expirationIntent) = (false, false, 2)
            }
        }
    }

    private mutating func say(_ day: Int64, until end: Int64, _ change: (inout Renewal) -> Void) {
        guard let period = periods.last, let original = period.originalID else { return }
        var renewal = Renewal(originalID: original, product: period.product, signedAt: Self.at(day))
        renewal.nextProduct = period.product
        renewal.renewsAt = Self.at(end)
        let isBack = course == .returned && end == course.end
        renewal.recentStartAt = isBack ? period.purchasedAt : periods.first?.purchasedAt
        change(&renewal)
        renewals.append(renewal)
    }

    private static func at(_ day: Int64) -> Timestamp { Samples.now.advanced(by: .seconds(day * 86_400)) }
}
