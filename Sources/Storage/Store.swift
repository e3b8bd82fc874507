/// What must survive a crash. ``MemoryStore`` says what each verb means; ``SQLiteStore`` keeps it on disk.
package protocol Store: Sendable {
    /// Runs the closure in one transaction, and returns after a durable commit.
    ///
    /// The closure is synchronous: nothing can be waited for while a lock is held. It may be run more than once. When
    /// it throws, or any verb in it threw anything but ``StoreFailure/unstorable``, nothing of it is kept. When it
    /// wrote nothing, nothing is committed and the disk is not touched.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreTransaction) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value

    /// Runs the closure over one snapshot of what is committed. Keep it short: a snapshot holds back the checkpoint.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value

    /// Tells what is still as it was read; `nil` when others may write, too.
    var entitlementMarks: EntitlementMarks? { get }

    /// Whether writes find no room on the disk, as far as is known: a write has failed for it, or ``lookForRoom()`` has found
    /// none, and nobody has found any since. Asks nothing.
    var lacksRoom: Bool { get }

    /// Finds out whether there is room. Costs next to nothing while there is plenty; while there is little, or a write has found
    /// none, it tries: to be called every few seconds, and not at each request.
    func lookForRoom() async

    /// Finishes what is queued and closes; every later verb throws ``StoreFailure/closed``.
    func close() async
}

extension Store {
    package var entitlementMarks: EntitlementMarks? { nil }

    package var lacksRoom: Bool { false }

    package func lookForRoom() async {}

    /// Throws when writes are not taken right now. Asks the writer, and leaves the disk alone.
    package func confirmWritable() async throws(StoreFailure) {
        try await write { _ in }
    }
}
