import Jobs
package import PurchaseModel
package import Storage
package import Verification

/// Who delivers what an import brings.
package enum ImportDelivery: String, Hashable, Sendable, CaseIterable {
    /// Another system has: the shop is told nothing, and no balance rises.
    case elsewhere = "none"
    /// Nobody has: it is granted as if it were presented now.
    case here = "grant"
}

/// Takes old purchases in, many in one commit: what they lead to, and how far the source was read.
///
/// A proof is verified here and now. What only Apple can decide is kept, in the same commit as the job that asks; the jobs
/// of all an app's imports are spread over the time that Apple's limits need for them, so that what customers wait for is asked
/// between them.
package struct Importer: Sendable {
    /// Rows of one commit, and the bytes of their proofs: few enough for other writers to come in between.
    package static let batchMax = 256
    package static let batchBytesMax = 4 << 20

    /// Plans in the write that keeps a row's proof how Apple is to be asked about it.
    package typealias Later = @Sendable (SubmissionID, Timestamp, any StoreTransaction) throws(StoreFailure) -> Void

    private let verifier: Verifier
    private let store: any Store
    private let app: AppPolicy
    private let delivery: ImportDelivery
    private let clock: any WallClock
    private let lanes: Int
    private let spacing: Duration
    private let reach: AppleReach
    private let later: Later

    /// - Parameters:
    ///   - verifier: proves what is signed.
    ///   - store: where purchases are recorded.
    ///   - app: whose they are.
    ///   - delivery: who delivers them.
    ///   - clock: dates what is recorded.
    ///   - lanes: how many proofs are verified at once.
    ///   - spacing: between two questions to Apple.
    ///   - reach: what Apple can be asked; what she cannot be is refused.
    ///   - later: plans a question to her.
    package init(
        verifier: Verifier,
        store: any Store,
        app: AppPolicy,
        delivery: ImportDelivery,
        clock: any WallClock,
        lanes: Int,
        spacing: Duration,
        reach: AppleReach,
        later: @escaping Later
    ) {
        self.verifier = verifier
        self.store = store
        self.app = app
        self.delivery = delivery
        self.clock = clock
        self.lanes = lanes
        self.spacing = spacing
        self.reach = reach
        self.later = later
    }

    /// How far a source was read; where it begins when nobody has read of it.
    package func progress(of id: ProofDigest) async throws(StoreFailure) -> ImportProgress {
        let (app, now) = (app.id, clock.now)
        return try await store.read { reader throws(StoreFailure) in
            if let found = try reader.importProgress(id) { return found }
            // By the clock that dates what Apple's answers lead to.
            return ImportProgress(id: id, app: app, startedAt: try reader.storeTime(now))
        }
    }

    /// How to go on: where the source was left. One that was read to its end is begun again if some of its rows were not taken,
    /// or Apple has refused some since: a key, an app or a certificate that was missing may be there by now, and what was
    /// taken is known.
    ///
    /// - Parameters:
    ///   - progress: how far the source was read.
    ///   - refused: how many of its rows ``refused(among:since:)`` has counted.
    /// - Returns: where to begin.
    /// - Throws: `StoreFailure`.
    package func continuation(
        of progress: ImportProgress,
        refusedSince refused: Int64
    ) async throws(StoreFailure) -> ImportProgress {
        guard progress.isDone, progress.counts.untaken > 0 || refused > 0 else { return progress }
        let now = clock.now
        return progress.begunAgain(
            at: try await store.read { reader throws(StoreFailure) in try reader.storeTime(now) }
        )
    }

    /// How many of the rows Apple was asked about and has refused, or not answered in time, since they were read. Nothing is
    /// verified for it.
    ///
    /// - Parameters:
    ///   - rows: of a source that was read to its end.
    ///   - progress: of that reading.
    /// - Returns: how many.
    /// - Throws: `StoreFailure`.
    package func refused(among rows: [ImportRow], since progress: ImportProgress) async throws(StoreFailure) -> Int64 {
        let names = rows.map { row in row.askedUnder(app.id) }
        let refusals = try await store.read { reader throws(StoreFailure) in
            try reader.refusals(of: names.flatMap(\.self), since: progress.startedAt)
        }
        guard !refusals.isEmpty else { return 0 }
        return Int64(names.count { $0.contains { refusals[$0] != nil } })
    }

    /// For how long Apple will go on being asked what imports of the app have planned, this one and those before it.
    package func questionsLast() async throws(StoreFailure) -> Duration {
        let (app, now) = (app.id, clock.now)
        return try await store.read { reader throws(StoreFailure) in
            try reader.importQuestionsLast(of: app, at: now)
        }
    }

    /// Takes rows in, which follow on those of the progress.
    ///
    /// - Parameters:
    ///   - rows: none when the source has ended.
    ///   - progress: of before.
    ///   - report: how each row is told of; `nil` tells of none.
    ///   - closedAt: when the books of the export of ours end that is read; `nil` for what else is.
    /// - Returns: the progress by now, and what became of each row.
    /// - Throws: `StoreFailure`; then nothing of them is known to be written, and the same is to be done again. A
    ///   `conflict` that stays means that somebody else reads the same source.
    package func take(
        _ rows: [ImportRow],
        after progress: ImportProgress,
        report: ImportReport?,
        closedAt: Timestamp? = nil
    ) async throws(StoreFailure) -> (progress: ImportProgress, outcomes: [ImportOutcome]) {
        let now = clock.now
        let examiner = ImportExaminer(
            verifier: verifier,
            app: app,
            delivery: delivery,
            reach: reach,
            startedAt: progress.startedAt,
            closedAt: closedAt,
            now: now
        )
        let examined = await examiner.examine(rows, lanes: lanes)
        let (spacing, later) = (spacing, later)
        return try await store.write { transaction throws(StoreFailure) in
            var batch = ImportBatch(after: progress, spacing: spacing, later: later, at: now)
            try batch.write(examined, in: transaction)
            let next = batch.progress(report: report)
            try transaction.noteImport(next)
            return (next, batch.outcomes)
        }
    }
}
