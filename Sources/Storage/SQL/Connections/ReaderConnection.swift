/// A connection that only reads, on a queue of its own.
actor ReaderConnection {
    private let queue: BlockingQueue
    private var connection: SQLiteConnection?

    // The queue lives as long as the actor.
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe queue.asUnownedSerialExecutor() }

    init(_ connection: sending SQLiteConnection) {
        self.connection = connection
        queue = BlockingQueue()
    }

    func read<Value: Sendable>(
        _ body: @Sendable (SQLiteConnection) throws(StoreFailure) -> Value
    ) throws(StoreFailure) -> Value {
        guard let connection else { throw .closed }
        return try connection.read(body)
    }

    func close() {
        connection = nil
    }
}
