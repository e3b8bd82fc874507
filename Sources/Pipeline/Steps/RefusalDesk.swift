import PurchaseModel
import Storage
import Verification

/// Where everything is refused that is refused: counted, a few samples kept, and the same forgery again known by its
/// hash. Nothing here costs a disk write.
struct RefusalDesk: Sendable {
    private let refusals: RefusalLedger
    private let before = RefusedBefore()
    private let clock: any WallClock
    private let report: @Sendable (PipelineEvent) -> Void

    init(
        refusals: RefusalLedger,
        clock: any WallClock,
        report: @escaping @Sendable (PipelineEvent) -> Void
    ) {
        self.refusals = refusals
        self.clock = clock
        self.report = report
    }

    /// Refuses what was refused before, without looking at it again; `nil` for what is new.
    func repetition(of name: RefusedBefore.Name, _ bytes: [UInt8], from customer: CustomerID?) -> Reason? {
        guard let remnant = before.remnant(of: name) else { return nil }
        note(remnant, bytes, customer, name, isRepetition: true)
        return remnant.reason
    }

    func refuse(
        _ format: ProofFormat,
        _ reason: Reason,
        _ bytes: [UInt8],
        from customer: CustomerID?,
        _ name: RefusedBefore.Name
    ) {
        let remnant = RefusedBefore.Remnant(format: format, reason: reason)
        if reason.dependsOnProofAlone { before.remember(remnant, for: name) }
        note(remnant, bytes, customer, name, isRepetition: false)
    }

    /// Counts what had to wait and was refused in the end, and keeps a sample: the store forgets its bytes.
    func note(_ kept: KeptSubmission, because reason: Reason) {
        let (now, submission) = (clock.now, kept.submission)
        refusals.note(
            submission.app,
            reason,
            at: now,
            sample: RefusalSample(
                app: submission.app,
                reason: reason.rawValue,
                customer: submission.customer,
                receivedAt: now,
                digest: submission.digest,
                bytesInAll: submission.proof.count,
                proof: submission.proof
            )
        )
    }

    private func note(
        _ remnant: RefusedBefore.Remnant,
        _ bytes: [UInt8],
        _ customer: CustomerID?,
        _ name: RefusedBefore.Name,
        isRepetition: Bool
    ) {
        let now = clock.now
        refusals.note(
            name.app,
            remnant.reason,
            at: now,
            sample: isRepetition
                ? nil
                : RefusalSample(
                    app: name.app,
                    reason: remnant.reason.rawValue,
                    customer: customer,
                    receivedAt: now,
                    digest: name.digest,
                    bytesInAll: bytes.count,
                    proof: bytes
                )
        )
        report(
            .refused(
                app: name.app,
                format: remnant.format,
                reason: remnant.reason,
                digest: name.digest,
                isRepetition: isRepetition
            )
        )
    }
}

extension Reason {
    /// False for what was refused because of something the sender said beside the proof, or because the sender's key is for
    /// other stores: the same proof is good for another sender.
    fileprivate var dependsOnProofAlone: Bool {
        self != .otherProduct && self != .foreignDevice && self != .environmentNotAccepted
    }
}
