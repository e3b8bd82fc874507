import PurchaseModel
import Storage
import TestSupport
import Testing

/// Jobs that end at the same time are finished in one commit, and each as if it were alone.
@Suite struct JobBatchTests {
    @Test(arguments: StoreKind.allCases)
    func aLostLeaseSpoilsNoOther(kind: StoreKind) async throws {
        try await kind.withStore { store in
            for name in ["a", "b", "c", "d", "e", "f"] { try await store.add(try OutboxSamples.job(name)) }
            let mine = try await store.jobs(.sound(limit: 9), "w1", at: 0).jobs.compactMap(\.hold)
            #expect(mine.map(\.id.text) == ["job_a", "job_b", "job_c", "job_d", "job_e", "job_f"])
            // The first is another's by now; the others' leases have run out, and nobody came for them.
            let lost = try await store.jobs(.suspect, "w2", at: 20_000).jobs.compactMap(\.hold)
            #expect(lost.map(\.id) == [mine[0].id])
            var unknown = mine[1]
            unknown.token += 1
            let finished = [
                FinishedJob(mine[0], as: .done),
                FinishedJob(mine[4], as: .released),
                FinishedJob(unknown, as: .done),
                FinishedJob(mine[1], as: .done),
                FinishedJob(mine[2], as: .again(after: .seconds(5), because: "later")),
                // Again what was said before, and otherwise.
                FinishedJob(mine[2], as: .again(after: .seconds(9), because: "much later")),
                FinishedJob(mine[2], as: .done),
                FinishedJob(mine[3], as: .dead(because: "no")),
                FinishedJob(lost[0], as: .released),
            ]
            let isHeld = try await store.finish(finished, at: 20_001)
            #expect(isHeld == [false, true, false, true, true, false, false, true, true])
            let rows = try await store.rows(mine)
            #expect(rows.map(\.?.state) == [.suspect, nil, .pending, .dead, .pending, .leased])
            #expect(rows.map(\.?.dueAt.milliseconds) == [20_001, nil, 25_001, 10_000, 20_001, 10_000])
            #expect(rows.map(\.?.attempt) == [1, nil, 1, 1, 0, 1])
            #expect(rows.map(\.?.lostLeases) == [1, nil, 0, 0, 0, 0])
            #expect(rows.map(\.?.reason) == [nil, nil, "later", "no", nil, nil])
            #expect(rows.map(\.?.diedAt?.milliseconds) == [nil, nil, nil, 20_001, nil, nil])
            #expect(rows.map { $0?.lease != nil } == [false, false, false, false, false, true])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func whatCannotBeStoredIsRefusedBeforeAnythingIsWritten(kind: StoreKind) async throws {
        try await kind.withStore { store in
            for name in ["a", "b", "c"] { try await store.add(try OutboxSamples.job(name)) }
            let holds = try await store.jobs(.sound(limit: 9), "w", at: 0).jobs.compactMap(\.hold)
            let finished = [
                FinishedJob(holds[0], as: .done), FinishedJob(holds[1], as: .dead(because: "no\0word")),
                FinishedJob(holds[2], as: .again(after: .zero, because: "later")),
            ]
            let failure = try await store.write { transaction throws(StoreFailure) -> StoreFailure? in
                do throws(StoreFailure) {
                    _ = try transaction.finishJobs(finished, at: OutboxSamples.at(1))
                    return nil
                } catch { return error }
            }
            #expect(failure == .unstorable)
            #expect(try await store.rows(holds).map(\.?.state) == [.leased, .leased, .leased])
            #expect(try await store.finish(holds.map { FinishedJob($0, as: .done) }, at: 2) == [true, true, true])
            #expect(try await store.finish([], at: 2) == [])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func hundredsEndAtOnce(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let count = JobClaim.limitMax
            let jobs = try (0...count).map { try OutboxSamples.job("\($0)", due: Int64($0)) }
            try await store.write { transaction throws(StoreFailure) in
                for job in jobs { _ = try transaction.enqueue(job) }
            }
            let claim = try await store.jobs(.sound(limit: count + 1), "w", at: 1_000)
            #expect(claim.jobs.map(\.id) == jobs.prefix(count).map(\.id))
            let holds = claim.jobs.compactMap(\.hold)
            let finished = holds.enumerated().map { place, hold in
                let endings = [JobEnding.done, .again(after: .zero, because: "\(place)"), .dead(because: "\(place)")]
                return FinishedJob(hold, as: endings[place % 3])
            }
            // In another order than that of the claim.
            let shuffled = finished.reversed() as [FinishedJob]
            #expect(try await store.renew(shuffled.map(\.hold), "w", at: 1_500) == shuffled.map(\.hold))
            #expect(try await store.finish(shuffled, at: 2_000) == [Bool](repeating: true, count: count))
            let rows = try await store.rows(holds)
            for (place, row) in rows.enumerated() {
                #expect(row?.state == [nil, .pending, .dead][place % 3])
                #expect(row?.reason == (place % 3 == 0 ? nil : "\(place)"))
            }
            #expect(try await store.finish(finished, at: 2_000) == [Bool](repeating: false, count: count))
        }
    }

    /// What memory does one after the other is what it means.
    @Test(arguments: StoreKind.allCases, UInt64(0)..<12)
    func togetherIsTheSameAsOneByOne(kind: StoreKind, seed: UInt64) async throws {
        try await kind.withStore { together in
            let alone = MemoryStore()
            var random = SeededRandom(seed: seed)
            let jobs = try (1...40).map {
                try OutboxSamples.job("\($0)", kind: $0 % 3 == 0 ? "print" : "mail", due: Int64($0))
            }
            for store in [together, alone] as [any Store] { for job in jobs { try await store.add(job) } }
            var holds: [JobHold] = []
            for step in Int64(1)...20 {
                // Some leases run out before they are finished.
                let terms = LeaseTerms(
                    owner: try OutboxSamples.terms(Bool.random(using: &random) ? "w1" : "w2", at: 0).owner,
                    duration: .milliseconds(Int64.random(in: 5...200, using: &random)),
                    now: OutboxSamples.at(step * 50)
                )
                let selection: JobSelection =
                    Bool.random(using: &random) ? .suspect : .sound(limit: Int.random(in: 1...9, using: &random))
                let claimed = try await together.claim(selection, terms)
                try #require(try await alone.claim(selection, terms) == claimed)
                holds += claimed.jobs.compactMap(\.hold)
                let finished = holds.shuffled(using: &random).prefix(Int.random(in: 0...9, using: &random)).map {
                    FinishedJob($0, as: Self.ending(&random))
                }
                let answers = try await together.finish(finished, at: step * 50 + 20)
                var expected: [Bool] = []
                for item in finished { expected += try await alone.finish([item], at: step * 50 + 20) }
                try #require(answers == expected, "step \(step)")
                let names = jobs.map { JobHold(id: $0.id, owner: terms.owner, token: 0) }
                try #require(try await together.rows(names) == (try await alone.rows(names)), "step \(step)")
            }
        }
    }

    /// Whoever claims at the same moment gets others, and no more than asked for.
    @Test(arguments: StoreKind.allCases)
    func noJobIsClaimedTwice(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let jobs = try (0..<200).map { try OutboxSamples.job("\($0)", kind: $0 % 2 == 0 ? "mail" : "print") }
            try await store.write { transaction throws(StoreFailure) in
                for job in jobs { _ = try transaction.enqueue(job) }
            }
            let claimed = try await withThrowingTaskGroup(of: [JobRow].self) { group in
                for worker in 0..<4 {
                    group.addTask {
                        var claimed: [JobRow] = []
                        while try await store.read({ reader throws(StoreFailure) in
                            try reader.hasDueJobs(kinds: ["mail", "print"], at: OutboxSamples.at(9))
                        }) {
                            let claim = try await store.jobs(.sound(limit: 7), "w\(worker)", at: 9)
                            #expect(claim.jobs.count <= 7)
                            let finished = claim.jobs.compactMap(\.hold).map { FinishedJob($0, as: .done) }
                            #expect(try await store.finish(finished, at: 9).allSatisfy { $0 })
                            claimed += claim.jobs
                        }
                        return claimed
                    }
                }
                return try await group.reduce([], +)
            }
            #expect(claimed.count == jobs.count)
            #expect(Set(claimed.map(\.id)) == Set(jobs.map(\.id)))
            #expect(claimed.allSatisfy { $0.attempt == 1 && $0.lostLeases == 0 })
        }
    }

    private static func ending(_ random: inout SeededRandom) -> JobEnding {
        switch Int.random(in: 0...6, using: &random) {
        case 0: .done
        case 3: .afresh(after: .milliseconds(Int64.random(in: 0...90, using: &random)), because: "later")
        case 1: .dead(because: "no")
        case 2: .released
        default: .again(after: .milliseconds(Int64.random(in: 0...90, using: &random)), because: "later")
        }
    }
}

extension Store {
    fileprivate func claim(_ selection: JobSelection, _ terms: LeaseTerms) async throws -> JobClaim {
        try await write { transaction throws(StoreFailure) in
            try transaction.claimJobs(kinds: ["mail", "print"], selection, terms: terms)
        }
    }

    /// Of the jobs that are held.
    fileprivate func rows(_ holds: [JobHold]) async throws -> [JobRow?] {
        try await read { reader throws(StoreFailure) in
            try holds.map { hold throws(StoreFailure) in try reader.job(hold.id) }
        }
    }
}
