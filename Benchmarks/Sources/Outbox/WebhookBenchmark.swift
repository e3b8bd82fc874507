import HTTP
import Pipeline
import PurchaseModel
import Storage
import Synchronization

/// How long an event takes from its commit to the shop.
struct WebhookBenchmark {
    /// For databases, each made and removed.
    let folder: String

    static let columns = ["events", "deliveries/s", "p50 ms", "p99 ms", "CPU µs"]

    /// Committed at once, which tells the most that is delivered in a second.
    private static let events = 5_000
    private static let shares = [20, 80]
    private static let steadySeconds = 8
    /// Events come with the commits of a recorder: so often at most.
    private static let commitsPerSecondMax = 50

    private static let app = PurchaseWork.app
    private static let realm = PurchaseWork.realm

    /// What was delivered when, and since when it could be.
    private final class Deliveries: Sendable {
        private let committed = Mutex<[String: UInt64]>([:])
        private let waits = Mutex<[Double]>([])

        var count: Int { waits.withLock(\.count) }
        var sorted: [Double] { waits.withLock { $0.sorted() } }

        func noteCommitted(_ rows: [EventRow]) {
            let now = CPUTime.elapsed
            committed.withLock { known in for row in rows { known[row.id.text] = now } }
        }

        func noteDelivered(_ id: String) {
            let now = CPUTime.elapsed
            // A message may be faster than the commit's return.
            let then = committed.withLock { $0[id] } ?? now
            waits.withLock { $0.append(Double(now - min(then, now)) / 1e6) }
        }
    }

    func rows(_ choice: StoreChoice) async throws -> [Section.Row] {
        let path = folder + "/hooks"
        let all = try await choice.withStore(in: path) { store in
            try await deliver(Self.events, from: store) { commit in
                for start in stride(from: 0, to: Self.events, by: 100) { try await commit(start..<start + 100) }
            }
        }
        var rows = [Section.Row(name: "\(choice.name), all at once", values: all)]
        for share in Self.shares {
            let rate = max(1, Int(all[1] ?? 0) * share / 100)
            let commits = min(Self.commitsPerSecondMax, rate)
            let count = rate / commits * commits * Self.steadySeconds
            let values = try await choice.withStore(in: path) { store in
                try await deliver(count, from: store) { commit in
                    try await Self.steadily(count, rate / commits, perSecond: commits, commit)
                }
            }
            rows.append(Section.Row(name: "\(choice.name), \(share) % of that", values: values))
        }
        return rows
    }

    /// A commit when it is due, however long the ones before took.
    private static func steadily(
        _ count: Int,
        _ perCommit: Int,
        perSecond commits: Int,
        _ commit: (Range<Int>) async throws -> Void
    ) async throws {
        let (began, spacing) = (CPUTime.elapsed, 1_000_000_000 / UInt64(commits))
        for (number, start) in stride(from: 0, to: count, by: perCommit).enumerated() {
            let (due, now) = (began + UInt64(number) * spacing, CPUTime.elapsed)
            if due > now { try await Task.sleep(for: .nanoseconds(Int64(due - now))) }
            try await commit(start..<start + perCommit)
        }
    }

    /// Has events committed while the sender is at work, and waits until the shop has them all.
    private func deliver(
        _ count: Int,
        from store: any Store,
        _ load: ((Range<Int>) async throws -> Void) async throws -> Void
    ) async throws -> [Double?] {
        try await store.write { transaction throws(StoreFailure) in try transaction.createEndpoint(Self.endpoint) }
        let deliveries = Deliveries()
        let caller = HTTPCaller { call async throws(HTTPCallFailure) in
            deliveries.noteDelivered(call.fields["webhook-id"] ?? "")
            return HTTPResponse(.ok)
        }
        let clock = ManualClock(Samples.moment)
        let sender = WebhookSender(
            work: StoredWebhookWork(store),
            post: WebhookPost(caller: caller, clock: clock, rule: EgressRule()),
            clock: clock,
            owner: LeaseOwner(checked: "bench")
        ) { _ in }
        let (cpu, began) = (CPUTime.ofProcess, CPUTime.elapsed)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await sender.run { (try? await Task.sleep(for: .milliseconds(20))) != nil } }
            try await load { numbers in
                let rows = numbers.map(Self.event)
                try await store.write { transaction throws(StoreFailure) in try transaction.append(rows) }
                deliveries.noteCommitted(rows)
                sender.wake()
            }
            while deliveries.count < count { try await Task.sleep(for: .milliseconds(1)) }
            sender.stop()
            group.cancelAll()
        }
        let waits = deliveries.sorted
        return [
            Double(count), Double(waits.count) / Double(CPUTime.elapsed - began) * 1e9, Percentile.of(waits, 50),
            Percentile.of(waits, 99), Double(CPUTime.ofProcess - cpu) / 1e3 / Double(waits.count),
        ]
    }

    private static var endpoint: WebhookEndpoint {
        WebhookEndpoint(
            id: WebhookEndpointID(checked: "whe_bench"),
            app: app,
            url: "https://shop.example/hooks",
            secrets: [WebhookSecret.generate()],
            filter: EventFilter(realms: [realm]),
            concurrencyMax: 64,
            ordersPerCustomer: false,
            acknowledgesBy2xx: false,
            createdAt: Samples.moment
        )
    }

    private static func event(_ number: Int) -> EventRow {
        EventRow(
            id: EventID(checked: "evt_\(number)"),
            app: app,
            realm: realm,
            customer: CustomerID(checked: "customer-\(number)"),
            sequence: 1,
            type: "delivery.granted",
            happenedAt: Samples.moment,
            learnedAt: Samples.moment,
            data: Array(#"{"delivery":{"delivery_id":"dlv_1.production","fence":1},"note":"\#(number)"}"#.utf8)
        )
    }
}
