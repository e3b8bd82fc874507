/// Has the database look for damage in itself.
struct IntegrityQueries {
    let connection: SQLiteConnection

    private static let check = Query("PRAGMA integrity_check(100)")
    private static let orphans = Query("PRAGMA foreign_key_check")

    func problems() throws(StoreFailure) -> [String] {
        let damage = try connection.rows(Self.check) { $0.text(0) }.filter { $0 != "ok" }
        let orphans = try connection.rows(Self.orphans) { "row \($0.integer(1)) of \($0.text(0)) points to nothing" }
        return damage + orphans
    }
}
