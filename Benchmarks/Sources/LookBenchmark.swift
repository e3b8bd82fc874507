import Glibc
import Jobs
import Pipeline
import PurchaseModel
import Storage
import Synchronization

/// How fast due subscriptions are taken in hand, in a ledger of a million.
struct LookBenchmark {
    /// For databases, each made and removed.
    let folder: String

    private static let rows = 1_000_000
    private static let sweeps = 100

    func run() async throws -> Section {
        var rows: [Section.Row] = []
        for kind in StoreChoice.available {
            let values = try await kind.withStore(in: folder + "/looks") { store in try await measure(store) }
            rows.append(Section.Row(name: kind.name, values: values))
        }
        return Section(
            "Due looks taken in hand: a job each, a batch of \(SubscriptionWatch.batchMax) a commit, of 1,000,000 due",
            columns: ["looks/s", "p50 ms", "p99 ms", "MB more"],
            rows: rows,
            goal: "Apple's limit, 45 a second, many times over"
        )
    }

    private func measure(_ store: any Store) async throws -> [Double?] {
        let clock = ManualClock(Samples.moment)
        for start in stride(from: 1, through: Self.rows, by: 5_000) {
            var decision = Decision()
            decision.subscriptions = (start..<start + 5_000).compactMap { Self.row($0).map { .insert($0) } }
            let rows = decision
            try await store.write { transaction throws(StoreFailure) in try transaction.apply(rows, evidence: nil) }
        }
        let numbers = SerialNumbers()
        let queue = JobQueue(store: store, clock: clock) { numbers.next() }
        let apps: Set = [AppID(checked: "game")]
        let watch = SubscriptionWatch(store: store, apps: apps, queue: queue, clock: clock)
        let memory = ProcessMemory(of: getpid())
        let before = memory.residentBytes
        var times: [Double] = []
        for _ in 0..<Self.sweeps {
            let began = CPUTime.elapsed
            let taken = await watch.sweep()
            times.append(Double(CPUTime.elapsed - began) / 1e6)
            guard taken == SubscriptionWatch.batchMax else {
                throw BenchmarkFailure("\(taken) looks were taken in hand, not \(SubscriptionWatch.batchMax)")
            }
            try await finish(store)
        }
        let sorted = times.sorted()
        return [
            Double(Self.sweeps * SubscriptionWatch.batchMax) / times.reduce(0, +) * 1_000, sorted[sorted.count / 2],
            sorted[sorted.count * 99 / 100], Double(memory.residentBytes - before) / 1e6,
        ]
    }

    /// The jobs are done: nothing stands in the way of the next batch.
    private func finish(_ store: any Store) async throws {
        let terms = LeaseTerms(owner: LeaseOwner(checked: "bench"), duration: .seconds(30), now: Samples.moment)
        while true {
            let left = try await store.write { transaction throws(StoreFailure) in
                let claim = try transaction.claimJobs(kinds: [SubscriptionLook.kind], .sound(limit: 100), terms: terms)
                let finished = claim.jobs.compactMap(\.hold).map { FinishedJob($0, as: .done) }
                _ = try transaction.finishJobs(finished, at: Samples.moment)
                return claim.jobs.count
            }
            if left == 0 { return }
        }
    }

    private static func row(_ number: Int) -> RecordedSubscription? {
        guard let original = TransactionID(number: Int64(number)) else { return nil }
        let product = ProductID(checked: "com.example.pro.monthly")
        var renewal = Renewal(originalID: original, product: product, signedAt: Samples.moment)
        renewal.nextProduct = product
        renewal.willAutoRenew = true
        renewal.renewsAt = Samples.moment
        let realm = Realm(environment: .production, isTestSigned: false)
        return RecordedSubscription(
            chain: ChainKey(app: AppID(checked: "game"), realm: realm, original: original),
            current: original,
            renewal: renewal,
            product: product,
            group: "21456789",
            expiresAt: Samples.moment,
            graceEndsAt: nil,
            willAutoRenew: true,
            state: .active,
            since: Samples.moment,
            nextLook: Samples.moment.advanced(by: .milliseconds(Int64(-number))),
            lookedAt: Samples.moment,
            version: 1
        )
    }
}

/// Names for jobs: no two alike.
private final class SerialNumbers: Sendable {
    private let last = Atomic<UInt64>(0)

    func next() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
}
