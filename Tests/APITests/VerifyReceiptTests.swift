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

/// The part of Apple's verifyReceipt, played by this server.
@Suite struct VerifyReceiptTests {
    private static let month = Duration.seconds(30 * 86_400)

    private static func signer(
        _ bundleID: String = "com.example.demo",
        _ environment: StoreEnvironment = .production
    ) throws -> PurchaseSigner {
        PurchaseSigner(TestAuthority.shared, app: try Sample.app(bundleID, environment))
    }

    /// A period of a subscription that began with `original`.
    private static func period(
        _ number: Int64,
        of original: Int64,
        from start: Timestamp = TestHouse.now,
        for length: Duration = month
    ) throws -> Transaction {
        var period = try Sample.transaction(number, product: "com.example.demo.pro")
        period.originalID = TransactionID(number: original)
        period.kind = .autoRenewable
        period.purchasedAt = start
        period.expiresAt = start.advanced(by: length)
        period.webOrderLineItem = "9\(number)"
        return period
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        String(decoding: Base64.encode(bytes, .standard, isPadded: true), as: UTF8.self)
    }

    private static func receipt(_ sold: [Transaction], _ signer: PurchaseSigner? = nil) throws -> String {
        base64(try (signer ?? Self.signer()).receipt(sold, createdAt: TestHouse.now))
    }

    private static func ask(
        _ house: TestHouse,
        _ receipt: String?,
        password: String? = TestHouse.key,
        sandbox: Bool = false,
        excludesOld: Bool? = nil,
        customer: String? = nil,
        fields: HTTPFields = [:]
    ) async -> HTTPResponse {
        let body = JSONWriter.object { json in
            json.member("receipt-data", receipt)
            json.member("password", password)
            json.member("exclude-old-transactions", excludesOld)
            json.member("customer_id", customer)
        }
        let path = sandbox ? "/sandbox/verifyReceipt" : "/verifyReceipt"
        return await house.router.respond(to: HTTPRequest(method: .post, path: path, fields: fields, body: body))
    }

    private static func status(_ answer: HTTPResponse) throws -> Int64? {
        #expect(answer.status == .ok)
        return try answer.json()["status"]?.int64
    }

    @Test func aReceiptIsAnsweredInApplesWordsAndRecorded() async throws {
        try await TestHouse().open { house in
            let sold = [try Sample.transaction(9_001), try Self.period(9_002, of: 9_002)]
            let text = try Self.receipt(sold)
            // The old form's default type: Apple looks at none.
            let type: HTTPFields = ["Content-Type": "application/x-www-form-urlencoded"]
            let answer = try await Self.ask(house, text, fields: type).json()
            #expect(answer["status"]?.int64 == 0)
            #expect(answer["environment"]?.string == "Production")
            let receipt = try #require(answer["receipt"]?.object)
            #expect(receipt["bundle_id"]?.string == "com.example.demo")
            #expect(receipt["receipt_type"]?.string == "Production")
            #expect(receipt["adam_id"]?.int64 == 1_234)
            #expect(receipt["request_date_ms"]?.string == "1763600000000")
            #expect(receipt["receipt_creation_date"]?.string == "2025-11-20 00:53:20 Etc/GMT")
            #expect(receipt["receipt_creation_date_pst"]?.string == "2025-11-19 16:53:20 America/Los_Angeles")
            let inApp = try #require(receipt["in_app"]?.array).compactMap(\.object)
            #expect(inApp.compactMap { $0["transaction_id"]?.string }.sorted() == ["9001", "9002"])
            #expect(inApp.allSatisfy { $0["quantity"]?.string == "1" && $0["is_trial_period"]?.string == "false" })
            let latest = try #require(answer["latest_receipt_info"]?.array).compactMap(\.object)
            #expect(latest.map { $0["transaction_id"]?.string } == ["9002", "9001"])
            #expect(latest.first?["expires_date_ms"]?.string == "1766192000000")
            #expect(answer["latest_receipt"]?.string == text)
            let pending = try #require(answer["pending_renewal_info"]?.array).compactMap(\.object)
            #expect(pending.map { $0["original_transaction_id"]?.string } == ["9002"])
            // What Apple has not told is not made up.
            #expect(pending.first?["auto_renew_status"] == nil)
            let recorded = try await house.get("/v1/transactions/9001").json()
            #expect(try #require(recorded["transactions"]?.array).count == 1)
            #expect(String(decoding: recorded.value.raw, as: UTF8.self).contains("customer_id") == false)
        }
    }

    /// Of what is free by a promotional offer or an offer code Apple says which it is, and nothing of a trial.
    @Test(arguments: [(OfferKind.introductory, "true"), (.promotional, "false"), (.offerCode, "false")])
    func onlyTheIntroductoryOfferIsATrial(kind: OfferKind, isTrial: String) async throws {
        try await TestHouse().open { house in
            var period = try Self.period(9_005, of: 9_005)
            period.offer = Offer(kind: kind, identifier: kind == .introductory ? nil : "FREE", discount: "FREE_TRIAL")
            let answer = try await Self.ask(house, try Self.signer().transaction(period)).json()
            for sold in [answer["receipt"]?.object?["in_app"], answer["latest_receipt_info"]] {
                let first = try #require(sold?.array?.first { _ in true }?.object)
                #expect(first["is_trial_period"]?.string == isTrial)
                #expect(first["is_in_intro_offer_period"]?.string == "false")
                #expect(first["promotional_offer_id"]?.string == (kind == .promotional ? "FREE" : nil))
            }
        }
    }

    /// Renewals that came later, by whatever way, are in the answer about an old receipt.
    @Test func theLedgerKnowsMoreThanTheReceipt() async throws {
        try await TestHouse().open { house in
            let first = try Self.period(9_010, of: 9_010)
            let second = try Self.period(9_011, of: 9_010, from: TestHouse.now.advanced(by: Self.month))
            #expect(await house.submit(try Self.signer().transaction(second)).status == .ok)
            let text = try Self.receipt([first])
            let all = try await Self.ask(house, text).json()
            let ids = try #require(all["latest_receipt_info"]?.array).map { $0.object?["transaction_id"]?.string }
            #expect(ids == ["9011", "9010"])
            let newest = try await Self.ask(house, text, excludesOld: true).json()
            #expect(try #require(newest["latest_receipt_info"]?.array).count == 1)
        }
    }

    /// Each row: until when there is grace, by the days since the period's end. Apple says why the period was the last so far also
    /// while it tries to charge.
    @Test(arguments: [Int64(16), nil])
    func whatCannotBeChargedHasAnIntent(graceDays: Int64?) async throws {
        try await TestHouse().open { house in
            let start = TestHouse.now.advanced(by: .zero - Self.month - .seconds(3_600))
            let period = try Self.period(9_020, of: 9_020, from: start)
            let text = try Self.receipt([period])
            #expect(await house.submit(try Self.signer().transaction(period)).status == .ok)
            var renewal = Renewal(
                originalID: period.id,
                product: period.product,
                signedAt: TestHouse.now.advanced(by: .seconds(-60))
            )
            (renewal.willAutoRenew, renewal.isInBillingRetry, renewal.expirationIntent) = (true, true, nil)
            renewal.graceEndsAt = graceDays.flatMap { days in
                period.expiresAt?.advanced(by: .seconds(days * 86_400))
            }
            renewal.renewsAt = period.expiresAt
            var notice = Notice(uuid: "1", type: "DID_FAIL_TO_RENEW", signedAt: renewal.signedAt)
            (notice.transaction, notice.renewal) = (period, renewal)
            #expect(await house.submit(try Self.signer().notification(notice)).status == .ok)
            let answer = try await Self.ask(house, text).json()
            let pending = try #require(answer["pending_renewal_info"]?.array).compactMap(\.object)[0]
            #expect(pending["is_in_billing_retry_period"]?.string == "1")
            #expect(pending["expiration_intent"]?.string == "2")
            #expect((pending["grace_period_expires_date_ms"] != nil) == (graceDays != nil))
        }
    }

    /// A receipt never tells that its consumable was refunded; the ledger does.
    @Test func aRefundIsToldOfAnOldReceiptToo() async throws {
        try await TestHouse().open { house in
            let text = try Self.receipt([try Sample.transaction(9_020)])
            #expect(try Self.status(await Self.ask(house, text)) == 0)
            let later = TestHouse.now.advanced(by: .seconds(60))
            let refund = try Sample.jws(9_020, environment: .production, revokedAt: later, signedAt: later)
            #expect(await house.submit(refund).status == .ok)
            let told = try await Self.ask(house, text).json()["receipt"]?.object?["in_app"]?.array?.first { _ in true }
            #expect(told?.object?["cancellation_date_ms"]?.string == "1763600060000")
            #expect(told?.object?["cancellation_reason"]?.string == "1")
        }
    }

    /// The shop sees every account token, as from Apple; a customer who is named those of what is hers.
    @Test(arguments: [(nil, ["9061", "9062"]), ("customer-1", ["9061"]), ("customer-2", ["9062"])])
    func aTokenIsShownToWhomItIsAbout(customer: String?, shown: [String]) async throws {
        try await TestHouse().open { house in
            var sold: [Transaction] = []
            for (number, customer) in [(Int64(9_061), "customer-1"), (9_062, "customer-2")] {
                var period = try Self.period(number, of: number)
                period.accountToken = AccountToken(high: 1, low: UInt64(number))
                let answer = await house.submit(try Self.signer().transaction(period), customer: customer)
                #expect(answer.status == .ok)
                sold.append(period)
            }
            let answer = try await Self.ask(house, try Self.receipt(sold), customer: customer).json()
            let latest = try #require(answer["latest_receipt_info"]?.array).compactMap(\.object)
            #expect(latest.count == 2)
            let told = latest.filter { $0["app_account_token"] != nil }.compactMap { $0["transaction_id"]?.string }
            #expect(told.sorted() == shown)
        }
    }

    @Test func anIOS6ReceiptHasAFormOfItsOwn() async throws {
        try await TestHouse().open { house in
            var sold = try Self.period(170_000_029_449_420, of: 170_000_029_449_420)
            let signer = try Self.signer()
            let alive = try await Self.ask(house, Self.base64(try signer.oldReceipt(sold))).json()
            #expect(alive["status"]?.int64 == 0)
            #expect(alive["receipt"]?.object?["bid"]?.string == "com.example.demo")
            #expect(alive["latest_receipt_info"]?.object?["expires_date"]?.string == "1766192000000")
            sold = try Self.period(170_000_029_449_430, of: 170_000_029_449_430, for: .seconds(1))
            house.clock.advance(by: .seconds(10))
            let over = try await Self.ask(house, Self.base64(try signer.oldReceipt(sold))).json()
            #expect(over["status"]?.int64 == 21_006)
            #expect(over["latest_receipt_info"] == nil)
            #expect(over["latest_expired_receipt_info"]?.object?["transaction_id"]?.string == "170000029449430")
        }
    }

    @Test func whatIsRefusedHasApplesNumber() async throws {
        try await TestHouse().open { house in
            let sold = [try Sample.transaction(9_030)]
            var broken = try Self.signer().receipt(sold, createdAt: TestHouse.now)
            broken[broken.count - 10] ^= 1
            let foreign = try Self.receipt(sold, try Self.signer("com.example.elsewhere"))
            let sandbox = try Self.receipt(sold, try Self.signer(environmentOnly: .sandbox))
            let xcode = try Self.receipt(sold, try Self.signer(environmentOnly: .xcode))
            let rows: [(name: String, receipt: String?, sandbox: Bool, status: Int64)] = [
                ("nothing", nil, false, 21_002), ("empty", "", false, 21_002), ("no receipt", "!", false, 21_002),
                ("a broken signature", Self.base64(broken), false, 21_003),
                ("another app's", foreign, false, 21_010),
                ("sandbox at production", sandbox, false, 21_007),
                ("production at sandbox", try Self.receipt(sold), true, 21_008),
                ("Xcode at production", xcode, false, 21_007), ("Xcode where nobody takes it", xcode, true, 21_010),
                ("sandbox at sandbox", sandbox, true, 0),
            ]
            for row in rows {
                #expect(
                    try Self.status(await Self.ask(house, row.receipt, sandbox: row.sandbox)) == row.status,
                    "\(row.name)"
                )
            }
            let request = HTTPRequest(method: .post, path: "/verifyReceipt", body: Array("receipt-data=1".utf8))
            #expect(try Self.status(await house.router.respond(to: request)) == 21_000)
            for path in ["/verifyReceipt", "/sandbox/verifyReceipt"] {
                let answer = await house.router.respond(to: HTTPRequest(method: .get, path: path))
                #expect(answer.status == .ok)
                #expect(try Self.status(answer) == 21_000)
            }
        }
    }

    /// The key is the password, or stands in the field; both or neither must be right.
    @Test func theKeyIsThePassword() async throws {
        let app = try #require(AppID("demo"))
        func holder(_ name: String) -> KeyRing.Holder { KeyRing.Holder(name: name, app: app) }
        let keys = KeyRing([
            Digest.sha256(Array("receipts".utf8)): APIKey(holder("old"), scopes: [.verifyReceipt]),
            Digest.sha256(Array("others".utf8)): APIKey(
                holder("narrow"),
                scopes: Set(Scope.allCases).subtracting([.verifyReceipt])
            ),
            Digest.sha256(Array("app".utf8)): APIKey(holder("app"), kind: .publishable),
            Digest.sha256(Array("tests".utf8)): APIKey(
                holder("tests"),
                scopes: [.verifyReceipt],
                environments: [.sandbox]
            ),
        ])
        try await TestHouse(keys: keys).open { house in
            let text = try Self.receipt([try Sample.transaction(9_040)])
            for (password, status) in [
                ("receipts", 0), ("others", 21_004), ("app", 21_004), ("nobody", 21_004), (nil, 21_004),
                ("tests", 21_010),
            ] as [(String?, Int64)] {
                #expect(
                    try Self.status(await Self.ask(house, text, password: password)) == status,
                    "\(password ?? "-")"
                )
            }
            // It is sent on once, and not back.
            #expect(try Self.status(await Self.ask(house, text, password: "tests", sandbox: true)) == 21_008)
            let tested = try Self.receipt([try Sample.transaction(9_041)], try Self.signer(environmentOnly: .sandbox))
            for (sandbox, status) in [(false, 21_007), (true, 0)] as [(Bool, Int64)] {
                #expect(
                    try Self.status(await Self.ask(house, tested, password: "tests", sandbox: sandbox)) == status,
                    "\(status)"
                )
            }
            let named: HTTPFields = ["Authorization": "Bearer receipts"]
            #expect(try Self.status(await Self.ask(house, text, password: "apples", fields: named)) == 0)
        }
    }

    /// What may still become good is never a number that ends it.
    @Test func whatPassesIsA503() async throws {
        try await TestHouse(requestsPerSecond: 3).open { house in
            let unknown = try Self.receipt([try Sample.transaction(9_050)])
            #expect(try Self.status(await Self.ask(house, try Self.receipt([]))) == 0)
            // Of which store it is Apple is to say, and nobody asks here.
            let waiting = await Self.ask(house, try Sample.withoutStore(9_051))
            #expect(waiting.status == .serviceUnavailable)
            #expect(waiting.fields["Retry-After"] == "30")
            #expect(try waiting.json()["status"]?.int64 == 21_005)
            _ = await Self.ask(house, unknown)
            let limited = await Self.ask(house, unknown)
            #expect(limited.status == .serviceUnavailable && limited.fields["Retry-After"] == "1")
        }
        try await TestHouse(keys: KeyRing([:], isComplete: false)).open { house in
            #expect(await Self.ask(house, "x").status == .serviceUnavailable)
        }
    }

    private static func signer(environmentOnly environment: StoreEnvironment) throws -> PurchaseSigner {
        try signer("com.example.demo", environment)
    }
}
