import API
import Crypto
import HTTP
import Pipeline
import PurchaseModel
import Simulator
import Storage
import TestSupport
import Testing

/// What each route can be brought to answer, and what its description names: neither has a code more.
///
/// A code that is answered and not named is found in every other test, too, by ``DescribedAnswers``.
@Suite struct NamedProblemTests {
    /// What brings a problem about wherever it can be, by its code.
    private enum Cause: String, CaseIterable {
        case query = "invalid_query"
        case mediaType = "unsupported_media_type"
        case body = "invalid_request"
        case idempotencyKey = "invalid_idempotency_key"
        case noKey = "unauthorized"
        case noScope = "scope_missing"
        case noCustomer = "customer_token_invalid"
        case haste = "rate_limited"
        case guessing = "too_many_unknown_keys"
        case closedStore = "stopping"
        case wrongPlace = "not_found"

        /// Who asks.
        var key: String? {
            switch self {
            case .noKey: nil
            case .noScope: "without"
            case .guessing, .closedStore: NamedProblemTests.unknown
            default: TestHouse.key
            }
        }

        /// The key where everybody has it anyway.
        var keyInPath: String {
            switch self {
            case .noKey, .wrongPlace: "x"
            case .noScope: "without"
            case .guessing, .closedStore: NamedProblemTests.unknown
            default: "published"
            }
        }
    }

    private static let remote = HTTPRemote(address: [192, 0, 2, 1], port: 1)
    /// As one that was made here, so that the ledger is asked about it.
    private static let unknown = "sk_live_" + String(repeating: "0", count: 48)
    private static let submission = String(repeating: "0", count: 32)

    /// Good bodies, where one is read before the rest is looked at.
    private static func body(_ route: Route) throws -> [UInt8] {
        if route.template == "/v1/apple/notifications/{token}" {
            let signer = PurchaseSigner(TestAuthority.shared, app: try Sample.app())
            let uuid = "002e14d5-51f5-4503-b5a8-c3a1af68eb20"
            return try signer.notificationBody(Notice(uuid: uuid, type: "TEST", signedAt: TestHouse.now))
        }
        let text =
            switch route.template {
            case "/v1/customers/{id}/granted-entitlements/{entitlement}/grant": #"{"until": null}"#
            case "/v1/transfers": #"{"original_transaction_id": "1", "to_customer_id": "customer-1"}"#
            case "/v1/purchases": #"{"proof": "170000029449420", "customer_id": "customer-1"}"#
            case "/validator", "/validator/{key}":
                #"{"id": "coins", "transaction": {"type": "ios-appstore", "appStoreReceipt": "MIIT"}}"#
            default: route.method == .post ? "{}" : ""
            }
        return Array(text.utf8)
    }

    private static func path(_ template: String, _ cause: Cause) -> String {
        // No id is like this.
        let id = cause == .wrongPlace ? "%C3%A4" : "1"
        return template.replacing("{key}", with: cause.keyInPath)
            .replacing("{token}", with: cause == .wrongPlace ? id : "demo")
            .replacing("{name}", with: cause == .wrongPlace ? id : "revenue")
            .replacing("submissions/{id}", with: "submissions/\(cause == .wrongPlace ? id : submission)")
            .replacing("webhooks/{id}", with: "webhooks/\(cause == .wrongPlace ? id : "whe_1")")
            .replacing(/\{\w+\}/, with: id)
    }

    private static func request(_ route: Route, _ cause: Cause) throws -> HTTPRequest {
        var fields: HTTPFields = ["Content-Type": cause == .mediaType ? "text/plain" : "application/json"]
        // Who has a key of everybody is asked for whom it speaks.
        let key = cause == .noCustomer ? "published" : cause.key
        if let key { fields["Authorization"] = "Bearer \(key)" }
        if cause == .idempotencyKey { fields["Idempotency-Key"] = "with a space" }
        // A key that is limited to some stores sees nothing of the others.
        if cause == .wrongPlace, route.template == "/v1/metrics/overview" {
            fields["Authorization"] = "Bearer sandbox"
        }
        return HTTPRequest(
            method: route.method,
            path: path(route.template, cause),
            query: cause == .query ? "dry_run=true" : nil,
            fields: fields,
            body: cause == .body && route.method == .post ? Array("[".utf8) : try body(route),
            remote: remote
        )
    }

    private static func keys(_ app: AppID) -> KeyRing {
        func digest(_ key: String) -> [UInt8] { Digest.sha256(Array(key.utf8)) }
        func holder(_ name: String) -> KeyRing.Holder { KeyRing.Holder(name: name, app: app) }
        return KeyRing([
            digest(TestHouse.key): APIKey(holder("shop")), digest("without"): APIKey(holder("narrow"), scopes: []),
            digest("published"): APIKey(holder("app"), kind: .publishable),
            digest("sandbox"): APIKey(holder("tester"), environments: [.sandbox]),
        ])
    }

    @Test(arguments: Cause.allCases) private func isNamedExactlyWhereItIsAnswered(cause: Cause) async throws {
        let app = try #require(AppID("demo"))
        let store = MemoryStore()
        let house = try TestHouse(
            store: store,
            requestsPerSecond: cause == .haste ? 1 : 0,
            keys: Self.keys(app),
            customers: CustomerToken([app: Array("secret".utf8)])
        )
        try await house.open { house in
            if cause == .closedStore { await store.close() }
            if cause == .guessing {
                let fields: HTTPFields = ["Authorization": "Bearer nobody"]
                for _ in 0..<600 {
                    let guess = HTTPRequest(method: .get, path: "/v1/app", fields: fields, remote: Self.remote)
                    _ = await house.router.respond(to: guess)
                }
            }
            for route in house.router.routes {
                let request = try Self.request(route, cause)
                if cause == .haste { _ = await house.router.respond(to: request) }
                let code = DescribedAnswers.code(of: await house.router.respond(to: request))
                let named = DescribedAnswers.codes(route.method, route.template)
                // What is wrong with a change of what is not there nobody says.
                if cause == .body, code == Cause.wrongPlace.rawValue, named.contains(cause.rawValue) { continue }
                #expect((code == cause.rawValue) == named.contains(cause.rawValue), "\(route): \(code ?? "none")")
            }
        }
    }

    /// Of all the states of an order those in which a change is refused, and no other.
    @Test(arguments: [
        ("/v1/orders/{id}/cancel", ""),
        ("/v1/orders/{id}/attach", #"{"transaction_id": "7001", "environment": "sandbox", "test_signed": true}"#),
    ])
    func statesOfAnOrderAreNamedWhereTheyRefuse(template: String, body: String) async throws {
        var answered: Set<String> = []
        for state in OrderState.allCases {
            let store = MemoryStore()
            let decision = try Self.placing(state)
            try await TestHouse(store: store).open { house in
                #expect(await house.submit(try Sample.jws(7_001), customer: "ann").status == .ok)
                try await store.write { transaction throws(StoreFailure) in
                    try transaction.apply(decision, evidence: nil)
                }
                let answer = await house.change(template.replacing("{id}", with: "order-1"), body)
                // What no catalogue knows waits on, also with its order.
                if let code = DescribedAnswers.code(of: answer), code.hasPrefix("order_is_") { answered.insert(code) }
            }
        }
        let named = DescribedAnswers.codes(.post, template).filter { $0.hasPrefix("order_is_") }
        #expect(answered == named)
    }

    private static func placing(_ state: OrderState) throws -> Decision {
        let order = Order(
            app: try #require(AppID("demo")),
            id: try #require(OrderID("order-1")),
            customer: try #require(CustomerID("ann")),
            product: try #require(ProductID("com.example.demo.coins")),
            quantity: 1,
            accountToken: nil,
            placedAt: TestHouse.now,
            expiresAt: TestHouse.now.advanced(by: .seconds(60))
        )
        var decision = Decision()
        decision.orders = [
            .insert(Order(order, state: state, changedAt: TestHouse.now, payment: nil, refunded: 0, version: 1))
        ]
        return decision
    }

    /// What the rule about deliveries and the one about corrections by hand never refuse.
    @Test func aDeliveryHasAFenceAndACorrectionNoFloor() async throws {
        let ack = DescribedAnswers.codes(.post, "/v1/deliveries/{id}/ack")
        #expect(ack.contains("stale_fence") && !ack.contains { $0.hasPrefix("purchase_is_") })
        let balance = "/v1/customers/{id}/balances/{currency}"
        #expect(DescribedAnswers.codes(.post, "\(balance)/use").contains("insufficient_balance"))
        #expect(!DescribedAnswers.codes(.post, "\(balance)/adjust").contains("insufficient_balance"))
        try await TestHouse().open { house in
            let answer = await house.change("/v1/customers/ann/balances/gems/adjust", #"{"amount": -5}"#)
            #expect(answer.status == .ok)
        }
    }
}
