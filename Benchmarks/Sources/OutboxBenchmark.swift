import Foundation
import HTTP
import Pipeline
import PurchaseModel
import Storage
import Synchronization

/// What goes out of the ledger: webhooks from the commit to the shop, and jobs from the queue. The store is SQLite, and
/// PostgreSQL as well when `ASSAY_TEST_POSTGRES` names a server.
struct OutboxBenchmark {
    /// For databases, each made and removed.
    let folder: String

    private static let app = AppID(checked: "game")
    private static let realm = Realm(environment: .production, isTestSigned: false)
    private static let jobs = 20_000
    private static let events = 5_000

    func run() async throws -> [Section] {
        var (queue, sending): ([Section.Row], [Section.Row]) = ([], [])
        for kind in StoreChoice.available {
            for (workers, batch) in [(1, 1), (1, 100), (4, 100)] {
                let rate = try await kind.withStore(in: folder + "/jobs") { store in
                    try await jobsPerSecond(store, workers: workers, batch: batch)
                }
                queue.append(
                    Section.Row(name: "\(kind.name), \(workers) × claims of \(batch)", values: [rate])
                )
            }
            let figures = try await kind.withStore(in: folder + "/hooks") { store in try await deliver(store) }
            sending.append(Section.Row(name: kind.name, values: figures))
        }
        return [
            Section(
                "Jobs claimed with a lease and finished",
                columns: ["jobs/s"],
                rows: queue,
                goal: "50,000 jobs a second at 100 in a claim"
            ),
            Section(
                "Webhooks to a shop that answers at once, \(OutboxBenchmark.events) events",
                columns: ["deliveries/s", "p50 ms", "p99 ms", "CPU µs"],
                rows: sending,
                goal: "from the commit to the shop: known"
            ),
        ]
    }

    private func jobsPerSecond(_ store: any Store, workers: Int, batch: Int) async throws -> Double {
        let count = batch == 1 ? OutboxBenchmark.jobs / 10 : OutboxBenchmark.jobs
        for start in stride(from: 0, to: count, by: 500) {
            try await store.write { transaction throws(StoreFailure) in
                for number in start..<min(start + 500, count) {
                    _ = try transaction.enqueue(
                        NewJob(
                            id: JobID(checked: "job_\(number)"),
                            kind: "look",
                            payload: [UInt8](repeating: 7, count: 100),
                            due: Samples.moment,
                            createdAt: Samples.moment
                        )
                    )
                }
            }
        }
        let finished = Count()
        let began = CPUTime.elapsed
        try await withThrowingDiscardingTaskGroup { group in
            for worker in 0..<workers {
                group.addTask {
                    let owner = LeaseOwner(checked: "worker-\(worker)")
                    while finished.value.load(ordering: .relaxed) < count {
                        let done = try await OutboxBenchmark.turn(store, owner, batch)
                        finished.value.add(done, ordering: .relaxed)
                    }
                }
            }
        }
        return Double(count) / Double(CPUTime.elapsed - began) * 1e9
    }

    /// Claims a batch, and finishes it in another commit.
    private static func turn(_ store: any Store, _ owner: LeaseOwner, _ batch: Int) async throws -> Int {
        do throws(StoreFailure) {
            let terms = LeaseTerms(owner: owner, duration: .seconds(30), now: Samples.moment)
            let claim = try await store.write { transaction throws(StoreFailure) in
                try transaction.claimJobs(kinds: ["look"], .sound(limit: batch), terms: terms)
            }
            guard !claim.jobs.isEmpty else { return 0 }
            return try await store.write { transaction throws(StoreFailure) in
                var done = 0
                for job in claim.jobs {
                    guard let lease = job.lease else { continue }
                    let hold = JobHold(id: job.id, owner: owner, token: lease.token)
                    if try transaction.finishJob(hold, as: .done, at: Samples.moment) { done += 1 }
                }
                return done
            }
        } catch .conflict {
            // Another worker was faster.
            return 0
        }
    }

    /// Commits events a hundred at a time, each batch when the one before is committed, while the sender is at work.
    private func deliver(_ store: any Store) async throws -> [Double?] {
        let endpoint = WebhookEndpoint(
            id: WebhookEndpointID(checked: "whe_bench"),
            app: OutboxBenchmark.app,
            url: "https://shop.example/hooks",
            secrets: [WebhookSecret.generate()],
            filter: EventFilter(realms: [OutboxBenchmark.realm]),
            concurrencyMax: 64,
            ordersPerCustomer: false,
            acknowledgesBy2xx: false,
            createdAt: Samples.moment
        )
        try await store.write { transaction throws(StoreFailure) in try transaction.createEndpoint(endpoint) }
        let committed = Mutex<[String: UInt64]>([:])
        let waits = Mutex<[Double]>([])
        let caller = HTTPCaller { call async throws(HTTPCallFailure) in
            let now = CPUTime.elapsed
            let id = call.fields["webhook-id"] ?? ""
            // A message may be faster than the commit's return.
            let then = committed.withLock { $0[id] } ?? now
            waits.withLock { $0.append(Double(now - min(then, now)) / 1e6) }
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
            for start in stride(from: 0, to: OutboxBenchmark.events, by: 100) {
                let rows = (start..<start + 100).map(OutboxBenchmark.event)
                try await store.write { transaction throws(StoreFailure) in try transaction.append(rows) }
                let now = CPUTime.elapsed
                committed.withLock { known in for row in rows { known[row.id.text] = now } }
                sender.wake()
            }
            while waits.withLock(\.count) < OutboxBenchmark.events { try await Task.sleep(for: .milliseconds(1)) }
            sender.stop()
            group.cancelAll()
        }
        let sorted = waits.withLock { $0.sorted() }
        return [
            Double(sorted.count) / Double(CPUTime.elapsed - began) * 1e9, sorted[sorted.count / 2],
            sorted[sorted.count * 99 / 100], Double(CPUTime.ofProcess - cpu) / 1e3 / Double(sorted.count),
        ]
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

/// A number that several tasks share.
private final class Count: Sendable {
    let value = Atomic(0)
}

/// The databases that there are to measure on.
struct StoreChoice {
    let name: String
    /// `nil` for SQLite.
    private let url: String?

    var isSQLite: Bool { url == nil }

    static var available: [StoreChoice] {
        let server = ProcessInfo.processInfo.environment["ASSAY_TEST_POSTGRES"]
        return [StoreChoice(name: "SQLite", url: nil)]
            + (server.map { [StoreChoice(name: "PostgreSQL", url: $0)] } ?? [])
    }

    func withStore<Value>(in path: String, _ body: (any Store) async throws -> Value) async throws -> Value {
        guard let url else {
            defer { try? FileManager.default.removeItem(atPath: path) }
            let store = try SQLiteStore.open(folder: path)
            let value = try await body(store)
            await store.close()
            return value
        }
        let schema = "bench_\(getpid())_\(UInt32.random(in: 0...UInt32.max))"
        let settings = PostgreSQLSettings(url: url, schema: schema) { duration in
            try? await Task.sleep(for: duration)
        }
        guard let settings else { throw BenchmarkFailure("no name for a schema: \(schema)") }
        let store = try await PostgreSQLStore.open(settings)
        let value = try await body(store)
        await store.close()
        return value
    }
}
