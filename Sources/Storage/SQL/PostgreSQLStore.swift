import Synchronization

/// A store in a PostgreSQL database, which any number of servers share: a few connections write, a few others read.
///
/// Correct by constraints, versions and repetition: no node leads, and no lock outlives a transaction. A write is tried
/// again from its first question on when another was faster or the connection broke. When a connection breaks after a
/// commit was sent, its writer's row tells whether it holds.
package final class PostgreSQLStore: Store {
    /// How many writes or reads may wait. Whoever submits batches its work, so more than this is a fault and not a load.
    package static let waitingMax = 4_096
    /// How many migrations a schema has that is up to date.
    package static var schemaVersion: Int { PostgreSQLMigrations.texts.count }
    /// What the migrations are called, in their order.
    package static var migrationNames: [String] { MigrationName.all("postgres", schemaVersion) }
    /// How long a migration's statement may take: an index over a large table is a matter of minutes.
    private static let migrationTimeout = Duration.seconds(7_200)
    /// Between two attempts; the first repetition follows at once.
    private static let pauseMax = Duration.milliseconds(250)

    /// How often a connection is tried for, and the first pause in between, to which each adds: a server that starts
    /// anew is back in time, and one that is gone is told of while somebody still listens.
    private static let unreachedMax = 5
    private static let pauseUnreached = Duration.milliseconds(150)

    private let settings: PostgreSQLSettings
    private let watch: DatabaseWatch
    private let writers: [PostgreSQLWorker]
    private let readers: [PostgreSQLWorker]
    /// How many wait at each.
    private let waitingWrites: Mutex<[Int]>
    private let waitingReads: Mutex<[Int]>
    /// How many looks go by until a failure for want of room is forgotten.
    private let looksWithoutRoom = Atomic(0)
    private static let looksMax = 12

    /// Opens, or makes, the store in a database; returns once its schema is up to date.
    ///
    /// - Throws: ``StoreOpenFailure``, before anything of another program's is changed.
    package static func open(_ settings: PostgreSQLSettings) async throws(StoreOpenFailure) -> PostgreSQLStore {
        var patient = settings
        patient.statementTimeout = migrationTimeout
        patient.faults = { _ in false }
        let first = PostgreSQLWorker(patient, DatabaseWatch(settings.tell))
        try await first.open { connection throws(StoreOpenFailure) in
            try PostgreSQLMigrations.run(on: connection, schema: settings.schema)
        }
        await first.close()
        let store = PostgreSQLStore(settings)
        for worker in store.writers + store.readers { try await worker.open() }
        return store
    }

    /// Opens the store in a database to look at it: its schema is up to date already, or is not looked at.
    ///
    /// A read may stand still for an hour: who writes what it found into a pipe waits for whoever reads that.
    ///
    /// - Throws: ``StoreOpenFailure``; also for a schema that is older than ours.
    package static func open(toRead settings: PostgreSQLSettings) async throws(StoreOpenFailure) -> PostgreSQLStore {
        var patient = settings
        patient.idleTimeout = settings.lookTimeout
        let store = PostgreSQLStore(patient)
        for worker in store.readers {
            try await worker.open { connection throws(StoreOpenFailure) in
                try PostgreSQLMigrations.confirm(on: connection, schema: settings.schema)
            }
        }
        return store
    }

    private init(_ settings: PostgreSQLSettings) {
        self.settings = settings
        let watch = DatabaseWatch(settings.tell)
        self.watch = watch
        writers = (0..<max(settings.writers, 1)).map { _ in PostgreSQLWorker(settings, watch) }
        readers = (0..<max(settings.readers, 1)).map { _ in PostgreSQLWorker(settings, watch) }
        waitingWrites = Mutex(Array(repeating: 0, count: writers.count))
        waitingReads = Mutex(Array(repeating: 0, count: readers.count))
    }

    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreTransaction) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        let index = try Self.join(waitingWrites)
        defer { waitingWrites.withLock { $0[index] -= 1 } }
        let writer = writers[index]
        return try await repeating { () async -> WriteOutcome<Value> in
            let failures = writer.failures.load(ordering: .relaxed)
            let outcome = await writer.write(after: failures) { connection throws(StoreFailure) in
                let transaction = SQLTransaction(connection, isToWrite: true)
                let value = try body(transaction)
                try transaction.finish()
                return value
            }
            guard case .unknown(let value, let batch) = outcome else { return outcome }
            return await self.settle(value, batch, by: writer)
        }
    }

    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        let index = try Self.join(waitingReads)
        defer { waitingReads.withLock { $0[index] -= 1 } }
        let reader = readers[index]
        return try await repeating { () async -> WriteOutcome<Value> in
            let failures = reader.failures.load(ordering: .relaxed)
            return await reader.read(after: failures) { connection throws(StoreFailure) in
                try body(SQLTransaction(connection, isToWrite: false))
            }
        }
    }

    package func close() async {
        for worker in readers + writers { await worker.close() }
    }

    /// Finds out whether a batch holds whose commit nobody answered.
    private func settle<Value: Sendable>(
        _ value: Value,
        _ batch: Int64,
        by writer: PostgreSQLWorker
    ) async -> WriteOutcome<Value> {
        for attempt in 0..<settings.attemptsMax {
            await wait(after: attempt)
            let failures = writer.failures.load(ordering: .relaxed)
            if let isKept = await writer.isKept(batch, after: failures) { return isKept ? .done(value) : .again(.busy) }
        }
        // It may hold: whoever asks again is told what was recorded.
        return .failed(.unreachable)
    }

    package var lacksRoom: Bool { looksWithoutRoom.load(ordering: .relaxed) > 0 }

    /// The disk is the database's, and its own writes tell most surely: some of them are tried every minute anyway. After some
    /// looks without another failure it is believed to have room.
    package func lookForRoom() async {
        guard lacksRoom else { return }
        looksWithoutRoom.subtract(1, ordering: .relaxed)
    }

    private func repeating<Value: Sendable>(
        _ attempt: () async -> WriteOutcome<Value>
    ) async throws(StoreFailure) -> Value {
        do throws(StoreFailure) {
            return try await repeated(attempt)
        } catch {
            if error == .unreachable { watch.lose() }
            if error == .full { looksWithoutRoom.store(Self.looksMax, ordering: .relaxed) }
            throw error
        }
    }

    private func repeated<Value: Sendable>(
        _ attempt: () async -> WriteOutcome<Value>
    ) async throws(StoreFailure) -> Value {
        var last = StoreFailure.busy
        var unreached = 0
        for number in 0..<settings.attemptsMax {
            if unreached == 0 {
                await wait(after: number)
            } else {
                await settings.pause(Self.pauseUnreached * unreached)
            }
            switch await attempt() {
            case .done(let value): return value
            case .failed(let failure): throw failure
            case .again(let failure): last = failure
            case .unknown: last = .busy
            case .unreachable:
                unreached += 1
                last = .unreachable
                if unreached == Self.unreachedMax { throw last }
            }
        }
        throw last
    }

    private func wait(after attempts: Int) async {
        if attempts < 2 { return }
        await settings.pause(min(.milliseconds(1 << min(attempts - 1, 20)), Self.pauseMax))
    }

    /// Takes a place in the shortest queue.
    private static func join(_ queues: borrowing Mutex<[Int]>) throws(StoreFailure) -> Int {
        try queues.withLock { waiting throws(StoreFailure) in
            guard waiting.reduce(0, +) < waitingMax else { throw .busy }
            let index = waiting.indices.min { waiting[$0] < waiting[$1] } ?? 0
            waiting[index] += 1
            return index
        }
    }
}
