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

/// StoreKit 2 has no receipt: cordova-plugin-purchase sends its last transaction alone, puts the answer in the place of the
/// one before, and looks nowhere else for what is owned.
@Suite struct LastTransactionTests {
    private static let (monthly, coins, sword) = ("com.example.demo.pro", "com.example.demo.coins", "sword")

    /// Bought so many seconds after the house's now.
    private static func sold(
        _ number: Int64,
        _ product: String,
        _ kind: ProductKind,
        after seconds: Int = 0
    ) throws -> Transaction {
        var sold = try Sample.transaction(number, product: product)
        sold.kind = kind
        sold.purchasedAt = TestHouse.now.advanced(by: .seconds(seconds))
        guard kind == .autoRenewable else { return sold }
        sold.expiresAt = sold.purchasedAt.advanced(by: .seconds(30 * 86_400))
        sold.subscriptionGroup = "20500001"
        sold.offer = Offer(kind: .introductory, discount: "FREE_TRIAL")
        return sold
    }

    private static func sign(
        _ sold: Transaction,
        in environment: StoreEnvironment = .production
    ) throws -> String {
        try PurchaseSigner(TestAuthority.shared, app: try Sample.app("com.example.demo", environment)).transaction(sold)
    }

    /// As the plugin's `receiptValidationBody` and `buildRequestBody` write it.
    private static func body(_ jws: String, of product: String, _ user: String?, kind: String = "application") -> String
    {
        let name = user.map { #""applicationUsername": "\#($0)", "obfuscatedUsername": "x""# } ?? ""
        return #"""
            {"id": "com.example.demo", "type": "\#(kind)",
             "products": [{"type": "consumable", "id": "com.example.demo.coins", "offers": []}],
             "transaction": {"type": "apple-sk2", "id": "\#(product)", "jwsRepresentation": "\#(jws)"},
             "additionalData": {\#(name)},
             "device": {"plugin": "cordova-plugin-purchase/13.18.0", "cordova": "7.1.0", "ionic": null}}
            """#
    }

    private static func ask(
        _ house: TestHouse,
        _ sold: Transaction,
        _ user: String? = "anna",
        in environment: StoreEnvironment = .production,
        kind: String = "application",
        key: String = TestHouse.key
    ) async throws -> JSONObject {
        let fields: HTTPFields = [
            "Content-Type": "application/json;charset=UTF-8", "Authorization": "Bearer \(key)",
        ]
        let body = body(try sign(sold, in: environment), of: sold.product.text, user, kind: kind)
        let request = HTTPRequest(method: .post, path: "/validator", fields: fields, body: Array(body.utf8))
        let answer = await house.router.respond(to: request)
        #expect(answer.status == .ok)
        return try answer.json()
    }

    /// The products of the collection that are owned.
    private static func owned(_ answer: JSONObject) throws -> [String] {
        let entries = try #require(answer["data"]?.object?["collection"]?.array).compactMap(\.object)
        return entries.filter { $0["isExpired"]?.bool == false }.compactMap { $0["id"]?.string }
    }

    @Test func aLaterPurchaseHidesNothing() async throws {
        try await TestHouse().open { house in
            let plan = try Self.sold(8_201, Self.monthly, .autoRenewable)
            #expect(try Self.owned(try await Self.ask(house, plan)) == [Self.monthly])
            _ = try await Self.ask(house, try Self.sold(8_202, Self.sword, .nonConsumable, after: 60))
            let answer = try await Self.ask(house, try Self.sold(8_203, Self.coins, .consumable, after: 120))
            #expect(try Self.owned(answer) == [Self.coins, Self.sword, Self.monthly])
            let data = try #require(answer["data"]?.object)
            #expect(data["id"]?.string == "com.example.demo")
            #expect(data["ineligible_for_intro_price"]?.array?.compactMap(\.string) == [Self.monthly])
            // What stands in the proof is told as it stands.
            let inApp = try #require(data["transaction"]?.object?["in_app"]?.array)
            #expect(inApp.compactMap { $0.object?["product_id"]?.string } == [Self.coins])
            // Coins that were finished are nobody's any more.
            house.clock.advance(by: .seconds(200))
            let last = try Self.sold(8_204, Self.sword, .nonConsumable, after: 180)
            #expect(try Self.owned(try await Self.ask(house, last)) == [Self.sword, Self.monthly])
            // What is over is over there, too.
            house.clock.advance(by: .seconds(31 * 86_400))
            #expect(try Self.owned(try await Self.ask(house, last)) == [Self.sword])
        }
    }

    /// Each row: whose name is said, what is asked about, from which store, and what is told as owned.
    @Test(
        arguments: [
            ("anna", "application", .production, [coins, monthly]), (nil, "application", .production, [coins]),
            ("berta", "application", .production, [coins]), ("anna", "consumable", .production, [coins]),
            ("anna", "application", .sandbox, [coins]),
        ] as [(String?, String, StoreEnvironment, [String])]
    )
    func theRestIsToldOfWhomItIsAndOfItsStore(
        user: String?,
        kind: String,
        environment: StoreEnvironment,
        told: [String]
    ) async throws {
        try await TestHouse(terms: AppTerms(sandbox: .everybody(until: TestHouse.now.advanced(by: .seconds(86_400)))))
            .open { house in
                _ = try await Self.ask(house, try Self.sold(8_210, Self.monthly, .autoRenewable))
                let sold = try Self.sold(8_211, Self.coins, .consumable, after: 60)
                let answer = try await Self.ask(house, sold, user, in: environment, kind: kind)
                #expect(try Self.owned(answer) == told)
            }
    }

    /// Coins by the catalogue's word are none that are owned, whatever Apple calls them.
    @Test func whatTheCatalogueCallsAConsumableIsNotOwned() async throws {
        let gems = try #require(ProductID("gems"))
        let goods = [Goods.amount(10, try #require(CurrencyID("gems")))]
        let terms = AppTerms(products: [
            gems: ProductTerms(product: gems, kind: .consumable, goods: goods),
            try #require(ProductID(Self.sword)): ProductTerms(
                product: try #require(ProductID(Self.sword)),
                kind: .nonConsumable,
                goods: [.entitlement(try #require(EntitlementID("sword")))]
            ),
        ])
        try await TestHouse(terms: terms).open { house in
            _ = try await Self.ask(house, try Self.sold(8_220, "gems", .consumable))
            _ = try await Self.ask(house, try Self.sold(8_221, "gems", .nonConsumable))
            let answer = try await Self.ask(house, try Self.sold(8_222, Self.sword, .nonConsumable))
            let entries = try #require(answer["data"]?.object?["collection"]?.array)
            #expect(entries.compactMap { $0.object?["id"]?.string } == [Self.sword])
        }
    }

    // MARK: Who learns what

    private static let (wide, narrow) = ("pk_test_wide", "pk_test_narrow")

    private static func house(_ binding: BindingRule) throws -> TestHouse {
        let app = try #require(AppID("demo"))
        func key(_ name: String, _ scopes: Set<Scope>) -> APIKey {
            APIKey(KeyRing.Holder(name: name, app: app), kind: .publishable, scopes: scopes)
        }
        let keys = KeyRing([
            Digest.sha256(Array(TestHouse.key.utf8)): APIKey(KeyRing.Holder(name: "shop", app: app)),
            Digest.sha256(Array(wide.utf8)): key("wide", [.validator, .customer]),
            Digest.sha256(Array(narrow.utf8)): key("narrow", [.validator]),
        ])
        return try TestHouse(terms: AppTerms(binding: binding), keys: keys)
    }

    /// Her name alone shows a stranger nothing: what he presents is his, and not hers.
    @Test(arguments: [wide, narrow]) func aNameAloneTellsNothing(key: String) async throws {
        try await Self.house(.refuse).open { house in
            _ = try await Self.ask(house, try Self.sold(8_230, Self.monthly, .autoRenewable), "anna")
            let his = try Self.sold(8_231, Self.sword, .nonConsumable)
            #expect(try Self.owned(try await Self.ask(house, his, "mallory", key: key)) == [Self.sword])
            let answer = try await Self.ask(house, his, "anna", key: key)
            #expect(answer["ok"]?.bool == false && answer["code"]?.int64 == 6_777_017)
            #expect(answer["data"]?.object?["collection"] == nil)
        }
    }

    /// A shared purchase is everybody's who shows it, and says of nobody that it is she. A key that reads what a customer has
    /// reads it anyway.
    @Test(arguments: [(wide, [sword, monthly]), (narrow, [sword])])
    func whatIsSharedOpensNoMoreThanTheKeyDoes(key: String, told: [String]) async throws {
        try await Self.house(.share).open { house in
            _ = try await Self.ask(house, try Self.sold(8_240, Self.monthly, .autoRenewable), "anna")
            let his = try Self.sold(8_241, Self.sword, .nonConsumable, after: 60)
            #expect(try Self.owned(try await Self.ask(house, his, "mallory", key: key)) == [Self.sword])
            #expect(try Self.owned(try await Self.ask(house, his, "anna", key: key)) == told)
            // Of what she owns herself she is told all by either.
            let hers = try Self.sold(8_242, Self.coins, .consumable, after: 120)
            #expect(
                try Self.owned(try await Self.ask(house, hers, "anna", key: key)) == [
                    Self.coins, Self.sword, Self.monthly,
                ]
            )
        }
    }
}
