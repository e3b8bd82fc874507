import Foundation
import Jobs
import Pipeline
import PurchaseModel
import Storage
import TestSupport
import Testing

/// One server wants a job that waits already, and before its write is kept another comes to claim that job.
@Suite(.enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"))
struct HeldJobTests {
    enum Wish: CaseIterable {
        case hasten
        case follow
        /// While the first one runs, the one after it waits.
        case hastenAnother
    }

    /// Else it would run, find nothing to do, and be gone when what it was wanted for is kept.
    @Test(arguments: Wish.allCases) func whatIsWantedIsNotClaimedBeforeThatIsKept(wish: Wish) async throws {
        try await Tampering.withSchema { settings in
            let (first, second) = (try await PostgreSQLStore.open(settings), try await PostgreSQLStore.open(settings))
            let time = ManualClock(Timestamp(milliseconds: 0))
            let queue = JobQueue(store: first, clock: time) { .random(in: 0 ... .max) }
            let job = ProofDecision(try #require(SubmissionID([UInt8](repeating: 7, count: 16))))
            try await queue.enqueue(job)
            if wish == .hastenAnother {
                #expect(try await Self.claim(second, at: time.now).count == 1)
                try await first.write { write throws(StoreFailure) in try queue.hasten(job, in: write) }
                time.advance(by: .seconds(60))
            }
            let (isWanted, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            async let early = Self.after(isWanted) {
                defer { isOver.signal() }
                return try await Self.claim(second, at: time.now).count
            }
            try await first.write { write throws(StoreFailure) in
                switch wish {
                case .hasten, .hastenAnother: try queue.hasten(job, in: write)
                case .follow: try queue.follow(job, after: .zero, in: write)
                }
                isWanted.signal()
                #expect(isOver.wait(timeout: .now() + 30) == .success, "the other waited")
            }
            #expect(try await early == 0)
            #expect(try await Self.claim(second, at: time.now).count == 1)
            await first.close()
            await second.close()
        }
    }

    private static func claim(_ store: PostgreSQLStore, at now: Timestamp) async throws -> [JobRow] {
        let terms = LeaseTerms(owner: LeaseOwner(checked: "w"), duration: .seconds(600), now: now)
        return try await store.write { write throws(StoreFailure) in
            try write.claimJobs(kinds: [ProofDecision.kind], .sound(limit: 9), terms: terms).jobs
        }
    }

    /// Begins once a semaphore was signalled.
    private static func after(
        _ semaphore: DispatchSemaphore,
        _ work: sending () async throws -> Int
    ) async throws -> Int {
        while semaphore.wait(timeout: .now()) == .timedOut { try await Task.sleep(for: .milliseconds(1)) }
        return try await work()
    }
}
