import Dashboard
import HTTP
import PurchaseModel
import Storage
import Testing

/// The pages of figures over time.
@Suite struct FigurePageTests {
    private static let realm = Realm(environment: .production, isTestSigned: false)

    /// Some subscriptions of two years, of which every third lapses and every fourth is once paid in grace, in two currencies.
    private static func sell(
        _ desk: Desk,
        _ count: Int64,
        in realm: Realm = realm,
        until end: Timestamp? = nil
    ) async throws {
        let end = end ?? desk.clock.now
        let product = try #require(ProductID("<b>monthly</b>"))
        for number in Int64(1)...count {
            var sold: [Transaction] = []
            var renewals: [Renewal] = []
            for period in 0..<(number % 3 == 0 ? 2 : 20) as Range<Int64> {
                let start = end.advanced(by: .seconds((period * 30 - 590 + number) * 86_400))
                var month = Transaction(
                    id: try #require(TransactionID(number: number * 100 + period)),
                    originalID: TransactionID(number: number * 100),
                    product: product,
                    kind: .autoRenewable,
                    purchasedAt: start,
                    signedAt: start
                )
                month.expiresAt = start.advanced(by: .seconds(30 * 86_400))
                month.price = Price(milliunits: 1_234_560, currency: number % 2 == 0 ? "EUR" : "USD")
                if period == 0 { month.offer = Offer(kind: .introductory, discount: "FREE_TRIAL") }
                if period == 7, number % 5 == 0 { month.revocation = Revocation(at: start) }
                sold.append(month)
                guard period == 18, number % 4 == 0, let expiry = month.expiresAt else { continue }
                var renewal = Renewal(originalID: sold[0].id, product: product, signedAt: expiry)
                (renewal.renewsAt, renewal.isInBillingRetry) = (expiry, true)
                renewal.graceEndsAt = expiry.advanced(by: .seconds(16 * 86_400))
                renewals.append(renewal)
            }
            let recording = Recording(app: Desk.app, realm: realm, transactions: sold, renewals: renewals)
            let evidence = EvidenceRow(
                digest: try #require(ProofDigest([UInt8](repeating: UInt8(number), count: 32))),
                format: "jws",
                proof: [1],
                customer: nil,
                receivedAt: desk.clock.now,
                verdict: "genuine"
            )
            let now = desk.clock.now
            try await desk.store.write { write throws(StoreFailure) in
                let situation = try write.situation(around: [recording])
                try write.apply(decide(situation, recording, ownToken: { _ in nil }, at: now), evidence: evidence)
            }
        }
    }

    private static func viewer(_ desk: Desk) async throws -> Browser {
        try await desk.add("ann", .viewer)
        let browser = Browser(desk)
        _ = await browser.signIn("ann")
        return browser
    }

    @Test(arguments: ["", "/revenue", "/subscriptions"])
    func anEmptyLedgerHasItsPages(path: String) async throws {
        let browser = try await Self.viewer(Desk())
        let page = await browser.get("/dashboard" + path)
        #expect(page.status == .ok)
        #expect(!page.text.contains("<svg class=\"chart\""))
    }

    @Test(arguments: [
        ("", ["Purchases", "Renewals due", "Revenue, "]),
        ("/revenue?currency=EUR", ["Monthly recurring revenue, EUR", "Movements of the monthly recurring revenue"]),
        ("/subscriptions", ["Retention by cohort", "Churn", "Renewal rate"]),
        ("/subscriptions", ["Recovery of failed renewals", "paid in grace", "Recovery rate", "recovered"]),
        ("/subscriptions?state=expired&after=400", ["&lt;b&gt;monthly"]),
    ])
    func everyPageShowsItsChartsAndStaysSmall(path: String, words: [String]) async throws {
        let desk = Desk()
        try await Self.sell(desk, 40)
        let browser = try await Self.viewer(desk)
        let page = await browser.get("/dashboard" + path)
        #expect(page.status == .ok)
        for word in words { #expect(page.text.contains(word), "\(word)") }
        #expect(page.text.contains("<svg class=\"chart\""))
        #expect(!page.text.contains("<b>"))
        #expect(page.body.count < 100_000, "\(page.body.count)")
    }

    /// What was asked for of another app or store is not shown as this one's.
    @Test func aStoreWithoutPurchasesShowsNone() async throws {
        let desk = Desk()
        try await Self.sell(desk, 3)
        let browser = try await Self.viewer(desk)
        #expect(await browser.get("/dashboard/revenue?side=production").text.contains("USD"))
        #expect(!(await browser.get("/dashboard/revenue?side=sandbox").text.contains("USD")))
    }

    /// What the store of a demo sells after its time was let pass is sold in days to come.
    @Test func theDaysOfADemosStoreAreShown() async throws {
        let line = SimulatorLine { _, path, _ in
            path == "/clock" ? HTTPResponse(.ok, body: Array(#"{"now": "2028-05-29T08:00:00.000Z"}"#.utf8)) : nil
        }
        let desk = Desk { _, _ in RunningServer(simulator: line) }
        let ahead = desk.clock.now.advanced(by: .seconds(500 * 86_400))
        try await Self.sell(desk, 3, in: Realm(environment: .production, isTestSigned: true), until: ahead)
        let browser = try await Self.viewer(desk)
        let pages = ["": "Revenue, ", "/revenue": "USD", "/subscriptions": "Active", "/catalogue": "monthly"]
        for (path, word) in pages {
            let text = await browser.get("/dashboard" + path).text
            for words in ["production, test-signed", "is ahead", word] { #expect(text.contains(words), "\(path)") }
        }
        #expect(await browser.get("/dashboard").text.contains("<svg class=\"chart\""))
        // What Apple sells is sold by this server's clock.
        #expect(!(await browser.get("/dashboard?side=production").text.contains("is ahead")))
    }
}
