import CSQLite

/// Copies a database to a new file, page by page, as it was at one moment.
///
/// The source is a connection that neither writes nor checkpoints; it keeps its snapshot until the copy is whole, so that
/// what others commit meanwhile neither is in it nor makes it begin anew.
@safe final class SQLiteCopy {
    /// How many pages a step copies: the memory that it takes.
    private static let stepPages: Int32 = 256

    private let target: OpaquePointer

    /// - Parameter path: an empty file.
    /// - Throws: ``StoreFailure``.
    init(to path: String) throws(StoreFailure) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = unsafe sqlite3_open_v2(SQLiteConnection.plain(path), &opened, flags, nil)
        guard code == SQLITE_OK, let handle = unsafe opened else {
            unsafe sqlite3_close_v2(opened)
            throw SQLiteResult.failure(code)
        }
        unsafe target = handle
        // What is not whole is thrown away, and who made the file syncs it: there is nothing to roll back to.
        let text = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF"
        let prepared = unsafe sqlite3_exec(handle, text, nil, nil, nil)
        if prepared != SQLITE_OK { throw failure(prepared) }
    }

    deinit { unsafe sqlite3_close_v2(target) }

    /// The source is a connection's handle, on which a transaction is open and has read.
    func run(from source: OpaquePointer) throws(StoreFailure) {
        guard let copy = unsafe sqlite3_backup_init(target, "main", source, "main") else {
            throw failure(unsafe sqlite3_extended_errcode(target))
        }
        var code = SQLITE_OK
        while code == SQLITE_OK { code = unsafe sqlite3_backup_step(copy, Self.stepPages) }
        let end = unsafe sqlite3_backup_finish(copy)
        if code != SQLITE_DONE { throw failure(code) }
        if end != SQLITE_OK { throw failure(end) }
    }

    private func failure(_ code: Int32) -> StoreFailure {
        SQLiteResult.failure(code, systemError: unsafe sqlite3_system_errno(target))
    }
}
