/// How a run of a job ended. Reasons are for people, and are kept with the job.
package enum JobOutcome: Hashable, Sendable {
    case done
    /// It failed and may do better later: when, the schedule of its handler says, and whether at all; but no sooner than
    /// after so long.
    case failed(because: String, notWithin: Duration = .zero)
    /// It has not failed, and is to run again so much later, however often it did already. What failed before counts no more.
    case again(after: Duration, because: String)
    /// It can never succeed: a dead letter.
    case never(because: String)
}
