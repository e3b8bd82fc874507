package import PurchaseModel
package import Storage
package import Verification

/// What became of a submission.
package enum Outcome: Sendable {
    /// On disk, now or before; the same submission again gives the same decision.
    case recorded(Decision)
    /// A good signature over something that holds no purchase, such as an AppTransaction: nothing to keep.
    case nothingToRecord(ProofFormat)
    /// Kept, and not decided yet. The same submission again gives the same id.
    case pending(SubmissionID, Reason)
    /// Proven bad; nothing was written.
    case refused(Refused)
    /// Not taken in now: try again. Nothing was written.
    case busy(retryAfter: Duration)

    /// What is left of the report once it has been counted.
    package struct Refused: Hashable, Sendable {
        package let format: ProofFormat
        package let reason: Reason
    }
}
