import Storage

/// Writes purchases into a ledger, through the store and plainly.
struct LedgerWriting<Place: LedgerPlace> {
    let place: Place

    /// Through the store, as the recorder does it.
    ///
    /// - Returns: the cost, and how often the database synced its log.
    func record(_ work: [PurchaseWork], batch: Int) async throws -> (cost: WritingCost, syncs: Int?) {
        let (server, syncs) = (try place.server(), try place.syncs())
        let store = try await place.openStore()
        let starts = Array(stride(from: 0, to: work.count, by: batch))
        let cost = try await WritingCost.measure(starts.map { min(batch, work.count - $0) }, server: server) { commit in
            let start = starts[commit]
            try await PurchaseWork.record(work[start..<min(start + batch, work.count)], in: store)
        }
        await store.close()
        let after = try place.syncs()
        return (cost, syncs.flatMap { before in after.map { $0 - before } })
    }

    /// The same rows plainly: so many purchases, so many in each commit but the last.
    func record(_ batches: [Place.Plain.Batch], of size: Int, purchases: Int) async throws -> WritingCost {
        let server = try place.server()
        let plain = try place.openPlain()
        try plain.begin()
        let sizes = batches.indices.map { min(size, purchases - $0 * size) }
        return try await WritingCost.measure(sizes, server: server) { try plain.record(batches[$0]) }
    }

    /// Has the store record the purchases, and makes ready what a plain program must write to have written the same. For
    /// another ledger, which has grown, a number says where the rows' numbers and the feed's places begin.
    func prepare(_ work: [PurchaseWork], batch: Int, beyond number: Int64 = 0) async throws -> [Place.Plain.Batch] {
        try await place.make()
        let plain = try place.openPlain()
        if number > 0 {
            try plain.moveFeed(to: number)
            try place.moveNumbers(beyond: number)
        }
        let store = try await place.openStore()
        var (sums, added) = (try plain.sums(), [[PlainSum]]())
        for start in stride(from: 0, to: work.count, by: batch) {
            try await PurchaseWork.record(work[start..<min(start + batch, work.count)], in: store)
            let now = try plain.sums()
            added.append(Place.Plain.added(sums, now))
            sums = now
        }
        await store.close()
        let unknown = try plain.counts().filter { table, rows in
            rows > 0 && !(PurchaseTables.all + PurchaseTables.counted + place.ownTables).contains(table)
        }
        guard unknown.isEmpty else {
            throw BenchmarkFailure("the plain program does not write \(unknown.keys.sorted())")
        }
        // The question for all that was written is a join, which a planner without figures asks in quadratic time.
        try plain.run("ANALYZE")
        let batches = try plain.batches(of: batch, adding: added)
        guard batches.count == added.count else { throw BenchmarkFailure("not all was recorded") }
        return batches
    }
}

/// The store beside a plain program over the same database: the same rows, statements, settings and commits.
struct RecordingComparison<Place: LedgerPlace> {
    /// For one ledger after the other, each made and removed.
    let place: Place
    let rounds: Int

    /// Both into empty ledgers, turn by turn.
    func compare(_ work: [PurchaseWork], batch: Int) async throws -> WritingRounds {
        let pattern = place.sibling("pattern")
        try pattern.remove()
        defer { try? pattern.remove() }
        let batches = try await LedgerWriting(place: pattern).prepare(work, batch: batch)
        let expected = try written(pattern)
        var all = WritingRounds()
        for round in 0..<rounds {
            var recorded: (cost: WritingCost, syncs: Int?)?
            if round % 2 == 0 { recorded = try await inEmptyLedger { try await $0.record(work, batch: batch) } }
            let plain = try await inEmptyLedger { recording in
                let cost = try await recording.record(batches, of: batch, purchases: work.count)
                guard try written(recording.place) == expected else {
                    throw BenchmarkFailure("the plain program has not written what the store writes")
                }
                return cost
            }
            if recorded == nil { recorded = try await inEmptyLedger { try await $0.record(work, batch: batch) } }
            guard let recorded else { continue }
            let syncs = recorded.syncs.map { Double($0) / Double(work.count) }
            all.rounds.append(WritingRounds.Round(store: recorded.cost, plain: plain, syncs: syncs))
        }
        return all
    }

    /// What two ledgers have in common that were written alike.
    private func written(_ place: Place) throws -> [[PlainKey]: Int64] {
        let ledger = try place.openPlain()
        let counts = try ledger.counts().map { ([PlainKey.text($0.key)], Int64($0.value)) }
        return try ledger.sums().merging(counts) { sum, _ in sum }
    }

    private func inEmptyLedger<Value>(_ body: (LedgerWriting<Place>) async throws -> Value) async throws -> Value {
        try place.remove()
        defer { try? place.remove() }
        try await place.make()
        try place.settle()
        return try await body(LedgerWriting(place: place))
    }
}
