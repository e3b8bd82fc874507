import PurchaseModel

/// Counts jobs as far as a limit, each list from its front: what that costs does not grow with the table.
struct JobBacklogQueries {
    let connection: any SQLConnection
    let time: LeaseTime

    /// The lists of `jobs_due` that hold anything, each found by one look-up from the one before it.
    static let listKinds = Query(
        """
        WITH RECURSIVE states (state) AS (VALUES \(states)),
        lists (state, kind) AS (
            SELECT state, (SELECT min(jobs.kind) FROM jobs WHERE jobs.state = states.state) FROM states
            UNION ALL
            SELECT state, (SELECT min(jobs.kind) FROM jobs WHERE jobs.state = lists.state AND jobs.kind > lists.kind)
            FROM lists WHERE kind IS NOT NULL
        )
        SELECT kind, state FROM lists WHERE kind IS NOT NULL ORDER BY kind, state
        """
    )
    private static let states = JobState.allCases.map { "(CAST(\($0.rawValue) AS BIGINT))" }.joined(separator: ", ")
    static let count = BulkLookup(
        by: [.integer("state"), .text("kind"), .integer("limit"), .integer("now")],
        """
        SELECT count(*), min(due_at), (
            SELECT count(*) FROM (
                SELECT 1 FROM jobs WHERE state = $1 AND kind = $2 AND due_at <= $4 ORDER BY due_at, sequence LIMIT $3
            ) AS due
        ) AS due_count
        FROM (SELECT due_at FROM jobs WHERE state = $1 AND kind = $2 ORDER BY due_at, sequence LIMIT $3) AS first
        """
    )

    func read(at callers: Timestamp, countingTo limit: Int) throws(StoreFailure) -> [JobBacklog] {
        let lists = try connection.rows(Self.listKinds) { row throws(StoreFailure) in
            guard let state = JobState(rawValue: row.integer(1)) else { throw SQLiteResult.unreadableRow }
            return (kind: row.text(0), state: state)
        }
        if lists.isEmpty { return [] }
        let now = try time.now(callers)
        let keys: [[SQLValue]] = lists.map { kind, state in
            [.integer(state.rawValue), .text(kind), .integer(Int64(max(limit, 1))), .integer(now.milliseconds)]
        }
        var backlogs: [JobBacklog] = []
        try connection.visit(Self.count, keys) { place, row in
            let (kind, state) = lists[place]
            if backlogs.last.map({ !$0.kind.utf8.elementsEqual(kind.utf8) }) ?? true {
                backlogs.append(JobBacklog(kind: kind))
            }
            backlogs[backlogs.count - 1].counts[state] = Int(row.integer(0))
            guard state == .pending else { return }
            backlogs[backlogs.count - 1].oldestDue = row.optionalTimestamp(1)
            backlogs[backlogs.count - 1].due = Int(row.integer(2))
        }
        return backlogs
    }
}
