import API
import Crypto
import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage
import Testing
import TestSupport

/// Who reaches what: every route beside every kind of key.
@Suite struct AccessTests {
    /// What needs no key: the rest must.
    private static let open: Set = [
        "GET /docs", "GET /docs/{section}", "GET /v1/signing-keys", "GET /livez", "GET /readyz", "GET /metrics",
        "GET /openapi.json", "POST /v1/apple/notifications/{token}",
        // Their keys stand where their protocols have them: VerifyReceiptTests, ValidatorTests.
        "POST /verifyReceipt", "POST /sandbox/verifyReceipt", "POST /validator/{key}",
        // Browsers show none before they know whether they may.
        "OPTIONS /validator", "OPTIONS /validator/{key}",
        // They say that nothing was asked.
        "GET /verifyReceipt", "GET /sandbox/verifyReceipt",
    ]
    /// What a publishable key reaches.
    private static let published: Set = [
        "POST /validator", "POST /v1/purchases", "GET /v1/catalogue", "GET /v1/submissions/{id}",
        "GET /v1/customers/{id}/transactions",
        "GET /v1/customers/{id}/subscriptions", "GET /v1/customers/{id}/entitlements",
        "GET /v1/customers/{id}/balances", "GET /v1/customers/{id}/balances/{currency}/postings",
    ]

    /// A key of each scope alone, and a publishable one.
    private static func ring(_ app: AppID) -> KeyRing {
        var keys: [[UInt8]: APIKey] = [:]
        for scope in Scope.allCases {
            let holder = KeyRing.Holder(name: scope.rawValue, app: app)
            keys[Digest.sha256(Array("only-\(scope.rawValue)".utf8))] = APIKey(holder, scopes: [scope])
        }
        let holder = KeyRing.Holder(name: "app", app: app)
        keys[Digest.sha256(Array("published".utf8))] = APIKey(holder, kind: .publishable)
        return KeyRing(keys)
    }

    private static func status(_ route: Route, _ key: String?, _ house: TestHouse) async -> HTTPStatus {
        var fields: HTTPFields = ["Content-Type": "application/json"]
        if let key { fields["Authorization"] = "Bearer \(key)" }
        let path = route.template.replacing("{id}", with: "x").replacing("{token}", with: "x")
            .replacing("{currency}", with: "gold").replacing("{event}", with: "evt_1").replacing("{key}", with: "x")
            .replacing("{section}", with: "keys").replacing("{name}", with: "mrr")
        let body = route.method == .post ? Array("{}".utf8) : []
        return await house.router.respond(
            to: HTTPRequest(method: route.method, path: path, fields: fields, body: body)
        ).status
    }

    @Test func withoutAKeyOnlyWhatIsOpenAnswers() async throws {
        try await TestHouse(keys: Self.ring(try #require(AppID("demo")))).open { house in
            for route in house.router.routes where !Self.open.contains("\(route.method.rawValue) \(route.template)") {
                for key in [nil, "no-key"] {
                    #expect(await Self.status(route, key, house) == .unauthorized, "\(route)")
                }
            }
        }
    }

    /// Each route is opened by one scope, or by the one that holds it; a key without it is told so, and nothing else.
    @Test func everyRouteIsOpenedByItsScopeAlone() async throws {
        try await TestHouse(keys: Self.ring(try #require(AppID("demo")))).open { house in
            for route in house.router.routes where !Self.open.contains("\(route.method.rawValue) \(route.template)") {
                var opening: Set<Scope> = []
                for scope in Scope.allCases
                where await Self.status(route, "only-\(scope.rawValue)", house) != .forbidden {
                    opening.insert(scope)
                }
                #expect(
                    [[.submit], [.customer, .read], [.read], [.write], [.webhooks], [.sign], [.keys], [.validator]]
                        .contains(opening),
                    "\(route): \(opening)"
                )
                #expect(route.method == .get || !opening.contains(.read), "\(route) changes something")
            }
        }
    }

    @Test func aPublishableKeyReachesWhatAnAppNeeds() async throws {
        try await TestHouse(keys: Self.ring(try #require(AppID("demo")))).open { house in
            for route in house.router.routes {
                let name = "\(route.method.rawValue) \(route.template)"
                let isReached = await Self.status(route, "published", house) != .forbidden
                #expect(isReached == (Self.published.contains(name) || Self.open.contains(name)), "\(name)")
            }
        }
    }

    /// Nobody reads another app's things by their ids: not there is all that is said.
    @Test func anotherAppsThingsAreNotThere() async throws {
        try await TestHouse().open { house in
            #expect(await house.submit(try Sample.jws(9_100)).status == .ok)
            _ = await house.change(
                "/v1/orders",
                #"{"order_id": "o-1", "customer_id": "customer-1", "product_id": "pro"}"#
            )
            let key = try await house.change("/v1/keys", #"{"name": "k", "kind": "secret"}"#).json()
            let keyID = try #require(key["key_id"]?.string)
            for path in ["/v1/transactions/9100", "/v1/orders/o-1", "/v1/subscriptions/9100"] {
                #expect(await house.get(path, key: TestHouse.otherKey).status == .notFound, "\(path)")
            }
            for path in ["/v1/orders/o-1/cancel", "/v1/keys/\(keyID)/revoke", "/v1/keys/\(keyID)/rotate"] {
                #expect(await house.change(path, key: TestHouse.otherKey).status == .notFound, "\(path)")
            }
            let listed = try await house.get("/v1/customers/customer-1/transactions", key: TestHouse.otherKey).json()
            #expect(listed["transactions"]?.array?.count == 0)
        }
    }

    // MARK: For whom a publishable key speaks

    private static let secret = Array("0123456789abcdef0123456789abcdef".utf8)

    private static func token(_ customer: String) -> String {
        Hexadecimal.encode(MessageAuthentication.hmacSHA256(key: secret, message: Array(customer.utf8)))
    }

    /// The token's form is a contract with shops: `openssl dgst -sha256 -hmac` makes the same.
    @Test func theTokenIsWhatOpenSSLMakesOfTheCustomersID() throws {
        let tool = try OpenSSLTool()
        defer { tool.remove() }
        let file = try tool.write(Array("customer-1".utf8), as: "customer")
        let made = try tool.run(["dgst", "-sha256", "-hmac", String(decoding: Self.secret, as: UTF8.self), file])
        #expect(made.text.contains("= \(Self.token("customer-1"))\n"))
    }

    /// An import may have kept it for nobody: then it is told to no customer.
    @Test func whatWaitsForNobodyIsToldToTheShopAlone() async throws {
        let app = try #require(AppID("demo"))
        let store = MemoryStore()
        let pending = PendingSubmission(
            id: try #require(SubmissionID([UInt8](repeating: 0xA8, count: 16))),
            app: app,
            digest: try #require(ProofDigest([UInt8](repeating: 8, count: 32))),
            format: "transaction_id",
            proof: Array("41".utf8),
            customer: nil,
            order: nil,
            reason: "only_an_id",
            receivedAt: TestHouse.now
        )
        let id = try await store.write { write throws(StoreFailure) in try write.keepPending(pending).id }
        for (secrets, status) in [([:], HTTPStatus.ok), ([app: Self.secret], .notFound)] {
            let house = try TestHouse(store: store, keys: Self.ring(app), customers: CustomerToken(secrets))
            try await house.open { house in
                let path = "/v1/submissions/\(Hexadecimal.encode(id.bytes))"
                #expect(await house.get(path, key: "only-submit").status == .ok)
                var fields: HTTPFields = ["Authorization": "Bearer published"]
                fields["Assay-Customer-Token"] = Self.token("")
                let asked = HTTPRequest(method: .get, path: path, fields: fields)
                #expect(await house.router.respond(to: asked).status == status)
            }
        }
    }

    @Test(arguments: [
        ("customer-1", HTTPStatus.ok), ("customer-2", .forbidden), ("", .forbidden),
    ])
    func whoSpeaksForACustomerShowsIt(named: String, status: HTTPStatus) async throws {
        let app = try #require(AppID("demo"))
        let house = try TestHouse(keys: Self.ring(app), customers: CustomerToken([app: Self.secret]))
        try await house.open { house in
            var fields: HTTPFields = ["Authorization": "Bearer published", "Content-Type": "application/json"]
            if !named.isEmpty { fields["Assay-Customer-Token"] = Self.token(named) }
            let read = HTTPRequest(method: .get, path: "/v1/customers/customer-1/entitlements", fields: fields)
            #expect(await house.router.respond(to: read).status == status)
            let body = JSONWriter.object { json in
                json.member("proof", (try? Sample.jws(9_200)) ?? "")
                json.member("customer_id", "customer-1")
            }
            let submit = HTTPRequest(method: .post, path: "/v1/purchases", fields: fields, body: body)
            #expect(await house.router.respond(to: submit).status == status)
            // What becomes of what waits is that customer's, too.
            let waits = await house.submit("170000029449420", key: "only-submit")
            let path = try #require(waits.fields["Location"])
            let asked = HTTPRequest(method: .get, path: path, query: "wait=20", fields: fields)
            let told = await house.router.respond(to: asked)
            // Nobody else is told that it is there.
            #expect(told.status == (status == .ok ? .ok : .notFound))
            if status != .ok {
                let unknown = path.prefix(path.count - 4) + "0000"
                let nothing = HTTPRequest(method: .get, path: String(unknown), query: "wait=20", fields: fields)
                #expect(try told.json()["code"]?.string == "not_found")
                #expect(await house.router.respond(to: nothing).body == told.body)
            }
            #expect(await house.get(path, key: "only-submit").status == .ok)
            // A secret key speaks for all of them.
            let mine = await house.get("/v1/customers/customer-1/entitlements", key: "only-read")
            #expect(mine.status == .ok)
        }
    }
}
