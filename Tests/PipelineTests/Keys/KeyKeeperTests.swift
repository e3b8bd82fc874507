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

    private static func make(in store: CountingStore, _ ring: KeyRing) async throws -> [UInt8] {
        let wish = try KeyWish(name: "stored", kind: "secret", scopes: nil, environments: nil, days: nil, by: nil)
        let asking = KeyDesk.Asking(app: try #require(AppID("game")), name: "root", now: PipelineHouse.now)
        let made = try await store.write { write throws(StoreFailure) in
            try KeyDesk(ring: ring).create(wish, asking, in: write)
        }
        return Array(try made.get().secret.utf8)
    }
}
