import Pipeline
import PurchaseModel
import Storage
import Testing

/// What waited and is decided makes room for one more, and for no second.
@Suite struct PendingPlaceTests {
    private static func bare(_ number: Int) -> [UInt8] { Array("17000002944942\(number)".utf8) }

    /// Three wait, of which a server that has the certificate of iOS 6 decides one; as many may wait of an app there.
    private static func decidingOne(
        in store: WatchedStore,
        _ decide: (PipelineHouse) async throws -> Void
    ) async throws {
        let authority = try StoreAuthority.one.get()
        let receipt = try authority.receipt(Proofs.transaction(1))
        try await PipelineHouse(store: store).open { (house) async throws in
            for proof in [receipt, bare(0), bare(1)] { #expect(try await house.submit(proof).word == "pending") }
        }
        let house = try PipelineHouse(store: store, intermediates: [authority.certificate], pendingPerApp: 3)
        try await house.open { (house) async throws in
            try await decide(house)
            #expect(try await house.figures().pendingSubmissions == 2)
            #expect(try await house.submit(bare(2)).word == "pending")
            #expect(try await house.submit(bare(3)).word == "busy")
        }
    }

    /// As a review at a start and a job that Apple has answered do, or two jobs.
    @Test func whatIsDecidedTwiceMakesRoomOnce() async throws {
        let store = WatchedStore()
        try await Self.decidingOne(in: store) { house in
            store.hold()
            async let first: Void = house.review.run()
            await store.untilHeld()
            let reads = store.reads
            async let second: Void = house.review.run()
            // It has found that it waits, too.
            while store.reads == reads { try await Task.sleep(for: .milliseconds(1)) }
            try await Task.sleep(for: .milliseconds(50))
            store.release()
            _ = await (first, second)
        }
    }

    /// What is counted anew by then is counted without it.
    @Test func aCountInBetweenMakesNoSecondRoom() async throws {
        let store = WatchedStore()
        try await Self.decidingOne(in: store) { house in
            store.afterNextWrite { await house.expiry.sweep() }
            await house.review.run()
        }
    }

    /// So it is with what found a place, and was not kept: another has brought it at the same moment.
    @Test func aCountInBetweenMakesNoSecondRoomForWhatIsKnown() async throws {
        let base = MemoryStore()
        let store = WatchedStore(base)
        try await PipelineHouse(store: store, pendingPerApp: 2).open { (house) async throws in
            #expect(try await house.submit(Self.bare(0)).word == "pending")
            store.hold()
            async let first = house.submit(Self.bare(1))
            await store.untilHeld()
            try await PipelineHouse(store: WatchedStore(base)).open { (other) async throws in
                #expect(try await other.submit(Self.bare(1)).word == "pending")
            }
            store.afterNextWrite { await house.expiry.sweep() }
            store.release()
            #expect(try await first.word == "pending")
            #expect(try await house.submit(Self.bare(2)).word == "busy")
        }
    }
}
