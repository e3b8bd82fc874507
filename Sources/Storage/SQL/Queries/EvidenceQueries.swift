import PurchaseModel

/// Reads the proofs that changed the ledger.
struct EvidenceQueries {
    let connection: any SQLConnection
    let apps: AppQueries

    private static let first = Query(text(column: "first_evidence"))
    private static let latest = Query(text(column: "latest_evidence"))

    func first(of key: TransactionKey) throws(StoreFailure) -> EvidenceRow? {
        try find(Self.first, key)
    }

    func latest(of key: TransactionKey) throws(StoreFailure) -> EvidenceRow? {
        try find(Self.latest, key)
    }

    private func find(_ query: Query, _ key: TransactionKey) throws(StoreFailure) -> EvidenceRow? {
        guard let code = try apps.code(of: key.app), let realm = RealmCode(key.realm) else { return nil }
        let values: [SQLValue] = [.integer(code), .integer(key.id.number), .integer(realm.number)]
        return try connection.row(query, values) { row throws(StoreFailure) in
            guard let digest = ProofDigest(row.bytes(0)) else { throw SQLiteResult.unreadableRow }
            return EvidenceRow(
                digest: digest,
                format: row.text(1),
                proof: row.bytes(5),
                customer: try row.identifier(2),
                receivedAt: Timestamp(milliseconds: row.integer(3)),
                verdict: row.text(4)
            )
        }
    }

    private static func text(column: String) -> String {
        """
        SELECT sha256, format, evidence.customer, received_at, verdict, proof
        FROM transactions JOIN evidence ON evidence.sequence = transactions.\(column)
        WHERE app = $1 AND transaction_id = $2 AND realm = $3
        """
    }
}
