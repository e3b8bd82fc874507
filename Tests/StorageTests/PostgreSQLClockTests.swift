import PurchaseModel
import Storage
import TestSupport
import Testing

/// Servers whose clocks are wrong share a database with others: what is due, and for how long something is kept, goes by
/// the database's clock.
@Suite(.enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"))
struct PostgreSQLClockTests {
    /// Far ahead of any clock that runs these tests, and far behind it.
    private static let wrong: [Int64] = [4_000_000_000_000, 1_000]

    @Test(arguments: wrong)
    func whatAServerLearnsIsDueAtOnce(clock: Int64) async throws {
        try await PostgreSQLServer.withStore({ $0.leaseClock = .database }) { store in
            try await store.create(try OutboxSamples.endpoint("a"))
            try await store.append([try OutboxSamples.event("1", 1, learnedAt: clock)])
            let claimed = try await store.claim("a", try OutboxSamples.terms("w", at: 0))
            #expect(claimed.map(\.event.id.text) == ["evt_1"])
            #expect(claimed.first?.event.learnedAt == OutboxSamples.at(clock))
        }
    }

    /// An endpoint that failed a moment ago has not failed for days, whoever looks.
    @Test(arguments: wrong)
    func howLongAnEndpointFailsGoesByOneClock(clock: Int64) async throws {
        try await PostgreSQLServer.withStore({ $0.leaseClock = .database }) { store in
            try await store.create(try OutboxSamples.endpoint("a"))
            try await store.append([try OutboxSamples.event("1", 1)])
            let claimed = try await store.claim("a", try OutboxSamples.terms("w", at: clock)).first
            let hold = try #require(claimed).hold
            _ = try await store.finish(hold, .again(after: .zero), at: clock)
            let (since, now) = try await store.read { reader throws(StoreFailure) in
                (
                    try reader.webhookFigures(hold.id.endpoint)?.failingSince,
                    try reader.storeTime(OutboxSamples.at(clock))
                )
            }
            let failing = try #require(since).duration(to: now)
            #expect(failing >= .zero && failing < .seconds(3_600))
        }
    }

    @Test(arguments: wrong)
    func whatIsTriedAgainWaitsByOneClock(clock: Int64) async throws {
        try await PostgreSQLServer.withStore({ $0.leaseClock = .database }) { store in
            let job = try OutboxSamples.job("1", due: 0)
            _ = try await store.write { transaction throws(StoreFailure) in try transaction.enqueue(job) }
            let claimed = try #require(try await store.jobs(.sound(limit: 1), "w", at: clock).jobs.first)
            let hold = try #require(claimed.hold)
            let ending = JobEnding.again(after: .seconds(7_200), because: "later")
            #expect(try await store.finish([FinishedJob(hold, as: ending)], at: clock) == [true])
            let (due, now) = try await store.read { reader throws(StoreFailure) in
                (try reader.job(job.id)?.dueAt, try reader.storeTime(OutboxSamples.at(clock)))
            }
            let wait = now.duration(to: try #require(due))
            #expect(wait > .seconds(3_600) && wait <= .seconds(7_200))
        }
    }

    /// What is to wait two hours waits for them, from the database's now on, whenever the server thinks that it is.
    @Test(arguments: wrong)
    func whatIsAddedWaitsByOneClock(clock: Int64) async throws {
        try await PostgreSQLServer.withStore({ $0.leaseClock = .database }) { store in
            var later = try OutboxSamples.job("1", due: clock)
            later.due = later.createdAt.advanced(by: .seconds(7_200))
            try await store.add(later)
            try await store.add(try OutboxSamples.job("2", due: clock))
            let (waits, id) = (later, later.id)
            let (row, now) = try await store.read { reader throws(StoreFailure) in
                (try reader.job(id), try reader.storeTime(waits.createdAt))
            }
            let wait = now.duration(to: try #require(row).dueAt)
            #expect(wait > .seconds(3_600) && wait <= .seconds(7_200))
            let due = try await store.jobs(.sound(limit: 9), "w", at: 0).jobs.map(\.job.id.text)
            #expect(due == ["job_2"])
        }
    }

    /// Who brings a job forward, or a dead letter back, has it run now and neither years later nor never.
    @Test(arguments: wrong)
    func whatIsBroughtForwardIsDueNow(clock: Int64) async throws {
        try await PostgreSQLServer.withStore({ $0.leaseClock = .database }) { store in
            var later = try OutboxSamples.job("1", due: clock)
            later.due = later.createdAt.advanced(by: .seconds(7_200))
            try await store.add(later)
            let id = later.id
            let isHastened = try await store.write { write throws(StoreFailure) in
                try write.hastenJob(id, at: OutboxSamples.at(clock))
            }
            #expect(isHastened)
            let hold = try #require(try await store.jobs(.sound(limit: 9), "w", at: 0).jobs.first?.hold)
            #expect(try await store.finish([FinishedJob(hold, as: .dead(because: "no"))], at: clock) == [true])
            let isRevived = try await store.write { write throws(StoreFailure) in
                try write.reviveJob(id, at: OutboxSamples.at(clock))
            }
            #expect(isRevived)
            let (due, now) = try await store.read { reader throws(StoreFailure) in
                (try reader.job(id)?.dueAt, try reader.storeTime(OutboxSamples.at(clock)))
            }
            let age = try #require(due).duration(to: now)
            #expect(age >= .zero && age < .seconds(3_600))
        }
    }

    /// A server whose clock is far ahead does not give up what came a moment ago, and one that is far behind has what it
    /// keeps wait as long as any other.
    @Test(arguments: wrong, wrong)
    func nothingThatWaitsIsGivenUpEarly(keptAt: Int64, sweptAt: Int64) async throws {
        try await PostgreSQLServer.withStore({ $0.leaseClock = .database }) { store in
            var submission = try Samples.submission(1)
            submission.receivedAt = OutboxSamples.at(keptAt)
            let pending = submission
            let (hour, swept) = (Duration.seconds(3_600), OutboxSamples.at(sweptAt))
            let counts = try await store.write { transaction throws(StoreFailure) in
                _ = try transaction.keepPending(pending)
                return [
                    try transaction.giveUpPending(olderThan: hour, at: swept, limit: 10),
                    try transaction.giveUpPending(olderThan: .zero - hour, at: swept, limit: 10),
                ]
            }
            #expect(counts.map { $0.map(\.id) } == [[], [pending.id]])
            let (kept, now) = try await store.read { reader throws(StoreFailure) in
                (try reader.submission(pending.id), try reader.storeTime(swept))
            }
            for moment in [kept?.submission.receivedAt, kept?.settlement?.at] {
                let age = try #require(moment).duration(to: now)
                #expect(age >= .zero && age < hour)
            }
        }
    }

    /// A server whose clock is days ahead forgets nothing that the others still answer by, and one whose clock is behind
    /// keeps nothing that looks old to them.
    @Test(arguments: wrong, wrong)
    func noAnswerIsForgottenEarly(keptAt: Int64, sweptAt: Int64) async throws {
        try await PostgreSQLServer.withStore({ $0.leaseClock = .database }) { store in
            let answer = OutboxSamples.answer("k", keptAt: keptAt)
            let swept = try await store.write { transaction throws(StoreFailure) in
                try transaction.keepAnswer(answer)
                return try transaction.sweepAnswers(
                    olderThan: .seconds(3_600),
                    at: OutboxSamples.at(sweptAt),
                    limit: 10
                )
            }
            #expect(swept == 0)
            let kept = try await store.read { reader throws(StoreFailure) in try reader.keptAnswer(answer.name) }
            #expect(kept?.body == answer.body)
        }
    }
}
