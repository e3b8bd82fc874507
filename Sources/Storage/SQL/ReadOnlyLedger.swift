/// The ledger in a folder, to look at: beside a server that writes to it, or without one.
///
/// It takes no claim on the folder, and can neither write nor checkpoint: see the roles of a connection. What it does to
/// the disk is at most to leave an empty log and its index, as any reader of a write-ahead log does.
package struct ReadOnlyLedger: Sendable {
    private let reader: ReaderConnection

    /// - Throws: ``StoreOpenFailure``; also for a schema that is older than ours, since only who writes may change it.
    package static func open(folder: String) throws(StoreOpenFailure) -> ReadOnlyLedger {
        let folder = DataFolder(path: folder)
        try folder.confirmDatabase()
        let connection = try SQLiteConnection(path: folder.databasePath, role: .reader)
        try connection.prepareForReading()
        let version = try Migrations.check(connection)
        guard version > 0 else { throw .absent }
        guard version == Migrations.texts.count else {
            throw .olderSchema(found: version, known: Migrations.texts.count)
        }
        return ReadOnlyLedger(reader: ReaderConnection(connection))
    }

    /// Runs the closure over one snapshot of what is committed. Keep it short: a snapshot holds back the server's
    /// checkpoint.
    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        try await reader.read { connection throws(StoreFailure) in
            try body(SQLTransaction(connection, isToWrite: false))
        }
    }

    /// What SQLite finds wrong with the file, one sentence each; empty when it is sound. Walks the whole file over one
    /// snapshot, a second for each some hundred MB; meanwhile the log of a busy server grows.
    package func integrityProblems() async throws(StoreFailure) -> [String] {
        try await reader.read { connection throws(StoreFailure) in
            try IntegrityQueries(connection: connection).problems()
        }
    }

    /// Copies the ledger, as it is at one moment, into a file that is there and empty. Whoever made that brings it to the disk.
    ///
    /// A server may write meanwhile: its log grows until the copy is whole, and nothing waits.
    ///
    /// - Throws: ``StoreFailure``; what is in the file then is no ledger.
    package func copy(into path: String) async throws(StoreFailure) {
        try await reader.read { connection throws(StoreFailure) in try connection.copy(to: path) }
    }

    package func close() async { await reader.close() }
}
