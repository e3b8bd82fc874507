extension MemoryTransaction {
    func importProgress(_ id: ProofDigest) -> ImportProgress? { ledger.imports[id] }

    func noteImport(_ progress: ImportProgress) throws(StoreFailure) {
        guard (ledger.imports[progress.id]?.version ?? 0) == progress.version - 1 else { throw conflict() }
        put(progress, at: \.imports[progress.id])
    }
}
