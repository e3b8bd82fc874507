import PurchaseModel
package import Storage

/// Which dead letters nobody can have run any more, since what they are about is gone.
package enum GoneSubject {
    /// - Parameters:
    ///   - jobs: dead ones of any kinds.
    ///   - reader: knows what a job names by an id.
    /// - Returns: those that would find nothing to do. What this version cannot read may be a newer one's, and is not among
    ///   them; nor is what names an app that is configured no longer, for it may be again.
    /// - Throws: `StoreFailure`.
    package static func ids(
        among jobs: [JobRow],
        in reader: any StoreReader
    ) throws(StoreFailure) -> [JobID] {
        var proofs: [JobID: SubmissionID] = [:]
        var gone: [JobID] = []
        for row in jobs {
            switch row.job.kind {
            case ProofDecision.kind, ImportedProofDecision.kind:
                proofs[row.id] = ProofDecision(payload: row.job.payload)?.submission
            case SupportAsking.kind:
                guard let asked = SupportAsking(payload: row.job.payload) else { continue }
                if try reader.supportRequest(app: asked.app, id: asked.request) == nil { gone.append(row.id) }
            default: continue
            }
        }
        let kept = try reader.keptSubmissions(among: Array(Set(proofs.values)))
        return gone + proofs.filter { !kept.contains($0.value) }.map(\.key)
    }
}
