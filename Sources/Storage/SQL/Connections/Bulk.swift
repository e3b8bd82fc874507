/// A column that many rows are written to, or looked up by, at once.
struct BulkColumn: Sendable {
    /// PostgreSQL's types of parameters; a narrower column takes the value if it fits.
    enum Kind: String, Sendable {
        case integer = "bigint"
        case text
        case bytes = "bytea"
    }

    let name: String
    let kind: Kind

    static func integer(_ name: String) -> BulkColumn { BulkColumn(name: name, kind: .integer) }
    static func text(_ name: String) -> BulkColumn { BulkColumn(name: name, kind: .text) }
    static func bytes(_ name: String) -> BulkColumn { BulkColumn(name: name, kind: .bytes) }

    /// `$1::bigint[], $2::text[]` …: one array for each column, which `unnest` makes rows of.
    static func arrays(_ columns: [BulkColumn]) -> String {
        columns.enumerated().map { "$\($0.offset + 1)::\($0.element.kind.rawValue)[]" }.joined(separator: ", ")
    }

    static func names(_ columns: some Sequence<BulkColumn>) -> String {
        columns.map(\.name).joined(separator: ", ")
    }
}

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
    /// How many of the columns SQLite has too.
    let countInSQLite: Int
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
        countInSQLite = columns.count
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
    init(of table: String, key: [BulkColumn], _ columns: [BulkColumn]) {
        let all = key + [.integer("version")] + columns
        self.table = table
        self.columns = all
        keyCount = key.count
        let changed = all.enumerated().dropFirst(key.count + 1)
        let matched = all.enumerated().prefix(key.count + 1)
        let one = changed.map { "\($0.element.name) = $\($0.offset + 1)" } + ["version = version + 1"]
        let many = changed.map { "\($0.element.name) = new.\($0.element.name)" } + ["version = old.version + 1"]
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

/// A question about one key, or a change of the row that it finds, to be asked of many at once.
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
        // The offset keeps the planner from turning the question into a join over the whole table.
        many = Query(
            """
            SELECT key.place, found.* FROM \(BulkLookup.rows(of: keys))
            CROSS JOIN LATERAL (\(BulkLookup.naming(keys, in: text)) OFFSET 0) AS found
            """
        )
    }

    /// Of keys that find the same row at most one may find it: what a statement does to a row a second time is undefined.
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
        many = Query(
            """
            UPDATE \(table) SET \(BulkLookup.naming(keys, in: assignments)) FROM \(BulkLookup.rows(of: keys))
            WHERE \(BulkLookup.few) AND \(BulkLookup.naming(keys, in: condition)) RETURNING key.place, \(columns)
            """
        )
    }

    /// Changes the rows that each key finds, which another key must not find.
    ///
    /// - Parameters:
    ///   - table: whose rows are changed.
    ///   - keys: what the parameters are, in their order; the names are of no account.
    ///   - question: for PostgreSQL, a `SELECT` of what tells the rows, asked once; its columns are `key`'s, too.
    ///   - assignments: what stands after `SET`.
    ///   - condition: for PostgreSQL, which row it is.
    ///   - columns: for PostgreSQL, what is told of a row that was changed.
    ///   - rest: for SQLite, what follows the assignments.
    init(
        changing table: String,
        by keys: [BulkColumn],
        found question: String,
        set assignments: String,
        where condition: String,
        tell columns: String,
        one rest: String
    ) {
        self.keys = keys
        one = Query("UPDATE \(table) SET \(assignments) \(rest)")
        // Joined to the table itself, the question could be asked anew for each of its rows.
        many = Query(
            """
            WITH key AS MATERIALIZED (
                SELECT key.*, found.* FROM \(BulkLookup.rows(of: keys))
                CROSS JOIN LATERAL (\(BulkLookup.naming(keys, in: question)) OFFSET 0) AS found
            )
            UPDATE \(table) SET \(BulkLookup.naming(keys, in: assignments)) FROM key
            WHERE \(BulkLookup.few) AND \(BulkLookup.naming(keys, in: condition)) RETURNING key.place, \(columns)
            """
        )
    }

    /// True of every key; a planner that is told so expects one key, and looks each up by its index. Otherwise, while it
    /// knows of few rows, it means to read the whole table, and still does so once the table has grown.
    static let few = "key.place BETWEEN 1 AND 1000000"

    /// Rows `key`, which have a place, from 1, and a column for each parameter: `k1`, `k2` …
    static func rows(of keys: [BulkColumn]) -> String {
        let names = (1...keys.count).map { "k\($0)" }.joined(separator: ", ")
        return "unnest(\(BulkColumn.arrays(keys))) WITH ORDINALITY AS key (\(names), place)"
    }

    /// With columns of such rows where parameters stood.
    static func naming(_ keys: [BulkColumn], in text: String) -> String {
        // From the last one, so that $1 is not taken for the beginning of $10.
        keys.indices.reversed().reduce(text) { text, place in
            replacing("$\(place + 1)", by: "key.k\(place + 1)", in: text)
        }
    }

    private static func replacing(_ parameter: String, by name: String, in text: String) -> String {
        let (wanted, name) = (Array(parameter.utf8), Array(name.utf8))
        let source = Array(text.utf8)
        var result: [UInt8] = []
        var place = 0
        while place < source.count {
            if source[place...].starts(with: wanted) {
                result += name
                place += wanted.count
            } else {
                result.append(source[place])
                place += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}

/// The numbers of a table's rows, in the order in which they were inserted. Keep each in a static constant.
final class RowSequence: Sendable {
    /// SQLite numbers without gaps, since nobody else writes; PostgreSQL does not need to look.
    let last: Query

    init(of table: String) { last = Query("SELECT coalesce(max(sequence), 0) FROM \(table)") }
}
