package import PurchaseModel
package import Storage

// How far imports have come, and what they have kept.
extension PassingTransaction {
    package func importProgress(_ id: ProofDigest) throws(StoreFailure) -> ImportProgress? {
        try base.importProgress(id)
    }

    package func importsWait(of app: AppID) throws(StoreFailure) -> Bool { try base.importsWait(of: app) }

    package func importedSubmissions(under names: [SubmissionName]) throws(StoreFailure)
        -> [SubmissionName: KeptSubmission]
    {
        try base.importedSubmissions(under: names)
    }

    package func noteImport(_ progress: ImportProgress) throws(StoreFailure) { try base.noteImport(progress) }

    package func importQuestionsLast(of app: AppID, at now: Timestamp) throws(StoreFailure) -> Duration {
        try base.importQuestionsLast(of: app, at: now)
    }

    package func planImportQuestions(
        _ count: Int,
        of app: AppID,
        every spacing: Duration,
        at now: Timestamp
    ) throws(StoreFailure) -> Duration {
        try base.planImportQuestions(count, of: app, every: spacing, at: now)
    }
}
