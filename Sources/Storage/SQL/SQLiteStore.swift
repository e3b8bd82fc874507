import Synchronization

/// A store in one SQLite file: one connection writes and checkpoints, a few others read.
package final class SQLiteStore: Store {
    /// How many writes may wait. Whoever submits batches its work, so more than this is a fault and not a load.
    package static let waitingWritesMax = 4_096
    /// How many reads may wait, over all connections.
    package static let waitingReadsMax = 4_096

    /// How many migrations a file has that is up to date.
    package static var schemaVersion: Int { Migrations.texts.count }
    /// What the migrations are called, in their order.
    package static var migrationNames: [String] { MigrationName.all("sqlite", schemaVersion) }

    /// Nobody else can write: the folder is claimed.
    private let marks = EntitlementMarks()
    private let folder: String
    private let isFull = Atomic(false)
    private let writer: WriterConnection
    private let readers: [ReaderConnection]
    private let waitingWrites = Atomic(0)
    /// How many reads wait at each reader, and whether ``close()`` was called.
    private let waitingReads: Mutex<[Int]>

    /// Opens, or makes, the store in a folder; blocks until its schema is up to date.
    ///
    /// - Parameters:
    ///   - folder: made with mode 0700 if it is not there; its parent must be.
    ///   - readers: how many connections read at the same time, at least 1.
    ///   - limits: how long the log may grow.
    /// - Returns: the store; nobody else can open the folder until it is closed.
    /// - Throws: ``StoreOpenFailure``, before anything in the folder is changed unless it is ours.
    package static func open(
        folder: String,
        readers: Int = 2,
        limits: CheckpointLimits = CheckpointLimits()
    ) throws(StoreOpenFailure) -> SQLiteStore {
        try SQLiteStore(in: DataFolder(path: folder), readers: max(readers, 1), limits: limits)
    }

    /// Makes a whole file the ledger of a folder that has none.
    ///
    /// - Parameters:
    ///   - file: on the same file system; its log is empty or not there. It gets another name.
    ///   - folder: is there.
    ///   - lock: the claim on the folder, held since before the file was looked at: nobody else has written it since.
    /// - Throws: ``StoreOpenFailure``; then nothing has changed.
    package static func adopt(
        _ file: String,
        in folder: String,
        holding lock: FolderLock
    ) throws(StoreOpenFailure) {
        try DataFolder(path: folder).adopt(file)
        withExtendedLifetime(lock) {}
    }

    private init(
        in folder: DataFolder,
        readers count: Int,
        limits: CheckpointLimits
    ) throws(StoreOpenFailure) {
        let lock = try folder.claim()
        let connection = try SQLiteConnection(path: folder.databasePath, role: .writer)
        try Migrations.check(connection)
        try connection.prepareForWriting()
        try Migrations.run(on: connection)
        try folder.sync()
        var readers: [ReaderConnection] = []
        for _ in 0..<count {
            let connection = try SQLiteConnection(path: folder.databasePath, role: .reader)
            try connection.prepareForReading()
            readers.append(ReaderConnection(connection))
        }
        self.readers = readers
        self.folder = folder.path
        writer = WriterConnection(connection, lock: lock, limits: limits, marks: marks)
        waitingReads = Mutex(Array(repeating: 0, count: count))
    }

    package var entitlementMarks: EntitlementMarks? { marks }

    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreTransaction) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        let waiting = waitingWrites.add(1, ordering: .relaxed).newValue
        defer { waitingWrites.subtract(1, ordering: .relaxed) }
        guard waiting <= Self.waitingWritesMax else { throw .busy }
        do throws(StoreFailure) {
            return try await writer.write { [marks] connection throws(StoreFailure) in
                let transaction = SQLTransaction(connection, isToWrite: true)
                let value = try body(transaction)
                try transaction.finish()
                marks.begin(transaction.entitlementPlaces)
                return value
            }
        } catch {
            if error == .full { isFull.store(true, ordering: .relaxed) }
            throw error
        }
    }

    package var lacksRoom: Bool { isFull.load(ordering: .relaxed) }

    package func lookForRoom() async {
        let isRoom = await writer.isRoom(in: folder, isMissing: lacksRoom)
        isFull.store(!isRoom, ordering: .relaxed)
    }

    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        let index = try leastBusyReader()
        defer { waitingReads.withLock { $0[index] -= 1 } }
        return try await readers[index].read { connection throws(StoreFailure) in
            try body(SQLTransaction(connection, isToWrite: false))
        }
    }

    /// The readers close first, so that the writer is the last connection: SQLite then removes the log.
    package func close() async {
        for reader in readers { await reader.close() }
        await writer.close()
    }

    /// What SQLite finds wrong with the file, one sentence each; empty when it is sound. Walks the whole file, which
    /// takes a second for each some hundred MB, and keeps one reader busy.
    package func integrityProblems() async throws(StoreFailure) -> [String] {
        try await readers[0].read { connection throws(StoreFailure) in
            try IntegrityQueries(connection: connection).problems()
        }
    }

    /// Takes a place at the reader with the shortest queue.
    private func leastBusyReader() throws(StoreFailure) -> Int {
        try waitingReads.withLock { waiting throws(StoreFailure) in
            guard waiting.reduce(0, +) < Self.waitingReadsMax else { throw .busy }
            let index = waiting.indices.min { waiting[$0] < waiting[$1] } ?? 0
            waiting[index] += 1
            return index
        }
    }
}
