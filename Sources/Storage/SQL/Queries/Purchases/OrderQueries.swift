import PurchaseModel

/// Writes and finds orders, and whose account tokens are.
struct OrderQueries {
    let connection: any SQLConnection
    let apps: AppQueries

    private static let key: [BulkColumn] = [.integer("app"), .text("order_id")]
    private static let fixed: [BulkColumn] = [
        .text("customer"), .text("product"), .integer("quantity"), .bytes("account_token"), .integer("placed_at"),
        .integer("expires_at"),
    ]
    private static let changing: [BulkColumn] = [
        .text("state"), .integer("changed_at"), .integer("paid_realm"), .integer("paid_by"), .text("match"),
        .integer("refunded"),
    ]
    private static let insert = BulkInsert(
        into: "orders",
        key + [.integer("version")] + fixed + changing,
        key: key.map(\.name)
    )
    private static let update = BulkUpdate(of: "orders", key: key, changing)
    // Where nobody is known by a token the customer's name is empty, which no name is.
    private static let token: [BulkColumn] = [.integer("app"), .bytes("account_token")]
    private static let insertToken = BulkInsert(
        into: "customer_tokens",
        token + [.integer("version"), .text("customer")],
        key: token.map(\.name)
    )
    private static let updateToken = BulkUpdate(of: "customer_tokens", key: token, [.text("customer")])

    /// What ``read(_:app:)`` expects.
    static let selected = BulkColumn.names([.text("order_id"), .integer("version")] + fixed + changing)
    private static let isOpen = "state IN ('pending', 'expired')"
    /// As the alphabet has it, who still waits comes first: of those that gave up there may be any number.
    private static let nextToPay = "ORDER BY state DESC, placed_at, order_id LIMIT \(Order.openMax)"
    private static let find = BulkLookup(
        by: key,
        "SELECT \(selected) FROM orders WHERE app = $1 AND order_id = $2"
    )
    private static let findByToken = findOpen(by: token, where: "app = $1 AND account_token = $2")
    private static let findByWish = findOpen(
        by: [.integer("app"), .text("customer"), .text("product")],
        where: "app = $1 AND customer = $2 AND product = $3"
    )
    /// For a list of words SQLite makes a table, each time that it is asked. When it is also told between which they lie, it
    /// walks along the index instead, of which those words are all.
    private static func findOpen(by keys: [BulkColumn], where condition: String) -> BulkLookup {
        let question = "SELECT \(selected) FROM orders WHERE \(condition) AND \(isOpen)"
        return BulkLookup(
            by: keys,
            one: "\(question) AND state BETWEEN 'expired' AND 'pending' \(nextToPay)",
            many: { "SELECT key.place, found.* FROM \($0.asking("\(question) \(nextToPay)"))" }
        )
    }
    private static let findToken = BulkLookup(
        by: token,
        "SELECT version, customer FROM customer_tokens WHERE app = $1 AND account_token = $2"
    )
    private static let list = Query(
        "SELECT \(selected) FROM orders WHERE app = $1 AND order_id > $2 ORDER BY order_id LIMIT $3"
    )
    static let listOfCustomer = Query(by: "orders_of_customer") { index in
        """
        SELECT \(selected) FROM orders \(index)
        WHERE app = $1 AND order_id > $2 AND customer = $4 ORDER BY order_id LIMIT $3
        """
    }
    private static let listPlaced = Query(
        """
        SELECT \(selected) FROM orders
        WHERE app = $1 AND state = $2 AND placed_at >= $3 AND placed_at <= $4 AND (placed_at < $4 OR order_id < $5)
        ORDER BY placed_at DESC, order_id DESC LIMIT $6
        """
    )
    private static let overdue = Query(
        """
        SELECT apps.name, order_id FROM orders JOIN apps ON apps.code = orders.app
        WHERE state = 'pending' AND expires_at <= $1 ORDER BY expires_at LIMIT $2
        """
    )

    func write(_ change: RowChange<Order>) throws(StoreFailure) {
        let order = change.row
        let key: [SQLValue] = [.integer(try apps.codeForWriting(order.app)), .text(order.id.text)]
        let payment = order.payment
        let realm = try payment.map { payment throws(StoreFailure) in try RealmCode.number(of: payment.realm) }
        let changing: [SQLValue] = [
            .text(order.state.rawValue), .integer(order.changedAt.milliseconds), .optional(realm),
            .optional(payment?.transaction.number), .optional(payment?.match.rawValue), .integer(Int64(order.refunded)),
        ]
        switch change {
        case .insert:
            let fixed: [SQLValue] = [
                .text(order.customer.text), .text(order.product.text), .integer(Int64(order.quantity)),
                .optional(order.accountToken.map(TokenBytes.bytes)), .integer(order.placedAt.milliseconds),
                .integer(order.expiresAt.milliseconds),
            ]
            try connection.insert([key, [.integer(order.version)], fixed, changing], by: Self.insert)
        case .update:
            try connection.update(key + [.integer(order.version - 1)] + changing, by: Self.update)
        }
    }

    func write(_ change: RowChange<TokenOwner>) throws(StoreFailure) {
        let row = change.row
        let key: [SQLValue] = [
            .integer(try apps.codeForWriting(row.key.app)), .bytes(TokenBytes.bytes(of: row.key.token)),
        ]
        let customer = SQLValue.text(row.customer?.text ?? "")
        switch change {
        case .insert: try connection.insert(key + [.integer(row.version), customer], by: Self.insertToken)
        case .update: try connection.update(key + [.integer(row.version - 1), customer], by: Self.updateToken)
        }
    }

    func find(_ keys: [OrderKey]) throws(StoreFailure) -> [Order] {
        try find(Self.find, keys, app: \.app) { [$0, .text($1.id.text)] }
    }

    func findOpen(tokens: [TokenKey]) throws(StoreFailure) -> [Order] {
        try find(Self.findByToken, tokens, app: \.app) { [$0, .bytes(TokenBytes.bytes(of: $1.token))] }
    }

    func findOpen(wishes: [WishKey]) throws(StoreFailure) -> [Order] {
        try find(Self.findByWish, wishes, app: \.app) { [$0, .text($1.customer.text), .text($1.product.text)] }
    }

    func owners(of tokens: [TokenKey]) throws(StoreFailure) -> [TokenOwner] {
        var found: [TokenOwner] = []
        let (asked, values) = try apps.keys(tokens, app: \.app) { [$0, .bytes(TokenBytes.bytes(of: $1.token))] }
        try connection.visit(Self.findToken, values) { place, row throws(StoreFailure) in
            let customer: CustomerID? = row.text(1).isEmpty ? nil : try row.identifier(1)
            found.append(TokenOwner(key: asked[place], customer: customer, version: row.integer(0)))
        }
        return found
    }

    func list(
        app: AppID,
        customer: CustomerID?,
        after id: OrderID?,
        limit: Int
    ) throws(StoreFailure) -> OrderPage {
        guard let code = try apps.code(of: app) else { return OrderPage() }
        let limit = min(max(limit, 1), OrderPage.limitMax)
        // One more than asked for tells whether there is more.
        var values: [SQLValue] = [.integer(code), .text(id?.text ?? ""), .integer(Int64(limit + 1))]
        if let customer { values.append(.text(customer.text)) }
        let found = try connection.rows(customer == nil ? Self.list : Self.listOfCustomer, values) {
            row throws(StoreFailure) in
            try Self.read(row, app: app)
        }
        let page = Array(found.prefix(limit))
        return OrderPage(orders: page, next: found.count > limit ? page.last?.id : nil)
    }

    /// One walk along the index for each state: each is in order, and none looks at orders of another state.
    func list(
        app: AppID,
        states: Set<OrderState>,
        placedSince moment: Timestamp,
        before cursor: OrderCursor?,
        limit: Int
    ) throws(StoreFailure) -> PlacedOrders {
        guard let code = try apps.code(of: app) else { return PlacedOrders() }
        let limit = min(max(limit, 1), OrderPage.limitMax)
        var found: [Order] = []
        for state in OrderState.allCases where states.contains(state) {
            let values: [SQLValue] = [
                .integer(code), .text(state.rawValue), .integer(moment.milliseconds),
                .integer(cursor?.moment.milliseconds ?? .max), .text(cursor?.id.text ?? ""),
                .integer(Int64(limit + 1)),
            ]
            found += try connection.rows(Self.listPlaced, values) { row throws(StoreFailure) in
                try Self.read(row, app: app)
            }
        }
        return PlacedOrders(found.sorted { $0.listed > $1.listed }, limit: limit)
    }

    func overdue(at now: Timestamp, limit: Int) throws(StoreFailure) -> [OrderKey] {
        let limit = min(max(limit, 1), OrderPage.limitMax)
        return try connection.rows(Self.overdue, [.integer(now.milliseconds), .integer(Int64(limit))]) {
            row throws(StoreFailure) in
            guard let app: AppID = try row.identifier(0), let id: OrderID = try row.identifier(1) else {
                throw SQLiteResult.unreadableRow
            }
            return OrderKey(app: app, id: id)
        }
    }

    private func find<Key>(
        _ lookup: BulkLookup,
        _ keys: [Key],
        app: (Key) -> AppID,
        _ values: (SQLValue, Key) -> [SQLValue]
    ) throws(StoreFailure) -> [Order] {
        let (asked, values) = try apps.keys(keys, app: app, values)
        var found: [Order] = []
        try connection.visit(lookup, values) { place, row throws(StoreFailure) in
            found.append(try Self.read(row, app: app(asked[place])))
        }
        return found
    }

    /// Reads a row of ``selected``.
    static func read(_ row: SQLRow, app: AppID) throws(StoreFailure) -> Order {
        guard let id: OrderID = try row.identifier(0), let customer: CustomerID = try row.identifier(2),
            let product: ProductID = try row.identifier(3), let state = OrderState(rawValue: row.text(8))
        else { throw SQLiteResult.unreadableRow }
        let order = Order(
            app: app,
            id: id,
            customer: customer,
            product: product,
            quantity: Int(row.integer(4)),
            accountToken: try row.optionalBytes(5).map { bytes throws(StoreFailure) in try TokenBytes.token(bytes) },
            placedAt: Timestamp(milliseconds: row.integer(6)),
            expiresAt: Timestamp(milliseconds: row.integer(7))
        )
        return Order(
            order,
            state: state,
            changedAt: Timestamp(milliseconds: row.integer(9)),
            payment: try payment(row),
            refunded: Int(row.integer(13)),
            version: row.integer(1)
        )
    }

    private static func payment(_ row: SQLRow) throws(StoreFailure) -> Order.Payment? {
        guard let realm = row.optionalInteger(10) else { return nil }
        guard let realm = RealmCode(number: realm).realm,
            let transaction = row.optionalInteger(11).flatMap({ TransactionID(number: $0) }),
            let match = row.optionalText(12).flatMap(OrderMatch.init(rawValue:))
        else { throw SQLiteResult.unreadableRow }
        return Order.Payment(realm: realm, transaction: transaction, match: match)
    }
}
