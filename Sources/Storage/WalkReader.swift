package import PurchaseModel

/// The questions of who looks at everything: whole tables, page by page in the order of their keys, so that a table of
/// any size is walked in the memory of a page.
///
/// Each begins without a place, and goes on from ``WalkPage/next``; how many rows a page has is brought between 1 and
/// ``WalkPage/limitMax``. What cannot be read is named in the page and passed over.
package protocol WalkReader {
    /// All apps that anything was written for, by name.
    func knownApps() throws(StoreFailure) -> [AppID]

    /// By number, then realm.
    func walkTransactions(
        app: AppID,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> WalkPage<WalkedTransaction>

    /// By chain, then number.
    func walkFulfilments(
        app: AppID,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> WalkPage<Fulfilment>

    /// By chain.
    func walkSubscriptions(
        app: AppID,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> WalkPage<RecordedSubscription>

    /// By id.
    func walkOrders(app: AppID, after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<Order>

    /// By customer, realm and currency.
    func walkWallets(app: AppID, after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<Wallet>

    /// By customer, realm and name.
    func walkGrantedEntitlements(
        app: AppID,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> WalkPage<GrantedEntitlement>

    /// By customer, realm, currency and number.
    func walkPostings(app: AppID, after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<Posting>

    /// One transaction's postings in a wallet, by their numbers. Looks at all that the wallet has.
    func postings(_ wallet: WalletKey, of transaction: TransactionID) throws(StoreFailure) -> [Posting]

    /// By position.
    func walkEvents(app: AppID, after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<WalkedEvent>

    /// The same by realm, customer and sequence; nobody's come first.
    func walkStreams(app: AppID, after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<WalkedEvent>

    /// Where an app's feed ends, by the row that gives its positions out.
    func lastEvent(app: AppID) throws(StoreFailure) -> EventCursor

    /// All endpoints that an app ever had, in the order in which they were made.
    func walkEndpoints(app: AppID) throws(StoreFailure) -> [WalkedEndpoint]

    /// An endpoint's deliveries by position; also a deleted one's.
    func walkDeliveries(
        endpoint: WebhookEndpointID,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> WalkPage<WalkedDelivery>

    /// The proofs of all apps, in the order in which they were kept; at most ``WalkPage/proofsMax`` in a page.
    func walkEvidence(after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<EvidenceRow>

    /// By digest, then customer; at most ``WalkPage/proofsMax`` in a page.
    func walkSubmissions(
        app: AppID,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> WalkPage<WalkedSubmission>

    /// By id, then realm.
    func walkConsumptionRequests(
        app: AppID,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> WalkPage<ConsumptionRequest>

    /// By id.
    func walkSupportRequests(
        app: AppID,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> WalkPage<SupportRequest>

    /// The whole audit log, by place.
    func walkAuditLog(after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<AuditRow>

    /// What has a number in the audit log's chain, by number. With several servers that is another order than that of places.
    func walkAuditChain(after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<AuditRow>
}
