import PurchaseModel

/// Writes and finds what Apple asks about purchases.
struct ConsumptionQueries {
    let connection: any SQLConnection
    let apps: AppQueries

    private static let key: [BulkColumn] = [.integer("app"), .text("id"), .integer("realm")]
    private static let columns: [BulkColumn] = [
        .integer("transaction_id"), .integer("original_id"), .text("product"), .integer("form"), .text("reason"),
        .integer("asked_at"), .integer("received_at"), .integer("deadline"), .integer("answer_at"), .text("state"),
        .text("ending"), .text("preference"), .integer("approved"), .integer("turn"), .text("sent_delivery"),
        .text("sent_delivery_because"), .integer("sent_sample"), .integer("sent_percentage"),
        .text("sent_percentage_because"), .text("sent_preference"), .text("sent_preference_because"),
        .text("sent_consent_because"), .integer("settled_at"), .text("said_delivery"),
    ]
    private static let insert = BulkInsert(
        into: "consumption_requests",
        key + [.integer("version")] + columns,
        key: key.map(\.name)
    )
    private static let update = BulkUpdate(of: "consumption_requests", key: key, columns)
    /// What ``read(_:app:)`` expects.
    static let selected = BulkColumn.names([.text("id"), .integer("realm"), .integer("version")] + columns)
    private static let find = BulkLookup(
        by: key,
        "SELECT \(selected) FROM consumption_requests WHERE app = $1 AND id = $2 AND realm = $3"
    )
    private static let byTransaction = "consumption_requests_of_transaction"
    static let findOpen = BulkLookup(
        by: [.integer("app"), .integer("transaction_id"), .integer("realm")],
        index: byTransaction
    ) { index in
        """
        SELECT \(selected) FROM consumption_requests \(index)
        WHERE app = $1 AND transaction_id = $2 AND realm = $3 AND state IN ('open', 'sending')
        """
    }
    static let list = Query(listing(""))
    static let listOfTransaction = Query(by: byTransaction) { listing("AND transaction_id = $7", by: $0) }
    /// One realm has one bit. The moment is said twice, since a comparison of two columns does not tell a planner that neither is
    /// null, as its index wants to be told.
    private static func listing(_ more: String, by index: String = "") -> String {
        """
        SELECT \(selected) FROM consumption_requests \(index)
        WHERE app = $1 AND received_at <= $2 AND (received_at, id) < ($2, $3) AND ($4 >> CAST(realm AS INTEGER)) % 2 = 1
            AND (CAST($5 AS TEXT) IS NULL OR state = $5) \(more)
        ORDER BY received_at DESC, id DESC, realm DESC LIMIT $6
        """
    }

    func write(_ change: RowChange<ConsumptionRequest>) throws(StoreFailure) {
        let row = change.row
        let key: [SQLValue] = [
            .integer(try apps.codeForWriting(row.key.app)), .text(row.key.id.text),
            .integer(try RealmCode.number(of: row.key.realm)),
        ]
        switch change {
        case .insert: try connection.insert(key + [.integer(row.version)] + Self.values(of: row), by: Self.insert)
        case .update: try connection.update(key + [.integer(row.version - 1)] + Self.values(of: row), by: Self.update)
        }
    }

    func find(_ keys: [ConsumptionKey]) throws(StoreFailure) -> [ConsumptionRequest] {
        let (asked, values) = try apps.keys(keys, app: \.app) { code, key in
            [code, .text(key.id.text), .integer(RealmCode.wanted(key.realm))]
        }
        var found: [ConsumptionRequest] = []
        try connection.visit(Self.find, values) { place, row throws(StoreFailure) in
            found.append(try Self.read(row, app: asked[place].app))
        }
        return found
    }

    func findOpen(_ keys: [TransactionKey]) throws(StoreFailure) -> [ConsumptionRequest] {
        let (asked, values) = try apps.keys(keys, app: \.app) { code, key in
            [code, .integer(key.id.number), .integer(RealmCode.wanted(key.realm))]
        }
        var found: [ConsumptionRequest] = []
        try connection.visit(Self.findOpen, values) { place, row throws(StoreFailure) in
            found.append(try Self.read(row, app: asked[place].app))
        }
        return found
    }

    func list(
        app: AppID,
        before cursor: ConsumptionCursor?,
        where filter: ConsumptionFilter,
        limit: Int
    ) throws(StoreFailure) -> ConsumptionPage {
        guard let code = try apps.code(of: app) else { return ConsumptionPage() }
        let limit = min(max(limit, 1), ConsumptionPage.limitMax)
        var values: [SQLValue] = [
            .integer(code), .integer(cursor?.moment.milliseconds ?? .max), .text(cursor?.id.text ?? ""),
            .integer(RealmCode.mask(of: filter.realms)), .optional(filter.state?.rawValue),
            .integer(Int64(limit + 1)),
        ]
        if let transaction = filter.transaction { values.append(.integer(transaction.number)) }
        let query = filter.transaction == nil ? Self.list : Self.listOfTransaction
        var found = try connection.rows(query, values) { row throws(StoreFailure) in try Self.read(row, app: app) }
        guard found.count > limit else { return ConsumptionPage(requests: found) }
        found.removeLast()
        return ConsumptionPage(requests: found, next: found.last.map { $0.cursor })
    }

    private static func values(of row: ConsumptionRequest) -> [SQLValue] {
        let answer = row.answer
        return [
            .integer(row.transaction.number), .integer(row.original.number), .text(row.product.text),
            .integer(row.form.rawValue), .optional(row.reason), .integer(row.askedAt.milliseconds),
            .integer(row.receivedAt.milliseconds), .integer(row.deadline.milliseconds),
            .integer(row.answerAt.milliseconds), .text(row.state.rawValue), .optional(row.ending),
            .optional(row.preference?.rawValue), .integer(row.isApproved ? 1 : 0), .integer(row.turn),
            .optional(answer?.delivery.rawValue), .optional(answer?.deliveryBecause.rawValue),
            .optional((answer?.isSampleProvided).map { $0 ? 1 : 0 }), .optional(answer?.percentage),
            .optional(answer?.percentageBecause.rawValue), .optional(answer?.preference?.rawValue),
            .optional(answer?.preferenceBecause.rawValue), .optional(answer?.consentBecause.rawValue),
            .optional(row.settledAt?.milliseconds), .optional(row.delivery?.rawValue),
        ]
    }

    /// Reads a row of ``selected``.
    static func read(_ row: SQLRow, app: AppID) throws(StoreFailure) -> ConsumptionRequest {
        guard let id = NotificationID(row.text(0)), let realm = RealmCode(number: row.integer(1)).realm,
            let transaction = TransactionID(number: row.integer(3)),
            let original = TransactionID(number: row.integer(4)),
            let product: ProductID = try row.identifier(5), let form = ConsumptionForm(rawValue: row.integer(6)),
            let state = ConsumptionState(rawValue: row.text(12))
        else { throw SQLiteResult.unreadableRow }
        return ConsumptionRequest(
            key: ConsumptionKey(app: app, realm: realm, id: id),
            transaction: transaction,
            original: original,
            product: product,
            form: form,
            reason: row.optionalText(7),
            askedAt: Timestamp(milliseconds: row.integer(8)),
            receivedAt: Timestamp(milliseconds: row.integer(9)),
            deadline: Timestamp(milliseconds: row.integer(10)),
            answerAt: Timestamp(milliseconds: row.integer(11)),
            state: state,
            ending: row.optionalText(13),
            preference: try word(row, 14),
            delivery: try word(row, 26),
            isApproved: row.integer(15) != 0,
            turn: row.integer(16),
            answer: try answer(row),
            settledAt: row.optionalTimestamp(25),
            version: row.integer(2)
        )
    }

    private static func answer(_ row: SQLRow) throws(StoreFailure) -> ConsumptionAnswer? {
        guard let delivery: DeliveryAssertion = try word(row, 17) else { return nil }
        guard let deliveryBecause: AnswerReason = try word(row, 18), let sample = row.optionalInteger(19),
            let percentageBecause: AnswerReason = try word(row, 21),
            let preferenceBecause: AnswerReason = try word(row, 23),
            let consentBecause: AnswerReason = try word(row, 24)
        else { throw SQLiteResult.unreadableRow }
        return ConsumptionAnswer(
            delivery: delivery,
            because: deliveryBecause,
            isSampleProvided: sample != 0,
            percentage: row.optionalInteger(20).map { Int($0) },
            because: percentageBecause,
            preference: try word(row, 22),
            because: preferenceBecause,
            consentBecause: consentBecause
        )
    }

    private static func word<Word: RawRepresentable<String>>(
        _ row: SQLRow,
        _ column: Int32
    ) throws(StoreFailure) -> Word? {
        guard let text = row.optionalText(column) else { return nil }
        guard let word = Word(rawValue: text) else { throw SQLiteResult.unreadableRow }
        return word
    }
}
