// Which order a transaction pays. A transaction for one product never pays for another.
extension Draft {
    /// The order that a transaction pays, and how we know. Of several the surest, and of those the next to pay.
    func match(_ recorded: RecordedTransaction, of customer: CustomerID, _ naming: Naming) -> (Order, OrderMatch)? {
        if let (id, match) = naming.byHand, let order = order(OrderKey(app: recorded.app, id: id)) {
            return (order, match)
        }
        let (named, namer) = naming.named(for: recorded, of: customer)
        if let id = named, let order = order(OrderKey(app: recorded.app, id: id)),
            fits(order, recorded, of: customer)
        {
            return (order, .orderID)
        }
        // What renews pays for no wish: nobody bought it anew. Nor does what the customer has without paying, from a family or
        // an organisation. Mostly there is no wish to look for.
        guard recorded.transaction.isOwnPurchase, !isOverByAnyRefund(recorded) else { return nil }
        let isLeftAlone = isLeft(recorded, to: named, namedBy: namer, of: customer)
        return wished(recorded, of: customer, naming, isLeftAlone: isLeftAlone)
            .flatMap { isRenewal(recorded) ? nil : $0 }
    }

    /// Whether Apple took a part back of what gives nothing but access, and that is over by any refund: the order would be of
    /// what is bought next. What Apple renews goes on from a period of which it took a part back.
    private func isOverByAnyRefund(_ recorded: RecordedTransaction) -> Bool {
        guard recorded.isRevoked, !recorded.isSubscriptionPeriod, let goods = goods(of: recorded.transaction),
            !goods.isEmpty
        else { return false }
        return goods.allSatisfy(\.isEntitlement)
    }

    private func wished(
        _ recorded: RecordedTransaction,
        of customer: CustomerID,
        _ naming: Naming,
        isLeftAlone: Bool
    ) -> (Order, OrderMatch)? {
        let wish = WishKey(app: recorded.app, customer: customer, product: recorded.transaction.product)
        if let token = recorded.transaction.accountToken {
            let key = TokenKey(app: recorded.app, token: token)
            if let order = nextToPay(openOrders(token: key), recorded, of: customer, naming) {
                return (order, .accountToken)
            }
            if isLeftAlone { return nil }
            if token == naming.customerToken || self.customer(of: key) == customer,
                let order = nextToPay(openOrders(wish: wish), recorded, of: customer, naming)
            {
                return (order, .customerToken)
            }
        }
        if isLeftAlone { return nil }
        return nextToPay(openOrders(wish: wish), recorded, of: customer, naming).map { ($0, .customerAndProduct) }
    }

    /// Whether a transaction is left to the order that was named for it, as that may be placed yet; only what Apple signed says
    /// more. An order that is there and does not fit never will, so that another one may be paid; and what a customer named
    /// counts no more once the transaction is somebody else's.
    func isLeft(
        _ recorded: RecordedTransaction,
        to named: OrderID?,
        namedBy namer: CustomerID?,
        of customer: CustomerID
    ) -> Bool {
        guard let named, namer == customer else { return false }
        return order(OrderKey(app: recorded.app, id: named)) == nil
    }

    /// For which transactions of a proof its order was named: for the one that it holds. A receipt holds what was bought for
    /// years, and is sent with the order of what was bought last: of several it is the one for which the order asks.
    func whatIsOrdered(in recording: Recording) -> Set<TransactionID> {
        guard let id = recording.order else { return [] }
        guard recording.transactions.count > 1 || recording.isOneOfSeveral else {
            return Set(recording.transactions.map(\.id))
        }
        guard let order = order(OrderKey(app: recording.app, id: id)) else { return [] }
        if let payment = order.payment { return payment.realm == recording.realm ? [payment.transaction] : [] }
        let claimed = claimedChains(of: recording)
        var found: [Int: [Transaction]] = [:]
        for (transaction, key) in zip(recording.transactions, recording.keys) where asks(order, for: transaction) {
            let chain = known.chain(of: transaction, key, in: recording)
            guard !isSettled(transaction, key), claimed?.contains(chain) != false else { continue }
            // Rather what was named for it, or for none, than what was named for another; and rather the customer's.
            let named = known[key]?.order.map { $0 == id ? 0 : 2 } ?? 1
            let isHers = owner(of: chain).flatMap { owner in recording.customer.map(owner.mayUse) } ?? true
            found[named + (isHers ? 0 : 3), default: []].append(transaction)
        }
        return found.min { $0.key < $1.key }.flatMap { Self.bought(for: order, of: $0.value) }.map { [$0.id] } ?? []
    }

    /// Of several alike what was bought first since an order was placed; or else, as it may be placed late, what was last.
    private static func bought(for order: Order, of alike: [Transaction]) -> Transaction? {
        let since = alike.filter { $0.purchasedAt >= order.placedAt }
        if since.isEmpty { return alike.max { ($0.purchasedAt, $0.id) < ($1.purchasedAt, $1.id) } }
        return since.min { ($0.purchasedAt, $0.id) < ($1.purchasedAt, $1.id) }
    }

    /// Whether nothing more is given for it, whichever order it names.
    private func isSettled(_ transaction: Transaction, _ key: TransactionKey) -> Bool {
        if transaction.takenBack?.share == Fulfilment.whole || transaction.isUpgraded { return true }
        guard let row = known.fulfilment(of: key) else { return false }
        return row.unit != nil || row.reason == .revoked || row.reason == .alreadyGranted
    }

    /// Whether an order is for what was bought. A period that was over when the order was placed was bought for something else.
    private func asks(_ order: Order, for transaction: Transaction) -> Bool {
        guard order.product == transaction.product, order.quantity == transaction.quantity else { return false }
        return end(of: transaction).map { $0 > order.placedAt } ?? true
    }

    /// Whether a transaction may pay an order at all.
    func fits(_ order: Order, _ recorded: RecordedTransaction, of customer: CustomerID) -> Bool {
        let transaction = recorded.transaction
        guard order.state.isOpen, order.app == recorded.app, order.customer == customer, asks(order, for: transaction)
        else { return false }
        // Two tokens that differ are two wishes, unless the one that Apple signed is only the customer's name.
        if let wanted = order.accountToken, let signed = transaction.accountToken, wanted != signed { return false }
        return true
    }

    /// Whether Apple signed it with an account token by which it is another customer's, or was bought for another order. That no
    /// longer counts once a person has said whose its chain is.
    mutating func isContradicted(_ order: Order, by recorded: RecordedTransaction) -> Bool {
        let chain = chain(of: recorded)
        if let owner = owner(of: chain), owner.isSettled, owner.customer == order.customer { return false }
        let own = recorded.transaction.accountToken
        // A copy may be without one.
        guard let token = own ?? signedToken(of: chain), token != ownToken(order.customer) else { return false }
        if let signed = customer(of: TokenKey(app: recorded.app, token: token)) { return signed != order.customer }
        guard let own, let wanted = order.accountToken else { return false }
        return own != wanted
    }

    /// Whether Apple signed a chain for somebody else than whom it is to be given to, and no person has moved it since: for a
    /// customer that is known by the token, or for its owner's name.
    mutating func isSigned(_ owner: Owner, forAnotherThan customer: CustomerID) -> Bool {
        guard let token = signedToken(of: owner.chain), token != ownToken(customer) else { return false }
        let signed = self.customer(of: TokenKey(app: owner.chain.app, token: token))
        let isOwners = signed.map { $0 == owner.customer } ?? (token == ownToken(owner.customer))
        // What goes on with a chain in which something was given is settled as well, and no person has moved that. To undo what
        // one has done takes no word more.
        if owner.isSettled, !isOwners || owner.previous == customer { return false }
        return signed.map { $0 != customer } ?? isOwners
    }

    /// Whether it goes on from what was given: where Apple says that it renewed it, from anything of its chain, earlier or
    /// later. Where Apple does not say whose act it is: by periods of the same product that follow one another without a gap.
    private func isRenewal(_ recorded: RecordedTransaction) -> Bool {
        let reason = recorded.transaction.reason
        guard isPaidPeriod(recorded.transaction), reason != .purchase else { return false }
        let chain = chain(of: recorded)
        if ownPredecessors(of: chain).contains(where: { hasGrants($0) }) { return true }
        let rows = fulfilments(of: chain)
        if reason == .renewal { return rows.values.contains { $0.unit != nil && $0.transaction != recorded.key } }
        func isBefore(_ row: Fulfilment) -> Bool {
            row.mayBeRenewed && row.product == recorded.product && row.purchasedAt < recorded.purchasedAt
        }
        func leads(_ row: Fulfilment, to begin: Timestamp) -> Bool {
            lastMoment(of: row).map { row.leads(to: begin, until: $0) } ?? false
        }
        guard rows.values.contains(where: { $0.unit != nil && isBefore($0) }) else { return false }
        // Mostly the one before was given.
        if rows.values.contains(where: { $0.unit != nil && isBefore($0) && leads($0, to: recorded.purchasedAt) }) {
            return true
        }
        // From the last to the first. What was withheld of them has run all the same, and Apple went on with it.
        var begins = [recorded.purchasedAt]
        for row in rows.values.filter(isBefore).sorted(by: { $0.purchasedAt > $1.purchasedAt })
        where begins.reversed().contains(where: { leads(row, to: $0) }) {
            if row.unit != nil { return true }
            begins.append(row.purchasedAt)
        }
        return false
    }

    /// Until when a period lasts. Of what was not looked up nothing new is told: what was given for it tells, and what was
    /// withheld is taken to last, as no order is to be paid by what is not known; `nil` for what has no end.
    private func lastMoment(of row: Fulfilment) -> Timestamp? {
        if let known = recorded(row.transaction) { return known.transaction.expiresAt }
        guard let unit = row.unit else { return Timestamp(seconds: .max) }
        return unit.base.endOfPeriod
    }

    private func waits(_ order: Order) -> Bool { order.state == .pending && now < order.expiresAt }

    private func nextToPay(
        _ orders: [Order],
        _ recorded: RecordedTransaction,
        of customer: CustomerID,
        _ naming: Naming
    ) -> Order? {
        let fitting = orders.filter { order in
            naming.placedAfter.map { $0 < order.placedAt } != false && fits(order, recorded, of: customer)
        }
        return fitting.min { left, right in
            // One that still waits comes before one whose time is over, also while that is not noted yet.
            if waits(left) != waits(right) { return waits(left) }
            return (left.placedAt, left.id) < (right.placedAt, right.id)
        }
    }
}

extension Fulfilment {
    /// Whether Apple may have renewed it, as far as its row tells: it was given, or was over, or taken back, when it would have
    /// been. What is one more number of a period stands for nothing, nor does a family member's copy.
    fileprivate var mayBeRenewed: Bool { unit != nil || reason == .expired || reason == .revoked }

    /// Whether what begins at a moment goes on from this period, which lasts until `end`.
    fileprivate func leads(to begin: Timestamp, until end: Timestamp) -> Bool {
        guard purchasedAt < begin, begin.seconds <= end.seconds + SubscriptionTransition.gap else { return false }
        // What begins in the middle of what was taken back goes on with nothing.
        let isReturned = reason == .revoked || isTakenBack && reversedAt.map { $0 < begin } == true
        return !isReturned || begin.seconds >= end.seconds - SubscriptionTransition.gap
    }
}

/// What whoever sent a proof said beside it.
struct Naming {
    var order: OrderID?
    /// Who named the order.
    var namer: CustomerID?
    var customerToken: AccountToken?
    /// The order that a person chose: neither a token nor a date speaks against it by then.
    var byHand: (OrderID, OrderMatch)?
    var source: RecordingSource
    /// See ``Recording/booksClosedAt``.
    var booksClosedAt: Timestamp?
    /// Whether it is presented, or told of as just bought.
    var isOfPurchase = false
    /// See ``Recording/isUndelivered``.
    var isUndelivered = false
    /// See ``Recording/presentedAt``.
    var presentedAt: Timestamp?
    /// See ``Recording/exported``.
    var exported: ExportedRow?
    /// What the proof of that row says of the row's own transaction.
    var exportedFact: Transaction?
    /// The chains of which it was said; `nil` for all.
    var chains: Set<ChainKey>?
    /// After which moment an order must have been placed that it pays without naming it; `nil` for any.
    var placedAfter: Timestamp?

    init(
        order: OrderID? = nil,
        customerToken: AccountToken? = nil,
        byHand: (OrderID, OrderMatch)? = nil,
        source: RecordingSource = .presented,
        booksClosedAt: Timestamp? = nil,
        chains: Set<ChainKey>? = nil
    ) {
        self.order = order
        self.customerToken = customerToken
        self.byHand = byHand
        self.source = source
        self.booksClosedAt = booksClosedAt
        self.chains = chains
    }

    /// What was said of a transaction before.
    init(of recorded: RecordedTransaction, customerToken: AccountToken?) {
        self.init(order: recorded.order, customerToken: customerToken)
        namer = recorded.customer
    }

    /// Which order is named for a transaction, and by whom. It is its customer's to name one: whoever shows it beside her names
    /// none, neither in its place nor where she has named none.
    func named(for recorded: RecordedTransaction, of customer: CustomerID) -> (order: OrderID?, namer: CustomerID?) {
        if recorded.customer == customer, namer != customer, recorded.order != nil { return (recorded.order, customer) }
        // What became hers may have been bought for an order of hers by who had it first.
        let maySay = namer == nil || namer == customer || namer == recorded.customer
        return maySay ? (order, namer) : (nil, namer)
    }

    /// Whether an order is named in vain by a customer for what is hers; what somebody else names for it tells her nothing.
    func isInVain(for recorded: RecordedTransaction, of customer: CustomerID) -> Bool {
        let said = named(for: recorded, of: customer)
        return said.order != nil && (said.namer == nil || said.namer == customer)
    }

    /// What of it counts for a chain: of another person's nothing was said.
    func of(_ chain: ChainKey) -> Naming {
        guard let chains, !chains.contains(chain) else { return self }
        return occasion
    }

    /// The same occasion for another transaction of the chain, which may name an order of its own.
    func named(by recorded: RecordedTransaction) -> Naming {
        var named = occasion
        (named.order, named.namer, named.customerToken) = (recorded.order, recorded.customer, customerToken)
        return named
    }

    /// How it came, without what was said of any purchase.
    private var occasion: Naming {
        var occasion = Naming(source: source, booksClosedAt: booksClosedAt)
        (occasion.isUndelivered, occasion.presentedAt) = (isUndelivered, presentedAt)
        (occasion.exported, occasion.exportedFact) = (exported, exportedFact)
        return occasion
    }

    /// Whether another system has delivered a transaction: it stands in that one's books, or was known here before they were
    /// handed in, and nobody has named an order for it here.
    func isOfBooks(_ recorded: RecordedTransaction) -> Bool {
        guard source == .imported, recorded.order == nil else { return false }
        if exported != nil {
            // The others of its proof, too, until their own rows say.
            return !wasHeldBack(recorded)
        }
        return booksClosedAt.map { min(recorded.purchasedAt, recorded.recordedAt) < $0 } ?? true
    }
}
