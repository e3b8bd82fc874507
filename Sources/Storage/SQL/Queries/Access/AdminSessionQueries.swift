import PurchaseModel

/// Writes and finds from where people are signed in.
struct AdminSessionQueries {
    let connection: any SQLConnection

    private static let find = Query(
        "SELECT digest, admin, started_at, seen_at, ended_at FROM admin_sessions WHERE digest = $1"
    )
    private static let insert = Query(
        """
        INSERT INTO admin_sessions (digest, admin, started_at, seen_at, ended_at) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (digest) DO NOTHING
        """
    )
    private static let note = Query(
        "UPDATE admin_sessions SET seen_at = $1 WHERE digest = $2 AND ended_at IS NULL"
    )
    private static let end = Query(
        "UPDATE admin_sessions SET ended_at = $1 WHERE digest = $2 AND ended_at IS NULL"
    )
    private static let endAll = Query(
        "UPDATE admin_sessions SET ended_at = $1 WHERE admin = $2 AND digest <> $3 AND ended_at IS NULL"
    )
    private static let sweep = Query(
        """
        DELETE FROM admin_sessions WHERE digest IN (
            SELECT digest FROM admin_sessions WHERE started_at < $1 ORDER BY started_at LIMIT $2
        )
        """
    )

    func find(_ digest: [UInt8]) throws(StoreFailure) -> AdminSession? {
        try connection.row(Self.find, [.bytes(digest)]) { row throws(StoreFailure) in
            guard let admin = AdminName(row.text(1)) else { throw SQLiteResult.unreadableRow }
            return AdminSession(
                digest: row.bytes(0),
                admin: admin,
                startedAt: Timestamp(milliseconds: row.integer(2)),
                seenAt: Timestamp(milliseconds: row.integer(3)),
                endedAt: row.optionalInteger(4).map(Timestamp.init(milliseconds:))
            )
        }
    }

    func start(_ session: AdminSession) throws(StoreFailure) {
        guard session.isStorable else { throw .unstorable }
        let values: [SQLValue] = [
            .bytes(session.digest), .text(session.admin.text), .integer(session.startedAt.milliseconds),
            .integer(session.seenAt.milliseconds), .optional(session.endedAt?.milliseconds),
        ]
        guard try connection.run(Self.insert, values) == 1 else {
            connection.doom(.conflict)
            throw .conflict
        }
    }

    func note(_ digest: [UInt8], seenAt moment: Timestamp) throws(StoreFailure) -> Bool {
        try connection.run(Self.note, [.integer(moment.milliseconds), .bytes(digest)]) == 1
    }

    func end(_ digest: [UInt8], at moment: Timestamp) throws(StoreFailure) -> Bool {
        try connection.run(Self.end, [.integer(moment.milliseconds), .bytes(digest)]) == 1
    }

    func endAll(of admin: AdminName, but digest: [UInt8]?, at moment: Timestamp) throws(StoreFailure) -> Int {
        let values: [SQLValue] = [.integer(moment.milliseconds), .text(admin.text), .bytes(digest ?? [])]
        return try connection.run(Self.endAll, values)
    }

    func sweep(startedBefore moment: Timestamp, limit: Int) throws(StoreFailure) -> Int {
        try connection.run(Self.sweep, [.integer(moment.milliseconds), .integer(Int64(max(limit, 0)))])
    }
}
