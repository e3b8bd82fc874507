/// What it cost to write purchases, as commits that each wait for the one before.
struct WritingCost {
    let purchases: Int
    let seconds: Double
    /// Of this process: nothing else runs in it meanwhile.
    let ownSeconds: Double
    /// Of the database's own processes.
    let databaseSeconds: Double
    /// How long each commit took.
    let milliseconds: [Double]

    var rowsPerSecond: Double { Double(purchases) / seconds }
    var ownMicroseconds: Double { ownSeconds / Double(purchases) * 1e6 }
    var databaseMicroseconds: Double { databaseSeconds / Double(purchases) * 1e6 }
    var microseconds: Double { ownMicroseconds + databaseMicroseconds }

    /// Runs each commit, of so many purchases, and counts what this process and the server with its children spend.
    static func measure(
        _ commits: [Int],
        server: Int32?,
        _ commit: (Int) async throws -> Void
    ) async throws -> WritingCost {
        let database = server.map { ProcessTree(root: $0).cpuSeconds } ?? 0
        let (own, began) = (CPUTime.ofProcess, CPUTime.elapsed)
        var (times, last): ([Double], UInt64) = ([], began)
        times.reserveCapacity(commits.count)
        for place in commits.indices {
            try await commit(place)
            let now = CPUTime.elapsed
            times.append(Double(now - last) / 1e6)
            last = now
        }
        let used = Double(CPUTime.ofProcess - own) / 1e9
        return WritingCost(
            purchases: commits.reduce(0, +),
            seconds: Double(last - began) / 1e9,
            ownSeconds: used,
            databaseSeconds: (server.map { ProcessTree(root: $0).cpuSeconds } ?? 0) - database,
            milliseconds: times
        )
    }
}

/// How long the slower ones take.
enum Percentile {
    static func of(_ times: [Double], _ share: Int) -> Double {
        times.isEmpty ? .nan : times.sorted()[min(times.count * share / 100, times.count - 1)]
    }
}

/// What the store and a plain program cost, round by round, both of the same purchases.
struct WritingRounds {
    struct Round {
        let store: WritingCost
        let plain: WritingCost
        /// Of the database's log, a purchase of the store's; `nil` where that is not counted.
        let syncs: Double?
    }

    var rounds: [Round] = []

    static let columns = [
        "plain, rows/s", "store, rows/s", "plain, CPU µs", "store, CPU µs", "db of plain, µs", "db of store, µs",
        "% of its CPU",
        "% of rows/s", "syncs each",
    ]

    /// Of all commits, plain and of the store.
    func milliseconds(_ share: Int) -> [Double] {
        [rounds.flatMap(\.plain.milliseconds), rounds.flatMap(\.store.milliseconds)].map { Percentile.of($0, share) }
    }

    func values(hasServer: Bool) -> [Double?] {
        func middle(_ value: (Round) -> Double) -> Double { Percentile.of(rounds.map(value), 50) }
        return [
            middle { $0.plain.rowsPerSecond }, middle { $0.store.rowsPerSecond },
            middle { $0.plain.microseconds }, middle { $0.store.microseconds },
            hasServer ? middle { $0.plain.databaseMicroseconds } : nil,
            hasServer ? middle { $0.store.databaseMicroseconds } : nil,
            middle { $0.plain.microseconds / $0.store.microseconds * 100 },
            middle { $0.store.rowsPerSecond / $0.plain.rowsPerSecond * 100 },
            rounds.first?.syncs == nil ? nil : middle { $0.syncs ?? 0 },
        ]
    }
}
