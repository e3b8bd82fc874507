import PurchaseModel

/// Writes and finds what was granted by hand.
struct GrantedEntitlementQueries {
    let connection: any SQLConnection
    let apps: AppQueries

    private static let key: [BulkColumn] = [
        .integer("app"), .text("customer"), .integer("realm"), .text("entitlement"),
    ]
    private static let columns: [BulkColumn] = [
        .integer("ends_at"), .integer("revoked"), .integer("changed_at"), .text("changed_by"), .text("reason"),
    ]
    private static let insert = BulkInsert(
        into: "granted_entitlements",
        key + [.integer("version")] + columns,
        key: key.map(\.name)
    )
    private static let update = BulkUpdate(of: "granted_entitlements", key: key, columns)
    /// What ``read(_:app:)`` expects.
    static let selected = """
        customer, realm, entitlement, version, ends_at, revoked, changed_at, changed_by, reason
        """
    private static let list = Query(
        """
        SELECT \(selected) FROM granted_entitlements WHERE app = $1 AND customer = $2
        ORDER BY realm, entitlement
        """
    )
    private static let find = BulkLookup(
        by: key,
        """
        SELECT \(selected) FROM granted_entitlements
        WHERE app = $1 AND customer = $2 AND realm = $3 AND entitlement = $4
        """
    )

    func write(_ change: RowChange<GrantedEntitlement>) throws(StoreFailure) {
        let row = change.row
        let key: [SQLValue] = [
            .integer(try apps.codeForWriting(row.key.app)), .text(row.key.customer.text),
            .integer(try RealmCode.number(of: row.key.realm)), .text(row.key.entitlement.text),
        ]
        let values: [SQLValue] = [
            .optional(row.until?.milliseconds), .integer(row.isRevoked ? 1 : 0), .integer(row.changedAt.milliseconds),
            .text(row.motive.actor), .optional(row.motive.reason),
        ]
        switch change {
        case .insert: try connection.insert(key + [.integer(row.version)] + values, by: Self.insert)
        case .update: try connection.update(key + [.integer(row.version - 1)] + values, by: Self.update)
        }
    }

    func find(_ keys: [GrantedEntitlementKey]) throws(StoreFailure) -> [GrantedEntitlement] {
        let (asked, values) = try apps.keys(keys, app: \.app) { code, key in
            [code, .text(key.customer.text), .integer(RealmCode.wanted(key.realm)), .text(key.entitlement.text)]
        }
        var found: [GrantedEntitlement] = []
        try connection.visit(Self.find, values) { place, row throws(StoreFailure) in
            found.append(try Self.read(row, app: asked[place].app))
        }
        return found
    }

    func list(app: AppID, customer: CustomerID) throws(StoreFailure) -> [GrantedEntitlement] {
        guard let code = try apps.code(of: app) else { return [] }
        return try connection.rows(Self.list, [.integer(code), .text(customer.text)]) { row throws(StoreFailure) in
            try Self.read(row, app: app)
        }
    }

    static func read(_ row: SQLRow, app: AppID) throws(StoreFailure) -> GrantedEntitlement {
        guard let customer: CustomerID = try row.identifier(0), let realm = RealmCode(number: row.integer(1)).realm,
            let entitlement: EntitlementID = try row.identifier(2)
        else { throw SQLiteResult.unreadableRow }
        return GrantedEntitlement(
            key: GrantedEntitlementKey(app: app, realm: realm, customer: customer, entitlement: entitlement),
            until: row.optionalInteger(4).map { Timestamp(milliseconds: $0) },
            isRevoked: row.integer(5) != 0,
            changedAt: Timestamp(milliseconds: row.integer(6)),
            motive: Motive(actor: row.text(7), reason: row.optionalText(8)),
            version: row.integer(3)
        )
    }
}
