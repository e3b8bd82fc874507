/// What the ledger already knows around some transactions. Read once for a whole batch; each decision is applied to
/// it, so that the next one in the batch sees it.
package struct Situation: Sendable {
    /// One app on one side of the wall: a proof never speaks of two.
    private struct Side: Hashable, Sendable {
        let app: AppID
        let realm: Realm
    }

    private var known = ShortTable<Side, [TransactionID: RecordedTransaction]>()
    /// What stands beside those in their chains, and only tells whose they are: it is not decided about.
    private var beside: [TransactionKey: RecordedTransaction] = [:]
    private var fulfilments: [ChainKey: [TransactionID: Fulfilment]] = [:]
    /// In which chain each stands: a proof that came first may not have named the chain's first transaction.
    private var chains: [TransactionKey: ChainKey] = [:]
    /// Who was granted what in a chain.
    private var units: [ChainKey: ShortTable<GrantUnit, [TransactionID]>] = [:]
    /// Under which other numbers a chain has a paid period, that nothing was given for.
    private var repetitions: [ChainKey: ShortTable<GrantUnit, [TransactionID]>] = [:]
    /// When the last books were handed in out of which something of it was imported.
    private var booksClosed: [ChainKey: Timestamp] = [:]
    private var owners: [ChainKey: Owner] = [:]
    /// Which chains go on from which others.
    private var predecessors: [ChainKey: TransactionID] = [:]
    private var vacancies: [ChainKey: Vacancy] = [:]
    private var orders: [OrderKey: Order] = [:]
    private var subscriptions: [ChainKey: RecordedSubscription] = [:]
    private var tokens: [TokenKey: TokenOwner] = [:]
    private var streams: [StreamKey: Int64] = [:]
    private var wallets: [WalletKey: Wallet] = [:]
    private var consumptions: [ConsumptionKey: ConsumptionRequest] = [:]
    private var refundsDeclined: [TransactionKey: Timestamp] = [:]
    private var consents: [ConsentKey: Consent] = [:]
    private var grantedEntitlements: [GrantedEntitlementKey: GrantedEntitlement] = [:]
    // Where to find orders that may still be paid.
    private var openByToken: [TokenKey: Set<OrderID>] = [:]
    private var openByWish: [WishKey: Set<OrderID>] = [:]
    /// What was looked up.
    package var asked = Inquiry()
    /// See ``Inquiry/meetings``.
    package var meetings: Set<TokenKey> = []

    package init(_ recorded: some Sequence<RecordedTransaction> = []) {
        for recorded in recorded { note(recorded) }
    }

    package subscript(key: TransactionKey) -> RecordedTransaction? {
        known[Side(app: key.app, realm: key.realm)]?[key.id]
    }

    /// All that is known of one app on one side of the wall: looked up once for a proof, not once for each transaction.
    package func transactions(app: AppID, realm: Realm) -> [TransactionID: RecordedTransaction] {
        known[Side(app: app, realm: realm)] ?? [:]
    }

    package func fulfilments(of chain: ChainKey) -> [TransactionID: Fulfilment] { fulfilments[chain] ?? [:] }

    /// The numbers of a chain, as far as they were looked up.
    func numbers(of chain: ChainKey) -> [RecordedTransaction] {
        fulfilments(of: chain).values.compactMap { self[$0.transaction] ?? beside[$0.transaction] }
    }

    /// What tells whose that is which was not given, and of which Apple has not said it.
    ///
    /// - Parameter recordings: proofs that may tell of more of it.
    /// - Returns: the other numbers of its chains, as far as they were not looked up.
    package func besideUnsaid(with recordings: [Recording] = []) -> [TransactionKey] {
        var chains: Set<ChainKey> = []
        for recorded in known.values.lazy.flatMap(\.values)
        where recorded.ownership == nil && fulfilment(of: recorded.key)?.isGiven != true {
            chains.insert(chain(of: recorded))
        }
        for recording in recordings {
            for (transaction, key) in zip(recording.transactions, recording.keys)
            where transaction.ownership == nil && self[key] == nil {
                chains.insert(chain(of: transaction, key, in: recording))
            }
        }
        return chains.flatMap { fulfilments(of: $0).values.map(\.transaction) }.filter { self[$0] == nil }
    }

    /// Each once.
    func holders(of unit: GrantUnit, in chain: ChainKey) -> [TransactionID] { units[chain]?[unit] ?? [] }

    /// Each once, also what is no repetition any more; `nil` for a chain that has none.
    func repetitions(in chain: ChainKey) -> ShortTable<GrantUnit, [TransactionID]>? { repetitions[chain] }

    func hasGrants(_ chain: ChainKey) -> Bool { units[chain] != nil }

    func booksClosed(of chain: ChainKey) -> Timestamp? { booksClosed.isEmpty ? nil : booksClosed[chain] }

    package func fulfilment(of transaction: TransactionKey) -> Fulfilment? {
        chains[transaction].flatMap { fulfilments[$0]?[transaction.id] }
    }

    /// The chain in which a transaction was first fulfilled: what a later proof says of its chain changes nothing about that.
    package func chain(of recorded: RecordedTransaction) -> ChainKey { chains[recorded.key] ?? recorded.chain }

    /// The same of a transaction that a proof tells of.
    func chain(of transaction: Transaction, _ key: TransactionKey, in recording: Recording) -> ChainKey {
        chains[key] ?? recording.chain(of: transaction)
    }

    /// All that wait for something, in no order.
    var waiting: [Fulfilment] { fulfilments.values.flatMap { $0.values.filter { $0.state == .waiting } } }

    /// What these proofs may have decided again: what seems to repeat something that they tell to be taken back, and what
    /// is nobody's until somebody presents anything of its chain, waits for an order that it needs no more when anything is
    /// given, or for anything else, and goes with its chain to whoever comes to have that.
    ///
    /// With it what was known of the proofs themselves, to be looked up once more: what another has changed since is told by
    /// the version of what was given for it, which was read in between.
    package func reconsidered(for recordings: [Recording]) -> [TransactionKey] {
        var (chains, returned, again) = (Set<ChainKey>(), Set<ChainKey>(), Set<TransactionKey>())
        var periods: Set<GrantUnit> = []
        again.formUnion(besideCopies(in: recordings))
        for recording in recordings {
            for (transaction, key) in zip(recording.transactions, recording.keys) {
                if self[key] != nil { again.insert(key) }
                chains.insert(chain(of: transaction, key, in: recording))
                guard isReturn(transaction, key) else { continue }
                periods.insert(.period(from: transaction.purchasedAt, transaction.product))
            }
            returned.formUnion(chainsWithReturns(in: recording))
        }
        for chain in withSuccessors(chains) {
            let periods = returned.contains(chain) ? periods : nil
            for row in fulfilments(of: chain).values
            where row.isHeldUp || periods.map({ row.maySettleAnew(beside: $0) }) == true {
                again.insert(row.transaction)
            }
        }
        return Array(again)
    }

    /// The chains of what a proof tells to be taken back, or was taken back, all or a part, without its having been given.
    private func chainsWithReturns(in recording: Recording) -> Set<ChainKey> {
        var found: Set<ChainKey> = []
        for (transaction, key) in zip(recording.transactions, recording.keys) where isReturn(transaction, key) {
            found.insert(chain(of: transaction, key, in: recording))
        }
        return found
    }

    private func isReturn(_ transaction: Transaction, _ key: TransactionKey) -> Bool {
        transaction.revocation != nil || fulfilment(of: key)?.tellsOfReturn == true
    }

    /// All that stands in the chains of some transactions and those that go on with them.
    package func fulfilments(around recorded: [RecordedTransaction]) -> [Fulfilment] {
        chains(around: recorded).flatMap { fulfilments(of: $0).values }
    }

    private func chains(around recorded: [RecordedTransaction]) -> Set<ChainKey> {
        withSuccessors(Set(recorded.map { chain(of: $0) }))
    }

    /// Some chains with all that go on with them.
    private func withSuccessors(_ chains: Set<ChainKey>) -> Set<ChainKey> {
        let links = links
        var found = chains
        for _ in 0..<min(links.count, ChainKey.movesMax) {
            for link in links where found.contains(link.before) { found.insert(link.after) }
        }
        return found
    }

    /// What waits beside some transactions in their chains and those that go on with them, or is to be somebody's, as far as it
    /// is not known: see ``reconsidered(for:)``.
    package func heldUp(beside recorded: [RecordedTransaction]) -> [TransactionKey] {
        fulfilments(around: recorded).filter { $0.isHeldUp && self[$0.transaction] == nil }.map(\.transaction)
    }

    package func owner(of chain: ChainKey) -> Owner? { owners[chain] }

    func vacancy(of chain: ChainKey) -> Vacancy? { vacancies[chain] }

    /// By the transactions that name it, or by the subscription where none of those is known.
    func predecessor(of chain: ChainKey) -> TransactionID? {
        predecessors[chain] ?? subscriptions[chain]?.ends.origin?.from
    }

    /// Which of the chains around go on from which others.
    var links: [(before: ChainKey, after: ChainKey)] {
        predecessors.map { ($0.key.beside($0.value), $0.key) }
            + subscriptions.values.compactMap { row in row.ends.origin.map { (row.chain.beside($0.from), row.chain) } }
            + owners.values.compactMap { owner in owner.successor.map { (owner.chain, owner.chain.beside($0)) } }
            + vacancies.values.compactMap { row in row.successor.map { (row.chain, row.chain.beside($0)) } }
    }

    package func order(_ key: OrderKey) -> Order? { orders[key] }

    package func subscription(of chain: ChainKey) -> RecordedSubscription? { subscriptions[chain] }

    /// The periods of subscriptions that these proofs go on from, as far as they are not known yet. Of a chain that was
    /// never looked at, or of which they tell something new, it is all of it: its figures follow from the whole.
    ///
    /// Where they tell that a renewal failed, or what became of it, known ones are looked up once more: what was read before
    /// the subscription's version is not vouched for by it.
    package func periods(before recordings: [Recording]) -> [TransactionKey] {
        var (wanted, again): ([TransactionKey], [TransactionKey]) = ([], [])
        let news = Set(recordings.flatMap { chainsWithNews(in: $0) })
        var failed = chainsWithFailures(in: recordings)
        var chains = Set(recordings.flatMap { subscriptions(in: $0) })
        // What follows of a move follows from all of both.
        for link in links(of: recordings) where chains.contains(link.before) || chains.contains(link.after) {
            chains.formUnion([link.before, link.after])
            failed.formUnion([link.before, link.after])
        }
        for chain in chains.sorted(by: { $0.precedes($1) }) {
            if failed.contains(chain) {
                again += fulfilments(of: chain).values.map(\.transaction).sorted { $0.id < $1.id }
            } else if let row = subscriptions[chain], !news.contains(chain) {
                if let key = row.currentKey { wanted.append(key) }
            } else {
                wanted += fulfilments(of: chain).values.map(\.transaction).sorted { $0.id < $1.id }
            }
        }
        return wanted.filter { self[$0] == nil } + again
    }

    /// With what these proofs say of it.
    func links(of recordings: [Recording]) -> [(before: ChainKey, after: ChainKey)] {
        var links = links
        for recording in recordings {
            for move in recording.moves {
                let chain = chain(of: move.transaction, move.key, in: recording)
                links.append((chain.beside(move.previous), chain))
            }
        }
        return links
    }

    /// The known subscriptions of which these proofs say something new about a renewal that could not be charged.
    private func chainsWithFailures(in recordings: [Recording]) -> Set<ChainKey> {
        var told: [ChainKey: PeriodEnds] = [:]
        for recording in recordings {
            for renewal in recording.renewals {
                let chain = recording.chain(of: renewal)
                guard let known = told[chain] ?? subscriptions[chain]?.ends else { continue }
                told[chain, default: known].note(renewal)
            }
        }
        return Set(told.filter { $0.value.failed != subscriptions[$0.key]?.ends.failed }.keys)
    }

    /// The chains of transactions that are unknown, or of which a proof says something else than what is known.
    private func chainsWithNews(in recording: Recording) -> [ChainKey] {
        zip(recording.transactions, recording.keys).compactMap { transaction, key in
            self[key]?.says(transaction) == true ? nil : chain(of: transaction, key, in: recording)
        }
    }

    /// What is known of a chain, and of some transactions that may not stand in it yet.
    func transactions(of chain: ChainKey, with others: [RecordedTransaction]) -> [TransactionID: Transaction] {
        var found: [TransactionID: Transaction] = [:]
        for key in fulfilments(of: chain).values.map(\.transaction) + others.map(\.key) {
            if let known = self[key] { found[key.id] = known.transaction }
        }
        return found
    }

    package func customer(of token: TokenKey) -> CustomerID? { tokens[token]?.customer }

    func owner(of token: TokenKey) -> TokenOwner? { tokens[token] }

    /// The number of a stream's last event; 0 when it has none.
    package func sequence(of stream: StreamKey) -> Int64 { streams[stream] ?? 0 }

    package func wallet(_ key: WalletKey) -> Wallet { wallets[key] ?? Wallet(key) }

    package func consumption(_ key: ConsumptionKey) -> ConsumptionRequest? { consumptions[key] }

    /// Those about a transaction that are not settled, in a fixed order.
    func openConsumptions(of transaction: TransactionKey) -> [ConsumptionRequest] {
        consumptions.values.filter { $0.transactionKey == transaction && !$0.state.isSettled }
            .sorted { $0.key.id < $1.key.id }
    }

    /// When Apple last declined to refund a transaction.
    func refundDeclined(of transaction: TransactionKey) -> Timestamp? { refundsDeclined[transaction] }

    package func consent(_ key: ConsentKey) -> Consent? { consents[key] }

    package func grantedEntitlement(_ key: GrantedEntitlementKey) -> GrantedEntitlement? { grantedEntitlements[key] }

    func openOrders(token: TokenKey) -> [Order] {
        openByToken[token, default: []].compactMap { orders[OrderKey(app: token.app, id: $0)] }
    }

    func openOrders(wish: WishKey) -> [Order] {
        openByWish[wish, default: []].compactMap { orders[OrderKey(app: wish.app, id: $0)] }
    }

    /// The chains of subscriptions that a proof is about, each where it was first fulfilled.
    private func subscriptions(in recording: Recording) -> [ChainKey] {
        let periods = zip(recording.transactions, recording.keys).filter { transaction, key in
            transaction.isSubscriptionPeriod || self[key]?.isSubscriptionPeriod == true
        }
        return periods.map { chains[$0.1] ?? recording.chain(of: $0.0) }
            + recording.renewals.map { recording.chain(of: $0) }
    }

    package mutating func apply(_ decision: Decision) {
        for change in decision.changes { note(change.recorded) }
        for change in decision.fulfilments { note(change.row) }
        for change in decision.vacancies { note(change.row) }
        for change in decision.owners { note(change.row) }
        for change in decision.orders { note(change.row) }
        for change in decision.subscriptions { note(change.row) }
        for wallet in decision.wallets { note(wallet) }
        for change in decision.consumptions { note(change.row) }
        for (transaction, moment) in decision.refundsDeclined { note(refundDeclinedAt: moment, of: transaction) }
        for change in decision.consents { note(change.row) }
        for change in decision.grantedEntitlements { note(change.row) }
        for event in decision.events { note(event.sequence, of: event.stream) }
        for change in decision.tokens { note(change.row) }
    }

    package mutating func note(_ recorded: RecordedTransaction) {
        let side = Side(app: recorded.app, realm: recorded.realm)
        known.change(side, from: [:]) { $0[recorded.id] = recorded }
        if let previous = recorded.transaction.previousOriginalID { predecessors[chain(of: recorded)] = previous }
    }

    /// Notes what only tells whose the others of its chain are.
    package mutating func note(beside recorded: RecordedTransaction) { beside[recorded.key] = recorded }

    package mutating func note(_ fulfilment: Fulfilment) {
        let (transaction, chain) = (fulfilment.transaction, fulfilment.chain)
        let last = fulfilments[chain, default: [:]].updateValue(fulfilment, forKey: transaction.id)
        chains[transaction] = chain
        if let closed = fulfilment.booksClosedAt { booksClosed[chain] = max(booksClosed[chain] ?? closed, closed) }
        if let period = fulfilment.periodRepeated {
            repetitions[chain, default: ShortTable()].note(transaction.id, among: period)
        }
        if last?.unit != nil, fulfilment.unit == nil { recountUnits(of: chain) }
        let held = fulfilment.unitsHeld
        if held.isEmpty { return }
        Self.note(transaction.id, among: held, in: &units[chain, default: ShortTable()])
    }

    /// What was given is not given any more: an export's row has said that it never was.
    private mutating func recountUnits(of chain: ChainKey) {
        units[chain] = nil
        for row in fulfilments(of: chain).values.sorted(by: { $0.transaction.id < $1.transaction.id }) { note(row) }
    }

    private static func note(
        _ id: TransactionID,
        among held: [GrantUnit],
        in units: inout ShortTable<GrantUnit, [TransactionID]>
    ) {
        for unit in held { units.note(id, among: unit) }
    }

    package mutating func note(_ owner: Owner) { owners[owner.chain] = owner }

    package mutating func note(_ vacancy: Vacancy) { vacancies[vacancy.chain] = vacancy }

    package mutating func note(_ token: TokenOwner) { tokens[token.key] = token }

    package mutating func note(_ sequence: Int64, of stream: StreamKey) { streams[stream] = sequence }

    package mutating func note(_ wallet: Wallet) { wallets[wallet.key] = wallet }

    package mutating func note(_ request: ConsumptionRequest) { consumptions[request.key] = request }

    package mutating func note(refundDeclinedAt moment: Timestamp, of transaction: TransactionKey) {
        refundsDeclined[transaction] = max(moment, refundsDeclined[transaction] ?? moment)
    }

    package mutating func note(_ consent: Consent) { consents[consent.key] = consent }

    package mutating func note(_ granted: GrantedEntitlement) { grantedEntitlements[granted.key] = granted }

    package mutating func note(_ subscription: RecordedSubscription) {
        subscriptions[subscription.chain] = subscription
    }

    package mutating func note(_ order: Order) {
        orders[order.key] = order
        let token = order.accountToken.map { TokenKey(app: order.app, token: $0) }
        let wish = WishKey(app: order.app, customer: order.customer, product: order.product)
        if order.state.isOpen {
            if let token { openByToken[token, default: []].insert(order.id) }
            openByWish[wish, default: []].insert(order.id)
        } else {
            if let token { openByToken[token]?.remove(order.id) }
            openByWish[wish]?.remove(order.id)
        }
    }
}

extension ShortTable<GrantUnit, [TransactionID]> {
    /// Notes that a unit was granted to a transaction, once.
    mutating func note(_ id: TransactionID, among unit: GrantUnit) {
        change(unit, from: []) { if !$0.contains(id) { $0.append(id) } }
    }
}
