import PurchaseModel

/// Reads the ledger's transactions.
struct TransactionQueries {
    let connection: SQLiteConnection
    let apps: AppQueries

    private static let findByKey = Query(
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
        SELECT \(TransactionColumns.selected), sequence FROM transactions
        WHERE app = $1 AND customer = $2 AND sequence > $3 ORDER BY sequence LIMIT $4
        """
    )
    private static let listNewestFirst = Query(
        """
        SELECT \(TransactionColumns.selected), sequence FROM transactions
        WHERE app = $1 AND customer = $2 AND sequence < $3 ORDER BY sequence DESC LIMIT $4
        """
    )
    private static let sequenceColumn = Int32(2 + TransactionColumns.content.count)

    func find(_ keys: [TransactionKey]) throws(StoreFailure) -> [RecordedTransaction] {
        var found: [RecordedTransaction] = []
        for key in keys {
            guard let code = try apps.code(of: key.app), let realm = RealmCode(key.realm) else { continue }
            let values: [SQLValue] = [.integer(code), .integer(key.id.number), .integer(realm.number)]
            let recorded = try connection.row(Self.findByKey, values) { row throws(StoreFailure) in
                try TransactionColumns.read(row, app: key.app)
            }
            if let recorded { found.append(recorded) }
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
        // One more than asked for tells whether there is more.
        let values: [SQLValue] = [
            .integer(code), .text(customer.text), .integer(cursor?.sequence ?? start), .integer(Int64(limit + 1)),
        ]
        let found = try connection.rows(query, values) { row throws(StoreFailure) in
            (recorded: try TransactionColumns.read(row, app: app), sequence: row.integer(Self.sequenceColumn))
        }
        let page = found.prefix(limit)
        let next = found.count > limit ? page.last.map { TransactionCursor(sequence: $0.sequence) } : nil
        return TransactionPage(transactions: page.map(\.recorded), next: next)
    }
}
