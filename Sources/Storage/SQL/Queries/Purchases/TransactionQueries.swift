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
    private static let listOldestFirst = Query(
        """
        SELECT \(TransactionColumns.selected) FROM transactions
        WHERE app = $1 AND customer = $2 AND sequence > $3 ORDER BY sequence LIMIT $4
        """
    )
    private static let listNewestFirst = Query(
        """
        SELECT \(TransactionColumns.selected) FROM transactions
        WHERE app = $1 AND customer = $2 AND sequence < $3 ORDER BY sequence DESC LIMIT $4
        """
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

    func list(
        app: AppID,
        customer: CustomerID,
        order: ListingOrder,
        after cursor: TransactionCursor?,
        limit: Int
    ) throws(StoreFailure) -> TransactionPage {
        guard let code = try apps.code(of: app) else { return TransactionPage() }
        let limit = min(max(limit, 1), TransactionPage.limitMax)
        let (query, start): (Query, Int64) =
            switch order {
            case .oldestFirst: (Self.listOldestFirst, .min)
            case .newestFirst: (Self.listNewestFirst, .max)
            }
        var place = start
        if let cursor {
            guard let found = try self.place(of: cursor, app: code) else { return TransactionPage() }
            place = found
        }
        // One more than asked for tells whether there is more.
        let values: [SQLValue] = [
            .integer(code), .text(customer.text), .integer(place), .integer(Int64(limit + 1)),
        ]
        let found = try connection.rows(query, values) { row throws(StoreFailure) in
            try TransactionColumns.read(row, app: app)
        }
        let page = Array(found.prefix(limit))
        return TransactionPage(
            transactions: page,
            next: found.count > limit ? page.last.map(TransactionCursor.init) : nil
        )
    }

    private func place(of cursor: TransactionCursor, app code: Int64) throws(StoreFailure) -> Int64? {
        guard let realm = RealmCode(cursor.realm) else { return nil }
        let values: [SQLValue] = [.integer(code), .integer(cursor.id.number), .integer(realm.number)]
        return try connection.row(Self.findPlace, values) { $0.integer(0) }
    }
}
