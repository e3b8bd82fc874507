/// Many keys, as a statement of PostgreSQL has them: rows `key` with a `place`, from 1, and a column for each parameter.
struct BulkKeys {
    /// True of every key. A planner that is told so expects one key, and looks each up by its index; otherwise, while it
    /// knows of few rows, it means to read the whole table, and still does so once the table has grown.
    private static let expectingFew = "key.place BETWEEN 1 AND 1000000"

    private let columns: [BulkColumn]

    /// - Parameter columns: what the parameters are, in their order; the names are of no account.
    init(_ columns: [BulkColumn]) { self.columns = columns }

    /// `unnest(…) AS key`, with the columns `k1`, `k2` … and `place`: one parameter for each column, an array.
    private var rows: String {
        let names = (1...columns.count).map { "k\($0)" }.joined(separator: ", ")
        return "unnest(\(BulkColumn.arrays(columns))) WITH ORDINALITY AS key (\(names), place)"
    }

    /// The keys, each joined with the rows `found` of a `SELECT` about one key.
    func asking(_ question: String) -> String {
        // The offset keeps the planner from turning the question into a join over the whole table.
        "\(rows) CROSS JOIN LATERAL (\(naming(in: question)) OFFSET 0) AS found"
    }

    /// An `UPDATE` that gives the place of each key that found a row, and whatever columns are added to its end.
    ///
    /// What it does to a row that two keys find is undefined.
    ///
    /// - Parameters:
    ///   - table: whose rows are changed.
    ///   - assignments: what stands after `SET`.
    ///   - source: rows that are named `key` as well and have the same columns, in place of the keys themselves.
    ///   - condition: which row it is.
    /// - Returns: the statement, which ends with the columns that it gives.
    func updating(
        _ table: String,
        set assignments: String,
        from source: String? = nil,
        where condition: String
    ) -> String {
        """
        UPDATE \(table) SET \(naming(in: assignments)) FROM \(source ?? rows)
        WHERE \(Self.expectingFew) AND \(naming(in: condition)) RETURNING key.place
        """
    }

    /// A `DELETE` that gives the place of each key that found a row.
    func deleting(from table: String, where condition: String) -> String {
        """
        DELETE FROM \(table) USING \(rows)
        WHERE \(Self.expectingFew) AND \(naming(in: condition)) RETURNING key.place
        """
    }

    /// A text about one key, with the columns of `key` where its parameters stood.
    private func naming(in text: String) -> String {
        // From the last one, so that $1 is not taken for the beginning of $10.
        columns.indices.reversed().reduce(text) { text, place in
            Self.replacing("$\(place + 1)", by: "key.k\(place + 1)", in: text)
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
