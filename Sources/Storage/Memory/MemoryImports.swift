import PurchaseModel

extension MemoryTransaction {
    func importProgress(_ id: ProofDigest) -> ImportProgress? { ledger.imports[id] }

    func importQuestionsLast(of app: AppID, at now: Timestamp) -> Duration {
        ledger.importsAskUntil[app].map { max(now.duration(to: $0), .zero) } ?? .zero
    }

    func noteImport(_ progress: ImportProgress) throws(StoreFailure) {
        guard (ledger.imports[progress.id]?.version ?? 0) == progress.version - 1 else { throw conflict() }
        put(progress, at: \.imports[progress.id])
    }

    func planImportQuestions(_ count: Int, of app: AppID, every spacing: Duration, at now: Timestamp) -> Duration {
        let wait = importQuestionsLast(of: app, at: now)
        if count > 0 { put(now.advanced(by: wait + spacing * count), at: \.importsAskUntil[app]) }
        return wait
    }

    func hastenImports(by lead: ClockLead) {
        for (app, moment) in ledger.importsAskUntil {
            if let moved = lead.moved(moment, isLeased: false) { put(moved, at: \.importsAskUntil[app]) }
        }
    }
}
