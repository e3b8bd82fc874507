/// What must be known before something can be decided. A store answers it with a ``Situation``.
///
/// Who owns a chain decides whose orders, events and balances count, so that a store is asked in steps: the rest follows
/// from the first answers. Nothing is asked twice: of what another has changed meanwhile, the version that was read first is
/// the one that tells.
package struct Inquiry: Sendable {
    package var chains: Set<ChainKey> = []
    /// The subscriptions of these chains.
    package var subscriptions: Set<ChainKey> = []
    package var orders: Set<OrderKey> = []
    /// Whose token it is, and the open orders that name it.
    package var tokens: Set<TokenKey> = []
    /// Of these the ones by which a purchase that comes to wait for an order meets it: see `Draft.meetOrders(of:)`.
    package private(set) var meetings: Set<TokenKey> = []
    /// The open orders of a customer for a product.
    package var wishes: Set<WishKey> = []
    package var customers: Set<StreamKey> = []
    package var wallets: Set<WalletKey> = []
    package var consumptions: Set<ConsumptionKey> = []
    /// The transactions of which those that are not settled are asked for.
    package var refundRequests: Set<TransactionKey> = []
    /// Of which transactions of these chains Apple has declined the refund.
    package var refundsDeclined: Set<ChainKey> = []
    package var consents: Set<ConsentKey> = []
    package var grantedEntitlements: Set<GrantedEntitlementKey> = []

    package init() {}

    /// What is asked for the first time.
    package func subtracting(_ asked: Inquiry) -> Inquiry {
        var rest = self
        rest.chains.drop(asked.chains)
        rest.subscriptions.drop(asked.subscriptions)
        rest.orders.drop(asked.orders)
        rest.tokens.drop(asked.tokens)
        rest.wishes.drop(asked.wishes)
        rest.customers.drop(asked.customers)
        rest.wallets.drop(asked.wallets)
        rest.consumptions.drop(asked.consumptions)
        rest.refundRequests.drop(asked.refundRequests)
        rest.refundsDeclined.drop(asked.refundsDeclined)
        rest.consents.drop(asked.consents)
        rest.grantedEntitlements.drop(asked.grantedEntitlements)
        return rest
    }

    package mutating func formUnion(_ other: Inquiry) {
        chains.take(other.chains)
        subscriptions.take(other.subscriptions)
        orders.take(other.orders)
        tokens.take(other.tokens)
        wishes.take(other.wishes)
        customers.take(other.customers)
        wallets.take(other.wallets)
        consumptions.take(other.consumptions)
        refundRequests.take(other.refundRequests)
        refundsDeclined.take(other.refundsDeclined)
        consents.take(other.consents)
        grantedEntitlements.take(other.grantedEntitlements)
    }

    /// The first step for verified proofs, when their transactions have been looked up.
    ///
    /// - Parameters:
    ///   - recordings: what the proofs prove.
    ///   - known: their transactions.
    ///   - ownToken: the token that client libraries make of anybody's name.
    package init(
        _ recordings: [Recording],
        among known: Situation,
        ownToken: (CustomerID) -> AccountToken? = { _ in nil }
    ) {
        for recording in recordings {
            customers.insert(StreamKey(app: recording.app, realm: recording.realm, customer: nil))
            if let customer = recording.customer {
                customers.insert(StreamKey(app: recording.app, realm: recording.realm, customer: customer))
            }
            if let settled = recording.settled { customers.insert(settled.stream) }
            if let order = recording.order { orders.insert(OrderKey(app: recording.app, id: order)) }
            if let announcement = recording.announcement { insert(announcement, of: recording) }
            for renewal in recording.renewals {
                chains.insert(recording.chain(of: renewal))
                subscriptions.insert(recording.chain(of: renewal))
            }
            for (transaction, key) in zip(recording.transactions, recording.keys) {
                let chain = recording.chain(of: transaction)
                let known = known[key]
                chains.insert(chain)
                if let previous = transaction.previousOriginalID { insert(chain.beside(previous)) }
                if let known {
                    insert(known)
                    if let token = known.transaction.accountToken {
                        tokens.insert(TokenKey(app: recording.app, token: token))
                    }
                }
                // What either says counts: a poorer proof may not tell that it is a period.
                if transaction.isSubscriptionPeriod || known?.isSubscriptionPeriod == true {
                    subscriptions.insert(chain)
                    if let known { subscriptions.formUnion(Self.chains(of: known)) }
                }
                if let token = transaction.accountToken { tokens.insert(TokenKey(app: recording.app, token: token)) }
                // Whoever presents something mostly has it, or comes to.
                if let customer = recording.customer, recording.claimed == nil {
                    add(customer, chain, product: transaction.product, recording.terms, ownToken)
                }
            }
        }
    }

    /// The second step for verified proofs: what matters about everybody who has a part in them.
    ///
    /// They are decided one after the other, and one may say whose a chain is of which another tells what was bought: what
    /// any of them says of a chain counts for all.
    package init(
        _ recordings: [Recording],
        after first: Situation,
        ownToken: (CustomerID) -> AccountToken? = { _ in nil }
    ) {
        for (chain, gathering) in Gathering.all(in: recordings, after: first) {
            var products = gathering.products
            for fulfilment in first.fulfilments(of: chain).values {
                add(fulfilment)
                let isOpen = fulfilment.isOwnerless || fulfilment.lacksOrder || fulfilment.isWithheldAsCopy
                // Whatever may be decided about again: an order that was not looked up would count as not placed.
                if fulfilment.unit == nil, let order = first[fulfilment.transaction]?.order {
                    orders.insert(OrderKey(app: chain.app, id: order))
                }
                if isOpen || gathering.isRenewed { products.insert(fulfilment.product) }
            }
            for customer in gathering.customers {
                for product in products { add(customer, chain, product: product, gathering.terms, ownToken) }
            }
        }
    }

    /// The first step for an order: what may have been bought for it already.
    package init(placing order: Order, customerToken: AccountToken?) {
        orders.insert(order.key)
        wishes.insert(WishKey(app: order.app, customer: order.customer, product: order.product))
        for token in [order.accountToken, customerToken].compactMap(\.self) {
            tokens.insert(TokenKey(app: order.app, token: token))
        }
        customers.insert(.unpaid(order))
    }

    /// What may be touched when transactions that are known already are decided about again, each for some customers.
    package init(
        deciding recorded: [RecordedTransaction],
        for customers: (RecordedTransaction) -> [CustomerID],
        _ terms: AppTerms
    ) {
        for recorded in recorded {
            insert(recorded)
            if let previous = recorded.transaction.previousOriginalID { insert(recorded.chain.beside(previous)) }
            if let order = recorded.order { orders.insert(OrderKey(app: recorded.app, id: order)) }
            if recorded.isSubscriptionPeriod { subscriptions.formUnion(Self.chains(of: recorded)) }
            if let token = recorded.transaction.accountToken {
                tokens.insert(TokenKey(app: recorded.app, token: token))
            }
            self.customers.insert(StreamKey(app: recorded.app, realm: recorded.realm, customer: nil))
            for customer in customers(recorded) {
                add(customer, recorded.chain, product: recorded.transaction.product, terms)
            }
        }
    }

    /// The rest of it: whatever touches what was given in a chain touches its orders and balances.
    package mutating func touch(_ fulfilments: some Sequence<Fulfilment>) {
        for fulfilment in fulfilments { add(fulfilment) }
    }

    /// Where a known transaction's fulfilment may stand: with its first transaction, or by itself when that was not known
    /// yet.
    private static func chains(of known: RecordedTransaction) -> [ChainKey] {
        [known.chain, ChainKey(app: known.app, realm: known.realm, original: known.id)]
    }

    private mutating func insert(_ announcement: Announcement, of recording: Recording) {
        let (app, realm) = (recording.app, recording.realm)
        switch announcement.matter {
        case .refundRequest:
            consumptions.insert(ConsumptionKey(app: app, realm: realm, id: announcement.id))
            if let original = announcement.original {
                refundsDeclined.insert(ChainKey(app: app, realm: realm, original: original))
            }
        case .download(let id?): consents.insert(ConsentKey(app: app, subject: .appTransaction(id, realm)))
        default: break
        }
        guard announcement.endsRefundRequest, let id = announcement.transaction else { return }
        refundRequests.insert(TransactionKey(app: app, realm: realm, id: id))
    }

    /// A subscription that another one goes on from.
    private mutating func insert(_ previous: ChainKey) {
        chains.insert(previous)
        subscriptions.insert(previous)
    }

    private mutating func insert(_ known: RecordedTransaction) { chains.formUnion(Self.chains(of: known)) }

    /// All of a customer that a purchase of a product may touch.
    private mutating func add(
        _ customer: CustomerID,
        _ chain: ChainKey,
        product: ProductID,
        _ terms: AppTerms,
        _ ownToken: (CustomerID) -> AccountToken? = { _ in nil }
    ) {
        if terms.needsOrder, !chain.realm.isPaidFor, let token = ownToken(customer) {
            let key = TokenKey(app: chain.app, token: token)
            tokens.insert(key)
            meetings.insert(key)
        }
        wishes.insert(WishKey(app: chain.app, customer: customer, product: product))
        customers.insert(StreamKey(app: chain.app, realm: chain.realm, customer: customer))
        for case .amount(_, let currency) in terms.products?[product]?.goods ?? [] {
            wallets.insert(WalletKey(app: chain.app, realm: chain.realm, customer: customer, currency: currency))
        }
    }

    /// What a change of something granted may touch, or of what may be granted still.
    private mutating func add(_ fulfilment: Fulfilment) {
        let (app, realm) = (fulfilment.transaction.app, fulfilment.transaction.realm)
        if fulfilment.unit == nil, let token = fulfilment.accountToken {
            tokens.insert(TokenKey(app: app, token: token))
        }
        if let order = fulfilment.order { orders.insert(OrderKey(app: app, id: order)) }
        guard let customer = fulfilment.customer else { return }
        customers.insert(StreamKey(app: app, realm: realm, customer: customer))
        for case .amount(let amount) in fulfilment.goods {
            wallets.insert(WalletKey(app: app, realm: realm, customer: customer, currency: amount.currency))
        }
    }
}

extension Set {
    /// What is first asked is most of it: it is taken as it is, and nothing of it is hashed again.
    fileprivate mutating func take(_ others: Set) {
        if isEmpty { self = others } else { formUnion(others) }
    }

    fileprivate mutating func drop(_ others: Set) {
        if !isEmpty, !others.isEmpty { subtract(others) }
    }
}
