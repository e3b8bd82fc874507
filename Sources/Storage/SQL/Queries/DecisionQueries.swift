import PurchaseModel

/// Writes decisions: the rows that they change, and the proofs that they follow from.
struct DecisionQueries {
    let connection: SQLiteConnection
    let apps: AppQueries

    private static let insertEvidence = Query(
        """
        INSERT INTO evidence (sha256, format, customer, received_at, verdict, proof)
        VALUES ($1, $2, $3, $4, $5, $6) RETURNING sequence
        """
    )
    private static let insert: Query = {
        let columns = TransactionColumns.key + ["first_evidence", "latest_evidence"] + TransactionColumns.content
        let places = (1...columns.count).map { "$\($0)" }
        return Query(
            """
            INSERT INTO transactions (\(columns.joined(separator: ", "))) VALUES (\(places.joined(separator: ", ")))
            ON CONFLICT (app, transaction_id, realm) DO NOTHING
            """
        )
    }()
    private static let update: Query = {
        let columns = ["latest_evidence"] + TransactionColumns.content
        let assignments = columns.enumerated().map { "\($0.element) = $\($0.offset + 4)" }
        return Query(
            """
            UPDATE transactions SET \(assignments.joined(separator: ", "))
            WHERE app = $1 AND transaction_id = $2 AND realm = $3
            """
        )
    }()

    func apply(_ decision: Decision, evidence: EvidenceRow) throws(StoreFailure) {
        guard !decision.changes.isEmpty else { return }
        guard evidence.isStorable, decision.changes.allSatisfy(\.recorded.isStorable) else { throw .unstorable }
        let number = SQLValue.integer(try keep(evidence))
        for change in decision.changes { try apply(change, provedBy: number) }
    }

    private func keep(_ evidence: EvidenceRow) throws(StoreFailure) -> Int64 {
        let values: [SQLValue] = [
            .bytes(evidence.digest.bytes), .text(evidence.format), .optional(evidence.customer?.text),
            .integer(evidence.receivedAt.milliseconds), .text(evidence.verdict), .bytes(evidence.proof),
        ]
        guard let sequence = try connection.row(Self.insertEvidence, values, { $0.integer(0) }) else {
            throw SQLiteResult.unreadableRow
        }
        return sequence
    }

    private func apply(_ change: LedgerChange, provedBy evidence: SQLValue) throws(StoreFailure) {
        let recorded = change.recorded
        guard let realm = RealmCode(recorded.realm) else { throw .unstorable }
        let code = try apps.codeForWriting(recorded.app)
        var values: [SQLValue] = [.integer(code), .integer(recorded.transaction.id.number), .integer(realm.number)]
        let query: Query
        switch change {
        case .insert:
            query = Self.insert
            values += [evidence, evidence]
        case .update:
            query = Self.update
            values += [evidence]
        }
        values += TransactionColumns.values(of: recorded)
        guard try connection.run(query, values) == 1 else {
            connection.doom(.conflict)
            throw .conflict
        }
    }
}
