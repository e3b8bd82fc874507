import API
import Crypto
import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Simulator
import Storage
import Testing
import TestSupport

/// A list of numbers that nobody has signed, some of them hers, some guessed: of the others nothing is told.
@Suite struct UnsignedSightTests {
    private static let secret = Array("0123456789abcdef0123456789abcdef".utf8)
    /// Whose each is; the last one nobody's.
    private static let (hers, others, nobodys): (Int64, Int64, Int64) = (9_700, 9_701, 9_702)

    private static func house(isSigned: Bool = true) throws -> TestHouse {
        let app = try #require(AppID("demo"))
        func holder(_ name: String) -> KeyRing.Holder { KeyRing.Holder(name: name, app: app) }
        let keys = KeyRing([
            Digest.sha256(Array(TestHouse.key.utf8)): APIKey(holder("shop")),
            Digest.sha256(Array("published".utf8)): APIKey(holder("app"), kind: .publishable),
            Digest.sha256(Array("tests".utf8)): APIKey(holder("tests"), environments: [.sandbox]),
            Digest.sha256(Array("published tests".utf8)): APIKey(
                holder("beta"),
                kind: .publishable,
                environments: [.sandbox]
            ),
        ])
        return try TestHouse(keys: keys, customers: CustomerToken(isSigned ? [app: secret] : [:]))
    }

    /// Mallory has coins, Anna a subscription, and one was bought of which nobody knows whose it is.
    private static func fill(_ house: TestHouse, _ environment: StoreEnvironment = .production) async throws {
        let signer = PurchaseSigner(TestAuthority.shared, app: try Sample.app("com.example.demo", environment))
        #expect(await house.submit(try signer.transaction(Sample.transaction(hers)), customer: "mal").status == .ok)
        let live = PurchaseSigner(TestAuthority.shared, app: try Sample.app("com.example.demo", .production))
        for (number, customer) in [(others, "anna"), (nobodys, nil)] {
            var plan = try Sample.transaction(number, product: "com.example.demo.pro")
            plan.kind = .autoRenewable
            plan.expiresAt = TestHouse.now.advanced(by: .seconds(86_400))
            let body = JSONWriter.object { json in
                json.member("receipt-data", (try? live.transaction(plan)) ?? "")
                json.member("password", TestHouse.key)
                json.member("customer_id", customer)
            }
            let request = HTTPRequest(method: .post, path: "/verifyReceipt", fields: [:], body: body)
            #expect(try await house.router.respond(to: request).json()["status"]?.int64 == 0)
        }
    }

    private static func list(_ numbers: [Int64]) -> String {
        let entries = numbers.map { number in
            #"{"transaction_id": "\#(number)", "product_id": "com.example.demo.coins", "quantity": "1", "#
                + #""purchase_date_ms": "1763600000000"}"#
        }
        return #"{"status": 0, "receipt": {"bundle_id": "com.example.demo", "in_app": ["#
            + entries.joined(separator: ",") + "]}}"
    }

    private static func post(
        _ path: String,
        _ body: [UInt8],
        _ key: String,
        of customer: String?,
        in house: TestHouse
    ) async -> HTTPResponse {
        var fields: HTTPFields = ["Content-Type": "application/json", "Authorization": "Bearer \(key)"]
        if let customer {
            let token = MessageAuthentication.hmacSHA256(key: secret, message: Array(customer.utf8))
            fields["Assay-Customer-Token"] = Hexadecimal.encode(token)
        }
        return await house.router.respond(to: HTTPRequest(method: .post, path: path, fields: fields, body: body))
    }

    /// As often as until it is decided.
    private static func validate(
        _ proof: String,
        _ key: String,
        of customer: String?,
        in house: TestHouse
    ) async throws -> JSONObject {
        let body = JSONWriter.object { json in
            json.member("id", "com.example.demo")
            json.member("type", "application")
            if let customer { json.object("additionalData") { $0.member("applicationUsername", customer) } }
            json.object("transaction") { json in
                json.member("type", "ios-appstore")
                json.member("id", "com.example.demo")
                json.member("appStoreReceipt", proof)
            }
        }
        #expect(await post("/validator", body, key, of: customer, in: house).status == .serviceUnavailable)
        try await house.settle(as: "genuine")
        return try await post("/validator", body, key, of: customer, in: house).json()
    }

    private static func told(_ answer: JSONObject) throws -> (said: [String?], owned: [String?]) {
        let data = try #require(answer["data"]?.object)
        let said = data["transaction"]?.object?["in_app"]?.array?.compactMap(\.object) ?? []
        let owned = data["collection"]?.array?.compactMap(\.object) ?? []
        return (said.map { $0["transaction_id"]?.string }, owned.map { $0["transactionId"]?.string })
    }

    /// By the app's key and by the shop's.
    @Test(arguments: ["published", TestHouse.key]) func ofOthersNothingIsTold(key: String) async throws {
        try await Self.house().open { house in
            try await Self.fill(house)
            let mixed = Self.list([Self.hers, Self.others, Self.nobodys])
            let answer = try await Self.validate(mixed, key, of: "mal", in: house)
            #expect(answer["ok"]?.bool == true)
            let told = try Self.told(answer)
            #expect(told.said == ["9700"] && told.owned == ["9700"])
            #expect(answer["data"]?.object?["ineligible_for_intro_price"]?.array?.isEmpty == true)
            for number in [Self.others, Self.nobodys] {
                let alone = try await Self.validate("\(number)", key, of: "mal", in: house)
                #expect(alone["ok"]?.bool == false)
                #expect(alone["data"]?.object?["collection"] == nil)
            }
        }
    }

    /// Where nobody is named, what is nobody's is for the shop's own server to know.
    @Test(arguments: [("published", false), (TestHouse.key, true)])
    func withoutANameItIsForTheShop(key: String, isTold: Bool) async throws {
        try await Self.house(isSigned: false).open { house in
            try await Self.fill(house)
            let answer = try await Self.validate("\(Self.nobodys)", key, of: nil, in: house)
            #expect(answer["ok"]?.bool == isTold)
            let others = try await Self.validate("\(Self.others)", key, of: nil, in: house)
            #expect(others["ok"]?.bool == false)
        }
    }

    /// A key for the sandbox is told nothing of production.
    @Test(arguments: ["tests", "published tests"]) func ofAnotherStoreNothingIsTold(key: String) async throws {
        try await Self.house(isSigned: false).open { house in
            try await Self.fill(house, .sandbox)
            let made = (1...6).map { 888_000_000_000 + $0 as Int64 }
            let mixed = Self.list([Self.hers] + made + [Self.nobodys, Self.others])
            let answer = try await Self.validate(mixed, key, of: "mal", in: house)
            #expect(try Self.told(answer).said == ["9700"])
            let without = try await Self.validate(mixed, key, of: nil, in: house)
            #expect(without["ok"]?.bool == false)
        }
    }

    /// What is nobody's counts for neither of two who name it in turn, nor is it told to them.
    @Test(arguments: ["published", TestHouse.key]) func whatIsNobodysCountsForNobody(key: String) async throws {
        try await Self.house().open { house in
            try await Self.fill(house)
            for customer in ["mal", "eve"] {
                let body = JSONWriter.object { json in
                    json.member("proof", Self.list([Self.hers, Self.nobodys]))
                    json.member("customer_id", customer)
                }
                let path = "/v1/purchases"
                #expect(await Self.post(path, body, key, of: customer, in: house).status == .accepted)
                try await house.settle(as: "genuine")
                let answer = try await Self.post(path, body, key, of: customer, in: house).json()
                let all = try #require(answer["transactions"]?.array).compactMap(\.object)
                let another = "owned_by_another_customer"
                let own = customer == "mal" ? "recorded" : another
                #expect(all.map { $0["decision"]?.string } == [own, another])
                #expect(all.map { $0["fulfilment"] == nil } == [customer != "mal", true])
            }
        }
    }
}
