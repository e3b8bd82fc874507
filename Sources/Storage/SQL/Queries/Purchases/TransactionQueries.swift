import PurchaseModel

/// Reads the ledger's transactions.
struct TransactionQueries {
    let connection: any SQLConnection
    let apps: AppQueries
    let versions: RowVersions

    private static let findByKey = BulkLookup(
        by: TransactionColumns.key,
        """
        SELECT \(TransactionColumns.selected) FROM transactions
        WHERE app = $1 AND transaction_id = $2 AND realm = $3
        """
    )
    private static let findByNumber = Query(
        """
        SELECT \(TransactionColumns.selected) FROM transactions
        WHERE app = $1 AND transaction_id = $2 ORDER BY sequence
        """
    )
    private static let findPlaces = BulkLookup(
        by: TransactionColumns.key,
        "SELECT sequence FROM transactions WHERE app = $1 AND transaction_id = $2 AND realm = $3"
    )

    func find(_ keys: [TransactionKey]) throws(StoreFailure) -> [RecordedTransaction] {
        var asked: [TransactionKey] = []
        var values: [[SQLValue]] = []
        for key in keys {
            guard let code = try apps.code(of: key.app), let realm = RealmCode(key.realm) else { continue }
            asked.append(key)
            values.append([.integer(code), .integer(key.id.number), .integer(realm.number)])
        }
        var found: [RecordedTransaction] = []
        try connection.visit(Self.findByKey, values) { place, row throws(StoreFailure) in
            found.append(try TransactionColumns.read(row, app: asked[place].app))
            versions.note(row.integer(TransactionColumns.version), of: asked[place])
        }
        return found
    }

    func find(app: AppID, id: TransactionID) throws(StoreFailure) -> [RecordedTransaction] {
        guard let code = try apps.code(of: app) else { return [] }
        return try connection.rows(Self.findByNumber, [.integer(code), .integer(id.number)]) {
            row throws(StoreFailure) in
            try TransactionColumns.read(row, app: app)
        }
    }

    /// A page of some transactions, all of one app: only what stands on it is read whole.
    func list(
        _ keys: [TransactionKey],
        app: AppID,
        order: ListingOrder,
        after cursor: TransactionCursor?,
        limit: Int
    ) throws(StoreFailure) -> TransactionPage {
        let limit = min(max(limit, 1), TransactionPage.limitMax)
        var places = try places(of: keys)
        if let cursor {
            let key = TransactionKey(app: app, realm: cursor.realm, id: cursor.id)
            guard let last = try self.places(of: [key]).first?.sequence else { return TransactionPage() }
            places.removeAll { order == .oldestFirst ? $0.sequence <= last : $0.sequence >= last }
        }
        places.sort { order == .oldestFirst ? $0.sequence < $1.sequence : $0.sequence > $1.sequence }
        let page = try find(places.prefix(limit).map(\.key))
        return TransactionPage(
            transactions: page,
            next: places.count > limit ? page.last.map(TransactionCursor.init) : nil
        )
    }

    private func places(of keys: [TransactionKey]) throws(StoreFailure) -> [(sequence: Int64, key: TransactionKey)] {
        let (asked, values) = try apps.keys(keys, app: \.app) { code, key in
            [code, .integer(key.id.number), .integer(RealmCode.wanted(key.realm))]
        }
        var places: [(sequence: Int64, key: TransactionKey)] = []
        try connection.visit(Self.findPlaces, values) { place, row throws(StoreFailure) in
            places.append((row.integer(0), asked[place]))
        }
        return places
    }
}
