import CSQLite

/// Reads what SQLite says of its failures.
enum SQLiteResult {
    /// What a code means for who asked.
    ///
    /// - Parameters:
    ///   - code: an extended result code.
    ///   - systemError: `errno` of the failed call, for the disk failures that are only a lack of space.
    /// - Returns: what a retry, space or a person can mend.
    static func failure(_ code: Int32, systemError: Int32 = 0) -> StoreFailure {
        switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_NOMEM, SQLITE_INTERRUPT: .busy
        case SQLITE_FULL: .full
        case SQLITE_IOERR where code == indexOfLogCannotGrow: .full
        case SQLITE_IOERR where SystemErrors.isLackOfSpace(systemError): .full
        default: .broken(code: code)
        }
    }

    /// `SQLITE_IOERR_SHMSIZE`. The index of the log is made anew at each opening: nothing of the data was lost. What was to be
    /// indexed may be in the log already: where the process dies before it writes again, the next opening finds it committed.
    /// SQLite has no `errno` of it, as of no failure of a commit.
    private static let indexOfLogCannotGrow = SQLITE_IOERR | 19 << 8

    /// A row that we cannot have written.
    static var unreadableRow: StoreFailure { .broken(code: SQLITE_CORRUPT) }
}
