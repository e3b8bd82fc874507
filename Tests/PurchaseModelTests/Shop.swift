import PurchaseModel
import TestSupport
import Testing

/// A shop with a catalogue: what it is asked is decided and applied, as the pipeline does.
struct Shop {
    static let production = Realm(environment: .production, isTestSigned: false)
    static let sandbox = Realm(environment: .sandbox, isTestSigned: false)

    var terms: AppTerms
    /// What client libraries make of customers' names.
    var ownTokens: [String: AccountToken] = [:] {
        didSet {
            guard let app = try? Shop.app() else { return }
            situation.meetings = Set(ownTokens.values.map { TokenKey(app: app, token: $0) })
        }
    }
    var now = Facts.now
    private(set) var situation = Situation()
    private(set) var events: [LedgerEvent] = []
    private(set) var postings: [Posting] = []
    /// What all decisions added to the figures.
    private(set) var figures = FigureSums()
    /// The chains of all subscriptions, also those of which only Apple's word on the renewal is known.
    private(set) var followed: Set<ChainKey> = []
    private var transactions: Set<TransactionKey> = []
    private var placed: Set<OrderKey> = []

    /// Sells `coins` (100 gems each), `lamp` (light, for ever), `monthly` (premium and 10 gems a period), `season` (a
    /// season of 90 days).
    init(needsOrder: Bool = false, _ change: (inout AppTerms) -> Void = { _ in }) throws {
        let gems = try Shop.currency("gems")
        let products = [
            ProductTerms(product: try Shop.product("coins"), kind: .consumable, goods: [.amount(100, gems)]),
            ProductTerms(
                product: try Shop.product("lamp"),
                kind: .nonConsumable,
                goods: [.entitlement(try Shop.right("light")), .amount(5, gems)]
            ),
            ProductTerms(
                product: try Shop.product("monthly"),
                kind: .autoRenewable,
                goods: [.entitlement(try Shop.right("premium")), .amount(10, gems)]
            ),
            ProductTerms(
                product: try Shop.product("season"),
                kind: .nonRenewing,
                goods: [.entitlement(try Shop.right("season"))],
                period: .seconds(90 * 86_400)
            ),
        ]
        terms = AppTerms(
            products: Dictionary(uniqueKeysWithValues: products.map { ($0.product, $0) }),
            needsOrder: needsOrder
        )
        change(&terms)
    }

    /// Somebody shows a proof of some transactions.
    @discardableResult
    mutating func show(
        _ transactions: Transaction...,
        renewals: [Renewal] = [],
        by customer: String? = "ann",
        order: String? = nil,
        token: AccountToken? = nil,
        realm: Realm = Shop.production,
        from source: RecordingSource = .presented,
        booksClosedAt: Timestamp? = nil,
        claiming claimed: Int64? = nil
    ) throws -> Decision {
        try show(
            transactions,
            renewals: renewals,
            by: customer,
            order: order,
            token: token,
            realm: realm,
            from: source,
            booksClosedAt: booksClosedAt,
            claiming: claimed
        )
    }

    @discardableResult
    mutating func show(
        _ transactions: [Transaction],
        renewals: [Renewal] = [],
        by customer: String? = "ann",
        order: String? = nil,
        token: AccountToken? = nil,
        realm: Realm = Shop.production,
        from source: RecordingSource = .presented,
        booksClosedAt: Timestamp? = nil,
        isUndelivered: Bool = false,
        presentedAt: Timestamp? = nil,
        claiming claimed: Int64? = nil,
        exported: ExportedRow? = nil
    ) throws -> Decision {
        var recording = Recording(
            app: try Shop.app(),
            realm: realm,
            transactions: transactions,
            renewals: renewals,
            customer: try customer.map { try #require(CustomerID($0)) },
            order: try order.map { try #require(OrderID($0)) },
            customerToken: token ?? customer.flatMap { ownTokens[$0] },
            terms: terms
        )
        recording.source = source
        recording.booksClosedAt = booksClosedAt
        (recording.isUndelivered, recording.presentedAt) = (isUndelivered, presentedAt)
        recording.claimed = claimed.flatMap { TransactionID(number: $0) }
        recording.exported = exported
        self.transactions.formUnion(recording.keys)
        return apply(decide(situation, recording, ownToken: ownToken, at: now))
    }

    /// Somebody names what Apple tells of then, and shows no proof of it.
    @discardableResult
    mutating func name(_ all: Transaction..., by customer: String? = "eve", order: String? = nil) throws -> Decision {
        var recording = Recording(app: try Shop.app(), realm: Shop.production, transactions: all, terms: terms)
        recording.customer = try customer.map { try #require(CustomerID($0)) }
        recording.order = try order.map { try #require(OrderID($0)) }
        recording.customerToken = customer.flatMap { ownTokens[$0] }
        recording.isOnlyNamed = true
        transactions.formUnion(recording.keys)
        return apply(decide(situation, recording, ownToken: ownToken, at: now))
    }

    /// Apple tells of something by itself, with a transaction.
    @discardableResult
    mutating func hear(
        _ announcement: Announcement,
        _ transaction: Transaction,
        realm: Realm = Shop.production
    ) throws -> Decision {
        var recording = Recording(app: try Shop.app(), realm: realm, transactions: [transaction], terms: terms)
        recording.announcement = announcement
        transactions.formUnion(recording.keys)
        return apply(decide(situation, recording, ownToken: ownToken, at: now))
    }

    /// Apple was asked what became of it.
    @discardableResult
    mutating func lookUp(_ transaction: Transaction) throws -> Decision {
        let app = try Shop.app()
        var recording = Recording(app: app, realm: Shop.production, transactions: [transaction], terms: terms)
        recording.isLookedUp = true
        transactions.formUnion(recording.keys)
        return apply(decide(situation, recording, ownToken: ownToken, at: now))
    }

    @discardableResult
    mutating func place(
        _ id: String,
        _ product: String = "coins",
        for customer: String = "ann",
        quantity: Int = 1,
        token: AccountToken? = nil,
        customerToken: AccountToken? = nil
    ) throws -> Decision {
        let order = Order(
            app: try Shop.app(),
            id: try #require(OrderID(id)),
            customer: try #require(CustomerID(customer)),
            product: try Shop.product(product),
            quantity: quantity,
            accountToken: token,
            placedAt: now,
            expiresAt: now.advanced(by: .seconds(3_600))
        )
        let own = ownToken
        let decision = try decide(
            situation,
            placing: order,
            ownToken: { $0.text == customer ? customerToken ?? own($0) : own($0) },
            terms: terms,
            at: now
        )
        placed.insert(order.key)
        return apply(decision)
    }

    private var ownToken: (CustomerID) -> AccountToken? {
        { [ownTokens] in ownTokens[$0.text] }
    }

    @discardableResult
    mutating func cancel(_ id: String) throws -> Decision {
        apply(try decide(situation, cancelling: try Shop.order(id), at: now))
    }

    @discardableResult
    mutating func expire(_ ids: String...) throws -> Decision {
        apply(decide(situation, expiring: try ids.map { try Shop.order($0) }, at: now))
    }

    @discardableResult
    mutating func attach(
        _ number: Int64,
        to id: String,
        overrulesToken: Bool = false,
        realm: Realm = Shop.production
    ) throws -> Decision {
        apply(
            try decide(
                situation,
                attaching: try Shop.key(number, realm),
                to: try Shop.order(id),
                overrulesToken: overrulesToken,
                ownToken: ownToken,
                terms: terms,
                at: now
            )
        )
    }

    @discardableResult
    mutating func transfer(_ original: Int64, to customer: String, overrulesToken: Bool = false) throws -> Decision {
        apply(
            try decide(
                situation,
                transferring: try Shop.chain(original),
                to: try #require(CustomerID(customer)),
                overrulesToken: overrulesToken,
                ownToken: ownToken,
                at: now
            )
        )
    }

    @discardableResult
    mutating func note(_ progress: DeliveryProgress, of number: Int64, fence: Int64) throws -> Decision {
        let key = try Shop.key(number, Shop.production)
        return apply(decide(situation, noting: progress, of: key, fence: fence, at: now))
    }

    @discardableResult
    mutating func acknowledge(_ number: Int64, fence: Int64) throws -> Decision {
        apply(try decide(situation, acknowledging: try Shop.key(number, Shop.production), fence: fence, at: now))
    }

    @discardableResult
    mutating func adjust(
        _ customer: String,
        by amount: Int64,
        _ cause: PostingCause,
        currency: String = "gems"
    ) throws -> Decision {
        let wallet = try wallet(of: customer, currency: currency)
        return apply(try decide(situation, adjusting: wallet, by: amount, cause: cause, terms: terms, at: now))
    }

    /// Time has passed over a subscription.
    @discardableResult
    mutating func look(at original: Int64 = 1, askedOf newest: TransactionID? = nil) throws -> Decision {
        apply(decide(situation, lookingAt: try Shop.chain(original), askedOf: newest, at: now))
    }

    @discardableResult
    mutating func apply(_ decision: Decision) -> Decision {
        situation.apply(decision)
        events += decision.events
        postings += decision.postings
        figures.add(decision.figures)
        followed.formUnion(decision.subscriptions.map(\.row.chain))
        return decision
    }

    // MARK: How it stands

    var fulfilments: [Fulfilment] { transactions.compactMap { situation.fulfilment(of: $0) } }

    var recorded: [RecordedTransaction] { transactions.compactMap { situation[$0] } }

    var orders: [Order] { placed.compactMap { situation.order($0) } }

    func subscription(_ original: Int64 = 1) throws -> RecordedSubscription {
        try #require(situation.subscription(of: try Shop.chain(original)))
    }

    func order(_ id: String) throws -> Order { try #require(situation.order(try Shop.order(id))) }

    func fulfilment(_ number: Int64, realm: Realm = Shop.production) throws -> Fulfilment {
        try #require(situation.fulfilment(of: try Shop.key(number, realm)))
    }

    /// `granted`, or the state and why.
    func word(_ number: Int64, realm: Realm = Shop.production) throws -> String {
        let fulfilment = try fulfilment(number, realm: realm)
        return fulfilment.state.rawValue + (fulfilment.reason.map { " \($0.rawValue)" } ?? "")
    }

    func gems(of customer: String = "ann", realm: Realm = Shop.production) throws -> Int64 {
        situation.wallet(try wallet(of: customer, realm)).balance
    }

    func wallet(
        of customer: String,
        _ realm: Realm = Shop.production,
        currency: String = "gems"
    ) throws -> WalletKey {
        WalletKey(
            app: try Shop.app(),
            realm: realm,
            customer: try #require(CustomerID(customer)),
            currency: try Shop.currency(currency)
        )
    }

    /// What a customer may use now: names, in their order.
    func rights(of customer: String = "ann", at moment: Timestamp? = nil) throws -> [String] {
        let customer = try #require(CustomerID(customer))
        let all = transactions.compactMap { situation.fulfilment(of: $0) }
        let theirs = all.filter { fulfilment in
            guard let owner = situation.owner(of: fulfilment.chain) else { return false }
            return owner.customer == customer || owner.sharers.contains(customer)
        }
        let subscriptions = Set(theirs.map(\.chain)).compactMap { situation.subscription(of: $0) }
        return entitlements(theirs, subscriptions, at: moment ?? now).map(\.id.text)
    }

    func kind(of row: Fulfilment) throws -> ProductKind? {
        try #require(situation[row.transaction]).transaction.kind ?? terms.products?[row.product]?.kind
    }

    var types: [String] { events.map(\.type.rawValue) }

    // MARK: Names

    static func app() throws -> AppID { try #require(AppID("game")) }
    static func product(_ text: String) throws -> ProductID { try #require(ProductID(text)) }
    static func currency(_ text: String) throws -> CurrencyID { try #require(CurrencyID(text)) }
    static func right(_ text: String) throws -> EntitlementID { try #require(EntitlementID(text)) }
    static func order(_ text: String) throws -> OrderKey {
        OrderKey(app: try app(), id: try #require(OrderID(text)))
    }
    static func chain(_ original: Int64) throws -> ChainKey {
        ChainKey(app: try app(), realm: production, original: try #require(TransactionID(number: original)))
    }
    static func key(_ number: Int64, _ realm: Realm) throws -> TransactionKey {
        TransactionKey(app: try app(), realm: realm, id: try #require(TransactionID(number: number)))
    }
}

/// Transactions of the shop's products.
enum Sold {
    static func coins(_ number: Int64 = 1, quantity: Int = 1, token: AccountToken? = nil) throws -> Transaction {
        var sold = try transaction(number, "coins", .consumable)
        sold.quantity = quantity
        sold.accountToken = token
        return sold
    }

    static func lamp(_ number: Int64 = 1, original: Int64? = nil) throws -> Transaction {
        var sold = try transaction(number, "lamp", .nonConsumable)
        sold.originalID = TransactionID(number: original ?? number)
        return sold
    }

    /// A period of a subscription whose days are counted from now.
    static func month(_ number: Int64 = 1, original: Int64? = nil, from day: Int64 = 0) throws -> Transaction {
        var sold = try transaction(number, "monthly", .autoRenewable)
        sold.originalID = TransactionID(number: original ?? number)
        sold.purchasedAt = Facts.now.advanced(by: .seconds(day * 86_400))
        sold.expiresAt = Facts.now.advanced(by: .seconds((day + 30) * 86_400))
        return sold
    }

    static func transaction(_ number: Int64, _ product: String, _ kind: ProductKind) throws -> Transaction {
        var sold = try Facts.transaction(number)
        sold.product = try Shop.product(product)
        sold.kind = kind
        sold.purchasedAt = Facts.now
        sold.signedAt = Facts.now
        return sold
    }

    /// The same as Apple signs it after a refund, all of it or so many thousandths of a percent.
    static func refunded(_ sold: Transaction, after seconds: Int64 = 60, percentage: Int? = nil) -> Transaction {
        var sold = sold
        sold.signedAt = sold.signedAt.advanced(by: .seconds(seconds))
        sold.revocation = Revocation(at: sold.signedAt, reason: 0, percentage: percentage)
        return sold
    }

    /// The same as Apple signs it later.
    static func again(_ sold: Transaction, after seconds: Int64) -> Transaction {
        var sold = sold
        sold.signedAt = Facts.now.advanced(by: .seconds(seconds))
        sold.revocation = nil
        return sold
    }
}
