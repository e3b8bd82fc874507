import PurchaseModel
import Storage

/// That a proof which had to wait waits no more once it is recorded: both in one commit, so that whoever brought it is told
/// so once, whatever ends in between.
package struct KeptEnding: Sendable {
    let id: SubmissionID
    /// The word for how it ended.
    let verdict: String
    /// Called once it is on disk that it has ended by this, and not by somebody else's before.
    let whenOver: @Sendable () -> Void

    /// Finds what is to be told of, where nothing else tells it.
    ///
    /// - Parameters:
    ///   - now: by the store's clock.
    ///   - reader: of the write that records it.
    /// - Returns: `nil` where it has ended by now, or is told of elsewhere: an import's in its report, and what was recorded in
    ///   part by the events of that.
    /// - Throws: `StoreFailure`.
    func told(at now: Timestamp, in reader: any StoreReader) throws(StoreFailure) -> SettledSubmission? {
        guard let kept = try reader.submission(id), kept.settlement == nil, kept.submission.origin == .presented,
            !kept.submission.isRecordedInPart
        else { return nil }
        return KeptSubmission(kept.submission, settlement: Settlement(verdict: verdict, at: now)).settled
    }

    /// Notes that it has ended.
    ///
    /// - Returns: false when it had ended before.
    /// - Throws: `StoreFailure.conflict` when somebody else has ended it since it was found to be ``told(at:in:)``.
    func settle(
        _ told: SettledSubmission?,
        at now: Timestamp,
        in transaction: any StoreTransaction
    ) throws(StoreFailure) -> Bool {
        let isSettled = try transaction.settlePending(id, as: Settlement(verdict: verdict, at: now))
        guard isSettled || told == nil else { throw .conflict }
        return isSettled
    }
}
