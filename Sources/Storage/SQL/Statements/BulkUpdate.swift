/// Rows of one table to update, described once. A row is changed if it still has the version that was read, and gets the
/// next one; if not, the transaction ends in ``StoreFailure/conflict``.
final class BulkUpdate: Sendable {
    let table: String
    /// The key's, then the version, then those that change.
    let columns: [BulkColumn]
    let keyCount: Int
    /// One row, for SQLite.
    let one: Query
    /// Many rows, for PostgreSQL.
    let many: Query

    /// - Parameters:
    ///   - table: its name; it has a column `version`.
    ///   - key: the columns of a unique constraint.
    ///   - columns: those to change.
    ///   - also: what else is set, by what stood in the row before, whose columns have this prefix.
    init(
        of table: String,
        key: [BulkColumn],
        _ columns: [BulkColumn],
        also: (_ prefix: String) -> [String] = { _ in [] }
    ) {
        let all = key + [.integer("version")] + columns
        self.table = table
        self.columns = all
        keyCount = key.count
        let changed = all.enumerated().dropFirst(key.count + 1)
        let matched = all.enumerated().prefix(key.count + 1)
        let one = changed.map { "\($0.element.name) = $\($0.offset + 1)" } + also("") + ["version = version + 1"]
        let many =
            changed.map { "\($0.element.name) = new.\($0.element.name)" } + also("old.")
            + ["version = old.version + 1"]
        self.one = Query(
            """
            UPDATE \(table) SET \(one.joined(separator: ", "))
            WHERE \(matched.map { "\($0.element.name) = $\($0.offset + 1)" }.joined(separator: " AND "))
            """
        )
        self.many = Query(
            """
            UPDATE \(table) AS old SET \(many.joined(separator: ", "))
            FROM unnest(\(BulkColumn.arrays(all))) AS new (\(BulkColumn.names(all)))
            WHERE \(matched.map { "old.\($0.element.name) = new.\($0.element.name)" }.joined(separator: " AND "))
            """
        )
    }
}
