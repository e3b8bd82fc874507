import PurchaseModel

// Walks along whole tables: hands each verb to the file that knows its SQL.
extension SQLTransaction {
    private var walks: WalkQueries { WalkQueries(connection: connection, apps: apps) }

    func knownApps() throws(StoreFailure) -> [AppID] { try apps.all() }

    func walkTransactions(
        app: AppID,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> WalkPage<WalkedTransaction> {
        try walks.transactions(app: app, after: place, limit: limit)
    }

    func walkFulfilments(
        app: AppID,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> WalkPage<Fulfilment> {
        try walks.fulfilments(app: app, after: place, limit: limit)
    }

    func walkSubscriptions(
        app: AppID,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> WalkPage<RecordedSubscription> {
        try walks.subscriptions(app: app, after: place, limit: limit)
    }

    func walkOrders(app: AppID, after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<Order> {
        try walks.orders(app: app, after: place, limit: limit)
    }

    func walkWallets(app: AppID, after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<Wallet> {
        try walks.wallets(app: app, after: place, limit: limit)
    }

    func walkGrantedEntitlements(
        app: AppID,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> WalkPage<GrantedEntitlement> {
        try walks.grantedEntitlements(app: app, after: place, limit: limit)
    }

    func walkPostings(app: AppID, after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<Posting> {
        try walks.postings(app: app, after: place, limit: limit)
    }

    func postings(_ wallet: WalletKey, of transaction: TransactionID) throws(StoreFailure) -> [Posting] {
        try WalletQueries(connection: connection, apps: apps).postings(wallet, of: transaction)
    }

    func walkEvents(app: AppID, after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<WalkedEvent> {
        try walks.events(app: app, after: place, limit: limit)
    }

    func walkStreams(app: AppID, after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<WalkedEvent> {
        try walks.streams(app: app, after: place, limit: limit)
    }

    func lastEvent(app: AppID) throws(StoreFailure) -> EventCursor {
        EventCursor(
            position: try EventQueries(connection: connection, apps: apps, numbers: numbers).lastPosition(app: app)
        )
    }

    func walkEndpoints(app: AppID) throws(StoreFailure) -> [WalkedEndpoint] {
        try walks.endpoints(app: app)
    }

    func walkDeliveries(
        endpoint: WebhookEndpointID,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> WalkPage<WalkedDelivery> {
        let known = try EndpointQueries(connection: connection, apps: apps).known(endpoint)
        guard let known else { return WalkPage() }
        return try walks.deliveries(endpoint: known.code, after: place, limit: limit)
    }

    func walkEvidence(after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<EvidenceRow> {
        try walks.evidence(after: place, limit: limit)
    }

    func walkSubmissions(
        app: AppID,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> WalkPage<WalkedSubmission> {
        try walks.submissions(app: app, after: place, limit: limit)
    }

    func walkConsumptionRequests(
        app: AppID,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> WalkPage<ConsumptionRequest> {
        try walks.consumptions(app: app, after: place, limit: limit)
    }

    func walkSupportRequests(
        app: AppID,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> WalkPage<SupportRequest> {
        try walks.supports(app: app, after: place, limit: limit)
    }

    func walkAuditLog(after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<AuditRow> {
        try AuditQueries(connection: connection).walk(after: place, limit: limit)
    }

    func walkAuditChain(after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<AuditRow> {
        try AuditQueries(connection: connection).walkChain(after: place, limit: limit)
    }
}
