import Crypto
import Encoding
import HTTP
import PurchaseModel
import Simulator
import Synchronization
import TestSupport
import Testing

/// A merchant's app in a simulated store, some customers, and a client of the Server API.
struct Shop {
    static let key = generated()
    static let otherKey = generated()
    static let keyID = "ABCDEFGHIJ"
    static let issuer = "57246542-96fe-1a63-e053-0824d011072a"
    static let bundleID = TestAuthority.bundleID
    static let otherBundleID = BundleID(checked: "com.example.other")
    static let group = "21456789"

    let clock = ManualClock(TestAuthority.moment)
    let simulator: AppStoreSimulator
    let router: Router
    private let sent = Outbox()

    /// What was sent, as somebody who delivers would keep it.
    final class Outbox: Sendable {
        let notices = Mutex<[SentNotice]>([])
    }

    init(_ options: ServerAPI.Options = ServerAPI.Options(), seed: UInt64 = 1) throws {
        var store = SimulatedStore(startingAt: TestAuthority.moment, seed: seed)
        for bundleID in [Shop.bundleID, Shop.otherBundleID] { store.set(Shop.app(bundleID)) }
        for name in ["anna", "member"] { store.set(StoreCustomer(name: name, environment: .sandbox)) }
        store.set(StoreCustomer(name: "berta", environment: .production))
        simulator = AppStoreSimulator(store, authority: TestAuthority.shared, wallClock: clock)
        let sent = sent
        let notices = SentNotices(
            all: { app, environment in
                sent.notices.withLock { $0.filter { $0.notice.app == app && $0.notice.environment == environment } }
            },
            one: { _, _, uuid in sent.notices.withLock { $0.first { $0.notice.uuid == uuid } } }
        )
        router = Router(try ServerAPI(simulator, sent: notices, options: options).routes)
    }

    private static func app(_ bundleID: BundleID) -> StoreApp {
        var app = StoreApp(
            bundleID: bundleID,
            appleID: 1_234_567_890,
            issuerID: issuer,
            sharedSecret: "0123456789abcdef0123456789abcdef"
        )
        app.apiKeys[keyID] = (bundleID == Shop.bundleID ? key : otherKey).publicKey
        app.sandboxNotifications = NotificationTarget(url: "https://merchant.example/apple")
        for product in [
            product("month", .autoRenewable, 4_990, level: 2), product("year", .autoRenewable, 49_990, level: 1),
            product("coins", .consumable, 990), product("door", .nonConsumable, 2_990),
            product("season", .nonRenewing, 9_990), trial,
        ] {
            app.products[product.id] = product
        }
        return app
    }

    private static func product(_ name: String, _ kind: ProductKind, _ price: Int64, level: Int = 1) -> StoreProduct {
        var product = StoreProduct(
            id: ProductID(checked: name),
            kind: kind,
            appleID: 6_440_000_000 + price,
            price: Price(milliunits: price, currency: "USD")
        )
        if kind == .autoRenewable {
            product.group = group
            product.level = level
            product.period = name == "year" ? .year : .month
        }
        product.isFamilyShareable = kind == .autoRenewable || kind == .nonConsumable
        return product
    }

    /// In a group of its own, free for a week, and with an offer for who left.
    private static var trial: StoreProduct {
        var trial = product("trial", .autoRenewable, 1_990)
        trial.group = "30000001"
        let free = Price(milliunits: 0, currency: "USD")
        let back = Price(milliunits: 990, currency: "USD")
        trial.offers = [
            StoreOffer(kind: .introductory, identifier: "intro", mode: .freeTrial, period: .week, price: free),
            StoreOffer(kind: .winBack, identifier: "back", mode: .payAsYouGo, period: .month, price: back),
        ]
        return trial
    }

    private static func generated() -> PrivateKey {
        do { return try PrivateKey(generate: .p256) } catch { preconditionFailure("no key: \(error)") }
    }
}

// MARK: The store's side

extension Shop {
    @discardableResult
    func buy(_ product: String, by customer: String = "anna", app: BundleID = Shop.bundleID) throws -> TransactionID {
        let purchase = Act.Purchase(customer: customer, app: app, product: ProductID(checked: product))
        guard case .done(let ids) = try simulator.perform(.buy(purchase)), let id = ids.last else {
            throw ShopFault.nothingBought
        }
        return id
    }

    func pass(_ duration: Duration) {
        simulator.change { store in store.advance(to: store.steadyNow.advanced(by: duration)) }
    }

    func refund(_ id: TransactionID) throws {
        _ = try simulator.perform(.decideRefund(id, .full))
    }

    /// Delivers what has not been sent yet, each notice with these results, a second apart.
    func deliver(_ results: [SentNotice.Result] = [.success], isLost: Bool = false) {
        let notices = simulator.read(\.notices)
        sent.notices.withLock { sent in
            for notice in notices.dropFirst(sent.count) {
                let attempts = results.enumerated().map { index, result in
                    SentNotice.Attempt(at: notice.at.advanced(by: .seconds(Int64(index))), result: result)
                }
                let number = sent.count
                let text = "a.b.\(number)"
                sent.append(
                    SentNotice(notice, number: number, signedPayload: text, attempts: attempts, isLost: isLost)
                )
            }
        }
    }

    func subscription(_ product: String = "month", of customer: String = "anna") -> Act.Subscription {
        Act.Subscription(customer: customer, app: Shop.bundleID, product: ProductID(checked: product))
    }

    enum ShopFault: Error { case nothingBought, noObject }
}

// MARK: The merchant's side

extension Shop {
    /// Claims and header of a token that is right at the moment of the shop's clock.
    struct Token {
        var header: [String: Payload.Value] = [
            "alg": .text("ES256"), "kid": .text(Shop.keyID), "typ": .text("JWT"),
        ]
        var claims: [String: Payload.Value]
        var key = Shop.key
        var signature: (([UInt8]) -> [UInt8])?

        init(at now: Timestamp = TestAuthority.moment) {
            let seconds = now.milliseconds / 1_000
            claims = [
                "iss": .text(Shop.issuer), "iat": .number(seconds), "exp": .number(seconds + 300),
                "aud": .text("appstoreconnect-v1"), "bid": .text(Shop.bundleID.text),
            ]
        }

        func text() throws -> String {
            let parts = [header, claims].map { members in
                var payload = Payload()
                for (key, value) in members.sorted(by: { $0.key < $1.key }) { payload[key] = value }
                return String(decoding: Base64.encode(payload.json, .url, isPadded: false), as: UTF8.self)
            }
            let input = Array(parts.joined(separator: ".").utf8)
            let made = try key.signES256(input)
            let signed = Base64.encode(signature?(made) ?? made, .url, isPadded: false)
            return String(decoding: input + [UInt8(ascii: ".")] + signed, as: UTF8.self)
        }
    }

    func call(
        _ method: HTTPMethod,
        _ path: String,
        query: String? = nil,
        body: String = "",
        in environment: StoreEnvironment = .sandbox,
        token: Token? = nil
    ) async throws -> HTTPResponse {
        let text = try (token ?? Token(at: clock.now)).text()
        let request = HTTPRequest(
            method: method,
            path: "/\(environment)" + path,
            query: query,
            fields: ["Authorization": "Bearer " + text],
            body: Array(body.utf8)
        )
        return await router.respond(to: request)
    }

    /// A good answer's object.
    func object(
        _ method: HTTPMethod,
        _ path: String,
        query: String? = nil,
        body: String = "",
        in environment: StoreEnvironment = .sandbox
    ) async throws -> JSONObject {
        let response = try await call(method, path, query: query, body: body, in: environment)
        #expect(response.status == .ok, "\(path) \(String(decoding: response.body, as: UTF8.self))")
        #expect(response.fields["Content-Type"] == "application/json")
        return try response.object()
    }

    /// The error code of an answer; checks that the answer is an error as Apple writes one.
    func code(
        _ method: HTTPMethod,
        _ path: String,
        query: String? = nil,
        body: String = "",
        in environment: StoreEnvironment = .sandbox
    ) async throws -> Int? {
        let response = try await call(method, path, query: query, body: body, in: environment)
        guard response.status.rawValue >= 300 else { return nil }
        let object = try response.object()
        let code = try #require(object["errorCode"]?.int64.map(Int.init))
        #expect(response.status.rawValue == code / 10_000)
        #expect(object["errorMessage"]?.string == ServerAPIError(rawValue: code)?.message)
        #expect(object.count == 2)
        return code
    }
}

extension HTTPResponse {
    func object() throws -> JSONObject {
        guard let object = try JSONDocument(body).root.object else { throw Shop.ShopFault.noObject }
        return object
    }
}

extension JSONObject {
    var names: [String] { members.map(\.key) }

    func flag(_ key: String) throws -> Bool {
        guard let flag = self[key]?.bool else { throw Shop.ShopFault.noObject }
        return flag
    }

    /// The payload of a signed text; the text's form is checked, not its signature.
    func payload(_ key: String) throws -> JSONObject { try JSONObject.payload(self[key]?.string) }

    func payloads(_ key: String) throws -> [JSONObject] {
        try #require(self[key]?.array).map { try JSONObject.payload($0.string) }
    }

    static func payload(_ token: String?) throws -> JSONObject {
        let parts = try #require(token).utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        #expect(parts.count == 3)
        let bytes = try Base64.decode(Array(parts[1]), .url, padding: .forbidden)
        return try #require(try JSONDocument(bytes).root.object)
    }
}
