import PurchaseModel
import Storage
import Testing

/// What is forgotten now and then, and what stays beside it.
@Suite struct SweepTests {
    private static func kill(_ job: JobRow, in store: any Store) async throws -> Bool {
        let hold = try #require(job.hold)
        return try await store.finish([FinishedJob(hold, as: .dead(because: "no"))], at: 1) == [true]
    }

    @Test(arguments: StoreKind.allCases)
    func whatIsSweptInAWriteThatFailsStays(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await store.add(try OutboxSamples.job("a"))
            let job = try #require(try await store.jobs(.sound(limit: 1), "w", at: 0).jobs.first)
            #expect(try await Self.kill(job, in: store))
            await #expect(throws: StoreFailure.conflict) {
                try await store.write { write throws(StoreFailure) in
                    _ = try write.forgetDeadJobs([job.id])
                    throw .conflict
                }
            }
            #expect(try await store.read { reader throws(StoreFailure) in try reader.job(job.id) }?.state == .dead)
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
