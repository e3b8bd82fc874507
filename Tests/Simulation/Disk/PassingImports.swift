package import Storage

// How far imports have come.
extension PassingTransaction {
    package func importProgress(_ id: ProofDigest) throws(StoreFailure) -> ImportProgress? {
        try base.importProgress(id)
    }

    package func noteImport(_ progress: ImportProgress) throws(StoreFailure) { try base.noteImport(progress) }
}
