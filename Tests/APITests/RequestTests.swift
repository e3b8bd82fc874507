import Encoding
import HTTP
import PurchaseModel
import Storage
import Synchronization
import Testing

@Suite struct RequestTests {
    /// Bodies that are no request, each with the member that is at fault.
    static let bad: [(body: String, field: String?)] = [
        ("", nil), ("{", nil), ("[]", nil), ("null", nil), (#"{"proof":"x","customer_id":"c"} x"#, nil),
        (#"{"proof":"x","proof":"y","customer_id":"c"}"#, nil), ("\u{FEFF}{}", nil),
        (#"{"proof":"x\u0000","customer_id":"c"}"#, nil),
        (#"{"customer_id":"c"}"#, "proof"), (#"{"proof":1,"customer_id":"c"}"#, "proof"),
        (#"{"proof":"x"}"#, "customer_id"), (#"{"proof":"x","customer_id":""}"#, "customer_id"),
        (#"{"proof":"x","customer_id":"a b"}"#, "customer_id"),
        ("{\"proof\":\"x\",\"customer_id\":\"a\u{301}\"}", "customer_id"),
        (#"{"proof":"x","customer_id":"c","order_id":7}"#, "order_id"),
        (#"{"proof":"x","customer_id":"."}"#, "customer_id"), (#"{"proof":"x","customer_id":".."}"#, "customer_id"),
        (#"{"proof":"x","customer_id":"c","order_id":".."}"#, "order_id"),
        (#"{"proof":"x","customer_id":"c","device_id":"00"}"#, "device_id"),
        (#"{"proof":"x","customer_id":"c","orderid":"7"}"#, "orderid"),
    ]

    @Test(arguments: bad) func aBadBodyIsToldWhatIsWrong(row: (body: String, field: String?)) async throws {
        try await TestHouse().open { house in
            let answer = await house.post(Array(row.body.utf8))
            #expect(answer.status == .badRequest)
            let json = try answer.json()
            #expect(json["code"]?.string == "invalid_request")
            #expect(json["field"]?.string == row.field)
        }
    }

    /// A member that is not known must not be passed over where nothing can be taken back, a `dry_run` in the wrong place.
    @Test(arguments: ["x", "[]", #"{"dry_run": true}"#])
    func whatNeedsNoBodyTakesNoOther(body: String) async throws {
        try await TestHouse().open { house in
            let order = #"{"order_id": "o-1", "customer_id": "ann", "product_id": "pro"}"#
            #expect(await house.change("/v1/orders", order).status == .created)
            let made = try await house.change("/v1/keys", #"{"name": "k", "kind": "secret"}"#).json()
            let key = try #require(made["key_id"]?.string)
            let hook = try await house.change("/v1/webhooks", #"{"url": "https://shop.example/x"}"#).json()
            let webhook = try #require(hook["webhook_id"]?.string)
            let paths = ["orders/o-1/cancel", "keys/\(key)/revoke", "webhooks/\(webhook)/delete"]
            for path in paths {
                let answer = await house.change("/v1/\(path)", body)
                #expect(answer.status == .badRequest, "\(path)")
                let problem = try answer.json()
                #expect(problem["code"]?.string == "invalid_request")
            }
            let kept = try await house.get("/v1/orders/o-1").json()
            #expect(kept["state"]?.string == "pending")
            for path in paths { #expect(await house.change("/v1/\(path)", "{}").status == .ok) }
        }
    }

    /// It would own what all those buy whose names were lost.
    @Test func whatStandsForNobodyIsNoCustomerAndNoToken() async throws {
        try await TestHouse().open { house in
            for name in ["null", "UNDEFINED", "00000000-0000-0000-0000-000000000000"] {
                let bought = await house.post(Array(#"{"proof": "x", "customer_id": "\#(name)"}"#.utf8))
                #expect(bought.status == .badRequest)
                let problem = try bought.json()
                #expect(problem["field"]?.string == "customer_id")
                let order = #"{"order_id": "null", "customer_id": "\#(name)", "product_id": "pro"}"#
                let ordered = await house.change("/v1/orders", order)
                #expect(try ordered.json()["field"]?.string == "customer_id")
                let moved = #"{"original_transaction_id": "1", "to_customer_id": "\#(name)"}"#
                let transferred = await house.change("/v1/transfers", moved)
                #expect(try transferred.json()["field"]?.string == "to_customer_id")
                #expect(await house.get("/v1/customers/\(name)/entitlements").status == .ok)
            }
            let token = "00000000-0000-0000-0000-000000000000"
            let order =
                #"{"order_id": "o-1", "customer_id": "ann", "product_id": "pro", "app_account_token": "\#(token)"}"#
            let refused = await house.change("/v1/orders", order)
            #expect(refused.status == .badRequest)
            #expect(try refused.json()["field"]?.string == "app_account_token")
        }
    }

    /// Nor does it come to be one by what is given to it. What was given before may be taken back.
    @Test func whatStandsForNobodyIsGivenNothing() async throws {
        try await TestHouse().open { house in
            for name in ["undefined", "NULL"] {
                let place = "/v1/customers/\(name)"
                let given: [(path: String, body: String)] = [
                    ("\(place)/granted-entitlements/pro/grant", #"{"until": null}"#),
                    ("\(place)/balances/gold/adjust", #"{"amount": 5}"#), ("\(place)/consent", #"{"is_given": true}"#),
                ]
                for (path, body) in given {
                    let answer = await house.change(path, body)
                    #expect(answer.status == .badRequest, "\(path)")
                    let problem = try answer.json()
                    #expect(problem["code"]?.string == "invalid_request")
                    #expect(problem["field"]?.string == "id")
                    #expect(problem["detail"]?.string?.contains("no word for nothing") == true)
                    #expect(await house.change(path.replacing(name, with: "ann"), body).status != .badRequest)
                }
                let taken: [(path: String, body: String)] = [
                    ("\(place)/granted-entitlements/pro/revoke", "{}"),
                    ("\(place)/balances/gold/use", #"{"amount": 5}"#),
                    ("\(place)/balances/gold/adjust", #"{"amount": -5}"#),
                    ("\(place)/consent", #"{"is_given": false}"#),
                ]
                for (path, body) in taken {
                    #expect(await house.change(path, body).status != .badRequest, "\(path)")
                }
            }
        }
    }

    /// Under such a name nothing could be asked for later: the step is taken out of a path before it reaches anybody.
    @Test func whatNoPathCanNameIsNoName() async throws {
        try await TestHouse().open { house in
            for name in [".", ".."] {
                let orders = [
                    (#"{"order_id": "\#(name)", "customer_id": "ann", "product_id": "pro"}"#, "order_id"),
                    (#"{"order_id": "o-1", "customer_id": "\#(name)", "product_id": "pro"}"#, "customer_id"),
                ]
                for (body, field) in orders {
                    let answer = await house.change("/v1/orders", body)
                    #expect(answer.status == .badRequest)
                    #expect(try answer.json()["field"]?.string == field)
                    let detail = try #require(try answer.json()["detail"]?.string)
                    #expect(detail.contains("neither . nor .."))
                }
                let moved = #"{"original_transaction_id": "1", "to_customer_id": "\#(name)"}"#
                let answer = await house.change("/v1/transfers", moved)
                #expect(try answer.json()["field"]?.string == "to_customer_id")
                let encoded = name.replacing(".", with: "%2E")
                for path in ["/v1/customers/\(encoded)/entitlements", "/v1/orders/\(encoded)"] {
                    #expect(await house.get(path).status == .badRequest, "\(path)")
                }
            }
            // Products are in no path, and Apple names them.
            let odd = #"{"order_id": "...", "customer_id": ".a", "product_id": ".."}"#
            #expect(await house.change("/v1/orders", odd).status == .created)
            #expect(await house.get("/v1/orders/...").status == .ok)
        }
    }

    @Test(arguments: [nil, "", "short", "sk_test_0123456789abcdef0123456789abcdeF", TestHouse.key + " "])
    func withoutAKnownKeyThereIsNothing(key: String?) async throws {
        try await TestHouse().open { house in
            for answer in [
                await house.post([], key: key), await house.get("/v1/transactions/1", key: key),
                await house.get("/v1/customers/c/transactions", key: key),
                await house.get("/v1/submissions/1", key: key),
            ] {
                #expect(answer.status == .unauthorized)
                #expect(answer.fields["WWW-Authenticate"] == "Bearer")
            }
        }
    }

    @Test func twoAuthorizationFieldsAreNone() async throws {
        try await TestHouse().open { house in
            var fields: HTTPFields = ["Authorization": "Bearer \(TestHouse.key)"]
            fields.append("Authorization", "Bearer \(TestHouse.key)")
            let request = HTTPRequest(method: .get, path: "/v1/transactions/1", fields: fields)
            #expect(await house.router.respond(to: request).status == .unauthorized)
        }
    }

    @Test(arguments: [
        ("application/json", true), ("Application/JSON; charset=utf-8", true), ("text/plain", false),
        ("application/x-www-form-urlencoded", false), ("application/jsonp", false), ("", false),
        ("application/json;charset=UTF-8", true), ("application/json; CharSet=\"Utf-8\"", true),
        ("application/json ; version=1 ;\tcharset=utf8", true), ("application/json;", true),
        ("application/json; note=\"; charset=utf-16\"", true), ("application/json; charsets=utf-16", true),
        ("application/json; note=\"\\\"; charset=utf-16\"; charset=utf-8", true),
        ("application/json; charset=utf-16", false), ("application/json;charset=\"UTF-16\"", false),
        ("application/json; charset=iso-8859-1", false), ("application/json; version=1; charset=utf-32", false),
        ("application/json; note=\"\\\\\"; charset=utf-16", false), ("application/json; charset=", false),
        ("application/json; charset=utf-8; charset=utf-16", false), ("application/json; charset", false),
        ("application/json; charset=\"utf-8", false), ("application/json; note=\"; charset=utf-16", false),
        ("application/json; charset=utf-8 utf-16", false), ("application/json; charset=us-ascii", true),
        ("application/json;charset=\"US-ASCII\"", true), ("application/json; charset=us-ascii-1", false),
        ("application/json; charset=us-ascii; charset=utf-16", false),
    ])
    func onlyJSONIsTaken(type: String, isTaken: Bool) async throws {
        try await TestHouse().open { house in
            let answer = await house.post(Array("{}".utf8), fields: ["Content-Type": type])
            #expect(answer.status == (isTaken ? .badRequest : .unsupportedMediaType))
        }
    }

    /// `identity` says that nothing was done to it.
    @Test(arguments: [
        ("gzip", false), ("identity, gzip", false), ("identity", true), ("Identity", true), ("", false),
    ])
    func aCompressedBodyIsNotTaken(coding: String, isTaken: Bool) async throws {
        try await TestHouse().open { house in
            let answer = await house.post(
                Array("{}".utf8),
                fields: ["Content-Type": "application/json", "Content-Encoding": coding]
            )
            #expect(answer.status == (isTaken ? .badRequest : .unsupportedMediaType))
        }
    }

    @Test func whoAsksTooOftenWaitsAndIsThenLetIn() async throws {
        try await TestHouse(requestsPerSecond: 2).open { house in
            #expect(await house.get("/v1/transactions/1").status == .notFound)
            #expect(await house.get("/v1/transactions/1").status == .notFound)
            let answer = await house.get("/v1/transactions/1")
            #expect(answer.status == .tooManyRequests)
            #expect(answer.fields["Retry-After"] == "1")
            #expect(await house.get("/v1/transactions/1", key: TestHouse.otherKey).status == .notFound)
            house.clock.advance(by: .milliseconds(500))
            #expect(await house.get("/v1/transactions/1").status == .notFound)
            #expect(await house.get("/v1/transactions/1").status == .tooManyRequests)
        }
    }

    @Test(arguments: ["limit=1", "limit=500", "after=1.sandbox.test&limit=500", "limit=2&after=1.sandbox.test", ""])
    func aListingTakesALimitAndAPlace(query: String) async throws {
        try await TestHouse().open { house in
            _ = await house.submit(try Sample.jws(1))
            #expect(await house.get("/v1/customers/customer-1/transactions", query: query).status == .ok)
        }
    }

    @Test(arguments: [
        (
            "limit",
            [
                "limit=0", "limit=501", "limit=x", "limit=%3", "limit=%zz", "limit=%C3", "limit=%2B5", "limit=+5",
                "limit=-5",
                "limit=05", "limit=", "limit=1=1",
            ]
        ),
        (
            "after",
            [
                "after=-1", "after=1", "after=1.sandbox", "after=2.sandbox.test", "after=1.sandbox.test.", "after=",
                "after=01.sandbox.test", "after=1.Sandbox.test", "after=1..test", "after=1.sandbox.test&limit=5&after=",
            ]
        ),
        ("twice", ["limit=5&limit=5", "limit=5&limit=6", "after=1.sandbox.test&after=1.sandbox.test"]),
        ("nothing else", ["order=asc", "limit", "&", "limit=5&", "LIMIT=5", "limit%3D5"]),
    ])
    func aListingsQueryIsReadStrictly(reason: String, queries: [String]) async throws {
        try await TestHouse().open { house in
            _ = await house.submit(try Sample.jws(1))
            for query in queries {
                let answer = await house.get("/v1/customers/customer-1/transactions", query: query)
                #expect(answer.status == .badRequest, "\(query)")
                #expect(try answer.json()["code"]?.string == "invalid_query", "\(query)")
                #expect(try answer.json()["detail"]?.string?.contains(reason) == true, "\(query)")
            }
        }
    }

    @Test func aListingGoesOnWhereThePageEnded() async throws {
        try await TestHouse().open { house in
            for number in 1...5 { _ = await house.submit(try Sample.jws(Int64(number))) }
            var seen: [String] = []
            var query = "limit=2"
            while true {
                let page = try await house.get("/v1/customers/customer-1/transactions", query: query).json()
                for element in try #require(page["transactions"]?.array) {
                    seen.append(try #require(element.object?["transaction_id"]?.string))
                }
                guard let next = page["next"]?.string else { break }
                query = "limit=2&after=\(next)"
            }
            #expect(seen == ["5", "4", "3", "2", "1"])
        }
    }

    @Test func aFailingStoreIsNeverTheClientsFault() async throws {
        let store = MemoryStore()
        try await TestHouse(store: store).open { house in
            await store.close()
            let answer = await house.submit(try Sample.jws(7))
            #expect(answer.status == .serviceUnavailable)
            #expect(answer.fields["Retry-After"] != nil)
            #expect(try answer.json()["retryable"]?.bool == true)
            #expect(await house.get("/readyz", key: nil).status == .serviceUnavailable)
            #expect(await house.get("/livez", key: nil).status == .ok)
        }
    }

    @Test func aLedgerThatTakesNoWritesIsNotReady() async throws {
        try await TestHouse(store: ReadOnlyStore()).open { house in
            #expect(await house.get("/readyz", key: nil).status == .serviceUnavailable)
        }
        try await TestHouse().open { house in
            #expect(await house.get("/readyz", key: nil).status == .ok)
        }
    }

    @Test func aLedgerWhoseDatabaseIsAwayIsToldApartFromABusyOne() async throws {
        try await TestHouse(store: ReadOnlyStore(failure: .unreachable)).open { house in
            let answer = await house.get("/readyz", key: nil)
            #expect(answer.status == .serviceUnavailable && answer.fields["Retry-After"] == "1")
            let json = try answer.json()
            #expect(json["code"]?.string == "database_unreachable")
        }
    }

    /// Also when nobody has tried to record anything since it was full.
    @Test func aLedgerWithoutRoomIsNotReady() async throws {
        let store = RoomlessStore()
        try await TestHouse(store: store).open { house in
            let answer = await house.get("/readyz", key: nil)
            #expect(answer.status == .serviceUnavailable && answer.fields["Retry-After"] == "60")
            let json = try answer.json()
            #expect(json["code"]?.string == "storage_full")
            await store.lookForRoom()
            #expect(await house.get("/readyz", key: nil).status == .ok)
        }
    }

    @Test func aFullQueueAsksForPatience() async throws {
        try await TestHouse(queuedMax: 0).open { house in
            let answer = await house.submit(try Sample.jws(8))
            #expect(answer.status == .serviceUnavailable)
            let json = try answer.json()
            #expect(json["code"]?.string == "busy")
        }
    }
}

/// A store that has found no room, until somebody looks again.
private final class RoomlessStore: Store {
    private let base = MemoryStore()
    private let isFull = Atomic(true)

    var lacksRoom: Bool { isFull.load(ordering: .relaxed) }

    func lookForRoom() async { isFull.store(false, ordering: .relaxed) }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreTransaction) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        try await base.write(body)
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        try await base.read(body)
    }

    func close() async { await base.close() }
}

/// A store whose disk has failed: what is there can be read, and nothing is written any more.
private struct ReadOnlyStore: Store {
    var failure = StoreFailure.broken(code: 10)
    private let base = MemoryStore()

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreTransaction) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        throw failure
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        try await base.read(body)
    }

    func close() async { await base.close() }
}
