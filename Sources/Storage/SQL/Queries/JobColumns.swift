import PurchaseModel

/// A job's columns, and how a row of them is read.
enum JobColumns {
    static let names = """
        id, kind, payload, first_due_at, unique_key, created_at, state, due_at, attempt, lost_leases, owner, token,
        reason, died_at
        """

    static func read(_ row: SQLRow) throws(StoreFailure) -> JobRow {
        guard let id = JobID(row.text(0)), let state = JobState(rawValue: row.integer(6)) else {
            throw SQLiteResult.unreadableRow
        }
        let dueAt = Timestamp(milliseconds: row.integer(7))
        var lease: Lease?
        if state == .leased {
            guard let owner: LeaseOwner = try row.identifier(10) else { throw SQLiteResult.unreadableRow }
            lease = Lease(owner: owner, until: dueAt, token: row.integer(11))
        }
        let job = NewJob(
            id: id,
            kind: row.text(1),
            payload: row.bytes(2),
            due: Timestamp(milliseconds: row.integer(3)),
            key: row.optionalText(4),
            createdAt: Timestamp(milliseconds: row.integer(5))
        )
        return JobRow(
            job,
            state: state,
            dueAt: dueAt,
            attempt: Int(row.integer(8)),
            lostLeases: Int(row.integer(9)),
            lease: lease,
            reason: row.optionalText(12),
            diedAt: row.optionalTimestamp(13)
        )
    }
}
