import PurchaseModel

/// Reads the proofs that changed the ledger.
struct EvidenceQueries {
    let connection: any SQLConnection
    let apps: AppQueries

    /// What ``read(_:from:)`` expects.
    static let selected = "sha256, format, evidence.customer, received_at, verdict, proof"
    private static let first = Query(text(column: "first_evidence"))
    private static let latest = Query(text(column: "latest_evidence"))
    private static let fuller = Query(text(column: "fuller_evidence"))

    func first(of key: TransactionKey) throws(StoreFailure) -> EvidenceRow? {
        try find(Self.first, key)
    }

    func latest(of key: TransactionKey) throws(StoreFailure) -> EvidenceRow? {
        try find(Self.latest, key)
    }

    func fuller(of key: TransactionKey) throws(StoreFailure) -> EvidenceRow? {
        try find(Self.fuller, key)
    }

    private func find(_ query: Query, _ key: TransactionKey) throws(StoreFailure) -> EvidenceRow? {
        guard let code = try apps.code(of: key.app), let realm = RealmCode(key.realm) else { return nil }
        let values: [SQLValue] = [.integer(code), .integer(key.id.number), .integer(realm.number)]
        return try connection.row(query, values) { row throws(StoreFailure) in
            try Self.read(row)
        }
    }

    /// Reads a row of ``selected``, which begins at a column.
    static func read(_ row: SQLRow, from first: Int32 = 0) throws(StoreFailure) -> EvidenceRow {
        guard let digest = ProofDigest(row.bytes(first)) else { throw SQLiteResult.unreadableRow }
        return EvidenceRow(
            digest: digest,
            format: row.text(first + 1),
            proof: row.bytes(first + 5),
            customer: try row.identifier(first + 2),
            receivedAt: Timestamp(milliseconds: row.integer(first + 3)),
            verdict: row.text(first + 4)
        )
    }

    private static func text(column: String) -> String {
        """
        SELECT \(selected)
        FROM transactions JOIN evidence ON evidence.sequence = transactions.\(column)
        WHERE app = $1 AND transaction_id = $2 AND realm = $3
        """
    }
}
