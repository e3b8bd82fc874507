import PurchaseModel

/// Keeps jobs, and who runs them. A job that is done is deleted.
struct JobQueries {
    let connection: any SQLConnection
    let time: LeaseTime

    private static let selected = """
        id, kind, payload, first_due_at, unique_key, created_at, state, due_at, attempt, lost_leases, owner, token,
        reason, died_at, sequence
        """
    private static let insert = Query(
        """
        INSERT INTO jobs (id, kind, payload, first_due_at, unique_key, created_at, state, due_at, attempt, lost_leases, token)
        VALUES ($1, $2, $3, $4, $5, $6, 0, $4, 0, 0, 0)
        ON CONFLICT DO NOTHING
        """
    )
    private static let findAlike = Query(
        "SELECT id FROM jobs WHERE kind = $1 AND unique_key = $2 AND unique_key IS NOT NULL AND state < 3"
    )
    private static let isOpen = Query(
        "SELECT 1 FROM jobs WHERE kind = $1 AND unique_key = $2 AND unique_key IS NOT NULL AND state < 3"
    )
    private static let find = Query("SELECT \(selected) FROM jobs WHERE id = $1")
    private static let firstDue = Query("SELECT min(due_at) FROM jobs WHERE state = $1 AND kind = $2")
    private static let listDue = Query(
        """
        SELECT due_at, sequence FROM jobs WHERE state = $1 AND kind = $2 AND due_at <= $3
        ORDER BY due_at, sequence LIMIT $4
        """
    )
    /// The condition is said again for a row that another's claim was waited for; the plus keeps the planner from looking
    /// for such rows by it, along all that wait.
    private static let claim = Query(
        """
        UPDATE jobs
        SET lost_leases = lost_leases + CASE WHEN state = 1 THEN 1 ELSE 0 END,
            state = 1, attempt = attempt + 1, token = token + 1, owner = $5, due_at = $6
        WHERE +state = $1 AND +due_at <= $3 AND sequence IN (
            SELECT sequence FROM jobs WHERE state = $1 AND kind = $2 AND due_at <= $3
            ORDER BY due_at, sequence LIMIT $4
        )
        RETURNING \(selected)
        """
    )
    private static let held = "id = $1 AND state = 1 AND owner = $2 AND token = $3"
    private static let renew = Query("UPDATE jobs SET due_at = $4 WHERE \(held)")
    private static let delete = Query("DELETE FROM jobs WHERE \(held)")
    private static let again = Query(
        "UPDATE jobs SET state = 0, lost_leases = 0, owner = NULL, due_at = $4, reason = $5 WHERE \(held)"
    )
    private static let bury = Query(
        "UPDATE jobs SET state = 3, owner = NULL, died_at = $4, reason = $5 WHERE \(held)"
    )
    private static let release = Query(
        """
        UPDATE jobs SET state = CASE WHEN lost_leases > 0 THEN 2 ELSE 0 END, owner = NULL, due_at = $4,
            attempt = attempt - 1
        WHERE \(held)
        """
    )
    private static let revive = Query(
        """
        UPDATE jobs SET state = 0, due_at = $2, attempt = 0, lost_leases = 0, reason = NULL, died_at = NULL
        WHERE id = $1 AND state = 3 AND (unique_key IS NULL OR NOT EXISTS (
            SELECT 1 FROM jobs AS other
            WHERE other.kind = jobs.kind AND other.unique_key = jobs.unique_key
                AND other.unique_key IS NOT NULL AND other.state < 3
        ))
        """
    )
    private static let hasten = Query("UPDATE jobs SET due_at = $2 WHERE id = $1 AND state = 0 AND due_at > $2")
    private static let listDead = Query(
        """
        SELECT \(selected) FROM jobs WHERE died_at >= $1 AND died_at IS NOT NULL AND (died_at > $1 OR id > $2)
        ORDER BY died_at, id LIMIT $3
        """
    )
    private static let count = Query(
        "SELECT kind, state, count(*), min(due_at) FROM jobs GROUP BY kind, state ORDER BY kind, state"
    )

    func find(_ id: JobID) throws(StoreFailure) -> JobRow? {
        try connection.row(Self.find, [.text(id.text)], Self.read)
    }

    func open(kind: String, keys: [String]) throws(StoreFailure) -> Set<String> {
        var open: Set<String> = []
        for key in keys where try connection.row(Self.isOpen, [.text(kind), .text(key)], { _ in true }) == true {
            open.insert(key)
        }
        return open
    }

    func hasDue(kinds: Set<String>, at callers: Timestamp) throws(StoreFailure) -> Bool {
        let now = try time.now(callers)
        for kind in kinds {
            for state in [JobState.pending, .leased, .suspect] {
                let values: [SQLValue] = [.integer(state.rawValue), .text(kind)]
                let due = try connection.row(Self.firstDue, values) { $0.optionalTimestamp(0) } ?? nil
                if let due, due <= now { return true }
            }
        }
        return false
    }

    func enqueue(_ job: NewJob) throws(StoreFailure) -> (id: JobID, isNew: Bool) {
        guard job.isStorable else { throw .unstorable }
        let values: [SQLValue] = [
            .text(job.id.text), .text(job.kind), .bytes(job.payload), .integer(job.due.milliseconds),
            .optional(job.key), .integer(job.createdAt.milliseconds),
        ]
        if try connection.run(Self.insert, values) == 1 { return (job.id, true) }
        if let key = job.key {
            let alike = try connection.row(Self.findAlike, [.text(job.kind), .text(key)]) { JobID($0.text(0)) } ?? nil
            if let alike { return (alike, false) }
        }
        connection.doom(.conflict)
        throw .conflict
    }

    func claim(
        kinds: Set<String>,
        _ selection: JobSelection,
        terms callers: LeaseTerms
    ) throws(StoreFailure) -> JobClaim {
        let terms = try time.terms(callers)
        let kinds = kinds.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        // One more than is wanted tells whether there are more.
        let suspects = try due([.leased, .suspect], kinds, terms.now, limit: 2)
        switch selection {
        case .sound(let limit):
            let limit = min(max(limit, 1), JobClaim.limitMax)
            let sound = try due([.pending], kinds, terms.now, limit: limit).prefix(limit)
            return JobClaim(jobs: try claim(sound, terms), hasSuspects: !suspects.isEmpty)
        case .suspect:
            return JobClaim(jobs: try claim(suspects.prefix(1), terms), hasSuspects: suspects.count > 1)
        }
    }

    func renew(_ holds: [JobHold], terms callers: LeaseTerms) throws(StoreFailure) -> [JobHold] {
        let terms = try time.terms(callers)
        var renewed: [JobHold] = []
        for hold in holds {
            let values = Self.values(of: hold) + [.integer(terms.until.milliseconds)]
            if try connection.run(Self.renew, values) == 1 { renewed.append(hold) }
        }
        return renewed
    }

    func finish(_ hold: JobHold, as ending: JobEnding, at callers: Timestamp) throws(StoreFailure) -> Bool {
        guard ending.isStorable else { throw .unstorable }
        let now = try time.now(callers)
        let held = Self.values(of: hold)
        let changes =
            switch ending {
            case .done: try connection.run(Self.delete, held)
            case .again(let delay, let reason):
                try connection.run(
                    Self.again,
                    held + [.integer(now.advanced(by: delay).milliseconds), .text(reason)]
                )
            case .dead(let reason):
                try connection.run(Self.bury, held + [.integer(now.milliseconds), .text(reason)])
            case .released: try connection.run(Self.release, held + [.integer(now.milliseconds)])
            }
        return changes == 1
    }

    func revive(_ id: JobID, due: Timestamp) throws(StoreFailure) -> Bool {
        try connection.run(Self.revive, [.text(id.text), .integer(due.milliseconds)]) == 1
    }

    func hasten(_ id: JobID, due: Timestamp) throws(StoreFailure) -> Bool {
        try connection.run(Self.hasten, [.text(id.text), .integer(due.milliseconds)]) == 1
    }

    func deadLetters(after cursor: DeadLetterCursor?, limit: Int) throws(StoreFailure) -> DeadLetterPage {
        let limit = min(max(limit, 1), DeadLetterPage.limitMax)
        let values: [SQLValue] = [
            .integer(cursor?.diedAt.milliseconds ?? .min), .text(cursor?.id.text ?? ""), .integer(Int64(limit + 1)),
        ]
        let found = try connection.rows(Self.listDead, values, Self.read)
        let page = Array(found.prefix(limit))
        var next: DeadLetterCursor?
        if found.count > limit, let last = page.last, let diedAt = last.diedAt {
            next = DeadLetterCursor(diedAt: diedAt, id: last.id)
        }
        return DeadLetterPage(jobs: page, next: next)
    }

    func figures() throws(StoreFailure) -> [JobFigures] {
        var figures: [JobFigures] = []
        let rows = try connection.rows(Self.count) { row throws(StoreFailure) in
            guard let state = JobState(rawValue: row.integer(1)) else { throw SQLiteResult.unreadableRow }
            return (kind: row.text(0), state: state, count: Int(row.integer(2)), due: row.optionalTimestamp(3))
        }
        for row in rows {
            if figures.last.map({ !$0.kind.utf8.elementsEqual(row.kind.utf8) }) ?? true {
                figures.append(JobFigures(kind: row.kind))
            }
            figures[figures.count - 1].counts[row.state] = row.count
            if row.state == .pending { figures[figures.count - 1].oldestDue = row.due }
        }
        return figures
    }

    /// What stands where in one of the index's lists.
    private struct Place {
        var state: JobState
        var kind: String
        var dueAt: Int64
        var sequence: Int64
    }

    /// The first due ones over several lists of the index, each of which is in order.
    private func due(
        _ states: [JobState],
        _ kinds: [String],
        _ now: Timestamp,
        limit: Int
    ) throws(StoreFailure) -> [Place] {
        var found: [Place] = []
        for state in states {
            for kind in kinds {
                let values: [SQLValue] = [
                    .integer(state.rawValue), .text(kind), .integer(now.milliseconds), .integer(Int64(limit)),
                ]
                found += try connection.rows(Self.listDue, values) { row in
                    Place(state: state, kind: kind, dueAt: row.integer(0), sequence: row.integer(1))
                }
            }
        }
        return found.sorted { ($0.dueAt, $0.sequence) < ($1.dueAt, $1.sequence) }
    }

    /// Claims from each list as many as fall to it: one statement for each.
    private func claim(_ places: ArraySlice<Place>, _ terms: LeaseTerms) throws(StoreFailure) -> [JobRow] {
        var jobs: [(place: Int64, row: JobRow)] = []
        for state in Set(places.map(\.state)) {
            for (kind, places) in Dictionary(grouping: places.filter { $0.state == state }, by: \.kind) {
                let values: [SQLValue] = [
                    .integer(state.rawValue), .text(kind), .integer(terms.now.milliseconds),
                    .integer(Int64(places.count)), .text(terms.owner.text), .integer(terms.until.milliseconds),
                ]
                jobs += try connection.rows(Self.claim, values) { row throws(StoreFailure) in
                    (row.integer(14), try Self.read(row))
                }
            }
        }
        let order = Dictionary(uniqueKeysWithValues: places.enumerated().map { ($1.sequence, $0) })
        return jobs.sorted { order[$0.place] ?? .max < order[$1.place] ?? .max }.map(\.row)
    }

    private static func values(of hold: JobHold) -> [SQLValue] {
        [.text(hold.id.text), .text(hold.owner.text), .integer(hold.token)]
    }

    private static func read(_ row: SQLRow) throws(StoreFailure) -> JobRow {
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
