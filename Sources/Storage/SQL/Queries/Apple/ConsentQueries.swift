import PurchaseModel

/// Writes and finds who has consented, and who did what.
struct ConsentQueries {
    let connection: any SQLConnection
    let apps: AppQueries

    private static let key: [BulkColumn] = [.integer("app"), .text("subject")]
    private static let columns: [BulkColumn] = [.integer("given"), .integer("since")]
    private static let insert = BulkInsert(
        into: "consents",
        key + [.integer("version")] + columns,
        key: key.map(\.name)
    )
    private static let update = BulkUpdate(of: "consents", key: key, columns)
    private static let find = BulkLookup(
        by: key,
        "SELECT version, given, since FROM consents WHERE app = $1 AND subject = $2"
    )
    private static let note = BulkInsert(
        into: "audit",
        [
            .integer("app"), .text("subject"), .integer("number"), .integer("at"), .text("actor"), .text("act"),
            .text("detail"),
        ],
        key: ["app", "subject", "number"]
    )
    private static let list = Query(
        "SELECT number, at, actor, act, detail FROM audit WHERE app = $1 AND subject = $2 ORDER BY number LIMIT $3"
    )

    func write(_ change: RowChange<Consent>) throws(StoreFailure) {
        let row = change.row
        let key: [SQLValue] = [
            .integer(try apps.codeForWriting(row.key.app)), .text(AuditSubject(row.key.subject).text),
        ]
        let values: [SQLValue] = [.integer(row.isGiven ? 1 : 0), .integer(row.since.milliseconds)]
        switch change {
        case .insert: try connection.insert(key + [.integer(row.version)] + values, by: Self.insert)
        case .update: try connection.update(key + [.integer(row.version - 1)] + values, by: Self.update)
        }
    }

    func find(_ keys: [ConsentKey]) throws(StoreFailure) -> [Consent] {
        let (asked, values) = try apps.keys(keys, app: \.app) { [$0, .text(AuditSubject($1.subject).text)] }
        var found: [Consent] = []
        try connection.visit(Self.find, values) { place, row throws(StoreFailure) in
            let since = Timestamp(milliseconds: row.integer(2))
            let isGiven = row.integer(1) != 0
            found.append(Consent(key: asked[place], isGiven: isGiven, since: since, version: row.integer(0)))
        }
        return found
    }

    func write(_ entry: AuditEntry) throws(StoreFailure) {
        let values: [SQLValue] = [
            .integer(try apps.codeForWriting(entry.app)), .text(entry.subject.text), .integer(entry.number),
            .integer(entry.at.milliseconds), .text(entry.actor), .text(entry.act), .optional(entry.detail),
        ]
        try connection.insert(values, by: Self.note)
    }

    func audit(app: AppID, of subject: AuditSubject) throws(StoreFailure) -> [AuditEntry] {
        guard let code = try apps.code(of: app) else { return [] }
        let values: [SQLValue] = [.integer(code), .text(subject.text), .integer(Int64(AuditEntry.listedMax))]
        return try connection.rows(Self.list, values) { row in
            AuditEntry(
                app: app,
                subject: subject,
                number: row.integer(0),
                at: Timestamp(milliseconds: row.integer(1)),
                actor: row.text(2),
                act: row.text(3),
                detail: row.optionalText(4)
            )
        }
    }
}
