package import PurchaseModel
package import Storage

/// Work that can be written down and done later, perhaps by another process of a later version.
package protocol Job: Sendable {
    /// The word for what is to be done; it stands in rows, and is never given another meaning.
    static var kind: String { get }

    /// `nil` when the bytes are none that this version can read.
    init?(payload: [UInt8])

    /// At most `NewJob.payloadBytesMax` bytes.
    var payload: [UInt8] { get }

    /// If there is one: while a job of this kind and key waits or runs, no second one is added.
    var key: String? { get }
}

extension Job {
    package var key: String? { nil }
}

/// What a job is told when it runs.
package struct JobRun: Hashable, Sendable {
    package var id: JobID
    package var payload: [UInt8]
    /// This one counted: 1 for the first.
    package var attempt: Int
    /// When it was first to run.
    package var due: Timestamp

    package init(id: JobID, payload: [UInt8], attempt: Int, due: Timestamp) {
        self.id = id
        self.payload = payload
        self.attempt = attempt
        self.due = due
    }

    init(_ row: JobRow) {
        self.init(id: row.id, payload: row.job.payload, attempt: row.attempt, due: row.job.due)
    }
}

/// Who does the work of one kind.
///
/// It is cancelled when the lease is lost, and when the worker stops and its patience ends: then it returns soon, with
/// whatever outcome. What it does may be done twice, and it sees to it that this does no harm: between its last effect
/// and the note that it is done, a process can end.
package struct JobHandler: Sendable {
    package let kind: String
    package let schedule: RetrySchedule
    let run: @Sendable (JobRun) async -> JobOutcome

    package init<Work: Job>(
        _ type: Work.Type,
        schedule: RetrySchedule,
        run: @escaping @Sendable (Work, JobRun) async -> JobOutcome
    ) {
        kind = Work.kind
        self.schedule = schedule
        self.run = { told in
            guard let work = Work(payload: told.payload) else { return .never(because: "the payload cannot be read") }
            return await run(work, told)
        }
    }
}
