package import PurchaseModel
package import Storage
package import Verification

/// What the pipeline tells its reporter. No receipt, token or customer: hashes and words.
package enum PipelineEvent: Sendable {
    case recorded(app: AppID, format: ProofFormat, transactions: Int, isRepetition: Bool)
    case nothingToRecord(app: AppID, format: ProofFormat)
    case pending(app: AppID, format: ProofFormat, reason: Reason, isRepetition: Bool)
    /// Apple was asked about what waited, and nothing is recorded of it.
    case settled(app: AppID, reason: Reason)
    /// What waited longer than it may.
    case gaveUp(app: AppID, submissions: Int)
    case refused(app: AppID, format: ProofFormat, reason: Reason, digest: ProofDigest, isRepetition: Bool)
    /// A notification of Apple's was kept, or known already. Its type is Apple's word.
    case notified(
        app: AppID,
        type: String,
        subtype: String?,
        arrival: KeptNotification.Arrival,
        isRepetition: Bool
    )
    /// What Apple says to have sent was compared with what arrived.
    case compared(app: AppID, sent: Int64, recovered: Int64)
    /// The clock that due moments go by was ahead by so much; so many jobs, deliveries and looks are due sooner now.
    case clockSetBack(by: Duration, hastened: Int)
    case committed(submissions: Int, duration: Duration)
    case commitFailed(submissions: Int, failure: StoreFailure)
}
