import Encoding
import PurchaseModel
import Simulator
import TestSupport
import Testing

/// Which keys verifyReceipt's answers about app receipts have: those of Apple's tables, and no others.
struct ReceiptAnswerTests {
    static let once =
        "quantity product_id transaction_id original_transaction_id purchase_date* original_purchase_date*"
        + " is_trial_period in_app_ownership_type"
    static let renewing = once + " expires_date* web_order_line_item_id is_in_intro_offer_period"
    static let latest = renewing + " subscription_group_identifier"

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        /// Of the newest element of `latest_receipt_info`, and of the same transaction in `in_app`.
        let latest: String
        let inApp: String
        var values: [String: String] = [:]
        var customer = "anna"
        let live: @Sendable (inout StoreLife) throws -> Void

        var testDescription: String { name }
    }

    static let rows = [
        Row(name: "a subscription", latest: latest, inApp: renewing, values: ["is_trial_period": "false"]) { life in
            try life.buy("pro.yearly")
        },
        Row(
            name: "a trial",
            latest: latest,
            inApp: renewing,
            values: ["is_trial_period": "true", "is_in_intro_offer_period": "false"]
        ) { try $0.buy("pro.monthly") },
        Row(
            name: "a promotional offer",
            latest: latest + " promotional_offer_id",
            inApp: renewing + " promotional_offer_id",
            values: ["promotional_offer_id": "THREE-MONTHS-HALF"]
        ) { life in
            try life.buy("pro.weekly")
            try life.perform(.setAutoRenew(life.subscription("pro.weekly"), isOn: false))
            life.days(8)
            try life.buy("pro.monthly", offer: "THREE-MONTHS-HALF")
        },
        Row(
            name: "an offer code",
            latest: latest + " offer_code_ref_name",
            inApp: renewing,
            values: ["offer_code_ref_name": "WELCOME", "is_trial_period": "false"]
        ) { try $0.buy("pro.monthly", offer: "WELCOME") },
        Row(
            name: "a win-back offer, for which there is no key",
            latest: latest,
            inApp: renewing
        ) { life in
            try life.buy("pro.weekly")
            try life.perform(.setAutoRenew(life.subscription("pro.weekly"), isOn: false))
            life.days(8)
            try life.buy("pro.monthly", offer: "COME-BACK")
        },
        Row(
            name: "a refund",
            latest: latest + " cancellation_date* cancellation_reason",
            inApp: renewing + " cancellation_date* cancellation_reason",
            values: ["cancellation_reason": "1", "cancellation_date_ms": "1767225600000"]
        ) { life in
            let id = try life.buy("pro.yearly").id
            var request = Act.RefundRequest(transaction: id)
            request.reason = .fulfillmentIssue
            try life.perform(.askRefund(request))
            try life.perform(.decideRefund(id, .full))
        },
        Row(
            name: "an account token",
            latest: latest + " app_account_token",
            inApp: renewing,
            values: ["app_account_token": "00000000-0000-0001-0000-000000000002"]
        ) { life in
            var purchase = Act.Purchase(
                customer: "anna",
                app: DemoCatalogue.bundleID,
                product: DemoCatalogue.product("pro.yearly")
            )
            purchase.accountToken = AccountToken(high: 1, low: 2)
            try life.perform(.buy(purchase))
        },
        Row(
            name: "a family's copy",
            latest: latest,
            inApp: renewing,
            values: ["in_app_ownership_type": "FAMILY_SHARED"],
            customer: "berta"
        ) { life in
            try life.perform(.setFamily(customer: "anna", family: "f"))
            try life.perform(.setFamily(customer: "berta", family: "f"))
            try life.buy("premium.monthly")
        },
    ]

    @Test(arguments: rows)
    func aTransactionHasTheKeysOfItsKind(_ row: Row) throws {
        var life = StoreLife()
        try row.live(&life)
        let answer = try ReceiptDesk(life).ask(about: row.customer)
        #expect(answer.status == 0)
        let newest = try #require(answer.list("latest_receipt_info").first)
        #expect(newest.keys == .keys(row.latest))
        for (key, value) in row.values { #expect(newest.text(key) == value) }
        let receipt = try #require(answer["receipt"]?.object)
        let same = receipt.list("in_app").first { $0.text("transaction_id") == newest.text("transaction_id") }
        #expect(try #require(same).keys == .keys(row.inApp))
        for key in ["purchase_date_ms", "expires_date_ms", "product_id", "is_trial_period", "cancellation_date"] {
            #expect(same?.text(key) == newest.text(key))
        }
        // Whatever stands in a transaction is a text.
        #expect(newest.members.allSatisfy { $0.value.kind == .string })
    }

    @Test func anUpgradedPeriodSaysSo() throws {
        var life = StoreLife()
        let old = try life.buy("pro.yearly").id.description
        try life.perform(.changePlan(life.subscription("pro.yearly"), to: DemoCatalogue.product("premium.monthly")))
        let answer = try ReceiptDesk(life).ask()
        let upgraded = answer.list("latest_receipt_info").first { $0.text("transaction_id") == old }
        #expect(try #require(upgraded).keys == .keys(Self.latest + " is_upgraded"))
        #expect(upgraded?.text("is_upgraded") == "true")
    }

    @Test func whatIsSoldOnceHasFewerKeys() throws {
        var life = StoreLife()
        let coins = try life.buy("coins.100", quantity: 3)
        let sword = try life.buy("sword")
        let refunded = try life.buy("coins.1000")
        try life.perform(.decideRefund(refunded.id, .full))
        try life.perform(.decideRefund(sword.id, .full))
        let answer = try ReceiptDesk(life).ask()
        #expect(answer.keys == .keys("status environment receipt"))
        let inApp = try #require(answer["receipt"]?.object).list("in_app")
        for purchase in inApp {
            let isSword = purchase.text("transaction_id") == sword.id.description
            // Refunded consumables do not say so.
            #expect(purchase.keys == .keys(Self.once + (isSword ? " cancellation_date* cancellation_reason" : "")))
        }
        #expect(inApp.first { $0.text("transaction_id") == coins.id.description }?.text("quantity") == "3")
        try life.perform(.finish(coins.id))
        let later = try ReceiptDesk(life).ask()
        #expect(try #require(later["receipt"]?.object).list("in_app").count == 2)
    }

    static let receiptKeys =
        "receipt_type adam_id app_item_id bundle_id application_version download_id version_external_identifier"
        + " receipt_creation_date* request_date* original_purchase_date* original_application_version in_app"

    @Test(arguments: [StoreEnvironment.production, .sandbox])
    func theReceiptItselfHasEveryKey(_ environment: StoreEnvironment) throws {
        var life = StoreLife()
        let customer = environment == .production ? "anna" : "tester"
        try life.buy("sword", by: customer)
        let desk = ReceiptDesk(life)
        let bytes = try desk.receipt(of: customer)
        desk.simulator.change { $0.advance(to: $0.now.advanced(by: .milliseconds(90_123))) }
        let answer = try desk.ask(bytes, environment)
        let receipt = try #require(answer["receipt"]?.object)
        #expect(receipt.keys == .keys(Self.receiptKeys))
        let numbers = receipt.members.filter { $0.value.kind == .number }.map(\.key)
        #expect(Set(numbers) == .keys("adam_id app_item_id download_id version_external_identifier"))
        let isProduction = environment == .production
        #expect(answer.text("environment") == (isProduction ? "Production" : "Sandbox"))
        #expect(receipt.text("receipt_type") == (isProduction ? "Production" : "ProductionSandbox"))
        #expect(receipt["adam_id"]?.int64 == (isProduction ? DemoCatalogue.appleID : 0))
        #expect(((receipt["download_id"]?.int64 ?? 0) > 9_007_199_254_740_992) == isProduction)
        #expect(receipt["version_external_identifier"]?.int64 == (isProduction ? 860_000_001 : 0))
        #expect(receipt.text("request_date_ms") == "1767225690123")
        #expect(receipt.text("request_date") == "2026-01-01 00:01:30 Etc/GMT")
        #expect(receipt.text("request_date_pst") == "2025-12-31 16:01:30 America/Los_Angeles")
        #expect(receipt.text("receipt_creation_date_ms") == "1767225600000")
        #expect(receipt.text("original_purchase_date_ms") == (isProduction ? "1767225600000" : "1375340400000"))
        #expect(receipt.text("original_application_version") == (isProduction ? "1" : "1.0"))
    }

    @Test func onlyTheNewestOfEachSubscriptionIsGivenWhenAskedFor() throws {
        var life = StoreLife()
        try life.buy("pro.weekly")
        try life.buy("sword")
        life.days(22)
        let desk = ReceiptDesk(life)
        let receipt = try desk.receipt()
        let all = try desk.ask(receipt).list("latest_receipt_info")
        #expect(all.count == 5)
        let dates = all.compactMap { $0.text("purchase_date_ms") }
        #expect(dates == dates.sorted(by: >))
        let newest = try desk.ask(receipt, excludesOld: true)
        #expect(newest.list("latest_receipt_info").count == 2)
        #expect(newest.list("latest_receipt_info").first?.text("transaction_id") == all.first?.text("transaction_id"))
        #expect(newest["receipt"]?.object?.list("in_app").count == 5)
    }

    @Test func theNewestReceiptIsMadeAnew() throws {
        var life = StoreLife()
        try life.buy("pro.weekly")
        let old = try ReceiptDesk(life).receipt()
        life.days(8)
        let desk = ReceiptDesk(life)
        let answer = try desk.ask(old)
        #expect(
            answer.keys == .keys("status environment receipt latest_receipt_info latest_receipt pending_renewal_info")
        )
        #expect(answer["receipt"]?.object?.list("in_app").count == 1)
        let newest = try Base64.decode(
            Array(#require(answer.text("latest_receipt")).utf8),
            .standard,
            padding: .required
        )
        let again = try #require(try desk.ask(newest)["receipt"]?.object)
        #expect(again.list("in_app").count == 2)
        #expect(again.text("receipt_creation_date_ms") == String(life.store.now.milliseconds))
    }
}
