/// A decision in the making: what is known with what was decided so far laid over it.
///
/// The situation itself is only looked at, so that it is never copied; each row that was changed stands in the decision
/// once, as it is in the end.
struct Draft {
    let known: Situation
    let terms: AppTerms
    let now: Timestamp
    /// What client libraries make of a customer's name, for apps that set no token of their own.
    let ownToken: (CustomerID) -> AccountToken?
    private(set) var decision = Decision()
    /// Where each transaction of a long proof stands among the outcomes; empty for a short one, which is looked through.
    var outcomePlaces: [TransactionID: Int] = [:]

    private var fulfilments = ShortTable<TransactionKey, Int>()
    /// The chains of which something was changed, whole.
    private var chains = ShortTable<ChainKey, [TransactionID: Fulfilment]>()
    /// Who was granted what in them since.
    private var units = ShortTable<ChainKey, ShortTable<GrantUnit, [TransactionID]>>()
    /// Under which other numbers they have a paid period since.
    private var repetitions = ShortTable<ChainKey, ShortTable<GrantUnit, [TransactionID]>>()
    /// The chains of which something counted as given until its row said that it never was.
    var unsaid: Set<ChainKey> = []
    private var owners = ShortTable<ChainKey, Int>()
    /// Which chains go on from which others by this proof, and those that came to be somebody's by that.
    var predecessors = ShortTable<ChainKey, TransactionID>()
    var handedOn: [ChainKey] = []
    /// What the proof that is decided about tells of how chains went on, as far as that was asked.
    var continuations = ShortTable<ChainKey, Continuation>()
    /// By which rule the chains of others that were shown change hands.
    var bindings = ShortTable<ChainKey, BindingRule>()
    /// The products of what runs and waits in them.
    var productsWaiting = ShortTable<ChainKey, Set<ProductID>>()
    private var vacancies = ShortTable<ChainKey, Int>()
    private var tokens = ShortTable<TokenKey, Int>()
    /// What Apple signed for the chains that were asked about.
    var signedTokens = ShortTable<ChainKey, AccountToken?>()
    /// What the proof that is decided about names.
    var told = ShortTable<ChainKey, SignedToken>()
    /// What Apple has said of whose the numbers of the chains are that were asked about, and of which the proof says it anew.
    var ownerships = ShortTable<ChainKey, ChainOwnership>()
    /// The same as it was before this proof.
    var ownershipsBefore = ShortTable<ChainKey, ChainOwnership>()
    var ownershipNews: Set<ChainKey> = []
    var ownedInProof: [ChainKey: [RecordedTransaction]]?
    private var orders = ShortTable<OrderKey, Int>()
    /// For which transactions of the proof that is decided about its order was named.
    var ordered: Set<TransactionID> = []
    private var subscriptions = ShortTable<ChainKey, Int>()
    /// Subscriptions that are to be told of, in the order of the proof, and where each stands among them.
    private(set) var folded: [FoldedSubscription] = []
    private var foldedPlaces = ShortTable<ChainKey, Int>()
    private var wallets = ShortTable<WalletKey, Int>()
    private var consumptions = ShortTable<ConsumptionKey, Int>()
    private var consents = ShortTable<ConsentKey, Int>()
    private var grantedEntitlements = ShortTable<GrantedEntitlementKey, Int>()
    private var sequences = ShortTable<StreamKey, Int64>()

    init(
        _ known: Situation,
        terms: AppTerms,
        at now: Timestamp,
        ownToken: @escaping (CustomerID) -> AccountToken? = { _ in nil }
    ) {
        self.known = known
        self.terms = terms
        self.now = now
        self.ownToken = ownToken
    }

    /// For the part of a decision that records transactions.
    mutating func edit(_ body: (inout Decision) -> Void) { body(&decision) }

    /// What was decided, with what it adds to the figures.
    var decided: Decision {
        var decided = decision
        decided.countFigures(after: known)
        return decided
    }

    // MARK: Rows as they are by now

    /// A transaction of this proof, or one that was known before.
    func recorded(_ key: TransactionKey) -> RecordedTransaction? {
        guard !outcomePlaces.isEmpty else {
            return decision.outcomes.first { $0.recorded.key == key }?.recorded ?? known[key]
        }
        guard let place = outcomePlaces[key.id], decision.outcomes[place].recorded.key == key else { return known[key] }
        return decision.outcomes[place].recorded
    }

    func fulfilments(of chain: ChainKey) -> [TransactionID: Fulfilment] {
        chains[chain] ?? known.fulfilments(of: chain)
    }

    func fulfilment(_ recorded: RecordedTransaction) -> Fulfilment? {
        fulfilments(of: chain(of: recorded))[recorded.id]
    }

    /// What a unit was granted to, and to what it was granted anew.
    func holders(of unit: GrantUnit, in chain: ChainKey) -> [Fulfilment] {
        var holders = known.holders(of: unit, in: chain)
        for holder in units[chain]?[unit] ?? [] where !holders.contains(holder) { holders.append(holder) }
        if holders.isEmpty { return [] }
        let fulfilments = fulfilments(of: chain)
        return holders.compactMap { fulfilments[$0] }.filter { $0.unit != nil }
    }

    /// The other numbers of a paid period, for which nothing was given.
    func repetitions(of recorded: RecordedTransaction) -> [Fulfilment] {
        let chain = chain(of: recorded)
        let (known, since) = (known.repetitions(in: chain), repetitions[chain])
        // As most chains.
        if known == nil, since == nil { return [] }
        let period = GrantUnit.period(from: recorded.purchasedAt, recorded.transaction.product)
        var found = known?[period] ?? []
        for number in since?[period] ?? [] where !found.contains(number) { found.append(number) }
        let fulfilments = fulfilments(of: chain)
        return found.compactMap { fulfilments[$0] }
            .filter { $0.periodRepeated == period && $0.transaction != recorded.key }
    }

    /// Whether anything was ever granted in a chain.
    func hasGrants(_ chain: ChainKey) -> Bool {
        guard units[chain] != nil || known.hasGrants(chain) else { return false }
        return !unsaid.contains(chain) || fulfilments(of: chain).values.contains { $0.unit != nil }
    }

    func chain(of recorded: RecordedTransaction) -> ChainKey { known.chain(of: recorded) }

    func owner(of chain: ChainKey) -> Owner? {
        owners[chain].map { decision.owners[$0].row } ?? known.owner(of: chain)
    }

    func vacancy(of chain: ChainKey) -> Vacancy? {
        vacancies[chain].map { decision.vacancies[$0].row } ?? known.vacancy(of: chain)
    }

    func order(_ key: OrderKey) -> Order? {
        orders[key].map { decision.orders[$0].row } ?? known.order(key)
    }

    /// As it is by now, whether it is told of yet or not. While they are told of, as it is written.
    func subscription(of chain: ChainKey) -> RecordedSubscription? {
        if let place = foldedPlaces[chain] { return folded[place].row }
        return subscriptions[chain].map { decision.subscriptions[$0].row } ?? known.subscription(of: chain)
    }

    /// Takes those out that are to be told of, the last first: each is let go of when it is told.
    mutating func takeFolded() -> [FoldedSubscription] {
        defer { (folded, foldedPlaces) = ([], ShortTable()) }
        return folded.reversed()
    }

    mutating func note(_ subscription: FoldedSubscription) {
        foldedPlaces.set(folded.count, for: subscription.new.chain)
        folded.append(subscription)
    }

    func wallet(_ key: WalletKey) -> Wallet {
        wallets[key].map { decision.wallets[$0] } ?? known.wallet(key)
    }

    func customer(of token: TokenKey) -> CustomerID? {
        tokens[token].map { decision.tokens[$0].row.customer } ?? known.customer(of: token)
    }

    /// Those that may still be paid, as they are by now.
    func openOrders(token: TokenKey) -> [Order] {
        current(known.openOrders(token: token)) { $0.app == token.app && $0.accountToken == token.token }
    }

    func openOrders(wish: WishKey) -> [Order] {
        current(known.openOrders(wish: wish)) { order in
            order.app == wish.app && order.customer == wish.customer && order.product == wish.product
        }
    }

    private func current(_ found: [Order], or isAlike: (Order) -> Bool) -> [Order] {
        var open = found.filter { orders[$0.key] == nil }
        for change in decision.orders where change.row.state.isOpen && isAlike(change.row) { open.append(change.row) }
        return open
    }

    // MARK: Rows to write

    /// - Returns: the row as it is written.
    @discardableResult
    mutating func put(_ fulfilment: Fulfilment, decidedAt: Timestamp? = nil) -> Fulfilment {
        var row = fulfilment
        row.decidedAt = decidedAt ?? now
        let chain = row.chain
        let rows = known.fulfilments(of: chain)
        let before = rows[row.transaction.id]
        row = Self.place(row, at: row.key, after: before, in: &decision.fulfilments, &fulfilments)
        chains.change(chain, from: rows) { $0[row.transaction.id] = row }
        if let period = row.periodRepeated {
            repetitions.change(chain, from: ShortTable()) { $0.note(row.transaction.id, among: period) }
        }
        let held = row.unitsHeld
        if held.isEmpty { return row }
        units.change(chain, from: ShortTable()) { units in
            for unit in held { units.note(row.transaction.id, among: unit) }
        }
        return row
    }

    mutating func put(_ owner: Owner) {
        var owner = owner
        owner.successor = owner.successor ?? vacancy(of: owner.chain)?.successor
        let before = known.owner(of: owner.chain)
        let last = before?.version ?? known.vacancy(of: owner.chain)?.version
        _ = Self.place(owner, at: owner.chain, after: before, in: &decision.owners, &owners, afterVersion: last)
    }

    /// Notes that a transaction waits for whoever comes to have its chain, or is known by the token that Apple signed.
    mutating func leaveVacant(_ fulfilment: Fulfilment) {
        leaveVacant(fulfilment.chain)
        guard let token = fulfilment.accountToken else { return }
        let key = TokenKey(app: fulfilment.transaction.app, token: token)
        let customer = customer(of: key)
        // By the token of a name that was named for somebody else, whose name it is may come to be known.
        if customer.map({ ownToken($0) != token }) ?? true { put(TokenOwner(key: key, customer: customer)) }
    }

    /// Notes that whoever comes to have a chain must see what was told of it.
    mutating func leaveVacant(_ chain: ChainKey) {
        guard owner(of: chain) == nil else { return }
        put(Vacancy(chain: chain, successor: vacancy(of: chain)?.successor))
    }

    /// Notes with a chain which one goes on with it.
    mutating func leaveWord(of successor: TransactionID, with chain: ChainKey) {
        if var owner = owner(of: chain) {
            guard owner.successor != successor else { return }
            owner.successor = successor
            put(owner)
        } else if vacancy(of: chain)?.successor != successor {
            put(Vacancy(chain: chain, successor: successor))
        }
    }

    private mutating func put(_ vacancy: Vacancy) {
        let before = known.vacancy(of: vacancy.chain)
        _ = Self.place(vacancy, at: vacancy.chain, after: before, in: &decision.vacancies, &vacancies)
    }

    private mutating func put(_ token: TokenOwner) {
        let before = known.owner(of: token.key)
        _ = Self.place(token, at: token.key, after: before, in: &decision.tokens, &tokens)
    }

    mutating func put(_ subscription: RecordedSubscription) {
        let before = known.subscription(of: subscription.chain)
        _ = Self.place(subscription, at: subscription.chain, after: before, in: &decision.subscriptions, &subscriptions)
    }

    /// Writes a request with who changed it, and how.
    mutating func put(_ request: ConsumptionRequest, _ act: String, by actor: String, _ detail: String? = nil) {
        let before = known.consumption(request.key)
        let row = Self.place(request, at: request.key, after: before, in: &decision.consumptions, &consumptions)
        audit(row.key.app, AuditSubject(row.key), row.version, act, by: actor, detail)
    }

    mutating func put(_ consent: Consent, by actor: String) {
        let before = known.consent(consent.key)
        let row = Self.place(consent, at: consent.key, after: before, in: &decision.consents, &consents)
        let subject = AuditSubject(row.key.subject)
        audit(row.key.app, subject, row.version, row.isGiven ? "given" : "withdrawn", by: actor, nil)
    }

    mutating func put(_ granted: GrantedEntitlement) -> GrantedEntitlement {
        let (key, before) = (granted.key, known.grantedEntitlement(granted.key))
        return Self.place(granted, at: key, after: before, in: &decision.grantedEntitlements, &grantedEntitlements)
    }

    private mutating func audit(
        _ app: AppID,
        _ subject: AuditSubject,
        _ number: Int64,
        _ act: String,
        by actor: String,
        _ detail: String?
    ) {
        decision.audit.append(
            AuditEntry(app: app, subject: subject, number: number, at: now, actor: actor, act: act, detail: detail)
        )
    }

    mutating func put(_ order: Order) {
        _ = Self.place(order, at: order.key, after: known.order(order.key), in: &decision.orders, &orders)
    }

    /// Writes a row: once, as it is in the end, and with the version after the known one's, or after that of the row whose
    /// place it takes.
    private static func place<Key, Row: VersionedRow>(
        _ row: Row,
        at key: Key,
        after known: Row?,
        in changes: inout [RowChange<Row>],
        _ places: inout ShortTable<Key, Int>,
        afterVersion: Int64? = nil
    ) -> Row {
        var row = row
        row.version = (afterVersion ?? known?.version ?? 0) + 1
        if let index = places[key] {
            changes[index] = changes[index].replaced(by: row)
        } else {
            places.set(changes.count, for: key)
            changes.append(known == nil ? .insert(row) : .update(row))
        }
        return row
    }

    @discardableResult
    mutating func register(_ token: TokenKey, of customer: CustomerID) -> CustomerID {
        if let known = self.customer(of: token) { return known }
        put(TokenOwner(key: token, customer: customer))
        return customer
    }

    /// Notes a customer by the token that is made of her name: it is hers, whoever has named it before.
    mutating func registerOwn(_ token: TokenKey, of customer: CustomerID) {
        guard self.customer(of: token) != customer else { return }
        put(TokenOwner(key: token, customer: customer))
    }

    /// Has an order that is placed, and a purchase that comes to wait for one at the same moment, meet: each writes the row of
    /// the token that is made of the customer's name, so that of two writers the second is told, and sees the other.
    mutating func meet(by token: TokenKey) {
        guard tokens[token] == nil else { return }
        put(TokenOwner(key: token, customer: customer(of: token)))
    }

    /// The purchase's part in that. What is paid for needs no row of its own for that: it is told of in the
    /// stream in which orders are. Of what was not looked up nothing is written, as it would be taken for new.
    mutating func meetOrders(of fulfilment: Fulfilment) {
        guard terms.needsOrder, fulfilment.lacksOrder, !fulfilment.transaction.realm.isPaidFor,
            let token = fulfilment.customer.flatMap(ownToken)
        else { return }
        let key = TokenKey(app: fulfilment.transaction.app, token: token)
        if known.meetings.contains(key) { meet(by: key) }
    }

    /// Moves an amount in a wallet. Whoever calls has seen to it that the sum is still a number.
    mutating func post(
        _ amount: Int64,
        in key: WalletKey,
        from debit: WalletAccount,
        to credit: WalletAccount,
        cause: PostingCause,
        transaction: TransactionID?
    ) {
        var wallet = wallet(key)
        let posting = wallet.post(amount, from: debit, to: credit, cause: cause, transaction: transaction, at: now)
        guard let posting else { preconditionFailure("a balance that has room was asked for") }
        if let index = wallets[key] {
            decision.wallets[index] = wallet
        } else {
            wallet.version += 1
            wallets.set(decision.wallets.count, for: key)
            decision.wallets.append(wallet)
        }
        decision.postings.append(posting)
    }

    mutating func tell(_ type: EventType, _ stream: StreamKey, happenedAt: Timestamp, _ subject: EventSubject) {
        let sequence = (sequences[stream] ?? known.sequence(of: stream)) + 1
        sequences.set(sequence, for: stream)
        decision.events.append(
            LedgerEvent(
                type: type,
                stream: stream,
                sequence: sequence,
                happenedAt: happenedAt,
                learnedAt: now,
                subject: subject
            )
        )
    }
}
