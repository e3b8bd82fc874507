package import PurchaseModel

/// The question whether a request was answered before.
package protocol IdempotencyReader {
    func keptAnswer(_ name: IdempotencyName) throws(StoreFailure) -> KeptAnswer?
}

/// Answers that are kept, so that the same request gets the same answer.
package protocol IdempotencyVerbs: IdempotencyReader {
    /// Keeps an answer, in the write that it tells of.
    ///
    /// - Throws: ``StoreFailure/conflict`` when one is kept under its name: the same request was made twice at once, and
    ///   the other one was faster. ``StoreFailure/unstorable``.
    func keepAnswer(_ answer: KeptAnswer) throws(StoreFailure)

    /// Deletes what was kept for longer than so long, among those that were written first; and what is dated as far ahead,
    /// which a wrong clock did: it would be among the first until that time has come, and the others kept as long.
    ///
    /// - Parameters:
    ///   - age: what is not older stays.
    ///   - now: the caller's time. A store that several machines share goes by its database's: one whose clock is ahead
    ///     would delete what the others still answer by.
    ///   - limit: how many to look at, so that no write takes long.
    /// - Returns: how many were deleted; fewer than the limit when none are left.
    /// - Throws: ``StoreFailure``.
    func sweepAnswers(olderThan age: Duration, at now: Timestamp, limit: Int) throws(StoreFailure) -> Int
}
