/// A question about one key, or a change that tells of the rows that it finds, to be asked of many at once.
final class BulkLookup: Sendable {
    let keys: [BulkColumn]
    /// Of one key, for SQLite.
    let one: Query
    /// Of many, for PostgreSQL: the place of the key, from 1, comes before the row's columns.
    let many: Query

    /// - Parameters:
    ///   - keys: what the parameters are, in their order; the names are of no account.
    ///   - text: a `SELECT` of one key, with `$1`, `$2` … It may stand inside another one.
    init(by keys: [BulkColumn], _ text: String) {
        self.keys = keys
        one = Query(text)
        let bulk = BulkKeys(keys)
        many = Query("SELECT key.place, found.* FROM \(bulk.asking(text))")
    }

    /// - Parameters:
    ///   - keys: what the parameters are, in their order; the names are of no account.
    ///   - index: by which SQLite is to go: see ``Query/init(by:_:)``.
    ///   - text: a `SELECT` of one key, with what stands behind its table's name.
    convenience init(by keys: [BulkColumn], index: String, _ text: (String) -> String) {
        let many = text("")
        self.init(
            by: keys,
            one: text("INDEXED BY \(index)"),
            many: { "SELECT key.place, found.* FROM \($0.asking(many))" }
        )
    }

    /// Each key finds one row at most, which no other key finds.
    ///
    /// - Parameters:
    ///   - table: whose rows are changed.
    ///   - keys: what the parameters are, in their order; the names are of no account.
    ///   - assignments: what stands after `SET`.
    ///   - condition: which row it is.
    ///   - columns: what is told of a row that was changed.
    init(
        changing table: String,
        by keys: [BulkColumn],
        set assignments: String,
        where condition: String,
        tell columns: String
    ) {
        self.keys = keys
        one = Query("UPDATE \(table) SET \(assignments) WHERE \(condition) RETURNING \(columns)")
        let bulk = BulkKeys(keys)
        many = Query("\(bulk.updating(table, set: assignments, where: condition)), \(columns)")
    }

    /// Where the two databases need statements of different forms.
    ///
    /// - Parameters:
    ///   - keys: what the parameters are, in their order; the names are of no account.
    ///   - one: of one key, for SQLite.
    ///   - many: of many, for PostgreSQL: the place of the key comes before the row's columns.
    init(by keys: [BulkColumn], one: String, many: (BulkKeys) -> String) {
        self.keys = keys
        self.one = Query(one)
        self.many = Query(many(BulkKeys(keys)))
    }
}
