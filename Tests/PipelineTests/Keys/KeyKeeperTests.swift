import Crypto
import Pipeline
import PurchaseModel
import Storage
import Testing

/// A server knows the keys of the ledger, and for how long it does where it cannot read them again.
@Suite struct KeyKeeperTests {
    /// Each row: how many seconds each attempt takes with the pause after it, and after how many of them in vain nothing that
    /// may have been revoked opens any more.
    @Test(arguments: [(seconds: 5, attempts: 6), (10, 3), (15, 2), (29, 2), (60, 1)])
    func whatCannotBeReadForHalfAMinuteOpensNothing(seconds: Int, attempts: Int) async throws {
        let (store, clock, ring) = (CountingStore(), ManualClock(PipelineHouse.now), KeyRing([:], isComplete: false))
        let secret = try await Self.make(in: store, ring)
        let keeper = KeyKeeper(ring: ring, store: store, clock: clock) {
            PipelineHouse.now.duration(to: clock.now)
        }
        let opens = Noted<Bool>()
        await keeper.run {
            opens.note(ring.key(secret, at: clock.now) != nil)
            let turn = opens.values.count
            store.fail(with: (1...attempts + 1).contains(turn) ? .busy : nil)
            clock.advance(by: .seconds(seconds))
            return turn < attempts + 3
        }
        // Read at once; then so often in vain, then for good again.
        let expected = [true] + Array(repeating: true, count: attempts - 1) + [false, false, true]
        #expect(opens.values == expected)
        #expect(ring.isComplete)
    }

    /// What looked before a key was revoked is done after what looked afterwards.
    @Test func anOlderReadingOpensNoRevokedKeyAgain() async throws {
        let (base, ring) = (CountingStore(), KeyRing([:]))
        let secret = try await Self.make(in: base, ring)
        let row = try #require(
            try await base.read { reader throws(StoreFailure) in
                try reader.apiKeyInForce(sha256: Digest.sha256(secret), at: PipelineHouse.now)
            }
        )
        let asking = KeyDesk.Asking(app: row.app, name: "root", now: PipelineHouse.now)
        let overtaken = OvertakenStore(base) {
            do {
                _ = try await base.write { write throws(StoreFailure) in try KeyDesk.revoke(row.id, asking, in: write) }
                try await ring.reload(from: base, at: PipelineHouse.now)
            } catch {
                Issue.record(error)
            }
            #expect(ring.key(secret, at: PipelineHouse.now) == nil)
        }
        try await ring.reload(from: overtaken, at: PipelineHouse.now)
        #expect(ring.key(secret, at: PipelineHouse.now) == nil)
        #expect(ring.isComplete)
    }

    private static func make(in store: CountingStore, _ ring: KeyRing) async throws -> [UInt8] {
        let wish = try KeyWish(name: "stored", kind: "secret", scopes: nil, environments: nil, days: nil, by: nil)
        let asking = KeyDesk.Asking(app: try #require(AppID("game")), name: "root", now: PipelineHouse.now)
        let made = try await store.write { write throws(StoreFailure) in
            try KeyDesk(ring: ring).create(wish, asking, in: write)
        }
        return Array(try made.get().secret.utf8)
    }
}

/// What was read of it is known to the reader only when something else is done.
private final class OvertakenStore: Store {
    private let base: CountingStore
    private let act: @Sendable () async -> Void

    init(_ base: CountingStore, _ act: @escaping @Sendable () async -> Void) {
        self.base = base
        self.act = act
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreTransaction) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        try await base.write(body)
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        let value = try await base.read(body)
        await act()
        return value
    }

    func close() async { await base.close() }
}
