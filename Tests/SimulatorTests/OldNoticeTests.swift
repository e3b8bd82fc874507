import Encoding
import PurchaseModel
import Simulator
import TestSupport
import Testing

/// What servers hear that were never moved to version 2.
struct OldNoticeTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let told: [String]
        /// The same act in the sandbox; nil where the act needs a second customer.
        var toldInSandbox: [String]?
        /// The customer who acts is the argument.
        let live: @Sendable (inout StoreLife, String) throws -> Void

        var testDescription: String { name }
    }

    private static let status = "DID_CHANGE_RENEWAL_STATUS"

    private static func same(
        _ told: [String],
        _ name: String,
        _ live: @escaping @Sendable (inout StoreLife, String) throws -> Void
    ) -> Row {
        Row(name: name, told: told, toldInSandbox: told, live: live)
    }

    private static func subscription(_ product: String, _ customer: String) -> Act.Subscription {
        Act.Subscription(customer: customer, app: DemoCatalogue.bundleID, product: DemoCatalogue.product(product))
    }

    private static func lapse(_ life: inout StoreLife, _ who: String) throws {
        try life.buy("pro.weekly", by: who)
        try life.perform(.setAutoRenew(subscription("pro.weekly", who), isOn: false))
        life.days(8)
    }

    private static func fail(_ life: inout StoreLife, _ who: String) throws {
        try life.buy("pro.weekly", by: who)
        try life.perform(.setPayment(customer: who, works: false))
        life.store.advance(to: try life.line(of: who).expiresAt)
    }

    private static func share(_ life: inout StoreLife) throws {
        for name in ["anna", "berta", "carla"] { try life.perform(.setFamily(customer: name, family: "f")) }
        try life.buy("premium.monthly")
    }

    static let rows = [
        same(["INITIAL_BUY"], "a first purchase") { try $0.buy("pro.yearly", by: $1) },
        same([], "coins") { try $0.buy("coins.100", by: $1) },
        same(["INITIAL_BUY", "DID_RENEW"], "a renewal") { life, who in
            try life.buy("pro.yearly", by: who)
            life.store.advance(to: try life.line(of: who).expiresAt)
        },
        same(["INITIAL_BUY", status, "INTERACTIVE_RENEWAL"], "an upgrade") { life, who in
            try life.buy("pro.yearly", by: who)
            try life.perform(.changePlan(subscription("pro.yearly", who), to: DemoCatalogue.product("premium.monthly")))
        },
        same(["INITIAL_BUY", "DID_CHANGE_RENEWAL_PREF"], "a downgrade") { life, who in
            try life.buy("premium.monthly", by: who)
            try life.perform(.changePlan(subscription("premium.monthly", who), to: DemoCatalogue.product("pro.yearly")))
        },
        same(["INITIAL_BUY", status], "a cancellation, and no word of the end") { try lapse(&$0, $1) },
        same(["INITIAL_BUY", status, status], "the same again") { life, who in
            try lapse(&life, who)
            try life.buy("pro.weekly", by: who)
        },
        same(["INITIAL_BUY", status, "INTERACTIVE_RENEWAL", status], "another after a lapse") { life, who in
            try lapse(&life, who)
            try life.buy("pro.yearly", by: who)
        },
        Row(name: "declined", told: ["INITIAL_BUY", "DID_FAIL_TO_RENEW"], toldInSandbox: ["INITIAL_BUY"]) {
            try fail(&$0, $1)
        },
        Row(
            name: "recovered",
            told: ["INITIAL_BUY", "DID_FAIL_TO_RENEW", "DID_RECOVER"],
            toldInSandbox: ["INITIAL_BUY"]
        ) { life, who in
            try fail(&life, who)
            try life.perform(.setPayment(customer: who, works: true))
        },
        Row(
            name: "given up",
            told: ["INITIAL_BUY", "DID_FAIL_TO_RENEW", status],
            toldInSandbox: ["INITIAL_BUY", status]
        ) { life, who in
            try fail(&life, who)
            life.days(61)
        },
        same(["INITIAL_BUY", "CANCEL", status], "a subscription refunded") { life, who in
            try life.perform(.decideRefund(life.buy("pro.yearly", by: who).id, .full))
        },
        same(["REFUND"], "a sword refunded") { life, who in
            try life.perform(.decideRefund(life.buy("sword", by: who).id, .full))
        },
        Row(name: "a refund of coins is asked", told: ["CONSUMPTION_REQUEST"], toldInSandbox: []) { life, who in
            try life.perform(.askRefund(Act.RefundRequest(transaction: life.buy("coins.100", by: who).id)))
        },
        same([], "a refund of a sword is asked") { life, who in
            try life.perform(.askRefund(Act.RefundRequest(transaction: life.buy("sword", by: who).id)))
        },
        Row(
            name: "a price rise asks for consent",
            told: ["INITIAL_BUY", "PRICE_INCREASE_CONSENT"],
            toldInSandbox: ["INITIAL_BUY"]
        ) { life, who in
            try life.buy("pro.yearly", by: who)
            let rise = Act.PriceRise(
                app: DemoCatalogue.bundleID,
                product: DemoCatalogue.product("pro.yearly"),
                price: Price(milliunits: 99_990, currency: "USD"),
                needsConsent: true
            )
            try life.perform(.raisePrice(rise))
        },
        Row(name: "a family begins", told: ["INITIAL_BUY"]) { life, _ in try share(&life) },
        Row(name: "a family renews", told: ["INITIAL_BUY", "DID_RENEW", "DID_RENEW", "DID_RENEW"]) { life, _ in
            try share(&life)
            life.days(31)
        },
        Row(name: "a family ends", told: ["INITIAL_BUY", "CANCEL", status, "REVOKE", "REVOKE"]) { life, _ in
            try share(&life)
            try life.perform(.decideRefund(life.line().current, .full))
        },
    ]

    @Test(arguments: rows)
    func everyActTellsItsTypes(_ row: Row) async throws {
        for (customer, told) in [("anna", row.told), ("tester", row.toldInSandbox)] {
            guard let told else { continue }
            var life = StoreLife()
            try life.useOldNotices()
            try row.live(&life, customer)
            let desk = try NoticeDesk(life)
            await desk.sender.deliverDue()
            #expect(try desk.received().map { $0.text("notification_type") } == told, "\(customer)")
        }
    }

    @Test func aTestIsAlwaysOfVersionTwo() async throws {
        var life = StoreLife()
        try life.useOldNotices()
        try life.perform(.requestTestNotification(app: life.app, environment: .sandbox))
        let desk = try NoticeDesk(life)
        await desk.sender.deliverDue()
        #expect(try desk.payloads().map { $0.text("notificationType") } == ["TEST"])
    }

    static let always =
        "notification_type password environment original_transaction_id bid bvrs deprecation unified_receipt"
    static let renewing = always + " auto_renew_adam_id auto_renew_product_id auto_renew_status"

    @Test func theBodyHasApplesKeys() async throws {
        var life = StoreLife()
        try life.useOldNotices()
        try life.buy("pro.yearly")
        try life.perform(.decideRefund(life.buy("sword").id, .full))
        try life.perform(.setAutoRenew(life.subscription("pro.yearly"), isOn: false))
        try life.perform(.setAutoRenew(life.subscription("pro.yearly"), isOn: true))
        try life.perform(.setPayment(customer: "anna", works: false))
        life.days(365 + 61)
        let desk = try NoticeDesk(life)
        await desk.sender.deliverDue()
        let bodies = try desk.received()
        let change = renewingChange
        #expect(
            bodies.map(\.keys) == [
                .keys(Self.renewing), .keys(Self.always), .keys(change), .keys(change), .keys(Self.renewing),
                .keys(change + " expiration_intent"),
            ]
        )
        let first = try #require(bodies.first)
        #expect(first.text("environment") == "PROD")
        #expect(first.text("password") == DemoCatalogue.sharedSecret)
        #expect(first.text("auto_renew_adam_id") == "1234567907")
        #expect(bodies.compactMap { $0.text("auto_renew_status") } == ["true", "false", "true", "true", "false"])
        #expect(bodies[2].text("auto_renew_status_change_date") == "2026-01-01 00:00:00 Etc/GMT")
        #expect(bodies.last?["expiration_intent"]?.int64 == 2)
        for body in bodies {
            let unified = try #require(body["unified_receipt"]?.object)
            #expect(
                unified.keys == .keys("environment latest_receipt latest_receipt_info pending_renewal_info status")
            )
            #expect(unified.text("environment") == "Production")
            #expect(unified.status == 0)
        }
    }

    private var renewingChange: String { Self.renewing + " auto_renew_status_change_date*" }

    @Test func onlyTheNewestHundredAreTold() async throws {
        var life = StoreLife()
        try life.useOldNotices()
        try life.buy("pro.weekly")
        life.days(7 * 103)
        let desk = try NoticeDesk(life)
        await desk.sender.deliverDue()
        let counts = try desk.received().compactMap { body in
            body["unified_receipt"]?.object?.list("latest_receipt_info").count
        }
        // As it was at each moment: the first knew of one.
        #expect(counts == (1...104).map { min($0, 100) })
        let last = try #require(try desk.received().last?["unified_receipt"]?.object)
        let newest = last.list("latest_receipt_info").first?.text("transaction_id")
        #expect(newest == life.owned().last?.id.description)
    }

    @Test func theReceiptInItIsGood() async throws {
        var life = StoreLife()
        try life.useOldNotices()
        try life.buy("pro.yearly")
        let desk = try NoticeDesk(life)
        await desk.sender.deliverDue()
        let unified = try #require(try desk.received().first?["unified_receipt"]?.object)
        let text = try #require(unified.text("latest_receipt"))
        let receipt = try Base64.decode(Array(text.utf8), .standard, padding: .required)
        #expect(try ReceiptDesk(life).ask(receipt).status == 0)
    }
}
