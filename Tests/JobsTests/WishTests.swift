import Jobs
import PurchaseModel
import Storage
import Testing

/// Jobs that are wanted again while one of their kind and key runs.
@Suite struct WishTests {
    /// Runs all that it claims, and comes to no end.
    private final class Runner {
        let workshop = Workshop()
        private var holds: [JobHold] = []

        private func terms() -> LeaseTerms {
            LeaseTerms(owner: LeaseOwner(checked: "w"), duration: .seconds(30), now: workshop.time.now)
        }

        /// The words of what is due by then.
        func claim(after pause: Duration) async throws -> [String] {
            for _ in 0..<2 {
                workshop.time.advance(by: pause / 2)
                _ = try await workshop.store.write { [holds, terms = terms()] write throws(StoreFailure) in
                    try write.renewJobs(holds, terms: terms)
                }
            }
            let rows = try await workshop.store.write { [terms = terms()] write throws(StoreFailure) in
                try write.claimJobs(kinds: [Errand.kind], .sound(limit: 9), terms: terms).jobs
            }
            holds += rows.compactMap(\.hold)
            return workshop.words(of: rows)
        }
    }

    /// Each is for what those that run may not have seen: one more comes after them, however many run.
    @Test(arguments: [false, true]) func whatIsWantedWhileOthersRunComesAfterThem(isHastened: Bool) async throws {
        let runner = Runner()
        let queue = runner.workshop.queue
        for round in 1...5 {
            for word in ["\(round)", "\(round), known by then"] {
                try await runner.workshop.store.write { write throws(StoreFailure) in
                    let job = Errand(word, key: "k")
                    if isHastened {
                        try queue.hasten(job, in: write)
                    } else {
                        try queue.follow(job, after: .seconds(20), in: write)
                    }
                }
            }
            #expect(try await runner.claim(after: .seconds(40)) == ["\(round)"])
        }
    }

    /// So many do not run at once. If they do, it is not kept without a job what one was wanted for.
    @Test func noEndlessLineComesAfterWhatRuns() async throws {
        let runner = Runner()
        let queue = runner.workshop.queue
        func wish() async throws {
            try await runner.workshop.store.write { write throws(StoreFailure) in
                try queue.hasten(Errand("a", key: "k"), in: write)
            }
        }
        for _ in 0...16 {
            try await wish()
            #expect(try await runner.claim(after: .seconds(40)) == ["a"])
        }
        await #expect(throws: StoreFailure.conflict) { try await wish() }
    }
}
