import Foundation
import PurchaseModel
import Storage
import Synchronization

/// How many jobs are claimed with a lease and finished in a second, through the store and plainly, each in the writes that a
/// worker makes: how the last ones ended, and the next claim.
struct JobBenchmark {
    /// For databases, each made and removed.
    let folder: String

    static let kind = "look"
    private static let jobs = 20_000
    private static let rounds = 3

    func run(_ choice: StoreChoice) async throws -> [Section.Row] {
        var rows: [Section.Row] = []
        for (workers, batch) in [(1, 1), (1, 100), (4, 100)] {
            let count = batch == 1 ? Self.jobs / 10 : Self.jobs
            var (ours, plain): ([Double], [Double]) = ([], [])
            for _ in 0..<Self.rounds {
                ours.append(
                    try await withJobs(count, choice) { place in
                        let store = try await place.openStore()
                        let rate = try await Self.rate(count) { finished in
                            try await Self.work(off: store, workers, batch, until: count, finished)
                        }
                        await store.close()
                        return rate
                    }
                )
                // One process writes to a SQLite file.
                guard workers == 1 || !choice.isSQLite else { continue }
                plain.append(
                    try await withJobs(count, choice) { place in
                        try await Self.rate(count) { finished in
                            choice.isSQLite
                                ? try Self.workPlainly(PlainSQLiteQueue.self, place, workers, batch, finished)
                                : try Self.workPlainly(PlainPostgreSQLQueue.self, place, workers, batch, finished)
                        }
                    }
                )
            }
            let (our, their) = (Percentile.of(ours, 50), plain.isEmpty ? nil : Percentile.of(plain, 50))
            rows.append(
                Section.Row(
                    name: "\(choice.name), \(workers) × claims of \(batch)",
                    values: [our, their, their.map { our / $0 * 100 }]
                )
            )
        }
        return rows
    }

    private func withJobs(
        _ count: Int,
        _ choice: StoreChoice,
        _ body: (any LedgerPlace) async throws -> Double
    ) async throws -> Double {
        let place = choice.place(in: folder + "/jobs")
        try place.remove()
        let store = try await place.openStore()
        for start in stride(from: 0, to: count, by: 500) {
            try await store.write { transaction throws(StoreFailure) in
                for number in start..<min(start + 500, count) { _ = try transaction.enqueue(Self.job(number)) }
            }
        }
        await store.close()
        try place.settle()
        let rate = try await body(place)
        try place.remove()
        return rate
    }

    private static func job(_ number: Int) -> NewJob {
        NewJob(
            id: JobID(checked: "job_\(number)"),
            kind: kind,
            payload: [UInt8](repeating: 7, count: 100),
            due: Samples.moment,
            createdAt: Samples.moment
        )
    }

    /// - Returns: how many were finished in a second.
    private static func rate(_ count: Int, _ work: (Count) async throws -> Void) async throws -> Double {
        let (finished, began) = (Count(), CPUTime.elapsed)
        try await work(finished)
        let took = CPUTime.elapsed - began
        let done = finished.value.load(ordering: .relaxed)
        guard done == count else { throw BenchmarkFailure("\(done) of \(count) jobs were finished") }
        return Double(count) / Double(took) * 1e9
    }

    private static func work(
        off store: any Store,
        _ workers: Int,
        _ batch: Int,
        until count: Int,
        _ finished: Count
    ) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for worker in 0..<workers {
                group.addTask {
                    let owner = LeaseOwner(checked: "worker-\(worker)")
                    var ended: [FinishedJob] = []
                    repeat {
                        let turn = try await exchange(ended, store, owner, batch)
                        finished.value.add(turn.finished, ordering: .relaxed)
                        ended = turn.claimed
                    } while !ended.isEmpty || finished.value.load(ordering: .relaxed) < count
                }
            }
        }
    }

    /// Says how jobs ended, and claims the next.
    private static func exchange(
        _ ended: [FinishedJob],
        _ store: any Store,
        _ owner: LeaseOwner,
        _ batch: Int
    ) async throws -> (finished: Int, claimed: [FinishedJob]) {
        while true {
            do throws(StoreFailure) {
                let terms = LeaseTerms(owner: owner, duration: .seconds(30), now: Samples.moment)
                return try await store.write { transaction throws(StoreFailure) in
                    let finished = try transaction.finishJobs(ended, at: Samples.moment).count { $0 }
                    let claim = try transaction.claimJobs(kinds: [kind], .sound(limit: batch), terms: terms)
                    return (finished, claim.jobs.compactMap(\.hold).map { FinishedJob($0, as: .done) })
                }
            } catch .conflict {
                // Another worker was faster, and nothing was written.
            }
        }
    }

    /// Each worker has a connection and a thread of its own.
    private static func workPlainly<Queue: PlainQueue>(
        _ type: Queue.Type,
        _ place: any LedgerPlace,
        _ workers: Int,
        _ batch: Int,
        _ finished: Count
    ) throws {
        let failures = Mutex<[any Error]>([])
        DispatchQueue.concurrentPerform(iterations: workers) { worker in
            do {
                let queue = try Queue(place, owner: "worker-\(worker)", batch: batch)
                var ended: [Queue.Hold] = []
                repeat {
                    let claimed = try queue.exchange(ended)
                    finished.value.add(ended.count, ordering: .relaxed)
                    ended = claimed
                } while !ended.isEmpty
            } catch {
                failures.withLock { $0.append(error) }
            }
        }
        if let failure = failures.withLock(\.first) { throw failure }
    }
}
