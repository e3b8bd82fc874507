import Jobs
import Pipeline
import PurchaseModel
import Simulator
import Storage
import Testing

/// A key for some stores has Apple asked like any other, and brings nothing of another store by it.
@Suite struct LimitedKeyTests {
    @Test(arguments: [StoreEnvironment.sandbox, .production])
    func whatAppleTellsOfAnotherStoreIsNotRecorded(limit: StoreEnvironment) async throws {
        try await WorkHouse().open { house in
            let sold = try house.buy("coins.100", by: "anna")
            let number = Array("\(sold.id)".utf8)
            let limited = Submission(app: house.app.limited(to: [limit]), bytes: number, customer: CustomerID("mal"))
            let kept = try await house.pipeline.submit(limited)
            // Until it is decided the same again is the same.
            #expect(try await house.pipeline.submit(limited).pendingID == kept.pendingID)
            // Whoever is not limited has his own place among what waits, for the same customer too.
            let free = Submission(app: house.app, bytes: number, customer: CustomerID("mal"))
            #expect(free.environments == nil && limited.environments == [limit])
            try await house.work()
            let isTaken = limit == .production
            let recorded = try await house.recorded(sold.id, in: .production)
            #expect(recorded?.customer?.text == (isTaken ? "mal" : nil))
            let verdict = try await house.submission(kept).settlement?.verdict
            #expect(verdict == (isTaken ? "test_signed" : "not_yours"))
            // A refusal that only the key has caused holds nobody else up.
            let again = try await house.pipeline.submit(free)
            #expect(again.pendingID != nil && again.pendingID != kept.pendingID)
            try await house.work()
            #expect(try await house.recorded(sold.id, in: .production)?.customer?.text == "mal")
        }
    }

    /// A server that cannot ask keeps it, and the one next to it asks: whoever sends it again has no part in that. Where no
    /// server asks there is no job that would only come again and again.
    @Test(arguments: [true, false]) func whatAServerWithoutAKeyKeepsIsAskedByAnother(isAsked: Bool) async throws {
        try await WorkHouse().open { house in
            let sold = try house.buy("coins.100")
            if isAsked { try await house.queue.enqueue(NotificationComparison(app: house.app.id, store: .production)) }
            let other = PurchasePipeline(
                verifier: try PipelineHouse.verifier(),
                recorder: house.recorder,
                store: house.store,
                refusals: RefusalLedger(),
                clock: house.clock,
                later: PendingPlanner(house.queue, asking: [])
            ) { _ in }
            let submission = Submission(app: house.app, bytes: Array("\(sold.id)".utf8), customer: CustomerID("ann"))
            #expect(try await other.submit(submission).pendingID != nil)
            #expect(try await house.waits(for: ProofDecision.kind) == isAsked)
            try await house.work()
            #expect(try await house.recorded(sold.id)?.customer?.text == (isAsked ? "ann" : nil))
        }
    }

    /// This server does not know of the app, another may, and this one gets it back: what waits is given up by nobody.
    @Test func whatWaitsOutlastsAServerWithoutTheApp() async throws {
        try await WorkHouse(hasAccount: false).open { house in
            try await house.queue.enqueue(NotificationComparison(app: house.app.id, store: .production))
            _ = try await house.submit(Array("1000000000000001".utf8))
            for _ in 0..<40 {
                try await house.work()
                house.pass(.seconds(6 * 3_600))
            }
            #expect(try await house.waits(for: ProofDecision.kind))
            #expect(try await house.deadLetters() == [])
        }
    }
}
