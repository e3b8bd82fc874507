import CSQLite

/// Brings fresh connections into the state that the store's promises rest on.
extension SQLiteConnection {
    private static let journal = Query("PRAGMA journal_mode = WAL")
    private static let durability = Query("PRAGMA synchronous")
    private static let isReadingOnly = Query("PRAGMA query_only")
    /// What SQLite calls `FULL`: a commit returns after the log is synced.
    private static let full: Int64 = 2

    /// The writer: a durable log, and checks that find damage early.
    func prepareForWriting() throws(StoreOpenFailure) {
        let isAsWanted = try opening { connection throws(StoreFailure) in
            // A page size counts only before the first page is written.
            try connection.runScript("PRAGMA page_size = \(Self.pageBytes)")
            let mode = try connection.row(Self.journal) { $0.text(0) }
            try connection.runScript(
                """
                PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON;
                PRAGMA temp_store = MEMORY; PRAGMA cache_size = -\(Self.cacheKibibytes);
                PRAGMA journal_size_limit = 67108864
                """
            )
            let durability = try connection.row(Self.durability) { $0.integer(0) }
            return mode == "wal" && durability == Self.full
        }
        guard isAsWanted else { throw .foreign }
    }

    /// A reader: can neither write nor checkpoint.
    func prepareForReading() throws(StoreOpenFailure) {
        let isAsWanted = try opening { connection throws(StoreFailure) in
            try connection.runScript("PRAGMA query_only = ON; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY")
            return try connection.row(Self.isReadingOnly) { $0.integer(0) } == 1
        }
        guard isAsWanted else { throw .foreign }
    }

    /// Does something that must succeed for the store to open at all.
    func opening<Value>(
        _ body: (SQLiteConnection) throws(StoreFailure) -> Value
    ) throws(StoreOpenFailure) -> Value {
        do throws(StoreFailure) {
            return try body(self)
        } catch {
            if case .broken(let code) = error, code & 0xFF == SQLITE_NOTADB { throw .foreign }
            throw StoreOpenFailure(error)
        }
    }
}
