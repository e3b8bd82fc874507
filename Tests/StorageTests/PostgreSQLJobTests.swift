import Foundation
import Storage
import TestSupport
import Testing

/// What two servers do to each other's jobs.
@Suite(.enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"))
struct PostgreSQLJobTests {
    /// The one that came first holds what it has claimed until the other has claimed, too.
    @Test(.enabled(if: !PostgreSQLServer.isPortable, "nothing that is locked is passed over"))
    func whoClaimsPassesOverWhatAnotherIsClaiming() async throws {
        try await Self.withTwo { first, second, _ in
            let jobs = try (0..<20).map { try OutboxSamples.job("\($0 + 10)", due: Int64($0)) }
            try await first.write { transaction throws(StoreFailure) in
                for job in jobs { _ = try transaction.enqueue(job) }
            }
            let (hasClaimed, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let terms = try OutboxSamples.terms("w1", at: 99)
            async let others = Self.after(hasClaimed) {
                defer { isOver.signal() }
                return try await second.jobs(.sound(limit: 5), "w2", at: 99).jobs.map(\.id)
            }
            let mine = try await first.write { transaction throws(StoreFailure) in
                let claim = try transaction.claimJobs(kinds: ["mail"], .sound(limit: 10), terms: terms)
                hasClaimed.signal()
                #expect(isOver.wait(timeout: .now() + 30) == .success, "the other waited")
                return claim.jobs.map(\.id)
            }
            #expect(mine == jobs.prefix(10).map(\.id))
            #expect(try await others == jobs[10..<15].map(\.id))
        }
    }

    /// Whatever becomes of some jobs, they are locked in the same order: who renews the first goes on to the second while
    /// the other waits for the first.
    @Test(.enabled(if: !PostgreSQLServer.isPortable, "whoever waited is turned back"))
    func whoFinishesAndWhoRenewsDoNotWaitForEachOther() async throws {
        try await Self.withTwo { first, second, name in
            for name in ["a", "b"] { try await first.add(try OutboxSamples.job(name)) }
            let holds = try await first.jobs(.sound(limit: 2), "w", at: 0).jobs.compactMap(\.hold)
            let finished = [
                FinishedJob(holds[0], as: .again(after: .zero, because: "later")), FinishedJob(holds[1], as: .done),
            ]
            let hasRenewed = DispatchSemaphore(value: 0)
            let terms = try OutboxSamples.terms("w", at: 1)
            // Of two that wait for each other the database ends one, which is tried again.
            let (renewals, endings) = (Counter(), Counter())
            async let isHeld = Self.after(hasRenewed) {
                try await second.write { transaction throws(StoreFailure) in
                    endings.add()
                    return try transaction.finishJobs(finished, at: OutboxSamples.at(2))
                }
            }
            let renewed = try await first.write { transaction throws(StoreFailure) in
                renewals.add()
                var renewed = try transaction.renewJobs([holds[0]], terms: terms)
                if renewals.count == 1 {
                    hasRenewed.signal()
                    Self.untilOneWaits(name)
                }
                renewed += try transaction.renewJobs([holds[1]], terms: terms)
                return renewed
            }
            #expect(renewed == holds)
            #expect(try await isHeld == [true, true])
            #expect(renewals.count == 1)
            #expect(endings.count == 1)
        }
    }

    /// Two servers of one database, and the name by which it knows them.
    static func withTwo(
        _ body: (PostgreSQLStore, PostgreSQLStore, String) async throws -> Void
    ) async throws {
        try await PostgreSQLServer.withSchema { schema in
            // A circle of two that wait is found within a second; who merely waits is to wait as long as it takes.
            let settings = try PostgreSQLServer.namedSettings(schema: schema) {
                $0.lockTimeout = .seconds(60)
                $0.idleTimeout = .seconds(60)
            }
            let first = try await PostgreSQLStore.open(settings)
            let second = try await PostgreSQLStore.open(settings)
            let result: Result<Void, any Error>
            do { result = .success(try await body(first, second, schema)) } catch { result = .failure(error) }
            await first.close()
            await second.close()
            try result.get()
        }
    }

    /// Begins once a semaphore was signalled.
    static func after<Value: Sendable>(
        _ semaphore: DispatchSemaphore,
        _ work: sending () async throws -> Value
    ) async throws -> Value {
        while semaphore.wait(timeout: .now()) == .timedOut { try await Task.sleep(for: .milliseconds(1)) }
        return try await work()
    }

    /// Until a session of this name waits for a row that another has locked.
    static func untilOneWaits(_ name: String) {
        let waiting = "SELECT 1 FROM pg_stat_activity WHERE application_name = '\(name)' AND wait_event_type = 'Lock'"
        for _ in 0..<1_000 {
            do {
                if !(try TestDatabase.query(waiting)).isEmpty { return }
            } catch { Issue.record(error) }
        }
        Issue.record("nobody waits")
    }
}
