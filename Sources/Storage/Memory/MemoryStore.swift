import Synchronization

/// The specification of a store: plain dictionaries under one lock. For tests and simulations; it survives nothing.
package final class MemoryStore: Store {
    private struct State {
        var ledger = MemoryLedger()
        var isClosed = false
    }

    private let state = Mutex(State())
    private let marks = EntitlementMarks()

    package init() {}

    package var entitlementMarks: EntitlementMarks? { marks }

    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreTransaction) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        try state.withLock { state throws(StoreFailure) in
            guard !state.isClosed else { throw .closed }
            let transaction = MemoryTransaction(over: state.ledger)
            // The transaction is the only owner now, so that a write costs what it changes and not a copy of all.
            state.ledger = MemoryLedger()
            defer { state.ledger = transaction.ledger }
            do throws(StoreFailure) {
                let value = try body(transaction)
                if let doom = transaction.doom { throw doom }
                marks.begin(transaction.entitlementPlaces)
                marks.settle()
                return value
            } catch {
                transaction.rollBack()
                throw error
            }
        }
    }

    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        try state.withLock { state throws(StoreFailure) in
            guard !state.isClosed else { throw .closed }
            return try body(MemoryTransaction(over: state.ledger))
        }
    }

    /// What it holds now, as a store of its own: a backup.
    package func copy() -> MemoryStore {
        let copy = MemoryStore()
        let ledger = state.withLock(\.ledger)
        copy.state.withLock { $0.ledger = ledger }
        return copy
    }

    /// Makes it hold what another does: a restore.
    package func replace(by backup: MemoryStore) {
        let ledger = backup.state.withLock(\.ledger)
        state.withLock { state in
            state.ledger = ledger
            marks.settleAll()
        }
    }

    package func close() async {
        state.withLock { $0.isClosed = true }
    }
}
