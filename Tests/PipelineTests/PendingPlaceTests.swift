import Pipeline
import PurchaseModel
import Storage
import Synchronization
import Testing

/// What waited and is decided makes room for one more, and for no second.
@Suite struct PendingPlaceTests {
    /// A store of which a test hears when a write is kept, and its writer does not know it yet.
    private final class Told: Store {
        private let base = MemoryStore()
        private let afterNext = Mutex<(@Sendable () async -> Void)?>(nil)

        func afterNextWrite(_ act: @escaping @Sendable () async -> Void) { afterNext.withLock { $0 = act } }

        func write<Value: Sendable>(
            _ body: @escaping @Sendable (any StoreTransaction) throws(StoreFailure) -> Value
        ) async throws(StoreFailure) -> Value {
            let value = try await base.write(body)
            let act = afterNext.withLock { act in
                defer { act = nil }
                return act
            }
            await act?()
            return value
        }

        func read<Value: Sendable>(
            _ body: @escaping @Sendable (any StoreReader) throws(StoreFailure) -> Value
        ) async throws(StoreFailure) -> Value {
            try await base.read(body)
        }

        func close() async { await base.close() }
    }

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
        let told = Told()
        try await Self.decidingOne(in: WatchedStore(told)) { house in
            told.afterNextWrite { await house.expiry.sweep() }
            await house.review.run()
        }
    }

    /// So it is with what found a place, and was not kept: another has brought it at the same moment.
    @Test func aCountInBetweenMakesNoSecondRoomForWhatIsKnown() async throws {
        let told = Told()
        let store = WatchedStore(told)
        try await PipelineHouse(store: store, pendingPerApp: 2).open { (house) async throws in
            #expect(try await house.submit(Self.bare(0)).word == "pending")
            store.hold()
            async let first = house.submit(Self.bare(1))
            await store.untilHeld()
            try await PipelineHouse(store: WatchedStore(told)).open { (other) async throws in
                #expect(try await other.submit(Self.bare(1)).word == "pending")
            }
            told.afterNextWrite { await house.expiry.sweep() }
            store.release()
            #expect(try await first.word == "pending")
            #expect(try await house.submit(Self.bare(2)).word == "busy")
        }
    }
}
