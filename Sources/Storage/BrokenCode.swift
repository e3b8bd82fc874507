/// What stands in ``StoreFailure/broken(code:)`` for people.
package enum BrokenCode {
    /// SQLite's extended result codes have 16 bits. An SQLSTATE that tells of an error is above that as a number.
    private static let sqliteMax: Int32 = 0xFFFF

    /// SQLite's `SQLITE_IOERR_WRITE` and `SQLITE_IOERR_TRUNCATE`.
    private static let sqliteWriting: Set<Int32> = [10 | 3 << 8, 10 | 6 << 8]

    /// Whether a file of SQLite's could not be written: not that it is damaged. A lack of space is ``StoreFailure/full``.
    package static func isOfWriting(_ code: Int32) -> Bool { sqliteWriting.contains(code) }

    /// Such as `SQLite 11` or `SQLSTATE 42501`.
    package static func words(_ code: Int32) -> String {
        guard code > sqliteMax else { return "SQLite \(code)" }
        let state = String(code, radix: 36, uppercase: true)
        return "SQLSTATE " + String(repeating: "0", count: max(5 - state.utf8.count, 0)) + state
    }
}
