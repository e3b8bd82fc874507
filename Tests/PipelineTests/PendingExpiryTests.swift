import Pipeline
import PurchaseModel
import Storage
import Synchronization
import Testing

/// What nobody decides in time is given up, and holds no place any more.
@Suite struct PendingExpiryTests {
    private static func bare(_ number: Int) -> [UInt8] { Array("\(170_000_029_440_000 + number)".utf8) }

    private static func gaveUp(_ house: PipelineHouse) -> [String] {
        house.events.compactMap { event in
            guard case .gaveUp(let app, let submissions) = event else { return nil }
            return "\(app) \(submissions)"
        }
    }

    @Test func itFreesItsPlaceEvenAfterARestart() async throws {
        let store = WatchedStore()
        try await PipelineHouse(store: store, pendingPerApp: 2).open { (house) async throws in
            for number in 1...2 { #expect(try await house.submit(Self.bare(number)).word == "pending") }
            #expect(try await house.submit(Self.bare(3)).word == "busy")
        }
        try await PipelineHouse(store: store, pendingPerApp: 2).open { (house) async throws in
            house.clock.advance(by: PipelineHouse.patience)
            await house.expiry.sweep()
            #expect(Self.gaveUp(house) == [])
            house.clock.advance(by: .milliseconds(1))
            // Nobody was counted yet: the sweep does it first, or its places would be lost.
            await house.expiry.sweep()
            #expect(Self.gaveUp(house) == ["game 2"])
            for number in 3...4 { #expect(try await house.submit(Self.bare(number)).word == "pending") }
            #expect(try await house.submit(Self.bare(5)).word == "busy")
            // What was given up is like any other now: it waits again if there is room.
            #expect(try await house.submit(Self.bare(1)).word == "busy")
            #expect(try await house.figures().pendingSubmissions == 2)
        }
    }

    /// One server keeps a proof, and another one's job settles it: its place is free again at the first.
    @Test func whatAnotherServerSettlesFreesItsPlaceToo() async throws {
        let store = WatchedStore()
        try await PipelineHouse(store: store, pendingPerApp: 2).open { (house) async throws in
            var ids: [SubmissionID] = []
            for number in 1...2 { ids.append(try #require(try await house.submit(Self.bare(number)).pendingID)) }
            #expect(try await house.submit(Self.bare(3)).word == "busy")
            let settlement = Settlement(verdict: "genuine", at: PipelineHouse.now)
            let settled = ids
            try await store.write { write throws(StoreFailure) in
                for id in settled { _ = try write.settlePending(id, as: settlement) }
            }
            await house.expiry.sweep()
            for number in 3...4 { #expect(try await house.submit(Self.bare(number)).word == "pending") }
            #expect(try await house.submit(Self.bare(5)).word == "busy")
        }
    }

    @Test func whatComesAgainKeepsItsNameAndWaitsItsWholeTime() async throws {
        try await PipelineHouse().open { (house) async throws in
            let id = try await house.submit(Self.bare(1)).pendingID
            house.clock.advance(by: PipelineHouse.patience + .milliseconds(1))
            await house.expiry.sweep()
            #expect(try await house.figures().pendingSubmissions == 0)
            #expect(try await house.submit(Self.bare(1)).pendingID == id)
            house.clock.advance(by: PipelineHouse.patience)
            await house.expiry.sweep()
            #expect(try await house.figures() == StoreFigures(submissions: 1, pendingSubmissions: 1))
        }
    }

    @Test func manyAreGivenUpInSeveralWrites() async throws {
        try await PipelineHouse(pendingPerApp: 2_000).open { (house) async throws in
            for number in 0..<600 { _ = try await house.submit(Self.bare(number)) }
            for number in 600..<605 { _ = try await house.submit(Self.bare(number), to: house.otherApp) }
            house.clock.advance(by: PipelineHouse.patience * 2)
            let writes = house.store.writes
            await house.expiry.sweep()
            #expect(house.store.writes == writes + 2)
            #expect(Self.gaveUp(house) == ["game 500", "game 100", "other 5"])
            #expect(try await house.figures().pendingSubmissions == 0)
        }
    }

    @Test func aStoreThatFailsLeavesItForTheNextSweep() async throws {
        try await PipelineHouse(pendingPerApp: 1).open { (house) async throws in
            _ = try await house.submit(Self.bare(1))
            house.clock.advance(by: PipelineHouse.patience * 2)
            house.store.fail(.full)
            let pauses = Atomic(0)
            await house.expiry.run {
                // The first sweep failed: nothing is free.
                let count = pauses.add(1, ordering: .relaxed).newValue
                if count == 1 { #expect((try? await house.submit(Self.bare(2)).word) == "busy") }
                return count < 2
            }
            #expect(pauses.load(ordering: .relaxed) == 2)
            #expect(Self.gaveUp(house) == ["game 1"])
            #expect(try await house.submit(Self.bare(2)).word == "pending")
        }
    }
}
