package import PurchaseModel
package import Storage

/// Jobs that outlive the process: added in the write that they follow from, claimed by whoever is free.
package struct JobQueue: Sendable {
    /// What stands behind the key of a job that comes after one that runs.
    private static let again = " again"
    /// So many may come after one another while all before them run. The next one is never wanted before ``untilAgain``.
    private static let againMax = 16
    /// As long as a lease: by then the one that runs has mostly ended.
    private static let untilAgain = Duration.seconds(30)

    private let store: JobStore
    private let clock: any WallClock
    private let random: @Sendable () -> UInt64

    /// Makes a queue over a store.
    ///
    /// - Parameters:
    ///   - store: where the jobs are.
    ///   - clock: says what is due, and when leases end.
    ///   - random: any number, each as likely as the others; names are made of two.
    package init(store: any Store, clock: any WallClock, random: @escaping @Sendable () -> UInt64) {
        self.store = JobStore(store)
        self.clock = clock
        self.random = random
    }

    /// Adds a job, in a write that is under way.
    ///
    /// - Returns: false when one of its kind and key waits or runs already.
    /// - Parameters:
    ///   - job: what is to be done.
    ///   - due: when, by the queue's clock; `nil` for at once. Only how far it lies ahead is believed.
    ///   - write: what it follows from, and is kept with.
    /// - Throws: `StoreFailure`; then nothing of the write is kept.
    @discardableResult
    package func enqueue(
        _ job: some Job,
        due: Timestamp? = nil,
        in write: any JobVerbs
    ) throws(StoreFailure) -> Bool {
        try write.enqueue(row(of: job, due: due)).isNew
    }

    /// Has a job run now, in a write that is under way: adds it, or brings forward the one of its kind and key that waits. One
    /// that runs may know nothing yet of what this is for: then one more comes after it, and none beside that while it waits.
    ///
    /// - Throws: `StoreFailure.conflict` where too many run already; then nothing of the write is kept.
    package func hasten(_ job: some Job, in write: any JobVerbs) throws(StoreFailure) {
        let row = row(of: job, due: nil)
        let (id, isNew) = try write.enqueue(row)
        if isNew { return }
        if try write.holdJob(id) {
            _ = try write.hastenJob(id, at: row.createdAt)
        } else {
            try add(row, again: row.due.advanced(by: Self.untilAgain), in: write)
        }
    }

    /// Has a job run in a while, in a write that is under way: adds it, unless one of its kind and key waits, whenever that is
    /// due. So whoever asks for it again and again has it run once in a while, and no more. After one that runs one more comes.
    ///
    /// - Throws: `StoreFailure.conflict` where too many run already; then nothing of the write is kept.
    package func follow(_ job: some Job, after delay: Duration, in write: any JobVerbs) throws(StoreFailure) {
        let row = row(of: job, due: clock.now.advanced(by: delay))
        let (id, isNew) = try write.enqueue(row)
        if isNew { return }
        if !(try write.holdJob(id)) { try add(row, again: row.due, in: write) }
    }

    /// After one of its kind and key that runs, or was gone when it was to be held, and after those after it that run as well.
    /// The one that comes after is held: it is not to run before this write can be read.
    private func add(_ row: NewJob, again due: Timestamp, in write: any JobVerbs) throws(StoreFailure) {
        guard let key = row.key else { return }
        var row = row
        row.due = due
        for place in 1...Self.againMax {
            (row.id, row.key) = (newID(), key + Self.again + (place == 1 ? "" : " \(place)"))
            let (id, isNew) = try write.enqueue(row)
            if isNew { return }
            if try write.holdJob(id) { return }
        }
        // In a batch it is a matter of this one alone.
        throw .conflict
    }

    /// Adds a job, in a write of its own.
    ///
    /// - Returns: false when one of its kind and key waits or runs already.
    /// - Parameters:
    ///   - job: what is to be done.
    ///   - due: when; `nil` for at once.
    /// - Throws: `StoreFailure`.
    @discardableResult
    package func enqueue(_ job: some Job, due: Timestamp? = nil) async throws(StoreFailure) -> Bool {
        let row = row(of: job, due: due)
        return try await store.write { write throws(StoreFailure) in try write.enqueue(row).isNew }
    }

    /// Has a job run now, in a write of its own: as in a write that is under way.
    ///
    /// - Throws: `StoreFailure`.
    package func hasten(_ job: some Job) async throws(StoreFailure) {
        try await store.write { write throws(StoreFailure) in try hasten(job, in: write) }
    }

    /// The jobs that were given up, those that died first before the others.
    package func deadLetters(
        after cursor: DeadLetterCursor? = nil,
        limit: Int
    ) async throws(StoreFailure) -> DeadLetterPage {
        try await store.read { reader throws(StoreFailure) in try reader.deadLetters(after: cursor, limit: limit) }
    }

    /// Has a dead letter run again at once, as if it were new; false when there is none, or a job of its kind and key
    /// waits or runs.
    package func revive(_ id: JobID) async throws(StoreFailure) -> Bool {
        let now = clock.now
        return try await store.write { write throws(StoreFailure) in try write.reviveJob(id, at: now) }
    }

    /// Whether a job of these kinds may be claimed. Asks a reader, so that an idle worker leaves the writer alone.
    func hasDue(_ kinds: Set<String>) async throws(StoreFailure) -> Bool {
        let now = clock.now
        return try await store.read { reader throws(StoreFailure) in try reader.hasDueJobs(kinds: kinds, at: now) }
    }

    /// Writes how jobs ended and claims others, in one write.
    ///
    /// - Returns: whose endings were too late, and what was claimed.
    func exchange(
        _ finished: [FinishedJob],
        for selection: JobSelection?,
        of kinds: Set<String>,
        _ owner: LeaseOwner,
        _ lease: Duration
    ) async throws(StoreFailure) -> (lost: Set<JobHold>, claim: JobClaim) {
        let terms = LeaseTerms(owner: owner, duration: lease, now: clock.now)
        return try await store.write { write throws(StoreFailure) in
            let isHeld = try write.finishJobs(finished, at: terms.now)
            let lost = Set(zip(finished, isHeld).filter { !$0.1 }.map(\.0.hold))
            guard let selection else { return (lost, JobClaim()) }
            return (lost, try write.claimJobs(kinds: kinds, selection, terms: terms))
        }
    }

    /// - Returns: the holds that were renewed.
    func renew(
        _ holds: [JobHold],
        _ owner: LeaseOwner,
        _ lease: Duration
    ) async throws(StoreFailure) -> Set<JobHold> {
        let terms = LeaseTerms(owner: owner, duration: lease, now: clock.now)
        return try await store.write { write throws(StoreFailure) in Set(try write.renewJobs(holds, terms: terms)) }
    }

    private func row(of job: some Job, due: Timestamp?) -> NewJob {
        let now = clock.now
        return NewJob(
            id: newID(),
            kind: type(of: job).kind,
            payload: job.payload,
            due: due ?? now,
            key: job.key,
            createdAt: now
        )
    }

    private func newID() -> JobID {
        let digits = [random(), random()].map { number in
            let text = String(number, radix: 16)
            return String(repeating: "0", count: 16 - text.utf8.count) + text
        }
        return JobID(checked: JobID.prefix + digits.joined())
    }
}
