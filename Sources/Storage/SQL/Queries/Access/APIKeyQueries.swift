import PurchaseModel

/// Writes and finds API keys.
struct APIKeyQueries {
    let connection: any SQLConnection
    let apps: AppQueries

    private static let own = """
        id, name, kind, scopes, environments, sha256, hint, created_at, created_by, expires_at, revoked_at, \
        last_used_at, version
        """
    /// A column of the same name stands in both tables.
    private static let selected = """
        api_keys.id, api_keys.name, kind, scopes, environments, sha256, hint, created_at, created_by, expires_at, \
        revoked_at, last_used_at, version, apps.name
        """
    private static let source = "api_keys JOIN apps ON apps.code = api_keys.app"
    private static let insert = Query(
        """
        INSERT INTO api_keys (app, \(own)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
        ON CONFLICT DO NOTHING
        """
    )
    private static let find = Query("SELECT \(selected) FROM \(source) WHERE api_keys.id = $1")
    private static let list = Query(
        "SELECT \(selected) FROM \(source) WHERE api_keys.app = $1 ORDER BY created_at DESC, api_keys.id LIMIT $2"
    )
    private static let inForce = Query(
        """
        SELECT \(selected) FROM \(source)
        WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1)
        """
    )
    private static let inForceBySecret = Query(
        """
        SELECT \(selected) FROM \(source)
        WHERE sha256 = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)
        """
    )
    private static let inForceOfApp = Query(
        """
        SELECT \(selected) FROM \(source)
        WHERE api_keys.app = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)
        """
    )
    /// Changes nothing: until the transaction ends the row is locked for others who would do the same.
    private static let lock = Query("UPDATE apps SET name = name WHERE code = $1")
    private static let end = Query(
        """
        UPDATE api_keys SET version = version + 1, expires_at = $3, revoked_at = $4 WHERE id = $1 AND version = $2
        """
    )
    private static let noteUse = Query(
        "UPDATE api_keys SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)"
    )

    func list(app: AppID, at now: Timestamp) throws(StoreFailure) -> [APIKeyRow] {
        guard let code = try apps.code(of: app) else { return [] }
        let newest = try connection.rows(Self.list, [.integer(code), .integer(Int64(APIKeyRow.listedMax))], Self.read)
        guard newest.count == APIKeyRow.listedMax else { return newest }
        let listed = Set(newest.map(\.id))
        let inForce = try connection.rows(Self.inForceOfApp, [.integer(code), .integer(now.milliseconds)], Self.read)
        return newest + inForce.filter { !listed.contains($0.id) }.sorted(by: APIKeyRow.isListedBefore)
    }

    func find(_ id: APIKeyID) throws(StoreFailure) -> APIKeyRow? {
        try connection.row(Self.find, [.text(id.text)], Self.read)
    }

    func inForce(at now: Timestamp) throws(StoreFailure) -> [APIKeyRow] {
        try connection.rows(Self.inForce, [.integer(now.milliseconds)], Self.read)
    }

    func inForce(sha256: [UInt8], at now: Timestamp) throws(StoreFailure) -> APIKeyRow? {
        try connection.row(Self.inForceBySecret, [.bytes(sha256), .integer(now.milliseconds)], Self.read)
    }

    func hold(app: AppID, at now: Timestamp) throws(StoreFailure) -> [APIKeyRow] {
        let code = SQLValue.integer(try apps.codeForWriting(app))
        // First, so that what is found holds until the end: a key has no unique name, since the one that takes its place
        // has the same.
        try connection.run(Self.lock, [code])
        return try connection.rows(Self.inForceOfApp, [code, .integer(now.milliseconds)], Self.read)
    }

    func add(_ key: APIKeyRow) throws(StoreFailure) {
        guard key.isStorable else { throw .unstorable }
        let values: [SQLValue] = [
            .integer(try apps.codeForWriting(key.app)), .text(key.id.text), .text(key.name), .text(key.kind),
            .text(key.scopes.joined(separator: ",")), .optional(key.environments?.joined(separator: ",")),
            .bytes(key.sha256), .text(key.hint), .integer(key.createdAt.milliseconds), .text(key.createdBy),
            .optional(key.expiresAt?.milliseconds), .optional(key.revokedAt?.milliseconds),
            .optional(key.lastUsedAt?.milliseconds), .integer(key.version),
        ]
        guard try connection.run(Self.insert, values) == 1 else { throw .conflict }
    }

    func end(_ key: APIKeyRow) throws(StoreFailure) {
        let values: [SQLValue] = [
            .text(key.id.text), .integer(key.version), .optional(key.expiresAt?.milliseconds),
            .optional(key.revokedAt?.milliseconds),
        ]
        guard try connection.run(Self.end, values) == 1 else { throw .conflict }
    }

    func noteUse(_ id: APIKeyID, at moment: Timestamp) throws(StoreFailure) {
        try connection.run(Self.noteUse, [.text(id.text), .integer(moment.milliseconds)])
    }

    private static func read(_ row: SQLRow) throws(StoreFailure) -> APIKeyRow {
        guard let id = APIKeyID(row.text(0)), let app: AppID = try row.identifier(13) else {
            throw SQLiteResult.unreadableRow
        }
        return APIKeyRow(
            id: id,
            app: app,
            name: row.text(1),
            kind: row.text(2),
            scopes: words(row.text(3)),
            environments: row.optionalText(4).map(words),
            sha256: row.bytes(5),
            hint: row.text(6),
            createdAt: Timestamp(milliseconds: row.integer(7)),
            createdBy: row.text(8),
            expiresAt: row.optionalTimestamp(9),
            revokedAt: row.optionalTimestamp(10),
            lastUsedAt: row.optionalTimestamp(11),
            version: row.integer(12)
        )
    }

    private static func words(_ text: String) -> [String] {
        text.utf8.split(separator: UInt8(ascii: ",")).map { String(decoding: $0, as: UTF8.self) }
    }
}
