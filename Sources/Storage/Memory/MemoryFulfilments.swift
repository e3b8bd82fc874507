import PurchaseModel

// What was ordered and given, written and found by looking at everything.
extension MemoryTransaction {
    func applyRest(of decision: Decision) throws(StoreFailure) {
        for change in decision.vacancies { try write(change) }
        for change in decision.owners { try write(change) }
        for change in decision.orders { try write(change, \.version, at: \.orders[change.row.key]) }
        for change in decision.tokens { try write(change, \.version, at: \.tokens[change.row.key]) }
        for change in decision.fulfilments { try write(change) }
        for change in decision.subscriptions { try write(change, \.version, at: \.subscriptions[change.row.chain]) }
        for wallet in decision.wallets {
            let change: RowChange<Wallet> = wallet.version == 1 ? .insert(wallet) : .update(wallet)
            try write(change, \.version, at: \.wallets[wallet.key])
        }
        for posting in decision.postings {
            let numbers = ledger.postings[posting.wallet, default: []].map(\.number)
            guard !numbers.contains(posting.number) else { throw conflict() }
            ledger.postings[posting.wallet, default: []].append(posting)
            undo.append { $0.postings[posting.wallet]?.removeLast() }
        }
        for change in decision.grantedEntitlements {
            try write(change, \.version, at: \.grantedEntitlements[change.row.key])
        }
        try applyConsumption(of: decision)
    }

    private func write(_ change: RowChange<Fulfilment>) throws(StoreFailure) {
        let row = change.row
        let isTaken = fulfilments([row.chain]).contains { other in
            other.transaction != row.transaction && other.unit != nil && other.unit == row.unit
        }
        guard !isTaken else { throw conflict() }
        try write(change, \.version, at: \.[row.transaction.id, in: row.chain])
    }

    private func write(_ change: RowChange<Vacancy>) throws(StoreFailure) {
        guard ledger.owners[change.row.chain] == nil else { throw conflict() }
        try write(change, \.version, at: \.vacancies[change.row.chain])
    }

    /// An owner's first version follows that of the vacancy, whose place it takes.
    private func write(_ change: RowChange<Owner>) throws(StoreFailure) {
        let owner = change.row
        if case .insert = change {
            let vacancy = ledger.vacancies[owner.chain]
            guard owner.version == (vacancy?.version ?? 0) + 1 else { throw conflict() }
            ledger.vacancies[owner.chain] = nil
            undo.append { $0.vacancies[owner.chain] = vacancy }
        }
        try write(change, \.version, at: \.owners[owner.chain])
    }

    /// Inserts what is not there, or replaces the version before.
    func write<Row>(
        _ change: RowChange<Row>,
        _ version: KeyPath<Row, Int64>,
        at place: WritableKeyPath<MemoryLedger, Row?>
    ) throws(StoreFailure) {
        let known = ledger[keyPath: place]
        switch change {
        case .insert(let row):
            guard known == nil else { throw conflict() }
            ledger[keyPath: place] = row
        case .update(let row):
            guard let known, known[keyPath: version] == row[keyPath: version] - 1 else { throw conflict() }
            ledger[keyPath: place] = row
        }
        undo.append { $0[keyPath: place] = known }
    }

    func fulfilments(_ chains: [ChainKey]) -> [Fulfilment] {
        chains.flatMap { chain in
            ledger.fulfilments[chain, default: [:]].values.sorted { $0.transaction.id < $1.transaction.id }
        }
    }

    func waitingFulfilments(for wish: WishKey, tokens: [AccountToken], limit: Int) -> [Fulfilment] {
        let inTurn = waiting(app: wish.app).filter { $0.product == wish.product }
            .sorted { Self.turn(of: $0) < Self.turn(of: $1) }
        var found = tokens.flatMap { token in
            inTurn.filter { $0.accountToken == token && ($0.customer == wish.customer || !$0.isOfHistory) }
        }
        found += inTurn.filter { $0.customer == wish.customer }
        var seen: Set<TransactionKey> = []
        return Array(
            found.filter { seen.insert($0.key).inserted }.prefix(min(max(limit, 1), FulfilmentPage.limitMax))
        )
    }

    /// What was paid for comes first.
    private static func turn(of fulfilment: Fulfilment) -> (Int64, Timestamp, TransactionID) {
        let transaction = fulfilment.transaction
        return (RealmCode.wanted(transaction.realm), fulfilment.purchasedAt, transaction.id)
    }

    func waitingFulfilments(
        app: AppID,
        on sides: Set<Realm>?,
        after cursor: FulfilmentCursor?,
        limit: Int
    ) -> FulfilmentPage {
        let limit = min(max(limit, 1), FulfilmentPage.limitMax)
        let rest = waiting(app: app).filter { fulfilment in
            guard sides?.contains(fulfilment.transaction.realm) ?? true else { return false }
            return cursor.map { Self.place(of: $0) < Self.place(of: FulfilmentCursor(fulfilment)) } ?? true
        }
        let page = Array(rest.prefix(limit))
        return FulfilmentPage(
            fulfilments: page,
            next: rest.count > limit ? page.last.map(FulfilmentCursor.init) : nil
        )
    }

    private func waiting(app: AppID) -> [Fulfilment] {
        ledger.fulfilments.values.flatMap(\.values).filter { $0.transaction.app == app && $0.state == .waiting }
            .sorted { Self.place(of: FulfilmentCursor($0)) < Self.place(of: FulfilmentCursor($1)) }
    }

    private static func place(of cursor: FulfilmentCursor) -> (TransactionID, Int64, TransactionID) {
        (cursor.original, RealmCode.wanted(cursor.realm), cursor.transaction)
    }

    func subscriptions(_ chains: [ChainKey]) -> [RecordedSubscription] {
        chains.compactMap { ledger.subscriptions[$0] }
    }

    func dueSubscriptions(at now: Timestamp, limit: Int) -> [RecordedSubscription] {
        dueSubscriptions(at: now, limit) { _ in true }
    }

    func dueSubscriptions(of app: AppID, at now: Timestamp, limit: Int) -> [RecordedSubscription] {
        dueSubscriptions(at: now, limit) { $0 == app }
    }

    func hastenLooks(
        by lead: ClockLead,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> (changed: Int, next: WalkPlace?) {
        let page = Self.page(ledger.subscriptions.values.map { (Self.hasteKey(of: $0), $0) }, after: place, limit)
        let early = page.rows.filter(lead.hastens)
        try apply(puttingOff(early, until: lead.now), evidence: nil)
        return (early.count, page.next)
    }

    private static func hasteKey(of row: RecordedSubscription) -> [WalkPlace.Part] {
        let (app, original, realm) = place(of: row)
        return [.text(app.text), .integer(original.number), .integer(realm)]
    }

    private func dueSubscriptions(
        at now: Timestamp,
        _ limit: Int,
        of isMeant: (AppID) -> Bool
    ) -> [RecordedSubscription] {
        let due = ledger.subscriptions.values.filter { row in
            isMeant(row.chain.app) && row.nextLook.map { $0 <= now } ?? false
        }
        let sorted = due.sorted { left, right in
            guard let one = left.nextLook, let two = right.nextLook, one == two else {
                return left.nextLook ?? now < right.nextLook ?? now
            }
            return Self.place(of: left) < Self.place(of: right)
        }
        return Array(sorted.prefix(min(max(limit, 1), RecordedSubscription.listedMax)))
    }

    private static func place(of row: RecordedSubscription) -> (AppID, TransactionID, Int64) {
        (row.chain.app, row.chain.original, RealmCode.wanted(row.chain.realm))
    }

    func ownersAndVacancies(_ chains: [ChainKey]) -> (owners: [Owner], vacancies: [Vacancy]) {
        (chains.compactMap { ledger.owners[$0] }, chains.compactMap { ledger.vacancies[$0] })
    }

    func hasBought(_ customer: CustomerID, app: AppID, realm: Realm) -> Bool {
        ledger.owners.values.contains { owner in
            owner.chain.app == app && owner.chain.realm == realm && owner.customer == customer && owner.previous == nil
        }
    }

    func chains(app: AppID, customer: CustomerID) -> [ChainKey] {
        let found = ledger.owners.values.filter { owner in
            owner.chain.app == app && (owner.customer == customer || owner.sharers.contains(customer))
        }
        let sorted = found.map(\.chain).sorted { left, right in
            (left.original, RealmCode.wanted(left.realm)) < (right.original, RealmCode.wanted(right.realm))
        }
        return Array(sorted.prefix(ChainKey.listedMax))
    }

    func owners(of tokens: [TokenKey]) -> [TokenOwner] { tokens.compactMap { ledger.tokens[$0] } }

    func orders(_ keys: [OrderKey]) -> [Order] { keys.compactMap { ledger.orders[$0] } }

    func openOrders(tokens: [TokenKey]) -> [Order] {
        tokens.flatMap { token in open { $0.app == token.app && $0.accountToken == token.token } }
    }

    func openOrders(wishes: [WishKey]) -> [Order] {
        wishes.flatMap { wish in
            open { $0.app == wish.app && $0.customer == wish.customer && $0.product == wish.product }
        }
    }

    private func open(where isWanted: (Order) -> Bool) -> [Order] {
        let found = ledger.orders.values.filter { $0.mayBePaid && isWanted($0) }
        let sorted = found.sorted { left, right in
            if left.state != right.state { return left.state == .pending }
            return (left.placedAt, left.id) < (right.placedAt, right.id)
        }
        return Array(sorted.prefix(Order.openMax))
    }

    func orders(app: AppID, customer: CustomerID?, after id: OrderID?, limit: Int) -> OrderPage {
        let limit = min(max(limit, 1), OrderPage.limitMax)
        let rest = ledger.orders.values.filter { order in
            order.app == app && (customer == nil || order.customer == customer) && id.map { $0 < order.id } ?? true
        }
        let page = Array(rest.sorted { $0.id < $1.id }.prefix(limit))
        return OrderPage(orders: page, next: rest.count > limit ? page.last?.id : nil)
    }

    func orders(
        app: AppID,
        states: Set<OrderState>,
        placedSince moment: Timestamp,
        before cursor: OrderCursor?,
        limit: Int
    ) -> PlacedOrders {
        let found = ledger.orders.values.filter { order in
            order.app == app && states.contains(order.state) && order.placedAt >= moment
                && cursor.map { order.listed < $0 } ?? true
        }
        return PlacedOrders(found.sorted { $0.listed > $1.listed }, limit: min(max(limit, 1), OrderPage.limitMax))
    }

    func overdueOrders(at now: Timestamp, limit: Int) -> [OrderKey] {
        let found = ledger.orders.values.filter { $0.state == .pending && $0.expiresAt <= now }
        // A dictionary's order is another each time: of those that are over at once the names decide.
        let sorted = found.sorted { ($0.expiresAt, $0.app, $0.id) < ($1.expiresAt, $1.app, $1.id) }
        return sorted.prefix(min(max(limit, 1), OrderPage.limitMax)).map(\.key)
    }

    func wallets(_ keys: [WalletKey]) -> [Wallet] { keys.compactMap { ledger.wallets[$0] } }

    func wallets(app: AppID, customer: CustomerID) -> [Wallet] {
        let found = ledger.wallets.values.filter { $0.key.app == app && $0.key.customer == customer }
        let sorted = found.sorted { left, right in
            (RealmCode.wanted(left.key.realm), left.key.currency) < (
                RealmCode.wanted(right.key.realm), right.key.currency
            )
        }
        return Array(sorted.prefix(Wallet.listedMax))
    }

    func grantedEntitlements(_ keys: [GrantedEntitlementKey]) -> [GrantedEntitlement] {
        keys.compactMap { ledger.grantedEntitlements[$0] }
    }

    func grantedEntitlements(app: AppID, customer: CustomerID) -> [GrantedEntitlement] {
        let found = ledger.grantedEntitlements.values.filter { $0.key.app == app && $0.key.customer == customer }
        return found.sorted { left, right in
            (RealmCode.wanted(left.key.realm), left.key.entitlement) < (
                RealmCode.wanted(right.key.realm), right.key.entitlement
            )
        }
    }

    func postings(_ wallet: WalletKey, before number: Int64?, limit: Int) -> [Posting] {
        let found = ledger.postings[wallet, default: []].filter { $0.number < number ?? .max }
        return Array(found.reversed().prefix(min(max(limit, 1), Wallet.postingsMax)))
    }
}

extension MemoryLedger {
    fileprivate subscript(id: TransactionID, in chain: ChainKey) -> Fulfilment? {
        get { fulfilments[chain]?[id] }
        set { fulfilments[chain, default: [:]][id] = newValue }
    }
}
