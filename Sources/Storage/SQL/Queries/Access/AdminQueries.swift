import PurchaseModel

/// Writes and finds who uses the dashboard.
struct AdminQueries {
    let connection: any SQLConnection

    private static let columns = "name, role, password, is_enabled, version, created_at"
    private static let find = Query("SELECT \(columns) FROM admins WHERE name = $1")
    private static let list = Query("SELECT \(columns) FROM admins ORDER BY name LIMIT $1")
    private static let insert = Query(
        "INSERT INTO admins (\(columns)) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (name) DO NOTHING"
    )
    /// Whoever comes second finds the place taken, under whatever name.
    private static let insertFirst = Query(
        "INSERT INTO admins (\(columns), is_first) VALUES ($1, $2, $3, $4, $5, $6, 1) ON CONFLICT DO NOTHING"
    )
    private static let findLink = Query("SELECT made_at FROM first_account_links WHERE digest = $1")
    private static let insertLink = Query(
        "INSERT INTO first_account_links (digest, made_at) VALUES ($1, $2) ON CONFLICT (digest) DO NOTHING"
    )
    private static let deleteLinks = Query("DELETE FROM first_account_links WHERE made_at < $1")
    private static let update = Query(
        """
        UPDATE admins SET role = $1, password = $2, is_enabled = $3, version = version + 1
        WHERE name = $4 AND version = $5
        """
    )
    /// Changes nothing: a change of somebody else's waits for this write, or this write has waited for it.
    private static let hold = Query("UPDATE admins SET version = version WHERE name = $1")

    func find(_ name: AdminName) throws(StoreFailure) -> AdminAccount? {
        try connection.row(Self.find, [.text(name.text)]) { row throws(StoreFailure) in try Self.account(row) }
    }

    func list() throws(StoreFailure) -> [AdminAccount] {
        try connection.rows(Self.list, [.integer(Int64(AdminAccount.listedMax))]) { row throws(StoreFailure) in
            try Self.account(row)
        }
    }

    func create(_ account: AdminAccount) throws(StoreFailure) {
        if try connection.run(Self.insert, try Self.values(of: account)) != 1 { throw conflict() }
    }

    func createFirst(_ account: AdminAccount) throws(StoreFailure) -> Bool {
        guard try list().isEmpty else { return false }
        if try connection.run(Self.insertFirst, try Self.values(of: account)) != 1 { throw conflict() }
        try connection.run(Self.deleteLinks, [.integer(.max)])
        return true
    }

    func link(_ digest: [UInt8]) throws(StoreFailure) -> Timestamp? {
        try connection.row(Self.findLink, [.bytes(digest)]) { Timestamp(milliseconds: $0.integer(0)) }
    }

    func keepLink(
        _ digest: [UInt8],
        madeAt moment: Timestamp,
        forgettingBefore old: Timestamp
    ) throws(StoreFailure) {
        guard digest.count == AdminSession.digestLength else { throw .unstorable }
        try connection.run(Self.deleteLinks, [.integer(old.milliseconds)])
        let values: [SQLValue] = [.bytes(digest), .integer(moment.milliseconds)]
        if try connection.run(Self.insertLink, values) != 1 { throw conflict() }
    }

    func hold(_ name: AdminName) throws(StoreFailure) -> AdminAccount? {
        try connection.run(Self.hold, [.text(name.text)]) == 1 ? find(name) : nil
    }

    func update(_ account: AdminAccount) throws(StoreFailure) {
        guard account.isStorable else { throw .unstorable }
        let values: [SQLValue] = [
            .text(account.role.rawValue), .text(account.password), .integer(account.isEnabled ? 1 : 0),
            .text(account.name.text), .integer(account.version),
        ]
        if try connection.run(Self.update, values) != 1 { throw conflict() }
    }

    private static func values(of account: AdminAccount) throws(StoreFailure) -> [SQLValue] {
        guard account.isStorable else { throw .unstorable }
        return [
            .text(account.name.text), .text(account.role.rawValue), .text(account.password),
            .integer(account.isEnabled ? 1 : 0), .integer(account.version),
            .integer(account.createdAt.milliseconds),
        ]
    }

    private static func account(_ row: SQLRow) throws(StoreFailure) -> AdminAccount {
        guard let name = AdminName(row.text(0)), let role = AdminRole(rawValue: row.text(1)) else {
            throw SQLiteResult.unreadableRow
        }
        return AdminAccount(
            name: name,
            role: role,
            password: row.text(2),
            isEnabled: row.integer(3) != 0,
            version: row.integer(4),
            createdAt: Timestamp(milliseconds: row.integer(5))
        )
    }

    private func conflict() -> StoreFailure {
        connection.doom(.conflict)
        return .conflict
    }
}
