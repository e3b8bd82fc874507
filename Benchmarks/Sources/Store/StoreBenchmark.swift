import Foundation
import PurchaseModel

/// What recording costs beside the database alone.
struct StoreBenchmark {
    let samples: Samples
    /// For databases, each made and removed.
    let folder: String
    var rounds = 5

    /// How many purchases in a commit, and how many in all.
    private static let loads = [(1, 1_000), (16, 4_000), (64, 6_400), (256, 10_240)]

    /// The store beside a plain program: the same rows, statements, settings, commits and checkpoints.
    func batches(_ choice: StoreChoice) async throws -> Section {
        try await batches(in: choice.place(in: folder + "/store"), named: choice)
    }

    private func batches(in place: some LedgerPlace, named choice: StoreChoice) async throws -> Section {
        var rows: [Section.Row] = []
        for (batch, count) in Self.loads {
            let comparison = RecordingComparison(place: place, rounds: rounds)
            let measured = try await comparison.compare(work(0..<count), batch: batch)
            rows.append(
                Section.Row(name: "\(batch) in a commit", values: measured.values(hasServer: !choice.isSQLite))
            )
        }
        return Section(
            "Purchases recorded in \(choice.name), with proofs of \(samples.tokens[0].count) bytes",
            columns: WritingRounds.columns,
            rows: rows,
            goal: "at least \(choice.isSQLite ? 80 : 85) % of a plain program with the same statements and rows"
        )
    }

    /// The rules alone, for receipts with many purchases.
    func decisions() throws -> Section {
        let one = recording([Samples.renewal(0)], customer: 0)
        let many = recording((0..<500).map(Samples.renewal), customer: 0)
        let years = recording((0..<500).map(StoreBenchmark.period), customer: 0)
        let nothing = Situation()
        var all = Situation()
        all.apply(decide(nothing, many, ownToken: { _ in nil }, at: Samples.moment))
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
        return Section(
            "Deciding what to write for a receipt",
            figures,
            goal: "500 purchases in a tenth of the CPU that recording them takes, 256 in a commit, in SQLite"
        )
    }

    /// One of many periods of the same subscription.
    private static func period(_ number: Int) -> Transaction {
        var period = Samples.renewal(number)
        period.originalID = Samples.renewal(0).originalID
        return period
    }

    /// For a profiler: so many new purchases, and nothing beside them.
    func profileRecording(_ choice: StoreChoice, _ count: Int, batch: Int) async throws {
        try await profileRecording(in: choice.place(in: folder + "/profile"), count, batch: batch)
    }

    private func profileRecording(in place: some LedgerPlace, _ count: Int, batch: Int) async throws {
        try place.remove()
        defer { try? place.remove() }
        _ = try await LedgerWriting(place: place).record(work(0..<count), batch: batch)
    }

    /// For a profiler: the same purchases again and again, new each time or known, each of its own chain or all of one.
    func profileDecisions(_ count: Int, of purchases: Int, known: Bool, isOneChain: Bool) throws {
        let sample = isOneChain ? StoreBenchmark.period : Samples.renewal
        let many = recording((0..<purchases).map(sample), customer: 0)
        var situation = Situation()
        if known { situation.apply(decide(situation, many, ownToken: { _ in nil }, at: Samples.moment)) }
        for _ in 0..<count { try StoreBenchmark.check(situation, many, changes: known ? 0 : purchases) }
    }

    private static func check(_ situation: Situation, _ recording: Recording, changes: Int) throws {
        guard decide(situation, recording, ownToken: { _ in nil }, at: Samples.moment).changes.count == changes else {
            throw BenchmarkFailure("a wrong decision")
        }
    }

    private func work(_ numbers: Range<Int>) -> [PurchaseWork] { numbers.map { PurchaseWork(renewal: $0, samples) } }

    private func recording(_ transactions: [Transaction], customer: Int) -> Recording {
        Recording(
            app: PurchaseWork.app,
            realm: PurchaseWork.realm,
            transactions: transactions,
            customer: CustomerID(checked: "customer-\(customer)")
        )
    }
}
