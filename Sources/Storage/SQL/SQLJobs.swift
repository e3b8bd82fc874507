import PurchaseModel

// Jobs and kept answers: hands each verb to the file that knows its SQL.
extension SQLTransaction {
    private var jobs: JobQueries { JobQueries(connection: connection, time: time) }
    private var deadJobs: DeadJobQueries { DeadJobQueries(connection: connection) }
    private var answers: AnswerQueries { AnswerQueries(connection: connection, time: time) }

    func job(_ id: JobID) throws(StoreFailure) -> JobRow? {
        try jobs.find(id)
    }

    func hasDueJobs(kinds: Set<String>, at now: Timestamp) throws(StoreFailure) -> Bool {
        try jobs.hasDue(kinds: kinds, at: now)
    }

    func openJobs(kind: String, keys: [String]) throws(StoreFailure) -> Set<String> {
        try jobs.open(kind: kind, keys: keys)
    }

    func deadLetters(after cursor: DeadLetterCursor?, limit: Int) throws(StoreFailure) -> DeadLetterPage {
        try jobs.deadLetters(after: cursor, limit: limit)
    }

    func jobFigures() throws(StoreFailure) -> [JobFigures] {
        try jobs.figures()
    }

    func jobBacklogs(at now: Timestamp, countingTo limit: Int) throws(StoreFailure) -> [JobBacklog] {
        try JobBacklogQueries(connection: connection, time: time).read(at: now, countingTo: limit)
    }

    func enqueue(_ job: NewJob) throws(StoreFailure) -> (id: JobID, isNew: Bool) {
        try jobs.enqueue(job)
    }

    func claimJobs(
        kinds: Set<String>,
        _ selection: JobSelection,
        terms: LeaseTerms
    ) throws(StoreFailure) -> JobClaim {
        try jobs.claim(kinds: kinds, selection, terms: terms)
    }

    func renewJobs(_ holds: [JobHold], terms: LeaseTerms) throws(StoreFailure) -> [JobHold] {
        try jobs.renew(holds, terms: terms)
    }

    func finishJobs(_ finished: [FinishedJob], at now: Timestamp) throws(StoreFailure) -> [Bool] {
        try jobs.finish(finished, at: now)
    }

    func reviveJob(_ id: JobID, at now: Timestamp) throws(StoreFailure) -> Bool {
        try jobs.revive(id, at: now)
    }

    func forgetDeadJobs(_ ids: [JobID]) throws(StoreFailure) -> Int {
        try deadJobs.forget(ids)
    }

    func keptSubmissions(among ids: [SubmissionID]) throws(StoreFailure) -> Set<SubmissionID> {
        try deadJobs.kept(among: ids)
    }

    func holdJob(_ id: JobID) throws(StoreFailure) -> Bool {
        try jobs.hold(id)
    }

    func hastenJob(_ id: JobID, at now: Timestamp) throws(StoreFailure) -> Bool {
        try jobs.hasten(id, at: now)
    }

    func hastenJobs(
        by lead: ClockLead,
        before place: Int64,
        limit: Int
    ) throws(StoreFailure) -> (changed: Int, next: Int64?) {
        try jobs.hasten(by: lead, before: place, limit: limit)
    }

    func keptAnswer(_ name: IdempotencyName) throws(StoreFailure) -> KeptAnswer? {
        try answers.find(name)
    }

    func keepAnswer(_ answer: KeptAnswer) throws(StoreFailure) {
        try answers.keep(answer)
    }

    func sweepAnswers(olderThan age: Duration, at now: Timestamp, limit: Int) throws(StoreFailure) -> Int {
        try answers.sweep(olderThan: age, at: now, limit: limit)
    }
}
