import Crypto
import PurchaseModel
import Storage

/// Decides about some recorded transactions again, and about what waits in their chains, save those whose rows contradict
/// themselves.
struct FulfilmentRebuild {
    let app: AppPolicy
    let now: Timestamp
    let reader: any StoreReader

    struct Step: Sendable {
        var decision = Decision()
        var found: [LedgerDifference] = []
        /// Those whose chain reaches beyond the step: another one may find the same of them.
        var reaching: Set<TransactionKey> = []
    }

    /// Of all at once; when something around them cannot be read, of each alone.
    func steps(_ keys: [TransactionKey]) throws(StoreFailure) -> [(keys: [TransactionKey], step: Step)] {
        do throws(StoreFailure) {
            return [(keys, try step(keys))]
        } catch .broken {
            guard keys.count > 1 else {
                let left = keys.map { LedgerDifference.leftTransaction($0, why: "a row around it cannot be read") }
                return [(keys, Step(found: left))]
            }
            var all: [(keys: [TransactionKey], step: Step)] = []
            for key in keys { all += try steps([key]) }
            return all
        }
    }

    func step(_ asked: [TransactionKey]) throws(StoreFailure) -> Step {
        var step = Step()
        var (keys, situation) = (asked, try situation(of: asked))
        let beyond = Self.chainsBeyond(asked, in: situation)
        if !beyond.isEmpty {
            let open = Self.open(beyond, around: asked, in: situation).subtracting(asked)
            if !open.isEmpty {
                situation = try self.situation(of: asked + open)
                // What was bought first is decided about first.
                keys = (asked + open.filter { situation[$0] != nil }).sorted { $0.id < $1.id }
            }
            step.reaching = Set(keys.filter { beyond.contains(Self.chain(of: $0, in: situation)) })
        }
        var left: Set<ChainKey> = []
        for key in keys {
            guard let why = Self.contradiction(of: key, in: situation) else { continue }
            step.found.append(.leftTransaction(key, why: why))
            left.formUnion(Self.chains(of: key, in: situation))
        }
        // What is decided about one number of a purchase is decided about the others as well.
        keys.removeAll { !left.isDisjoint(with: Self.chains(of: $0, in: situation)) }
        try decide(keys, situation, &step)
        for change in step.decision.fulfilments {
            let stored = situation.fulfilment(of: change.row.key)
            let told = step.decision.events.compactMap { event -> EventType? in
                guard case .fulfilment(let row, _) = event.subject, row.key == change.row.key else { return nil }
                return event.type
            }
            step.found.append(.fulfilment(stored: stored, rebuilt: change.row, told: told))
        }
        return step
    }

    /// Decides about all that can be decided, and notes what is left: of a chain with a doubtful row nothing is changed, for by one
    /// number of a purchase another one would be decided about, or given.
    private func decide(
        _ asked: [TransactionKey],
        _ situation: Situation,
        _ step: inout Step
    ) throws(StoreFailure) {
        var keys = asked
        while true {
            let tokens = tokens(situation, keys)
            step.decision = PurchaseModel.decide(situation, rebuilding: keys, tokens: tokens, terms: app.terms, at: now)
            var (doubtful, told): (Set<ChainKey>, Set<TransactionKey>) = ([], [])
            for change in step.decision.fulfilments {
                guard let why = try doubt(change.row, situation.fulfilment(of: change.row.key)) else { continue }
                step.found.append(.leftTransaction(change.row.key, why: why))
                told.insert(change.row.key)
                doubtful.formUnion(Self.chains(of: change.row.key, in: situation))
            }
            if doubtful.isEmpty { return }
            for row in step.decision.fulfilments.map(\.row) where !told.contains(row.key) {
                if doubtful.isDisjoint(with: Self.chains(of: row.key, in: situation)) { continue }
                step.found.append(.leftTransaction(row.key, why: "another transaction of its chain is left"))
            }
            let sound = keys.filter { doubtful.isDisjoint(with: Self.chains(of: $0, in: situation)) }
            // A change is made for what was asked in its chain; of anything else there is nothing to be sure of.
            keys = sound.count < keys.count ? sound : []
        }
    }

    /// The chains of some transactions in which others stand, too.
    private static func chainsBeyond(_ keys: [TransactionKey], in situation: Situation) -> Set<ChainKey> {
        let keys = Set(keys)
        return Set(keys.map { chain(of: $0, in: situation) }).filter { chain in
            situation.fulfilments(of: chain).values.contains { !keys.contains($0.transaction) }
        }
    }

    private static func chain(of key: TransactionKey, in situation: Situation) -> ChainKey {
        situation[key].map(situation.chain) ?? ChainKey(app: key.app, realm: key.realm, original: key.id)
    }

    /// Where what became of a transaction may stand: in its chain, or by itself.
    private static func chains(of key: TransactionKey, in situation: Situation) -> Set<ChainKey> {
        [chain(of: key, in: situation), ChainKey(app: key.app, realm: key.realm, original: key.id)]
    }

    /// What is to be decided about with some transactions, of their chains in which others stand: what was not given for what
    /// else stands there, or does not, as it may be given once anything is given, or taken back; other numbers of the same
    /// purchase; and what contradicts itself, so that it is left here as well.
    private static func open(
        _ chains: Set<ChainKey>,
        around keys: [TransactionKey],
        in situation: Situation
    ) -> Set<TransactionKey> {
        let purchases = Set(keys.compactMap { situation[$0] }.map { NumberedPurchase($0, in: situation) })
        return Set(
            chains.flatMap { chain in
                situation.fulfilments(of: chain).values.filter { row in
                    row.lacksOrder || row.reason == .alreadyGranted || !row.faults.isEmpty
                        || NumberedPurchase.of(row, in: chain).contains(where: purchases.contains)
                }
            }.map(\.transaction)
        )
    }

    private func situation(of keys: [TransactionKey]) throws(StoreFailure) -> Situation {
        var situation = try reader.situation(of: keys, app.terms)
        var named = Inquiry()
        for key in keys {
            guard let order = situation[key]?.order else { continue }
            named.orders.insert(OrderKey(app: key.app, id: order))
        }
        try reader.answer(named, in: &situation)
        return situation
    }

    private func tokens(_ situation: Situation, _ keys: [TransactionKey]) -> [CustomerID: AccountToken] {
        let customers = Set(keys.compactMap { situation[$0]?.customer })
        var tokens: [CustomerID: AccountToken] = [:]
        for customer in customers { tokens[customer] = AccountToken(ofCustomer: customer) }
        return tokens
    }

    /// Why the rules cannot be asked about a row.
    private static func contradiction(of key: TransactionKey, in situation: Situation) -> String? {
        guard let recorded = situation[key] else { return "it is not recorded" }
        let alone = ChainKey(app: key.app, realm: key.realm, original: key.id)
        let rows = Set([recorded.chain, alone]).compactMap { situation.fulfilments(of: $0)[key.id] }
        if rows.count > 1 { return "it was fulfilled twice" }
        guard let row = rows.first, !row.faults.isEmpty else { return nil }
        return "it is \(row.state.rawValue) and has " + row.faults.joined(separator: ", ")
    }

    /// Why a change must not be made: what was posted and what is stored are not the same, or an order was paid by it
    /// although nothing was given.
    private func doubt(_ rebuilt: Fulfilment, _ stored: Fulfilment?) throws(StoreFailure) -> String? {
        guard let customer = rebuilt.customer else { return nil }
        let currencies = Set((rebuilt.amounts + (stored?.amounts ?? [])).map(\.currency))
        for currency in currencies.sorted() {
            let wallet = WalletKey(
                app: rebuilt.transaction.app,
                realm: rebuilt.transaction.realm,
                customer: customer,
                currency: currency
            )
            let amount = stored?.amounts.first { $0.currency == currency }
            let posted = try reader.postings(wallet, of: rebuilt.transaction.id)
            let balance = posted.reduce(0) { $0 &+ $1.change(of: .balance) }
            let uncollected = posted.reduce(0) { $0 &+ $1.change(of: .uncollected) }
            let given = amount.map { $0.amount - $0.reversed } ?? 0
            if balance != given || uncollected != -(amount?.uncollected ?? 0) || amount == nil && !posted.isEmpty {
                return "what was posted for it is not what is stored"
            }
            if let why = try doubtBalance(wallet) { return why }
        }
        guard rebuilt.isGiven, stored?.isGiven != true else { return nil }
        return try isPayment(rebuilt.transaction, of: customer) ? "an order was paid by it before" : nil
    }

    private func doubtBalance(_ wallet: WalletKey) throws(StoreFailure) -> String? {
        guard let stored = try reader.wallets([wallet]).first else { return nil }
        let last = try reader.postings(wallet, before: nil, limit: 1).first
        return last?.number ?? 0 == stored.postings ? nil : "its balance is to be rebuilt first"
    }

    private func isPayment(_ key: TransactionKey, of customer: CustomerID) throws(StoreFailure) -> Bool {
        var last: OrderID?
        repeat {
            let page = try reader.orders(app: key.app, customer: customer, after: last, limit: OrderPage.limitMax)
            let isFound = page.orders.contains { order in
                order.payment?.transaction == key.id && order.payment?.realm == key.realm
            }
            if isFound { return true }
            last = page.next
        } while last != nil
        return false
    }
}

/// What several numbers of a chain may be of: a period, by when it began, or something else, by its product.
private struct NumberedPurchase: Hashable {
    let chain: ChainKey
    let product: ProductID
    let second: Int64?

    init(_ recorded: RecordedTransaction, in situation: Situation) {
        let transaction = recorded.transaction
        let second = transaction.expiresAt == nil ? nil : transaction.purchasedAt.seconds
        self.init(situation.chain(of: recorded), transaction.product, second)
    }

    private init(_ chain: ChainKey, _ product: ProductID, _ second: Int64?) {
        (self.chain, self.product, self.second) = (chain, product, second)
    }

    /// What a row may be of.
    static func of(_ row: Fulfilment, in chain: ChainKey) -> [NumberedPurchase] {
        [NumberedPurchase(chain, row.product, nil), NumberedPurchase(chain, row.product, row.purchasedAt.seconds)]
    }
}
