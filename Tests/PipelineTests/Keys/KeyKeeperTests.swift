import Crypto
import Pipeline
import PurchaseModel
import Storage
import Synchronization
import Testing

/// A server knows the keys of the ledger, and for how long it does where it cannot read them again.
@Suite struct KeyKeeperTests {
    /// Reads fail while they are to.
    private final class BlindStore: Store {
        private let base = MemoryStore()
        private let isBlind = Mutex(false)

        func blind(_ isBlind: Bool) { self.isBlind.withLock { $0 = isBlind } }

        func write<Value: Sendable>(
            _ body: @escaping @Sendable (any StoreTransaction) throws(StoreFailure) -> Value
        ) async throws(StoreFailure) -> Value {
            try await base.write(body)
        }

        func read<Value: Sendable>(
            _ body: @escaping @Sendable (any StoreReader) throws(StoreFailure) -> Value
        ) async throws(StoreFailure) -> Value {
            if isBlind.withLock(\.self) { throw .busy }
            return try await base.read(body)
        }

        func close() async { await base.close() }
    }

    /// Each row: how many seconds each attempt takes with the pause after it, and after how many of them in vain nothing that
    /// may have been revoked opens any more.
    @Test(arguments: [(seconds: 5, attempts: 6), (10, 3), (15, 2), (29, 2), (60, 1)])
    func whatCannotBeReadForHalfAMinuteOpensNothing(seconds: Int, attempts: Int) async throws {
        let (store, clock, ring) = (BlindStore(), ManualClock(PipelineHouse.now), KeyRing([:], isComplete: false))
        let secret = try await Self.make(in: store, ring)
        let keeper = KeyKeeper(ring: ring, store: store, clock: clock) {
            PipelineHouse.now.duration(to: clock.now)
        }
        let opens = Noted<Bool>()
        await keeper.run {
            opens.note(ring.key(secret, at: clock.now) != nil)
            let turn = opens.values.count
            store.blind((1...attempts + 1).contains(turn))
            clock.advance(by: .seconds(seconds))
            return turn < attempts + 3
        }
        // Read at once; then so often in vain, then for good again.
        let expected = [true] + Array(repeating: true, count: attempts - 1) + [false, false, true]
        #expect(opens.values == expected)
        #expect(ring.isComplete)
    }

    private static func make(in store: BlindStore, _ ring: KeyRing) async throws -> [UInt8] {
        let wish = try KeyWish(name: "stored", kind: "secret", scopes: nil, environments: nil, days: nil, by: nil)
        let asking = KeyDesk.Asking(app: try #require(AppID("game")), name: "root", now: PipelineHouse.now)
        let made = try await store.write { write throws(StoreFailure) in
            try KeyDesk(ring: ring).create(wish, asking, in: write)
        }
        return Array(try made.get().secret.utf8)
    }
}
