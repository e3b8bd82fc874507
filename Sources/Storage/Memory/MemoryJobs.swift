import PurchaseModel

/// A job as a memory store holds it.
struct MemoryJob: Sendable {
    var row: JobRow
    /// Its place among all that were ever added.
    var sequence: Int64
    /// The last lease's.
    var token: Int64 = 0

    var isOpen: Bool { row.state != .dead }
}

extension MemoryTransaction {
    func job(_ id: JobID) -> JobRow? { ledger.jobs[id]?.row }

    func hasDueJobs(kinds: Set<String>, at now: Timestamp) -> Bool {
        ledger.jobs.values.contains { $0.isOpen && kinds.contains($0.row.job.kind) && $0.row.dueAt <= now }
    }

    func openJobs(kind: String, keys: [String]) -> Set<String> {
        let open = ledger.jobs.values.filter { $0.isOpen && $0.row.job.kind == kind }.compactMap(\.row.job.key)
        return Set(open).intersection(keys)
    }

    func deadLetters(after cursor: DeadLetterCursor?, limit: Int) -> DeadLetterPage {
        let limit = min(max(limit, 1), DeadLetterPage.limitMax)
        let dead = ledger.jobs.values.map(\.row).compactMap { row in row.diedAt.map { (at: $0, row: row) } }
            .filter { died in cursor.map { Self.stands($0.diedAt, $0.id, before: died.at, died.row.id) } ?? true }
            .sorted { Self.stands($0.at, $0.row.id, before: $1.at, $1.row.id) }
        let page = dead.prefix(limit)
        return DeadLetterPage(
            jobs: page.map(\.row),
            next: dead.count > limit ? page.last.map { DeadLetterCursor(diedAt: $0.at, id: $0.row.id) } : nil
        )
    }

    func jobFigures() -> [JobFigures] {
        let kinds = Dictionary(grouping: ledger.jobs.values, by: \.row.job.kind)
        let names = kinds.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return names.map { kind in
            let jobs = kinds[kind] ?? []
            let counts = Dictionary(grouping: jobs, by: \.row.state).mapValues(\.count)
            let oldest = jobs.filter { $0.row.state == .pending }.map(\.row.dueAt).min()
            return JobFigures(kind: kind, counts: counts, oldestDue: oldest)
        }
    }

    func jobBacklogs(at now: Timestamp, countingTo limit: Int) -> [JobBacklog] {
        jobFigures().map { figures in
            let due = ledger.jobs.values.map(\.row).count { row in
                row.job.kind == figures.kind && row.state == .pending && row.dueAt <= now
            }
            return JobBacklog(
                kind: figures.kind,
                counts: figures.counts.mapValues { min($0, max(limit, 1)) },
                due: min(due, max(limit, 1)),
                oldestDue: figures.oldestDue
            )
        }
    }

    func enqueue(_ job: NewJob) throws(StoreFailure) -> (id: JobID, isNew: Bool) {
        guard job.isStorable else { throw .unstorable }
        if let alike = openJob(like: job) { return (alike, false) }
        guard ledger.jobs[job.id] == nil else { throw conflict() }
        let row = JobRow(
            job,
            state: .pending,
            dueAt: job.due,
            attempt: 0,
            lostLeases: 0,
            lease: nil,
            reason: nil,
            diedAt: nil
        )
        put(ledger.jobsAdded + 1, at: \.jobsAdded)
        put(MemoryJob(row: row, sequence: ledger.jobsAdded), at: \.jobs[job.id])
        return (job.id, true)
    }

    func claimJobs(
        kinds: Set<String>,
        _ selection: JobSelection,
        terms: LeaseTerms
    ) -> JobClaim {
        let due = ledger.jobs.values.filter { $0.row.dueAt <= terms.now && kinds.contains($0.row.job.kind) }
            .sorted { ($0.row.dueAt, $0.sequence) < ($1.row.dueAt, $1.sequence) }
        let suspects = due.filter { $0.row.state == .leased || $0.row.state == .suspect }
        switch selection {
        case .sound(let limit):
            let sound = due.filter { $0.row.state == .pending }.prefix(min(max(limit, 1), JobClaim.limitMax))
            return JobClaim(jobs: sound.map { claim($0, terms) }, hasSuspects: !suspects.isEmpty)
        case .suspect:
            return JobClaim(jobs: suspects.prefix(1).map { claim($0, terms) }, hasSuspects: suspects.count > 1)
        }
    }

    func renewJobs(_ holds: [JobHold], terms: LeaseTerms) -> [JobHold] {
        holds.filter { hold in
            guard var known = held(hold) else { return false }
            known.row.dueAt = terms.until
            known.row.lease?.until = terms.until
            put(known, at: \.jobs[hold.id])
            return true
        }
    }

    func finishJobs(_ finished: [FinishedJob], at now: Timestamp) throws(StoreFailure) -> [Bool] {
        guard finished.allSatisfy(\.ending.isStorable) else { throw .unstorable }
        return finished.map { finish($0.hold, as: $0.ending, at: now) }
    }

    func reviveJob(_ id: JobID, at now: Timestamp) -> Bool {
        guard var known = ledger.jobs[id], !known.isOpen, openJob(like: known.row.job) == nil else { return false }
        known.row.state = .pending
        known.row.dueAt = now
        known.row.attempt = 0
        known.row.lostLeases = 0
        known.row.reason = nil
        known.row.diedAt = nil
        put(known, at: \.jobs[id])
        return true
    }

    func forgetDeadJobs(_ ids: [JobID]) -> Int {
        let dead = Set(ids).filter { ledger.jobs[$0]?.isOpen == false }
        for id in dead { put(nil, at: \.jobs[id]) }
        return dead.count
    }

    func holdJob(_ id: JobID) -> Bool {
        guard let state = ledger.jobs[id]?.row.state else { return false }
        return state == .pending || state == .suspect
    }

    func hastenJob(_ id: JobID, at now: Timestamp) -> Bool {
        guard var known = ledger.jobs[id], known.row.state == .pending, known.row.dueAt > now else { return false }
        known.row.dueAt = now
        put(known, at: \.jobs[id])
        return true
    }

    func hastenJobs(by lead: ClockLead, before place: Int64, limit: Int) -> (changed: Int, next: Int64?) {
        let page = ledger.jobs.values.filter { $0.sequence < place }.sorted { $0.sequence > $1.sequence }.prefix(limit)
        let changed = page.count { job in
            let moved = lead.moved(job.row.dueAt, isLeased: job.row.state == .leased)
            guard job.isOpen, let moved else { return false }
            var known = job
            known.row.dueAt = moved
            known.row.lease?.until = moved
            put(known, at: \.jobs[known.row.job.id])
            return true
        }
        return (changed, page.last?.sequence)
    }

    private func openJob(like job: NewJob) -> JobID? {
        guard let key = job.key else { return nil }
        return ledger.jobs.values.first { $0.isOpen && $0.row.job.kind == job.kind && $0.row.job.key == key }?.row.id
    }

    private func claim(_ known: MemoryJob, _ terms: LeaseTerms) -> JobRow {
        var known = known
        if known.row.state == .leased { known.row.lostLeases += 1 }
        known.token += 1
        known.row.attempt += 1
        known.row.state = .leased
        known.row.dueAt = terms.until
        known.row.lease = Lease(owner: terms.owner, until: terms.until, token: known.token)
        put(known, at: \.jobs[known.row.id])
        return known.row
    }

    private func finish(_ hold: JobHold, as ending: JobEnding, at now: Timestamp) -> Bool {
        guard var known = held(hold) else { return false }
        known.row.lease = nil
        switch ending {
        case .done:
            put(nil, at: \.jobs[hold.id])
            return true
        case .again(let delay, let reason), .afresh(let delay, let reason):
            if case .afresh = ending { known.row.attempt = 0 }
            known.row.state = .pending
            known.row.lostLeases = 0
            known.row.dueAt = now.advanced(by: delay)
            known.row.reason = reason
        case .dead(let reason):
            known.row.state = .dead
            known.row.reason = reason
            known.row.diedAt = now
        case .released:
            known.row.state = known.row.lostLeases > 0 ? .suspect : .pending
            known.row.dueAt = now
            known.row.attempt -= 1
        }
        put(known, at: \.jobs[hold.id])
        return true
    }

    private func held(_ hold: JobHold) -> MemoryJob? {
        guard let known = ledger.jobs[hold.id], let lease = known.row.lease, lease.owner == hold.owner,
            lease.token == hold.token
        else { return nil }
        return known
    }

    private static func stands(_ at: Timestamp, _ id: JobID, before other: Timestamp, _ otherID: JobID) -> Bool {
        at == other ? id.text.utf8.lexicographicallyPrecedes(otherID.text.utf8) : at < other
    }
}
