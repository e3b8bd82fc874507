import API
import Crypto
import Encoding
import Foundation
import HTTP
import Pipeline
import PurchaseModel
import Simulator
import Storage
import TestSupport
import Testing

/// What a key sees that is for some stores only: every listing and every id of the one store beside keys of the other, and of
/// another app.
@Suite struct SightTests {
    /// What no purchase stands in, or nobody can tell yet of which store it is.
    private static let blind: Set = [
        "/docs", "/docs/{section}", "/v1/signing-keys", "/livez", "/readyz", "/metrics", "/openapi.json",
        "/v1/catalogue", "/v1/certificates", "/v1/keys", "/v1/app", "/v1/jobs",
        "/v1/submissions/{id}", "/v1/customers/{id}/consent", "/verifyReceipt", "/sandbox/verifyReceipt",
    ]
    /// What both customers' things are found by, in any answer about them.
    private static let live = (number: Int64(9_500_001), plan: Int64(9_500_002), loose: Int64(9_500_003))
    private static let test = (number: Int64(9_600_001), plan: Int64(9_600_002), loose: Int64(9_600_003))
    private static let notices = (
        live: "5f1f0a64-3d0b-4d4e-9a4e-2d1bb6b2f3a1", test: "5f1f0a64-3d0b-4d4e-9a4e-2d1bb6b2f3a2"
    )

    private static let granted = "/v1/customers/ann/granted-entitlements"

    private static func terms() throws -> AppTerms {
        let coins = try #require(ProductID("com.example.demo.coins"))
        let pro = try #require(ProductID("com.example.demo.pro"))
        let gems = try #require(CurrencyID("gems"))
        let premium = try #require(EntitlementID("premium"))
        return AppTerms(
            products: [
                coins: ProductTerms(product: coins, kind: .consumable, goods: [.amount(100, gems)]),
                pro: ProductTerms(product: pro, kind: .autoRenewable, goods: [.entitlement(premium)]),
            ],
            sandbox: .everybody(until: Timestamp(milliseconds: .max))
        )
    }

    private static func keys() throws -> KeyRing {
        let (demo, other) = (try #require(AppID("demo")), try #require(AppID("other")))
        func key(_ name: String, _ app: AppID, _ environments: Set<StoreEnvironment>?) -> ([UInt8], APIKey) {
            let holder = KeyRing.Holder(name: name, app: app)
            return (Digest.sha256(Array(name.utf8)), APIKey(holder, environments: environments))
        }
        let keys = [
            key("all", demo, nil), key("live", demo, [.production]), key("test", demo, [.sandbox]),
            key("other", other, nil),
        ]
        return KeyRing(Dictionary(keys, uniquingKeysWith: { first, _ in first }))
    }

    /// One customer with one thing of everything, in one store.
    private static func fill(
        _ house: TestHouse,
        _ environment: StoreEnvironment,
        _ ids: (number: Int64, plan: Int64, loose: Int64),
        notice uuid: String
    ) async throws -> [String: [String]] {
        let signer = PurchaseSigner(TestAuthority.shared, app: try Sample.app("com.example.demo", environment))
        let store = environment.rawValue
        let hook = try await house.change(
            "/v1/webhooks",
            #"{"url": "https://shop.example/\#(store)", "environments": ["\#(store)"], "include_test_signed": true}"#,
            key: "all"
        ).json()
        let order = #"{"order_id": "o-\#(store)", "customer_id": "ann", "product_id": "com.example.demo.coins"}"#
        #expect(await house.change("/v1/orders", order, key: "all").status == .created)
        let coins = try signer.transaction(try Sample.transaction(ids.number))
        #expect(await house.submit(coins, customer: "ann", order: "o-\(store)", key: "all").status == .ok)
        var plan = try Sample.transaction(ids.plan, product: "com.example.demo.pro")
        plan.kind = .autoRenewable
        plan.expiresAt = TestHouse.now.advanced(by: .seconds(86_400))
        #expect(await house.submit(try signer.transaction(plan), customer: "ann", key: "all").status == .ok)
        // Told by Apple, and nobody's: it waits.
        for (type, number, id) in [
            ("ONE_TIME_CHARGE", ids.loose, uuid), ("CONSUMPTION_REQUEST", ids.number, uuid + "c"),
        ] {
            var told = Notice(uuid: id, type: type, signedAt: TestHouse.now)
            told.transaction = try Sample.transaction(number)
            let sent = await house.send(try signer.notificationBody(told), to: "/v1/apple/notifications/demo")
            #expect(sent.status == .ok)
        }
        try await JobRouteTests.giveUpLook(at: ids.plan, in: environment, house)
        let extend = #"{"days": 1, "environment": "\#(store)"}"#
        let asked = try await house.change("/v1/apple/subscriptions/\(ids.plan)/extend", extend, key: "all").json()
        let gift = #"{"until": null, "environment": "\#(store)", "test_signed": true, "reason": "\#(ids.number)"}"#
        #expect(await house.change("\(granted)/premium/grant", gift, key: "all").status == .ok)
        let webhook = try #require(hook["webhook_id"]?.string)
        let event = try #require(
            try await house.get("/v1/events", query: "environment=\(store)&test_signed=true", key: "all").json()[
                "events"
            ]?
            .array?.first { _ in true }?.object?["event"]?.object?["data"]?.object?["event_id"]?.string
        )
        return [
            "/v1/transactions/{id}": ["/v1/transactions/\(ids.number)"],
            "/v1/subscriptions/{id}": ["/v1/subscriptions/\(ids.plan)"],
            "/v1/deliveries/{id}": ["/v1/deliveries/dlv_\(ids.number).\(store).test"],
            "/v1/orders/{id}": ["/v1/orders/o-\(store)"],
            "/v1/notifications/{id}": ["/v1/notifications/\(uuid).\(store).test"],
            "/v1/consumption-requests/{id}": ["/v1/consumption-requests/\(uuid)c.\(store).test"],
            "/v1/apple/requests/{id}": ["/v1/apple/requests/\(try #require(asked["id"]?.string))"],
            "/v1/webhooks/{id}": ["/v1/webhooks/\(webhook)"],
            "/v1/webhooks/{id}/deliveries": ["/v1/webhooks/\(webhook)/deliveries"],
            "/v1/webhooks/{id}/deliveries/{event}": ["/v1/webhooks/\(webhook)/deliveries/\(event)"],
            "/v1/metrics/overview": ["/v1/metrics/overview?environment=\(store)&test_signed=true"],
            "/v1/charts/{name}": ["/v1/charts/purchases?environment=\(store)&test_signed=true"],
            "/v1/customers/{id}/balances/{currency}/postings": [
                "/v1/customers/ann/balances/gems/postings?environment=\(store)&test_signed=true"
            ],
        ]
    }

    private static let listings: [String: String] = [
        "/v1/purchases/waiting": "/v1/purchases/waiting",
        "/v1/customers/{id}/transactions": "/v1/customers/ann/transactions", "/v1/orders": "/v1/orders",
        "/v1/customers/{id}/subscriptions": "/v1/customers/ann/subscriptions",
        "/v1/customers/{id}/entitlements": "/v1/customers/ann/entitlements",
        "/v1/customers/{id}/granted-entitlements": granted,
        "/v1/customers/{id}/balances": "/v1/customers/ann/balances", "/v1/notifications": "/v1/notifications",
        "/v1/notifications/figures": "/v1/notifications/figures",
        "/v1/consumption-requests": "/v1/consumption-requests",
        "/v1/apple/requests": "/v1/apple/requests", "/v1/events": "/v1/events", "/v1/webhooks": "/v1/webhooks",
        "/v1/jobs/dead": "/v1/jobs/dead",
    ]

    private static func get(_ house: TestHouse, _ path: String, _ key: String) async -> (HTTPStatus, String) {
        let parts = path.split(separator: "?").map(String.init)
        let answer = await house.get(parts[0], query: parts.count > 1 ? parts[1] : nil, key: key)
        return (answer.status, String(decoding: answer.body, as: UTF8.self))
    }

    /// Whether figures are all zero: what was bought in the other app is not among them.
    private static func comesToNothing(_ text: String) -> Bool {
        if text.contains(#""purchases":"#) {
            return text.contains(#""purchases":0,"#) && text.contains(#""revenue":[]"#)
        }
        let lines = text.components(separatedBy: #""values":["#).dropFirst()
        return !lines.isEmpty
            && lines.allSatisfy { line in
                line.prefix { $0 != "]" }.split(separator: ",").allSatisfy { $0 == "0" || $0 == "null" }
            }
    }

    @Test func everyReadKeepsToTheStoresOfItsKey() async throws {
        try await TestHouse(terms: Self.terms(), keys: Self.keys()).open { house in
            let live = try await Self.fill(house, .production, Self.live, notice: Self.notices.live)
            let test = try await Self.fill(house, .sandbox, Self.test, notice: Self.notices.test)
            let templates = Set(house.router.routes.filter { $0.method == .get }.map(\.template))
            #expect(Set(live.keys).union(Self.listings.keys).union(Self.blind) == templates)
            // Marks of the one store that no answer to a key of the other may have in it.
            let marks = (live: [#""production""#, "950000"], test: [#""sandbox""#, "960000"])
            for (template, paths) in live {
                for (path, mine, others) in [(paths[0], "live", ["test", "other"])]
                    + (test[template] ?? []).map({ ($0, "test", ["live", "other"]) })
                {
                    for key in ["all", mine] { #expect(await Self.get(house, path, key).0 == .ok, "\(key) \(path)") }
                    for key in others {
                        let (status, text) = await Self.get(house, path, key)
                        // Another app has no such balance: no postings, and that is all that is said. Its figures are
                        // its own.
                        let isEmpty = status == .ok && (text == #"{"postings":[]}"# || Self.comesToNothing(text))
                        #expect(status == .notFound || isEmpty, "\(key) \(path): \(text)")
                    }
                }
            }
            for (template, path) in Self.listings {
                let (all, _) = await Self.get(house, path, "all")
                #expect(all == .ok, "\(template)")
                for (key, foreign, own) in [("live", marks.test, marks.live), ("test", marks.live, marks.test)] {
                    let (status, text) = await Self.get(house, path, key)
                    #expect(status == .ok, "\(template)")
                    #expect(!foreign.contains { text.contains($0) }, "\(key) \(template): \(text)")
                    // What would find nothing anywhere shows nothing.
                    let isThere = own.contains { text.contains($0) }
                    #expect(isThere || template == "/v1/notifications/figures", "\(key) \(template): \(text)")
                }
                let (_, foreign) = await Self.get(house, path, "other")
                #expect(!(marks.live + marks.test).contains { foreign.contains($0) }, "other \(template): \(foreign)")
            }
        }
    }

    /// What is counted tells no more than what is listed: neither by the other store's name, nor under no store's.
    @Test(arguments: ChartName.allCases)
    func noFigureTellsOfAnotherStore(name: ChartName) async throws {
        try await TestHouse(terms: Self.terms(), keys: Self.keys()).open { house in
            _ = try await Self.fill(house, .production, Self.live, notice: Self.notices.live)
            let path = "/v1/charts/\(name.rawValue)?currency=USD&test_signed=true"
            let live = path + "&environment=production"
            let test = path + "&environment=sandbox"
            #expect(await Self.get(house, live, "all").0 == .ok)
            #expect(await Self.get(house, live, "test").0 == .notFound)
            // Orders are counted together, whatever has paid them.
            for (path, key) in [(live, "live"), (test, "test")] {
                #expect(await Self.get(house, path, key).0 == (name.hasRealm ? .ok : .notFound), "\(key)")
            }
            let (status, text) = await Self.get(house, test, "test")
            #expect(status == .notFound || Self.comesToNothing(text), "\(text)")
        }
    }

    /// What a key for other stores may not bring is as good as ever for who may.
    @Test func whatOneKeyMayNotBringAnotherMay() async throws {
        try await TestHouse(keys: Self.keys()).open { house in
            let proof = try Sample.jws(9_700_001, environment: .production)
            #expect(await house.submit(proof, key: "test").status == .unprocessableContent)
            #expect(await house.submit(proof, key: "live").status == .ok)
            #expect(await house.submit(proof, key: "test").status == .unprocessableContent)
        }
    }

    /// What a webhook was sent before it was narrowed stands in its log, and what of it is dead would be sent to the address
    /// that somebody gives it.
    @Test func aWebhookThatWasForAnotherStoreStaysOutOfSight() async throws {
        try await TestHouse(terms: Self.terms(), keys: Self.keys()).open { house in
            let live = try await Self.fill(house, .production, Self.live, notice: Self.notices.live)
            let hook = try #require(live["/v1/webhooks/{id}"]?.first)
            let both = await house.change(hook, #"{"environments": ["production", "sandbox"]}"#, key: "all")
            #expect(both.status == .ok)
            let narrowed = try await house.change(hook, #"{"environments": ["sandbox"]}"#, key: "all").json()
            #expect(narrowed["environments"]?.array?.compactMap(\.string) == ["sandbox"])
            let log = try #require(live["/v1/webhooks/{id}/deliveries"]?.first)
            let delivery = try #require(live["/v1/webhooks/{id}/deliveries/{event}"]?.first)
            for path in [hook, log, delivery] {
                #expect(await Self.get(house, path, "test").0 == .notFound, "\(path)")
                #expect(await Self.get(house, path, "all").0 == .ok, "\(path)")
            }
            #expect(await Self.get(house, "/v1/webhooks", "test").1 == #"{"webhooks":[]}"#)
            for (path, body) in [
                (hook, #"{"url": "https://elsewhere.example/"}"#), (hook, #"{"asymmetric": true}"#),
                ("\(hook)/replay", #"{"dead": true}"#), ("\(hook)/rotate", ""), ("\(hook)/delete", ""),
            ] {
                #expect(await house.change(path, body, key: "test").status == .notFound, "\(path) \(body)")
            }
        }
    }

    /// A page is filled with what the key sees, and its place is that of the last of it: another store's stands before, in
    /// between and behind.
    @Test func noPlaceNamesAnotherStoresRow() async throws {
        try await TestHouse(terms: Self.terms(), keys: Self.keys()).open { house in
            let stores = ["production", "sandbox", "production", "sandbox", "production"]
            let asked = try stores.enumerated().map { number, store in
                SupportRequest(
                    app: try #require(AppID("demo")),
                    id: try #require(SupportRequestID("ask_\(store)\(number)")),
                    kind: "extend",
                    askedBy: "all",
                    askedAt: house.clock.now.advanced(by: .seconds(Int64(number))),
                    question: Array(#"{"environment": "\#(store)"}"#.utf8)
                )
            }
            try await house.store.write { write throws(StoreFailure) in
                for request in asked { try write.put(request) }
            }
            for (key, expected) in [
                ("live", ["ask_production4", "ask_production2", "ask_production0"]),
                ("test", ["ask_sandbox3", "ask_sandbox1"]),
                ("all", ["ask_production4", "ask_sandbox3", "ask_production2", "ask_sandbox1", "ask_production0"]),
            ] {
                var (ids, place) = ([String](), "")
                repeat {
                    let page = try await house.get("/v1/apple/requests", query: "limit=1\(place)", key: key).json()
                    let listed = page["requests"]?.array.map(Array.init) ?? []
                    #expect(listed.count == 1, "\(key) \(place)")
                    ids += listed.compactMap { $0.object?["id"]?.string }
                    let next = page["next"]?.string
                    #expect(next.map { $0.hasSuffix(ids.last ?? "?") } ?? true, "\(key): \(next ?? "")")
                    place = next.map { "&after=\($0)" } ?? ""
                } while !place.isEmpty && ids.count < 9
                #expect(ids == expected, "\(key)")
            }
        }
    }

    /// The same of lists that go by numbers: of another store's neither is one told, nor is it taken for a place.
    @Test func noPlaceNamesAnotherStoresPurchase() async throws {
        var terms = try Self.terms()
        terms.needsOrder = true
        try await TestHouse(terms: terms, keys: Self.keys()).open { house in
            let stores: [StoreEnvironment] = [.production, .sandbox, .production, .sandbox, .production]
            for (number, store) in stores.enumerated() {
                let signer = PurchaseSigner(TestAuthority.shared, app: try Sample.app("com.example.demo", store))
                let coins = try signer.transaction(try Sample.transaction(9_700_000 + Int64(number)))
                #expect(await house.submit(coins, customer: "ann", key: "all").status == .ok)
            }
            let hers = "/v1/customers/ann/transactions"
            let waiting = "/v1/purchases/waiting"
            let lists = [(waiting, "purchases", "delivery_id"), (hers, "transactions", "transaction_id")]
            for (path, member, name) in lists {
                for (key, rows) in [("live", [0, 2, 4]), ("test", [1, 3]), ("all", [0, 1, 2, 3, 4])] {
                    var (ids, place) = ([String](), "")
                    repeat {
                        let page = try await house.get(path, query: "limit=1\(place)", key: key).json()
                        let listed = page[member]?.array.map(Array.init) ?? []
                        #expect(listed.count == 1, "\(key) \(path) \(place)")
                        for row in listed {
                            let id = try #require(row.object?[name]?.string)
                            ids.append(id.filter(\.isNumber))
                        }
                        let next = page["next"]?.string
                        #expect(next.map { $0.contains(ids.last ?? "?") } ?? true, "\(key): \(next ?? "")")
                        place = next.map { "&after=\($0)" } ?? ""
                    } while !place.isEmpty && ids.count < 9
                    let expected = (path == hers ? rows.reversed() : rows).map { "970000\($0)" }
                    #expect(ids == expected, "\(key) \(path)")
                }
            }
            for (key, status) in [("live", HTTPStatus.badRequest), ("test", .ok), ("all", .ok)] {
                let page = await house.get(hers, query: "after=9700001.sandbox.test", key: key)
                #expect(page.status == status, "\(key)")
            }
        }
    }

    /// What is not seen is not changed.
    @Test func noChangeReachesAnotherStore() async throws {
        try await TestHouse(terms: Self.terms(), keys: Self.keys()).open { house in
            let live = try await Self.fill(house, .production, Self.live, notice: Self.notices.live)
            let hook = try #require(live["/v1/webhooks/{id}"]?.first)
            let consumption = try #require(live["/v1/consumption-requests/{id}"]?.first)
            let delivery = try #require(live["/v1/deliveries/{id}"]?.first)
            let store = #""environment": "production", "test_signed": true"#
            let rows: [(path: String, body: String, status: HTTPStatus)] = [
                ("\(delivery)/ack", #"{"fence": 1}"#, .notFound),
                (
                    "/v1/orders/o-production/attach", #"{"transaction_id": "\#(Self.live.loose)", \#(store)}"#,
                    .notFound
                ),
                ("/v1/customers/ann/balances/gems/use", #"{"amount": 1, \#(store)}"#, .notFound),
                ("/v1/customers/ann/balances/gems/adjust", #"{"amount": 1, \#(store)}"#, .notFound),
                ("\(Self.granted)/premium/grant", "{\"until\": null, \(store)}", .notFound),
                ("\(Self.granted)/premium/revoke", "{\(store)}", .notFound),
                (
                    "/v1/transfers",
                    #"{"original_transaction_id": "\#(Self.live.plan)", "to_customer_id": "bob", \#(store)}"#, .notFound
                ),
                ("\(consumption)/answer", "", .notFound), ("\(consumption)/decline", "", .notFound),
                (hook, #"{"concurrency": 2}"#, .notFound), ("\(hook)/rotate", "", .notFound),
                ("\(hook)/replay", #"{"dead": true}"#, .notFound), ("\(hook)/delete", "", .notFound),
                ("/v1/webhooks", #"{"url": "https://shop.example/x", "environments": ["production"]}"#, .badRequest),
                ("/v1/webhooks", #"{"url": "https://shop.example/x"}"#, .badRequest),
                ("/v1/apple/subscriptions/\(Self.live.plan)/extend", #"{"days": 1}"#, .notFound),
                ("/v1/apple/subscriptions/extend", #"{"product_id": "pro", "days": 1}"#, .badRequest),
                ("/v1/apple/orders/MABC/lookup", "", .notFound), ("/v1/jobs/job_production/retry", "", .notFound),
            ]
            for row in rows {
                let answer = await house.change(row.path, row.body, key: "test")
                #expect(answer.status == row.status, "\(row.path): \(String(decoding: answer.body, as: UTF8.self))")
                let other = await house.change(row.path, row.body, key: "other")
                if row.path.utf8.count > 12, row.status == .notFound, !row.path.contains("balances") {
                    #expect([.notFound, .conflict].contains(other.status), "\(row.path)")
                }
            }
        }
    }

    /// What customers have bought elsewhere under the same name neither pays for it nor is told of.
    @Test func anOrderOfOneStoreIsNotPaidOutOfAnother() async throws {
        var terms = try Self.terms()
        terms.needsOrder = true
        try await TestHouse(terms: terms, keys: Self.keys()).open { house in
            let signer = PurchaseSigner(TestAuthority.shared, app: try Sample.app("com.example.demo", .production))
            let coins = try signer.transaction(try Sample.transaction(9_700_001))
            #expect(await house.submit(coins, customer: "ann", key: "live").status == .ok)
            func place(_ id: String, _ key: String) async -> HTTPResponse {
                let order = #"{"order_id": "\#(id)", "customer_id": "ann", "product_id": "com.example.demo.coins"}"#
                return await house.change("/v1/orders", order, key: key)
            }
            let staged = await place("st-1", "test")
            #expect(staged.status == .created)
            #expect(try staged.json()["state"]?.string == "pending")
            let real = await place("o-1", "live")
            #expect(try real.json()["state"]?.string == "paid")
            let again = await place("o-1", "test")
            #expect(again.status == .conflict && !String(decoding: again.body, as: UTF8.self).contains("9700001"))
            #expect(try await place("o-1", "live").json()["state"]?.string == "paid")
        }
    }
}
