import CSQLite
import Foundation
import Pipeline
import PurchaseModel
import Storage
import Synchronization

/// What recording costs beside SQLite alone, and how long a commit takes under a steady stream.
struct StoreBenchmark {
    let samples: Samples
    /// For databases, each made and removed.
    let folder: String
    var rounds = 5

    /// Purchases a second in ``stream()``, and for how long.
    private static let offeredPerSecond = 10_000
    private static let streamSeconds = 4

    /// One way of writing in one round.
    private struct Cost {
        let rowsPerSecond: Double
        let microseconds: Double
    }

    /// The store beside the plain C interface: the same rows, statements, pragmas, batches and checkpoints.
    func batches() async throws -> Section {
        var rows: [Section.Row] = []
        for (batch, count) in [(1, 2_000), (16, 8_000), (64, 12_000), (256, 12_000)] {
            let work = work(0..<count)
            var costs: [(store: Cost, plain: Cost)] = []
            for round in 0..<rounds {
                costs.append(try await compare(work, batch: batch, storeIsFirst: round % 2 == 0))
            }
            func median(_ value: ((store: Cost, plain: Cost)) -> Double) -> Double {
                costs.map(value).sorted()[costs.count / 2]
            }
            rows.append(
                Section.Row(
                    name: "\(batch) in a commit",
                    values: [
                        median { $0.plain.rowsPerSecond }, median { $0.store.rowsPerSecond },
                        median { $0.plain.microseconds }, median { $0.store.microseconds },
                        median { $0.plain.microseconds / $0.store.microseconds * 100 },
                        median { $0.store.rowsPerSecond / $0.plain.rowsPerSecond * 100 },
                    ]
                )
            )
        }
        return Section(
            "Purchases recorded in SQLite, with proofs of \(samples.tokens[0].count) bytes",
            columns: [
                "plain C, rows/s", "store, rows/s", "plain C, CPU µs", "store, CPU µs", "% of its CPU", "% of rows/s",
            ],
            rows: rows,
            goal: "at least 80 % of what SQLite's C interface reaches with the same statements"
        )
    }

    /// Purchases that come at a steady rate, through the recorder: an open loop, so waiting is not left out.
    func stream() async throws -> Section {
        let work = work(0..<StoreBenchmark.offeredPerSecond * StoreBenchmark.streamSeconds)
        let path = folder + "/stream"
        defer { remove(path) }
        let store = try SQLiteStore.open(folder: path)
        let commits = Mutex<[(rows: Int, milliseconds: Double)]>([])
        let recorder = Recorder(
            store: store,
            refusals: RefusalLedger(),
            clock: ManualClock(Samples.moment),
            uptime: { .nanoseconds(Int64(CPUTime.elapsed)) },
            queuedMax: work.count
        ) { event in
            guard case .committed(let rows, let duration) = event else { return }
            commits.withLock { $0.append((rows, StoreBenchmark.milliseconds(duration))) }
        }
        let answers = Mutex<[Double]>([])
        let (cpu, began) = (CPUTime.ofProcess, CPUTime.elapsed)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await recorder.run() }
            try await StoreBenchmark.offer(work, from: began) { work, due in
                _ = try await recorder.record(work.recording, evidence: work.evidence)
                answers.withLock { $0.append(Double(CPUTime.elapsed - due) / 1e6) }
            }
            recorder.stop()
            try await group.waitForAll()
        }
        let seconds = Double(CPUTime.elapsed - began) / 1e9
        let microseconds = Double(CPUTime.ofProcess - cpu) / 1e3 / Double(work.count)
        await store.close()
        return StoreBenchmark.section(
            commits: commits.withLock { $0 },
            answers: answers.withLock { $0 },
            seconds: seconds,
            microseconds: microseconds
        )
    }

    /// The rules alone, for receipts with many purchases.
    func decisions() throws -> Section {
        let one = recording([Samples.renewal(0)], customer: 0)
        let many = recording((0..<500).map(Samples.renewal), customer: 0)
        let years = recording((0..<500).map(StoreBenchmark.period), customer: 0)
        let nothing = Situation()
        var all = Situation()
        all.apply(decide(nothing, many, at: Samples.moment))
        let figures = try Measure().compare(
            Contender(name: "one purchase, new") { _ in try StoreBenchmark.check(nothing, one, changes: 1) },
            [
                Contender(name: "500 purchases, new") { _ in
                    try StoreBenchmark.check(nothing, many, changes: 500)
                },
                Contender(name: "500 periods of one, new") { _ in
                    try StoreBenchmark.check(nothing, years, changes: 500)
                },
                Contender(name: "500 purchases, all known") { [all] _ in
                    try StoreBenchmark.check(all, many, changes: 0)
                },
            ]
        )
        return Section("Deciding what to write for a receipt", figures, goal: "500 purchases in 100 µs")
    }

    /// One of many periods of the same subscription.
    private static func period(_ number: Int) -> Transaction {
        var period = Samples.renewal(number)
        period.originalID = Samples.renewal(0).originalID
        return period
    }

    /// For a profiler: so many new purchases, and nothing beside them.
    func profileRecording(_ count: Int, batch: Int) async throws {
        let path = folder + "/profile"
        defer { remove(path) }
        _ = try await throughStore(work(0..<count), batch: batch, in: path)
    }

    /// For a profiler: the same new receipt again and again.
    func profileDecisions(_ count: Int) throws {
        let many = recording((0..<500).map(Samples.renewal), customer: 0)
        for _ in 0..<count { try StoreBenchmark.check(Situation(), many, changes: 500) }
    }

    private static func check(_ situation: Situation, _ recording: Recording, changes: Int) throws {
        guard decide(situation, recording, at: Samples.moment).changes.count == changes else {
            throw BenchmarkFailure("a wrong decision")
        }
    }

    /// Offers each purchase when it is due, however long the ones before take.
    private static func offer(
        _ work: [PurchaseWork],
        from began: UInt64,
        _ record: @escaping @Sendable (PurchaseWork, UInt64) async throws -> Void
    ) async throws {
        let spacing = 1_000_000_000 / UInt64(offeredPerSecond)
        try await withThrowingDiscardingTaskGroup { group in
            var next = 0
            while next < work.count {
                let now = CPUTime.elapsed
                while next < work.count, began + UInt64(next) * spacing <= now {
                    let (item, due) = (work[next], began + UInt64(next) * spacing)
                    group.addTask { try await record(item, due) }
                    next += 1
                }
                try await Task.sleep(for: .milliseconds(1))
            }
        }
    }

    private static func section(
        commits: [(rows: Int, milliseconds: Double)],
        answers: [Double],
        seconds: Double,
        microseconds: Double
    ) -> Section {
        let (durations, waits) = (commits.map(\.milliseconds).sorted(), answers.sorted())
        let rows = [("a commit", durations), ("from due to durable", waits)].map { name, times in
            Section.Row(
                name: name,
                values: [
                    times[times.count / 2], times[times.count * 99 / 100], times[times.count - 1],
                    Double(answers.count) / Double(commits.count), Double(answers.count) / seconds, microseconds,
                ]
            )
        }
        return Section(
            "Purchases recorded at an offered \(offeredPerSecond) a second",
            columns: ["median ms", "p99 ms", "longest ms", "rows a commit", "rows/s", "CPU µs a row"],
            rows: rows,
            goal: "99 of 100 commits within 20 ms"
        )
    }

    private static func milliseconds(_ duration: Duration) -> Double {
        let (seconds, attoseconds) = duration.components
        return Double(seconds) * 1e3 + Double(attoseconds) / 1e15
    }
}

// The two ways of writing.
extension StoreBenchmark {
    private func compare(_ work: [PurchaseWork], batch: Int, storeIsFirst: Bool) async throws -> (
        store: Cost, plain: Cost
    ) {
        let (own, other) = (folder + "/store", folder + "/plain")
        defer {
            remove(own)
            remove(other)
        }
        // What the plain one writes is read from what the store wrote, so that both write the same.
        let first = try await throughStore(work, batch: batch, in: own)
        let purchases = try PlainSQLite(path: own + "/assay.sqlite").purchases()
        guard purchases.count == work.count else { throw BenchmarkFailure("not all was recorded") }
        if storeIsFirst {
            return (first, try await plainly(purchases, batch: batch, in: other))
        }
        remove(own)
        let plain = try await plainly(purchases, batch: batch, in: other)
        return (try await throughStore(work, batch: batch, in: own), plain)
    }

    private func throughStore(_ work: [PurchaseWork], batch: Int, in path: String) async throws -> Cost {
        let store = try SQLiteStore.open(folder: path)
        let cost = try await measure(rows: work.count) {
            for start in stride(from: 0, to: work.count, by: batch) {
                try await PurchaseWork.record(work[start..<min(start + batch, work.count)], in: store)
            }
        }
        await store.close()
        return cost
    }

    private func plainly(_ purchases: [PlainPurchase], batch: Int, in path: String) async throws -> Cost {
        // The store makes the tables, and leaves.
        try await SQLiteStore.open(folder: path).close()
        let database = try PlainSQLite(path: path + "/assay.sqlite")
        try database.addApp(PurchaseWork.app.text)
        return try await measure(rows: purchases.count) { try database.record(purchases, batch: batch) }
    }

    /// The whole process is counted: nothing else runs in it meanwhile.
    private func measure(rows: Int, _ body: () async throws -> Void) async throws -> Cost {
        let (cpu, began) = (CPUTime.ofProcess, CPUTime.elapsed)
        try await body()
        return Cost(
            rowsPerSecond: Double(rows) / Double(CPUTime.elapsed - began) * 1e9,
            microseconds: Double(CPUTime.ofProcess - cpu) / Double(rows) / 1e3
        )
    }

    private func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

    private func work(_ numbers: Range<Int>) -> [PurchaseWork] {
        numbers.map { number in
            PurchaseWork(
                number,
                [Samples.renewal(number)],
                customer: number,
                proof: samples.tokens[number % samples.tokens.count],
                at: Samples.moment
            )
        }
    }

    private func recording(_ transactions: [Transaction], customer: Int) -> Recording {
        Recording(
            app: PurchaseWork.app,
            realm: PurchaseWork.realm,
            transactions: transactions,
            customer: CustomerID(checked: "customer-\(customer)")
        )
    }
}
