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

/// What customers do with the key that stands in the app: it tells nobody of others, and nobody gets in their way.
@Suite struct PublishableKeyTests {
    private static let key = "pk_test_0123456789abcdef0123456789abcdef"
    private static let secret = Array("0123456789abcdef0123456789abcdef".utf8)
    private static let proofNumber: Int64 = 2_000_000_000_000_001

    private static func house(
        store: any Store = MemoryStore(),
        terms: AppTerms = AppTerms()
    ) throws -> TestHouse {
        let app = try #require(AppID("demo"))
        let keys = KeyRing([
            Digest.sha256(Array(key.utf8)): APIKey(KeyRing.Holder(name: "ios", app: app), kind: .publishable),
            Digest.sha256(Array(TestHouse.key.utf8)): APIKey(KeyRing.Holder(name: "shop", app: app)),
        ])
        return try TestHouse(
            store: store,
            terms: terms,
            keys: keys,
            customers: CustomerToken([app: secret])
        )
    }

    private static func fields(for customer: String) -> HTTPFields {
        let token = MessageAuthentication.hmacSHA256(key: secret, message: Array(customer.utf8))
        return ["Assay-Customer-Token": Hexadecimal.encode(token)]
    }

    /// As a customer's own app sends it.
    private static func submit(
        _ proof: String,
        as customer: String,
        under name: String? = nil,
        order: String? = nil,
        in house: TestHouse
    ) async -> HTTPResponse {
        var fields = fields(for: customer)
        if let name { fields["Idempotency-Key"] = name }
        let body = JSONWriter.object { json in
            json.member("proof", proof)
            json.member("customer_id", customer)
            json.member("order_id", order)
        }
        return await house.post(body, key: key, fields: fields)
    }

    private static func list(_ what: String, of customer: String, in house: TestHouse) async -> HTTPResponse {
        var fields = fields(for: customer)
        fields["Authorization"] = "Bearer \(key)"
        let path = "/v1/customers/\(customer)/\(what)"
        return await house.router.respond(to: HTTPRequest(method: .get, path: path, fields: fields))
    }

    // MARK: What it tells of others

    private static func terms(_ binding: BindingRule) throws -> AppTerms {
        let product = try #require(ProductID("com.example.demo.pro"))
        let premium = try #require(EntitlementID("premium"))
        return AppTerms(
            products: [product: ProductTerms(product: product, kind: .autoRenewable, goods: [.entitlement(premium)])],
            binding: binding,
            sandbox: .everybody(until: Timestamp(milliseconds: .max))
        )
    }

    private static let token = AccountToken(high: 0x0123_4567_89AB_4DEF, low: 0x8123_4567_89AB_CDEF)

    private static func period() throws -> String {
        var period = try Sample.transaction(proofNumber, product: "com.example.demo.pro")
        period.kind = .autoRenewable
        period.expiresAt = TestHouse.now.advanced(by: .seconds(30 * 86_400))
        period.accountToken = token
        return try PurchaseSigner(TestAuthority.shared, app: Sample.app()).transaction(period)
    }

    private static let order =
        #"{"order_id": "order-of-anna", "customer_id": "anna", "product_id": "com.example.demo.pro"}"#

    /// Who shares it, and who has it by now, is told neither who had it first nor for which order: in no answer, and not by
    /// the number alone.
    @Test(arguments: [BindingRule.share, .refuse])
    func whoHadItFirstIsToldToNobodyElse(binding: BindingRule) async throws {
        try await Self.house(terms: Self.terms(binding)).open { house in
            #expect(await house.change("/v1/orders", Self.order).status == .created)
            let hers = await Self.submit(try Self.period(), as: "anna", order: "order-of-anna", in: house)
            #expect(try hers.first("customer_id") == "anna")
            #expect(try hers.first("order_id") == "order-of-anna")
            let first = await Self.list("subscriptions", of: "anna", in: house)
            for answer in [hers, await Self.list("transactions", of: "anna", in: house), first] {
                #expect(String(decoding: answer.body, as: UTF8.self).contains(Self.token.description))
            }
            if binding == .refuse {
                let body =
                    #"{"original_transaction_id": "\#(Self.proofNumber)", "to_customer_id": "bob", "#
                    + #""environment": "sandbox", "test_signed": true}"#
                #expect(await house.change("/v1/transfers", body).status == .ok)
            }
            _ = await Self.submit("\(Self.proofNumber)", as: "bob", in: house)
            try await house.settle(as: "test_signed")
            let answers = [
                await Self.submit(try Self.period(), as: "bob", in: house),
                await Self.submit(try Self.period(), as: "bob", under: "k", in: house),
                await Self.submit(try Self.period(), as: "bob", under: "k", in: house),
                await Self.submit("\(Self.proofNumber)", as: "bob", in: house),
                await Self.list("transactions", of: "bob", in: house),
            ]
            for answer in answers {
                #expect(answer.status == .ok)
                #expect(try answer.first("decision") == "recorded")
                let told = try #require(try answer.json()["transactions"]?.array?[0]?.object)
                #expect(told["fulfilment"]?.object?["state"]?.string == "granted")
            }
            let subscriptions = await Self.list("subscriptions", of: "bob", in: house)
            #expect(try subscriptions.json()["subscriptions"]?.array?.count == 1)
            for answer in answers + [subscriptions] {
                let text = String(decoding: answer.body, as: UTF8.self)
                #expect(!text.contains("anna"))
                #expect(!text.contains(Self.token.description))
            }
            // The shop is told of each who.
            let told = await house.submit(try Self.period(), customer: "bob")
            #expect(try told.first("customer_id") == "anna" && told.first("order_id") == "order-of-anna")
            let whole = try await house.get("/v1/subscriptions/\(Self.proofNumber)").json()["subscriptions"]?.array
            #expect(whole?[0]?.object?["customer_id"]?.string == (binding == .share ? "anna" : "bob"))
        }
    }

    // MARK: What it keeps

    /// One customer's name of a request is not another's, so that nobody takes it from her.
    @Test func anIdempotencyKeyIsOneCustomers() async throws {
        try await Self.house().open { house in
            let name = "\(Self.proofNumber)"
            let his = try Sample.jws(7)
            let taken = await Self.submit(his, as: "bob", under: name, in: house)
            #expect(try taken.json()["result"]?.string == "recorded")
            let hers = try Sample.jws(Self.proofNumber)
            let first = await Self.submit(hers, as: "anna", under: name, in: house)
            #expect(first.status == .ok && first.fields["Idempotent-Replayed"] == nil)
            #expect(try first.json()["result"]?.string == "recorded")
            let again = await Self.submit(hers, as: "anna", under: name, in: house)
            #expect(again.fields["Idempotent-Replayed"] == "true" && again.body == first.body)
            let other = await Self.submit(try Sample.jws(8), as: "anna", under: name, in: house)
            #expect(other.status == .conflict)
            #expect(try other.json()["code"]?.string == "idempotency_key_reused")
            // The longest name of a customer fits in.
            let long = String(repeating: "c", count: 255)
            #expect(await Self.submit(try Sample.jws(9), as: long, under: name, in: house).status == .ok)
        }
    }

    /// Under however many names it comes again: it is decided again, and answered alike.
    @Test func whatRecordsNothingKeepsNothing() async throws {
        try await Self.house().open { house in
            let proof = try Sample.jws(Self.proofNumber)
            #expect(await Self.submit(proof, as: "anna", in: house).status == .ok)
            let plain = await Self.submit(proof, as: "anna", in: house)
            #expect(try plain.json()["result"]?.string == "already_recorded")
            for customer in ["anna", "anna", "bob"] {
                let answer = await Self.submit(proof, as: customer, under: "k", in: house)
                #expect(answer.status == .ok && answer.fields["Idempotent-Replayed"] == nil)
                if customer == "anna" { #expect(answer.body == plain.body) }
            }
            // Nothing was done under it, so that something else may be.
            let other = await Self.submit(try Sample.jws(8), as: "anna", under: "k", in: house)
            #expect(try other.json()["result"]?.string == "recorded")
            #expect(await Self.submit(proof, as: "anna", under: "k", in: house).status == .conflict)
        }
    }

    // MARK: What it takes

    /// By the app's key a number has Apple asked, and is no sign that the customer has bought it: she is told no more than
    /// whoever shows another's. By the shop's own key it is.
    @Test func aNumberTakesWhatIsNobodysByTheShopsKeyAlone() async throws {
        try await Self.house().open { house in
            let proof = try PurchaseSigner(TestAuthority.shared, app: Sample.app("com.example.demo", .production))
                .transaction(Sample.transaction(Self.proofNumber))
            // Nobody's, as what Apple tells of by itself.
            let asked = JSONWriter.object { json in
                json.member("receipt-data", proof)
                json.member("password", TestHouse.key)
            }
            let door = HTTPRequest(method: .post, path: "/verifyReceipt", fields: [:], body: asked)
            #expect(try await house.router.respond(to: door).json()["status"]?.int64 == 0)
            let number = "\(Self.proofNumber)"
            let waits = await Self.submit(number, as: "bob", in: house)
            let shops = await house.submit(number, customer: "bob")
            #expect(waits.status == .accepted && shops.status == .accepted)
            #expect(waits.fields["Location"] != shops.fields["Location"])
            let app = try #require(AppID("demo"))
            let kept = try await house.store.read { reader throws(StoreFailure) in
                try reader.pendingSubmissions(app: app, after: nil, limit: 10).submissions
            }
            #expect(kept.map(\.submission.isOnlyNamed) == [true, false])
            try await house.settle(as: "test_signed")
            let told = try #require(
                try await Self.submit(number, as: "bob", in: house).json()["transactions"]?.array?[0]?.object
            )
            #expect(told["decision"]?.string == "owned_by_another_customer")
            #expect(told["product_id"]?.string == "com.example.demo.coins")
            #expect(told["fulfilment"] == nil && told["purchased_at"] == nil)
            let hers = await Self.submit(proof, as: "anna", in: house)
            #expect(try hers.json()["result"]?.string == "recorded")
            #expect(try hers.first("decision") == "recorded" && hers.first("customer_id") == "anna")
        }
    }
}
