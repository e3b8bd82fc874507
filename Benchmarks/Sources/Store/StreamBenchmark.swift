import Foundation
import Pipeline
import PurchaseModel
import Storage
import Synchronization

/// How long a purchase takes until it is durable, at rates that the recorder can keep up with.
struct StreamBenchmark {
    let samples: Samples
    /// For databases, each made and removed.
    let folder: String

    /// How many are under way at once while the most is looked for: some batches' worth.
    private static let underWay = 1_024
    private static let mostSeconds = 4
    private static let offeredSeconds = 8
    private static let shares = [50, 90]

    /// What was seen of some purchases.
    private struct Seen {
        let commits: [(rows: Int, milliseconds: Double)]
        /// From when each was due until it was durable.
        let waits: [Double]
        let seconds: Double
        let microseconds: Double

        var rowsPerSecond: Double { Double(waits.count) / seconds }
    }

    func run(_ choice: StoreChoice) async throws -> Section {
        let most = try await choice.withStore(in: folder + "/stream") { try await closedLoop($0) }
        var rows = [Self.row("as many as it takes", most)]
        for share in Self.shares {
            let rate = max(1, Int(most.rowsPerSecond) * share / 100)
            let seen = try await choice.withStore(in: folder + "/stream") { try await openLoop($0, perSecond: rate) }
            rows.append(Self.row("\(share) % of that", seen))
        }
        return Section(
            "Purchases through the recorder, \(choice.name)",
            columns: [
                "rows/s", "rows a commit", "commit p50 ms", "p99 ms", "longest ms", "durable p50 ms", "p99 ms",
                "longest ms", "CPU µs a row",
            ],
            rows: rows,
            goal: "99 of 100 commits within 20 ms"
        )
    }

    private static func row(_ name: String, _ seen: Seen) -> Section.Row {
        let commits = seen.commits.map(\.milliseconds)
        return Section.Row(
            name: name,
            values: [
                seen.rowsPerSecond, Double(seen.waits.count) / Double(commits.count),
                Percentile.of(commits, 50), Percentile.of(commits, 99), Percentile.of(commits, 100),
                Percentile.of(seen.waits, 50), Percentile.of(seen.waits, 99), Percentile.of(seen.waits, 100),
                seen.microseconds,
            ]
        )
    }

    /// So many callers, each of which comes again when it was answered.
    private func closedLoop(_ store: any Store) async throws -> Seen {
        try await recorded(in: store) { began, record in
            let next = Count()
            let end = began + UInt64(Self.mostSeconds) * 1_000_000_000
            try await withThrowingDiscardingTaskGroup { group in
                for _ in 0..<Self.underWay {
                    group.addTask {
                        while CPUTime.elapsed < end {
                            let number = next.value.add(1, ordering: .relaxed).oldValue
                            try await record(number, CPUTime.elapsed)
                        }
                    }
                }
            }
        }
    }

    /// Offers each purchase when it is due, however long the ones before take: so waiting is not left out.
    private func openLoop(_ store: any Store, perSecond rate: Int) async throws -> Seen {
        let (spacing, count) = (1_000_000_000 / UInt64(rate), rate * Self.offeredSeconds)
        return try await recorded(in: store) { began, record in
            try await withThrowingDiscardingTaskGroup { group in
                var next = 0
                while next < count {
                    let now = CPUTime.elapsed
                    while next < count, began + UInt64(next) * spacing <= now {
                        let (number, due) = (next, began + UInt64(next) * spacing)
                        group.addTask { try await record(number, due) }
                        next += 1
                    }
                    try await Task.sleep(for: .milliseconds(1))
                }
            }
        }
    }

    /// Runs a recorder over the store while a load is on it, which is told when it begins, and how a purchase of a number
    /// is recorded that is due at a moment.
    private func recorded(
        in store: any Store,
        _ load: (UInt64, @escaping @Sendable (Int, UInt64) async throws -> Void) async throws -> Void
    ) async throws -> Seen {
        let commits = Mutex<[(rows: Int, milliseconds: Double)]>([])
        let waits = Mutex<[Double]>([])
        let recorder = Recorder(
            store: store,
            refusals: RefusalLedger(),
            clock: ManualClock(Samples.moment),
            uptime: { .nanoseconds(Int64(CPUTime.elapsed)) },
            queuedMax: .max
        ) { event in
            guard case .committed(let rows, let duration) = event else { return }
            commits.withLock { $0.append((rows, duration / .milliseconds(1))) }
        }
        let (cpu, began) = (CPUTime.ofProcess, CPUTime.elapsed)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await recorder.run() }
            defer { recorder.stop() }
            try await load(began) { [samples] number, due in
                let work = PurchaseWork(renewal: number, samples)
                _ = try await recorder.record(work.recording, evidence: work.evidence)
                waits.withLock { $0.append(Double(CPUTime.elapsed - due) / 1e6) }
            }
        }
        let (seconds, used) = (Double(CPUTime.elapsed - began) / 1e9, Double(CPUTime.ofProcess - cpu) / 1e3)
        let all = waits.withLock { $0 }
        return Seen(
            commits: commits.withLock { $0 },
            waits: all,
            seconds: seconds,
            microseconds: used / Double(all.count)
        )
    }
}
