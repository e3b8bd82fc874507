import PurchaseModel

/// Walks tables in the order of their keys.
struct WalkQueries {
    let connection: any SQLConnection
    let apps: AppQueries

    private static let transactions = TableWalk(
        "transactions",
        of: "app",
        by: [("transaction_id", .integer), ("realm", .integer)],
        """
        \(TransactionColumns.selected),
        CASE WHEN EXISTS (SELECT 1 FROM evidence WHERE sequence = first_evidence)
            AND EXISTS (SELECT 1 FROM evidence WHERE sequence = latest_evidence) THEN 1 ELSE 0 END
        """
    )
    private static let fulfilments = TableWalk(
        "fulfilments",
        of: "app",
        by: [("original_id", .integer), ("realm", .integer), ("transaction_id", .integer)],
        FulfilmentQueries.selected
    )
    private static let subscriptions = TableWalk(
        "subscriptions",
        of: "app",
        by: [("original_id", .integer), ("realm", .integer)],
        SubscriptionQueries.selected
    )
    private static let orders = TableWalk("orders", of: "app", by: [("order_id", .text)], OrderQueries.selected)
    private static let wallet: [(String, TableWalk.Part)] = [
        ("customer", .text), ("realm", .integer), ("currency", .text),
    ]
    private static let wallets = TableWalk(
        "wallets",
        of: "app",
        by: wallet,
        "customer, realm, currency, version, balance, uncollected, postings"
    )
    private static let grantedEntitlements = TableWalk(
        "granted_entitlements",
        of: "app",
        by: [("customer", .text), ("realm", .integer), ("entitlement", .text)],
        GrantedEntitlementQueries.selected
    )
    private static let postings = TableWalk(
        "postings",
        of: "app",
        by: wallet + [("number", .integer)],
        "customer, realm, currency, \(WalletQueries.posting)"
    )
    private static let events = TableWalk(
        "events",
        of: "app",
        by: [("position", .integer)],
        "position, realm, customer, sequence, type, learned_at"
    )
    private static let streams = TableWalk(
        "events",
        of: "app",
        by: [("realm", .integer), ("customer", .text), ("sequence", .integer)],
        "realm, customer, sequence, type, learned_at, position"
    )
    private static let figures = TableWalk(
        "figures",
        of: "app",
        by: [
            ("realm", .integer), ("measure", .text), ("day", .integer), ("product", .text), ("storefront", .text),
            ("currency", .text), ("step", .integer), ("slot", .integer),
        ],
        "realm, measure, day, product, storefront, currency, step, slot, amount"
    )
    private static let deliveries = TableWalk(
        "webhook_deliveries",
        of: "endpoint",
        by: [("position", .integer)],
        "position, realm, customer, state, ended_at"
    )
    private static let evidence = TableWalk(
        "evidence",
        of: nil,
        by: [("sequence", .integer)],
        "sequence, \(EvidenceQueries.selected)"
    )
    private static let submissions = TableWalk(
        "submissions",
        of: "app",
        by: [("sha256", .bytes), ("customer", .text)],
        "sha256, customer, name, settled_at, verdict, proof, proof_sha256"
    )
    private static let consumptions = TableWalk(
        "consumption_requests",
        of: "app",
        by: [("id", .text), ("realm", .integer)],
        ConsumptionQueries.selected
    )
    private static let supports = TableWalk("support_requests", of: "app", by: [("id", .text)], SupportQueries.selected)
    private static let listEndpoints = Query(
        """
        SELECT id, types, realms, created_at, is_enabled, version FROM webhook_endpoints WHERE app = $1 ORDER BY code
        """
    )

    func transactions(
        app: AppID,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> WalkPage<WalkedTransaction> {
        try walk(Self.transactions, app, place, limit) { row throws(StoreFailure) in
            WalkedTransaction(
                recorded: try TransactionColumns.read(row, app: app),
                hasEvidence: row.integer(TransactionColumns.version + 1) == 1
            )
        }
    }

    func fulfilments(app: AppID, after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<Fulfilment> {
        try walk(Self.fulfilments, app, place, limit) { row throws(StoreFailure) in
            try FulfilmentQueries.read(row, app: app)
        }
    }

    func subscriptions(
        app: AppID,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> WalkPage<RecordedSubscription> {
        try walk(Self.subscriptions, app, place, limit) { row throws(StoreFailure) in
            try SubscriptionQueries.read(row, app: app)
        }
    }

    func orders(app: AppID, after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<Order> {
        try walk(Self.orders, app, place, limit) { row throws(StoreFailure) in try OrderQueries.read(row, app: app) }
    }

    func wallets(app: AppID, after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<Wallet> {
        try walk(Self.wallets, app, place, limit) { row throws(StoreFailure) in
            Wallet(
                try Self.wallet(row, app: app),
                balance: row.integer(4),
                uncollected: row.integer(5),
                postings: row.integer(6),
                version: row.integer(3)
            )
        }
    }

    func grantedEntitlements(
        app: AppID,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> WalkPage<GrantedEntitlement> {
        try walk(Self.grantedEntitlements, app, place, limit) { row throws(StoreFailure) in
            try GrantedEntitlementQueries.read(row, app: app)
        }
    }

    func postings(app: AppID, after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<Posting> {
        try walk(Self.postings, app, place, limit) { row throws(StoreFailure) in
            try WalletQueries.readPosting(row, of: try Self.wallet(row, app: app), from: 3)
        }
    }

    func events(app: AppID, after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<WalkedEvent> {
        try walk(Self.events, app, place, limit) { row throws(StoreFailure) in
            WalkedEvent(
                cursor: EventCursor(position: row.integer(0)),
                stream: try Self.stream(app, realm: row.integer(1), row, customer: 2),
                sequence: row.integer(3),
                type: row.text(4),
                learnedAt: Timestamp(milliseconds: row.integer(5))
            )
        }
    }

    func streams(app: AppID, after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<WalkedEvent> {
        try walk(Self.streams, app, place, limit) { row throws(StoreFailure) in
            WalkedEvent(
                cursor: EventCursor(position: row.integer(5)),
                stream: try Self.stream(app, realm: row.integer(0), row, customer: 1),
                sequence: row.integer(2),
                type: row.text(3),
                learnedAt: Timestamp(milliseconds: row.integer(4))
            )
        }
    }

    func figures(app: AppID, after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<WalkedFigure> {
        try walk(Self.figures, app, place, limit) { row throws(StoreFailure) in
            let realm = RealmCode(number: row.integer(0)).realm
            guard let measure = Measure(rawValue: row.text(1)), realm != nil || row.integer(0) == SumQueries.noRealm
            else { throw SQLiteResult.unreadableRow }
            let key = FigureKey(
                app: app,
                realm: realm,
                measure: measure,
                day: DayOfTime(number: row.integer(2)),
                product: try SumQueries.product(row.text(3)),
                storefront: row.text(4),
                currency: row.text(5),
                step: row.integer(6)
            )
            return WalkedFigure(key: key, amount: row.integer(8))
        }
    }

    func endpoints(app: AppID) throws(StoreFailure) -> [WalkedEndpoint] {
        guard let code = try apps.code(of: app) else { return [] }
        return try connection.rows(Self.listEndpoints, [.integer(code)]) { row throws(StoreFailure) in
            guard let id = WebhookEndpointID(row.text(0)) else { throw SQLiteResult.unreadableRow }
            return WalkedEndpoint(
                id: id,
                filter: EndpointColumns.filter(types: row.optionalText(1), realms: row.integer(2)),
                createdAt: Timestamp(milliseconds: row.integer(3)),
                isEnabled: row.integer(4) != 0,
                version: row.integer(5)
            )
        }
    }

    /// By the endpoint's number.
    func deliveries(
        endpoint code: Int64,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> WalkPage<WalkedDelivery> {
        try Self.deliveries.page(of: [.integer(code)], after: place, limit, on: connection) {
            row throws(StoreFailure) in
            guard let realm = RealmCode(number: row.integer(1)).realm,
                let state = DeliveryState(rawValue: row.integer(3))
            else { throw SQLiteResult.unreadableRow }
            return WalkedDelivery(
                cursor: EventCursor(position: row.integer(0)),
                realm: realm,
                customer: try row.identifier(2),
                state: state,
                hasEnd: row.optionalInteger(4) != nil
            )
        }
    }

    func evidence(after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<EvidenceRow> {
        let limit = min(limit, WalkPage<EvidenceRow>.proofsMax)
        return try Self.evidence.page(of: [], after: place, limit, on: connection) { row throws(StoreFailure) in
            try EvidenceQueries.read(row, from: 1)
        }
    }

    func submissions(
        app: AppID,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> WalkPage<WalkedSubmission> {
        let limit = min(limit, WalkPage<WalkedSubmission>.proofsMax)
        return try walk(Self.submissions, app, place, limit) { row throws(StoreFailure) in
            let ofBytes = row.optionalBytes(6) ?? row.bytes(0)
            guard let id = SubmissionID(row.bytes(2)), let digest = ProofDigest(ofBytes) else {
                throw SQLiteResult.unreadableRow
            }
            return WalkedSubmission(
                id: id,
                digest: digest,
                proof: row.bytes(5),
                hasEnd: row.optionalInteger(3) != nil,
                hasVerdict: row.optionalText(4) != nil
            )
        }
    }

    func consumptions(
        app: AppID,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> WalkPage<ConsumptionRequest> {
        try walk(Self.consumptions, app, place, limit) { row throws(StoreFailure) in
            try ConsumptionQueries.read(row, app: app)
        }
    }

    func supports(app: AppID, after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<SupportRequest> {
        try walk(Self.supports, app, place, limit) { row throws(StoreFailure) in
            try SupportQueries.read(row, app: app)
        }
    }

    private func walk<Row>(
        _ walk: TableWalk,
        _ app: AppID,
        _ place: WalkPlace?,
        _ limit: Int,
        _ read: (SQLRow) throws(StoreFailure) -> Row
    ) throws(StoreFailure) -> WalkPage<Row> {
        guard let code = try apps.code(of: app) else { return WalkPage() }
        return try walk.page(of: [.integer(code)], after: place, limit, on: connection, read)
    }

    private static func wallet(_ row: SQLRow, app: AppID) throws(StoreFailure) -> WalletKey {
        guard let customer: CustomerID = try row.identifier(0), let realm = RealmCode(number: row.integer(1)).realm,
            let currency: CurrencyID = try row.identifier(2)
        else { throw SQLiteResult.unreadableRow }
        return WalletKey(app: app, realm: realm, customer: customer, currency: currency)
    }

    private static func stream(
        _ app: AppID,
        realm: Int64,
        _ row: SQLRow,
        customer: Int32
    ) throws(StoreFailure) -> StreamKey {
        guard let realm = RealmCode(number: realm).realm else { throw SQLiteResult.unreadableRow }
        let isNobody = row.text(customer).utf8.isEmpty
        return StreamKey(app: app, realm: realm, customer: isNobody ? nil : try row.identifier(customer))
    }
}
