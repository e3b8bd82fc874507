import CSQLite
import CSQLiteLog
import PurchaseModel

/// One connection to a database file, used by one thread at a time.
@safe final class SQLiteConnection: SQLConnection {
    /// What a connection may do. Debian 12's SQLite can lose pages when one connection checkpoints while another
    /// commits (the WAL-reset bug, mended in 3.51.3): so exactly one connection writes, and it alone checkpoints.
    enum Role { case writer, reader }

    static let pageBytes = 4_096
    /// How much of the file the writer keeps in memory.
    static let cacheKibibytes = 16_384
    /// With fewer pages each row would push out what the next one needs.
    private static let savedPagesMin = 128

    /// How long a lock is waited for. None of ours is held that long; a foreign tool's may be.
    private static let busyMilliseconds: Int32 = 2_000
    /// How long a checkpoint waits for readers: the next batch waits with it.
    private static let checkpointMilliseconds: Int32 = 50

    /// SQLite would lock a mutex of the whole process twice for each piece of memory, to keep a sum that nobody asks for.
    private static let countsNoMemory = assay_sqlite_count_no_memory() == SQLITE_OK

    /// SQLite's code. Counting comes first: nothing is settled any more once SQLite has begun.
    private static let logs: Int32 = {
        _ = countsNoMemory
        return assay_sqlite_log_register()
    }()

    private let handle: OpaquePointer
    private var statements: [ObjectIdentifier: SQLiteStatement] = [:]
    /// The first failure since the transaction began: it dooms the transaction even when the closure swallows it.
    private var doom: StoreFailure?
    /// From its beginning until it is committed or rolled back, also when SQLite has ended it by itself.
    private var isInTransaction = false
    /// Whether SQLite ever failed in a way that only opening the database again may mend.
    private(set) var isBroken = false
    /// Whether the pages in memory are bounded until this transaction ends.
    private var savesMemory = false
    private let walPages: UnsafeMutablePointer<Int32>
    /// The last numbers that this transaction gave away.
    private var sequences: [ObjectIdentifier: Int64] = [:]
    /// Of no account here: rows are numbered without gaps.
    var added = StoreFigures()
    var appCodes: [AppID: Int64] = [:]
    /// One process writes to the file, so its own clock will do.
    let figureSlot: Int64 = 0
    let leaseClock = LeaseClock.callers
    /// Nobody else writes.
    let isShared = false
    let skipsLocked = false

    /// A path as SQLite takes it for one: Debian's takes what begins with `file:` for a URI, which names another file and may
    /// set `psow`, `nolock` or `vfs`.
    static func plain(_ path: String) -> String { path.utf8.starts(with: "file:".utf8) ? "./" + path : path }

    /// - Throws: ``StoreOpenFailure/broken(code:)``.
    init(path: String, role: Role) throws(StoreOpenFailure) {
        guard Self.logs == SQLITE_OK else { throw .broken(code: Self.logs) }
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let files = role == .writer ? ASSAY_SQLITE_LOG : nil
        let code = unsafe sqlite3_open_v2(Self.plain(path), &opened, flags, files)
        guard code == SQLITE_OK, let handle = unsafe opened else {
            unsafe sqlite3_close_v2(opened)
            throw .broken(code: code)
        }
        unsafe self.handle = handle
        unsafe walPages = .allocate(capacity: 1)
        unsafe walPages.initialize(to: 0)
        unsafe sqlite3_busy_timeout(handle, Self.busyMilliseconds)
        unsafe sqlite3_wal_autocheckpoint(handle, 0)
        unsafe assay_sqlite_set_flag(handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
        unsafe assay_sqlite_set_flag(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        switch role {
        case .reader: keepLogOnClose()
        case .writer: unsafe countPagesOfLog(handle)
        }
    }

    deinit {
        statements.removeAll()
        unsafe sqlite3_close_v2(handle)
        unsafe walPages.deallocate()
    }

    /// Rows inserted, updated or deleted since the connection was opened.
    var changesInAll: Int64 { unsafe sqlite3_total_changes64(handle) }

    /// How many pages stood in the write-ahead log after the last commit.
    var pagesOfLog: Int { unsafe Int(walPages.pointee) }

    /// Leaves the log as it is when the connection closes, for the next opening to read.
    func keepLogOnClose() {
        unsafe assay_sqlite_set_flag(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    }

    @discardableResult
    func run(
        _ query: Query,
        _ values: [SQLValue],
        _ visit: (SQLRow) throws(StoreFailure) -> Void
    ) throws(StoreFailure) -> Int {
        let statement = try statement(query)
        defer { statement.reset() }
        return try run(statement, bound: statement.bind(values), visit)
    }

    private func run(
        _ statement: SQLiteStatement,
        bound: Int32,
        _ visit: (SQLRow) throws(StoreFailure) -> Void
    ) throws(StoreFailure) -> Int {
        // After a failure that ended the transaction, such as a full disk, it would hold by itself.
        if isInTransaction, let doom, unsafe sqlite3_get_autocommit(handle) != 0 { throw doom }
        var code = bound
        if code == SQLITE_OK { code = statement.step() }
        while code == SQLITE_ROW {
            try visit(SQLRow(of: statement))
            code = statement.step()
        }
        if code != SQLITE_DONE { throw failure(code) }
        return unsafe Int(sqlite3_changes64(handle))
    }

    func visit(
        _ lookup: BulkLookup,
        _ keys: [[SQLValue]],
        _ visit: (Int, SQLRow) throws(StoreFailure) -> Void
    ) throws(StoreFailure) {
        for (place, key) in keys.enumerated() {
            try run(lookup.one, key) { row throws(StoreFailure) in try visit(place, row) }
        }
    }

    func change(_ change: BulkChange, _ keys: [[SQLValue]]) throws(StoreFailure) -> [Bool] {
        try keys.map { key throws(StoreFailure) in try run(change.one, key) == 1 }
    }

    func insert(_ parts: [[SQLValue]], by insert: BulkInsert) throws(StoreFailure) {
        let statement = try statement(insert.one)
        defer { statement.reset() }
        let changed = try run(statement, bound: statement.bind(parts: parts)) { _ in }
        if insert.mustInsertAll, changed != 1 { throw conflict() }
    }

    func update(_ values: [SQLValue], by update: BulkUpdate) throws(StoreFailure) {
        if try run(update.one, values) != 1 { throw conflict() }
    }

    func next(_ sequence: RowSequence) throws(StoreFailure) -> Int64 {
        let name = ObjectIdentifier(sequence)
        let last = if let known = sequences[name] { known } else { try row(sequence.last) { $0.integer(0) } ?? 0 }
        sequences[name] = last + 1
        return last + 1
    }

    private func conflict() -> StoreFailure {
        doom(.conflict)
        return .conflict
    }

    /// Makes the current transaction impossible to commit.
    func doom(_ failure: StoreFailure) { doom = doom ?? failure }

    /// Runs several statements without parameters, as a migration has them.
    func runScript(_ text: String) throws(StoreFailure) {
        let code = unsafe sqlite3_exec(handle, text, nil, nil, nil)
        if code != SQLITE_OK { throw failure(code) }
    }

    /// Runs the closure in a transaction that writes. Commits when the closure changed something and nothing failed.
    func write<Value>(
        _ body: (SQLiteConnection) throws(StoreFailure) -> Value
    ) throws(StoreFailure) -> Value {
        let before = changesInAll
        try begin(Self.beginWrite)
        defer { endSavingMemory() }
        do throws(StoreFailure) {
            let value = try body(self)
            if let doom { throw doom }
            try run(changesInAll == before ? Self.rollback : Self.commit)
            isInTransaction = false
            return value
        } catch {
            rollBack()
            unsafe assay_sqlite_log_drop(handle)
            throw error
        }
    }

    /// Bounds the pages in memory by those that are there, until the transaction ends: what is written beyond them goes into
    /// the log before the commit, without being synced, and counts from the commit on. Otherwise all pages that a long
    /// receipt changes wait in memory for its commit, and stay there.
    func saveMemory() throws(StoreFailure) {
        guard !savesMemory else { return }
        var (bytes, highest): (Int32, Int32) = (0, 0)
        // Both numbers are ours while the call lasts.
        unsafe sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_USED, &bytes, &highest, 0)
        savesMemory = true
        try runScript("PRAGMA cache_size = \(max(Int(bytes) / Self.pageBytes, Self.savedPagesMin))")
    }

    private func endSavingMemory() {
        guard savesMemory else { return }
        savesMemory = false
        // Should it fail, what follows is slower and as right as ever.
        _ = try? runScript("PRAGMA cache_size = -\(Self.cacheKibibytes)")
    }

    /// Runs the closure over one snapshot.
    func read<Value>(
        _ body: (SQLiteConnection) throws(StoreFailure) -> Value
    ) throws(StoreFailure) -> Value {
        try begin(Self.beginRead)
        defer { rollBack() }
        let value = try body(self)
        if let doom { throw doom }
        return value
    }

    /// Copies pages from the log into the database.
    ///
    /// - Parameter mode: one of SQLite's `SQLITE_CHECKPOINT_` numbers.
    /// - Returns: how many pages stood in the log.
    /// - Throws: ``StoreFailure/busy`` when readers held it back.
    func checkpoint(_ mode: Int32) throws(StoreFailure) -> Int {
        unsafe sqlite3_busy_timeout(handle, Self.checkpointMilliseconds)
        defer { unsafe sqlite3_busy_timeout(handle, Self.busyMilliseconds) }
        var pages: Int32 = 0
        let code = unsafe sqlite3_wal_checkpoint_v2(handle, nil, mode, &pages, nil)
        if code != SQLITE_OK { throw failure(code) }
        return Int(max(pages, 0))
    }

    /// Copies the database, as this transaction sees it, to an empty file.
    func copy(to path: String) throws(StoreFailure) {
        // A transaction sees nothing until it reads.
        try run(Self.look)
        try unsafe SQLiteCopy(to: path).run(from: handle)
    }

    private static let look = Query("SELECT 1 FROM sqlite_schema LIMIT 1")
    private static let beginWrite = Query("BEGIN IMMEDIATE")
    private static let beginRead = Query("BEGIN")
    private static let commit = Query("COMMIT")
    private static let rollback = Query("ROLLBACK")

    private func begin(_ query: Query) throws(StoreFailure) {
        doom = nil
        sequences = [:]
        isInTransaction = false
        try run(query)
        isInTransaction = true
    }

    /// Ends the transaction if there still is one: some failures end it by themselves.
    private func rollBack() {
        isInTransaction = false
        if unsafe sqlite3_get_autocommit(handle) == 0 { _ = try? run(Self.rollback) }
    }

    private func statement(_ query: Query) throws(StoreFailure) -> SQLiteStatement {
        if let known = statements[ObjectIdentifier(query)] { return known }
        var prepared: OpaquePointer?
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        let code = unsafe sqlite3_prepare_v3(handle, query.text, -1, flags, &prepared, nil)
        guard code == SQLITE_OK, let prepared = unsafe prepared else { throw failure(code) }
        let statement = unsafe SQLiteStatement(owning: prepared)
        statements[ObjectIdentifier(query)] = statement
        return statement
    }

    private func failure(_ code: Int32) -> StoreFailure {
        let failure = unsafe SQLiteResult.failure(code, systemError: sqlite3_system_errno(handle))
        doom(failure)
        if case .broken = failure { isBroken = true }
        return failure
    }

    /// Has SQLite note after each commit how long the log is. The number's memory lives as long as the handle.
    private func countPagesOfLog(_ handle: OpaquePointer) {
        unsafe sqlite3_wal_hook(
            handle,
            { pages, _, _, count in
                unsafe pages?.assumingMemoryBound(to: Int32.self).pointee = count
                return SQLITE_OK
            },
            walPages
        )
    }
}
