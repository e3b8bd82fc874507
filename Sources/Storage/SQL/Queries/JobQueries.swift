import PurchaseModel

/// Keeps jobs, and who runs them. A job that is done is deleted.
struct JobQueries {
    let connection: any SQLConnection
    let time: LeaseTime

    private static let insert = Query(insert(at: "$6"), postgresql: insert(at: orNow("$6")))
    /// What is due is told by how long it is to wait.
    private static func insert(at moment: String) -> String {
        """
        INSERT INTO jobs (id, kind, payload, first_due_at, unique_key, created_at, state, due_at, attempt, lost_leases, token)
        VALUES ($1, $2, $3, \(moment) + $4, $5, \(moment), 0, \(moment) + $4, 0, 0, 0)
        ON CONFLICT DO NOTHING
        """
    }
    /// The caller's moment, or where none is told the database's.
    private static func orNow(_ moment: String) -> String { "coalesce(\(moment), \(LeaseTime.databaseNow))" }
    private static let findAlike = Query(
        "SELECT id FROM jobs WHERE kind = $1 AND unique_key = $2 AND unique_key IS NOT NULL AND state < 3"
    )
    private static let isOpen = BulkLookup(
        by: [.text("kind"), .text("unique_key")],
        "SELECT 1 FROM jobs WHERE kind = $1 AND unique_key = $2 AND unique_key IS NOT NULL AND state < 3"
    )
    private static let find = Query("SELECT \(JobColumns.names) FROM jobs WHERE id = $1")
    private static let firstDue = BulkLookup(
        by: [.integer("state"), .text("kind")],
        "SELECT min(due_at) FROM jobs WHERE state = $1 AND kind = $2"
    )
    /// Tells with each what time it is. In a `SELECT` of its own the database's time is asked once, and an index goes by it.
    private static let listDue = {
        func first(at moment: String) -> String {
            """
            SELECT due_at, sequence, \(moment) AS asked_at FROM jobs WHERE state = $1 AND kind = $2 AND due_at <= \(moment)
            ORDER BY due_at, sequence LIMIT $4
            """
        }
        return BulkLookup(
            by: [.integer("state"), .text("kind"), .integer("now"), .integer("limit")],
            one: first(at: "coalesce($3, unixepoch() * 1000)"),
            many: { keys in
                let moment = "coalesce($3, (SELECT \(LeaseTime.databaseNow)))"
                return "SELECT key.place, found.* FROM \(keys.asking(first(at: moment)))"
            }
        )
    }()
    private static let claim = claim(locking: "")
    /// Passes over what another claims at this moment, and takes the next ones.
    private static let claimFree = claim(locking: "FOR UPDATE SKIP LOCKED")
    /// Of one list the first ones. PostgreSQL finds them first, once: joined to the table itself, they could be looked for
    /// anew for each of its rows. There, what makes them due is said again for a row that another's claim was waited for;
    /// the plus keeps the planner from looking for such rows by it, along all that wait.
    private static func claim(locking: String) -> BulkLookup {
        func first(_ columns: String, locking: String) -> String {
            """
            SELECT \(columns) FROM jobs WHERE state = $1 AND kind = $2 AND due_at <= $3
            ORDER BY due_at, sequence \(locking) LIMIT $4
            """
        }
        let assignments = """
            lost_leases = lost_leases + CASE WHEN state = 1 THEN 1 ELSE 0 END,
            state = 1, attempt = attempt + 1, token = token + 1, owner = $5, due_at = $6
            """
        return BulkLookup(
            by: [
                .integer("state"), .text("kind"), .integer("now"), .integer("limit"), .text("owner"),
                .integer("due_at"),
            ],
            one: """
                UPDATE jobs SET \(assignments) WHERE sequence IN (\(first("sequence", locking: "")))
                RETURNING \(JobColumns.names), sequence, NULL
                """,
            many: { keys in
                let change = keys.updating(
                    "jobs",
                    set: assignments,
                    from: "first_due AS key",
                    where: "sequence = key.number AND +state = $1 AND +due_at <= $3"
                )
                return """
                    WITH first_due AS MATERIALIZED (
                        SELECT key.*, found.*
                        FROM \(keys.asking(first("sequence AS number, due_at AS was_due_at", locking: locking)))
                    )
                    \(change), \(JobColumns.names), sequence, key.was_due_at
                    """
            }
        )
    }
    private static let holdColumns: [BulkColumn] = [.text("id"), .text("owner"), .integer("token")]
    /// By their state the planner would come upon all that runs: hence the plus.
    private static let held = "id = $1 AND +state = 1 AND owner = $2 AND token = $3"
    private static let renew = BulkChange(
        of: "jobs",
        by: holdColumns + [.integer("due_at")],
        set: "due_at = $4",
        where: held
    )
    private static let lockHeld = BulkChange(of: "jobs", by: holdColumns, set: "owner = owner", where: held)
    private static let delete = BulkChange(deletingFrom: "jobs", by: holdColumns, where: held)
    private static let change = BulkChange(
        of: "jobs",
        by: holdColumns + [
            .integer("state"), .integer("due_at"), .integer("uncounted"), .text("reason"), .integer("died_at"),
        ],
        set: """
            state = coalesce($4, CASE WHEN lost_leases > 0 THEN 2 ELSE 0 END),
            lost_leases = CASE WHEN $4 = 0 THEN 0 ELSE lost_leases END, owner = NULL, due_at = coalesce($5, due_at),
            attempt = coalesce(attempt - $6, 0), reason = coalesce($7, reason), died_at = $8
            """,
        where: held
    )
    private static let revive = Query(revive(at: "$2"), postgresql: revive(at: orNow("$2")))
    private static func revive(at moment: String) -> String {
        """
        UPDATE jobs SET state = 0, due_at = \(moment), attempt = 0, lost_leases = 0, reason = NULL, died_at = NULL
        WHERE id = $1 AND state = 3 AND (unique_key IS NULL OR NOT EXISTS (
            SELECT 1 FROM jobs AS other
            WHERE other.kind = jobs.kind AND other.unique_key = jobs.unique_key
                AND other.unique_key IS NOT NULL AND other.state < 3
        ))
        """
    }
    private static let hold = Query("UPDATE jobs SET attempt = attempt WHERE id = $1 AND state IN (0, 2)")
    private static let hasten = Query(hasten(at: "$2"), postgresql: hasten(at: orNow("$2")))
    private static func hasten(at moment: String) -> String {
        "UPDATE jobs SET due_at = \(moment) WHERE id = $1 AND state = 0 AND due_at > \(moment)"
    }
    /// By the key alone, as far as the limit.
    static let findHastened = Query(
        """
        SELECT min(sequence) FROM (
            SELECT sequence FROM jobs WHERE sequence < $1 ORDER BY sequence DESC LIMIT $2
        ) AS looked_at
        """
    )
    /// The plus keeps the planner to the same key: by their state it would come upon all.
    static let hastenSome = Query(
        """
        UPDATE jobs SET \(LeaseTime.hastening.assignments)
        WHERE sequence >= $4 AND sequence < $5 AND +state < 3 AND (\(LeaseTime.hastening.condition))
        """
    )
    private static let listDead = Query(
        """
        SELECT \(JobColumns.names) FROM jobs WHERE died_at >= $1 AND died_at IS NOT NULL AND (died_at > $1 OR id > $2)
        ORDER BY died_at, id LIMIT $3
        """
    )
    private static let count = Query(
        "SELECT kind, state, count(*), min(due_at) FROM jobs GROUP BY kind, state ORDER BY kind, state"
    )

    func find(_ id: JobID) throws(StoreFailure) -> JobRow? {
        try connection.row(Self.find, [.text(id.text)], JobColumns.read)
    }

    func open(kind: String, keys: [String]) throws(StoreFailure) -> Set<String> {
        var open: Set<String> = []
        let asked: [[SQLValue]] = keys.map { [.text(kind), .text($0)] }
        try connection.visit(Self.isOpen, asked) { place, _ in open.insert(keys[place]) }
        return open
    }

    func hasDue(kinds: Set<String>, at callers: Timestamp) throws(StoreFailure) -> Bool {
        let states = [JobState.pending, .leased, .suspect]
        let lists = states.flatMap { state in kinds.map { Self.values(of: List(state: state, kind: $0)) } }
        if lists.isEmpty { return false }
        let now = try time.now(callers)
        var isDue = false
        try connection.visit(Self.firstDue, lists) { _, row in
            if let due = row.optionalTimestamp(0), due <= now { isDue = true }
        }
        return isDue
    }

    func enqueue(_ job: NewJob) throws(StoreFailure) -> (id: JobID, isNew: Bool) {
        guard job.isStorable else { throw .unstorable }
        let values: [SQLValue] = [
            .text(job.id.text), .text(job.kind), .bytes(job.payload), .integer(job.pause), .optional(job.key),
            time.noted(job.createdAt),
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
        let kinds = kinds.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        switch selection {
        case .sound(let limit):
            let limit = min(max(limit, 1), JobClaim.limitMax)
            let due = try due(kinds, at: callers.now, suspects: 1, sound: limit)
            let jobs = try claim(due.sound.prefix(limit), callers, at: due.now)
            return JobClaim(jobs: jobs, hasSuspects: !due.suspects.isEmpty)
        case .suspect:
            // One more than is wanted tells whether there are more.
            let due = try due(kinds, at: callers.now, suspects: 2, sound: 0)
            let jobs = try claim(due.suspects.prefix(1), callers, at: due.now)
            return JobClaim(jobs: jobs, hasSuspects: due.suspects.count > 1)
        }
    }

    func renew(_ holds: [JobHold], terms callers: LeaseTerms) throws(StoreFailure) -> [JobHold] {
        if holds.isEmpty { return [] }
        let terms = try time.terms(callers)
        // In one order, so that two that renew do not wait for each other.
        let placed = Set(holds).sorted(by: Self.precedes)
        let keys = placed.map { Self.values(of: $0) + [.integer(terms.until.milliseconds)] }
        let renewed = Set(zip(placed, try connection.change(Self.renew, keys)).filter(\.1).map(\.0))
        return holds.filter(renewed.contains)
    }

    func finish(_ finished: [FinishedJob], at callers: Timestamp) throws(StoreFailure) -> [Bool] {
        guard finished.allSatisfy(\.ending.isStorable) else { throw .unstorable }
        if finished.isEmpty { return [] }
        var places: [JobHold: Int] = [:]
        // Who says it twice has no lease the second time.
        for (place, job) in finished.enumerated() where places[job.hold] == nil { places[job.hold] = place }
        let ordered = places.values.sorted { Self.precedes(finished[$0].hold, finished[$1].hold) }
        let done = ordered.filter { finished[$0].ending == .done }
        let others = ordered.filter { finished[$0].ending != .done }
        if connection.isShared, !done.isEmpty, !others.isEmpty {
            // In the order in which leases are renewed: whoever holds what this waits for does not wait for what this holds.
            _ = try connection.change(Self.lockHeld, ordered.map { Self.values(of: finished[$0].hold) })
        }
        let deleted = try connection.change(Self.delete, done.map { Self.values(of: finished[$0].hold) })
        // What is done needs no moment.
        let now = others.isEmpty ? callers : try time.now(callers)
        let changed = try connection.change(
            Self.change,
            others.map { Self.values(of: finished[$0].hold) + Self.values(of: finished[$0].ending, at: now) }
        )
        var wasHeld = [Bool](repeating: false, count: finished.count)
        for (place, isChanged) in zip(done + others, deleted + changed) { wasHeld[place] = isChanged }
        return wasHeld
    }

    func revive(_ id: JobID, at now: Timestamp) throws(StoreFailure) -> Bool {
        try connection.run(Self.revive, [.text(id.text), time.noted(now)]) == 1
    }

    func hold(_ id: JobID) throws(StoreFailure) -> Bool {
        try connection.run(Self.hold, [.text(id.text)]) == 1
    }

    func hasten(_ id: JobID, at now: Timestamp) throws(StoreFailure) -> Bool {
        try connection.run(Self.hasten, [.text(id.text), time.noted(now)]) == 1
    }

    func hasten(
        by lead: ClockLead,
        before place: Int64,
        limit: Int
    ) throws(StoreFailure) -> (changed: Int, next: Int64?) {
        let values: [SQLValue] = [.integer(place), .integer(Int64(limit))]
        let first = try connection.row(Self.findHastened, values) { $0.optionalInteger(0) } ?? nil
        guard let first else { return (0, nil) }
        let places: [SQLValue] = [.integer(first), .integer(place)]
        return (try connection.run(Self.hastenSome, LeaseTime.values(of: lead) + places), first)
    }

    func deadLetters(after cursor: DeadLetterCursor?, limit: Int) throws(StoreFailure) -> DeadLetterPage {
        let limit = min(max(limit, 1), DeadLetterPage.limitMax)
        let values: [SQLValue] = [
            .integer(cursor?.diedAt.milliseconds ?? .min), .text(cursor?.id.text ?? ""), .integer(Int64(limit + 1)),
        ]
        let found = try connection.rows(Self.listDead, values, JobColumns.read)
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

    /// One of the index's lists, in which the longest due are first.
    private struct List: Hashable {
        var state: JobState
        var kind: String
    }

    /// What stands where in a list.
    private struct Place {
        var list: List
        var dueAt: Int64
        var sequence: Int64
    }

    /// The first due ones over several lists: at least so many, if there are; and what time it is, where there are any.
    private func due(
        _ kinds: [String],
        at callers: Timestamp,
        suspects: Int,
        sound: Int
    ) throws(StoreFailure) -> (suspects: [Place], sound: [Place], now: Timestamp) {
        let states = [(JobState.leased, suspects), (.suspect, suspects), (.pending, sound)].filter { $0.1 > 0 }
        let asked = states.flatMap { state, limit in kinds.map { (list: List(state: state, kind: $0), limit: limit) } }
        let keys = asked.map { Self.values(of: $0.list) + [time.noted(callers), .integer(Int64($0.limit))] }
        var (found, now): ([Place], Timestamp) = ([], callers)
        try connection.visit(Self.listDue, keys) { place, row in
            now = Timestamp(milliseconds: row.integer(2))
            found.append(Place(list: asked[place].list, dueAt: row.integer(0), sequence: row.integer(1)))
        }
        found.sort { ($0.dueAt, $0.sequence) < ($1.dueAt, $1.sequence) }
        return (found.filter { $0.list.state != .pending }, found.filter { $0.list.state == .pending }, now)
    }

    /// Claims from each list as many as fall to it. Where another was faster, others of it may come in their stead.
    private func claim(
        _ places: ArraySlice<Place>,
        _ callers: LeaseTerms,
        at now: Timestamp
    ) throws(StoreFailure) -> [JobRow] {
        let terms = LeaseTerms(owner: callers.owner, duration: callers.duration, now: now)
        let lists = Dictionary(grouping: places, by: \.list).sorted {
            ($0.key.state.rawValue, $0.key.kind) < ($1.key.state.rawValue, $1.key.kind)
        }
        let keys = lists.map { list, places in
            Self.values(of: list) + [
                .integer(terms.now.milliseconds), .integer(Int64(places.count)), .text(terms.owner.text),
                .integer(terms.until.milliseconds),
            ]
        }
        let dueAt = Dictionary(uniqueKeysWithValues: places.map { ($0.sequence, $0.dueAt) })
        var jobs: [(dueAt: Int64, sequence: Int64, row: JobRow)] = []
        let claim = connection.skipsLocked ? Self.claimFree : Self.claim
        try connection.visit(claim, keys) { _, row throws(StoreFailure) in
            let sequence = row.integer(14)
            jobs.append((row.optionalInteger(15) ?? dueAt[sequence] ?? .max, sequence, try JobColumns.read(row)))
        }
        return jobs.sorted { ($0.dueAt, $0.sequence) < ($1.dueAt, $1.sequence) }.map(\.row)
    }

    private static func values(of list: List) -> [SQLValue] {
        [.integer(list.state.rawValue), .text(list.kind)]
    }

    private static func values(of hold: JobHold) -> [SQLValue] {
        [.text(hold.id.text), .text(hold.owner.text), .integer(hold.token)]
    }

    /// For ``change``: the state, when it is due, how many attempts do not count (null: none does), why, and when it died.
    private static func values(of ending: JobEnding, at now: Timestamp) -> [SQLValue] {
        switch ending {
        case .done: preconditionFailure("what is done is deleted")
        case .again(let delay, let reason):
            let due = now.advanced(by: delay).milliseconds
            return [.integer(JobState.pending.rawValue), .integer(due), .integer(0), .text(reason), .null]
        case .afresh(let delay, let reason):
            let due = now.advanced(by: delay).milliseconds
            return [.integer(JobState.pending.rawValue), .integer(due), .null, .text(reason), .null]
        case .dead(let reason):
            let died = now.milliseconds
            return [.integer(JobState.dead.rawValue), .null, .integer(0), .text(reason), .integer(died)]
        // What was a suspect stays one.
        case .released: return [.null, .integer(now.milliseconds), .integer(1), .null, .null]
        }
    }

    private static func precedes(_ left: JobHold, _ right: JobHold) -> Bool {
        left.id == right.id ? left.token < right.token : left.id < right.id
    }
}
