import Pipeline
import PurchaseModel
import Storage
import TestSupport
import Testing

/// Rows of each table in which every member of ours has something.
struct FilledBooks {
    static let app = AppID(checked: "shop")
    static let now = PipelineHouse.now
    private static let realm = Realm(environment: .sandbox, isTestSigned: true)
    private static let (ann, bob) = (CustomerID(checked: "ann"), CustomerID(checked: "bob"))
    private static let gems = CurrencyID(checked: "gems")
    private static let month = Duration.seconds(30 * 86_400)
    private static let day = Duration.seconds(86_400)

    let transaction: RecordedTransaction
    let order: Order
    let fulfilment: Fulfilment
    /// No single one can have all: what is taken back has no grace.
    let subscriptions: [RecordedSubscription]
    private let periods: [RecordedTransaction]

    init() throws {
        let sold = try Self.period(1)
        transaction = try Self.recorded(sold)
        let payment = Order.Payment(realm: Self.realm, transaction: sold.id, match: .accountToken)
        let placed = Order(
            app: Self.app,
            id: OrderID(checked: "o1"),
            customer: Self.ann,
            product: sold.product,
            quantity: 2,
            accountToken: sold.accountToken,
            placedAt: Self.now,
            expiresAt: Self.now.advanced(by: Self.day)
        )
        order = Order(placed, state: .paid, changedAt: Self.now, payment: payment, refunded: 40_000, version: 1)
        fulfilment = Self.fulfilment(of: transaction, order.id)
        var running = try Self.period(11)
        (running.isUpgraded, running.revocation) = (true, nil)
        var failed = try Self.period(12)
        (failed.revocation, failed.expiresAt) = (nil, Self.now.advanced(by: .zero - Self.day))
        var ended = try Self.period(13)
        (ended.revocation, ended.expiresAt) = (nil, Self.now.advanced(by: .zero - Self.day))
        let all = [running, failed, ended, try Self.period(14)]
        periods = try all.map(Self.recorded)
        subscriptions = try all.enumerated().map { place, period in
            var renewal = try Self.renewal(after: period)
            renewal.isInBillingRetry = place == 1
            renewal.expirationIntent = place == 2 ? 1 : nil
            return try Self.subscription(period, renewal)
        }
    }

    // MARK: The rows

    private static func period(_ number: Int64) throws -> Transaction {
        let bought = now.advanced(by: .zero - day * 10)
        return Transaction(
            id: try #require(TransactionID(number: number)),
            originalID: TransactionID(number: number),
            product: ProductID(checked: "monthly"),
            kind: .consumable,
            quantity: 2,
            purchasedAt: bought,
            originallyPurchasedAt: bought.advanced(by: .zero - month * 6),
            expiresAt: bought.advanced(by: month),
            revocation: Revocation(at: now, reason: 1, type: "REFUND_PRORATED", percentage: 40_000),
            isUpgraded: true,
            reason: .renewal,
            ownership: .purchased,
            accountToken: AccountToken(high: 1, low: 2),
            offer: Offer(kind: .introductory, identifier: "first", discount: "FREE_TRIAL", period: "P1M"),
            price: Price(milliunits: 9_990, currency: "EUR"),
            storefront: "DEU",
            subscriptionGroup: "20000001",
            webOrderLineItem: "123",
            appTransaction: "70412345678901234",
            previousOriginalID: TransactionID(number: 9),
            billingPlan: "MONTHLY",
            commitmentEndsAt: bought.advanced(by: month * 6),
            advancedCommerce: AdvancedCommerce(items: [
                .init(sku: "a", milliunits: 1, revokedAt: now, refunds: [.init(type: "FULL", milliunits: 1, at: now)])
            ]),
            signedAt: now.advanced(by: .zero - day)
        )
    }

    private static func recorded(_ sold: Transaction) throws -> RecordedTransaction {
        RecordedTransaction(
            app: app,
            realm: realm,
            transaction: sold,
            customer: ann,
            order: OrderID(checked: "o1"),
            recordedAt: now
        )
    }

    private static func fulfilment(of recorded: RecordedTransaction, _ order: OrderID) -> Fulfilment {
        var stored = Fulfilment.Stored(
            transaction: recorded.key,
            original: recorded.id,
            product: recorded.transaction.product,
            quantity: 2,
            purchasedAt: recorded.transaction.purchasedAt,
            state: .partlyReversed,
            decidedAt: now,
            version: 1
        )
        (stored.accountToken, stored.customer) = (recorded.transaction.accountToken, ann)
        (stored.reason, stored.unit) = (.familyShared, GrantUnit(text: "purchase"))
        (stored.order, stored.match) = (order, .accountToken)
        stored.goods = [.amount(GrantedAmount(currency: gems, amount: 100, reversed: 30, uncollected: 10))]
        (stored.reversed, stored.reversedAt) = (40_000, now)
        (stored.delivery, stored.fence) = (.acknowledged, 2)
        stored.importedFence = 1
        (stored.isImported, stored.isOfHistory) = (true, true)
        stored.booksClosedAt = stored.decidedAt
        return Fulfilment(stored: stored)
    }

    private static func renewal(after period: Transaction) throws -> Renewal {
        var renewal = Renewal(
            originalID: period.id,
            product: ProductID(checked: period.isUpgraded ? "yearly" : "monthly"),
            signedAt: period.signedAt
        )
        renewal.nextProduct = ProductID(checked: "yearly")
        renewal.willAutoRenew = true
        renewal.environment = .sandbox
        renewal.graceEndsAt = now.advanced(by: day * 5)
        renewal.renewsAt = period.expiresAt
        renewal.recentStartAt = period.purchasedAt
        renewal.nextPrice = Price(milliunits: 99_990, currency: "EUR")
        renewal.priceIncreaseStatus = 1
        renewal.offer = Offer(kind: .winBack, identifier: "back", discount: "PAY_UP_FRONT", period: "P1Y")
        renewal.winBackOffers = ["back"]
        renewal.nextBillingPlan = "MONTHLY"
        var commitment = NextCommitment()
        (commitment.willRenew, commitment.product) = (true, ProductID(checked: "yearly"))
        commitment.billingPlan = "BILLED_UPFRONT"
        renewal.nextCommitment = commitment
        return renewal
    }

    private static func subscription(_ period: Transaction, _ renewal: Renewal) throws -> RecordedSubscription {
        var ends = PeriodEnds()
        ends.move = PeriodEnds.Move(to: try #require(TransactionID(number: 8)), at: now)
        ends.origin = PeriodEnds.Origin(from: try #require(TransactionID(number: 9)), repeated: nil)
        return RecordedSubscription(
            chain: ChainKey(app: app, realm: realm, original: period.id),
            current: period.id,
            renewal: renewal,
            product: period.product,
            group: period.subscriptionGroup,
            expiresAt: period.expiresAt,
            graceEndsAt: nil,
            willAutoRenew: true,
            state: .active,
            since: now,
            nextLook: nil,
            lookedAt: now,
            version: 1,
            ends: ends
        )
    }

    /// As they stand now.
    var standing: [Subscription] {
        zip(subscriptions, periods).compactMap { row, period in
            fold(row.chain, period.transaction, row.renewal, row.ends, at: Self.now)
        }
    }

    // MARK: The ledger

    /// Everything in a ledger, with two proofs of the transaction, the newer of which tells less.
    func store() async throws -> MemoryStore {
        let store = MemoryStore()
        var decision = Decision(changes: ([transaction] + periods).map { .insert($0) })
        decision.fulfilments = [.insert(fulfilment)]
        decision.orders = [.insert(order)]
        decision.owners = ([transaction] + periods).map { row in
            .insert(
                Owner(
                    chain: ChainKey(app: Self.app, realm: Self.realm, original: row.id),
                    customer: Self.bob,
                    since: Self.now
                )
            )
        }
        decision.subscriptions = subscriptions.map { .insert($0) }
        let wallet = WalletKey(app: Self.app, realm: Self.realm, customer: Self.ann, currency: Self.gems)
        decision.wallets = [Wallet(wallet, balance: 60, uncollected: 10, version: 1)]
        let right = GrantedEntitlementKey(
            app: Self.app,
            realm: Self.realm,
            customer: Self.ann,
            entitlement: EntitlementID(checked: "pro")
        )
        decision.grantedEntitlements = [
            .insert(
                GrantedEntitlement(
                    key: right,
                    until: Self.now,
                    isRevoked: true,
                    changedAt: Self.now,
                    motive: Motive(actor: "shop", reason: "a present")
                )
            )
        ]
        var newer = transaction
        newer.transaction.signedAt = Self.now
        let (first, second) = (try Self.evidence(1), try Self.evidence(2))
        let (all, then) = (decision, Decision(changes: [.updateByLess(newer)]))
        let event = EventRow(
            id: EventID(checked: "evt_1"),
            app: Self.app,
            realm: Self.realm,
            customer: Self.ann,
            sequence: 1,
            type: "balance.adjusted",
            happenedAt: Self.now,
            learnedAt: Self.now,
            data: Array("{}".utf8)
        )
        try await store.write { write throws(StoreFailure) in
            try write.apply(all, evidence: first)
            try write.apply(then, evidence: second)
            try write.append([event])
        }
        return store
    }

    private static func evidence(_ number: UInt8) throws -> EvidenceRow {
        EvidenceRow(
            digest: try #require(ProofDigest([UInt8](repeating: number, count: 32))),
            format: "jws",
            proof: [number],
            customer: ann,
            receivedAt: now,
            verdict: "genuine"
        )
    }
}
