import Foundation
import Pipeline
import PurchaseModel
import Storage
import Synchronization

/// What goes out of the ledger: webhooks from the commit to the shop, and jobs from the queue. The store is SQLite, and
/// PostgreSQL as well when `ASSAY_TEST_POSTGRES` names a server.
struct OutboxBenchmark {
    /// For databases, each made and removed.
    let folder: String

    private static let jobs = 20_000

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
            sending += try await WebhookBenchmark(folder: folder).rows(kind)
        }
        return [
            Section(
                "Jobs claimed with a lease and finished",
                columns: ["jobs/s"],
                rows: queue,
                goal: "50,000 jobs a second at 100 in a claim"
            ),
            Section(
                "Webhooks to a shop that answers at once",
                columns: WebhookBenchmark.columns,
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
            let finished = claim.jobs.compactMap(\.hold).map { FinishedJob($0, as: .done) }
            return try await store.write { transaction throws(StoreFailure) in
                try transaction.finishJobs(finished, at: Samples.moment).count { $0 }
            }
        } catch .conflict {
            // Another worker was faster.
            return 0
        }
    }
}
