package import PurchaseModel
package import Storage

// What is forgotten now and then.
extension PassingTransaction {
    package func keptSubmissions(among ids: [SubmissionID]) throws(StoreFailure) -> Set<SubmissionID> {
        try base.keptSubmissions(among: ids)
    }

    package func forgetDeadJobs(_ ids: [JobID]) throws(StoreFailure) -> Int { try base.forgetDeadJobs(ids) }

    package func sweepRefusedSignIns(
        olderThan age: Duration,
        at now: Timestamp,
        after place: Int64,
        limit: Int
    ) throws(StoreFailure) -> Int64 {
        try base.sweepRefusedSignIns(olderThan: age, at: now, after: place, limit: limit)
    }
}
