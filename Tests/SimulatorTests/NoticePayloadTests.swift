import Crypto
import Encoding
import PurchaseModel
import Simulator
import TestSupport
import Testing

/// Which members notifications of version 2 have, and what state of the subscription they tell.
struct NoticePayloadTests {
    static let once = "appAppleId bundleId bundleVersion environment signedTransactionInfo"
    static let renewing = once + " signedRenewalInfo status"

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        /// Of the newest notification.
        let type: String
        /// The one member beside the four that are always there.
        var member = "data"
        let keys: String
        var status: Int64?
        let live: @Sendable (inout StoreLife) throws -> Void

        var testDescription: String { name }
    }

    private static func fail(_ life: inout StoreLife, days: Double, hasGrace: Bool = true) throws {
        if !hasGrace {
            var app = try #require(life.store.apps[life.app])
            app.gracePeriod = nil
            life.store.set(app)
        }
        try life.buy("pro.yearly")
        try life.perform(.setPayment(customer: "anna", works: false))
        life.days(365 + days)
    }

    private static func extendAll(_ life: inout StoreLife, _ countries: [String]) throws {
        try life.buy("pro.yearly")
        var request = Act.MassExtension(
            app: life.app,
            environment: .production,
            product: DemoCatalogue.product("pro.yearly"),
            terms: Act.Extension(days: 3, reason: 1, requestIdentifier: "request-1")
        )
        request.countries = countries
        try life.perform(.extendAll(request))
        life.days(1)
    }

    static let purchases = [
        Row(name: "a first purchase", type: "SUBSCRIBED", keys: renewing, status: 1) { try $0.buy("pro.yearly") },
        Row(name: "an upgrade", type: "DID_CHANGE_RENEWAL_PREF", keys: renewing, status: 1) { life in
            try life.buy("pro.yearly")
            let premium = DemoCatalogue.product("premium.monthly")
            try life.perform(.changePlan(life.subscription("pro.yearly"), to: premium))
        },
        Row(name: "cancelled", type: "DID_CHANGE_RENEWAL_STATUS", keys: renewing, status: 1) { life in
            try life.buy("pro.yearly")
            try life.perform(.setAutoRenew(life.subscription("pro.yearly"), isOn: false))
        },
        Row(name: "expired", type: "EXPIRED", keys: renewing, status: 2) { life in
            try life.buy("pro.yearly")
            try life.perform(.setAutoRenew(life.subscription("pro.yearly"), isOn: false))
            life.days(365)
        },
        Row(name: "declined", type: "DID_FAIL_TO_RENEW", keys: renewing, status: 3) { life in
            try fail(&life, days: 0, hasGrace: false)
        },
        Row(name: "declined, grace", type: "DID_FAIL_TO_RENEW", keys: renewing, status: 4) { try fail(&$0, days: 0) },
        Row(name: "grace over", type: "GRACE_PERIOD_EXPIRED", keys: renewing, status: 3) { try fail(&$0, days: 16) },
        Row(name: "given up", type: "EXPIRED", keys: renewing, status: 2) { try fail(&$0, days: 60) },
        Row(name: "refunded", type: "REFUND", keys: renewing, status: 5) { life in
            try life.perform(.decideRefund(life.buy("pro.yearly").id, .full))
        },
        Row(name: "an old period refunded", type: "REFUND", keys: renewing, status: 1) { life in
            let old = try life.buy("pro.weekly").id
            life.days(7)
            try life.perform(.decideRefund(old, .full))
        },
        Row(name: "a copy revoked", type: "REVOKE", keys: renewing, status: 5) { life in
            for name in ["anna", "berta"] { try life.perform(.setFamily(customer: name, family: "f")) }
            try life.buy("premium.monthly")
            try life.perform(.setFamily(customer: "berta", family: nil))
        },
        Row(name: "coins", type: "ONE_TIME_CHARGE", keys: once) { try $0.buy("coins.100") },
        Row(name: "coins refunded", type: "REFUND", keys: once) { life in
            try life.perform(.decideRefund(life.buy("coins.100").id, .full))
        },
        Row(
            name: "a refund is asked",
            type: "CONSUMPTION_REQUEST",
            keys: renewing + " consumptionRequestReason",
            status: 1
        ) { life in
            try life.perform(.askRefund(Act.RefundRequest(transaction: life.buy("pro.yearly").id)))
        },
        Row(
            name: "in the sandbox without the app's number",
            type: "SUBSCRIBED",
            keys: String(renewing.dropFirst("appAppleId ".count)),
            status: 1
        ) { try $0.buy("pro.yearly", by: "tester") },
    ]

    static let others = [
        Row(name: "a test", type: "TEST", keys: "appAppleId bundleId environment") { life in
            try life.perform(.requestTestNotification(app: life.app, environment: .production))
        },
        Row(name: "a test in the sandbox", type: "TEST", keys: "bundleId environment") { life in
            try life.perform(.requestTestNotification(app: life.app, environment: .sandbox))
        },
        Row(
            name: "all were extended",
            type: "RENEWAL_EXTENSION",
            member: "summary",
            keys: "requestIdentifier environment appAppleId bundleId productId succeededCount failedCount"
        ) { try extendAll(&$0, []) },
        Row(
            name: "some countries were extended",
            type: "RENEWAL_EXTENSION",
            member: "summary",
            keys: "requestIdentifier environment appAppleId bundleId productId storefrontCountryCodes succeededCount"
                + " failedCount"
        ) { try extendAll(&$0, ["USA", "MEX"]) },
        Row(
            name: "a token without a report",
            type: "EXTERNAL_PURCHASE_TOKEN",
            member: "externalPurchaseToken",
            keys: "externalPurchaseId tokenCreationDate appAppleId bundleId"
        ) { life in
            try life.perform(
                .createExternalPurchase(app: life.app, environment: .sandbox, kind: .unreported)
            )
        },
        Row(
            name: "a token of a custom link",
            type: "EXTERNAL_PURCHASE_TOKEN",
            member: "externalPurchaseToken",
            keys: "externalPurchaseId tokenCreationDate tokenExpirationDate tokenType appAppleId bundleId"
        ) { life in
            try life.perform(.createExternalPurchase(app: life.app, environment: .production, kind: .created))
        },
        Row(
            name: "consent withdrawn",
            type: "RESCIND_CONSENT",
            member: "appData",
            keys: "appAppleId bundleId environment signedAppTransactionInfo"
        ) { try $0.perform(.rescindConsent(customer: "anna", app: $0.app)) },
    ]

    @Test(arguments: purchases + others)
    func everyNotificationHasItsMembers(_ row: Row) async throws {
        var life = StoreLife()
        try row.live(&life)
        let desk = try NoticeDesk(life)
        await desk.sender.deliverDue()
        let payload = try #require(try desk.payloads().last)
        let notice = try #require(life.store.notices.last)
        let always = "notificationType notificationUUID version signedDate " + row.member
        #expect(payload.keys == .keys(always + (notice.subtype == nil ? "" : " subtype")))
        #expect(payload.text("notificationType") == row.type)
        #expect(payload.text("subtype") == notice.subtype)
        #expect(payload.text("notificationUUID") == notice.uuid)
        #expect(payload.text("version") == "2.0")
        #expect(payload["signedDate"]?.int64 == notice.at.milliseconds)
        let member = try #require(payload[row.member]?.object)
        #expect(member.keys == .keys(row.keys))
        #expect(member["status"]?.int64 == row.status)
        #expect(member.text("bundleId") == life.app.text)
    }

    @Test func whatIsInsideIsAsItWasThen() async throws {
        var life = StoreLife()
        try life.buy("pro.weekly")
        let premium = DemoCatalogue.product("premium.monthly")
        try life.perform(.changePlan(life.subscription("pro.weekly"), to: premium))
        life.days(31)
        let desk = try NoticeDesk(life)
        await desk.sender.deliverDue()
        let rows = [("com.example.demo.pro.weekly", "PURCHASE"), (premium.text, "PURCHASE"), (premium.text, "RENEWAL")]
        for (payload, (notice, row)) in zip(try desk.payloads(), zip(life.store.notices, rows)) {
            let data = try #require(payload["data"]?.object)
            let transaction = try NoticeDesk.payload(of: #require(data.text("signedTransactionInfo")))
            let renewal = try NoticeDesk.payload(of: #require(data.text("signedRenewalInfo")))
            #expect(transaction.text("productId") == row.0)
            #expect(transaction.text("transactionReason") == row.1)
            #expect(transaction["isUpgraded"] == nil)
            #expect(renewal.text("productId") == row.0)
            for part in [transaction, renewal] { #expect(part["signedDate"]?.int64 == notice.at.milliseconds) }
        }
    }

    @Test func whatIsToComeIsAsItWasThen() async throws {
        var life = StoreLife()
        let first = try life.buy("premium.monthly")
        life.days(3)
        var rise = Act.PriceRise(
            app: life.app,
            product: DemoCatalogue.product("premium.monthly"),
            price: Price(milliunits: 12_990, currency: "USD"),
            needsConsent: false
        )
        try life.perform(.raisePrice(rise))
        try life.perform(.decideRefund(first.id, .full))
        rise.price = Price(milliunits: 15_990, currency: "USD")
        try life.perform(.raisePrice(rise))
        let desk = try NoticeDesk(life)
        await desk.sender.deliverDue()
        let renewals = try desk.payloads().map { payload in
            try NoticeDesk.payload(of: #require(payload["data"]?.object?.text("signedRenewalInfo")))
        }
        #expect(renewals.map { $0["renewalPrice"]?.int64 } == [9_990, 12_990, nil])
        #expect(renewals.map { $0["isInBillingRetryPeriod"]?.bool } == [nil, nil, false])
        #expect(renewals.map { $0["autoRenewStatus"]?.int64 } == [1, 1, 0])
    }

    @Test func everyPartIsSignedByTheAuthority() async throws {
        var life = StoreLife()
        try life.buy("pro.yearly")
        let desk = try NoticeDesk(life)
        await desk.sender.deliverDue()
        let whole = try #require(try desk.received().first?.text("signedPayload"))
        let data = try #require(try NoticeDesk.payload(of: whole)["data"]?.object)
        let key = try TestAuthority.shared.identity(.jwsLeaf).certificate.publicKey
        for text in [
            whole, try #require(data.text("signedTransactionInfo")), try #require(data.text("signedRenewalInfo")),
        ] {
            let dot = try #require(text.utf8.lastIndex(of: UInt8(ascii: ".")))
            let signature = try Base64.decode(Array(text.utf8[dot...].dropFirst()), .url, padding: .forbidden)
            #expect(key.isValidES256(signature: signature, message: Array(text.utf8[..<dot])))
        }
    }
}
