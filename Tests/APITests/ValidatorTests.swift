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

/// What cordova-plugin-purchase asks, and how it must be answered: by its own types, field by field.
@Suite struct ValidatorTests {
    private static let pro = "com.example.demo.pro"
    private static let month = Duration.seconds(30 * 86_400)

    private static func signer(_ bundleID: String = "com.example.demo") throws -> PurchaseSigner {
        PurchaseSigner(TestAuthority.shared, app: try Sample.app(bundleID, .production))
    }

    private static func period(
        _ number: Int64,
        of original: Int64,
        from start: Timestamp = TestHouse.now,
        for length: Duration = month
    ) throws -> Transaction {
        var period = try Sample.transaction(number, product: pro)
        period.originalID = TransactionID(number: original)
        period.kind = .autoRenewable
        period.purchasedAt = start
        period.expiresAt = start.advanced(by: length)
        period.subscriptionGroup = "20500001"
        return period
    }

    private static func receipt(_ sold: [Transaction], _ signer: PurchaseSigner? = nil) throws -> String {
        let bytes = try (signer ?? Self.signer()).receipt(sold, createdAt: TestHouse.now)
        return String(decoding: Base64.encode(bytes, .standard, isPadded: true), as: UTF8.self)
    }

    /// As the plugin writes it, prices and device included.
    private static func body(
        _ members: [(String, String)],
        type: String = "ios-appstore",
        id: String = "com.example.demo",
        kind: String = "application",
        user: String? = #""user-42""#
    ) -> String {
        let proof = members.map { #", "\#($0.0)": "\#($0.1)""# }.joined()
        let named = user.map { #""applicationUsername": \#($0)"# } ?? ""
        return #"""
            {"id": "\#(id)", "type": "\#(kind)", "priceMicros": 990000, "currency": "USD", "countryCode": "USA",
             "products": [{"type": "consumable", "id": "coins", "offers": [{"id": "$", "pricingPhases": [{"price": "1"}]}]}],
             "additionalData": {\#(named)}, "device": {"plugin": "cordova-plugin-purchase/13.18.0"},
             "transaction": {"type": "\#(type)", "id": "\#(id)"\#(proof)}}
            """#
    }

    private static func ask(
        _ house: TestHouse,
        _ body: String,
        path: String = "/validator",
        key: String? = TestHouse.key,
        fields: HTTPFields = [:]
    ) async -> HTTPResponse {
        var fields = fields
        fields["Content-Type"] = "application/json;charset=UTF-8"
        if let key { fields["Authorization"] = "Bearer \(key)" }
        return await house.router.respond(
            to: HTTPRequest(method: .post, path: path, fields: fields, body: Array(body.utf8))
        )
    }

    private static func data(_ answer: HTTPResponse) throws -> JSONObject {
        #expect(answer.status == .ok)
        let json = try answer.json()
        #expect(json["ok"]?.bool == true)
        return try #require(json["data"]?.object)
    }

    private static func collection(_ answer: HTTPResponse) throws -> [JSONObject] {
        try #require(try data(answer)["collection"]?.array).compactMap(\.object)
    }

    private static func code(_ answer: HTTPResponse) throws -> Int64? {
        #expect(answer.status == .ok)
        let json = try answer.json()
        #expect(json["ok"]?.bool == false && json["message"]?.string != nil && json["status"]?.int64 != nil)
        #expect(json["data"]?.object?["latest_receipt"]?.bool == true)
        return json["code"]?.int64
    }

    @Test func aStoreKit1ReceiptIsAnsweredWithACollection() async throws {
        try await TestHouse().open { house in
            let coins = try Sample.transaction(8_001)
            let text = try Self.receipt([coins, try Self.period(8_002, of: 8_002)])
            let answer = await Self.ask(house, Self.body([("appStoreReceipt", text)]))
            let data = try Self.data(answer)
            #expect(data["id"]?.string == "com.example.demo")
            #expect(data["latest_receipt"]?.bool == true)
            #expect(data["transaction"]?.object?["type"]?.string == "ios-appstore")
            #expect(data["transaction"]?.object?["in_app"]?.array?.count == 2)
            #expect(data["date"]?.string == "2025-11-20T00:53:20.000Z")
            let entries = try Self.collection(answer)
            let consumable = try #require(entries.first { $0["id"]?.string == "com.example.demo.coins" })
            #expect(consumable["platform"]?.string == "ios-appstore")
            #expect(consumable["transactionId"]?.string == "8001" && consumable["purchaseId"]?.string == "8001")
            #expect(consumable["purchaseDate"]?.int64 == 1_763_600_000_000)
            #expect(consumable["expiryDate"] == nil && consumable["isExpired"]?.bool == false)
            #expect(consumable["isAcknowledged"]?.bool == true && consumable["isConsumed"]?.bool == false)
            #expect(consumable["quantity"]?.int64 == 1 && consumable["cancelationReason"]?.string == "")
            let plan = try #require(entries.first { $0["id"]?.string == Self.pro })
            #expect(plan["expiryDate"]?.int64 == 1_766_192_000_000 && plan["isExpired"]?.bool == false)
            #expect(plan["isTrialPeriod"]?.bool == false && plan["isIntroPeriod"]?.bool == false)
            #expect(plan["isBillingRetryPeriod"]?.bool == false)
            // It is a submission like any other: recorded, and the user's.
            #expect(try await house.get("/v1/transactions/8001").first("customer_id") == "user-42")
        }
    }

    /// The plugin names the product where StoreKit 1 named the transaction.
    @Test func aStoreKit2TransactionIsValidated() async throws {
        try await TestHouse().open { house in
            let jws = try Sample.jws(8_010, environment: .production)
            let coins = "com.example.demo.coins"
            let body = Self.body([("jwsRepresentation", jws)], type: "apple-sk2", id: coins, kind: "consumable")
            let answer = await Self.ask(house, body)
            let data = try Self.data(answer)
            #expect(data["id"]?.string == coins && data["transaction"]?.object?["type"]?.string == "apple-sk2")
            #expect(try Self.collection(answer).map { $0["transactionId"]?.string } == ["8010"])
        }
    }

    @Test func anIOS6ReceiptIsValidated() async throws {
        try await TestHouse().open { house in
            let bytes = try Self.signer().oldReceipt(try Sample.transaction(170_000_029_449_420))
            let text = String(decoding: Base64.encode(bytes, .standard, isPadded: true), as: UTF8.self)
            let answer = await Self.ask(house, Self.body([("transactionReceipt", text)]))
            #expect(try Self.data(answer)["transaction"]?.object?["bid"]?.string == "com.example.demo")
            #expect(try Self.collection(answer).map { $0["transactionId"]?.string } == ["170000029449420"])
        }
    }

    /// The plugin tells purchases apart by their product: the newest counts.
    @Test func theCollectionHasTheNewestOfEachProduct() async throws {
        try await TestHouse().open { house in
            var trial = try Self.period(8_020, of: 8_020)
            trial.offer = Offer(kind: .introductory, discount: "FREE_TRIAL")
            var renewal = try Self.period(8_021, of: 8_020, from: TestHouse.now.advanced(by: Self.month))
            renewal.originallyPurchasedAt = TestHouse.now
            let text = try Self.receipt([trial, renewal, try Sample.transaction(8_022), try Sample.transaction(8_023)])
            let answer = await Self.ask(house, Self.body([("appStoreReceipt", text)]))
            let entries = try Self.collection(answer)
            #expect(entries.map { $0["transactionId"]?.string } == ["8021", "8023"])
            #expect(entries[0]["purchaseId"]?.string == "8020")
            #expect(entries[0]["purchaseDate"]?.int64 == 1_763_600_000_000)
            #expect(entries[0]["lastRenewalDate"]?.int64 == 1_766_192_000_000)
            let spent = try Self.data(answer)["ineligible_for_intro_price"]?.array?.compactMap(\.string)
            #expect(spent == [Self.pro])
        }
    }

    @Test func whatIsOverSaysSo() async throws {
        try await TestHouse().open { house in
            let over = try Self.period(8_030, of: 8_030, for: .seconds(60))
            house.clock.advance(by: .seconds(120))
            let text = try Self.receipt([over])
            // All of the app's purchases: it is in the list. This one: it has expired.
            let listed = try Self.collection(await Self.ask(house, Self.body([("appStoreReceipt", text)])))
            #expect(listed.map { $0["isExpired"]?.bool } == [true])
            let asked = Self.body([("appStoreReceipt", text)], id: Self.pro, kind: "paid subscription")
            #expect(try Self.code(await Self.ask(house, asked)) == 6_778_003)
            let later = TestHouse.now.advanced(by: .seconds(60))
            let refund = try Sample.jws(8_031, environment: .production, revokedAt: later, signedAt: later)
            let body = Self.body([("jwsRepresentation", refund)], type: "apple-sk2", id: "coins", kind: "consumable")
            let refunded = try Self.collection(await Self.ask(house, body))
            #expect(refunded.map { $0["isExpired"]?.bool } == [true])
            #expect(refunded.map { $0["cancelationReason"]?.string } == ["Customer.TechnicalIssues"])
        }
    }

    @Test func whatIsRefusedIsNotOK() async throws {
        try await TestHouse().open { house in
            let jws = try Sample.jws(8_040, environment: .production)
            let rows: [(name: String, body: String)] = [
                ("no JSON", "receipt"), ("no transaction", "{}"),
                ("another store's", Self.body([], type: "google-play")),
                ("no receipt", Self.body([])), ("an empty one", Self.body([("appStoreReceipt", "")])),
                ("nonsense", Self.body([("appStoreReceipt", "nonsense")])),
                ("a forgery", Self.body([("jwsRepresentation", jws + "A")], type: "apple-sk2")),
                (
                    "another app's",
                    Self.body([("appStoreReceipt", try Self.receipt([], try Self.signer("com.example.x")))])
                ),
            ]
            for row in rows {
                #expect(try Self.code(await Self.ask(house, row.body)) == 6_777_017, "\(row.name)")
            }
            #expect(
                try Self.data(await Self.ask(house, Self.body([("appStoreReceipt", try Self.receipt([]))])))["id"]
                    != nil
            )
        }
    }

    /// What a user has bought is not given to another one who shows the same receipt.
    @Test func anothersPurchaseIsNoPurchase() async throws {
        try await TestHouse().open { house in
            let text = try Self.receipt([try Self.period(8_050, of: 8_050)])
            _ = try Self.data(await Self.ask(house, Self.body([("appStoreReceipt", text)])))
            let other = Self.body([("appStoreReceipt", text)], user: "7")
            #expect(try Self.code(await Self.ask(house, other)) == 6_777_017)
        }
    }

    /// A number is a name, too; none, or one that nobody can have, leaves the purchase nobody's.
    @Test(
        arguments: [("7", "7", false), (nil, nil, false), (#""two words""#, nil, true)] as [(String?, String?, Bool)]
    )
    func theUserIsTheCustomer(name: String?, customer: String?, isWarned: Bool) async throws {
        try await TestHouse().open { house in
            let text = try Self.receipt([try Sample.transaction(8_060)])
            let answer = await Self.ask(house, Self.body([("appStoreReceipt", text)], user: name))
            #expect((try Self.data(answer)["warning"] != nil) == isWarned)
            #expect(try await house.get("/v1/transactions/8060").first("customer_id") == customer)
        }
    }

    /// Apple does not send the older transaction again with an upgrade.
    @Test func whatGaveWayToAnotherPlanIsOver() async throws {
        try await TestHouse().open { house in
            var year = try Self.period(8_080, of: 8_080)
            year.product = try #require(ProductID("com.example.demo.yearly"))
            year.purchasedAt = TestHouse.now.advanced(by: .seconds(-30 * 86_400))
            year.expiresAt = TestHouse.now.advanced(by: .seconds(335 * 86_400))
            let text = try Self.receipt([year, try Self.period(8_081, of: 8_080)])
            let entries = try Self.collection(await Self.ask(house, Self.body([("appStoreReceipt", text)])))
            let old = try #require(entries.first { $0["transactionId"]?.string == "8080" })
            #expect(old["isExpired"]?.bool == true && old["cancelationReason"]?.string == "System.Replaced")
            let new = try #require(entries.first { $0["transactionId"]?.string == "8081" })
            #expect(new["isExpired"]?.bool == false)
        }
    }

    // MARK: What was not delivered

    private static func terms(needsOrder: Bool = false, sandbox: SandboxRule = .recordOnly) throws -> AppTerms {
        let (sword, season) = (try #require(ProductID("sword")), try #require(ProductID("season")))
        let right = try #require(EntitlementID("right"))
        let lasting = ProductTerms(product: sword, kind: .nonConsumable, goods: [.entitlement(right)])
        let passing = ProductTerms(
            product: season,
            kind: .nonRenewing,
            goods: [.entitlement(right)],
            period: .seconds(90 * 86_400)
        )
        let plan = ProductTerms(
            product: try #require(ProductID(pro)),
            kind: .autoRenewable,
            goods: [.entitlement(right)]
        )
        return AppTerms(
            products: [sword: lasting, season: passing, plan.product: plan],
            needsOrder: needsOrder,
            sandbox: sandbox
        )
    }

    private static func sold(_ number: Int64, _ product: String, _ kind: ProductKind) throws -> Transaction {
        var sold = try Sample.transaction(number, product: product)
        sold.kind = kind
        return sold
    }

    private static func entry(
        _ sold: Transaction,
        in environment: StoreEnvironment = .production,
        user: String? = #""user-42""#,
        house: TestHouse
    ) async throws -> JSONObject {
        let signer = PurchaseSigner(TestAuthority.shared, app: try Sample.app("com.example.demo", environment))
        let proof = [("jwsRepresentation", try signer.transaction(sold))]
        let asked = body(proof, type: "apple-sk2", id: sold.product.text, kind: "paid subscription", user: user)
        return try #require(try collection(await ask(house, asked)).first { _ in true })
    }

    private static func rights(in house: TestHouse) async throws -> Int? {
        try await house.get("/v1/customers/user-42/entitlements").json()["entitlements"]?.array?.count
    }

    /// Each row: whether it waits for an order, the store, whether a family shares it, who shows it, whether it is owned.
    @Test(
        arguments: [
            (false, .production, .purchased, true, true), (true, .production, .purchased, true, false),
            (false, .sandbox, .purchased, true, false), (false, .production, .familyShared, true, false),
            (false, .production, .purchased, false, true), (true, .production, .purchased, false, false),
            (false, .sandbox, .purchased, false, false), (false, .production, .familyShared, false, false),
        ] as [(Bool, StoreEnvironment, Ownership, Bool, Bool)]
    )
    func whatWasNotDeliveredIsNotOwned(
        needsOrder: Bool,
        environment: StoreEnvironment,
        ownership: Ownership,
        isNamed: Bool,
        isOwned: Bool
    ) async throws {
        try await TestHouse(terms: Self.terms(needsOrder: needsOrder)).open { house in
            let user = isNamed ? #""user-42""# : nil
            for sold in [try Self.sold(8_101, "sword", .nonConsumable), try Self.period(8_102, of: 8_102)] {
                var sold = sold
                sold.ownership = ownership
                let entry = try await Self.entry(sold, in: environment, user: user, house: house)
                #expect(entry["isExpired"]?.bool == !isOwned, "\(sold.product)")
            }
            if isNamed { #expect(try await Self.rights(in: house) == (isOwned ? 1 : 0)) }
        }
    }

    /// Its end stands in the catalogue alone; nobody's lasts as long.
    @Test(arguments: [#""user-42""#, nil])
    func whatDoesNotRenewEndsAsTheCatalogueSays(user: String?) async throws {
        try await TestHouse(terms: Self.terms()).open { house in
            let season = try Self.sold(8_110, "season", .nonRenewing)
            let entry = try await Self.entry(season, user: user, house: house)
            #expect(entry["isExpired"]?.bool == false)
            #expect(entry["expiryDate"]?.int64 == 1_771_376_000_000)
            house.clock.advance(by: .seconds(90 * 86_400))
            let proof = [("appStoreReceipt", try Self.receipt([season]))]
            let over = try Self.collection(await Self.ask(house, Self.body(proof, user: user)))
            #expect(over.map { $0["isExpired"]?.bool } == [true])
            #expect(over.map { $0["expiryDate"]?.int64 } == [1_771_376_000_000])
            #expect(try await Self.rights(in: house) == 0)
        }
    }

    /// A restore by StoreKit 1 has a number of its own, and a family's newer copy is not what the customer bought.
    @Test(arguments: [(8_120, Ownership.purchased), (8_122, .familyShared)] as [(Int64, Ownership)])
    func whatWasDeliveredUnderAnotherNumberIsOwned(original: Int64, ownership: Ownership) async throws {
        try await TestHouse(terms: Self.terms()).open { house in
            let bought = try Self.sold(8_120, "sword", .nonConsumable)
            #expect(try await Self.entry(bought, house: house)["isExpired"]?.bool == false)
            var newer = try Self.sold(8_122, "sword", .nonConsumable)
            (newer.originalID, newer.ownership) = (TransactionID(number: original), ownership)
            newer.purchasedAt = TestHouse.now.advanced(by: .seconds(60))
            let signer = try Self.signer()
            #expect(await house.submit(try signer.transaction(newer), customer: "user-42").status == .ok)
            let proof = [("appStoreReceipt", try Self.receipt([bought, newer]))]
            let listed = try Self.collection(await Self.ask(house, Self.body(proof)))
            #expect(listed.map { $0["isExpired"]?.bool } == [false])
            #expect(listed.map { $0["transactionId"]?.string } == [original == 8_120 ? "8122" : "8120"])
        }
    }

    /// Its client keeps every 200 for two minutes.
    @Test func whatPassesIsNo200() async throws {
        try await TestHouse(requestsPerSecond: 2).open { house in
            let waiting = await Self.ask(house, Self.body([("appStoreReceipt", "170000029449420")]))
            #expect(waiting.status == .serviceUnavailable && waiting.fields["Retry-After"] != nil)
            _ = await Self.ask(house, "{}")
            #expect(await Self.ask(house, "{}").status == .tooManyRequests)
        }
    }

    /// In the path stands only what everybody has.
    @Test func thePathTakesAPublishableKey() async throws {
        let app = try #require(AppID("demo"))
        let secret = Array("0123456789abcdef0123456789abcdef".utf8)
        let keys = KeyRing([
            Digest.sha256(Array("pk_app".utf8)): APIKey(KeyRing.Holder(name: "app", app: app), kind: .publishable),
            Digest.sha256(Array("pk_read".utf8)): APIKey(
                KeyRing.Holder(name: "reads", app: app),
                kind: .publishable,
                scopes: [.customer]
            ),
            Digest.sha256(Array("sk_shop".utf8)): APIKey(KeyRing.Holder(name: "shop", app: app)),
        ])
        let house = try TestHouse(keys: keys, customers: CustomerToken([app: secret]))
        try await house.open { house in
            let body = Self.body([("appStoreReceipt", try Self.receipt([try Sample.transaction(8_070)]))])
            let token = Hexadecimal.encode(
                MessageAuthentication.hmacSHA256(key: secret, message: Array("user-42".utf8))
            )
            func status(_ key: String, _ fields: HTTPFields = [:]) async -> HTTPStatus {
                await Self.ask(house, body, path: "/validator/\(key)", key: nil, fields: fields).status
            }
            #expect(await status("sk_shop") == .notFound)
            #expect(await status("nobody") == .notFound)
            #expect(await status("pk_read") == .forbidden)
            #expect(await status("pk_app") == .forbidden)
            #expect(await status("pk_app", ["Assay-Customer-Token": token]) == .ok)
            // Whoever names nobody, or a name that nobody can have, shows no token for it.
            for name in [nil, #""two words""#] {
                let proof = [("appStoreReceipt", try Self.receipt([try Sample.transaction(8_070)]))]
                let nameless = Self.body(proof, user: name)
                let answer = await Self.ask(house, nameless, path: "/validator/pk_app", key: nil)
                #expect(answer.status == .forbidden)
            }
        }
    }
}
