import AppleFormats
import Encoding
import Testing

@Suite("verifyReceipt's answers")
struct AnswerTests {
    private func answer(_ text: String) throws -> VerifyReceiptResponse {
        try VerifyReceiptResponse(JWSSamples.document(text))
    }

    static let appAnswer = #"""
        {"status":0,"environment":"Sandbox","receipt":{"receipt_type":"ProductionSandbox","adam_id":0,"app_item_id":0,
        "bundle_id":"com.example.demo","application_version":"1","download_id":502787298214239215,
        "version_external_identifier":0,"receipt_creation_date":"2015-08-13 07:50:46 Etc/GMT",
        "receipt_creation_date_ms":"1439452246000","receipt_creation_date_pst":"2015-08-13 00:50:46 America/Los_Angeles",
        "request_date_ms":"1448129867409","original_purchase_date":"2013-08-01 07:00:00 Etc/GMT",
        "original_application_version":"1.0","preorder_date_ms":"1375340400000","expiration_date_ms":"1375340500000",
        "in_app":[{"quantity":"1","product_id":"monthly","transaction_id":"1000000166965327",
        "original_transaction_id":1000000166965150,"purchase_date":"2015-08-10 06:54:32 Etc/GMT",
        "original_purchase_date_ms":"1439189598000","expires_date":"2015-08-10 06:59:32 Etc/GMT",
        "expires_date_ms":"1439189972000","web_order_line_item_id":"1000000030274154","is_trial_period":"false",
        "is_in_intro_offer_period":true,"is_upgraded":"true","cancellation_date_ms":"1439189999000",
        "cancellation_reason":"1","promotional_offer_id":"p","offer_code_ref_name":"o",
        "subscription_group_identifier":"g","in_app_ownership_type":"FAMILY_SHARED","app_account_token":"t",
        "newer":{}}]},
        "latest_receipt_info":[{"transaction_id":"2"},{"transaction_id":"3"}],"latest_receipt":"MIIT",
        "pending_renewal_info":[{"auto_renew_product_id":"yearly","product_id":"monthly",
        "original_transaction_id":"1000000166965150","auto_renew_status":"0","expiration_intent":"1",
        "is_in_billing_retry_period":"0","grace_period_expires_date_ms":"1439189972000","price_consent_status":"1",
        "price_increase_status":"0"}]}
        """#

    @Test("for an app receipt give every field")
    func app() throws {
        let answer = try answer(Self.appAnswer)
        #expect(answer.status == .valid)
        #expect(answer.environment == .sandbox)
        #expect(answer.latestReceipt == "MIIT")
        #expect(answer.latestReceiptInfo.map(\.transactionID) == ["2", "3"])
        #expect(answer.renewal == nil)
        #expect(answer.others.isEmpty)
        guard case .app(let receipt) = answer.receipt else {
            Issue.record("not an app receipt")
            return
        }
        #expect(receipt.bundleID == "com.example.demo")
        #expect(receipt.downloadID == 502_787_298_214_239_215)
        #expect(receipt.receiptCreationDate == 1_439_452_246_000)
        #expect(receipt.requestDate == 1_448_129_867_409)
        #expect(receipt.originalPurchaseDate == 1_375_340_400_000)
        #expect(receipt.preorderDate == 1_375_340_400_000)
        #expect(receipt.expirationDate == 1_375_340_500_000)
        #expect(receipt.others.isEmpty)
        let purchase = try #require(receipt.inApp.first)
        #expect(purchase.quantity == 1)
        #expect(purchase.transactionID == "1000000166965327")
        #expect(purchase.originalTransactionID == "1000000166965150")
        #expect(purchase.purchaseDate == 1_439_189_672_000)
        #expect(purchase.originalPurchaseDate == 1_439_189_598_000)
        #expect(purchase.expiresDate == 1_439_189_972_000)
        #expect(purchase.isTrialPeriod == false)
        #expect(purchase.isInIntroOfferPeriod == true)
        #expect(purchase.isUpgraded == true)
        #expect(purchase.cancellationDate == 1_439_189_999_000)
        #expect(purchase.cancellationReason == 1)
        #expect(purchase.inAppOwnershipType == .familyShared)
        #expect(purchase.others.map(\.name) == ["newer"])
        let renewal = try #require(answer.pendingRenewalInfo.first)
        #expect(renewal.willAutoRenew == false)
        #expect(renewal.expirationIntent == .customerCancelled)
        #expect(renewal.isInBillingRetryPeriod == false)
        #expect(renewal.gracePeriodExpiresDate == 1_439_189_972_000)
        #expect(renewal.priceConsentStatus == 1)
        #expect(renewal.others.isEmpty)
    }

    @Test("for an iOS 6 receipt give one transaction, and the renewal from the top")
    func transaction() throws {
        let answer = try answer(
            #"""
            {"status":21006,"auto_renew_status":0,"auto_renew_product_id":"yearly","expiration_intent":"2",
            "is_in_billing_retry_period":"1","cancellation_reason":"0",
            "receipt":{"bid":"com.example.demo","bvrs":"1","product_id":"yearly","item_id":"1028950797",
            "app_item_id":1,"version_external_identifier":0,"quantity":"1","transaction_id":"1000000181298734",
            "purchase_date_ms":"1447821281636","expires_date":"1448346881000",
            "expires_date_formatted":"2015-11-24 06:34:41 Etc/GMT","unique_identifier":"dd0e",
            "unique_vendor_identifier":"4E5E"},
            "latest_expired_receipt_info":{"transaction_id":"1000000181298735",
            "expires_date_formatted":"2015-11-24 06:34:41 Etc/GMT"}}
            """#
        )
        #expect(answer.status == .subscriptionExpired)
        #expect(answer.renewal?.willAutoRenew == false)
        #expect(answer.renewal?.autoRenewProductID == "yearly")
        #expect(answer.renewal?.expirationIntent == .billingError)
        #expect(answer.renewal?.isInBillingRetryPeriod == true)
        #expect(answer.others.map(\.name) == ["cancellation_reason"])
        #expect(answer.latestExpiredReceiptInfo?.transactionID == "1000000181298735")
        #expect(answer.latestExpiredReceiptInfo?.expiresDate == 1_448_346_881_000)
        guard case .transaction(let transaction) = answer.receipt else {
            Issue.record("not a transaction")
            return
        }
        #expect(transaction.bundleID == "com.example.demo")
        #expect(transaction.bundleVersion == "1")
        #expect(transaction.itemID == "1028950797")
        #expect(transaction.appItemID == "1")
        #expect(transaction.versionExternalIdentifier == "0")
        #expect(transaction.purchaseDate == 1_447_821_281_636)
        #expect(transaction.expiresDate == 1_448_346_881_000)
        #expect(transaction.others.isEmpty)
    }

    @Test("take an object where one transaction stands")
    func oneObject() throws {
        #expect(try answer(#"{"latest_receipt_info":{"transaction_id":"1"}}"#).latestReceiptInfo.count == 1)
        #expect(try answer(#"{"latest_receipt_info":[]}"#).latestReceiptInfo.isEmpty)
        #expect(try answer(#"{"latest_receipt_info":null}"#).latestReceiptInfo.isEmpty)
    }

    @Test(
        "say whether to ask again in either spelling and form",
        arguments: [
            (#"{"is-retryable":true}"#, true), (#"{"is-retryable":"false"}"#, false), (#"{"is_retryable":1}"#, true),
            (#"{"is_retryable":"0"}"#, false), (#"{"is-retryable":null}"#, nil), ("{}", nil),
        ] as [(String, Bool?)]
    )
    func retryable(text: String, expected: Bool?) throws {
        #expect(try answer(text).isRetryable == expected)
    }

    static let bad: [(text: String, fault: FormatFault)] = [
        ("[]", .wrongType(field: "object")),
        (#"{"status":"good"}"#, .invalidValue(field: "status")),
        (#"{"status":{}}"#, .wrongType(field: "status")),
        (#"{"receipt":[]}"#, .wrongType(field: "receipt")),
        (#"{"latest_receipt_info":"x"}"#, .wrongType(field: "latest_receipt_info")),
        (#"{"latest_receipt_info":[1]}"#, .wrongType(field: "latest_receipt_info")),
        (#"{"receipt":{"in_app":{}}}"#, .wrongType(field: "in_app")),
        (#"{"receipt":{"in_app":[{"quantity":"one"}]}}"#, .invalidValue(field: "quantity")),
        (#"{"receipt":{"in_app":[{"transaction_id":true}]}}"#, .wrongType(field: "transaction_id")),
        (#"{"receipt":{"in_app":[{"is_trial_period":"maybe"}]}}"#, .invalidValue(field: "is_trial_period")),
        (#"{"receipt":{"in_app":[{"purchase_date":"soon"}]}}"#, .invalidValue(field: "purchase_date")),
        (#"{"receipt":{"in_app":[{"purchase_date_ms":[]}]}}"#, .wrongType(field: "purchase_date_ms")),
    ]

    @Test("are refused for a field's sake", arguments: bad)
    func refused(text: String, fault: FormatFault) {
        #expect(throws: fault) { try answer(text) }
    }

    @Test("are refused with more transactions than any answer has")
    func limit() {
        let many = String(repeating: "{},", count: 20_000) + "{}"
        #expect(throws: FormatFault.self) { try answer("{\"latest_receipt_info\":[\(many)]}") }
    }

    static let statuses: [(status: Int64, isRetryable: Bool?, retry: Bool, hasReceipt: Bool)] = [
        (0, nil, false, true), (21_000, nil, false, false), (21_002, nil, true, false), (21_003, nil, false, false),
        (21_004, true, false, false), (21_005, nil, true, false), (21_006, nil, false, true),
        (21_007, nil, false, false), (21_008, nil, false, false), (21_009, nil, true, false),
        (21_010, nil, false, false), (21_099, true, false, false), (21_100, true, true, false),
        (21_150, false, false, false), (21_199, nil, true, false), (21_200, true, false, false),
    ]

    @Test("tell by their status what to do", arguments: statuses)
    func status(status: Int64, isRetryable: Bool?, retry: Bool, hasReceipt: Bool) {
        let status = VerifyReceiptStatus(rawValue: status)
        #expect(status.deservesRetry(isRetryable: isRetryable) == retry)
        #expect(status.hasReceipt == hasReceipt)
    }
}

@Suite("A version 1 notification")
struct NotificationV1Tests {
    static let text = #"""
        {"notification_type":"DID_RENEW","password":"0123","environment":"PROD","auto_renew_product_id":"month",
        "auto_renew_status":"true","auto_renew_adam_id":1234567891,"auto_renew_status_change_date_ms":"1439189972000",
        "bid":"com.example.app","bvrs":"412","deprecation":"Mon, 05 Jun 2023 00:00:00 GMT","expiration_intent":1,
        "original_transaction_id":340000953000001,"web_order_line_item_id":"5","cancellation_date_ms":"1439189972001",
        "unified_receipt":{"environment":"Production","status":0,"latest_receipt":"MIIT",
        "latest_receipt_info":[{"transaction_id":"340001196262039"}],
        "pending_renewal_info":[{"auto_renew_status":"1"}],"x":1},
        "latest_receipt":"ewo=","latest_receipt_info":{"transaction_id":"7"},
        "latest_expired_receipt":"ewp=","latest_expired_receipt_info":{"transaction_id":"8"},"y":2}
        """#

    @Test("gives every field")
    func fields() throws {
        let notification = try NotificationV1(JWSSamples.document(Self.text))
        #expect(notification.notificationType == "DID_RENEW")
        #expect(notification.password == "0123")
        #expect(notification.environment == "PROD")
        #expect(notification.autoRenewProductID == "month")
        #expect(notification.willAutoRenew == true)
        #expect(notification.autoRenewAdamID == "1234567891")
        #expect(notification.autoRenewStatusChangeDate == 1_439_189_972_000)
        #expect(notification.bundleID == "com.example.app")
        #expect(notification.bundleVersion == "412")
        #expect(notification.expirationIntent == .customerCancelled)
        #expect(notification.originalTransactionID == "340000953000001")
        #expect(notification.cancellationDate == 1_439_189_972_001)
        #expect(notification.unifiedReceipt?.environment == .production)
        #expect(notification.unifiedReceipt?.status == .valid)
        #expect(notification.unifiedReceipt?.latestReceiptInfo.map(\.transactionID) == ["340001196262039"])
        #expect(notification.unifiedReceipt?.pendingRenewalInfo.map(\.willAutoRenew) == [true])
        #expect(notification.unifiedReceipt?.others.map(\.name) == ["x"])
        #expect(notification.latestReceiptInfo.map(\.transactionID) == ["7"])
        #expect(notification.latestExpiredReceiptInfo?.transactionID == "8")
        #expect(notification.others.map(\.name) == ["y"])
    }

    @Test("changed at any byte, fails or is decoded without a trap")
    func broken() {
        let bytes = Array(Self.text.utf8)
        for offset in bytes.indices {
            for flip: UInt8 in [0x01, 0x02, 0x10, 0x80] {
                var changed = bytes
                changed[offset] ^= flip
                guard let document = try? JSONDocument.ofApple(changed) else { continue }
                _ = try? NotificationV1(document)
                _ = try? VerifyReceiptResponse(document)
            }
        }
    }
}
