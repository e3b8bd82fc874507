package import PurchaseModel

/// The verbs inside one write. Each sees what those before it wrote.
package protocol StoreTransaction:
    StoreReader, EventVerbs, WebhookVerbs, JobVerbs, IdempotencyVerbs, NotificationVerbs, CertificateVerbs,
    AdminVerbs, APIKeyVerbs, SupportVerbs, ImportVerbs, FigureVerbs
{
    /// Writes a decision's rows, and the proof they follow from; its events are for ``EventVerbs/append(_:)``. A decision
    /// that changes nothing writes nothing.
    ///
    /// - Parameters:
    ///   - decision: made from a situation that this write has read.
    ///   - evidence: the proof; `nil` when what was asked needs none: then known transactions can be amended, and no more.
    ///     It is kept when a transaction is written.
    /// - Throws: ``StoreFailure/conflict`` when the ledger is not as the decision supposed: a row to insert is there,
    ///   or a row to update is not. ``StoreFailure/unstorable`` before anything is written.
    func apply(_ decision: Decision, evidence: EvidenceRow?) throws(StoreFailure)

    /// Keeps an undecidable proof. The same app, digest and customer again give the id that they were first kept under,
    /// and write nothing; but what was given up is new again, and what was ``Settlement/notYours`` for
    /// ``Settlement/notYoursFor``. A shared store notes its database's time as that of receipt.
    func keepPending(_ submission: PendingSubmission) throws(StoreFailure) -> (id: SubmissionID, isNew: Bool)

    /// Notes how a pending submission ended, and forgets its bytes: what was learnt from them is kept as evidence.
    ///
    /// - Returns: false when there is none of this id, or it was settled before; then nothing is written.
    func settlePending(_ id: SubmissionID, as settlement: Settlement) throws(StoreFailure) -> Bool

    /// Says anew what a pending submission waits for, in a word.
    ///
    /// - Returns: false when there is none of this id, or it is settled; then nothing is written.
    func notePending(_ id: SubmissionID, waitsFor reason: String) throws(StoreFailure) -> Bool

    /// Settles what has waited for longer than so long as ``Settlement/givenUp``, oldest first.
    ///
    /// - Parameters:
    ///   - age: what has not waited longer waits on.
    ///   - now: the caller's time. A store that several machines share goes by its database's: one whose clock is ahead
    ///     would give up what its customers have just been told to wait for.
    ///   - limit: how many at once, so that no write takes long.
    /// - Returns: those, in the order in which they came, without their proofs.
    /// - Throws: ``StoreFailure``; then none was given up.
    func giveUpPending(olderThan age: Duration, at now: Timestamp, limit: Int) throws(StoreFailure) -> [KeptSubmission]

    /// Forgets submissions that were presented and have been settled for longer than so long, the longest first; but never
    /// the last one that was kept. Sent again, they are new.
    ///
    /// - Parameters:
    ///   - age: what was settled later is kept.
    ///   - now: the caller's time. A store that several machines share goes by its database's.
    ///   - limit: how many at once, so that no write takes long.
    /// - Returns: how many.
    /// - Throws: ``StoreFailure``; then none was forgotten.
    func forgetSettled(olderThan age: Duration, at now: Timestamp, limit: Int) throws(StoreFailure) -> Int

    /// Has jobs and deliveries that are due later than now be due so much sooner, but not before now; so do leases that end
    /// later than any lease of now. Subscriptions that were looked at later than now are due now: they may have been told of
    /// as over, and have no other look before that is so, or none at all; so are those whose next look is later than any that
    /// the right clock plans. For a clock that was ahead by as much.
    ///
    /// - Parameters:
    ///   - lead: by how much, and what time it is at this step.
    ///   - place: where the step before ended. The same step again moves the same once more.
    ///   - limit: how many rows are looked at, 1 at least, so that no write takes long.
    /// - Returns: how many were brought forward, and where to go on.
    /// - Throws: ``StoreFailure``; then nothing was.
    func hasten(by lead: ClockLead, from place: HastePlace, limit: Int) throws(StoreFailure) -> HasteStep

    /// Adds to the counts, and keeps the newest ``RefusalSample/keptMax`` samples.
    func addRefusals(counts: [RefusalKey: Int], samples: [RefusalSample]) throws(StoreFailure)
}

extension StoreTransaction {
    /// Writes what follows from two proofs together: of what was bought, and of how its subscription goes on. Each is kept
    /// with what it tells.
    ///
    /// - Parameters:
    ///   - decision: made of both.
    ///   - evidence: of what was bought.
    ///   - renewal: the other; `nil` where there is none.
    /// - Throws: as ``apply(_:evidence:)``.
    package func apply(
        _ decision: Decision,
        evidence: EvidenceRow,
        andOfRenewal renewal: EvidenceRow?
    ) throws(StoreFailure) {
        guard let renewal, !decision.subscriptions.isEmpty else { return try apply(decision, evidence: evidence) }
        let (bought, standing) = decision.parts
        guard bought.isStorable(with: evidence), standing.isStorable(with: renewal) else { throw .unstorable }
        try apply(bought, evidence: evidence)
        try apply(standing, evidence: renewal)
    }
}
