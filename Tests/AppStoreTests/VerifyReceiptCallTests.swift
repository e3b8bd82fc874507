import AppStore
import AppleFormats
import Encoding
import HTTP
import PurchaseModel
import Simulator
import Testing
import Verification

/// verifyReceipt as a caller sees it: each status, and everything that is none.
@Suite struct VerifyReceiptCallTests {
    /// One word for what came of it, so that a table can be read.
    private static func word(_ result: ReceiptResult) -> String {
        switch result {
        case .valid: "valid"
        case .renewable: "renewable"
        case .expired: "expired"
        case .refused(let why): "refused \(why)"
        case .disagreement(let status): "disagreement \(status)"
        case .wrongSharedSecret: "wrong secret"
        case .unavailable(.status(let status), _): "unavailable \(status)"
        case .unavailable(.hostsDisagree, _): "hosts disagree"
        case .unavailable(.noAnswer(let failure), _): "no answer \(failure)"
        }
    }

    struct Row: Sendable {
        var status: Int64
        var isRetryable: Bool?
        var word: String
        /// When the signature has been found good.
        var whenGood: String?
    }

    /// Every status of Apple's page that is no receipt; those that are have tests of their own.
    static let rows = [
        Row(status: 21_000, word: "unavailable 21000"),
        Row(status: 21_001, word: "unavailable 21001"),
        Row(status: 21_002, word: "refused malformed", whenGood: "disagreement 21002"),
        Row(status: 21_003, word: "refused notAuthentic", whenGood: "disagreement 21003"),
        Row(status: 21_004, word: "wrong secret"),
        Row(status: 21_005, word: "unavailable 21005"),
        Row(status: 21_009, word: "unavailable 21009"),
        Row(status: 21_010, word: "refused accountNotFound"),
        Row(status: 21_100, isRetryable: true, word: "unavailable 21100"),
        Row(
            status: 21_100,
            isRetryable: false,
            word: "refused rejected(status: 21100)",
            whenGood: "disagreement 21100"
        ),
        Row(status: 21_150, isRetryable: nil, word: "unavailable 21150"),
        Row(
            status: 21_199,
            isRetryable: false,
            word: "refused rejected(status: 21199)",
            whenGood: "disagreement 21199"
        ),
        Row(status: 21_200, isRetryable: false, word: "unavailable 21200"),
        Row(status: -1, word: "unavailable -1"),
    ]

    @Test(arguments: rows, [false, true])
    func eachStatusSaysWhatToDo(row: Row, isVerifiedLocally: Bool) async throws {
        let desk = AppleDesk()
        let body = JSONWriter.object { body in
            body.member("status", row.status)
            body.member("is-retryable", row.isRetryable)
        }
        let call = try desk.receiptCall { _ throws(HTTPCallFailure) in HTTPResponse(.ok, body: body) }
        var options = VerifyReceiptCall.Options()
        options.isVerifiedLocally = isVerifiedLocally
        let result = await call.verify([1], of: desk.credentials, options: options)
        #expect(Self.word(result) == (isVerifiedLocally ? row.whenGood ?? row.word : row.word))
        #expect(desk.log.calls.count == 1)
        #expect(result.receipt == nil)
        let alarms = desk.log.events.filter { if case .disagreement = $0 { true } else { false } }
        #expect(alarms.count == (isVerifiedLocally && row.whenGood != nil ? 1 : 0))
    }

    /// An answer that shows no app's receipt is none: it must not settle what waits.
    @Test(
        arguments: [
            #"{"status":0}"#, #"{"status":21006}"#, #"{"status":0,"receipt":null}"#, #"{"status":0,"receipt":{}}"#,
            #"{"status":0,"receipt":{"in_app":[]}}"#, #"{"status":0,"receipt":{"transaction_id":"1"}}"#,
        ],
        [false, true]
    )
    func whatShowsNoReceiptIsNoAnswer(body: String, isVerifiedLocally: Bool) async throws {
        let desk = AppleDesk()
        let call = try desk.receiptCall { _ throws(HTTPCallFailure) in HTTPResponse(.ok, body: Array(body.utf8)) }
        var options = VerifyReceiptCall.Options()
        options.isVerifiedLocally = isVerifiedLocally
        let result = await call.verify([1], of: desk.credentials, options: options)
        #expect(Self.word(result).hasPrefix("no answer"), "\(Self.word(result))")
    }

    @Test func whatDoesNotRenewIsValid() async throws {
        let desk = AppleDesk()
        try desk.buy("sword")
        try desk.buy("coins.100", quantity: 3)
        let result = try await desk.receiptCall().verify(desk.receipt(), of: desk.credentials)
        guard case .valid(let receipt) = result else { throw AppleDesk.DeskFault.unexpected(Self.word(result)) }
        #expect(receipt.store == .production)
        #expect(
            receipt.transactions.map(\.product.text).sorted() == [
                "com.example.demo.coins.100", "com.example.demo.sword",
            ]
        )
        #expect(receipt.transactions.contains { $0.quantity == 3 })
        #expect(receipt.latestReceipt == nil)
        #expect(receipt.proof.provenance.vouchedBy == .testServer)
        #expect(receipt.proof.verdict == .testSigned)
        #expect(desk.log.urls == ["http://store.test/production/verifyReceipt"])
    }

    @Test func aSubscriptionIsRenewableAndBringsItsNewestReceipt() async throws {
        let desk = AppleDesk()
        let sold = try desk.buy("pro.yearly")
        let old = try desk.receipt()
        desk.pass(days: 400)
        let result = try await desk.receiptCall().verify(old, of: desk.credentials)
        guard case .renewable(let receipt) = result else { throw AppleDesk.DeskFault.unexpected(Self.word(result)) }
        #expect(receipt.transactions.count == 2)
        #expect(receipt.transactions.allSatisfy { $0.kind == .autoRenewable && $0.originalID == sold.id })
        #expect(receipt.renewals.map(\.fact.originalID) == [sold.id])
        let renewal = try #require(receipt.renewals.first?.fact)
        #expect(renewal.willAutoRenew == true && renewal.environment == .production)
        #expect(renewal.signedAt == desk.simulator.now && renewal.product == sold.fact.product)
        // The newest receipt is asked with the next time.
        let newest = try #require(receipt.latestReceipt)
        let again = try await desk.receiptCall().verify(newest, of: desk.credentials)
        #expect(again.receipt?.transactions.count == 2)
    }

    @Test func anOldReceiptOfAnEndedSubscriptionIsExpired() async throws {
        let desk = AppleDesk()
        let sold = try desk.buy("pro.yearly")
        let old = try desk.oldReceipt(of: sold)
        let line = Act.Subscription(customer: "anna", app: AppleDesk.bundleID, product: sold.fact.product)
        _ = try desk.simulator.perform(.setAutoRenew(line, isOn: false))
        let before = try await desk.receiptCall().verify(old, of: desk.credentials)
        #expect(Self.word(before) == "renewable")
        #expect(before.receipt?.latestReceipt != nil)
        desk.pass(days: 400)
        let result = try await desk.receiptCall().verify(old, of: desk.credentials)
        guard case .expired(let receipt) = result else { throw AppleDesk.DeskFault.unexpected(Self.word(result)) }
        #expect(receipt.transactions.map(\.id) == [sold.id])
        #expect(receipt.renewals.first?.fact.willAutoRenew == false)
        #expect(receipt.renewals.first?.fact.expirationIntent == 1)
        #expect(receipt.renewals.first?.fact.originalID == sold.id)
    }

    @Test func sandboxReceiptsAreSentToTheSandboxAfterProduction() async throws {
        let desk = AppleDesk()
        try desk.buy("sword", by: "tester")
        let result = try await desk.receiptCall().verify(desk.receipt(of: "tester"), of: desk.credentials)
        #expect(result.receipt?.store == .sandbox)
        #expect(result.receipt?.proof.fact.claims.environment == .sandbox)
        #expect(desk.log.urls == ["/production/", "/sandbox/"].map { "http://store.test\($0)verifyReceipt" })
        var options = VerifyReceiptCall.Options()
        options.stores = [.production]
        let refused = try await desk.receiptCall()
            .verify(desk.receipt(of: "tester"), of: desk.credentials, options: options)
        #expect(Self.word(refused).hasPrefix("refused notOurs(Verification.Reason.environmentNotAccepted"))
    }

    @Test func hostsThatSendEachOtherTheReceiptAreAskedThreeTimesAtMost() async throws {
        let desk = AppleDesk()
        let call = try desk.receiptCall { call throws(HTTPCallFailure) in
            let status = call.url.contains("production") ? 21_007 : 21_008
            return HTTPResponse(.ok, body: Array("{\"status\":\(status)}".utf8))
        }
        #expect(Self.word(await call.verify([1], of: desk.credentials)) == "hosts disagree")
        #expect(desk.log.urls.map { $0.contains("production") } == [true, false, true])
        let stubborn = AppleDesk()
        let other = try stubborn.receiptCall { _ throws(HTTPCallFailure) in
            HTTPResponse(.ok, body: Array(#"{"status":21007}"#.utf8))
        }
        #expect(Self.word(await other.verify([1], of: stubborn.credentials)) == "hosts disagree")
        #expect(stubborn.log.calls.count == 2)
    }

    @Test func productionIsAskedAgainWhenTheSandboxSaysSo() async throws {
        let desk = AppleDesk()
        try desk.buy("sword")
        let log = desk.log
        let call = try desk.receiptCall { _ throws(HTTPCallFailure) in
            // Production's first word is wrong.
            log.calls.count == 1 ? HTTPResponse(.ok, body: Array(#"{"status":21007}"#.utf8)) : nil
        }
        let result = try await call.verify(desk.receipt(), of: desk.credentials)
        #expect(result.receipt?.store == .production)
        #expect(log.calls.count == 3)
    }

    struct Outage: Sendable {
        let name: String
        let response: HTTPResponse?
        let failure: HTTPCallFailure?
        let word: String

        init(_ name: String, _ response: HTTPResponse, _ word: String) {
            (self.name, self.response, failure, self.word) = (name, response, nil, word)
        }

        init(_ failure: HTTPCallFailure, _ word: String) {
            (name, response, self.failure, self.word) = ("\(failure)", nil, failure, word)
        }
    }

    static let outages = [
        Outage(
            "page",
            HTTPResponse(.ok, body: Array("<html></html>".utf8)),
            "unreadable(AppStore.UnreadableAnswer.page, 200)"
        ),
        Outage("empty", HTTPResponse(.ok), "unreadable(AppStore.UnreadableAnswer.empty, 200)"),
        Outage(
            "half",
            HTTPResponse(.ok, body: Array(#"{"status":0,"rec"#.utf8)),
            "unreadable(AppStore.UnreadableAnswer.json, 200)"
        ),
        Outage("word", HTTPResponse(.ok, body: Array("OK".utf8)), "unreadable(AppStore.UnreadableAnswer.json, 200)"),
        Outage("list", HTTPResponse(.ok, body: Array("[]".utf8)), "unreadable(AppStore.UnreadableAnswer.shape, 200)"),
        Outage(
            "no status",
            HTTPResponse(.ok, body: Array("{}".utf8)),
            "unreadable(AppStore.UnreadableAnswer.shape, 200)"
        ),
        Outage("503", HTTPResponse(.serviceUnavailable), "unavailable(503)"),
        Outage("404", HTTPResponse(.notFound), "unexpected(404)"),
        Outage("302", HTTPResponse(HTTPStatus(rawValue: 302)), "unexpected(302)"),
        Outage(
            "a status inside a 500",
            HTTPResponse(.internalServerError, body: Array(#"{"status":21003}"#.utf8)),
            "unavailable(500)"
        ),
        Outage(.timedOut, "unreachable(HTTP.HTTPCallFailure.timedOut)"),
        Outage(.noResponse, "unreachable(HTTP.HTTPCallFailure.noResponse)"),
        Outage(.tls, "unreachable(HTTP.HTTPCallFailure.tls)"),
        Outage(.closedEarly, "unreachable(HTTP.HTTPCallFailure.closedEarly)"),
    ]

    @Test(arguments: outages)
    func whatIsNoAnswerIsAnOutageAndNoVerdict(outage: Outage) async throws {
        let desk = AppleDesk()
        let call = try desk.receiptCall { _ throws(HTTPCallFailure) in
            if let failure = outage.failure { throw failure }
            return outage.response
        }
        let result = await call.verify([1], of: desk.credentials)
        #expect(Self.word(result).replacing("AppStore.AppStoreFailure.", with: "") == "no answer \(outage.word)")
        #expect(desk.log.calls.count == 1)
    }

    @Test func aReceiptOfAnotherAppIsNotOurs() async throws {
        let desk = AppleDesk()
        try desk.buy("sword")
        var other = desk.credentials
        other.bundleID = BundleID(checked: "com.example.other")
        let result = try await desk.receiptCall().verify(desk.receipt(), of: other)
        guard case .refused(.notOurs(.foreignBundleID, _)) = result else {
            throw AppleDesk.DeskFault.unexpected(Self.word(result))
        }
    }

    @Test func theReceiptIsSentAsBase64WithSecretAndOptions() async throws {
        let desk = AppleDesk()
        let call = try desk.receiptCall { _ throws(HTTPCallFailure) in HTTPResponse(.ok) }
        var options = VerifyReceiptCall.Options()
        options.excludesOldTransactions = true
        options.timeout = .seconds(7)
        _ = await call.verify([0xFB, 0xFF], of: desk.credentials, options: options)
        let sent = try #require(desk.log.calls.first)
        #expect(
            sent.body
                == Array(
                    #"{"receipt-data":"+/8=","password":"\#(DemoCatalogue.sharedSecret)","exclude-old-transactions":true}"#
                        .utf8
                )
        )
        #expect(sent.method == .post && sent.timeout == .seconds(7))
        #expect(Self.word(await call.verify([], of: desk.credentials)) == "refused empty")
        #expect(desk.log.calls.count == 1)
    }

    @Test func aMissingSecretIsOurFaultAndNotTheReceipts() async throws {
        let desk = AppleDesk()
        try desk.buy("pro.yearly")
        for secret in [nil, "00000000000000000000000000000000"] {
            var app = desk.credentials
            app.sharedSecret = secret
            #expect(Self.word(try await desk.receiptCall().verify(desk.receipt(), of: app)) == "wrong secret")
        }
    }

    @Test func throttlingSaysWhenToAskAgain() async throws {
        let desk = AppleDesk()
        let call = try desk.receiptCall { _ throws(HTTPCallFailure) in
            HTTPResponse(.tooManyRequests, fields: ["Retry-After": "1767225700000"])
        }
        guard case .unavailable(_, let retryAt) = await call.verify([1], of: desk.credentials) else {
            throw AppleDesk.DeskFault.nothingBought
        }
        #expect(retryAt == Timestamp(seconds: 1_767_225_700))
    }
}
