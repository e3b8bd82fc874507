import PurchaseModel

// Imports: hands each verb to the file that knows its SQL.
extension SQLTransaction {
    private var imports: ImportQueries { ImportQueries(connection: connection, apps: apps) }
    private var questions: ImportQuestionQueries {
        ImportQuestionQueries(connection: connection, apps: apps, time: time)
    }

    func importProgress(_ id: ProofDigest) throws(StoreFailure) -> ImportProgress? { try imports.find(id) }

    func importQuestionsLast(of app: AppID, at now: Timestamp) throws(StoreFailure) -> Duration {
        try questions.last(of: app, at: now)
    }

    func noteImport(_ progress: ImportProgress) throws(StoreFailure) { try imports.note(progress) }

    func planImportQuestions(
        _ count: Int,
        of app: AppID,
        every spacing: Duration,
        at now: Timestamp
    ) throws(StoreFailure) -> Duration {
        try questions.plan(count, of: app, every: spacing, at: now)
    }

    func hastenImports(by lead: ClockLead) throws(StoreFailure) { try questions.hasten(by: lead) }
}
