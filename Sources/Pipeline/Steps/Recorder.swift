package import PurchaseModel
package import Storage
import Synchronization

/// Collects what is queued, and for each batch: one situation, many decisions, one commit, then the answers.
///
/// There is no waiting for more: a batch is whatever has gathered while the last one was being committed.
package final class Recorder: Sendable {
    /// A batch's bounds: beyond them a commit only grows longer, not cheaper.
    static let batchMax = 256
    static let batchBytesMax = 512 * 1_024

    /// What else is written in the commit of a decision, and what was decided.
    package typealias Companion = @Sendable (Decision, any StoreTransaction) throws(StoreFailure) -> Void

    private struct Item: Sendable {
        let recording: Recording
        let evidence: EvidenceRow
        let ofRenewal: EvidenceRow?
        let companion: Companion?
        let kept: KeptDecision?
        let ending: KeptEnding?
        let answer: CheckedContinuation<Result<Decision, StoreFailure>, Never>
    }

    /// What came of a batch.
    private struct Written: Sendable {
        var decisions: [Result<Decision, StoreFailure>] = []
        var events: [LedgerEvent] = []
        var isLong = false
        /// What had to wait, and ended in this commit.
        var over: [KeptEnding] = []
        var isCommitted = false

        mutating func add(_ new: [LedgerEvent]) {
            if events.isEmpty { events = new } else { events += new }
            isLong = isLong || new.count > EventRows.pieceMax
        }
    }

    private struct State {
        var queued: [Item] = []
        var isStopped = false
        var idle: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())
    private let store: any Store
    private let refusals: RefusalLedger
    private let clock: any WallClock
    private let uptime: @Sendable () -> Duration
    private let firsts: FirstPurchases?
    private let queuedMax: Int
    private let report: @Sendable (PipelineEvent) -> Void

    /// - Parameters:
    ///   - store: where batches go.
    ///   - refusals: what rides along with a commit.
    ///   - clock: dates what is recorded.
    ///   - uptime: measures commits; the time of day would not do, because it is set now and then.
    ///   - firsts: what follows from a customer's first purchase, in the same commit; `nil` for nothing.
    ///   - queuedMax: how many may wait; one more is told to try again later.
    ///   - report: hears of every batch.
    package init(
        store: any Store,
        refusals: RefusalLedger,
        clock: any WallClock,
        uptime: @escaping @Sendable () -> Duration,
        firsts: FirstPurchases? = nil,
        queuedMax: Int = 4_096,
        report: @escaping @Sendable (PipelineEvent) -> Void
    ) {
        self.store = store
        self.refusals = refusals
        self.clock = clock
        self.uptime = uptime
        self.firsts = firsts
        self.queuedMax = queuedMax
        self.report = report
    }

    /// Records one proof; returns once its batch is on disk.
    ///
    /// - Parameters:
    ///   - recording: what was proved.
    ///   - evidence: the proof.
    ///   - ofRenewal: that of its renewals, where they have one of their own.
    ///   - companion: writes what goes with it, in the same commit; `nil` for nothing.
    ///   - kept: the answer that is kept in the same commit, if it is to be given only once; not where nothing is written.
    ///   - ending: what had to wait for it, and ends in the same commit; `nil` for nothing.
    /// - Returns: what was decided.
    /// - Throws: `StoreFailure`; then nothing is known to have been written. `StoreFailure.conflict` also where an answer
    ///   is kept under its name already.
    package func record(
        _ recording: Recording,
        evidence: EvidenceRow,
        andOfRenewal ofRenewal: EvidenceRow? = nil,
        with companion: Companion? = nil,
        answering kept: KeptDecision? = nil,
        ending: KeptEnding? = nil
    ) async throws(StoreFailure) -> Decision {
        let result = await withCheckedContinuation { continuation in
            enqueue(
                Item(
                    recording: recording,
                    evidence: evidence,
                    ofRenewal: ofRenewal,
                    companion: companion,
                    kept: kept,
                    ending: ending,
                    answer: continuation
                )
            )
        }
        return try result.get()
    }

    /// Commits batches until ``stop()`` was called and nothing is queued. Exactly one task runs this.
    package func run() async {
        while true {
            let (batch, isLast) = takeBatch()
            if batch.isEmpty {
                if isLast { break }
                await waitForWork()
            } else {
                await commit(batch)
            }
        }
        await flushRefusals()
    }

    /// Takes nothing more in; what is queued is still committed.
    package func stop() {
        let idle = state.withLock { state in
            state.isStopped = true
            defer { state.idle = nil }
            return state.idle
        }
        idle?.resume()
    }

    private func enqueue(_ item: Item) {
        let (refusal, idle) = state.withLock { state -> (StoreFailure?, CheckedContinuation<Void, Never>?) in
            if state.isStopped { return (.closed, nil) }
            guard state.queued.count < queuedMax else { return (.busy, nil) }
            state.queued.append(item)
            defer { state.idle = nil }
            return (nil, state.idle)
        }
        idle?.resume()
        if let refusal { item.answer.resume(returning: .failure(refusal)) }
    }

    private func waitForWork() async {
        await withCheckedContinuation { continuation in
            let isNeeded = state.withLock { state in
                guard state.queued.isEmpty, !state.isStopped else { return false }
                state.idle = continuation
                return true
            }
            if !isNeeded { continuation.resume() }
        }
    }

    private func takeBatch() -> (batch: [Item], isLast: Bool) {
        state.withLock { state in
            var bytes = 0
            var count = 0
            for item in state.queued.prefix(Recorder.batchMax) {
                bytes += item.evidence.proof.count + (item.ofRenewal?.proof.count ?? 0)
                if count > 0, bytes > Recorder.batchBytesMax { break }
                count += 1
            }
            let batch = Array(state.queued.prefix(count))
            state.queued.removeFirst(count)
            return (batch, state.isStopped)
        }
    }

    private func commit(_ batch: [Item]) async {
        let began = uptime()
        let refused = refusals.takeUnwritten()
        do throws(StoreFailure) {
            let written = try await write(batch, refused)
            if !written.isCommitted { refusals.putBack(refused) }
            for ending in written.over { ending.whenOver() }
            for (item, decision) in zip(batch, written.decisions) { item.answer.resume(returning: decision) }
            if written.isCommitted { report(.committed(submissions: batch.count, duration: uptime() - began)) }
        } catch {
            refusals.putBack(refused)
            report(.commitFailed(submissions: batch.count, failure: error))
            await answer(batch, after: error)
        }
    }

    /// A disk that is full fails all alike; of a conflict each may be free when it is alone, and what cannot be written, or
    /// rests on a row that cannot be read, fails nobody but itself.
    private func answer(_ batch: [Item], after failure: StoreFailure) async {
        guard failure.mayConcernOne, batch.count > 1 else {
            for item in batch { item.answer.resume(returning: .failure(failure)) }
            return
        }
        for item in batch { await commit([item]) }
    }

    /// One batch, on the writer. Without anything new there is no commit; the refusals ride along when there is one.
    ///
    /// What the store cannot hold fails alone: it says so before it writes anything of it.
    private func write(_ batch: [Item], _ refused: RefusalBatch) async throws(StoreFailure) -> Written {
        let now = clock.now
        let firsts = firsts
        return try await store.write { transaction throws(StoreFailure) in
            // What was due by the store's clock is due again by it; and what had to wait was received by it.
            let isDue = batch.contains { $0.recording.isLookedUp || $0.ending != nil }
            let now = isDue ? try transaction.storeTime(now) : now
            // Read once, decide each in order, write once: the decisions are pure, so nobody can wait in here.
            let recordings = try Self.recordings(of: batch, at: now, in: transaction)
            var situation = try Self.situation(around: recordings, in: transaction)
            let books = try WaitingBooks(behind: recordings, in: situation, transaction)
            if !books.all.isEmpty { situation = try Self.situation(around: recordings + books.all, in: transaction) }
            // Nothing more is looked up.
            situation.asked = Inquiry()
            var written = Written()
            written.decisions.reserveCapacity(batch.count)
            for (place, item) in batch.enumerated() {
                let recording = recordings[place]
                // The same request, made twice at once.
                if let name = item.kept?.name, try transaction.keptAnswer(name) != nil {
                    written.decisions.append(.failure(.conflict))
                    continue
                }
                let decision: Decision
                let newcomers: [TransactionKey]
                do throws(StoreFailure) {
                    for earlier in books.before(place) {
                        try Self.take(earlier, by: item.evidence, &situation, &written, at: now, in: transaction)
                    }
                    decision = decide(situation, recording, ownToken: AccountToken.init(ofCustomer:), at: now)
                    // Before it is written: then whoever is in it is known.
                    newcomers = try firsts?.newcomers(of: decision, recording, in: transaction) ?? []
                    try transaction.apply(decision, evidence: item.evidence, andOfRenewal: item.ofRenewal)
                } catch .unstorable {
                    written.decisions.append(.failure(.unstorable))
                    continue
                }
                // For the next one. After the last one nobody looks, and of a long receipt it would be a large copy.
                if place + 1 < batch.count { situation.apply(decision) } else { situation = Situation() }
                written.add(decision.events)
                let writes = !decision.isEmpty || item.companion != nil || item.ending != nil
                written.isCommitted = written.isCommitted || writes
                try item.companion?(decision, transaction)
                if let ending = item.ending, try ending.settle(recording.settled, at: now, in: transaction) {
                    written.over.append(ending)
                }
                // A row for each repetition would let anybody who has one purchase fill the disk.
                if !decision.isEmpty { try item.kept?.keep(decision, in: transaction) }
                for key in newcomers { try firsts?.follow(key, transaction) }
                written.decisions.append(.success(decision))
            }
            if written.isCommitted, !refused.isEmpty {
                try transaction.addRefusals(counts: refused.counts, samples: refused.samples)
            }
            // Last: from here to the commit nobody else adds to the feed.
            try EventRows.append(written.events, inPieces: written.isLong, to: transaction)
            written.events = []
            return written
        }
    }

    private static func situation(
        around recordings: [Recording],
        in reader: any StoreReader
    ) throws(StoreFailure) -> Situation {
        try reader.situation(around: recordings, ownToken: AccountToken.init(ofCustomer:))
    }

    /// Takes out of another system's books what a proof tells of, before that is decided.
    private static func take(
        _ recording: Recording,
        by evidence: EvidenceRow,
        _ situation: inout Situation,
        _ written: inout Written,
        at now: Timestamp,
        in transaction: any StoreTransaction
    ) throws(StoreFailure) {
        let decision = decide(situation, recording, ownToken: AccountToken.init(ofCustomer:), at: now)
        try transaction.apply(decision, evidence: evidence)
        situation.apply(decision)
        written.add(decision.events)
        written.isCommitted = written.isCommitted || !decision.isEmpty
    }

    /// What each is to record, with what is to be told of those that had to wait.
    private static func recordings(
        of batch: [Item],
        at now: Timestamp,
        in reader: any StoreReader
    ) throws(StoreFailure) -> [Recording] {
        var recordings: [Recording] = []
        recordings.reserveCapacity(batch.count)
        for item in batch {
            var recording = item.recording
            recording.settled = try item.ending?.told(at: now, in: reader)
            recordings.append(recording)
        }
        return recordings
    }

    private func flushRefusals() async {
        let refused = refusals.takeUnwritten()
        guard !refused.isEmpty else { return }
        do throws(StoreFailure) {
            try await store.write { transaction throws(StoreFailure) in
                try transaction.addRefusals(counts: refused.counts, samples: refused.samples)
            }
        } catch {
            refusals.putBack(refused)
        }
    }
}

extension StoreFailure {
    /// Whether a batch may fail by it because of one of its proofs alone.
    fileprivate var mayConcernOne: Bool {
        switch self {
        case .conflict, .unstorable, .broken: true
        case .busy, .unreachable, .full, .closed: false
        }
    }
}
