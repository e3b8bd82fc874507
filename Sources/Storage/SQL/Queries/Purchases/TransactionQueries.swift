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
    private static let findLinks = BulkLookup(
        by: [.integer("app"), .integer("original_id"), .integer("realm")],
        "SELECT transaction_id FROM fulfilments WHERE app = $1 AND original_id = $2 AND realm = $3"
    )
    /// Of those of a page alone the rest is read, too.
    private static let findPlaces = BulkLookup(
        by: TransactionColumns.key,
        "SELECT sequence FROM transactions WHERE app = $1 AND transaction_id = $2 AND realm = $3"
    )
    private static let findPlace = Query(
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

    /// The transactions of some chains, all of one app.
    func list(
        _ chains: [ChainKey],
        app: AppID,
        order: ListingOrder,
        after cursor: TransactionCursor?,
        limit: Int
    ) throws(StoreFailure) -> TransactionPage {
        guard let code = try apps.code(of: app) else { return TransactionPage() }
        let limit = min(max(limit, 1), TransactionPage.limitMax)
        var places = try places(of: chains)
        if let cursor {
            guard let last = try place(of: cursor, app: code) else { return TransactionPage() }
            places.removeAll { order == .oldestFirst ? $0.sequence <= last : $0.sequence >= last }
        }
        places.sort { order == .oldestFirst ? $0.sequence < $1.sequence : $0.sequence > $1.sequence }
        let page = try find(places.prefix(limit).map(\.key))
        return TransactionPage(
            transactions: page,
            next: places.count > limit ? page.last.map(TransactionCursor.init) : nil
        )
    }

    private func places(of chains: [ChainKey]) throws(StoreFailure) -> [(sequence: Int64, key: TransactionKey)] {
        let (asked, names) = try apps.keys(chains, app: \.app) { chain in
            [.integer(chain.original.number), .integer(RealmCode.wanted(chain.realm))]
        }
        // One after the other: of both in one question a young database might go through all of an app.
        var links: [(key: TransactionKey, values: [SQLValue])] = []
        try connection.visit(Self.findLinks, names) { place, row throws(StoreFailure) in
            guard let id = TransactionID(number: row.integer(0)) else { throw SQLiteResult.unreadableRow }
            let (chain, name) = (asked[place], names[place])
            let key = TransactionKey(app: chain.app, realm: chain.realm, id: id)
            links.append((key, [name[0], .integer(id.number), name[2]]))
        }
        var places: [(sequence: Int64, key: TransactionKey)] = []
        try connection.visit(Self.findPlaces, links.map(\.values)) { place, row throws(StoreFailure) in
            places.append((row.integer(0), links[place].key))
        }
        return places
    }

    private func place(of cursor: TransactionCursor, app code: Int64) throws(StoreFailure) -> Int64? {
        guard let realm = RealmCode(cursor.realm) else { return nil }
        let values: [SQLValue] = [.integer(code), .integer(cursor.id.number), .integer(realm.number)]
        return try connection.row(Self.findPlace, values) { $0.integer(0) }
    }
}
