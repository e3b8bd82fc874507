package import Storage

/// What the queue tells the reporter.
package enum JobEvent: Hashable, Sendable {
    case claimed(jobs: Int)
    case finished(kind: String, JobID, attempt: Int, took: Duration)
    /// It is tried again.
    case failed(kind: String, JobID, attempt: Int, reason: String)
    /// It is a dead letter: a person should look.
    case abandoned(kind: String, JobID, attempt: Int, reason: String)
    /// Its lease was lost while it ran: it may have run, or be running, elsewhere too.
    case lost(kind: String, JobID)
    /// It was let go unfinished, because the worker stops.
    case released(kind: String, JobID)
    /// The store did not answer as it should; the same is tried again.
    case storeFailed(StoreFailure)
}
