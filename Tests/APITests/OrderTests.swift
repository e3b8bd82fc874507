import Encoding
import HTTP
import PurchaseModel
import Simulator
import Storage
import Testing
import TestSupport

/// Orders, what they lead to, and what the shop says of it: over the API, with proofs that the simulator signs.
@Suite struct OrderTests {
    static func terms(needsOrder: Bool = true) throws -> AppTerms {
        let coins = try #require(ProductID("com.example.demo.coins"))
        let gems = try #require(CurrencyID("gems"))
        let premium = try #require(EntitlementID("premium"))
        return AppTerms(
            products: [
                coins: ProductTerms(
                    product: coins,
                    kind: .consumable,
                    goods: [.amount(100, gems), .entitlement(premium)]
                )
            ],
            needsOrder: needsOrder,
            sandbox: .everybody(until: Timestamp(milliseconds: .max)),
            allowsNegativeBalance: false
        )
    }

    static let order =
        #"{"order_id": "o-1", "customer_id": "ann", "product_id": "com.example.demo.coins"}"#
    private static let delivery = "dlv_2000000000000001.sandbox.test"

    static func purchase(revokedAt: Timestamp? = nil, signedAt: Timestamp = TestHouse.now) throws -> String {
        try Sample.jws(2_000_000_000_000_001, revokedAt: revokedAt, signedAt: signedAt)
    }

    @Test func anOrderIsPlacedPaidDeliveredAndRefunded() async throws {
        try await TestHouse(terms: Self.terms()).open { house in
            let placed = await house.change("/v1/orders", Self.order)
            #expect(placed.status == .created)
            #expect(try placed.json()["state"]?.string == "pending")
            #expect(await house.change("/v1/orders", Self.order).status == .created)
            let paid = await house.submit(try Self.purchase(), customer: "ann")
            let fulfilment = try #require(
                try paid.json()["transactions"]?.array?.first { _ in true }?.object?["fulfilment"]?.object
            )
            #expect(fulfilment["state"]?.string == "granted")
            #expect(fulfilment["order_id"]?.string == "o-1")
            #expect(fulfilment["delivery_id"]?.string == Self.delivery)
            #expect(try await house.get("/v1/orders/o-1").json()["state"]?.string == "paid")
            let again = await house.change("/v1/deliveries/\(Self.delivery)/ack", #"{"fence": 1}"#)
            #expect(try again.json()["delivery"]?.string == "acknowledged")
            #expect(try await house.get("/v1/orders/o-1").json()["state"]?.string == "delivered")
            #expect(try await Self.balance(in: house) == 100)
            #expect(try await Self.entitlements(in: house) == ["premium"])
            house.clock.advance(by: .seconds(60))
            let refund = try Self.purchase(revokedAt: house.clock.now, signedAt: house.clock.now)
            #expect(await house.submit(refund, customer: "ann").status == .ok)
            #expect(try await house.get("/v1/orders/o-1").json()["state"]?.string == "refunded")
            #expect(try await Self.balance(in: house) == 0)
            #expect(try await Self.entitlements(in: house) == [])
            let stale = await house.change("/v1/deliveries/\(Self.delivery)/ack", #"{"fence": 1}"#)
            #expect(stale.status == .conflict)
            #expect(try stale.json()["code"]?.string == "stale_fence")
            #expect(try stale.json()["fence"]?.int64 == 2)
            #expect(
                try await Self.types(in: house) == [
                    "order.placed", "order.paid", "delivery.granted", "delivery.acknowledged", "order.delivered",
                    "order.refunded", "delivery.compensated",
                ]
            )
        }
    }

    private static func balance(in house: TestHouse) async throws -> Int64? {
        let balances = try await house.get("/v1/customers/ann/balances").json()["balances"]?.array
        return balances?.first { _ in true }?.object?["balance"]?.int64
    }

    private static func entitlements(in house: TestHouse) async throws -> [String] {
        let all = try await house.get("/v1/customers/ann/entitlements").json()["entitlements"]?.array
        return all?.compactMap { $0.object?["entitlement"]?.string } ?? []
    }

    private static func types(in house: TestHouse) async throws -> [String] {
        let events = try await house.get("/v1/events").json()["events"]?.array
        return events?.compactMap { $0.object?["event"]?.object?["type"]?.string } ?? []
    }

    @Test func whatWaitsIsListedAndAttachedByHand() async throws {
        try await TestHouse(terms: Self.terms()).open { house in
            _ = await house.submit(try Self.purchase(), customer: "ann")
            let waiting = try await house.get("/v1/purchases/waiting").json()["purchases"]?.array
            #expect(waiting?.compactMap { $0.object?["reason"]?.string } == ["no_order"])
            let other = Self.order.replacing("ann", with: "bob")
            #expect(await house.change("/v1/orders", other).status == .created)
            let body = #"{"transaction_id": "2000000000000001", "environment": "sandbox", "test_signed": true}"#
            let refused = await house.change("/v1/orders/o-1/attach", body)
            #expect(try refused.json()["code"]?.string == "does_not_fit")
            #expect(await house.change("/v1/orders/o-1/cancel").status == .ok)
            let second = Self.order.replacing("o-1", with: "o-2")
            #expect(await house.change("/v1/orders", second).status == .created)
            #expect(try await house.get("/v1/orders/o-2").json()["state"]?.string == "paid")
            #expect(try await house.get("/v1/purchases/waiting").json()["purchases"]?.array?.count == 0)
        }
    }

    /// Its order comes too late, as after a restore: a person has it paid, and nothing is delivered a second time.
    @Test func whatWasGivenWithoutAnOrderIsAttachedByHand() async throws {
        try await TestHouse(terms: Self.terms(needsOrder: false)).open { house in
            _ = await house.submit(try Self.purchase(), customer: "ann")
            #expect(await house.change("/v1/deliveries/\(Self.delivery)/ack", #"{"fence": 1}"#).status == .ok)
            #expect(try await house.change("/v1/orders", Self.order).json()["state"]?.string == "pending")
            let body = #"{"transaction_id": "2000000000000001", "environment": "sandbox", "test_signed": true}"#
            let paid = try await house.change("/v1/orders/o-1/attach", body).json()
            #expect(paid["state"]?.string == "delivered")
            let delivery = try await house.get("/v1/deliveries/\(Self.delivery)").json()
            #expect(delivery["order_id"]?.string == "o-1" && delivery["fence"]?.int64 == 1)
            #expect(try await Self.balance(in: house) == 100)
            house.clock.advance(by: .seconds(60))
            let refund = try Self.purchase(revokedAt: house.clock.now, signedAt: house.clock.now)
            #expect(await house.submit(refund, customer: "ann").status == .ok)
            #expect(try await house.get("/v1/orders/o-1").json()["state"]?.string == "refunded")
            #expect(try await Self.balance(in: house) == 0)
            #expect(
                try await Self.types(in: house) == [
                    "delivery.granted", "delivery.acknowledged", "order.placed", "order.paid", "order.delivered",
                    "order.refunded", "delivery.compensated",
                ]
            )
        }
    }

    /// Each row: a path, a body, and the status and code of the refusal.
    @Test(arguments: [
        ("/v1/orders", #"{"order_id": "o-1", "customer_id": "ann"}"#, 400, "invalid_request"),
        ("/v1/orders", #"{"order_id": "o-1", "customer_id": "ann", "product_id": "other"}"#, 400, "invalid_request"),
        ("/v1/orders", #"{"order_id": "o 1", "customer_id": "ann", "product_id": "p"}"#, 400, "invalid_request"),
        ("/v1/orders", #"{"order": "o-1"}"#, 400, "invalid_request"),
        ("/v1/orders", "[]", 400, "invalid_request"),
        ("/v1/orders/o-9/cancel", "", 404, "not_found"),
        ("/v1/orders/o-9/attach", #"{"transaction_id": "1"}"#, 404, "not_found"),
        ("/v1/orders/o-9/attach", #"{"transaction_id": "x"}"#, 400, "invalid_request"),
        ("/v1/orders/o-9/attach", #"{"transaction_id": "1", "overrule_account_token": 1}"#, 400, "invalid_request"),
        ("/v1/deliveries/dlv_1.production/ack", #"{"fence": 1}"#, 404, "not_found"),
        ("/v1/deliveries/dlv_1.production/ack", #"{"fence": 0}"#, 400, "invalid_request"),
        ("/v1/deliveries/nothing/ack", #"{"fence": 1}"#, 404, "not_found"),
        ("/v1/customers/ann/balances/gems/use", #"{"amount": 1}"#, 409, "insufficient_balance"),
        ("/v1/customers/ann/balances/gems/use", #"{"amount": -1}"#, 400, "invalid_request"),
        ("/v1/customers/ann/balances/gems/adjust", #"{"amount": 0}"#, 400, "invalid_request"),
        ("/v1/customers/ann/balances/gmes/adjust", #"{"amount": 1}"#, 409, "unknown_currency"),
        ("/v1/transfers", #"{"original_transaction_id": "1", "to_customer_id": "bob"}"#, 404, "not_found"),
        ("/v1/transfers", #"{"to_customer_id": "bob"}"#, 400, "invalid_request"),
    ])
    func aBadRequestIsRefusedWithItsReason(path: String, body: String, status: Int, code: String) async throws {
        try await TestHouse(terms: Self.terms()).open { house in
            let answer = await house.change(path, body)
            let problem = try answer.json()
            #expect(answer.status.rawValue == status)
            #expect(problem["code"]?.string == code)
            let currencies = problem["currencies"]?.array?.compactMap(\.string)
            #expect(currencies == (code == "unknown_currency" ? ["gems"] : nil))
            #expect(body != #"{"amount": 0}"# || problem["field"]?.string == "amount")
            #expect(answer.fields["Retry-After"] == nil)
            #expect(try await Self.types(in: house) == [])
        }
    }

    @Test func theSameKeyGetsTheSameAnswerOnce() async throws {
        try await TestHouse(terms: Self.terms()).open { house in
            let path = "/v1/customers/ann/balances/gems/adjust"
            let first = await house.change(path, #"{"amount": 10}"#, idempotencyKey: "k-1")
            let again = await house.change(path, #"{"amount": 10}"#, idempotencyKey: "k-1")
            #expect(first.status == .ok)
            #expect(again.body == first.body)
            #expect(again.fields["Idempotent-Replayed"] == "true")
            let other = await house.change(path, #"{"amount": 11}"#, idempotencyKey: "k-1")
            let problem = try other.json()
            #expect(other.status == .conflict)
            #expect(problem["code"]?.string == "idempotency_key_reused")
            #expect(try await Self.balance(in: house) == 10)
            let anothers = await house.change(path, #"{"amount": 11}"#, idempotencyKey: "k-1", key: TestHouse.otherKey)
            #expect(anothers.status == .ok)
            let bad = await house.change(path, #"{"amount": 10}"#, idempotencyKey: "k 1")
            #expect(try bad.json()["code"]?.string == "invalid_idempotency_key")
            #expect(try await Self.balance(in: house) == 10)
        }
    }

    @Test(arguments: 0..<5)
    func theSameProofTwiceAtOnceUnderAKeyIsAnsweredAlike(turn: Int) async throws {
        try await TestHouse(terms: Self.terms(needsOrder: false)).open { (house) async throws in
            let body = #"{"customer_id": "ann", "proof": "\#(try Self.purchase())"}"#
            let answers = await withTaskGroup(of: HTTPResponse.self) { group in
                for _ in 0..<4 { group.addTask { await house.change("/v1/purchases", body, idempotencyKey: "k") } }
                return await group.reduce(into: [HTTPResponse]()) { $0.append($1) }
            }
            #expect(answers.map(\.status) == Array(repeating: .ok, count: 4))
            #expect(Set(answers.map(\.body)).count == 1)
            #expect(try await Self.balance(in: house) == 100)
        }
    }

    @Test func theSameKeyGetsTheSameAnswerForAProof() async throws {
        try await TestHouse(terms: Self.terms(needsOrder: false)).open { house in
            let body = #"{"customer_id": "ann", "proof": "\#(try Self.purchase())"}"#
            let first = await house.change("/v1/purchases", body, idempotencyKey: "k-1")
            #expect(try first.json()["result"]?.string == "recorded")
            let again = await house.change("/v1/purchases", body, idempotencyKey: "k-1")
            #expect(again.body == first.body)
            #expect(again.fields["Idempotent-Replayed"] == "true")
            // Without the key, or under another one, it is known by now.
            let other = await house.change("/v1/purchases", body, idempotencyKey: "k-2")
            #expect(try other.json()["result"]?.string == "already_recorded")
            let reused = await house.change(
                "/v1/purchases",
                #"{"customer_id": "bob", "proof": "x"}"#,
                idempotencyKey: "k-1"
            )
            #expect(try reused.json()["code"]?.string == "idempotency_key_reused")
            #expect(try await Self.balance(in: house) == 100)
        }
    }

    @Test func anAppSeesNothingOfAnothers() async throws {
        try await TestHouse(terms: Self.terms()).open { house in
            _ = await house.change("/v1/orders", Self.order)
            _ = await house.submit(try Self.purchase(), customer: "ann")
            let paths = ["/v1/orders/o-1", "/v1/deliveries/\(Self.delivery)", "/v1/transactions/2000000000000001"]
            for path in paths {
                #expect(await house.get(path).status == .ok)
                #expect(await house.get(path, key: TestHouse.otherKey).status == .notFound)
            }
            let lists = [("/v1/orders", "orders"), ("/v1/events", "events"), ("/v1/purchases/waiting", "purchases")]
            for (path, member) in lists {
                #expect(try await house.get(path, key: TestHouse.otherKey).json()[member]?.array?.count == 0)
            }
            let balances = await house.get("/v1/customers/ann/balances", key: TestHouse.otherKey)
            #expect(try balances.json()["balances"]?.array?.count == 0)
        }
    }

    @Test func aDryRunOfATransferWritesNothing() async throws {
        try await TestHouse(terms: Self.terms(needsOrder: false)).open { house in
            _ = await house.submit(try Self.purchase(), customer: "ann")
            let body =
                #"{"original_transaction_id": "2000000000000001", "to_customer_id": "bob", "#
                + #""environment": "sandbox", "test_signed": true, "dry_run": "#
            let dry = await house.change("/v1/transfers", body + "true}")
            #expect(try dry.json()["from_customer_id"]?.string == "ann")
            #expect(try await Self.entitlements(in: house) == ["premium"])
            #expect(await house.change("/v1/transfers", body + "false}").status == .ok)
            #expect(try await Self.entitlements(in: house) == [])
            #expect(try await Self.types(in: house).suffix(2) == ["customer.transferred", "customer.transferred"])
        }
    }

    /// Who has it by now has it in his list, and is not told who had it before.
    @Test func whatWasMovedIsListedWithoutWhoHadIt() async throws {
        try await TestHouse(terms: Self.terms(needsOrder: false)).open { house in
            _ = await house.submit(try Self.purchase(), customer: "ann")
            func listed(_ customer: String) async throws -> [JSONObject] {
                let answer = await house.get("/v1/customers/\(customer)/transactions")
                #expect(answer.status == .ok)
                return try #require(answer.json()["transactions"]?.array).compactMap(\.object)
            }
            #expect(try await listed("ann").map { $0["customer_id"]?.string } == ["ann"])
            #expect(try await listed("bob").isEmpty)
            let body =
                #"{"original_transaction_id": "2000000000000001", "to_customer_id": "bob", "#
                + #""environment": "sandbox", "test_signed": true}"#
            #expect(await house.change("/v1/transfers", body).status == .ok)
            #expect(try await listed("ann").isEmpty)
            let his = try await listed("bob")
            #expect(his.map { $0["transaction_id"]?.string } == ["2000000000000001"])
            #expect(his.map { $0["customer_id"] == nil } == [true])
            let given = his.first?["fulfilment"]?.object
            #expect(given?["state"]?.string == "granted" && given?["customer_id"] == nil)
            // The shop is told of each who.
            let one = try await house.get("/v1/transactions/2000000000000001").json()
            let whole = one["transactions"]?.array?[0]?.object
            #expect(whole?["customer_id"]?.string == "ann")
            #expect(whole?["fulfilment"]?.object?["customer_id"]?.string == "ann")
        }
    }

    /// Page by page, whoever showed it first, and also what Apple told of before anybody did.
    @Test func whatWasMovedIsListedToItsEnd() async throws {
        try await TestHouse(terms: Self.terms(needsOrder: false)).open { house in
            for number in Int64(2_000_000_000_000_001)...2_000_000_000_000_003 {
                _ = await house.submit(try Sample.jws(number), customer: "ann")
                let body =
                    #"{"original_transaction_id": "\#(number)", "to_customer_id": "bob", "#
                    + #""environment": "sandbox", "test_signed": true}"#
                #expect(await house.change("/v1/transfers", body).status == .ok)
            }
            var (listed, place): ([String?], String?) = ([], nil)
            repeat {
                let query = "limit=1" + (place.map { "&after=\($0)" } ?? "")
                let answer = await house.get("/v1/customers/bob/transactions", query: query)
                #expect(answer.status == .ok)
                let page = try answer.json()
                listed += try #require(page["transactions"]?.array).map { $0.object?["transaction_id"]?.string }
                place = page["next"]?.string
            } while place != nil && listed.count < 9
            #expect(listed == ["2000000000000003", "2000000000000002", "2000000000000001"])
        }
    }

    @Test func theFeedGoesOnWhereItWasLeft() async throws {
        try await TestHouse(terms: Self.terms()).open { house in
            for number in 1...5 {
                _ = await house.change("/v1/orders", Self.order.replacing("o-1", with: "o-\(number)"))
            }
            let first = try await house.get("/v1/events", query: "limit=2").json()
            #expect(first["has_more"]?.bool == true)
            let next = try #require(first["next"]?.int64)
            let rest = try await house.get("/v1/events", query: "after=\(next)").json()
            #expect(rest["events"]?.array?.count == 3)
            #expect(rest["has_more"]?.bool == false)
            let none = try await house.get("/v1/events", query: "types=order.paid").json()
            #expect(none["events"]?.array?.count == 0)
            #expect(await house.get("/v1/events", query: "after=x").status == .badRequest)
            #expect(await house.get("/v1/events", query: "unknown=1").status == .badRequest)
        }
    }
}

extension String {
    /// Every occurrence of a text of ASCII.
    fileprivate func replacing(_ old: String, with new: String) -> String {
        var (rest, result) = (Array(utf8)[...], [UInt8]())
        let wanted = Array(old.utf8)
        while let first = rest.first {
            if rest.starts(with: wanted) {
                result += Array(new.utf8)
                rest = rest.dropFirst(wanted.count)
            } else {
                result.append(first)
                rest = rest.dropFirst()
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
