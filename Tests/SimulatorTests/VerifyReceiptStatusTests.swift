import AppleFormats
import Crypto
import Encoding
import HTTP
import PurchaseModel
import Simulator
import Synchronization
import TestSupport
import Testing

/// Each of verifyReceipt's numbers, and what leads to it.
struct VerifyReceiptStatusTests {
    private static func life() throws -> StoreLife {
        var life = StoreLife()
        try life.buy("pro.yearly")
        try life.buy("sword", by: "berta")
        try life.buy("pro.yearly", by: "tester")
        return life
    }

    @Test(arguments: [
        "", "{", "[]", "\"x\"", "receipt-data=AAAA", "{\"receipt-data\":\"\\ud800\"}", "{\"a\":1,\"a\":2}",
    ])
    func whatIsNoJSONObjectIsUnreadable(_ body: String) throws {
        #expect(try ReceiptDesk(Self.life()).answer(Array(body.utf8)).status == 21_000)
    }

    @Test(arguments: [HTTPMethod.get, .put, .delete, .patch, .options])
    func whatIsNoPostIsUnreadable(_ method: HTTPMethod) async throws {
        let router = try Router(ReceiptDesk(Self.life()).endpoint.routes)
        for path in ["/production/verifyReceipt", "/sandbox/verifyReceipt"] {
            let response = await router.respond(to: HTTPRequest(method: method, path: path))
            #expect(response.body == Array("{\"status\":21000}".utf8))
        }
    }

    @Test(arguments: [
        "{}", "{\"receipt-data\":null}", "{\"receipt-data\":5}", "{\"receipt-data\":\"\"}",
        "{\"receipt-data\":\"AAAA\"}", "{\"receipt-data\":\"!!!\"}", "{\"receipt-data\":\"MIIB\"}",
        "{\"receipt-data\":\"ewo=\"}", "{\"receipt-data\":\"eyJhbGciOiJFUzI1NiJ9.e30.AAAA\"}",
    ])
    func whatIsNoReceiptIsMalformed(_ body: String) throws {
        let answer = try ReceiptDesk(Self.life()).answer(Array(body.utf8))
        #expect(answer.status == 21_002)
        #expect(answer.keys == ["status"])
    }

    @Test func lineBreaksAreForgivenInOldReceiptsOnly() throws {
        let life = try Self.life()
        let desk = ReceiptDesk(life)
        func wrapped(_ receipt: [UInt8]) -> [UInt8] {
            var text = Base64.encode(receipt, .standard, isPadded: true)
            text.insert(UInt8(ascii: "\n"), at: 64)
            return JSONWriter.object { body in
                body.member("receipt-data", String(decoding: text, as: UTF8.self))
                body.member("password", DemoCatalogue.sharedSecret)
            }
        }
        let old = try desk.oldReceipt(of: #require(life.owned().first))
        #expect(try desk.answer(wrapped(old)).status == 0)
        #expect(try desk.answer(wrapped(desk.receipt())).status == 21_002)
    }

    @Test(arguments: ReceiptFlaw.allCases)
    func noFlawedReceiptPasses(_ flaw: ReceiptFlaw) throws {
        let life = try Self.life()
        let receipt = SimulatedReceipt(
            app: DemoCatalogue.app().signing(in: .production),
            createdAt: StoreLife.start,
            purchases: life.owned().map(\.fact)
        )
        let bytes = try ReceiptSigner(TestAuthority.shared.chain(.receiptSHA256), digest: .sha256)
            .sign(receipt, flaw: flaw)
        let status = try ReceiptDesk(life).ask(bytes).status
        #expect(status == 21_002 || status == 21_003)
    }

    @Test(arguments: OldReceiptSigner.Flaw.allCases, OldReceiptSigner.Version.allCases)
    func noFlawedOldReceiptPasses(_ flaw: OldReceiptSigner.Flaw, _ version: OldReceiptSigner.Version) throws {
        let life = try Self.life()
        let signer = try OldReceiptSigner(TestAuthority.shared.chain(version.family), version: version)
        let sold = try #require(life.owned().first)
        let bytes = try signer.sign(sold.fact, of: DemoCatalogue.app().signing(in: .production), flaw: flaw)
        let status = try ReceiptDesk(life).ask(bytes).status
        #expect(status == 21_002 || status == 21_003)
    }

    @Test func whatSomebodyElseSignedIsNotAuthentic() throws {
        let life = try Self.life()
        let desk = ReceiptDesk(life)
        let range = StoreLife.start.advanced(by: .seconds(-1))...StoreLife.start.advanced(by: .seconds(1))
        let stranger = CustomerReceipts(SimulatorAuthority(validity: AuthorityValidity(range)))
        let sold = try #require(life.owned().first)
        #expect(try desk.ask(stranger.appReceipt(desk.ledger())).status == 21_003)
        #expect(try desk.ask(stranger.transactionReceipt(sold, desk.ledger())).status == 21_003)
        let xcode = PurchaseSigner(
            TestAuthority.shared,
            app: SimulatedApp(bundleID: DemoCatalogue.bundleID, environment: .xcode)
        )
        #expect(try desk.ask(xcode.receipt([sold.fact], createdAt: StoreLife.start)).status == 21_003)
    }

    @Test func aReceiptFromAfterTheSignersEndIsNotAuthentic() throws {
        let desk = ReceiptDesk(try Self.life())
        let receipt = SimulatedReceipt(
            app: DemoCatalogue.app().signing(in: .production),
            createdAt: Timestamp(seconds: 2_300_000_000)
        )
        let bytes = try ReceiptSigner(TestAuthority.shared.chain(.receiptSHA256), digest: .sha256).sign(receipt)
        #expect(try desk.ask(bytes).status == 21_003)
    }

    @Test(
        arguments: [
            ("anna", DemoCatalogue.sharedSecret, 0), ("anna", nil, 21_004), ("anna", "", 21_004),
            ("anna", "0123456789ABCDEF0123456789abcdef", 21_004),
            ("berta", nil, 0), ("berta", DemoCatalogue.sharedSecret, 0), ("berta", "wrong", 21_004),
        ] as [(String, String?, Int64)]
    )
    func thePasswordIsNeededForSubscriptions(customer: String, password: String?, status: Int64) throws {
        let desk = ReceiptDesk(try Self.life())
        #expect(try desk.ask(desk.receipt(of: customer), password: password).status == status)
        let sold = try #require(desk.ledger(of: customer).transactions.first)
        #expect(try desk.ask(desk.oldReceipt(of: sold), password: password).status == status)
    }

    @Test func aReceiptOfTheOtherEnvironmentIsSentThere() throws {
        let desk = ReceiptDesk(try Self.life())
        #expect(try desk.ask(desk.receipt(), .sandbox).status == 21_008)
        #expect(try desk.ask(desk.receipt(of: "tester"), .production).status == 21_007)
        #expect(try desk.ask(desk.receipt(of: "tester"), .sandbox).status == 0)
        let real = try #require(desk.ledger().transactions.first)
        let trial = try #require(desk.ledger(of: "tester").transactions.first)
        // The word beside the signature says nothing: the ledger knows.
        for isMarked in [true, false] {
            for (sold, status) in [(real, 21_008), (trial, 0)] as [(SoldTransaction, Int64)] {
                var app = DemoCatalogue.app().signing(in: .production)
                app.environment = isMarked ? .sandbox : .production
                let info = try OldPlist.encode(
                    CustomerReceipts.purchaseInfo(sold, desk.ledger(of: sold.customer))
                )
                let bytes = try OldReceiptSigner(TestAuthority.shared.chain(.receiptSHA256), version: .four)
                    .sign(purchaseInfo: info, of: app)
                #expect(try desk.ask(bytes, .sandbox).status == status)
            }
        }
    }

    @Test func anUnknownAccountHasNoAnswer() throws {
        let life = try Self.life()
        let receipt = try ReceiptDesk(life).receipt()
        #expect(try ReceiptDesk(StoreLife()).ask(receipt).status == 21_010)
        let old = try ReceiptDesk(life).oldReceipt(of: #require(life.owned().first))
        #expect(try ReceiptDesk(StoreLife()).ask(old).status == 21_010)
        let foreign = PurchaseSigner(
            TestAuthority.shared,
            app: SimulatedApp(bundleID: BundleID(checked: "com.example.other"), environment: .production)
        )
        #expect(try ReceiptDesk(life).ask(foreign.receipt([], createdAt: StoreLife.start)).status == 21_010)
        // A receipt without purchases is right for anybody who has the app.
        let empty = PurchaseSigner(TestAuthority.shared, app: DemoCatalogue.app().signing(in: .production))
        let answer = try ReceiptDesk(life).ask(empty.receipt([], createdAt: StoreLife.start))
        #expect(answer.keys == .keys("status environment receipt"))
    }

    @Test(arguments: [
        (VerifyReceiptEndpoint.Fault.status(.malformedReceipt), "{\"status\":21002}"),
        (.status(.unavailable), "{\"status\":21005}"), (.status(.internalError), "{\"status\":21009}"),
        (.status(.accountNotFound), "{\"status\":21010}"),
        (.status(VerifyReceiptStatus(rawValue: 21_150), isRetryable: true), "{\"status\":21150,\"is-retryable\":true}"),
        (
            .status(VerifyReceiptStatus(rawValue: 21_199), isRetryable: false),
            "{\"status\":21199,\"is-retryable\":false}"
        ),
        (.http(.serviceUnavailable), ""),
    ])
    func faultsAreAnsweredAsTheyAre(fault: VerifyReceiptEndpoint.Fault, body: String) throws {
        let desk = ReceiptDesk(try Self.life()) { environment in environment == .sandbox ? fault : nil }
        let request = HTTPRequest(method: .post, path: "/", body: try ReceiptDesk.body(desk.receipt()))
        #expect(desk.endpoint.respond(to: request, .sandbox).body == Array(body.utf8))
        #expect(try desk.ask(about: "anna").status == 0)
    }

    @Test(
        arguments: [
            ("buy.itunes.apple.com", 0), ("BUY.iTunes.Apple.com:443", 0), ("sandbox.itunes.apple.com", 21_008),
            ("example.com", nil), ("buy.itunes.apple.com.example.com", nil), (nil, nil),
        ] as [(String?, Int64?)]
    )
    func applesHostNamesTellTheEnvironment(host: String?, status: Int64?) async throws {
        let desk = ReceiptDesk(try Self.life())
        var request = HTTPRequest(method: .post, path: "/verifyReceipt", body: try ReceiptDesk.body(desk.receipt()))
        request.fields["Host"] = host
        let response = await Router(desk.endpoint.routes).respond(to: request)
        guard let status else { return #expect(response.status == .notFound) }
        #expect(try JSONDocument(response.body).root.object?.status == status)
    }

    @Test(arguments: UInt64(0)..<150)
    func damagedReceiptsAreRefusedAndNothingElse(seed: UInt64) throws {
        let life = try Self.life()
        let desk = ReceiptDesk(life)
        var random = SeededRandom(seed: seed)
        let sold = try #require(life.owned().first)
        var bytes = seed % 2 == 0 ? try desk.receipt() : try desk.oldReceipt(of: sold, version: .two)
        for _ in 0...Int.random(in: 0..<4, using: &random) {
            switch Int.random(in: 0..<3, using: &random) {
            case 0: bytes[Int.random(in: bytes.indices, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
            case 1: bytes.removeLast(Int.random(in: 1..<bytes.count / 2, using: &random))
            default: bytes.insert(0x30, at: Int.random(in: bytes.indices, using: &random))
            }
        }
        let status = try desk.ask(bytes).status
        // Outside of what is signed a letter may change without harm, in an iOS 6 receipt's blanks for one.
        #expect(status == 21_002 || status == 21_003 || status == 0)
    }
}
