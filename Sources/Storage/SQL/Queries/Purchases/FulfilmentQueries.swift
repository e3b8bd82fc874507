import PurchaseModel

/// Writes and finds what was given for transactions.
struct FulfilmentQueries {
    let connection: any SQLConnection
    let apps: AppQueries

    private static let chain: [BulkColumn] = [.integer("app"), .integer("original_id"), .integer("realm")]
    private static let key: [BulkColumn] = chain + [.integer("transaction_id")]
    private static let fixed: [BulkColumn] = [
        .text("product"), .integer("quantity"), .integer("purchased_at"),
    ]
    private static let changing: [BulkColumn] = [
        .bytes("account_token"), .text("customer"), .text("state"), .text("reason"), .text("unit"), .text("order_id"),
        .text("match"), .text("goods"), .integer("reversed"), .integer("reversed_at"), .text("delivery"),
        .integer("fence"), .integer("decided_at"), .integer("imported"), .integer("of_history"),
        .integer("imported_fence"),
    ]
    private static let insert = BulkInsert(
        into: "fulfilments",
        key + [.integer("version")] + fixed + changing,
        key: key.map(\.name)
    )
    private static let update = BulkUpdate(of: "fulfilments", key: key, changing)
    /// What ``read(_:app:)`` expects.
    static let selected = BulkColumn.names(
        [.integer("original_id"), .integer("realm"), .integer("transaction_id"), .integer("version")] + fixed + changing
    )
    private static let findChain = BulkLookup(
        by: chain,
        """
        SELECT \(selected) FROM fulfilments WHERE app = $1 AND original_id = $2 AND realm = $3
        ORDER BY transaction_id
        """
    )
    private static let findKeys = BulkLookup(
        by: chain,
        "SELECT transaction_id FROM fulfilments WHERE app = $1 AND original_id = $2 AND realm = $3"
    )
    static let findWaiting = Query(by: "fulfilments_waiting") { index in
        """
        SELECT \(selected) FROM fulfilments \(index)
        WHERE app = $1 AND product = $2 AND customer = $3 AND state = 'waiting'
        ORDER BY \(inTurn) LIMIT $4
        """
    }
    static let findWaitingByToken = Query(by: "fulfilments_waiting_by_token") { index in
        """
        SELECT \(selected) FROM fulfilments \(index)
        WHERE app = $1 AND product = $2 AND (customer = $3 OR reason <> 'from_history') AND state = 'waiting'
            AND account_token = $4
        ORDER BY \(inTurn) LIMIT $5
        """
    }
    /// What was paid for has the least realm. A wish has a handful of them, which are sorted as they are.
    private static let inTurn = "realm, purchased_at, transaction_id"
    static let listWaiting = Query(by: "fulfilments_waiting_in_order") { index in
        """
        SELECT \(selected) FROM fulfilments \(index)
        WHERE app = $1 AND state = 'waiting' AND (original_id, realm, transaction_id) > ($2, $3, $4)
        ORDER BY original_id, realm, transaction_id LIMIT $5
        """
    }
    /// What is on other sides of the wall is passed over in the index.
    static let listWaitingOnSides = Query(by: "fulfilments_waiting_in_order") { index in
        """
        SELECT \(selected) FROM fulfilments \(index)
        WHERE app = $1 AND state = 'waiting' AND (original_id, realm, transaction_id) > ($2, $3, $4)
            AND realm IN (\(ValueList.places(from: 6, count: RealmCode.count)))
        ORDER BY original_id, realm, transaction_id LIMIT $5
        """
    }

    func write(_ change: RowChange<Fulfilment>) throws(StoreFailure) {
        let row = change.row
        let key: [SQLValue] = [
            .integer(try apps.codeForWriting(row.transaction.app)), .integer(row.original.number),
            .integer(try RealmCode.number(of: row.transaction.realm)), .integer(row.transaction.id.number),
        ]
        let changing: [SQLValue] = [
            .optional(row.accountToken.map(TokenBytes.bytes)), .optional(row.customer?.text), .text(row.state.rawValue),
            .optional(row.reason?.rawValue), .optional(row.unit?.text), .optional(row.order?.text),
            .optional(row.match?.rawValue), .text(GoodsText.text(of: row.goods)), .integer(Int64(row.reversed)),
            .optional(row.reversedAt?.milliseconds), .optional(row.delivery?.rawValue), .integer(row.fence),
            .integer(row.decidedAt.milliseconds), .integer(Self.imported(row)), .integer(row.isOfHistory ? 1 : 0),
            .integer(row.importedFence),
        ]
        switch change {
        case .insert:
            let fixed: [SQLValue] = [
                .text(row.product.text), .integer(Int64(row.quantity)), .integer(row.purchasedAt.milliseconds),
            ]
            try connection.insert([key, [.integer(row.version)], fixed, changing], by: Self.insert)
        case .update:
            try connection.update(key + [.integer(row.version - 1)] + changing, by: Self.update)
        }
    }

    /// What stands in some chains, by its names alone.
    func keys(in chains: [ChainKey]) throws(StoreFailure) -> [TransactionKey] {
        let (asked, values) = try apps.keys(chains, app: \.app) { code, chain in
            [code, .integer(chain.original.number), .integer(RealmCode.wanted(chain.realm))]
        }
        var found: [TransactionKey] = []
        try connection.visit(Self.findKeys, values) { place, row throws(StoreFailure) in
            guard let id = TransactionID(number: row.integer(0)) else { throw SQLiteResult.unreadableRow }
            found.append(TransactionKey(app: asked[place].app, realm: asked[place].realm, id: id))
        }
        return found
    }

    func find(_ chains: [ChainKey]) throws(StoreFailure) -> [Fulfilment] {
        let (asked, values) = try apps.keys(chains, app: \.app) { code, chain in
            [code, .integer(chain.original.number), .integer(RealmCode.wanted(chain.realm))]
        }
        var found: [Fulfilment] = []
        try connection.visit(Self.findChain, values) { place, row throws(StoreFailure) in
            found.append(try Self.read(row, app: asked[place].app))
        }
        return found
    }

    func waiting(for wish: WishKey, tokens: [AccountToken], limit: Int) throws(StoreFailure) -> [Fulfilment] {
        guard let code = try apps.code(of: wish.app) else { return [] }
        let limit = min(max(limit, 1), FulfilmentPage.limitMax)
        let read = { (row: SQLRow) throws(StoreFailure) -> Fulfilment in try Self.read(row, app: wish.app) }
        let head: [SQLValue] = [.integer(code), .text(wish.product.text), .text(wish.customer.text)]
        let count = SQLValue.integer(Int64(limit))
        var found: [Fulfilment] = []
        for token in tokens {
            let values = head + [.bytes(TokenBytes.bytes(of: token)), count]
            found += try connection.rows(Self.findWaitingByToken, values, read)
        }
        found += try connection.rows(Self.findWaiting, head + [count], read)
        var seen: Set<TransactionKey> = []
        return Array(found.filter { seen.insert($0.key).inserted }.prefix(limit))
    }

    func listWaiting(
        app: AppID,
        on sides: Set<Realm>?,
        after cursor: FulfilmentCursor?,
        limit: Int
    ) throws(StoreFailure) -> FulfilmentPage {
        guard let code = try apps.code(of: app) else { return FulfilmentPage() }
        let limit = min(max(limit, 1), FulfilmentPage.limitMax)
        let place: [SQLValue] = [
            .integer(cursor?.original.number ?? -1), .integer(cursor.map { RealmCode.wanted($0.realm) } ?? -1),
            .integer(cursor?.transaction.number ?? -1),
        ]
        // One more than asked for tells whether there is more.
        let values = [.integer(code)] + place + [.integer(Int64(limit + 1))] + (sides.map(RealmCode.list) ?? [])
        let query = sides == nil ? Self.listWaiting : Self.listWaitingOnSides
        let found = try connection.rows(query, values) { row throws(StoreFailure) in
            try Self.read(row, app: app)
        }
        let page = Array(found.prefix(limit))
        return FulfilmentPage(
            fulfilments: page,
            next: found.count > limit ? page.last.map(FulfilmentCursor.init) : nil
        )
    }

    /// 0 for what was not imported, 1 for what was when nobody knows, else when its books were closed.
    private static func imported(_ row: Fulfilment) -> Int64 {
        guard row.isImported else { return 0 }
        return max(row.booksClosedAt?.milliseconds ?? 1, 1)
    }

    /// Reads a row of ``selected``.
    static func read(_ row: SQLRow, app: AppID) throws(StoreFailure) -> Fulfilment {
        guard let original = TransactionID(number: row.integer(0)), let realm = RealmCode(number: row.integer(1)).realm,
            let id = TransactionID(number: row.integer(2)), let product: ProductID = try row.identifier(4),
            let state = FulfilmentState(rawValue: row.text(9)), let goods = GoodsText.goods(in: row.text(14))
        else { throw SQLiteResult.unreadableRow }
        var stored = Fulfilment.Stored(
            transaction: TransactionKey(app: app, realm: realm, id: id),
            original: original,
            product: product,
            quantity: Int(row.integer(5)),
            purchasedAt: Timestamp(milliseconds: row.integer(6)),
            state: state,
            decidedAt: Timestamp(milliseconds: row.integer(19)),
            version: row.integer(3)
        )
        stored.accountToken = try row.optionalBytes(7).map { bytes throws(StoreFailure) in
            try TokenBytes.token(bytes)
        }
        stored.customer = try row.identifier(8)
        stored.reason = try row.word(10)
        stored.unit = row.optionalText(11).map(GrantUnit.init(text:))
        stored.order = try row.identifier(12)
        stored.match = try row.word(13)
        stored.goods = goods
        stored.reversed = Int(row.integer(15))
        stored.reversedAt = row.optionalTimestamp(16)
        stored.delivery = try row.word(17)
        stored.fence = row.integer(18)
        stored.importedFence = row.integer(22)
        stored.isImported = row.integer(20) != 0
        stored.booksClosedAt = row.integer(20) > 1 ? Timestamp(milliseconds: row.integer(20)) : nil
        // What an older version wrote says so by its reason, and took no mark away.
        let isMarked = row.integer(21) != 0 && state == .withheld || stored.reason == .fromHistory
        stored.isOfHistory = isMarked && stored.customer == nil
        return Fulfilment(stored: stored)
    }
}

extension SQLRow {
    /// One of our own words.
    func word<Word: RawRepresentable<String>>(_ column: Int32) throws(StoreFailure) -> Word? {
        guard let text = optionalText(column) else { return nil }
        guard let word = Word(rawValue: text) else { throw SQLiteResult.unreadableRow }
        return word
    }
}
