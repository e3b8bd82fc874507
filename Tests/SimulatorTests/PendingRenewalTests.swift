import Encoding
import PurchaseModel
import Simulator
import Testing

/// What `pending_renewal_info` says in each state of a subscription.
struct PendingRenewalTests {
    static let base = "auto_renew_product_id product_id original_transaction_id auto_renew_status"
    static let ended = base + " expiration_intent is_in_billing_retry_period"

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let keys: String
        let values: [String: String]
        let live: @Sendable (inout StoreLife) throws -> Void

        var testDescription: String { name }
    }

    private static func fail(_ life: inout StoreLife, days: Double) throws {
        try life.buy("pro.yearly")
        try life.perform(.setPayment(customer: "anna", works: false))
        life.days(365 + days)
    }

    private static func raise(_ life: inout StoreLife, needsConsent: Bool) throws {
        try life.buy("pro.yearly")
        let price = Price(milliunits: 99_990, currency: "USD")
        let product = DemoCatalogue.product("pro.yearly")
        try life.perform(
            .raisePrice(Act.PriceRise(app: life.app, product: product, price: price, needsConsent: needsConsent))
        )
    }

    static let rows = [
        Row(name: "it renews", keys: base, values: ["auto_renew_status": "1"]) { try $0.buy("pro.yearly") },
        Row(name: "it was cancelled and runs", keys: base, values: ["auto_renew_status": "0"]) { life in
            try life.buy("pro.yearly")
            try life.perform(.setAutoRenew(life.subscription("pro.yearly"), isOn: false))
        },
        Row(
            name: "it was cancelled and has ended",
            keys: ended,
            values: ["auto_renew_status": "0", "expiration_intent": "1", "is_in_billing_retry_period": "0"]
        ) { life in
            try life.buy("pro.yearly")
            try life.perform(.setAutoRenew(life.subscription("pro.yearly"), isOn: false))
            life.days(366)
        },
        Row(
            name: "it will be another plan",
            keys: base,
            values: [
                "auto_renew_product_id": "com.example.demo.pro.monthly",
                "product_id": "com.example.demo.premium.monthly",
            ]
        ) { life in
            try life.buy("premium.monthly")
            let monthly = DemoCatalogue.product("pro.monthly")
            try life.perform(.changePlan(life.subscription("premium.monthly"), to: monthly))
        },
        Row(
            name: "it is in its grace period",
            keys: ended + " grace_period_expires_date*",
            values: [
                "auto_renew_status": "1", "expiration_intent": "2", "is_in_billing_retry_period": "1",
                "grace_period_expires_date": "2027-01-17 00:00:00 Etc/GMT",
            ]
        ) { try fail(&$0, days: 1) },
        Row(
            name: "its grace period is over",
            keys: ended + " grace_period_expires_date*",
            values: ["auto_renew_status": "1", "expiration_intent": "2", "is_in_billing_retry_period": "1"]
        ) { try fail(&$0, days: 20) },
        Row(
            name: "Apple gave up",
            keys: ended + " grace_period_expires_date*",
            values: ["auto_renew_status": "0", "expiration_intent": "2", "is_in_billing_retry_period": "0"]
        ) { try fail(&$0, days: 61) },
        Row(
            name: "it recovered",
            keys: base,
            values: ["auto_renew_status": "1"]
        ) { life in
            try fail(&life, days: 20)
            try life.perform(.setPayment(customer: "anna", works: true))
        },
        Row(
            name: "a price rise waits for consent",
            keys: base + " price_consent_status price_increase_status",
            values: ["price_consent_status": "0", "price_increase_status": "0"]
        ) { try raise(&$0, needsConsent: true) },
        Row(
            name: "a price rise has consent",
            keys: base + " price_consent_status price_increase_status",
            values: ["price_consent_status": "1", "price_increase_status": "1"]
        ) { life in
            try raise(&life, needsConsent: true)
            try life.perform(.answerPriceRise(life.subscription("pro.yearly"), isAccepted: true))
        },
        Row(
            name: "a price rise needs no consent",
            keys: base + " price_increase_status",
            values: ["price_increase_status": "1"]
        ) { try raise(&$0, needsConsent: false) },
        Row(
            name: "a price rise had no consent",
            keys: ended + " price_consent_status price_increase_status",
            values: ["auto_renew_status": "0", "expiration_intent": "3"]
        ) { life in
            try raise(&life, needsConsent: true)
            life.days(366)
        },
        Row(name: "it is not for sale", keys: ended, values: ["expiration_intent": "4"]) { life in
            try life.buy("pro.yearly")
            try life.perform(.setForSale(app: life.app, DemoCatalogue.product("pro.yearly"), isOn: false))
            life.days(366)
        },
        Row(name: "it was refunded", keys: base, values: ["auto_renew_status": "0"]) { life in
            try life.perform(.decideRefund(life.buy("pro.yearly").id, .full))
        },
        Row(
            name: "the renewal has a promotional offer",
            keys: base + " promotional_offer_id",
            values: ["promotional_offer_id": "THREE-MONTHS-HALF"]
        ) { life in
            try life.buy("pro.monthly")
            life.days(10)
            try life.perform(.redeemOffer(life.subscription("pro.monthly"), offer: "THREE-MONTHS-HALF"))
        },
        Row(
            name: "a code was redeemed",
            keys: base + " offer_code_ref_name",
            values: ["offer_code_ref_name": "WELCOME"]
        ) { try $0.buy("pro.monthly", offer: "WELCOME") },
    ]

    @Test(arguments: rows)
    func everyStateHasItsKeys(_ row: Row) throws {
        var life = StoreLife()
        try row.live(&life)
        let pending = try ReceiptDesk(life).ask().list("pending_renewal_info")
        #expect(pending.count == 1)
        let element = try #require(pending.first)
        #expect(element.keys == .keys(row.keys))
        for (key, value) in row.values { #expect(element.text(key) == value, "\(key)") }
        #expect(element.members.allSatisfy { $0.value.kind == .string })
    }

    @Test func whoLeavesInTheGracePeriodHasLeftTheList() throws {
        var life = StoreLife()
        try Self.fail(&life, days: 1)
        try life.perform(.setAutoRenew(life.subscription("pro.yearly"), isOn: false))
        #expect(try ReceiptDesk(life).ask().list("pending_renewal_info").isEmpty)
        try life.perform(.setPayment(customer: "anna", works: true))
        try life.buy("pro.yearly")
        #expect(try ReceiptDesk(life).ask().list("pending_renewal_info").count == 1)
    }
}
