package import PurchaseModel
package import Storage
import Verification

/// What became of a submission.
package enum Outcome: Sendable {
    /// On disk, now or before; the same submission again gives the same decision.
    case recorded(Decision)
    /// A good signature over something that holds no purchase, such as an AppTransaction: nothing to keep. It says whether
    /// only a test authority vouches for it.
    case nothingToRecord(format: String, isTestSigned: Bool)
    /// Kept, because the bytes do not tell. The same submission again gives the same id, also once it is decided.
    case pending(SubmissionID)
    /// Proven bad; nothing was written.
    case refused(Refused)
    /// Not taken in now: try again. Nothing was written.
    case busy(retryAfter: Duration)
    /// Not taken in while so many of this customer's wait: try again. Nothing was written.
    case customerBusy(retryAfter: Duration)

    /// What the sender may know of a refusal, in the stable words of `docs/verdicts.md`. The operator's words are in
    /// the events.
    package struct Refused: Hashable, Sendable {
        package let verdict: String
        /// `nil` when no more than the verdict is known of it any longer.
        package let publicReason: String?

        /// The bytes are bad, whatever the app's policy says.
        let isForGood: Bool

        init(_ reason: Reason) {
            isForGood = reason.verdict == .forged || reason.verdict == .malformed
            verdict = reason.verdict.rawValue
            publicReason = reason.publicWord.rawValue
        }

        /// What was refused after it was kept.
        init(_ verdict: Verdict) {
            isForGood = verdict == .forged || verdict == .malformed
            self.verdict = verdict.rawValue
            publicReason = nil
        }
    }
}
