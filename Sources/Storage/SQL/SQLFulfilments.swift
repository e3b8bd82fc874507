import PurchaseModel

// The questions about orders and what was given, each handed to the file that knows its SQL.
extension SQLTransaction {
    private var fulfilments: FulfilmentQueries { FulfilmentQueries(connection: connection, apps: apps) }
    private var ownership: OwnerQueries { OwnerQueries(connection: connection, apps: apps) }
    private var ordering: OrderQueries { OrderQueries(connection: connection, apps: apps) }
    private var subscriptions: SubscriptionQueries { SubscriptionQueries(connection: connection, apps: apps) }
    private var balances: WalletQueries { WalletQueries(connection: connection, apps: apps) }
    private var byHand: GrantedEntitlementQueries { GrantedEntitlementQueries(connection: connection, apps: apps) }

    func foresee(_ ask: () throws(StoreFailure) -> Void) throws(StoreFailure) { try connection.foresee(ask) }

    func fulfilments(_ chains: [ChainKey]) throws(StoreFailure) -> [Fulfilment] { try fulfilments.find(chains) }

    func waitingFulfilments(
        for wish: WishKey,
        tokens: [AccountToken],
        limit: Int
    ) throws(StoreFailure) -> [Fulfilment] {
        try fulfilments.waiting(for: wish, tokens: tokens, limit: limit)
    }

    func waitingFulfilments(
        app: AppID,
        on sides: Set<Realm>?,
        after cursor: FulfilmentCursor?,
        limit: Int
    ) throws(StoreFailure) -> FulfilmentPage {
        try fulfilments.listWaiting(app: app, on: sides, after: cursor, limit: limit)
    }

    func subscriptions(_ chains: [ChainKey]) throws(StoreFailure) -> [RecordedSubscription] {
        try subscriptions.find(chains)
    }

    func dueSubscriptions(at now: Timestamp, limit: Int) throws(StoreFailure) -> [RecordedSubscription] {
        try subscriptions.due(at: now, limit: limit)
    }

    func dueSubscriptions(of app: AppID, at now: Timestamp, limit: Int) throws(StoreFailure) -> [RecordedSubscription] {
        try subscriptions.due(of: app, at: now, limit: limit)
    }

    func hastenLooks(
        by lead: ClockLead,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> (changed: Int, next: WalkPlace?) {
        try subscriptions.hasten(by: lead, after: place, limit: limit)
    }

    func ownersAndVacancies(
        _ chains: [ChainKey]
    ) throws(StoreFailure) -> (owners: [Owner], vacancies: [Vacancy]) {
        try ownership.find(chains)
    }

    func chains(app: AppID, customer: CustomerID) throws(StoreFailure) -> [ChainKey] {
        try ownership.chains(app: app, customer: customer)
    }

    /// All that a customer owns or shares. One question after the other: asked all in one, a young PostgreSQL might go
    /// through all of an app.
    func holdings(app: AppID, customer: CustomerID) throws(StoreFailure) -> [TransactionKey] {
        try fulfilments.keys(in: try chains(app: app, customer: customer))
    }

    func hasBought(_ customer: CustomerID, app: AppID, realm: Realm) throws(StoreFailure) -> Bool {
        try ownership.hasBought(customer, app: app, realm: realm)
    }

    func owners(of tokens: [TokenKey]) throws(StoreFailure) -> [TokenOwner] { try ordering.owners(of: tokens) }

    func orders(_ keys: [OrderKey]) throws(StoreFailure) -> [Order] { try ordering.find(keys) }

    func openOrders(tokens: [TokenKey]) throws(StoreFailure) -> [Order] { try ordering.findOpen(tokens: tokens) }

    func openOrders(wishes: [WishKey]) throws(StoreFailure) -> [Order] { try ordering.findOpen(wishes: wishes) }

    func orders(
        app: AppID,
        customer: CustomerID?,
        after id: OrderID?,
        limit: Int
    ) throws(StoreFailure) -> OrderPage {
        try ordering.list(app: app, customer: customer, after: id, limit: limit)
    }

    func orders(
        app: AppID,
        states: Set<OrderState>,
        placedSince moment: Timestamp,
        before cursor: OrderCursor?,
        limit: Int
    ) throws(StoreFailure) -> PlacedOrders {
        try ordering.list(app: app, states: states, placedSince: moment, before: cursor, limit: limit)
    }

    func overdueOrders(at now: Timestamp, limit: Int) throws(StoreFailure) -> [OrderKey] {
        try ordering.overdue(at: now, limit: limit)
    }

    func wallets(_ keys: [WalletKey]) throws(StoreFailure) -> [Wallet] { try balances.find(keys) }

    func wallets(app: AppID, customer: CustomerID) throws(StoreFailure) -> [Wallet] {
        try balances.list(app: app, customer: customer)
    }

    func grantedEntitlements(_ keys: [GrantedEntitlementKey]) throws(StoreFailure) -> [GrantedEntitlement] {
        try byHand.find(keys)
    }

    func grantedEntitlements(app: AppID, customer: CustomerID) throws(StoreFailure) -> [GrantedEntitlement] {
        try byHand.list(app: app, customer: customer)
    }

    func postings(_ wallet: WalletKey, before number: Int64?, limit: Int) throws(StoreFailure) -> [Posting] {
        try balances.postings(wallet, before: number, limit: limit)
    }
}
