package import Storage

// What is forgotten now and then.
extension PassingTransaction {
    package func keptSubmissions(among ids: [SubmissionID]) throws(StoreFailure) -> Set<SubmissionID> {
        try base.keptSubmissions(among: ids)
    }

    package func forgetDeadJobs(_ ids: [JobID]) throws(StoreFailure) -> Int { try base.forgetDeadJobs(ids) }
}
