/// What was measured over HTTP in several rounds, and the medians of it.
struct RoundTable {
    enum Subject: String, CaseIterable {
        case assay
        case peer
        /// A handler of Assay's that does nothing: what HTTP alone costs.
        case livez = "assay /livez"
    }

    /// One subject under load in one round.
    struct Load {
        let result: LoadGenerator.Result
        /// Of all its processes.
        let cpuSeconds: Double
        /// Of the database's processes among them, when it has its own.
        let databaseSeconds: Double

        var cpuPerRequest: Double { cpuSeconds / Double(result.requests) }
        var cpuPerRequestWithoutDatabase: Double { (cpuSeconds - databaseSeconds) / Double(result.requests) }
        var requestsPerSecond: Double { Double(result.requests) / result.seconds }
    }

    private struct Key: Hashable {
        let subject: Subject
        let connections: Int
    }

    /// Off while everything warms up.
    var isCounting = true
    private var loads: [Key: [Load]] = [:]

    mutating func add(_ subject: Subject, _ connections: Int, _ load: Load) {
        if isCounting { loads[Key(subject: subject, connections: connections), default: []].append(load) }
    }

    var section: Section {
        let rows = HTTPBenchmark.connections.flatMap { connections in
            Subject.allCases.compactMap { row($0, connections) }
        }
        return Section(
            "Purchases over HTTP, durable when answered",
            columns: ["per second", "CPU µs each", "of it database", "per CPU second", "median ms", "p99 ms"],
            rows: rows,
            goal: "twenty times as many for each CPU second as the peer"
        )
    }

    /// How many purchases Assay takes for one of the peer's, round by round.
    var comparison: Section {
        let rows = HTTPBenchmark.connections.map { connections in
            let assay = loads[Key(subject: .assay, connections: connections)] ?? []
            let peer = loads[Key(subject: .peer, connections: connections)] ?? []
            let rounds = Array(zip(assay, peer))
            return Section.Row(
                name: "\(connections) connections",
                values: [
                    RoundTable.median(rounds.map { $1.cpuPerRequest / $0.cpuPerRequest }),
                    RoundTable.median(rounds.map { $1.cpuPerRequestWithoutDatabase / $0.cpuPerRequest }),
                    RoundTable.median(rounds.map { $0.requestsPerSecond / $1.requestsPerSecond }),
                ]
            )
        }
        return Section(
            "How many purchases of Assay's for one of the peer's",
            columns: ["per CPU second", "… its workers'", "per second"],
            rows: rows,
            goal: "at least 20 for each CPU second"
        )
    }

    private func row(_ subject: Subject, _ connections: Int) -> Section.Row? {
        guard let rounds = loads[Key(subject: subject, connections: connections)] else { return nil }
        let hasDatabase = rounds.contains { $0.databaseSeconds > 0 }
        let database = RoundTable.median(rounds.map { $0.databaseSeconds / Double($0.result.requests) * 1e6 })
        return Section.Row(
            name: "\(subject.rawValue), \(connections) connections",
            values: [
                RoundTable.median(rounds.map(\.requestsPerSecond)),
                RoundTable.median(rounds.map { $0.cpuPerRequest * 1e6 }),
                hasDatabase ? database : nil,
                RoundTable.median(rounds.map { 1 / $0.cpuPerRequest }),
                RoundTable.median(rounds.map(\.result.median)),
                RoundTable.median(rounds.map(\.result.percentile99)),
            ]
        )
    }

    static func median(_ values: [Double]) -> Double? {
        values.isEmpty ? nil : values.sorted()[values.count / 2]
    }
}
