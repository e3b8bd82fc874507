package import PurchaseModel

/// The questions about jobs.
package protocol JobReader {
    func job(_ id: JobID) throws(StoreFailure) -> JobRow?

    /// Whether a job of these kinds is due, or a lease of one has run out; a shared store asks its database's clock.
    func hasDueJobs(kinds: Set<String>, at now: Timestamp) throws(StoreFailure) -> Bool

    /// The keys among these of which a job of this kind waits or runs.
    func openJobs(kind: String, keys: [String]) throws(StoreFailure) -> Set<String>

    /// The jobs that were given up, those that died first before the others; the limit is brought between 1 and ``DeadLetterPage/limitMax``.
    func deadLetters(after cursor: DeadLetterCursor?, limit: Int) throws(StoreFailure) -> DeadLetterPage

    /// How much there is of each kind, by the kind's name. Looks at every job.
    func jobFigures() throws(StoreFailure) -> [JobFigures]

    /// What waits of each kind, and what was given up, by the kind's name. Looks at no more jobs of one kind and state than
    /// the limit, however many there are. A shared store asks its database's clock what is due.
    func jobBacklogs(at now: Timestamp, countingTo limit: Int) throws(StoreFailure) -> [JobBacklog]
}

/// Durable work: the only verbs of a write that the job queue knows.
package protocol JobVerbs: JobReader {
    /// Adds a job, in the write that it follows from. A shared store has it wait, from its database's time on, for as long
    /// as it was to wait when it was made.
    ///
    /// - Returns: the job's id; or the id of the one of the same kind and key that waits or runs, and false.
    /// - Throws: ``StoreFailure/conflict`` when the id is taken. ``StoreFailure/unstorable``.
    func enqueue(_ job: NewJob) throws(StoreFailure) -> (id: JobID, isNew: Bool)

    /// Leases due jobs, also those whose leases have run out.
    ///
    /// - Parameters:
    ///   - kinds: none is preferred.
    ///   - selection: sound ones, at most ``JobClaim/limitMax``, or one suspect.
    ///   - terms: who claims, when and for how long.
    /// - Returns: what the owner is to run.
    /// - Throws: ``StoreFailure``.
    func claimJobs(
        kinds: Set<String>,
        _ selection: JobSelection,
        terms: LeaseTerms
    ) throws(StoreFailure) -> JobClaim

    /// Has leases end later, by the terms.
    ///
    /// - Returns: those that were renewed; the others are lost.
    func renewJobs(_ holds: [JobHold], terms: LeaseTerms) throws(StoreFailure) -> [JobHold]

    /// Says how jobs went; what comes of it is the same as if each were said alone, in their order.
    ///
    /// - Parameters:
    ///   - finished: of any kinds.
    ///   - now: when; a shared store takes its database's time.
    /// - Returns: for each, false when its lease is another's by now, or nobody's; then nothing is written of it.
    /// - Throws: ``StoreFailure/unstorable`` for any of them, before anything is written.
    func finishJobs(_ finished: [FinishedJob], at now: Timestamp) throws(StoreFailure) -> [Bool]

    /// Has a dead letter run again at once, as if it were new; a shared store takes its database's time.
    ///
    /// - Returns: false when there is no such dead letter, or another job of its kind and key waits or runs.
    func reviveJob(_ id: JobID, at now: Timestamp) throws(StoreFailure) -> Bool

    /// Forgets dead letters whose work is over; of these ids, what waits or runs stays.
    ///
    /// - Returns: how many.
    func forgetDeadJobs(_ ids: [JobID]) throws(StoreFailure) -> Int

    /// Holds a job that waits: until this write is over nobody claims it, and then what runs can read what was written.
    ///
    /// - Returns: false when it does not wait; then nothing is held.
    func holdJob(_ id: JobID) throws(StoreFailure) -> Bool

    /// Has a job that waits run at once; a shared store takes its database's time.
    ///
    /// - Returns: false when it does not wait, or not beyond that moment; then nothing is written.
    func hastenJob(_ id: JobID, at now: Timestamp) throws(StoreFailure) -> Bool
}

/// A store as the job queue sees it: nothing but ``JobVerbs`` can be named in its writes.
package struct JobStore: Sendable {
    private let store: any Store

    package init(_ store: any Store) { self.store = store }

    /// As ``Store/write(_:)``.
    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (any JobVerbs) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        try await store.write { transaction throws(StoreFailure) in try body(transaction) }
    }

    /// As ``Store/read(_:)``.
    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (any JobReader) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        try await store.read { reader throws(StoreFailure) in try body(reader) }
    }
}
