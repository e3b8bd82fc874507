import Jobs
import Pipeline
import PurchaseModel
import Storage
import TestSupport
import Testing

/// What leaves the ledger after a while, in each of the stores.
@Suite struct HousekeepingTests {
    private static let app = AppID(checked: "shop")
    private static let now = Timestamp(seconds: 1_800_000_000)
    private static let year = Duration.seconds(365 * 86_400)

    enum Kind: CaseIterable {
        case memory
        case sqlite
        case postgresql

        static var allCases: [Kind] { TestDatabase.url == nil ? [.memory, .sqlite] : [.memory, .sqlite, .postgresql] }

        func withStore(_ body: (any Store) async throws -> Void) async throws {
            switch self {
            case .memory: try await body(MemoryStore())
            case .sqlite:
                try await Tampering.withFolder { folder in
                    let store = try SQLiteStore.open(folder: folder + "/data")
                    try await body(store)
                    await store.close()
                }
            case .postgresql:
                try await Tampering.withSchema { settings in
                    let store = try await PostgreSQLStore.open(settings)
                    try await body(store)
                    await store.close()
                }
            }
        }
    }

    // MARK: Dead letters

    /// What it is about is gone: it is neither listed nor run again, and would be counted for ever. All else may be run again.
    @Test(arguments: Kind.allCases) func aDeadLetterGoesAfterWhatItIsAbout(kind: Kind) async throws {
        try await kind.withStore { store in
            let (kept, last) = (try Self.submission(1), try Self.submission(2))
            let asked = try Self.request("ask_kept")
            try await store.write { write throws(StoreFailure) in
                _ = try write.keepPending(kept)
                // The last that was kept is never forgotten: it stands in for those that come after.
                _ = try write.keepPending(last)
                try write.put(asked)
            }
            let gone = try #require(SubmissionID([UInt8](repeating: 9, count: SubmissionID.byteCount)))
            let jobs: [(name: String, kind: String, payload: [UInt8])] = [
                ("gone", ProofDecision.kind, ProofDecision(gone).payload),
                ("kept", ProofDecision.kind, ProofDecision(kept.id).payload),
                ("unread", ProofDecision.kind, Array("of a newer version".utf8)),
                ("newer", "proof.weigh", ProofDecision(gone).payload),
                ("asked", SupportAsking.kind, SupportAsking(asked).payload),
                ("unasked", SupportAsking.kind, SupportAsking(try Self.request("ask_gone")).payload),
            ]
            for job in jobs { try await Self.kill(job.name, job.kind, job.payload, in: store) }
            let waiting = NewJob(
                id: JobID(checked: "job_waiting"),
                kind: ProofDecision.kind,
                payload: ProofDecision(gone).payload,
                due: Self.now,
                createdAt: Self.now
            )
            try await store.write { write throws(StoreFailure) in _ = try write.enqueue(waiting) }
            let clock = ManualClock(Self.now)
            let housekeeping = Housekeeping(store: store, clock: clock)
            await housekeeping.sweep()
            #expect(try await Self.dead(in: store) == ["job_asked", "job_kept", "job_newer", "job_unread"])
            let found = try await store.read { reader throws(StoreFailure) in try reader.job(waiting.id) }
            #expect(found?.state == .pending)
            // Decided, and forgotten a month later: then this one is about nothing, too.
            let settlement = Settlement(verdict: "genuine", at: Self.now)
            try await store.write { write throws(StoreFailure) in _ = try write.settlePending(kept.id, as: settlement) }
            await housekeeping.sweep()
            #expect(try await Self.dead(in: store).contains("job_kept"))
            clock.advance(by: Settlement.keptFor + .seconds(1))
            await housekeeping.sweep()
            #expect(try await Self.dead(in: store) == ["job_asked", "job_newer", "job_unread"])
        }
    }

    /// A sweep looks at some of them, and the next one goes on behind those that stay.
    @Test(arguments: Kind.allCases) func aSweepGoesOnWhereTheOneBeforeHasEnded(kind: Kind) async throws {
        try await kind.withStore { store in
            let gone = try #require(SubmissionID([UInt8](repeating: 9, count: SubmissionID.byteCount)))
            for number in 0..<200 {
                try await Self.kill("\(1_000 + number)", "proof.weigh", [], in: store)
            }
            try await Self.kill("last", ProofDecision.kind, ProofDecision(gone).payload, in: store)
            let housekeeping = Housekeeping(store: store, clock: ManualClock(Self.now))
            let next = await housekeeping.sweep()
            #expect(try await Self.dead(in: store).count == 201)
            let beginning = await housekeeping.sweep(from: next)
            #expect(try await Self.dead(in: store).count == 200)
            #expect(beginning == Housekeeping.Places())
        }
    }

    /// A loop has the place of its sweep before.
    @Test func aLoopReachesAllOfThem() async throws {
        let store = MemoryStore()
        let gone = try #require(SubmissionID([UInt8](repeating: 9, count: SubmissionID.byteCount)))
        for number in 0..<200 { try await Self.kill("\(1_000 + number)", "proof.weigh", [], in: store) }
        try await Self.kill("last", ProofDecision.kind, ProofDecision(gone).payload, in: store)
        let sweeps = Noted<Bool>()
        await Housekeeping(store: store, clock: ManualClock(Self.now)).run(uptime: { .zero }) {
            sweeps.note(true)
            return sweeps.values.count < 2
        }
        #expect(try await Self.dead(in: store).count == 200)
    }

    private static func dead(in store: any Store) async throws -> [String] {
        var (ids, place): ([String], DeadLetterCursor?) = ([], nil)
        repeat {
            let start = place
            let page = try await store.read { reader throws(StoreFailure) in
                try reader.deadLetters(after: start, limit: DeadLetterPage.limitMax)
            }
            ids += page.jobs.map(\.id.text)
            place = page.next
        } while place != nil
        return ids.sorted()
    }

    private static func kill(_ name: String, _ kind: String, _ payload: [UInt8], in store: any Store) async throws {
        let job = NewJob(id: JobID(checked: "job_\(name)"), kind: kind, payload: payload, due: now, createdAt: now)
        let terms = LeaseTerms(owner: LeaseOwner(checked: "w"), duration: .seconds(30), now: now)
        try await store.write { write throws(StoreFailure) in
            _ = try write.enqueue(job)
            let claim = try write.claimJobs(kinds: [kind], .sound(limit: 1), terms: terms)
            let ended = claim.jobs.compactMap(\.hold).map { FinishedJob($0, as: .dead(because: "no")) }
            _ = try write.finishJobs(ended, at: now)
        }
    }

    private static func request(_ id: String) throws -> SupportRequest {
        SupportRequest(
            app: app,
            id: try #require(SupportRequestID(id)),
            kind: "order.look_up",
            askedBy: "backend",
            askedAt: now,
            question: Array(#"{"order_id":"MK1"}"#.utf8)
        )
    }

    private static func submission(_ seed: UInt8) throws -> PendingSubmission {
        PendingSubmission(
            id: try #require(SubmissionID([UInt8](repeating: seed, count: SubmissionID.byteCount))),
            app: app,
            digest: try #require(ProofDigest([UInt8](repeating: seed, count: 32))),
            format: "transaction_id",
            proof: [1],
            customer: nil,
            order: nil,
            reason: "only_an_id",
            receivedAt: now
        )
    }

    // MARK: Refused sign-ins

    /// Whoever guesses passwords writes a line each time; what people did stays.
    @Test(arguments: Kind.allCases) func refusedSignInsLeaveTheAuditLogAfterAYear(kind: Kind) async throws {
        try await kind.withStore { store in
            let words = (0..<450).map { $0 % 9 == 0 ? "signed_in" : AdminAction.signInRefused }
            let first = words.map { Self.action($0, at: Self.now) }
            try await Self.note(first, in: store)
            let clock = ManualClock(Self.now.advanced(by: Self.year))
            let housekeeping = Housekeeping(store: store, clock: clock)
            try await Self.note([Self.action(AdminAction.signInRefused, at: clock.now)], in: store)
            var places = await housekeeping.sweep()
            #expect(try await Self.actions(in: store).count == 451, "a year is not over before its end")
            clock.advance(by: .milliseconds(1))
            places = await housekeeping.sweep(from: places)
            let left = try await Self.actions(in: store)
            #expect(left.count == 51 && left.first?.at == clock.now.advanced(by: .milliseconds(-1)))
            #expect(left.dropFirst().allSatisfy { $0.action == "signed_in" })
            // Nothing is old any more: the next one looks at no more than what may come to be.
            #expect(await housekeeping.sweep(from: places) == places)
            try await Self.note([Self.action("signed_out", at: clock.now)], in: store)
            clock.advance(by: Self.year)
            await housekeeping.sweep(from: places)
            #expect(try await Self.actions(in: store).map(\.action).prefix(2) == ["signed_out", "signed_in"])
        }
    }

    private static func action(_ word: String, at moment: Timestamp) -> AdminAction {
        AdminAction(at: moment, admin: nil, remote: "192.0.2.1", action: word, subject: "ann")
    }

    private static func note(_ actions: [AdminAction], in store: any Store) async throws {
        try await store.write { write throws(StoreFailure) in
            for action in actions { try write.noteAdminAction(action) }
        }
    }

    private static func actions(in store: any Store) async throws -> [AdminAction] {
        try await store.read { reader throws(StoreFailure) in
            try reader.adminActions(before: nil, limit: AdminActionPage.limitMax).actions
        }
    }
}
