import Crypto
import Jobs
import Pipeline
import PurchaseModel
import Storage
import TestSupport
import Testing

/// A shop over a store: what happens to it is written as servers write it.
struct CheckedShop: Sendable {
    static let production = Realm(environment: .production, isTestSigned: false)
    static let sandbox = Realm(environment: .sandbox, isTestSigned: false)

    let store: any Store
    let app: AppPolicy
    var now = PipelineHouse.now

    /// Sells `coins` (100 gems each), `lamp` (light and 5 gems, for ever), `monthly` (premium and 10 gems a period).
    init(_ store: any Store, _ change: (inout AppTerms) -> Void = { _ in }) throws {
        self.store = store
        let gems = try #require(CurrencyID("gems"))
        var products: [ProductTerms] = []
        for (id, kind, goods) in [
            ("coins", ProductKind.consumable, [Goods.amount(100, gems)]),
            ("lamp", .nonConsumable, [.entitlement(try #require(EntitlementID("light"))), .amount(5, gems)]),
            ("monthly", .autoRenewable, [.entitlement(try #require(EntitlementID("premium"))), .amount(10, gems)]),
        ] {
            products.append(ProductTerms(product: try #require(ProductID(id)), kind: kind, goods: goods))
        }
        var terms = AppTerms(products: Dictionary(uniqueKeysWithValues: products.map { ($0.product, $0) }))
        change(&terms)
        app = AppPolicy(
            id: try #require(AppID("game")),
            bundleID: TestAuthority.bundleID,
            environments: [.production, .sandbox],
            terms: terms
        )
    }

    // MARK: What happens

    func show(
        _ transaction: Transaction,
        by customer: String? = "ann",
        order: String? = nil,
        realm: Realm = production,
        renewals: [Renewal] = [],
        from source: RecordingSource = .presented
    ) async throws {
        var recording = Recording(
            app: app.id,
            realm: realm,
            transactions: [transaction],
            renewals: renewals,
            customer: try customer.map { try #require(CustomerID($0)) },
            order: try order.map { try #require(OrderID($0)) },
            terms: app.terms
        )
        let words = renewals.map { "\($0.signedAt)" }.joined(separator: " ")
        let proof = Array("\(transaction.id) \(transaction.signedAt) \(customer ?? "") \(words)".utf8)
        let evidence = try Self.evidence(proof)
        recording.source = source
        let (shown, now) = (recording, now)
        try await store.write { write throws(StoreFailure) in
            let decision = decide(try write.situation(around: [shown]), shown, at: now)
            try write.apply(decision, evidence: evidence)
            try write.append(EventRows.rows(decision.events))
        }
    }

    func place(_ id: String, _ product: String = "coins", for customer: String = "ann", quantity: Int = 1) async throws
    {
        let order = Order(
            app: app.id,
            id: try #require(OrderID(id)),
            customer: try #require(CustomerID(customer)),
            product: try #require(ProductID(product)),
            quantity: quantity,
            accountToken: nil,
            placedAt: now,
            expiresAt: now.advanced(by: .seconds(3_600))
        )
        let (app, now) = (app, now)
        _ = try await store.write { write throws(StoreFailure) in
            try LedgerRequests.place(order, for: app, at: now, in: write)
        }
    }

    func cancel(_ id: String) async throws {
        let (order, now) = (OrderKey(app: app.id, id: try #require(OrderID(id))), now)
        _ = try await store.write { write throws(StoreFailure) in
            try LedgerRequests.cancel(order, at: now, in: write)
        }
    }

    func expire() async throws {
        let now = now
        let expire = { [store] in
            try await store.write { write throws(StoreFailure) in
                try LedgerRequests.expireOrders(limit: 100, at: now, in: write)
            }
        }
        while try await expire() == 100 {}
    }

    func attach(_ number: Int64, to id: String) async throws {
        let key = try key(number)
        let (order, app, now) = (OrderKey(app: app.id, id: try #require(OrderID(id))), app, now)
        _ = try await store.write { write throws(StoreFailure) in
            try LedgerRequests.attach(key, to: order, overrulesToken: true, for: app, at: now, in: write)
        }
    }

    func acknowledge(_ number: Int64, fence: Int64) async throws {
        let (key, now) = (try key(number), now)
        _ = try await store.write { write throws(StoreFailure) in
            try LedgerRequests.acknowledge(key, fence: fence, at: now, in: write)
        }
    }

    func transfer(_ original: Int64, to customer: String) async throws {
        let chain = ChainKey(
            app: app.id,
            realm: Self.production,
            original: try #require(TransactionID(number: original))
        )
        let (customer, now) = (try #require(CustomerID(customer)), now)
        _ = try await store.write { write throws(StoreFailure) in
            try LedgerRequests.transfer(chain, to: customer, overrulesToken: true, isDryRun: false, at: now, in: write)
        }
    }

    func use(_ amount: Int64, of customer: String = "ann") async throws {
        let wallet = try wallet(of: customer)
        let (app, now) = (app, now)
        _ = try await store.write { write throws(StoreFailure) in
            try LedgerRequests.adjust(wallet, by: -amount, cause: .use, for: app, at: now, in: write)
        }
    }

    /// Gives a customer what a product gives, for ever.
    func grant(_ entitlement: String, to customer: String = "ann") async throws {
        let key = GrantedEntitlementKey(
            app: app.id,
            realm: Self.production,
            customer: try #require(CustomerID(customer)),
            entitlement: try #require(EntitlementID(entitlement))
        )
        let (app, now) = (app, now)
        let granted = try await store.write { write throws(StoreFailure) in
            let motive = Motive(actor: "shop")
            return try LedgerRequests.grant(key, until: nil, because: motive, for: app, at: now, in: write)
        }
        _ = try granted.get()
    }

    /// Wants everything from both sides of the wall, since long ago.
    func addEndpoint(_ name: String) async throws {
        let endpoint = WebhookEndpoint(
            id: try #require(WebhookEndpointID("whe_\(name)")),
            app: app.id,
            url: "https://shop.example/hook",
            secrets: [try #require(WebhookSecret([1, 2, 3]))],
            filter: EventFilter(realms: [Self.production, Self.sandbox]),
            concurrencyMax: 10,
            ordersPerCustomer: false,
            acknowledgesBy2xx: false,
            createdAt: now.advanced(by: .seconds(-86_400))
        )
        try await store.write { write throws(StoreFailure) in try write.createEndpoint(endpoint) }
    }

    func keepPending(_ text: String) async throws {
        let proof = Array(text.utf8)
        let submission = PendingSubmission(
            id: try #require(SubmissionID(Array(Digest.sha256(proof).prefix(16)))),
            app: app.id,
            digest: try #require(ProofDigest(Digest.sha256(proof))),
            format: "receipt",
            proof: proof,
            customer: nil,
            order: nil,
            reason: "unknown_intermediate",
            receivedAt: now
        )
        _ = try await store.write { write throws(StoreFailure) in try write.keepPending(submission) }
    }

    /// Apple asks about a purchase, because its customer wants the money back.
    func wantBack(_ sold: Transaction, _ name: String) async throws {
        let id = try #require(NotificationID(name))
        let announcement = Announcement(
            id: id,
            type: "CONSUMPTION_REQUEST",
            signedAt: now,
            transaction: sold.id,
            matter: .refundRequest(reason: "UNINTENDED_PURCHASE", isAdvancedCommerce: false)
        )
        var recording = Recording(app: app.id, realm: Self.production, transactions: [sold], terms: app.terms)
        recording.announcement = announcement
        let kept = KeptNotification(
            key: NotificationKey(app: app.id, realm: Self.production, id: id),
            version: 2,
            type: announcement.type,
            transaction: sold.id,
            arrival: .pushed,
            signedAt: now,
            receivedAt: now,
            payload: Array(name.utf8)
        )
        let (heard, evidence, now) = (recording, try Self.evidence(Array(name.utf8)), now)
        let queue = ConsumptionQueue(jobs)
        try await store.write { write throws(StoreFailure) in
            _ = try write.keepNotification(kept)
            let decision = decide(try write.situation(around: [heard]), heard, at: now)
            try write.apply(decision, evidence: evidence)
            for change in decision.consumptions { try queue.enqueue(change.row, write) }
            try write.append(EventRows.rows(decision.events))
        }
    }

    /// A person has Apple asked about an order.
    func ask(_ order: String) async throws {
        let (app, now, queue) = (app.id, now, SupportQueue(jobs))
        try await store.write { write throws(StoreFailure) in
            _ = try queue.take(.lookUpOrder(order), for: app, by: "backend", at: now, in: write)
        }
    }

    private var jobs: JobQueue {
        JobQueue(store: store, clock: ManualClock(now)) { UInt64.random(in: .min ... .max) }
    }

    // MARK: What there is

    func findings() async throws -> LedgerFindings {
        try await store.read { reader throws(StoreFailure) in try LedgerCheck.run(over: reader) }
    }

    func key(_ number: Int64, realm: Realm = production) throws -> TransactionKey {
        TransactionKey(app: app.id, realm: realm, id: try #require(TransactionID(number: number)))
    }

    func wallet(of customer: String) throws -> WalletKey {
        WalletKey(
            app: app.id,
            realm: Self.production,
            customer: try #require(CustomerID(customer)),
            currency: try #require(CurrencyID("gems"))
        )
    }

    static func evidence(_ proof: [UInt8]) throws -> EvidenceRow {
        EvidenceRow(
            digest: try #require(ProofDigest(Digest.sha256(proof))),
            format: "jws",
            proof: proof,
            customer: nil,
            receivedAt: PipelineHouse.now,
            verdict: "genuine"
        )
    }

    static func sold(_ number: Int64, _ product: String = "coins", original: Int64? = nil) throws -> Transaction {
        let kinds = ["coins": ProductKind.consumable, "lamp": .nonConsumable, "monthly": .autoRenewable]
        var sold = Transaction(
            id: try #require(TransactionID(number: number)),
            originalID: TransactionID(number: original ?? number),
            product: try #require(ProductID(product)),
            kind: kinds[product],
            purchasedAt: PipelineHouse.now.advanced(by: .seconds(number)),
            signedAt: PipelineHouse.now
        )
        sold.ownership = .purchased
        if product == "monthly" { sold.expiresAt = sold.purchasedAt.advanced(by: .seconds(30 * 86_400 + number)) }
        return sold
    }

    /// What Apple signs of the end of one of the first periods of the first chain: that it could not charge, at times within
    /// a grace, or that it is over.
    static func renewal(_ random: inout some RandomNumberGenerator) throws -> Renewal {
        let period = try sold(Int64.random(in: 0...2, using: &random) * 3 + 2, "monthly", original: 1)
        let (end, original) = (try #require(period.expiresAt), try #require(period.originalID))
        let signedAt = end.advanced(by: .seconds(Int64.random(in: 0...5_000_000, using: &random)))
        var renewal = Renewal(originalID: original, product: period.product, signedAt: signedAt)
        renewal.renewsAt = end
        switch Int.random(in: 0...2, using: &random) {
        case 0: renewal.isInBillingRetry = true
        case 1: (renewal.isInBillingRetry, renewal.graceEndsAt) = (true, end.advanced(by: .seconds(1_000_000)))
        default: renewal.expirationIntent = Int.random(in: 1...2, using: &random)
        }
        return renewal
    }

    static func refunded(_ sold: Transaction, after seconds: Int64 = 60, percentage: Int? = nil) -> Transaction {
        var refunded = sold
        refunded.signedAt = sold.signedAt.advanced(by: .seconds(seconds))
        refunded.revocation = Revocation(at: refunded.signedAt, reason: 0, percentage: percentage)
        return refunded
    }

    static func again(_ sold: Transaction, after seconds: Int64) -> Transaction {
        var again = sold
        again.signedAt = sold.signedAt.advanced(by: .seconds(seconds))
        again.revocation = nil
        return again
    }

    /// Some of everything: transactions 1 to 7, orders `o1` (paid by 1) and `o2`, customers `ann` and `bob`.
    func live() async throws {
        try await addEndpoint("first")
        try await place("o1")
        try await show(Self.sold(1), order: "o1")
        try await show(Self.sold(2))
        try await show(Self.refunded(Self.sold(2)))
        try await show(Self.sold(3, "lamp"), by: "bob")
        try await show(Self.sold(4, "monthly"))
        try await show(Self.sold(5, "monthly", original: 4))
        try await show(Self.sold(6), by: nil)
        try await show(Self.sold(7), realm: Self.sandbox)
        try await place("o2", "lamp")
        try await use(30)
        try await grant("premium")
        try await acknowledge(1, fence: 1)
        try await keepPending("not decided")
        try await wantBack(Self.sold(3, "lamp"), "11111111-2222-4333-8444-555555555555")
        try await ask("MK1234ABCD")
    }
}
