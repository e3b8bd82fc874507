/// Rows of one table to insert, described once. SQLite runs one statement for each row; PostgreSQL gathers them, and
/// sends arrays.
final class BulkInsert: Sendable {
    /// What happens to a row whose key is there already.
    enum Conflict: Sendable {
        /// Somebody was faster: the transaction ends in ``StoreFailure/conflict``.
        case fails
        /// The same, also for the table's other unique constraints.
        case failsByAnyName
        /// The row that is there stays as it is.
        case keepsOld
        /// The row that is there is changed: what stands after `SET`.
        case updates(String)
    }

    let table: String
    let columns: [BulkColumn]
    /// Where the key's columns stand among the columns.
    let key: [Int]
    let mustInsertAll: Bool
    /// One row, for SQLite.
    let one: Query
    /// Many rows, for PostgreSQL.
    let many: Query

    /// - Parameters:
    ///   - table: its name.
    ///   - columns: in the order of the values.
    ///   - extra: columns that PostgreSQL has and SQLite has not; their values come last.
    ///   - key: names of the columns of the unique constraint.
    ///   - conflict: what to do when that is violated.
    init(
        into table: String,
        _ columns: [BulkColumn],
        onlyInPostgreSQL extra: [BulkColumn] = [],
        key: [String],
        on conflict: Conflict = .fails
    ) {
        self.table = table
        self.columns = columns + extra
        self.key = key.compactMap { name in columns.firstIndex { $0.name == name } }
        precondition(self.key.count == key.count && !key.isEmpty, "a key is made of the columns")
        let names = "(\(key.joined(separator: ", ")))"
        let tail: String
        switch conflict {
        case .fails: (tail, mustInsertAll) = ("ON CONFLICT \(names) DO NOTHING", true)
        case .failsByAnyName: (tail, mustInsertAll) = ("ON CONFLICT DO NOTHING", true)
        case .keepsOld: (tail, mustInsertAll) = ("ON CONFLICT \(names) DO NOTHING", false)
        case .updates(let assignments):
            (tail, mustInsertAll) = ("ON CONFLICT \(names) DO UPDATE SET \(assignments)", false)
        }
        let places = (1...columns.count).map { "$\($0)" }.joined(separator: ", ")
        let head = "INSERT INTO \(table)"
        one = Query("\(head) (\(BulkColumn.names(columns))) VALUES (\(places)) \(tail)")
        let all = self.columns
        many = Query("\(head) (\(BulkColumn.names(all))) SELECT * FROM unnest(\(BulkColumn.arrays(all))) \(tail)")
    }
}
