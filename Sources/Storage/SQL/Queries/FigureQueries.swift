/// Reads how much the store holds.
struct FigureQueries {
    let connection: any SQLConnection

    /// The last row of these tables is never deleted, so that in SQLite its number is the count of all that ever were, and no
    /// table is walked.
    /// In PostgreSQL each writer keeps the sums of what it added.
    private static let figures = Query(
        """
        SELECT (SELECT coalesce(max(sequence), 0) FROM transactions),
            (SELECT coalesce(max(sequence), 0) FROM evidence),
            (SELECT coalesce(max(sequence), 0) FROM submissions),
            (SELECT count(*) FROM submissions WHERE settled_at IS NULL)
        """,
        postgresql: """
            SELECT CAST(coalesce(sum(transactions), 0) AS BIGINT), CAST(coalesce(sum(evidence), 0) AS BIGINT),
                CAST(coalesce(sum(submissions), 0) AS BIGINT),
                (SELECT count(*) FROM submissions WHERE settled_at IS NULL)
            FROM writers
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
