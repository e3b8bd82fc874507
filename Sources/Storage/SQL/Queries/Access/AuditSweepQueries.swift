import PurchaseModel

/// Takes out of the audit log what is not to stay in it.
struct AuditSweepQueries {
    let connection: any SQLConnection
    let time: LeaseTime

    /// By the key alone, as far as the limit. What a clock wrote that was ahead stands between older ones, and ends no walk.
    static let findEnd = Query(
        """
        SELECT max(sequence) FROM (
            SELECT sequence, at FROM admin_actions WHERE sequence > $1 ORDER BY sequence LIMIT $3
        ) AS looked_at
        WHERE at < $2
        """
    )
    /// The newest row's number names the next one's.
    static let delete = Query(
        """
        DELETE FROM admin_actions
        WHERE sequence > $1 AND sequence <= $2 AND at < $3 AND action = '\(AdminAction.signInRefused)'
            AND sequence < (SELECT max(sequence) FROM admin_actions)
        """
    )

    func sweepRefusedSignIns(
        olderThan age: Duration,
        at callers: Timestamp,
        after place: Int64,
        limit: Int
    ) throws(StoreFailure) -> Int64 {
        let moment = SQLValue.integer(try time.now(callers).advanced(by: .zero - age).milliseconds)
        let start = SQLValue.integer(place)
        let values = [start, moment, .integer(Int64(max(limit, 0)))]
        let end = try connection.row(Self.findEnd, values) { $0.optionalInteger(0) } ?? nil
        guard let end else { return place }
        try connection.run(Self.delete, [start, .integer(end), moment])
        return end
    }
}
