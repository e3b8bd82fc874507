import PurchaseModel

/// Writes and finds what people had Apple asked.
struct SupportQueries {
    let connection: any SQLConnection
    let apps: AppQueries

    private static let key: [BulkColumn] = [.integer("app"), .text("id")]
    private static let fixed: [BulkColumn] = [
        .text("kind"), .text("asked_by"), .integer("asked_at"), .bytes("question"),
    ]
    private static let changing: [BulkColumn] = [.text("state"), .bytes("answer"), .integer("settled_at")]
    private static let insert = BulkInsert(
        into: "support_requests",
        key + [.integer("version")] + fixed + changing,
        key: key.map(\.name)
    )
    private static let update = BulkUpdate(of: "support_requests", key: key, changing)
    static let selected = BulkColumn.names([.text("id"), .integer("version")] + fixed + changing)
    private static let find = Query("SELECT \(selected) FROM support_requests WHERE app = $1 AND id = $2")
    private static let list = Query(
        """
        SELECT \(selected) FROM support_requests WHERE app = $1 AND (asked_at, id) < ($2, $3)
        ORDER BY asked_at DESC, id DESC LIMIT $4
        """
    )

    func put(_ request: SupportRequest) throws(StoreFailure) {
        guard request.isStorable else { throw .unstorable }
        let key: [SQLValue] = [.integer(try apps.codeForWriting(request.app)), .text(request.id.text)]
        let changing: [SQLValue] = [
            .text(request.state.rawValue), .optional(request.answer), .optional(request.settledAt?.milliseconds),
        ]
        guard request.version == RowVersions.first else {
            return try connection.update(key + [.integer(request.version - 1)] + changing, by: Self.update)
        }
        let fixed: [SQLValue] = [
            .text(request.kind), .text(request.askedBy), .integer(request.askedAt.milliseconds),
            .bytes(request.question),
        ]
        try connection.insert(key + [.integer(request.version)] + fixed + changing, by: Self.insert)
    }

    func find(app: AppID, id: SupportRequestID) throws(StoreFailure) -> SupportRequest? {
        guard let code = try apps.code(of: app) else { return nil }
        return try connection.row(Self.find, [.integer(code), .text(id.text)]) { row throws(StoreFailure) in
            try Self.read(row, app: app)
        }
    }

    func list(app: AppID, before cursor: SupportCursor?, limit: Int) throws(StoreFailure) -> SupportPage {
        guard let code = try apps.code(of: app) else { return SupportPage() }
        let limit = min(max(limit, 1), SupportPage.limitMax)
        let values: [SQLValue] = [
            .integer(code), .integer(cursor?.moment.milliseconds ?? .max), .text(cursor?.id.text ?? ""),
            .integer(Int64(limit + 1)),
        ]
        var found = try connection.rows(Self.list, values) { row throws(StoreFailure) in try Self.read(row, app: app) }
        guard found.count > limit else { return SupportPage(requests: found) }
        found.removeLast()
        return SupportPage(requests: found, next: found.last?.cursor)
    }

    static func read(_ row: SQLRow, app: AppID) throws(StoreFailure) -> SupportRequest {
        guard let id = SupportRequestID(row.text(0)), let state = SupportRequest.State(rawValue: row.text(6)) else {
            throw SQLiteResult.unreadableRow
        }
        return SupportRequest(
            app: app,
            id: id,
            kind: row.text(2),
            askedBy: row.text(3),
            askedAt: Timestamp(milliseconds: row.integer(4)),
            question: row.bytes(5),
            state: state,
            answer: row.optionalBytes(7),
            settledAt: row.optionalTimestamp(8),
            version: row.integer(1)
        )
    }
}
