import Pipeline
import PurchaseModel
import Simulator
import Storage
import Testing

/// What had to wait and was decided costs no disk for ever: what Apple said of it is kept, and not what was sent.
@Suite struct ForgottenProofTests {
    @Test func whatIsDecidedIsAnsweredForAWhileAndThenAskedAboutAgain() async throws {
        try await WorkHouse().open { house in
            let proof = Array("\(try house.buy("sword").id)".utf8)
            let outcome = try await house.submit(proof)
            #expect(try await house.submission(outcome).submission.proof == proof)
            try await house.work()
            #expect(try await house.submission(outcome).settlement?.verdict == "test_signed")
            #expect(try await house.submission(outcome).submission.proof == [])
            // The last that was kept stays.
            _ = try await house.submit(Array("999999999999".utf8))
            let calls = house.calls.values.count
            let housekeeping = Housekeeping(store: house.store, clock: house.clock)
            house.pass(Settlement.keptFor)
            await housekeeping.sweep()
            #expect(try await house.decision(on: outcome, proof)?.hasPrefix("known") == true)
            house.pass(.milliseconds(1))
            await housekeeping.sweep()
            #expect(try await house.decision(on: outcome, proof) == nil)
            let before = try await Self.transactions(in: house)
            let again = try await house.submit(proof)
            #expect(again.pendingID == outcome.pendingID)
            try await house.work()
            #expect(house.calls.values.count > calls)
            #expect(try await house.decision(on: again, proof)?.hasPrefix("known") == true)
            #expect(try await Self.transactions(in: house) == before, "it was known")
        }
    }

    private static func transactions(in house: WorkHouse) async throws -> Int {
        try await house.store.read { reader throws(StoreFailure) in try reader.figures().transactions }
    }

    /// It is counted like what is refused at once, and its sample is all that is left of it.
    @Test func whatIsRefusedInTheEndIsCountedAndShown() async throws {
        let house = try WorkHouse()
        let proof = Array("999999999999".utf8)
        try await house.open { house in
            let outcome = try await house.submit(proof)
            for _ in 0..<30 {
                try await house.work()
                house.pass(.seconds(60))
            }
            #expect(try await house.submission(outcome).settlement?.verdict == "not_yours")
            #expect(try await house.submission(outcome).submission.proof == [])
        }
        let (counts, samples) = try await house.store.read { reader throws(StoreFailure) in
            (
                try reader.refusalCounts(since: HourOfTime(number: 0), limit: 9),
                try reader.refusalSamples(limit: 9)
            )
        }
        #expect(counts.map(\.count) == [1])
        #expect(samples.map(\.reason) == ["unknown_to_apple"])
        #expect(samples.map(\.proof) == [proof] && samples.map(\.customer) == [CustomerID("ann")])
    }
}
