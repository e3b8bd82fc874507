import API
import AppStore
import Crypto
import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Simulator
import Storage
import Synchronization
import Testing
import TestSupport
import Verification

/// The whole server in one process, without a socket: the router is called directly. The store is given, the clock
/// stands still, and the shared test authority signs.
struct TestHouse {
    static let now = Timestamp(milliseconds: 1_763_600_000_000)
    static let key = "sk_test_0123456789abcdef0123456789abcdef"
    static let sharedSecret = "0123456789abcdef0123456789abcdef"
    static let otherKey = "sk_test_fedcba9876543210fedcba9876543210"

    let router: Router
    let store: any Store
    let clock = ManualClock(TestHouse.now)
    let pace = FeedPace()
    /// The jobs that were put into queues, in words.
    let jobs = NotedJobs()
    private let feed: LiveFeed
    private let recorder: Recorder
    private let pending: PendingReview
    private let expiry: PendingExpiry

    init(
        store: any Store = MemoryStore(),
        trustsSimulator: Bool = true,
        acceptsTestSigned: Bool = true,
        requestsPerSecond: Int = 0,
        limits: PipelineLimits = TestHouse.limits(),
        queuedMax: Int = 4_096,
        terms: AppTerms = AppTerms(),
        keys: KeyRing? = nil,
        customers: CustomerToken = CustomerToken([:]),
        pause: @escaping @Sendable (Duration) async -> Bool = { _ in false },
        signer: AnswerSigner? = nil,
        sender: (any Store, ManualClock) -> WebhookSender? = { _, _ in nil },
        failed: @escaping @Sendable (FailedRequest) -> Void = { _ in }
    ) throws {
        let anchors = try TestHouse.anchors(trustsSimulator: trustsSimulator)
        let apps = try TestHouse.apps(acceptsTestSigned: acceptsTestSigned, terms)
        self.store = store
        feed = LiveFeed(store: store, uptime: { [pace] in pace.uptime }) { _ in }
        let refusals = RefusalLedger()
        recorder = Recorder(
            store: store,
            refusals: refusals,
            clock: clock,
            uptime: { .zero },
            queuedMax: queuedMax
        ) { _ in }
        let pipeline = PurchasePipeline(
            verifier: Verifier(anchors: anchors, bytesMax: 1 << 20),
            recorder: recorder,
            store: store,
            refusals: refusals,
            clock: clock,
            limits: limits
        ) { _ in }
        pending = PendingReview(pipeline: pipeline, store: store, apps: apps, clock: clock)
        let patience = PipelineLimits().pendingFor
        expiry = PendingExpiry(pipeline: pipeline, store: store, apps: apps, clock: clock, patience: patience) { _ in }
        router = DescribedAnswers.routes(
            APIParts(
                pipeline: pipeline,
                notifications: TestHouse.intake(anchors, recorder, store, refusals, apps[0], clock),
                consumption: jobs.consumption,
                support: jobs.support,
                signing: try TestHouse.signing(apps[0]),
                store: store,
                apps: apps,
                keys: keys ?? TestHouse.keys(apps),
                customers: customers,
                clock: clock,
                requestsPerSecond: requestsPerSecond,
                sender: sender(store, clock),
                feed: feed,
                pause: pause,
                signer: signer,
                failed: failed,
                metrics: { "" }
            )
        )
    }

    static func limits(pendingPerApp: Int = 1_000, pendingPerCustomer: Int = 1_000) -> PipelineLimits {
        PipelineLimits(
            pendingPerApp: PendingLoad(submissions: pendingPerApp, bytes: 1 << 24),
            pendingPerCustomer: pendingPerCustomer
        )
    }

    private static func intake(
        _ anchors: TrustAnchors,
        _ recorder: Recorder,
        _ store: any Store,
        _ refusals: RefusalLedger,
        _ app: AppPolicy,
        _ clock: ManualClock
    ) -> NotificationIntake {
        NotificationIntake(
            verifier: Verifier(anchors: anchors, bytesMax: 1 << 20),
            recorder: recorder,
            store: store,
            refusals: refusals,
            secrets: [app.id: Array(sharedSecret.utf8)],
            clock: clock
        ) { _ in }
    }

    static let keyID = "ABCDEFGHIJ"
    private static let merchantKey = Result { try PrivateKey(generate: .p256) }

    /// The first app has a key of App Store Connect, the other has none.
    private static func signing(_ app: AppPolicy) throws -> [AppID: MerchantDesk] {
        let key = try ServerAPIKey(
            issuerID: "57246542-96fe-1a63-e053-0824d011072a",
            keyID: keyID,
            pem: try merchantKey.get().pem()
        )
        return [app.id: try #require(MerchantDesk(AppCredentials(bundleID: app.bundleID, key: key)))]
    }

    private static func anchors(trustsSimulator: Bool) throws -> TrustAnchors {
        var anchors = try TrustAnchors.apple()
        guard trustsSimulator else { return anchors }
        for root in try TestAuthority.shared.roots() { anchors.addRoot(try Certificate(der: root)) }
        for member in [AuthorityMember.oldIntermediate, .sha1Intermediate, .sha256Intermediate] {
            anchors.addIntermediate(try TestAuthority.shared.identity(member).certificate)
        }
        return anchors
    }

    private static func apps(acceptsTestSigned: Bool, _ terms: AppTerms) throws -> [AppPolicy] {
        [
            AppPolicy(
                id: try #require(AppID("demo")),
                bundleID: try #require(BundleID("com.example.demo")),
                environments: [.production, .sandbox],
                acceptsTestSigned: acceptsTestSigned,
                terms: terms
            ),
            AppPolicy(
                id: try #require(AppID("other")),
                bundleID: try #require(BundleID("com.example.other")),
                environments: [.production],
                acceptsTestSigned: acceptsTestSigned
            ),
        ]
    }

    private static func keys(_ apps: [AppPolicy]) -> KeyRing {
        KeyRing([
            Digest.sha256(Array(key.utf8)): APIKey(KeyRing.Holder(name: "shop", app: apps[0].id)),
            Digest.sha256(Array(otherKey.utf8)): APIKey(KeyRing.Holder(name: "other", app: apps[1].id)),
        ])
    }

    /// Runs the recorder while the body does its requests.
    func open<Value: Sendable>(_ body: (TestHouse) async throws -> Value) async throws -> Value {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await recorder.run() }
            group.addTask { await feed.run { await pace.tick() } }
            defer {
                recorder.stop()
                pace.end()
            }
            return try await body(self)
        }
    }

    /// What a start of the server does with what waits.
    func reviewPending() async { await pending.run() }

    /// What a running server does every hour.
    func sweepPending() async { await expiry.sweep() }

    func post(_ body: [UInt8], key: String? = TestHouse.key, fields: HTTPFields = [:]) async -> HTTPResponse {
        var fields = fields
        if fields["Content-Type"] == nil { fields["Content-Type"] = "application/json" }
        if let key { fields["Authorization"] = "Bearer \(key)" }
        return await router.respond(
            to: HTTPRequest(method: .post, path: "/v1/purchases", fields: fields, body: body)
        )
    }

    /// A change of the ledger, with a JSON body.
    func change(
        _ path: String,
        _ body: String = "",
        idempotencyKey: String? = nil,
        key: String = TestHouse.key
    ) async -> HTTPResponse {
        var fields: HTTPFields = ["Authorization": "Bearer \(key)", "Content-Type": "application/json"]
        if let idempotencyKey { fields["Idempotency-Key"] = idempotencyKey }
        return await router.respond(
            to: HTTPRequest(method: .post, path: path, fields: fields, body: Array(body.utf8))
        )
    }

    func submit(
        _ proof: String,
        customer: String = "customer-1",
        order: String? = nil,
        product: String? = nil,
        device: String? = nil,
        key: String = TestHouse.key
    ) async -> HTTPResponse {
        await post(
            JSONWriter.object { json in
                json.member("proof", proof)
                json.member("customer_id", customer)
                json.member("order_id", order)
                json.member("product_id", product)
                json.member("device_id", device)
            },
            key: key
        )
    }

    /// Asks for a stream.
    func follow(query: String? = nil, key: String = TestHouse.key, fields: HTTPFields = [:]) async -> HTTPResponse {
        var fields = fields
        fields["Authorization"] = "Bearer \(key)"
        if fields["Accept"] == nil { fields["Accept"] = "text/event-stream" }
        return await router.respond(to: HTTPRequest(method: .get, path: "/v1/events", query: query, fields: fields))
    }

    func get(_ path: String, query: String? = nil, key: String? = TestHouse.key) async -> HTTPResponse {
        let fields: HTTPFields = key.map { ["Authorization": "Bearer \($0)"] } ?? [:]
        return await router.respond(to: HTTPRequest(method: .get, path: path, query: query, fields: fields))
    }
}

extension HTTPResponse {
    /// The body as JSON, through the strict door.
    func json() throws -> JSONObject {
        try #require(try JSONDocument(body).root.object)
    }

    /// A member of the first transaction in the answer.
    func first(_ member: String) throws -> String? {
        let transactions = try #require(try json()["transactions"]?.array)
        return transactions.first { _ in true }?.object?[member]?.string
    }
}

/// Purchases that the shared authority signs.
enum Sample {
    static func app(_ bundleID: String = "com.example.demo", _ environment: StoreEnvironment = .sandbox) throws
        -> SimulatedApp
    {
        SimulatedApp(bundleID: try #require(BundleID(bundleID)), appleID: 1_234, environment: environment)
    }

    static func transaction(
        _ number: Int64,
        product: String = "com.example.demo.coins",
        revokedAt: Timestamp? = nil,
        signedAt: Timestamp = TestHouse.now
    ) throws -> Transaction {
        let id = try #require(TransactionID(number: number))
        var transaction = Transaction(
            id: id,
            originalID: id,
            product: try #require(ProductID(product)),
            kind: .consumable,
            purchasedAt: TestHouse.now,
            signedAt: signedAt
        )
        transaction.originallyPurchasedAt = TestHouse.now
        transaction.ownership = .purchased
        transaction.revocation = revokedAt.map { Revocation(at: $0, reason: 1) }
        return transaction
    }

    static func jws(
        _ number: Int64,
        product: String = "com.example.demo.coins",
        bundleID: String = "com.example.demo",
        environment: StoreEnvironment = .sandbox,
        revokedAt: Timestamp? = nil,
        signedAt: Timestamp = TestHouse.now
    ) throws -> String {
        let signer = PurchaseSigner(TestAuthority.shared, app: try app(bundleID, environment))
        return try signer.transaction(
            transaction(number, product: product, revokedAt: revokedAt, signedAt: signedAt)
        )
    }
}

extension Sample {
    /// As texts of 2021 are: signed, and silent about the store. Nothing decides it here.
    static func withoutStore(_ number: Int64) throws -> String {
        let signer = PurchaseSigner(TestAuthority.shared, app: try app())
        var payload = Payload.transaction(try transaction(number), of: signer.app)
        payload["environment"] = nil
        return try signer.sign(payload)
    }
}

/// What jobs there are.
final class NotedJobs: Sendable {
    private let noted = Mutex<[String]>([])

    var values: [String] { noted.withLock { $0 } }

    var consumption: ConsumptionQueue {
        ConsumptionQueue { [self] request, _ in note("answer \(request.key.id) \(request.turn)") }
    }

    var support: SupportQueue { SupportQueue { [self] request, _ in note("ask \(request.kind)") } }

    func note(_ job: String) { noted.withLock { $0.append(job) } }
}
