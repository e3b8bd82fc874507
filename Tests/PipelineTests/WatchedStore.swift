import Storage
import Synchronization

/// A store whose writes can be counted, held back, repeated, followed by something and made to fail.
final class WatchedStore: Store {
    private struct State {
        var reads = 0
        var writes = 0
        var failures: [StoreFailure] = []
        var repetitions = 0
        var isHolding = false
        var held: [CheckedContinuation<Void, Never>] = []
        var watcher: CheckedContinuation<Void, Never>?
        var afterNext: (@Sendable () async -> Void)?
    }

    private let state = Mutex(State())
    private let base: any Store

    init(_ base: any Store = MemoryStore()) {
        self.base = base
    }

    /// How many reads have ended.
    var reads: Int { state.withLock { $0.reads } }

    /// How many writes were begun.
    var writes: Int { state.withLock { $0.writes } }

    /// The next writes run to their end and are then taken back, as when a disk fails at the commit.
    func fail(_ failures: StoreFailure...) {
        state.withLock { $0.failures += failures }
    }

    /// What has not come to pass of it does not any more.
    func failNoMore() {
        state.withLock { $0.failures = [] }
    }

    /// From now on every write is taken back so often before it holds, as where others change the same rows.
    func repeatWrites(_ repetitions: Int) {
        state.withLock { $0.repetitions = repetitions }
    }

    /// From now on every write waits for ``release(_:)``.
    func hold() {
        state.withLock { $0.isHolding = true }
    }

    /// Has something done once the next write is kept, and its writer does not know it yet.
    func afterNextWrite(_ act: @escaping @Sendable () async -> Void) {
        state.withLock { $0.afterNext = act }
    }

    /// Waits until a write is held.
    func untilHeld() async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.held.isEmpty { state.watcher = continuation }
                return !state.held.isEmpty
            }
            if isThere { continuation.resume() }
        }
    }

    /// Lets one held write go, and holds the next one.
    func releaseOne() {
        state.withLock { $0.held.isEmpty ? nil : $0.held.removeFirst() }?.resume()
    }

    /// Lets all go, and holds no more.
    func release() {
        let held = state.withLock { state in
            defer { state.held = [] }
            state.isHolding = false
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreTransaction) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        await enter()
        let (failure, repetitions) = state.withLock { state -> (StoreFailure?, Int) in
            state.writes += 1
            return (state.failures.isEmpty ? nil : state.failures.removeFirst(), state.repetitions)
        }
        for _ in 0..<repetitions {
            _ = try? await base.write { transaction throws(StoreFailure) -> Value in
                _ = try body(transaction)
                throw .busy
            }
        }
        let value = try await base.write { transaction throws(StoreFailure) in
            let value = try body(transaction)
            if let failure { throw failure }
            return value
        }
        let act = state.withLock { state in
            defer { state.afterNext = nil }
            return state.afterNext
        }
        await act?()
        return value
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        let value = try await base.read(body)
        state.withLock { $0.reads += 1 }
        return value
    }

    func close() async { await base.close() }

    private func enter() async {
        await withCheckedContinuation { continuation in
            let (isHeld, watcher) = state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
                guard state.isHolding else { return (false, nil) }
                state.held.append(continuation)
                defer { state.watcher = nil }
                return (true, state.watcher)
            }
            if !isHeld { continuation.resume() }
            watcher?.resume()
        }
    }
}
