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
    private static let update = RowUpdate(proof: "latest_evidence") { _ in ["fuller_evidence = NULL"] }
    private static let updateByLess = RowUpdate(proof: "latest_evidence") {
        ["fuller_evidence = coalesce(\($0)fuller_evidence, \($0)latest_evidence)"]
    }
    private static let amendByMore = RowUpdate(proof: "fuller_evidence")
    private static let amend = RowUpdate(proof: nil)
    private static let findVersion = Query(
        "SELECT version FROM transactions WHERE app = $1 AND transaction_id = $2 AND realm = $3"
    )

    func apply(_ decision: Decision, evidence: EvidenceRow?) throws(StoreFailure) {
        guard decision.isStorable(with: evidence) else { throw .unstorable }
        var number: SQLValue?
        if let evidence, decision.keeps(evidence) { number = .integer(try keep(evidence)) }
        for change in decision.changes {
            // By another system's books it may be known whose it is, and nothing is shown.
            let isShown = number != nil && decision.shown.contains(change.recorded.key)
            try apply(change, provedBy: number, isShown: isShown)
        }
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

    /// Writes a row, and the number of what proves it now, also as its first proof if it is shown by that.
    private func apply(_ change: LedgerChange, provedBy evidence: SQLValue?, isShown: Bool) throws(StoreFailure) {
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
        case .update: try update(recorded, key, evidence, isShown, content, by: Self.update)
        case .updateByLess: try update(recorded, key, evidence, isShown, content, by: Self.updateByLess)
        case .amend: try update(recorded, key, evidence, isShown, content, by: Self.amend)
        case .amendByMore: try update(recorded, key, evidence, isShown, content, by: Self.amendByMore)
        }
    }

    private func update(
        _ recorded: RecordedTransaction,
        _ key: [SQLValue],
        _ evidence: SQLValue?,
        _ isShown: Bool,
        _ content: [SQLValue],
        by update: RowUpdate
    ) throws(StoreFailure) {
        let places = (isShown ? 1 : 0) + (update.isProof ? 1 : 0)
        guard places == 0 || evidence != nil else { throw .unstorable }
        let proofs = Array(repeating: evidence, count: places).compactMap(\.self)
        let version = try version(of: recorded.key, key)
        let values = key + [.integer(version)] + proofs + content
        try connection.update(values, by: isShown ? update.shown : update.plain)
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

/// How a transaction's row is updated: with the proof that it has by now, and as it is shown for the first time.
private struct RowUpdate: Sendable {
    let plain: BulkUpdate
    /// The same where the proof is the first one, too.
    let shown: BulkUpdate
    /// Whether the proof is noted also where it is not the first one.
    let isProof: Bool

    /// - Parameters:
    ///   - column: the one that names the proof; `nil` where what proves the row stays.
    ///   - also: as of ``BulkUpdate``.
    init(proof column: String?, also: (_ prefix: String) -> [String] = { _ in [] }) {
        let columns = [column].compactMap(\.self).map { BulkColumn.integer($0) } + TransactionColumns.content
        let (table, key) = ("transactions", TransactionColumns.key)
        plain = BulkUpdate(of: table, key: key, columns, also: also)
        shown = BulkUpdate(of: table, key: key, [.integer("first_evidence")] + columns, also: also)
        isProof = column != nil
    }
}
