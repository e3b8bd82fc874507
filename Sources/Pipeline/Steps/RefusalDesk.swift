import PurchaseModel
import Storage
import Verification

/// Where everything is refused that is refused: counted, a few samples kept, and the same forgery again known by its
/// hash. Nothing here costs a disk write.
struct RefusalDesk: Sendable {
    private let refusals: RefusalLedger
    private let before = RefusedBefore()
    private let sampled = SampledBefore()
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
        note(remnant, bytes, customer, name)
        tell(remnant, name, isRepetition: true)
        return remnant.reason
    }

    /// - Parameters:
    ///   - format: what it is written in.
    ///   - reason: why.
    ///   - bytes: the proof.
    ///   - customer: who presented it.
    ///   - name: by what it is known again.
    ///   - claimed: what it says it proves.
    func refuse(
        _ format: ProofFormat,
        _ reason: Reason,
        _ bytes: [UInt8],
        from customer: CustomerID?,
        _ name: RefusedBefore.Name,
        claiming claimed: [TransactionID] = []
    ) {
        let remnant = RefusedBefore.Remnant(format: format, reason: reason, claimed: claimed)
        if reason.dependsOnProofAlone { before.remember(remnant, for: name) }
        note(remnant, bytes, customer, name)
        tell(remnant, name, isRepetition: false)
    }

    /// Counts what had to wait and was refused in the end, and keeps a sample: the store forgets its bytes.
    func note(_ kept: KeptSubmission, because reason: Reason, claiming claimed: [TransactionID]) {
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
                digest: submission.digestOfProof,
                bytesInAll: submission.proof.count,
                proof: submission.proof,
                format: submission.format,
                claimed: claimed
            )
        )
    }

    /// Counts a genuine proof of what is another customer's, and keeps a sample. It is answered as what it is.
    ///
    /// - Parameters:
    ///   - format: what it is written in.
    ///   - bytes: the proof.
    ///   - customer: who presented it.
    ///   - name: by what it is known again.
    ///   - transactions: those in it that are another's.
    ///   - isPart: whether the same proof is told of several times, and counts once.
    func noteAnothers(
        _ format: ProofFormat,
        _ bytes: [UInt8],
        from customer: CustomerID?,
        _ name: RefusedBefore.Name,
        _ transactions: [TransactionID],
        isPart: Bool = false
    ) {
        let remnant = RefusedBefore.Remnant(format: format, reason: .ownedByAnother, claimed: transactions)
        note(remnant, bytes, customer, name, countsOnce: isPart)
    }

    /// A sample is kept of each proof and customer once a day: who looks for a customer finds hers, and who sends the same
    /// over and over pushes nobody else's out.
    private func note(
        _ remnant: RefusedBefore.Remnant,
        _ bytes: [UInt8],
        _ customer: CustomerID?,
        _ name: RefusedBefore.Name,
        countsOnce: Bool = false
    ) {
        let now = clock.now
        let isNew = sampled.insert(
            SampledBefore.Name(proof: name, customer: customer, reason: remnant.reason, day: DayOfTime(containing: now))
        )
        if countsOnce, !isNew { return }
        refusals.note(
            name.app,
            remnant.reason,
            at: now,
            sample: !isNew
                ? nil
                : RefusalSample(
                    app: name.app,
                    reason: remnant.reason.rawValue,
                    customer: customer,
                    receivedAt: now,
                    digest: name.digest,
                    bytesInAll: bytes.count,
                    proof: bytes,
                    format: remnant.format.rawValue,
                    claimed: remnant.claimed
                )
        )
    }

    private func tell(_ remnant: RefusedBefore.Remnant, _ name: RefusedBefore.Name, isRepetition: Bool) {
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
    /// other stores, or because nobody was to be asked: the same proof is good for another sender.
    fileprivate var dependsOnProofAlone: Bool {
        verdict != .undecidable && self != .otherProduct && self != .foreignDevice && self != .environmentNotAccepted
    }
}

extension Decision {
    /// What in it is another customer's; `nil` when nothing is.
    var anothers: [TransactionID]? {
        guard outcomes.contains(where: { $0.standing == .ownedByAnother }) else { return nil }
        return outcomes.filter { $0.standing == .ownedByAnother }.map(\.recorded.id)
    }
}
