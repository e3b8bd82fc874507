/// Why a request of the shop cannot be carried out. None of them mends itself.
package enum RequestFault: Error, Hashable, Sendable {
    /// There is no such order, transaction, delivery or chain.
    case unknown
    /// The id is another order's already.
    case otherOrder
    /// The order is past the state in which this could be done.
    case orderIs(OrderState)
    /// The transaction is past the state in which this could be done.
    case fulfilmentIs(FulfilmentState)
    /// What was bought is not what the order asks for: the product, the quantity or the customer.
    case doesNotFit
    /// Apple signed it with an account token that is another order's, or another customer's.
    case tokenContradicts
    /// What is to be delivered has changed since; the number is the fence that counts now.
    case staleFence(Int64)
    /// It is this customer's already.
    case sameOwner
    /// The balance is smaller than that.
    case insufficient(Int64)
    /// No product gives such a currency, and the customer has none of it; with those that products give, by name.
    case unknownCurrency([CurrencyID])
    /// The sum is beyond all numbers.
    case outOfRange
    /// The moment until when it is to last has passed.
    case isOver
}

/// Places an order, and finds what was bought for it before it was placed.
///
/// - Parameters:
///   - situation: around the order: see ``Inquiry``.
///   - order: as it is to be.
///   - ownToken: the token that client libraries make of a customer's name, the order's and anybody's: what Apple signed it
///     for is taken from nobody by naming it.
///   - terms: how the app delivers.
///   - now: when it is placed.
/// - Returns: what to write; nothing when the same order was placed before.
/// - Throws: ``RequestFault/otherOrder``.
package func decide(
    _ situation: Situation,
    placing order: Order,
    ownToken: @escaping (CustomerID) -> AccountToken?,
    terms: AppTerms,
    at now: Timestamp
) throws(RequestFault) -> Decision {
    if let known = situation.order(order.key) {
        guard known.isSame(as: order) else { throw .otherOrder }
        return Decision()
    }
    var draft = Draft(situation, terms: terms, at: now, ownToken: ownToken)
    draft.put(order)
    let customerToken = ownToken(order.customer)
    if let customerToken { draft.registerOwn(TokenKey(app: order.app, token: customerToken), of: order.customer) }
    // Those of its tokens that stand for its customer, and for nobody who was known before.
    let tokens = [order.accountToken, customerToken].compactMap(\.self).filter { token in
        draft.register(TokenKey(app: order.app, token: token), of: order.customer) == order.customer
    }
    if terms.needsOrder, let customerToken { draft.meet(by: TokenKey(app: order.app, token: customerToken)) }
    draft.tell(.orderPlaced, .unpaid(order), happenedAt: now, .order(order))
    let candidates = draft.candidates(for: order, tokens)
    for candidate in candidates {
        guard draft.order(order.key)?.state.isOpen == true else { break }
        let chain = draft.chain(of: candidate)
        let naming = Naming(of: candidate, customerToken: customerToken)
        let previous = draft.owner(of: chain)?.customer
        draft.claim(chain, with: candidate, for: order, tokens)
        draft.settle(candidate, naming)
        draft.settleRest(of: chain, naming)
        draft.settleNext(after: chain, whoseWas: previous, Naming(customerToken: customerToken))
    }
    // What was left to it by its name and does not pay it, as something else does, may pay another one.
    for candidate in candidates where draft.waitsInVain(candidate, for: order) {
        let chain = draft.chain(of: candidate)
        var naming = Naming(of: candidate, customerToken: customerToken)
        naming.placedAfter = draft.fulfilment(candidate).flatMap { draft.owner(of: chain)?.came(with: $0) }
        draft.settle(candidate, naming)
        draft.settleRest(of: chain, naming)
        draft.settleNext(after: chain, whoseWas: nil, Naming(customerToken: customerToken))
    }
    return draft.decided
}

/// Ends the waiting of an order that nobody paid.
package func decide(
    _ situation: Situation,
    cancelling key: OrderKey,
    at now: Timestamp
) throws(RequestFault) -> Decision {
    guard var order = situation.order(key) else { throw .unknown }
    if order.state == .cancelled { return Decision() }
    guard order.state.isOpen else { throw .orderIs(order.state) }
    var draft = Draft(situation, terms: AppTerms(), at: now)
    order.change(to: .cancelled, at: now)
    draft.put(order)
    draft.tell(.orderCancelled, .unpaid(order), happenedAt: now, .order(order))
    return draft.decided
}

/// Ends the waiting of orders whose time is over. A payment that comes later is still theirs.
package func decide(_ situation: Situation, expiring keys: [OrderKey], at now: Timestamp) -> Decision {
    var draft = Draft(situation, terms: AppTerms(), at: now)
    for key in keys {
        guard var order = situation.order(key), order.state == .pending, order.expiresAt <= now else { continue }
        order.change(to: .expired, at: now)
        draft.put(order)
        draft.tell(.orderExpired, .unpaid(order), happenedAt: order.expiresAt, .order(order))
    }
    return draft.decided
}

/// Tells of proofs that had to wait, and end without anything being recorded.
package func decide(_ situation: Situation, telling settled: [SettledSubmission], at now: Timestamp) -> Decision {
    var draft = Draft(situation, terms: AppTerms(), at: now)
    for settled in settled {
        draft.tell(.submissionSettled, settled.stream, happenedAt: settled.settledAt, .submission(settled))
    }
    return draft.decided
}

/// Has a transaction that waits, or that was given without an order, pay one, because a person says so. Product, quantity and
/// customer must still be right. What was given is not given again: see ``Fulfilment/isGivenWithoutOrder``.
///
/// - Parameters:
///   - situation: around both.
///   - transaction: what was bought.
///   - key: the order.
///   - overrulesToken: whether an account token that contradicts is overruled: the match says that it was.
///   - ownToken: the token that client libraries make of anybody's name.
///   - terms: how the app delivers.
///   - now: when it is.
/// - Returns: what to write; nothing when it has paid this order before.
/// - Throws: ``RequestFault``; of a token that contradicts ``RequestFault/tokenContradicts``.
package func decide(
    _ situation: Situation,
    attaching transaction: TransactionKey,
    to key: OrderKey,
    overrulesToken: Bool = false,
    ownToken: @escaping (CustomerID) -> AccountToken?,
    terms: AppTerms,
    at now: Timestamp
) throws(RequestFault) -> Decision {
    guard let recorded = situation[transaction], let order = situation.order(key) else { throw .unknown }
    var draft = Draft(situation, terms: terms, at: now, ownToken: ownToken)
    let given = draft.fulfilment(recorded).flatMap { $0.isGiven ? $0 : nil }
    if let given {
        guard given.order != order.id else { return Decision() }
        guard given.isGivenWithoutOrder else { throw .fulfilmentIs(given.state) }
    }
    guard order.mayBePaidByHand else { throw .orderIs(order.state) }
    // What was given stays whose it was, also where its chain is another's by now.
    if let given, given.customer != order.customer || !order.asks(for: given.product, given.quantity) {
        throw .doesNotFit
    }
    let isContradicted = draft.isContradicted(order, by: recorded)
    if given == nil, draft.owner(of: draft.chain(of: recorded)) == nil {
        draft.put(Owner(chain: draft.chain(of: recorded), customer: order.customer, since: now, isSettled: true))
    }
    guard draft.owner(of: draft.chain(of: recorded))?.customer == order.customer,
        order.asks(for: recorded.transaction.product, recorded.transaction.quantity)
    else { throw .doesNotFit }
    guard overrulesToken || !isContradicted else { throw .tokenContradicts }
    let match = isContradicted ? OrderMatch.byHandAgainstToken : .byHand
    if let given {
        draft.pay(order, withGiven: given, recorded, match)
        return draft.decided
    }
    let fulfilment = draft.settle(recorded, Naming(byHand: (order.id, match)))
    guard fulfilment.order == order.id else { throw .fulfilmentIs(fulfilment.state) }
    draft.settleRest(of: draft.chain(of: recorded), Naming())
    draft.settleNext(after: draft.chain(of: recorded), whoseWas: nil, Naming())
    return draft.decided
}

/// Makes a chain another customer's, because a person says so. What waits in it goes with it, and pays no order by that: what
/// is given cannot be taken back by moving it back.
///
/// - Throws: ``RequestFault``; ``RequestFault/tokenContradicts`` where Apple signed the chain for somebody else, no person has
///   moved it yet, and the token is not overruled.
package func decide(
    _ situation: Situation,
    transferring chain: ChainKey,
    to customer: CustomerID,
    overrulesToken: Bool = false,
    ownToken: @escaping (CustomerID) -> AccountToken?,
    at now: Timestamp
) throws(RequestFault) -> Decision {
    guard let owner = situation.owner(of: chain) else { throw .unknown }
    guard owner.customer != customer else { throw .sameOwner }
    var draft = Draft(situation, terms: AppTerms(), at: now, ownToken: ownToken)
    guard overrulesToken || !draft.isSigned(owner, forAnotherThan: customer) else { throw .tokenContradicts }
    draft.transfer(owner, to: customer, isSettled: true)
    return draft.decided
}

/// Notes that the shop has delivered.
///
/// - Throws: ``RequestFault/staleFence(_:)`` when the shop delivered something older than what counts now.
package func decide(
    _ situation: Situation,
    acknowledging transaction: TransactionKey,
    fence: Int64,
    at now: Timestamp
) throws(RequestFault) -> Decision {
    guard let recorded = situation[transaction],
        var fulfilment = situation.fulfilment(of: transaction), fulfilment.delivery != nil
    else { throw .unknown }
    guard fulfilment.fence == fence else { throw .staleFence(fulfilment.fence) }
    // Undoing what was taken back is acknowledged like a delivery, and stays what it is; also where an earlier version had all
    // of it undone for a part.
    guard fulfilment.delivery != .acknowledged, fulfilment.delivery != .compensated else { return Decision() }
    var draft = Draft(situation, terms: AppTerms(), at: now)
    fulfilment.delivery = .acknowledged
    fulfilment = draft.put(fulfilment)
    draft.tell(.deliveryAcknowledged, draft.stream(of: fulfilment), happenedAt: now, .fulfilment(fulfilment, recorded))
    draft.noteDelivered(fulfilment)
    return draft.decided
}

/// Notes how far what is to be delivered has come: the shop was told, or could not be. Nobody is told of it.
///
/// - Returns: nothing to write when it has changed since, or the shop has said more already. One receiver's silence unsays no
///   other's answer: Apple would be told of an outage, and money given back for what was delivered.
package func decide(
    _ situation: Situation,
    noting progress: DeliveryProgress,
    of transaction: TransactionKey,
    fence: Int64,
    at now: Timestamp
) -> Decision {
    guard var fulfilment = situation.fulfilment(of: transaction), fulfilment.fence == fence,
        let known = fulfilment.delivery, progress.isNewer(than: known)
    else { return Decision() }
    var draft = Draft(situation, terms: AppTerms(), at: now)
    fulfilment.delivery = progress
    draft.put(fulfilment)
    return draft.decided
}

/// Changes a balance: the customer has used something, or a person corrects it.
///
/// - Parameters:
///   - situation: around the wallet.
///   - wallet: whose balance it is.
///   - amount: above zero to give, below to take; never zero.
///   - cause: ``PostingCause/use`` takes no more than there is.
///   - terms: whose products say which currencies there are.
///   - now: when it is.
/// - Returns: what to write.
/// - Throws: ``RequestFault/insufficient(_:)``, ``RequestFault/outOfRange``, ``RequestFault/unknownCurrency(_:)``.
package func decide(
    _ situation: Situation,
    adjusting wallet: WalletKey,
    by amount: Int64,
    cause: PostingCause,
    terms: AppTerms,
    at now: Timestamp
) throws(RequestFault) -> Decision {
    let before = situation.wallet(wallet)
    if let fault = terms.fault(of: before) { throw fault }
    guard amount != 0, amount != .min, !before.balance.addingReportingOverflow(amount).overflow else {
        throw .outOfRange
    }
    if cause == .use, before.balance < -amount { throw .insufficient(before.balance) }
    var draft = Draft(situation, terms: AppTerms(), at: now)
    let other: WalletAccount = cause == .use ? .used : .issued
    draft.post(
        abs(amount),
        in: wallet,
        from: amount > 0 ? other : .balance,
        to: amount > 0 ? .balance : other,
        cause: cause,
        transaction: nil
    )
    guard let posting = draft.decision.postings.first else { preconditionFailure("it was posted") }
    draft.tell(
        .balanceAdjusted,
        StreamKey(app: wallet.app, realm: wallet.realm, customer: wallet.customer),
        happenedAt: now,
        .posting(posting, draft.wallet(wallet))
    )
    return draft.decided
}

extension AppTerms {
    /// Why a balance is none to change: a slip of the pen would found a currency that nothing else knows. What a product gave
    /// once stays, also where it is sold no more; where none gives any, nothing tells which there are.
    package func fault(of wallet: Wallet) -> RequestFault? {
        guard wallet.version == 0, let currencies, !currencies.contains(wallet.key.currency) else { return nil }
        return .unknownCurrency(currencies)
    }
}

extension DeliveryProgress {
    /// Whether what came of a message says more than what is known: an answer always, that it was given up only where none came.
    fileprivate func isNewer(than known: DeliveryProgress) -> Bool {
        switch self {
        case .sent: known == .pending || known == .failed
        case .failed: known == .pending
        case .pending, .acknowledged, .compensated: false
        }
    }
}

extension Realm {
    /// Whether what is bought there is paid for: what is from the sandbox, or from Xcode, costs nothing, and neither does what a
    /// test authority signs.
    var isPaidFor: Bool { environment == .production && !isTestSigned }
}

extension StreamKey {
    /// Nobody knows from which store an order will be paid: until then it is told of as one of customers.
    package static func unpaid(_ order: Order) -> StreamKey {
        StreamKey(
            app: order.app,
            realm: Realm(environment: .production, isTestSigned: false),
            customer: order.customer
        )
    }
}

extension Draft {
    /// What may have been bought for an order before it was placed, the surest first, and of those what was paid for, and the
    /// oldest: the customer's, and with one of these tokens nobody's, or somebody else's who had a copy first, as long as it is
    /// to go to whom Apple signed it.
    fileprivate mutating func candidates(for order: Order, _ tokens: [AccountToken]) -> [RecordedTransaction] {
        let waiting = known.waiting.filter { fulfilment in
            guard fulfilment.transaction.app == order.app, fulfilment.product == order.product else { return false }
            if fulfilment.customer == order.customer { return !isAnothers(fulfilment, tokens) }
            guard !fulfilment.isOfHistory, let token = fulfilment.accountToken, tokens.contains(token) else {
                return false
            }
            guard fulfilment.customer != nil, let owner = owner(of: fulfilment.chain) else { return true }
            return owner.customer == order.customer || isUnsettled(owner, against: token)
        }
        let ranked = waiting.compactMap { fulfilment in
            known[fulfilment.transaction].map { (recorded: $0, rank: rank($0, order, tokens)) }
        }
        .filter { candidate in
            let recorded = candidate.recorded
            return candidate.rank < Self.firstOfUnnamed
                || !isLeft(recorded, to: recorded.order, namedBy: recorded.customer, of: order.customer)
        }
        return ranked.sorted { left, right in
            if left.rank != right.rank { return left.rank < right.rank }
            let (left, right) = (left.recorded, right.recorded)
            return (left.transaction.purchasedAt, left.id) < (right.transaction.purchasedAt, right.id)
        }.map(\.recorded)
    }

    /// Whether something of the customer's still lacks an order, and the one that she named for it is there by now.
    fileprivate func waitsInVain(_ recorded: RecordedTransaction, for order: Order) -> Bool {
        recorded.order == order.id && recorded.customer == order.customer
            && owner(of: chain(of: recorded))?.customer == order.customer
            && fulfilment(recorded)?.lacksOrder == true
    }

    /// How sure it is that this was bought for the order; the lower the surer, as in ``match(_:of:_:)``.
    ///
    /// What was bought for none by name comes last where it cost nothing: it would use up the order of what was paid for.
    private func rank(_ recorded: RecordedTransaction, _ order: Order, _ tokens: [AccountToken]) -> Int {
        let free = recorded.realm.isPaidFor ? 0 : 1
        if recorded.order == order.id { return free }
        guard let token = recorded.transaction.accountToken else { return Self.firstOfUnnamed + 2 * free + 1 }
        if token == order.accountToken { return 2 + free }
        return Self.firstOfUnnamed + 2 * free + (tokens.contains(token) ? 0 : 1)
    }

    /// From this rank on a transaction says of no order that it is for it.
    private static let firstOfUnnamed = 4

    /// Whether what waits in the customer's hands is by now known to have been signed for somebody else: it is his to show.
    mutating func isAnothers(_ fulfilment: Fulfilment, _ tokens: [AccountToken]) -> Bool {
        guard let token = fulfilment.accountToken ?? signedToken(of: fulfilment.chain), !tokens.contains(token),
            let customer = fulfilment.customer,
            let signed = self.customer(of: TokenKey(app: fulfilment.transaction.app, token: token)), signed != customer,
            let owner = owner(of: fulfilment.chain)
        else { return false }
        return isUnsettled(owner, against: token)
    }

    /// Makes the chain of such a candidate the customer's who placed the order.
    fileprivate mutating func claim(
        _ chain: ChainKey,
        with candidate: RecordedTransaction,
        for order: Order,
        _ tokens: [AccountToken]
    ) {
        guard let owner = owner(of: chain) else {
            return put(Owner(chain: chain, customer: order.customer, since: now))
        }
        guard let token = candidate.transaction.accountToken, tokens.contains(token) else { return }
        if owner.customer != order.customer, isUnsettled(owner, against: token) { transfer(owner, to: order.customer) }
    }
}
