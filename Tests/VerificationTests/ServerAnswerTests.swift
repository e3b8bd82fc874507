import AppleFormats
import Encoding
import PurchaseModel
import Testing
import Verification

/// The door for what Apple's server answers: who vouches, and as of when.
@Suite struct ServerAnswerTests {
    private static let asked = Timestamp(milliseconds: 1_800_000_000_000)

    private static func answer(
        _ json: String,
        from url: String = ServerAnswer.productionURL,
        of store: StoreEnvironment = .production
    ) throws -> AnswerExamination {
        let response = try VerifyReceiptResponse(JSONDocument.ofApple(Array(json.utf8)))
        let said = ServerAnswer(response, in: [], from: url, of: store, askedAt: asked)
        return try TestVerifier.apple().examine(
            said,
            expecting: Expected(bundleID: BundleID(checked: "com.example.demo"), environments: [.production, .sandbox])
        )
    }

    private static func entry(_ id: String, _ more: String = "") -> String {
        #"{"quantity":"1","product_id":"p.\#(id)","transaction_id":"\#(id)","original_transaction_id":"7","#
            + #""purchase_date_ms":"1500000000000","is_trial_period":"false","in_app_ownership_type":"PURCHASED"\#(more)}"#
    }

    private static func receipt(_ entries: [String], requestDate: String? = "1700000000123", rest: String = "")
        -> String
    {
        let date = requestDate.map { #","request_date_ms":"\#($0)""# } ?? ""
        return #"{"status":0,"environment":"Production","receipt":{"receipt_type":"Production","#
            + #""bundle_id":"com.example.demo","receipt_creation_date_ms":"1600000000000"\#(date),"in_app":["#
            + entries.joined(separator: ",") + "]}" + rest + "}"
    }

    @Test(arguments: [
        ("https://buy.itunes.apple.com/verifyReceipt", StoreEnvironment.production, Voucher.appleServer),
        ("https://sandbox.itunes.apple.com/verifyReceipt", .production, .testServer),
        ("http://buy.itunes.apple.com/verifyReceipt", .production, .testServer),
        ("https://buy.itunes.apple.com:8443/verifyReceipt", .production, .testServer),
        ("https://buy.itunes.apple.com.example/verifyReceipt", .production, .testServer),
        ("https://buy.itunes.apple.com/verifyReceipt/", .production, .testServer),
        ("https://user@buy.itunes.apple.com/verifyReceipt", .production, .testServer),
        ("https://BUY.itunes.apple.com/verifyReceipt", .production, .testServer),
        ("https://buy.itunes.apple.com/verifyReceip\u{1D5}", .production, .testServer),
        ("http://127.0.0.1:8080/production/verifyReceipt", .production, .testServer),
        ("", .production, .testServer),
    ])
    func onlyApplesOwnAddressVouchesForApple(url: String, store: StoreEnvironment, voucher: Voucher) throws {
        let found = try Self.answer(Self.receipt([Self.entry("1")]), from: url, of: store)
        let proof = try #require(found.examination.proof)
        #expect(proof.provenance.vouchedBy == voucher)
        #expect(proof.verdict == (voucher == .appleServer ? .genuine : .testSigned))
        #expect(found.examination.reason == (voucher == .appleServer ? .answeredByApple : .answeredByTestServer))
        #expect(found.examination.isConsistent)
    }

    @Test(arguments: [
        (#"{"status":21003}"#, Reason.answerWithoutPurchase),
        (#"{"status":0}"#, .answerWithoutPurchase),
        (#"{"receipt":{"bundle_id":"com.example.demo","in_app":[]}}"#, .answerWithoutPurchase),
        (#"{"status":0,"receipt":{"bundle_id":"com.example.other","in_app":[]}}"#, .foreignBundleID),
        (#"{"status":0,"receipt":{"in_app":[]}}"#, .foreignBundleID),
        (#"{"status":0,"environment":"Sandbox","receipt":{"bundle_id":"com.example.demo"}}"#, .environmentUnknown),
        (#"{"status":0,"environment":"Xcode","receipt":{"bundle_id":"com.example.demo"}}"#, .environmentUnknown),
        (
            #"{"status":0,"receipt":{"receipt_type":"ProductionSandbox","bundle_id":"com.example.demo"}}"#,
            .environmentUnknown
        ),
    ])
    func whatIsNotForUsProvesNothing(json: String, reason: Reason) throws {
        let found = try Self.answer(json)
        #expect(found.examination.reason == reason)
        #expect(!found.examination.isProved && found.renewals.isEmpty)
    }

    @Test func whatAppleLookedUpIsOfNowAndWhatItDecodedIsOfTheReceipt() throws {
        let subscription = #","expires_date_ms":"1700500000000","web_order_line_item_id":"5""#
        let json = Self.receipt(
            [
                Self.entry("1"), Self.entry("2", #","cancellation_date_ms":"1650000000000""#),
                Self.entry("3", #","cancellation_date_ms":"1550000000000""#), Self.entry("4", subscription),
            ],
            rest: #","latest_receipt_info":[\#(Self.entry("4", subscription)),\#(Self.entry("5", subscription))],"#
                + #""pending_renewal_info":[{"auto_renew_product_id":"p.6","product_id":"p.5","#
                + #""original_transaction_id":"7","auto_renew_status":"0","expiration_intent":"2","#
                + #""is_in_billing_retry_period":"1","grace_period_expires_date_ms":"1700900000000"}]"#
        )
        let found = try Self.answer(json)
        let proof = try #require(found.examination.proof)
        let signedAt = Dictionary(
            uniqueKeysWithValues: proof.fact.transactions.map { ($0.id.description, $0.signedAt) }
        )
        let (now, made) = (Timestamp(milliseconds: 1_700_000_000_123), Timestamp(milliseconds: 1_600_000_000_000))
        #expect(
            signedAt == ["1": made, "2": Timestamp(milliseconds: 1_650_000_000_000), "3": made, "4": now, "5": now]
        )
        #expect(proof.provenance.signedAt == now && proof.fact.claims.signedAt == now)
        let renewal = try #require(found.renewals.first)
        #expect(found.renewals.count == 1 && renewal.fact.signedAt == now && renewal.provenance == proof.provenance)
        #expect(renewal.fact.telling == .less(than: nil))
        #expect(renewal.fact.nextProduct?.text == "p.6" && renewal.fact.willAutoRenew == false)
        #expect(renewal.fact.isInBillingRetry == true && renewal.fact.expirationIntent == 2)
        #expect(renewal.fact.graceEndsAt == Timestamp(milliseconds: 1_700_900_000_000))
    }

    @Test func withoutADateOfApplesItIsAsOfWhenItWasAskedFor() throws {
        let json = Self.receipt([], requestDate: nil, rest: #","latest_receipt_info":[\#(Self.entry("1"))]"#)
        #expect(try Self.answer(json).examination.proof?.fact.transactions.map(\.signedAt) == [Self.asked])
    }

    /// Otherwise a newer answer would make a refunded consumable good again, as the fold is written.
    @Test func whatMayBeAConsumableTellsNoOwner() throws {
        let json = Self.receipt([
            Self.entry("1"), Self.entry("2", #","expires_date_ms":"1700500000000""#),
            Self.entry("3", #","cancellation_date_ms":"1650000000000""#),
            Self.entry("4").replacing("PURCHASED", with: "FAMILY_SHARED"),
        ])
        let transactions = try #require(Self.answer(json).examination.proof).fact.transactions
        #expect(transactions.map(\.ownership) == [nil, .purchased, .purchased, .familyShared])
        #expect(transactions.map(\.kind) == [nil, nil, nil, nil])
    }

    @Test func ofSeveralRenewalsOfOneSubscriptionTheOneThatLastsCounts() throws {
        let json = Self.receipt(
            [],
            rest: #","latest_receipt_info":[\#(Self.entry("1", #","expires_date_ms":"1700000000000""#)),"#
                + #"\#(Self.entry("2", #","expires_date_ms":"1800000000000""#))],"pending_renewal_info":["#
                + #"{"product_id":"p.1","original_transaction_id":"7","auto_renew_status":"0"},"#
                + #"{"product_id":"p.2","original_transaction_id":"7","auto_renew_status":"1"},"#
                + #"{"product_id":"p.9","auto_renew_status":"1"}]"#
        )
        let renewals = try Self.answer(json).renewals.map(\.fact)
        #expect(renewals.map(\.product.text) == ["p.2"])
        #expect(renewals.first?.willAutoRenew == true)
    }

    /// Each row: Apple's reason beside a date of cancellation of what was upgraded, and whether it was a refund.
    @Test(arguments: [("", false), (#","cancellation_reason":"0""#, false), (#","cancellation_reason":"1""#, true)])
    func whatWasUpgradedIsRefundedOnlyForARefundsReason(reason: String, isRefund: Bool) throws {
        let upgraded = #","is_upgraded":"true","cancellation_date_ms":"1650000000000""# + reason
        let entry = Self.entry("1", upgraded)
        let found = try Self.answer(Self.receipt([], rest: #","latest_receipt_info":[\#(entry)]"#))
        let transaction = try #require(found.examination.proof?.fact.transactions.first)
        #expect(transaction.isUpgraded)
        #expect((transaction.takenBack != nil) == isRefund)
    }

    @Test func anOddEntryIsLeftOutAndSaid() throws {
        let found = try Self.answer(Self.receipt([Self.entry("1"), #"{"product_id":"p","transaction_id":"x"}"#]))
        #expect(found.examination.proof?.fact.transactions.count == 1)
        #expect(found.examination.report.detail == "1 entries that are no transaction")
    }

    /// What stands there twice tells what either says.
    @Test(arguments: [false, true])
    func ofTwoEntriesTheOneThatTellsMoreCounts(isFirst: Bool) throws {
        let ends = Self.entry("1", #","expires_date_ms":"1600000000000""#)
        let refunded = Self.entry("2", #","cancellation_date_ms":"1650000000000""#)
        let entries = [ends, Self.entry("1"), refunded, Self.entry("2", #","expires_date_ms":"1600000000000""#)]
        let latest = (isFirst ? entries : entries.reversed()).joined(separator: ",")
        let found = try Self.answer(Self.receipt([], rest: #","latest_receipt_info":[\#(latest)]"#))
        let proof = try #require(found.examination.proof)
        let transactions = proof.fact.transactions.sorted { $0.id < $1.id }
        #expect(transactions.map(\.id.description) == ["1", "2"])
        #expect(transactions[0].expiresAt?.milliseconds == 1_600_000_000_000)
        #expect(transactions[1].revocation?.at.milliseconds == 1_650_000_000_000)
    }
}
