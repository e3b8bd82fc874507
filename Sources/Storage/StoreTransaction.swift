package import PurchaseModel

/// The verbs inside one write. Each sees what those before it wrote.
package protocol StoreTransaction: StoreReader {
    /// Writes a decision's rows, and the proof they follow from. A decision that changes nothing writes nothing.
    ///
    /// - Throws: ``StoreFailure/conflict`` when the ledger is not as the decision supposed: a row to insert is there,
    ///   or a row to update is not. ``StoreFailure/unstorable`` before anything is written.
    func apply(_ decision: Decision, evidence: EvidenceRow) throws(StoreFailure)

    /// Keeps an undecidable proof. The same app, digest and customer again give the same id, and write nothing.
    func keepPending(_ submission: PendingSubmission) throws(StoreFailure) -> (id: SubmissionID, isNew: Bool)

    /// Notes how a pending submission ended.
    ///
    /// - Returns: false when there is none of this id, or it was settled before; then nothing is written.
    func settlePending(_ id: SubmissionID, as settlement: Settlement) throws(StoreFailure) -> Bool

    /// Adds to the counts, and keeps the newest ``RefusalSample/keptMax`` samples.
    func addRefusals(counts: [RefusalKey: Int], samples: [RefusalSample]) throws(StoreFailure)
}
