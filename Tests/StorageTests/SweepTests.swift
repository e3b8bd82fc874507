import PurchaseModel
import Storage
import Testing

/// What is forgotten now and then, and what stays beside it.
@Suite struct SweepTests {
    private static func action(_ at: Int64, _ word: String = AdminAction.signInRefused) -> AdminAction {
        AdminAction(at: Timestamp(milliseconds: at), admin: nil, remote: "192.0.2.1", action: word)
    }

    private static func sweep(
        _ store: any Store,
        after place: Int64,
        limit: Int
    ) async throws(StoreFailure) -> Int64 {
        try await store.write { write throws(StoreFailure) in
            try write.sweepRefusedSignIns(
                olderThan: .milliseconds(900),
                at: Timestamp(milliseconds: 1_000),
                after: place,
                limit: limit
            )
        }
    }

    private static func kill(_ job: JobRow, in store: any Store) async throws -> Bool {
        let hold = try #require(job.hold)
        return try await store.finish([FinishedJob(hold, as: .dead(because: "no"))], at: 1) == [true]
    }

    private static func listed(_ store: any Store) async throws -> [Int64] {
        var (moments, place): ([Int64], Int64?) = ([], nil)
        repeat {
            let start = place
            let page = try await store.read { reader throws(StoreFailure) in
                try reader.adminActions(before: start, limit: 2)
            }
            moments += page.actions.map(\.at.milliseconds)
            place = page.next
        } while place != nil
        return moments
    }

    /// In steps, past what is younger: clocks differ. The newest of all stays, for its number names the one after it.
    @Test(arguments: StoreKind.allCases)
    func refusedSignInsOfLongAgoAreForgottenStepByStep(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let rows = [
                Self.action(10, "signed_in"), Self.action(20), Self.action(9_000), Self.action(30), Self.action(100),
                Self.action(40, "signed_in"), Self.action(50),
            ]
            try await store.write { write throws(StoreFailure) in
                for row in rows { try write.noteAdminAction(row) }
            }
            var places: [Int64] = [0]
            for _ in 0..<5 { places.append(try await Self.sweep(store, after: places.last ?? 0, limit: 2)) }
            // A database gives numbers of its own, one after the other within a write.
            let first = places[1] - 2
            #expect(places.dropFirst().map { $0 - first } == [2, 4, 6, 7, 7])
            #expect(try await Self.listed(store) == [50, 40, 100, 9_000, 10])
            try await store.write { write throws(StoreFailure) in try write.noteAdminAction(Self.action(60, "made")) }
            #expect(try await Self.listed(store) == [60, 50, 40, 100, 9_000, 10])
            #expect(try await Self.sweep(store, after: 0, limit: 9) > places[5])
            #expect(try await Self.listed(store) == [60, 40, 100, 9_000, 10])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func whatIsSweptInAWriteThatFailsStays(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await store.add(try OutboxSamples.job("a"))
            let job = try #require(try await store.jobs(.sound(limit: 1), "w", at: 0).jobs.first)
            #expect(try await Self.kill(job, in: store))
            try await store.write { write throws(StoreFailure) in
                for at in [Int64(1), 2] { try write.noteAdminAction(Self.action(at)) }
            }
            await #expect(throws: StoreFailure.conflict) {
                try await store.write { write throws(StoreFailure) in
                    _ = try write.forgetDeadJobs([job.id])
                    _ = try write.sweepRefusedSignIns(
                        olderThan: .zero,
                        at: Timestamp(milliseconds: 9),
                        after: 0,
                        limit: 9
                    )
                    throw .conflict
                }
            }
            #expect(try await store.read { reader throws(StoreFailure) in try reader.job(job.id) }?.state == .dead)
            #expect(try await Self.listed(store) == [2, 1])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func onlyWhatIsDeadIsForgotten(kind: StoreKind) async throws {
        try await kind.withStore { store in
            for name in ["a", "b", "c"] { try await store.add(try OutboxSamples.job(name)) }
            for job in try await store.jobs(.sound(limit: 3), "w", at: 0).jobs where job.id.text != "job_b" {
                #expect(try await Self.kill(job, in: store))
            }
            try await store.add(try OutboxSamples.job("d", due: 9))
            let ids = try ["d", "c", "b", "never", "c"].map(OutboxSamples.jobID)
            let counts = try await store.write { write throws(StoreFailure) in
                [try write.forgetDeadJobs(ids), try write.forgetDeadJobs(ids), try write.forgetDeadJobs([])]
            }
            #expect(counts == [1, 0, 0])
            let left = try await store.read { reader throws(StoreFailure) in
                try ["a", "b", "c", "d"].map { name throws(StoreFailure) in
                    try reader.job(JobID(checked: "job_\(name)"))?.state
                }
            }
            #expect(left == [.dead, .leased, nil, .pending])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func whichSubmissionsAreKeptIsFoundByTheirIDs(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let (waiting, settled) = (try Samples.submission(1), try Samples.submission(2))
            try await store.write { write throws(StoreFailure) in
                _ = try write.keepPending(waiting)
                _ = try write.keepPending(settled)
                _ = try write.settlePending(settled.id, as: Settlement(verdict: "genuine", at: Samples.now))
            }
            let asked = [try Samples.submissionID(3), settled.id, waiting.id, settled.id]
            let kept = try await store.read { reader throws(StoreFailure) in
                [try reader.keptSubmissions(among: asked), try reader.keptSubmissions(among: [])]
            }
            #expect(kept == [[waiting.id, settled.id], []])
        }
    }
}
