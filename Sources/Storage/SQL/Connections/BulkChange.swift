/// A change of the row that a key finds, of which nothing is wanted but whether there was one; for many keys at once.
///
/// Of keys that find the same row at most one may find it: what a statement does to a row a second time is undefined.
final class BulkChange: Sendable {
    let keys: [BulkColumn]
    /// Of one key, for SQLite.
    let one: Query
    /// Of many, for PostgreSQL: gives the place of each key that found a row, from 1.
    let many: Query

    /// - Parameters:
    ///   - table: whose rows are changed.
    ///   - keys: what the parameters are, in their order; the names are of no account.
    ///   - assignments: what stands after `SET`.
    ///   - condition: which row it is.
    init(of table: String, by keys: [BulkColumn], set assignments: String, where condition: String) {
        self.keys = keys
        one = Query("UPDATE \(table) SET \(assignments) WHERE \(condition)")
        many = Query(
            """
            UPDATE \(table) SET \(BulkLookup.naming(keys, in: assignments)) FROM \(BulkLookup.rows(of: keys))
            WHERE \(BulkLookup.few) AND \(BulkLookup.naming(keys, in: condition)) RETURNING key.place
            """
        )
    }

    /// The same, but that the row is deleted.
    init(deletingFrom table: String, by keys: [BulkColumn], where condition: String) {
        self.keys = keys
        one = Query("DELETE FROM \(table) WHERE \(condition)")
        many = Query(
            """
            DELETE FROM \(table) USING \(BulkLookup.rows(of: keys))
            WHERE \(BulkLookup.few) AND \(BulkLookup.naming(keys, in: condition)) RETURNING key.place
            """
        )
    }
}
