package import PurchaseModel
package import Storage

// Whoever looks at everything sees what there is.
extension PassingTransaction {
    package func knownApps() throws(StoreFailure) -> [AppID] {
        try base.knownApps()
    }

    package func walkTransactions(app: AppID, after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<
        WalkedTransaction
    > {
        try base.walkTransactions(app: app, after: place, limit: limit)
    }

    package func walkFulfilments(app: AppID, after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<
        Fulfilment
    > {
        try base.walkFulfilments(app: app, after: place, limit: limit)
    }

    package func walkSubscriptions(
        app: AppID,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> WalkPage<RecordedSubscription> {
        try base.walkSubscriptions(app: app, after: place, limit: limit)
    }

    package func walkOrders(app: AppID, after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<Order> {
        try base.walkOrders(app: app, after: place, limit: limit)
    }

    package func walkWallets(app: AppID, after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<Wallet> {
        try base.walkWallets(app: app, after: place, limit: limit)
    }

    package func walkGrantedEntitlements(
        app: AppID,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> WalkPage<GrantedEntitlement> {
        try base.walkGrantedEntitlements(app: app, after: place, limit: limit)
    }

    package func walkPostings(app: AppID, after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<Posting>
    {
        try base.walkPostings(app: app, after: place, limit: limit)
    }

    package func postings(_ wallet: WalletKey, of transaction: TransactionID) throws(StoreFailure) -> [Posting] {
        try base.postings(wallet, of: transaction)
    }

    package func walkEvents(app: AppID, after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<
        WalkedEvent
    > {
        try base.walkEvents(app: app, after: place, limit: limit)
    }

    package func walkStreams(app: AppID, after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<
        WalkedEvent
    > {
        try base.walkStreams(app: app, after: place, limit: limit)
    }

    package func lastEvent(app: AppID) throws(StoreFailure) -> EventCursor {
        try base.lastEvent(app: app)
    }

    package func walkEndpoints(app: AppID) throws(StoreFailure) -> [WalkedEndpoint] {
        try base.walkEndpoints(app: app)
    }

    package func walkDeliveries(endpoint: WebhookEndpointID, after place: WalkPlace?, limit: Int) throws(StoreFailure)
        -> WalkPage<WalkedDelivery>
    {
        try base.walkDeliveries(endpoint: endpoint, after: place, limit: limit)
    }

    package func walkEvidence(after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<EvidenceRow> {
        try base.walkEvidence(after: place, limit: limit)
    }

    package func walkSubmissions(app: AppID, after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<
        WalkedSubmission
    > {
        try base.walkSubmissions(app: app, after: place, limit: limit)
    }

    package func walkConsumptionRequests(
        app: AppID,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> WalkPage<ConsumptionRequest> {
        try base.walkConsumptionRequests(app: app, after: place, limit: limit)
    }

    package func walkSupportRequests(
        app: AppID,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> WalkPage<SupportRequest> {
        try base.walkSupportRequests(app: app, after: place, limit: limit)
    }

    package func walkAuditLog(after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<AuditRow> {
        try base.walkAuditLog(after: place, limit: limit)
    }

    package func walkAuditChain(after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<AuditRow> {
        try base.walkAuditChain(after: place, limit: limit)
    }
}
