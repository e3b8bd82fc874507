import Synchronization

/// One connection to a PostgreSQL server on a queue of its own, made anew when it broke.
actor PostgreSQLWorker {
    private let queue: BlockingQueue
    private let settings: PostgreSQLSettings
    private let watch: DatabaseWatch
    private var connection: PostgreSQLConnection?
    private var isClosed = false
    /// How often no connection could be had. Who queued before the last failure does not try again by itself: when a
    /// server says nothing, a whole queue would wait for one timeout after the other.
    nonisolated let failures = Atomic(0)
    /// The row where this worker notes its last batch; made before its first write.
    private var writer: Int64?
    /// The batch whose commit nobody answered. No other begins before it is known whether it holds.
    private var unanswered: Int64?
    /// What was found out of batches, for those who wait for it.
    private var verdicts: [Int64: Bool] = [:]

    // The queue lives as long as the actor.
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe queue.asUnownedSerialExecutor() }

    init(_ settings: PostgreSQLSettings, _ watch: DatabaseWatch) {
        self.settings = settings
        self.watch = watch
        queue = BlockingQueue()
    }

    /// Connects, and does what must succeed for a store to open at all.
    func open(
        _ body: @Sendable (PostgreSQLConnection) throws(StoreOpenFailure) -> Void = { _ in }
    ) throws(StoreOpenFailure) {
        let connection = try PostgreSQLConnection(settings)
        try body(connection)
        self.connection = connection
    }

    /// One attempt at a write.
    ///
    /// - Parameters:
    ///   - failures: how many there had been when the caller queued.
    ///   - body: may be run again.
    /// - Returns: how it ended; after ``WriteOutcome/unknown(_:batch:)``, ask ``isKept(_:after:)``.
    func write<Value: Sendable>(
        after failures: Int,
        _ body: @Sendable (PostgreSQLConnection) throws(StoreFailure) -> Value
    ) -> WriteOutcome<Value> {
        if isClosed { return .failed(.closed) }
        guard let connection = connected(after: failures), let writer = ready(connection) else { return .unreachable }
        let outcome = connection.write(as: writer, body)
        note(outcome, over: connection)
        if case .unknown(_, let batch) = outcome { unanswered = batch }
        return outcome
    }

    /// One attempt at a read.
    ///
    /// - Parameters:
    ///   - failures: how many there had been when the caller queued.
    ///   - body: may be run again.
    /// - Returns: how it ended.
    func read<Value: Sendable>(
        after failures: Int,
        _ body: @Sendable (PostgreSQLConnection) throws(StoreFailure) -> Value
    ) -> WriteOutcome<Value> {
        if isClosed { return .failed(.closed) }
        guard let connection = connected(after: failures) else { return .unreachable }
        let outcome = connection.read(body)
        note(outcome, over: connection)
        return outcome
    }

    private func note<Value>(_ outcome: WriteOutcome<Value>, over connection: PostgreSQLConnection) {
        switch outcome {
        case .done where !connection.isProven:
            connection.isProven = true
            watch.find()
        case .again(.unreachable): watch.note(connection.words ?? PostgreSQLFault.lost.words)
        default: break
        }
    }

    /// Whether a batch holds; `nil` while that cannot be found out.
    func isKept(_ batch: Int64, after failures: Int) -> Bool? {
        if let known = verdicts.removeValue(forKey: batch) { return known }
        if isClosed { return nil }
        guard let connection = connected(after: failures), ready(connection) != nil else { return nil }
        return verdicts.removeValue(forKey: batch)
    }

    func close() {
        isClosed = true
        connection = nil
    }

    /// A connection that is not known to be broken; `nil` when none can be had now.
    private func connected(after seen: Int) -> PostgreSQLConnection? {
        if let connection, connection.isUsable { return connection }
        connection = nil
        guard seen == failures.load(ordering: .relaxed) else { return nil }
        do throws(StoreOpenFailure) {
            connection = try PostgreSQLConnection(settings)
        } catch {
            failures.add(1, ordering: .relaxed)
            if case .unreachable(let words) = error { watch.note(words) }
        }
        return connection
    }

    /// The writer's row, once nothing of its past is in doubt.
    private func ready(_ connection: PostgreSQLConnection) -> Int64? {
        do throws(PostgreSQLFault) {
            guard let writer else {
                writer = try connection.makeWriter()
                return writer
            }
            if let batch = unanswered {
                verdicts[batch] = try connection.isKept(batch, by: writer)
                unanswered = nil
            }
            return writer
        } catch {
            watch.note(error.words)
            return nil
        }
    }
}
