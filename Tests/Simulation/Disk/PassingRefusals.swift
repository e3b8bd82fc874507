package import Storage

// What was refused.
extension PassingTransaction {
    package func refusalCounts(since hour: HourOfTime, limit: Int) throws(StoreFailure) -> [RefusalCount] {
        try base.refusalCounts(since: hour, limit: limit)
    }

    package func refusalTotals(since hour: HourOfTime, limit: Int) throws(StoreFailure) -> [RefusalTotal] {
        try base.refusalTotals(since: hour, limit: limit)
    }

    package func refusalSamples(limit: Int) throws(StoreFailure) -> [RefusalSample] {
        try base.refusalSamples(limit: limit)
    }

    package func refusalSamples(of subject: RefusalSubject, limit: Int) throws(StoreFailure) -> [RefusalSample] {
        try base.refusalSamples(of: subject, limit: limit)
    }

    package func addRefusals(counts: [RefusalKey: Int], samples: [RefusalSample]) throws(StoreFailure) {
        try base.addRefusals(counts: counts, samples: samples)
    }
}
