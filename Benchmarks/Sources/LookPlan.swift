import AppStore
import Pipeline
import PurchaseModel

/// A million subscriptions through three months of virtual time, none of which Apple tells anything of: when each is looked
/// at, by the schedule, the sweeps and the budget of one server.
///
/// The rules are the house's own; Apple answers at once. A look asks how the subscription stands, and for its history when
/// it was renewed.
struct LookPlan {
    /// How the subscriptions began.
    enum Beginning: String, CaseIterable {
        case inOneSecond = "all in one second"
        case onOneDay = "all on one day"
        case overAMonth = "evenly over a month"

        var stretch: Int64 {
            switch self {
            case .inOneSecond: 1_000
            case .onOneDay: 86_400_000
            case .overAMonth: 30 * 86_400_000
            }
        }
    }

    static let count = 1_000_000
    private static let days: Int64 = 90
    private static let month: Int64 = 30 * 86_400_000
    private static let product = ProductID(checked: "com.example.pro.monthly")

    private let start = Samples.moment
    private let schedule = LookSchedule()
    private var due = DueHeap()
    /// When each began, since the start: its periods follow.
    private var begins: [Int64]
    /// Which of its periods is known.
    private var known: [Int16]
    private var statuses: RequestBudget
    private var histories: RequestBudget
    private var figures = Figures()

    private struct Figures {
        /// Seconds by which looks came late, by minute.
        var lateness = [Int](repeating: 0, count: 60 * 24 * 30)
        var looks = 0
        var held = 0
        var calls = [Int32](repeating: 0, count: Int(days + 1) * 86_400)
        var longestWait = 0
    }

    init(_ beginning: Beginning) {
        let stretch = beginning.stretch
        begins = (0..<Self.count).map { Int64($0) * stretch / Int64(Self.count) }
        known = [Int16](repeating: 0, count: Self.count)
        let share = RequestBudget.Share()
        statuses = RequestBudget(perSecond: 50, isProduction: true, share: share, at: Samples.moment)
        histories = RequestBudget(perSecond: 50, isProduction: true, share: share, at: Samples.moment)
        for number in 0..<Self.count {
            if let look = next(number, after: start.advanced(by: .milliseconds(begins[number]))) {
                due.insert(look, number)
            }
        }
    }

    /// - Returns: calls a second at most and on average over the busiest minute, lateness in minutes, looks for each
    ///   subscription and month.
    mutating func run() -> [Double?] {
        let pause = SubscriptionWatch.pause
        var now = start
        let end = start.advanced(by: .seconds(Self.days * 86_400))
        while now < end {
            sweep(at: now, over: pause)
            now = now.advanced(by: pause)
        }
        return results()
    }

    private mutating func sweep(at now: Timestamp, over pause: Duration) {
        for place in 0..<SubscriptionWatch.batchMax {
            guard let taken = due.take(until: now) else { return }
            // Those of a batch are asked about one after the other.
            let moment = now.advanced(by: pause * place / SubscriptionWatch.batchMax)
            look(at: taken.number, dueAt: taken.at, moment)
        }
    }

    private mutating func look(at number: Int, dueAt: Timestamp, _ now: Timestamp) {
        let second = Int(start.duration(to: now).components.seconds)
        let period = period(of: number, at: now)
        let isNew = period > known[number]
        if let until = statuses.take(at: now) ?? (isNew ? histories.take(at: now) : nil) {
            figures.held += 1
            due.insert(until, number)
            return
        }
        figures.calls[second] += isNew ? 2 : 1
        figures.looks += 1
        let late = Int(dueAt.duration(to: now).components.seconds / 60)
        figures.lateness[min(late, figures.lateness.count - 1)] += 1
        known[number] = period
        if let next = next(number, after: now) { due.insert(next, number) }
    }

    /// Every renewal is paid on time.
    private func period(of number: Int, at now: Timestamp) -> Int16 {
        Int16(max(0, (start.duration(to: now).components.seconds * 1_000 - begins[number]) / Self.month))
    }

    private func next(_ number: Int, after now: Timestamp) -> Timestamp? {
        guard let original = TransactionID(number: Int64(number + 1)) else { return nil }
        let from = start.advanced(by: .milliseconds(begins[number] + Int64(known[number]) * Self.month))
        var period = Transaction(
            id: original,
            originalID: original,
            product: Self.product,
            kind: .autoRenewable,
            purchasedAt: from,
            signedAt: from
        )
        period.expiresAt = from.advanced(by: .milliseconds(Self.month))
        let realm = Realm(environment: .production, isTestSigned: false)
        let chain = ChainKey(app: AppID(checked: "game"), realm: realm, original: original)
        return fold(chain, period, nil, at: now).flatMap { schedule.next(after: now, of: $0) }
    }

    private func results() -> [Double?] {
        func lateness(_ share: Double) -> Double {
            var left = Int(Double(figures.looks) * share)
            for (minutes, count) in figures.lateness.enumerated() {
                left -= count
                if left <= 0 { return Double(minutes) }
            }
            return Double(figures.lateness.count)
        }
        let minutes = stride(from: 0, to: figures.calls.count - 60, by: 60).map { start in
            figures.calls[start..<start + 60].reduce(0) { $0 + Int($1) }
        }
        return [
            Double(figures.calls.max() ?? 0), Double(minutes.max() ?? 0) / 60, lateness(0.5), lateness(0.99),
            lateness(1), Double(figures.looks) / Double(Self.count) / 3, Double(figures.held),
        ]
    }

    static func section() -> Section {
        let rows = Beginning.allCases.map { beginning in
            var plan = LookPlan(beginning)
            return Section.Row(name: beginning.rawValue, values: plan.run())
        }
        return Section(
            "A plan for 1,000,000 monthly subscriptions, three months, nobody told: one server, Apple's limits",
            columns: [
                "calls/s most", "busiest minute", "late p50 min", "late p99 min", "late most min", "looks a month",
                "held back",
            ],
            rows: rows,
            goal: "never more than 90 a second: 45 for each of two endpoints"
        )
    }
}

/// What is due, the longest due first.
private struct DueHeap {
    private var items: [(at: Timestamp, number: Int32)] = []

    mutating func insert(_ at: Timestamp, _ number: Int) {
        items.append((at, Int32(number)))
        var child = items.count - 1
        while child > 0, items[child].at < items[(child - 1) / 2].at {
            items.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func take(until now: Timestamp) -> (at: Timestamp, number: Int)? {
        guard let first = items.first, first.at <= now else { return nil }
        let last = items.removeLast()
        if !items.isEmpty {
            items[0] = last
            sink()
        }
        return (first.at, Int(first.number))
    }

    private mutating func sink() {
        var parent = 0
        while true {
            let left = 2 * parent + 1
            guard left < items.count else { return }
            let child = left + 1 < items.count && items[left + 1].at < items[left].at ? left + 1 : left
            guard items[child].at < items[parent].at else { return }
            items.swapAt(child, parent)
            parent = child
        }
    }
}
