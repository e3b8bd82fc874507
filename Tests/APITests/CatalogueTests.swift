import API
import Encoding
import HTTP
import PurchaseModel
import Simulator
import TestSupport
import Testing

/// What clients fetch again and again: the catalogue, and what a customer may use.
@Suite struct CatalogueTests {
    private static func terms() throws -> AppTerms {
        let coins = try #require(ProductID("com.example.demo.coins"))
        let pass = try #require(ProductID("com.example.demo.pass"))
        let gems = try #require(CurrencyID("gems"))
        let premium = try #require(EntitlementID("premium"))
        return AppTerms(
            products: [
                coins: ProductTerms(product: coins, kind: .consumable, goods: [.amount(100, gems)]),
                pass: ProductTerms(
                    product: pass,
                    kind: .nonRenewing,
                    goods: [.entitlement(premium)],
                    period: .seconds(30 * 86_400),
                    isFamilyShared: true
                ),
            ],
            sandbox: .everybody(until: Timestamp(milliseconds: .max))
        )
    }

    private static func ask(_ house: TestHouse, _ path: String, _ tag: String? = nil) async -> HTTPResponse {
        var fields: HTTPFields = ["Authorization": "Bearer \(TestHouse.key)"]
        if let tag { fields["If-None-Match"] = tag }
        return await house.router.respond(to: HTTPRequest(method: .get, path: path, fields: fields))
    }

    @Test func theCatalogueSaysWhatEachProductGives() async throws {
        let house = try TestHouse(terms: Self.terms())
        let answer = try await house.get("/v1/catalogue").json()
        #expect(answer["is_complete"]?.bool == true)
        let products = try #require(answer["products"]?.array).compactMap(\.object)
        #expect(products.map { $0["product_id"]?.string } == ["com.example.demo.coins", "com.example.demo.pass"])
        #expect(products[0]["goods"]?.array?.first { _ in true }?.object?["amount"]?.int64 == 100)
        #expect(products[1]["goods"]?.array?.first { _ in true }?.object?["entitlement"]?.string == "premium")
        #expect(products[1]["period_days"]?.int64 == 30 && products[1]["is_family_shared"]?.bool == true)
        let without = try await TestHouse().get("/v1/catalogue").json()
        #expect(without["is_complete"]?.bool == false && without["products"]?.array?.count == 0)
    }

    @Test(arguments: ["/v1/catalogue", "/v1/customers/customer-1/entitlements"])
    func whatIsAsItWasIsNotSentAgain(path: String) async throws {
        try await TestHouse(terms: Self.terms()).open { house in
            let first = await Self.ask(house, path)
            let tag = try #require(first.fields["ETag"])
            #expect(first.fields["Cache-Control"] == "private, no-cache" && first.fields["Vary"] == "Authorization")
            for shown in [tag, "W/\(tag)", "\"other\", \(tag)", "\"other\" ,W/\(tag) ", "*"] {
                let again = await Self.ask(house, path, shown)
                #expect(again.status == .notModified && again.body.isEmpty, "\(shown)")
                #expect(again.fields["ETag"] == tag)
            }
            for shown in ["\"other\"", String(tag.dropLast()), "", "W/"] {
                #expect(await Self.ask(house, path, shown).status == .ok, "\(shown)")
            }
        }
    }

    /// A purchase, and the end of what it gave, make another answer.
    @Test func aTagEndsWithWhatItNames() async throws {
        try await TestHouse(terms: Self.terms()).open { house in
            let path = "/v1/customers/customer-1/entitlements"
            let nothing = try #require(await Self.ask(house, path).fields["ETag"])
            var sold = try Sample.transaction(6_001, product: "com.example.demo.pass")
            sold.kind = .nonRenewing
            let signer = PurchaseSigner(TestAuthority.shared, app: try Sample.app())
            #expect(await house.submit(try signer.transaction(sold)).status == .ok)
            let pass = await Self.ask(house, path, nothing)
            #expect(pass.status == .ok)
            let tag = try #require(pass.fields["ETag"])
            house.clock.advance(by: .seconds(29 * 86_400))
            #expect(await Self.ask(house, path, tag).status == .notModified)
            house.clock.advance(by: .seconds(2 * 86_400))
            #expect(await Self.ask(house, path, tag).status == .ok)
            #expect(await Self.ask(house, path, nothing).status == .notModified)
        }
    }

    /// Nothing but a good answer has one.
    @Test func aRefusalHasNoTag() async throws {
        try await TestHouse().open { house in
            let refusal = await house.get("/v1/customers/a%20b/entitlements")
            #expect(refusal.status == .notFound && refusal.fields["ETag"] == nil)
        }
    }
}
