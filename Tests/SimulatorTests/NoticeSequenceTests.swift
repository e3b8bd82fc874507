import PurchaseModel
import Simulator
import Testing

/// Which notifications follow which act, in order: each row of Apple's documented sequences, whole.
struct NoticeSequenceTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let told: [String]
        let live: @Sendable (inout StoreLife) throws -> Void

        var testDescription: String { name }
    }

    private static let bought = "SUBSCRIBED/INITIAL_BUY"
    private static let off = "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED"
    private static let on = "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED"
    private static let failed = "DID_FAIL_TO_RENEW/GRACE_PERIOD"
    private static let recovered = "DID_RENEW/BILLING_RECOVERY"

    /// Buys a year and lets the card be declined at its end.
    private static func fail(_ life: inout StoreLife, hasGrace: Bool = true) throws {
        if !hasGrace {
            var app = DemoCatalogue.app()
            app.gracePeriod = nil
            life.store.set(app)
        }
        try life.buy("pro.yearly")
        try life.perform(.setPayment(customer: "anna", works: false))
        life.days(365)
    }

    private static func raise(_ life: inout StoreLife, needsConsent: Bool) throws {
        try life.buy("pro.yearly")
        let price = Price(milliunits: 99_990, currency: "USD")
        let product = DemoCatalogue.product("pro.yearly")
        try life.perform(
            .raisePrice(Act.PriceRise(app: life.app, product: product, price: price, needsConsent: needsConsent))
        )
    }

    private static func lapse(_ life: inout StoreLife) throws {
        try life.buy("pro.weekly")
        try life.perform(.setAutoRenew(life.subscription("pro.weekly"), isOn: false))
        life.days(8)
    }

    private static func share(_ life: inout StoreLife) throws {
        for name in ["anna", "berta", "carla"] { try life.perform(.setFamily(customer: name, family: "f")) }
        try life.buy("premium.monthly")
    }

    static let plans = [
        Row(name: "a first purchase", told: [bought]) { try $0.buy("pro.yearly") },
        Row(name: "a first purchase in a family", told: [bought, bought, bought]) { try share(&$0) },
        Row(name: "a renewal", told: [bought, "DID_RENEW"]) { life in
            try life.buy("pro.weekly")
            life.days(7)
        },
        Row(name: "a cancellation and the end", told: [bought, off, "EXPIRED/VOLUNTARY"]) { try lapse(&$0) },
        Row(name: "a change of mind", told: [bought, off, on, "DID_RENEW"]) { life in
            try life.buy("pro.weekly")
            try life.perform(.setAutoRenew(life.subscription("pro.weekly"), isOn: false))
            try life.perform(.setAutoRenew(life.subscription("pro.weekly"), isOn: true))
            life.days(7)
        },
        Row(name: "an upgrade", told: [bought, "DID_CHANGE_RENEWAL_PREF/UPGRADE"]) { life in
            try life.buy("pro.yearly")
            let premium = DemoCatalogue.product("premium.monthly")
            try life.perform(.changePlan(life.subscription("pro.yearly"), to: premium))
        },
        Row(name: "a downgrade", told: [bought, "DID_CHANGE_RENEWAL_PREF/DOWNGRADE", "DID_RENEW"]) { life in
            try life.buy("premium.monthly")
            let yearly = DemoCatalogue.product("pro.yearly")
            try life.perform(.changePlan(life.subscription("premium.monthly"), to: yearly))
            life.days(31)
        },
        Row(
            name: "a downgrade and back",
            told: [bought, "DID_CHANGE_RENEWAL_PREF/DOWNGRADE", "DID_CHANGE_RENEWAL_PREF"]
        ) { life in
            try life.buy("premium.monthly")
            let subscription = life.subscription("premium.monthly")
            try life.perform(.changePlan(subscription, to: DemoCatalogue.product("pro.yearly")))
            try life.perform(.changePlan(subscription, to: DemoCatalogue.product("premium.monthly")))
        },
        Row(name: "an offer code for a new customer", told: [bought]) { try $0.buy("pro.monthly", offer: "WELCOME") },
        Row(
            name: "a promotional offer after a lapse",
            told: [bought, off, "EXPIRED/VOLUNTARY", "SUBSCRIBED/RESUBSCRIBE"]
        ) {
            life in
            try lapse(&life)
            try life.buy("pro.monthly", offer: "THREE-MONTHS-HALF")
        },
        Row(name: "a win-back offer", told: [bought, off, "EXPIRED/VOLUNTARY", "SUBSCRIBED/RESUBSCRIBE"]) { life in
            try lapse(&life)
            try life.buy("pro.monthly", offer: "COME-BACK")
        },
        Row(name: "a code after a lapse", told: [bought, off, "EXPIRED/VOLUNTARY", "SUBSCRIBED/RESUBSCRIBE"]) { life in
            try lapse(&life)
            try life.buy("pro.monthly", offer: "WELCOME")
        },
        Row(name: "an offer for who runs already", told: [bought, "OFFER_REDEEMED"]) { life in
            try life.buy("pro.monthly")
            try life.perform(.redeemOffer(life.subscription("pro.monthly"), offer: "WELCOME"))
        },
        Row(name: "a consumable", told: ["ONE_TIME_CHARGE"]) { try $0.buy("coins.100") },
    ]

    static let money = [
        Row(name: "recovered in grace", told: [bought, failed, recovered]) { life in
            try fail(&life)
            life.days(2)
            try life.perform(.setPayment(customer: "anna", works: true))
        },
        Row(name: "recovered later", told: [bought, failed, "GRACE_PERIOD_EXPIRED", recovered]) { life in
            try fail(&life)
            life.days(20)
            try life.perform(.setPayment(customer: "anna", works: true))
        },
        Row(name: "never recovered", told: [bought, failed, "GRACE_PERIOD_EXPIRED", "EXPIRED/BILLING_RETRY"]) { life in
            try fail(&life)
            life.days(61)
        },
        Row(name: "never recovered, no grace", told: [bought, "DID_FAIL_TO_RENEW", "EXPIRED/BILLING_RETRY"]) { life in
            try fail(&life, hasGrace: false)
            life.days(61)
        },
        Row(name: "a refund asked in the app", told: [bought, off, "CONSUMPTION_REQUEST", "REFUND"]) { life in
            let id = try life.buy("pro.yearly").id
            try life.perform(.askRefund(Act.RefundRequest(transaction: id)))
            try life.perform(.decideRefund(id, .full))
        },
        Row(name: "a refund declined in the app", told: [bought, off, "CONSUMPTION_REQUEST", "REFUND_DECLINED"]) {
            life in
            let id = try life.buy("pro.yearly").id
            try life.perform(.askRefund(Act.RefundRequest(transaction: id)))
            try life.perform(.decideRefund(id, .declined))
        },
        Row(name: "a refund asked of support", told: [bought, "CONSUMPTION_REQUEST", "REFUND"]) { life in
            let id = try life.buy("pro.yearly").id
            var request = Act.RefundRequest(transaction: id)
            request.isInApp = false
            try life.perform(.askRefund(request))
            try life.perform(.decideRefund(id, .full))
        },
        Row(name: "a refund taken back", told: ["ONE_TIME_CHARGE", "REFUND", "REFUND_REVERSED"]) { life in
            let id = try life.buy("sword").id
            try life.perform(.decideRefund(id, .full))
            try life.perform(.reverseRefund(id))
        },
        Row(name: "a refund in a family", told: [bought, bought, bought, "REFUND", "REVOKE", "REVOKE"]) { life in
            try share(&life)
            try life.perform(.decideRefund(life.line().current, .full))
        },
        Row(name: "a rise that she accepts", told: [bought, "PRICE_INCREASE/PENDING", "PRICE_INCREASE/ACCEPTED"]) {
            life in
            try raise(&life, needsConsent: true)
            try life.perform(.answerPriceRise(life.subscription("pro.yearly"), isAccepted: true))
        },
        Row(name: "a rise that makes her leave", told: [bought, "PRICE_INCREASE/PENDING", off, "EXPIRED/VOLUNTARY"]) {
            life in
            try raise(&life, needsConsent: true)
            try life.perform(.answerPriceRise(life.subscription("pro.yearly"), isAccepted: false))
            life.days(365)
        },
        Row(
            name: "a rise that she does not answer",
            told: [bought, "PRICE_INCREASE/PENDING", "EXPIRED/PRICE_INCREASE"]
        ) {
            life in
            try raise(&life, needsConsent: true)
            life.days(365)
        },
        Row(name: "a rise without consent", told: [bought, "PRICE_INCREASE/ACCEPTED", "DID_RENEW"]) { life in
            try raise(&life, needsConsent: false)
            life.days(365)
        },
    ]

    @Test(arguments: plans + money)
    func everyActTellsItsSequence(_ row: Row) throws {
        var life = StoreLife()
        try row.live(&life)
        #expect(life.told() == row.told)
    }
}
