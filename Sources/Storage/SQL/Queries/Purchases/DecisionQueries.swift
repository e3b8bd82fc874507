import PurchaseModel

/// Writes decisions: the rows that they change, and the proofs that they follow from.
struct DecisionQueries {
    let connection: any SQLConnection
    let apps: AppQueries
    let versions: RowVersions

    private static let evidence = RowSequence(of: "evidence")
    private static let transactions = RowSequence(of: "transactions")
    private static let insertEvidence = BulkInsert(
        into: "evidence",
        [
            .integer("sequence"), .bytes("sha256"), .text("format"), .text("customer"), .integer("received_at"),
            .text("verdict"), .bytes("proof"),
        ],
        key: ["sequence"]
    )
    private static let insert = BulkInsert(
        into: "transactions",
        TransactionColumns.key + TransactionColumns.places + TransactionColumns.content,
        onlyInPostgreSQL: [TransactionColumns.chain],
        key: TransactionColumns.key.map(\.name)
    )
    private static let update = BulkUpdate(
        of: "transactions",
        key: TransactionColumns.key,
        [.integer("latest_evidence")] + TransactionColumns.content
    ) { _ in ["fuller_evidence = NULL"] }
    private static let updateByLess = BulkUpdate(
        of: "transactions",
        key: TransactionColumns.key,
        [.integer("latest_evidence")] + TransactionColumns.content
    ) { ["fuller_evidence = coalesce(\($0)fuller_evidence, \($0)latest_evidence)"] }
    private static let amendByMore = BulkUpdate(
        of: "transactions",
        key: TransactionColumns.key,
        [.integer("fuller_evidence")] + TransactionColumns.content
    )
    private static let amend = BulkUpdate(of: "transactions", key: TransactionColumns.key, TransactionColumns.content)
    private static let findVersion = Query(
        "SELECT version FROM transactions WHERE app = $1 AND transaction_id = $2 AND realm = $3"
    )

    func apply(_ decision: Decision, evidence: EvidenceRow?) throws(StoreFailure) {
        guard decision.isStorable(with: evidence) else { throw .unstorable }
        var number: SQLValue?
        if let evidence, decision.keeps(evidence) { number = .integer(try keep(evidence)) }
        for change in decision.changes { try apply(change, provedBy: number) }
        try applyRest(of: decision)
    }

    private func applyRest(of decision: Decision) throws(StoreFailure) {
        let fulfilments = FulfilmentQueries(connection: connection, apps: apps)
        let owners = OwnerQueries(connection: connection, apps: apps)
        let orders = OrderQueries(connection: connection, apps: apps)
        let subscriptions = SubscriptionQueries(connection: connection, apps: apps)
        let wallets = WalletQueries(connection: connection, apps: apps)
        for change in decision.vacancies { try owners.write(change) }
        for change in decision.owners { try owners.write(change) }
        for change in decision.orders { try orders.write(change) }
        for change in decision.tokens { try orders.write(change) }
        for change in decision.fulfilments { try fulfilments.write(change) }
        for change in decision.subscriptions { try subscriptions.write(change) }
        for wallet in decision.wallets { try wallets.write(wallet) }
        for posting in decision.postings { try wallets.write(posting) }
        for change in decision.consumptions {
            try ConsumptionQueries(connection: connection, apps: apps).write(change)
        }
        let consents = ConsentQueries(connection: connection, apps: apps)
        for change in decision.consents { try consents.write(change) }
        for entry in decision.audit { try consents.write(entry) }
        let byHand = GrantedEntitlementQueries(connection: connection, apps: apps)
        for change in decision.grantedEntitlements { try byHand.write(change) }
    }

    private func keep(_ evidence: EvidenceRow) throws(StoreFailure) -> Int64 {
        let sequence = try connection.next(Self.evidence)
        let values: [SQLValue] = [
            .integer(sequence), .bytes(evidence.digest.bytes), .text(evidence.format),
            .optional(evidence.customer?.text), .integer(evidence.receivedAt.milliseconds), .text(evidence.verdict),
            .bytes(evidence.proof),
        ]
        try connection.insert(values, by: Self.insertEvidence)
        connection.added.evidence += 1
        return sequence
    }

    /// Writes a row, and the number of what proves it now.
    private func apply(_ change: LedgerChange, provedBy evidence: SQLValue?) throws(StoreFailure) {
        let recorded = change.recorded
        guard let realm = RealmCode(recorded.realm) else { throw .unstorable }
        let code = try apps.codeForWriting(recorded.app)
        let id = recorded.transaction.id.number
        let key: [SQLValue] = [.integer(code), .integer(id), .integer(realm.number)]
        let content = TransactionColumns.values(of: recorded)
        switch change {
        case .insert:
            guard let evidence else { throw .unstorable }
            let chain = recorded.transaction.originalID?.number ?? id
            let places: [SQLValue] = [.integer(try connection.next(Self.transactions)), evidence, evidence]
            try connection.insert([key, places, content, [.integer(chain)]], by: Self.insert)
            connection.added.transactions += 1
            versions.set(RowVersions.first, of: recorded.key)
        case .update: try update(recorded, key, [try Self.number(evidence)], content, by: Self.update)
        case .updateByLess: try update(recorded, key, [try Self.number(evidence)], content, by: Self.updateByLess)
        case .amend: try update(recorded, key, [], content, by: Self.amend)
        case .amendByMore: try update(recorded, key, [try Self.number(evidence)], content, by: Self.amendByMore)
        }
    }

    private static func number(_ evidence: SQLValue?) throws(StoreFailure) -> SQLValue {
        guard let evidence else { throw .unstorable }
        return evidence
    }

    private func update(
        _ recorded: RecordedTransaction,
        _ key: [SQLValue],
        _ proof: [SQLValue],
        _ content: [SQLValue],
        by update: BulkUpdate
    ) throws(StoreFailure) {
        let version = try version(of: recorded.key, key)
        try connection.update(key + [.integer(version)] + proof + content, by: update)
        versions.set(version + 1, of: recorded.key)
    }

    private func version(of name: TransactionKey, _ key: [SQLValue]) throws(StoreFailure) -> Int64 {
        if let known = versions.version(of: name) { return known }
        guard let found = try connection.row(Self.findVersion, key, { $0.integer(0) }) else {
            connection.doom(.conflict)
            throw .conflict
        }
        return found
    }
}
