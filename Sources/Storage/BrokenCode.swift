/// What stands in ``StoreFailure/broken(code:)`` for people.
package enum BrokenCode {
    /// SQLite's extended result codes have 16 bits. An SQLSTATE that tells of an error is above that as a number.
    private static let sqliteMax: Int32 = 0xFFFF

    /// Such as `SQLite 11` or `SQLSTATE 42501`.
    package static func words(_ code: Int32) -> String {
        guard code > sqliteMax else { return "SQLite \(code)" }
        let state = String(code, radix: 36, uppercase: true)
        return "SQLSTATE " + String(repeating: "0", count: max(5 - state.utf8.count, 0)) + state
    }
}
