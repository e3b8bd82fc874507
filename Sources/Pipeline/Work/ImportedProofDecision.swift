package import Jobs
package import PurchaseModel
package import Storage

/// The job that has decided by Apple what an import has kept: the same as for what a customer presents, and of another kind,
/// so that after hours without Apple no customer waits behind all that fell due of imports meanwhile.
///
/// Older versions gave imports the customers' kind. Such a job goes on as it is, and comes beside one of this kind where
/// somebody wants Apple asked now: whichever is first decides, and the other finds nothing to do.
package struct ImportedProofDecision: Job, Hashable {
    package static let kind = "proof.decide.imported"

    package let decision: ProofDecision

    package init(_ submission: SubmissionID) { decision = ProofDecision(submission) }

    package init?(payload: [UInt8]) {
        guard let decision = ProofDecision(payload: payload) else { return nil }
        self.decision = decision
    }

    package var payload: [UInt8] { decision.payload }
    package var key: String? { decision.key }
}

extension ProofDecision {
    /// Of all jobs that have a kept proof decided.
    static let kinds: Set<String> = [kind, ImportedProofDecision.kind]
}

extension JobReader {
    /// Whether a job waits or runs that has a kept proof decided, of whichever kind.
    func hasDecision(of id: SubmissionID) throws(StoreFailure) -> Bool {
        guard let key = ProofDecision(id).key else { return false }
        for kind in ProofDecision.kinds where try !openJobs(kind: kind, keys: [key]).isEmpty { return true }
        return false
    }

    /// Whether what an import has kept waits for its turn, and nobody has it decided before that yet.
    func waitsForItsTurn(_ id: SubmissionID) throws(StoreFailure) -> Bool {
        guard let key = ProofDecision(id).key else { return false }
        guard try openJobs(kind: ProofDecision.kind, keys: [key]).isEmpty else { return false }
        return try !openJobs(kind: ImportedProofDecision.kind, keys: [key]).isEmpty
    }
}

extension PendingPlanner {
    /// Into these jobs.
    ///
    /// - Parameters:
    ///   - queue: gets them.
    ///   - apps: those about which this server can ask Apple.
    package init(_ queue: JobQueue, asking apps: Set<AppID>) {
        self.init(
            plan: { kept, write throws(StoreFailure) in
                if !apps.contains(kept.app) {
                    // The server next to this one may have what this one lacks. Where none has, nobody would ever ask.
                    guard try write.isAskedAbout(kept.app) else { return }
                }
                try queue.plan(kept, in: write)
            },
            inTurn: { id, reader throws(StoreFailure) in
                guard let kept = try reader.submission(id), kept.settlement == nil, kept.submission.origin != .presented
                else { return nil }
                let first = try reader.firstInTurn(with: kept).id
                return try reader.waitsForItsTurn(first) ? first : nil
            },
            hasten: { id, write throws(StoreFailure) in try queue.hasten(ProofDecision(id), in: write) }
        )
    }
}

extension JobQueue {
    /// Has a proof that waits decided now; one of an import in its turn, for those are spread over time for Apple's sake.
    package func plan(_ kept: PendingSubmission, in write: any JobVerbs) throws(StoreFailure) {
        switch kept.origin {
        case .presented: try hasten(ProofDecision(kept.id), in: write)
        case .imported, .delivered:
            // One of an older version's has its turn already.
            if try !write.hasDecision(of: kept.id) { try enqueue(ImportedProofDecision(kept.id), in: write) }
        }
    }
}
