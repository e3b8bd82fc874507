import Storage
import Synchronization

/// A store in which something else is done just before a write: what was read for it is out of date.
final class InterruptedStore: Store {
    private let base: any Store
    private let act = Mutex<(@Sendable () async -> Void)?>(nil)

    init(_ base: any Store) { self.base = base }

    func beforeNextWrite(_ act: @escaping @Sendable () async -> Void) { self.act.withLock { $0 = act } }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreTransaction) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        let act = self.act.withLock { act in
            defer { act = nil }
            return act
        }
        await act?()
        return try await base.write(body)
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        try await base.read(body)
    }

    func close() async { await base.close() }
}
