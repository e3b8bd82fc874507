/// A change of the row that a key finds, of which nothing is wanted but whether there was one; for many keys at once.
///
/// Each key finds one row at most, which no other key finds.
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
        many = Query(BulkKeys(keys).updating(table, set: assignments, where: condition))
    }

    /// The same, but that the row is deleted.
    init(deletingFrom table: String, by keys: [BulkColumn], where condition: String) {
        self.keys = keys
        one = Query("DELETE FROM \(table) WHERE \(condition)")
        many = Query(BulkKeys(keys).deleting(from: table, where: condition))
    }
}
