import API
import Crypto
import HTTP
import Pipeline
import PurchaseClient
import PurchaseModel
import Simulation
import Simulator
import Storage
import TestSupport
import Verification

/// The server as apps reach it, in one process and without a socket, and an App Store that signs for it.
final class ClientHouse: Sendable {
    static let key = "pk_test_0123456789abcdef0123456789abcdef"
    static let shopKey = "sk_test_0123456789abcdef0123456789abcdef"
    private static let customerSecret = Array("0123456789abcdef0123456789abcdef".utf8)
    static let app = AppID(checked: "demo")

    let store = MemoryStore()
    let appStore: AppStoreSimulator
    private let clock: ManualClock
    private let signer: StoreSigner
    private let recorder: Recorder
    private let router: Router

    init() throws {
        let clock = ManualClock(Timestamp(seconds: 1_764_590_400))
        self.clock = clock
        var simulated = SimulatedStore(startingAt: clock.now, seed: 1)
        simulated.set(DemoCatalogue.app())
        simulated.set(StoreCustomer(name: "anna", environment: .production))
        appStore = AppStoreSimulator(simulated, authority: TestAuthority.shared, wallClock: clock)
        signer = try StoreSigner(TestAuthority.shared)
        var anchors = try TrustAnchors.apple()
        anchors.addRoot(try TestAuthority.shared.identity(.jwsRoot).certificate)
        let verifier = Verifier(anchors: anchors, bytesMax: 1 << 20)
        let refusals = RefusalLedger()
        recorder = Recorder(store: store, refusals: refusals, clock: clock, uptime: { .zero }) { _ in }
        let intake = NotificationIntake(
            verifier: verifier,
            recorder: recorder,
            store: store,
            refusals: refusals,
            clock: clock
        ) { _ in }
        let app = KeyRing.Holder(name: "ios", app: Self.app)
        let shop = KeyRing.Holder(name: "shop", app: Self.app)
        let parts = APIParts(
            pipeline: PurchasePipeline(
                verifier: verifier,
                recorder: recorder,
                store: store,
                refusals: refusals,
                clock: clock
            ) { _ in },
            notifications: intake,
            store: store,
            apps: [Self.policy],
            keys: KeyRing([
                Digest.sha256(Array(Self.key.utf8)): APIKey(app, kind: .publishable),
                Digest.sha256(Array(Self.shopKey.utf8)): APIKey(shop),
            ]),
            customers: CustomerToken([Self.app: Self.customerSecret]),
            clock: clock,
            metrics: { "" }
        )
        router = routes(parts)
    }

    private static var policy: AppPolicy {
        let pro = EntitlementID(checked: "pro")
        let products = [
            ProductTerms(
                product: DemoCatalogue.product("coins.100"),
                kind: .consumable,
                goods: [.amount(100, CurrencyID(checked: "coins"))]
            ),
            ProductTerms(
                product: DemoCatalogue.product("pro.monthly"),
                kind: .autoRenewable,
                goods: [.entitlement(pro)]
            ),
        ]
        return AppPolicy(
            id: app,
            bundleID: DemoCatalogue.bundleID,
            appleID: DemoCatalogue.appleID,
            environments: [.production],
            acceptsTestSigned: true,
            terms: AppTerms(products: Dictionary(uniqueKeysWithValues: products.map { ($0.product, $0) }))
        )
    }

    /// Runs the recorder while the body does its requests.
    func open<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.recorder.run() }
            defer { recorder.stop() }
            return try await body()
        }
    }

    /// What the shop's server gives an app whose customer has logged in.
    static func token(of customer: String) -> String {
        MessageAuthentication.hmacSHA256(key: customerSecret, message: Array(customer.utf8))
            .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    // MARK: The App Store

    /// Sells, and signs what it has sold.
    func sell(_ product: String) throws -> (id: String, proof: String) {
        clock.advance(by: .milliseconds(1))
        appStore.change { $0.advance(to: clock.now) }
        let purchase = Act.Purchase(
            customer: "anna",
            app: DemoCatalogue.bundleID,
            product: DemoCatalogue.product(product)
        )
        guard case .done(let ids) = try appStore.perform(.buy(purchase)), let id = ids.first else { throw NotSold() }
        let found = appStore.read { store in
            store.transactions[id].flatMap { sold in store.apps[sold.app].map { (sold, $0, store.now) } }
        }
        guard let (sold, app, now) = found else { throw NotSold() }
        return (id.description, try signer.transaction(sold, of: app, at: now))
    }

    struct NotSold: Error {}

    var now: Timestamp { clock.now }

    // MARK: The server

    func answer(_ request: Transport.Request) async -> Transport.Answer {
        let parts = request.target.split(separator: "?", maxSplits: 1)
        var fields: HTTPFields = [:]
        for (name, value) in request.fields { fields[name] = value }
        let response = await router.respond(
            to: HTTPRequest(
                method: HTTPMethod(rawValue: request.method),
                path: String(parts[0]),
                query: parts.count > 1 ? String(parts[1]) : nil,
                fields: fields,
                body: request.body
            )
        )
        var answered: [String: String] = [:]
        for name in ["Retry-After", "ETag", "Content-Type"] { answered[name] = response.fields[name] }
        return Transport.Answer(status: response.status.rawValue, fields: answered, body: response.body)
    }

    /// What the shop reads.
    func get(_ path: String) async -> [UInt8] {
        let fields: HTTPFields = ["Authorization": "Bearer \(Self.shopKey)"]
        return await router.respond(to: HTTPRequest(method: .get, path: path, fields: fields)).body
    }
}
