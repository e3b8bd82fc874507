/// Reads how much the store holds.
struct FigureQueries {
    let connection: SQLiteConnection

    /// No row of these tables is ever deleted, so that the last number is the count, and no table is walked.
    private static let figures = Query(
        """
        SELECT (SELECT coalesce(max(sequence), 0) FROM transactions),
            (SELECT coalesce(max(sequence), 0) FROM evidence),
            (SELECT coalesce(max(sequence), 0) FROM submissions),
            (SELECT count(*) FROM submissions WHERE settled_at IS NULL)
        """
    )

    func read() throws(StoreFailure) -> StoreFigures {
        try connection.row(Self.figures) { row in
            StoreFigures(
                transactions: Int(row.integer(0)),
                evidence: Int(row.integer(1)),
                submissions: Int(row.integer(2)),
                pendingSubmissions: Int(row.integer(3))
            )
        } ?? StoreFigures()
    }
}
