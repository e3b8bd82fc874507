import PurchaseModel

// Imports: hands each verb to the file that knows its SQL.
extension SQLTransaction {
    private var imports: ImportQueries { ImportQueries(connection: connection, apps: apps) }

    func importProgress(_ id: ProofDigest) throws(StoreFailure) -> ImportProgress? { try imports.find(id) }

    func noteImport(_ progress: ImportProgress) throws(StoreFailure) { try imports.note(progress) }
}
