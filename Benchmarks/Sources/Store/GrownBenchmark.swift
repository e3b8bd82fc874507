import Foundation
import Storage

/// What recording costs in a ledger that has grown, beside an empty one.
struct GrownBenchmark {
    let samples: Samples
    /// For databases, each made and removed.
    let folder: String
    /// How many purchases the ledger has before.
    let purchases: Int

    private static let rounds = 4
    /// How many purchases in a commit, and how many commits in a round.
    private static let loads = [(batch: 256, commits: 20), (batch: 1, commits: 500)]
    /// Where the numbers of purchases begin that are recorded before, by the store, and plainly.
    private enum Numbers {
        static let warming = 1_000_000
        static let store = 10_000_000
        static let plain = 20_000_000
    }
    /// Where the rows begin that are made ready elsewhere: far beyond all that the store writes.
    private static let farAway: Int64 = 1 << 40
    /// Proofs are most of what a ledger weighs, and no index sees them: short ones let ten million fit on a disk.
    private static let proof = [UInt8](repeating: 0x5A, count: 64)

    private struct Ledger {
        let purchases: Int
        let loads: [(batch: Int, rounds: WritingRounds)]
        let bytes: Int
    }

    func run(_ choice: StoreChoice) async throws -> [Section] {
        try await run(choice.place(in: folder + "/grown"), choice)
    }

    private func run(_ place: some LedgerPlace, _ choice: StoreChoice) async throws -> [Section] {
        let empty = try await measure(0, in: place)
        let grown = try await measure(purchases, in: place)
        let costs = [empty, grown].flatMap { ledger in
            ledger.loads.map { load in
                Section.Row(
                    name: "\(load.batch) in a commit, \(ledger.purchases) before",
                    values: load.rounds.values(hasServer: !choice.isSQLite)
                        + [50, 99].flatMap { load.rounds.milliseconds($0) } + [Double(ledger.bytes) / 1e9]
                )
            }
        }
        let left = zip(empty.loads, grown.loads).map { before, after in
            Section.Row(
                name: "\(before.batch) in a commit",
                values: zip(before.rounds.values(hasServer: true), after.rounds.values(hasServer: true)).prefix(4)
                    .map { before, after in after.flatMap { after in before.map { after / $0 * 100 } } }
            )
        }
        return [
            Section(
                "Recording in a ledger that has grown, \(choice.name)",
                columns: WritingRounds.columns
                    + ["plain p50 ms", "store p50 ms", "plain p99 ms", "store p99 ms", "GB"],
                rows: costs,
                goal: "as in an empty one"
            ),
            Section(
                "… in per cent of what it is in an empty one",
                columns: Array(WritingRounds.columns.prefix(4)),
                rows: left,
                goal: "at least \(choice.isSQLite ? 40 : 85) % of the rows/s"
            ),
        ]
    }

    private func measure(_ purchases: Int, in place: some LedgerPlace) async throws -> Ledger {
        try place.remove()
        defer { try? place.remove() }
        try await place.make()
        if purchases > 0 { try await grow(place, to: purchases) }
        try place.settle()
        let writing = LedgerWriting(place: place)
        // A packed page splits at the first row that comes in between, and a first touch after a checkpoint costs more.
        let warming = (0..<max(purchases / 100, 2_000)).map {
            PurchaseWork(renewal: Numbers.warming + $0, samples, proof: Self.proof)
        }
        _ = try await writing.record(warming, batch: 256)
        var loads: [(batch: Int, rounds: WritingRounds)] = []
        var offset = 0
        for (batch, commits) in Self.loads {
            let count = batch * commits
            let plain = try await ready(offset..<offset + count * Self.rounds, batch: batch, beside: place)
            var all = WritingRounds()
            for round in 0..<Self.rounds {
                let first = offset + round * count
                let work = (first..<first + count).map { PurchaseWork(renewal: Numbers.store + $0, samples) }
                let store = try await writing.record(work, batch: batch)
                let part = Array(plain[round * commits..<(round + 1) * commits])
                let cost = try await writing.record(part, of: batch, purchases: count)
                let syncs = store.syncs.map { Double($0) / Double(count) }
                all.rounds.append(WritingRounds.Round(store: store.cost, plain: cost, syncs: syncs))
            }
            loads.append((batch, all))
            offset += count * Self.rounds
        }
        return Ledger(purchases: purchases, loads: loads, bytes: try place.bytes())
    }

    private func grow(_ place: some LedgerPlace, to purchases: Int) async throws {
        let store = try await place.openStore()
        try await PurchaseWork.record([PurchaseWork(renewal: 0, samples, proof: Self.proof)], in: store)
        await store.close()
        let began = CPUTime.elapsed
        try GrownLedger(purchases: purchases, dialect: place.dialect).fill(try place.openPlain(), in: folder)
        try place.moveNumbers(beyond: Int64(purchases))
        let line = "\(purchases) purchases made in \((CPUTime.elapsed - began) / 1_000_000_000) s\n"
        FileHandle.standardError.write(Data(line.utf8))
    }

    /// What a plain program writes, made ready in a ledger of its own.
    private func ready<Place: LedgerPlace>(
        _ numbers: Range<Int>,
        batch: Int,
        beside place: Place
    ) async throws -> [Place.Plain.Batch] {
        let pattern = place.sibling("pattern")
        try pattern.remove()
        defer { try? pattern.remove() }
        let work = numbers.map { PurchaseWork(renewal: Numbers.plain + $0, samples) }
        let begin = Self.farAway * Int64(batch)
        return try await LedgerWriting(place: pattern).prepare(work, batch: batch, beyond: begin)
    }
}
