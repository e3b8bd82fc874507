package import PurchaseModel
package import Storage

/// Whose work a job is, for who may see one app's alone.
package struct JobSubject: Hashable, Sendable {
    package let app: AppID
    /// `nil` where the job is for no store, or nobody can tell yet for which.
    package let environment: StoreEnvironment?

    /// - Parameters:
    ///   - job: of any kind.
    ///   - reader: knows what the job names by an id.
    /// - Returns: `nil` for a kind of another version, and for what is gone.
    /// - Throws: `StoreFailure`.
    package static func of(_ job: NewJob, in reader: any StoreReader) throws(StoreFailure) -> JobSubject? {
        switch job.kind {
        case ProofDecision.kind, ImportedProofDecision.kind:
            guard let id = ProofDecision(payload: job.payload)?.submission else { return nil }
            return try reader.submission(id).map { JobSubject(app: $0.submission.app, environment: nil) }
        case SubscriptionLook.kind:
            return SubscriptionLook(payload: job.payload).map { of($0.chain.app, $0.chain.realm) }
        case CustomerReading.kind:
            return CustomerReading(payload: job.payload).map { of($0.transaction.app, $0.transaction.realm) }
        case NotificationComparison.kind:
            return NotificationComparison(payload: job.payload).map { JobSubject(app: $0.app, environment: $0.store) }
        case NotificationReading.kind, NotificationRetry.kind:
            return NotificationReading(payload: job.payload).map { JobSubject(app: $0.app, environment: $0.store) }
        case ConsumptionAnswering.kind:
            return ConsumptionAnswering(payload: job.payload).map { of($0.request.app, $0.request.realm) }
        case SupportAsking.kind:
            guard let asked = SupportAsking(payload: job.payload) else { return nil }
            let request = try reader.supportRequest(app: asked.app, id: asked.request)
            return JobSubject(app: asked.app, environment: request.map { SupportJSON.realm(of: $0).environment })
        default: return nil
        }
    }

    private static func of(_ app: AppID, _ realm: Realm) -> JobSubject {
        JobSubject(app: app, environment: realm.environment)
    }
}
