import Dashboard
import HTTP
import Pipeline
import PurchaseModel
import Storage
import Testing

/// What the configuration says of apps and their products.
@Suite struct ConfiguredPageTests {
    private static let hostile = "<script>alert(1)</script>"

    private static func desk(_ terms: AppTerms, acceptsTestSigned: Bool = false) throws -> Desk {
        let bundleID = try #require(BundleID("com.example.shop"))
        let policy = AppPolicy(
            id: Desk.app,
            bundleID: bundleID,
            appleID: 1_234_567,
            environments: [.production, .sandbox],
            acceptsTestSigned: acceptsTestSigned,
            terms: terms
        )
        return Desk(policies: [policy]) { _, _ in
            RunningServer(
                doors: [
                    Desk.app: RunningServer.AppleDoor(
                        hasKey: true,
                        hasSharedSecret: false,
                        isSimulated: false,
                        notificationPath: "/v1/apple/notifications/a-token-of-ours"
                    )
                ]
            )
        }
    }

    private static func products(_ count: Int) throws -> [ProductID: ProductTerms] {
        var products: [ProductID: ProductTerms] = [:]
        for number in 0..<count {
            let id = try #require(ProductID("\(hostile).\(1_000 + number)"))
            let goods = (0..<20).map { Goods.amount(Int64($0), CurrencyID(checked: "\(hostile)\($0)")) }
            products[id] = ProductTerms(product: id, kind: .consumable, goods: goods)
        }
        return products
    }

    @Test func theCatalogueIsShownInPagesThatStaySmall() async throws {
        let desk = try Self.desk(AppTerms(products: try Self.products(120)))
        let browser = try await desk.browser(.viewer)
        var (target, seen) = ("/dashboard/catalogue", 0)
        for _ in 0..<3 {
            let page = await browser.get(target)
            #expect(page.status == .ok && page.body.count < 100_000, "\(page.body.count)")
            #expect(!page.text.contains("<script"))
            seen += page.text.matches(of: /scope="row"/).count
            let more = page.text.firstMatch(of: /href="([^"]*after=[^"]*)"/).map { String($0.output.1) }
            target = (more ?? "").replacing("&amp;", with: "&").replacing("&#39;", with: "'")
        }
        #expect(seen == 120 && target.isEmpty)
    }

    @Test func whatWasSoldIsCountedByProduct() async throws {
        let coins = try #require(ProductID("coins"))
        let sword = try #require(ProductID("sword"))
        let terms = AppTerms(products: [
            coins: ProductTerms(product: coins, kind: .consumable, goods: [.amount(100, CurrencyID(checked: "gems"))])
        ])
        let desk = try Self.desk(terms)
        let realm = Realm(environment: .production, isTestSigned: false)
        for (number, product) in [(Int64(1), coins), (2, coins), (3, sword)] {
            let id = try #require(TransactionID(number: number))
            let sold = Transaction(
                id: id,
                originalID: id,
                product: product,
                kind: .consumable,
                purchasedAt: desk.clock.now,
                signedAt: desk.clock.now
            )
            let recording = Recording(app: Desk.app, realm: realm, transactions: [sold])
            let now = desk.clock.now
            let evidence = EvidenceRow(
                digest: try #require(ProofDigest([UInt8](repeating: UInt8(number), count: 32))),
                format: "jws",
                proof: [1],
                customer: nil,
                receivedAt: now,
                verdict: "genuine"
            )
            try await desk.store.write { write throws(StoreFailure) in
                let situation = try write.situation(around: [recording])
                try write.apply(decide(situation, recording, ownToken: { _ in nil }, at: now), evidence: evidence)
            }
        }
        let text = await (try await desk.browser(.viewer)).get("/dashboard/catalogue").text
        let rows = text.split(separator: "<tr>").filter { $0.contains("scope=\"row\"") }
        #expect(rows.count == 2)
        #expect(rows[0].contains("coins") && rows[0].contains("100 gems") && rows[0].contains("\"number\">2<"))
        #expect(rows[1].contains("sword") && rows[1].contains("not in the catalogue"))
    }

    @Test func reviewModeIsLoudUntilItEnds() async throws {
        let end = Timestamp(milliseconds: 1_800_000_000_000 + 86_400_000)
        let desk = try Self.desk(AppTerms(sandbox: .everybody(until: end)), acceptsTestSigned: true)
        let browser = try await desk.browser(.viewer)
        let during = await browser.get("/dashboard/apps").text
        #expect(during.contains("Review mode: ") && during.contains("2027-01-16 08:00:00"))
        #expect(during.contains("a test root"))
        desk.clock.advance(by: .seconds(86_400))
        _ = await browser.signIn("viewer")
        let after = await browser.get("/dashboard/apps").text
        #expect(!after.contains("Review mode: ") && after.contains("review mode has ended"))
    }

    @Test func whereNotificationsComeInIsForOperators() async throws {
        let desk = try Self.desk(AppTerms())
        let seen = await (try await desk.browser(.viewer)).get("/dashboard/apps").text
        #expect(seen.contains("com.example.shop") && seen.contains("1234567") && seen.contains("none yet"))
        #expect(!seen.contains("a-token-of-ours"))
        let text = await (try await desk.browser(.operator)).get("/dashboard/apps").text
        #expect(text.contains("/v1/apple/notifications/a-token-of-ours"))
    }
}
