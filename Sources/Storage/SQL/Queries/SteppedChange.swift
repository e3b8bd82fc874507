/// A change of some of a table's rows, so many looked at in a step, along a key of three numbers.
struct SteppedChange: Sendable {
    /// The last row of a step, unless it is the last step: its parameters are the place, and by how many rows behind the first
    /// one it is.
    let findEnd: Query
    /// The change's own parameters, where the step begins, where it ends.
    let change: Query

    /// - Parameters:
    ///   - table: whose rows.
    ///   - key: three columns of numbers above -1, unique together, and the first ones of an index; the first of 64 bits.
    ///   - rows: which of them there are to be looked at, as the index says it; `nil` for all.
    ///   - assignments: what is changed, and no column of the key.
    ///   - condition: of what is looked at, what is changed.
    ///   - parameters: how many these two have.
    init(
        of table: String,
        by key: [String],
        rows: String? = nil,
        set assignments: String,
        where condition: String,
        parameters: Int
    ) {
        let names = key.joined(separator: ", ")
        let open = rows.map { "\($0) AND " } ?? ""
        func place(_ first: Int) -> String { "(\(key.indices.map { "$\($0 + first)" }.joined(separator: ", ")))" }
        findEnd = Query(
            """
            SELECT \(names) FROM \(table) WHERE \(open)(\(names)) > \(place(1))
            ORDER BY \(names) LIMIT 1 OFFSET $\(key.count + 1)
            """
        )
        change = Query(
            """
            UPDATE \(table) SET \(assignments)
            WHERE \(open)(\(names)) > \(place(parameters + 1)) AND (\(names)) <= \(place(parameters + 1 + key.count))
                AND (\(condition))
            """
        )
    }

    /// - Parameters:
    ///   - connection: on which a transaction is open.
    ///   - values: the change's parameters.
    ///   - place: where the step before ended; `nil` for the first one.
    ///   - limit: how many rows are looked at, 1 at least.
    /// - Returns: how many were changed, and where the next step begins; `nil` after the last one.
    /// - Throws: ``StoreFailure``.
    func step(
        on connection: any SQLConnection,
        _ values: [SQLValue],
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> (changed: Int, next: WalkPlace?) {
        let first: [SQLValue] = [.integer(-1), .integer(-1), .integer(-1)]
        let start = place.map { $0.parts.map(TableWalk.value) } ?? first
        let next = try connection.row(findEnd, start + [.integer(Int64(max(limit, 1) - 1))]) { row in
            WalkPlace(parts: [.integer(row.integer(0)), .integer(row.integer(1)), .integer(row.integer(2))])
        }
        // Behind all of them, and in PostgreSQL no greater than what the smaller columns hold.
        let last: [SQLValue] = [.integer(.max), .integer(0), .integer(0)]
        let end = next.map { $0.parts.map(TableWalk.value) } ?? last
        return (try connection.run(change, values + start + end), next)
    }
}
