import Crypto
import Encoding
import Pipeline
import PurchaseModel
import Storage
import Synchronization
import Testing

/// A key that another server has made is looked for once, and what is none costs no second question.
@Suite struct KeySearchTests {
    /// Counts what is read. While it is held, or blind, what was read is not answered.
    private final class SlowStore: Store {
        private struct State {
            var reads = 0
            var isBlind = false
            var isHeld = false
            var held: [CheckedContinuation<Void, Never>] = []
        }

        let base = MemoryStore()
        private let state = Mutex(State())

        var reads: Int { state.withLock(\.reads) }

        func blind(_ isBlind: Bool) { state.withLock { $0.isBlind = isBlind } }

        func hold() { state.withLock { $0.isHeld = true } }

        func release() {
            let held = state.withLock { state in
                defer { (state.isHeld, state.held) = (false, []) }
                return state.held
            }
            for continuation in held { continuation.resume() }
        }

        func untilHeld(_ count: Int) async {
            while state.withLock({ $0.held.count < count }) { await Task.yield() }
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
            await withCheckedContinuation { continuation in
                let isHeld = state.withLock { state in
                    state.reads += 1
                    if state.isHeld { state.held.append(continuation) }
                    return state.isHeld
                }
                if !isHeld { continuation.resume() }
            }
            if state.withLock(\.isBlind) { throw .busy }
            return value
        }

        func close() async { await base.close() }
    }

    private let store = SlowStore()
    private let ring = KeyRing([:])
    private let now = PipelineHouse.now

    @Test func whatIsNoneIsAskedOnce() async throws {
        let strange = Array("sk_live_\(Hexadecimal.encode([UInt8](repeating: 1, count: 24)))".utf8)
        for _ in 0..<3 { #expect(try await ring.find(strange, in: store, at: now) == nil) }
        #expect(store.reads == 1)
        // No key of ours looks like these.
        for text in ["", "secret", "sk_live_", "sk_live_" + String(repeating: "A", count: 48)] {
            #expect(try await ring.find(Array(text.utf8), in: store, at: now) == nil)
        }
        #expect(store.reads == 1)
    }

    @Test func whatWasFoundIsKnown() async throws {
        let made = try await make()
        #expect(ring.key(made.secret, at: now) == nil)
        #expect(try await ring.find(made.secret, in: store, at: now)?.id == made.row.id)
        #expect(ring.key(made.secret, at: now)?.id == made.row.id)
    }

    /// It may be one: nobody is told that it is none.
    @Test func whatCannotBeReadIsAskedAgain() async throws {
        let made = try await make()
        store.blind(true)
        await #expect(throws: StoreFailure.busy) { try await ring.find(made.secret, in: store, at: now) }
        store.blind(false)
        #expect(try await ring.find(made.secret, in: store, at: now) != nil)
    }

    @Test func onlySoManyAreLookedForAtOnce() async throws {
        store.hold()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in UInt8(0)..<16 {
                let secret = Array("pk_test_\(Hexadecimal.encode([UInt8](repeating: number, count: 24)))".utf8)
                group.addTask { _ = try await ring.find(secret, in: store, at: now) }
            }
            await store.untilHeld(16)
            let other = Array("pk_test_\(Hexadecimal.encode([UInt8](repeating: 99, count: 24)))".utf8)
            await #expect(throws: StoreFailure.busy) { try await ring.find(other, in: store, at: now) }
            store.release()
            try await group.waitForAll()
            #expect(try await ring.find(other, in: store, at: now) == nil)
        }
        #expect(store.reads == 17)
    }

    /// It was read before it was revoked, and is answered after the keys were read anew.
    @Test func whatIsRevokedMeanwhileStaysRefused() async throws {
        let made = try await make()
        store.hold()
        async let found = ring.find(made.secret, in: store, at: now)
        await store.untilHeld(1)
        try await revoke(made.row)
        try await ring.reload(from: store.base, at: now)
        store.release()
        // Whoever asked before it was revoked may have been answered before.
        #expect(try await found != nil)
        #expect(ring.key(made.secret, at: now) == nil)
        #expect(try await ring.find(made.secret, in: store, at: now) == nil)
    }

    /// The same of all keys.
    @Test func noOlderReadingOpensWhatIsRevokedMeanwhile() async throws {
        let made = try await make()
        store.hold()
        async let older: Void = ring.reload(from: store, at: now)
        await store.untilHeld(1)
        try await revoke(made.row)
        try await ring.reload(from: store.base, at: now)
        store.release()
        try await older
        #expect(ring.key(made.secret, at: now) == nil)
        #expect(ring.isComplete)
    }

    private func revoke(_ key: APIKeyRow) async throws {
        let asking = KeyDesk.Asking(app: key.app, name: "root", now: now)
        let revoked = try await store.write { write throws(StoreFailure) in
            try KeyDesk.revoke(key.id, asking, in: write)
        }
        _ = try revoked.get()
    }

    private func make() async throws -> (row: APIKeyRow, secret: [UInt8]) {
        let wish = try KeyWish(name: "stored", kind: "secret", scopes: nil, environments: nil, days: nil, by: nil)
        let (ring, asking) = (ring, KeyDesk.Asking(app: try #require(AppID("game")), name: "root", now: now))
        let made = try await store.write { write throws(StoreFailure) in
            try KeyDesk(ring: ring).create(wish, asking, in: write)
        }
        return (try made.get().row, Array(try made.get().secret.utf8))
    }
}
