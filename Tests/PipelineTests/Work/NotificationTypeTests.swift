import Pipeline
import PurchaseModel
import Simulator
import Storage
import TestSupport
import Testing

/// What becomes of each of Apple's types and subtypes: facts, and what the shop hears. The table is Apple's, whole.
@Suite struct NotificationTypeTests {
    /// What a notification is about, and how it stands in it.
    enum About: String, Sendable {
        /// A subscription's first period, known or not, and what is said of its renewal.
        case first, known, renewed, upgraded, off, uncommitted, retry, grace, over, raised, consented, revoked, extended
        case coins, refunded, refund
        case summary, token, download, nothing
        /// An object that Apple has yet to add.
        case later
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let type: String
        let subtype: String?
        let about: About
        let told: [String]

        init(_ type: String, _ subtype: String?, _ about: About, _ told: String...) {
            (self.type, self.subtype, self.about, self.told) = (type, subtype, about, told)
        }

        var testDescription: String { [type, subtype].compactMap(\.self).joined(separator: " ") }
    }

    private static let changed = "subscription.renewal_preference_changed"

    static let rows = [
        Row("SUBSCRIBED", "INITIAL_BUY", .first, "purchase.waiting", "subscription.started"),
        Row("SUBSCRIBED", "RESUBSCRIBE", .renewed, "purchase.waiting", "subscription.renewed"),
        Row("DID_RENEW", nil, .renewed, "purchase.waiting", "subscription.renewed"),
        Row("DID_RENEW", "BILLING_RECOVERY", .renewed, "purchase.waiting", "subscription.renewed"),
        Row("DID_CHANGE_RENEWAL_PREF", "UPGRADE", .upgraded, "purchase.waiting", "subscription.product_changed"),
        Row("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE", .known),
        Row("DID_CHANGE_RENEWAL_PREF", nil, .known),
        Row("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", .known),
        Row("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", .off, "subscription.renewal_preference_changed"),
        Row("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", .uncommitted, changed),
        Row("OFFER_REDEEMED", nil, .renewed, "purchase.waiting", "subscription.renewed"),
        Row("OFFER_REDEEMED", "UPGRADE", .upgraded, "purchase.waiting", "subscription.product_changed"),
        Row("OFFER_REDEEMED", "DOWNGRADE", .known),
        Row("OFFER_REDEEMED", "INITIAL_BUY", .first, "purchase.waiting", "subscription.started"),
        Row("OFFER_REDEEMED", "RESUBSCRIBE", .renewed, "purchase.waiting", "subscription.renewed"),
        Row("DID_FAIL_TO_RENEW", nil, .retry, "subscription.billing_retry_started"),
        Row("DID_FAIL_TO_RENEW", "GRACE_PERIOD", .grace, "subscription.grace_started"),
        Row("GRACE_PERIOD_EXPIRED", nil, .retry, "subscription.billing_retry_started"),
        Row("EXPIRED", "VOLUNTARY", .over, "subscription.expired"),
        Row("EXPIRED", "BILLING_RETRY", .over, "subscription.expired"),
        Row("EXPIRED", "PRICE_INCREASE", .over, "subscription.expired"),
        Row("EXPIRED", "PRODUCT_NOT_FOR_SALE", .over, "subscription.expired"),
        Row("EXPIRED", nil, .over, "subscription.expired"),
        Row("PRICE_INCREASE", "PENDING", .raised, "subscription.price_increase_pending"),
        Row("PRICE_INCREASE", "ACCEPTED", .consented, "subscription.price_increase_accepted"),
        Row("CONSUMPTION_REQUEST", nil, .coins, "purchase.waiting", "consumption.requested"),
        Row("REFUND", nil, .refund, "purchase.withheld"),
        Row("REFUND_DECLINED", nil, .coins, "purchase.waiting", "notification.received"),
        Row("REFUND_REVERSED", nil, .refunded, "purchase.waiting"),
        Row("REVOKE", nil, .revoked, "purchase.withheld", "subscription.revoked"),
        Row("RENEWAL_EXTENDED", nil, .extended, "subscription.extended"),
        Row("RENEWAL_EXTENSION", "FAILURE", .known, "notification.received"),
        Row("RENEWAL_EXTENSION", "SUMMARY", .summary, "notification.received"),
        Row("ONE_TIME_CHARGE", nil, .coins, "purchase.waiting"),
        Row("EXTERNAL_PURCHASE_TOKEN", "UNREPORTED", .token, "notification.received"),
        Row("EXTERNAL_PURCHASE_TOKEN", "CREATED", .token, "notification.received"),
        Row("EXTERNAL_PURCHASE_TOKEN", "ACTIVE_TOKEN_REMINDER", .token, "notification.received"),
        Row("RESCIND_CONSENT", nil, .download, "notification.received"),
        Row("METADATA_UPDATE", nil, .known, "notification.received"),
        Row("MIGRATION", nil, .known, "notification.received"),
        Row("PRICE_CHANGE", nil, .known, "notification.received"),
        Row("TEST", nil, .nothing),
        Row("A_TYPE_OF_TOMORROW", nil, .coins, "purchase.waiting", "notification.received"),
        Row("A_TYPE_OF_TOMORROW", "ABOUT_SOMETHING_NEW", .later, "purchase.waiting", "notification.received"),
    ]

    @Test(arguments: rows) func eachTypeHasItsHandling(row: Row) async throws {
        try await PipelineHouse().open { house in
            let intake = NotificationIntake(
                verifier: try PipelineHouse.verifier(),
                recorder: house.recorder,
                store: house.store,
                refusals: RefusalLedger(),
                clock: house.clock
            ) { _ in }
            if let before = try Notices.before(row.about) {
                _ = try await intake.take(try Notices.body("SUBSCRIBED", nil, before, id: 1), for: house.app)
            }
            let (known, recorded) = (try await Self.told(house).count, try await house.figures().transactions)
            let body = try Notices.body(row.type, row.subtype, row.about, id: 2)
            guard case .kept(let kept, true) = try await intake.take(body, for: house.app) else {
                Issue.record("it is not kept")
                return
            }
            #expect(kept.type == row.type && kept.subtype == row.subtype)
            #expect(Array(try await Self.told(house).dropFirst(known)).sorted() == row.told.sorted())
            let isNew = row.told.contains { $0.hasPrefix("purchase.") } && row.about != .refunded
            #expect(try await house.figures().transactions == recorded + (isNew ? 1 : 0))
            // Once more it tells nothing.
            _ = try await intake.take(body, for: house.app)
            #expect(try await Self.told(house).count == known + row.told.count)
        }
    }

    private static func told(_ house: PipelineHouse) async throws -> [String] {
        let app = house.app.id
        return try await house.store.read { reader throws(StoreFailure) in
            try reader.events(app: app, after: .start, where: .everything, limit: 100).events.map(\.event.type)
        }
    }
}

/// Notifications of every kind, signed by the test authority.
private enum Notices {
    private static let day = Duration.seconds(86_400)

    /// What is known before: a running subscription, refunded coins, or nothing.
    static func before(_ about: NotificationTypeTests.About) throws -> NotificationTypeTests.About? {
        switch about {
        case .first, .revoked, .coins, .refund, .summary, .token, .download, .nothing, .later: nil
        case .refunded: .refund
        default: .first
        }
    }

    static func body(
        _ type: String,
        _ subtype: String?,
        _ about: NotificationTypeTests.About,
        id: Int
    ) throws -> [UInt8] {
        let signer = TestAuthority.signer()
        let signedAt = PipelineHouse.now.advanced(by: .seconds(id))
        let uuid = "00000000-0000-4000-8000-00000000000\(id)"
        var payload = Payload()
        switch about {
        case .summary:
            payload["summary"] = .object(try summary())
        case .token:
            payload["externalPurchaseToken"] = .object(try token())
        case .download:
            payload["appData"] = .object(try download(signer, signedAt))
        case .later:
            var later = try subject()
            later["signedTransactionInfo"] = try transaction(.coins, signedAt).map { .text(try signer.transaction($0)) }
            payload["somethingNew"] = .object(later)
        default:
            var notice = Notice(uuid: uuid, type: type, signedAt: signedAt)
            notice.subtype = subtype
            notice.transaction = try transaction(about, signedAt)
            notice.renewal = try notice.transaction.flatMap { try renewal(about, $0, signedAt) }
            return try signer.notificationBody(notice)
        }
        payload["notificationType"] = .text(type)
        payload["subtype"] = subtype.map { .text($0) }
        payload["notificationUUID"] = .text(uuid)
        payload["version"] = .text("2.0")
        payload["signedDate"] = .number(signedAt.milliseconds)
        var body = Payload()
        body["signedPayload"] = .text(try signer.sign(payload))
        return body.json
    }

    private static func subject() throws -> Payload {
        var subject = Payload()
        subject["bundleId"] = .text(TestAuthority.bundleID.text)
        subject["environment"] = .text("Sandbox")
        return subject
    }

    private static func summary() throws -> Payload {
        var summary = try subject()
        summary["requestIdentifier"] = .text("00000000-0000-4000-8000-0000000000aa")
        summary["productId"] = .text("monthly")
        summary["succeededCount"] = .number(3)
        summary["failedCount"] = .number(1)
        return summary
    }

    private static func token() throws -> Payload {
        var token = Payload()
        token["externalPurchaseId"] = .text("SANDBOX_1")
        token["tokenCreationDate"] = .number(PipelineHouse.now.milliseconds)
        token["bundleId"] = .text(TestAuthority.bundleID.text)
        return token
    }

    private static func download(_ signer: PurchaseSigner, _ signedAt: Timestamp) throws -> Payload {
        var data = try subject()
        var app = try subject()
        app["receiptType"] = .text("Sandbox")
        app["applicationVersion"] = .text("1")
        app["originalApplicationVersion"] = .text("1")
        app["appTransactionId"] = .text("704123456789012345")
        app["receiptCreationDate"] = .number(signedAt.milliseconds)
        app["requestDate"] = .number(signedAt.milliseconds)
        data["signedAppTransactionInfo"] = .text(try signer.sign(app))
        return data
    }

    private static func transaction(
        _ about: NotificationTypeTests.About,
        _ signedAt: Timestamp
    ) throws -> Transaction? {
        let start = PipelineHouse.now
        if [.coins, .refund, .refunded].contains(about) {
            return Transaction(
                id: try #require(TransactionID(number: 9)),
                originalID: TransactionID(number: 9),
                product: try #require(ProductID("coins")),
                kind: .consumable,
                purchasedAt: start,
                revocation: about == .refund ? Revocation(at: signedAt, reason: 0) : nil,
                ownership: .purchased,
                signedAt: signedAt
            )
        }
        guard about != .nothing else { return nil }
        let isNext = about == .renewed || about == .upgraded
        let isOver = [.over, .retry, .grace].contains(about)
        let began = isNext ? start.advanced(by: day) : start.advanced(by: isOver ? day * -40 : day * -1)
        var period = Transaction(
            id: try #require(TransactionID(number: isNext ? 2 : 1)),
            originalID: TransactionID(number: 1),
            product: try #require(ProductID(about == .upgraded ? "yearly" : "monthly")),
            kind: .autoRenewable,
            purchasedAt: began,
            originallyPurchasedAt: start.advanced(by: day * -1),
            expiresAt: isOver ? start : start.advanced(by: about == .extended ? day * 40 : day * 30),
            ownership: about == .revoked ? .familyShared : .purchased,
            subscriptionGroup: "20000001",
            signedAt: signedAt
        )
        if about == .uncommitted {
            (period.billingPlan, period.commitmentEndsAt) = ("MONTHLY", start.advanced(by: day * 300))
        }
        if isNext { period.expiresAt = start.advanced(by: day * 60) }
        if about == .revoked { period.revocation = Revocation(at: signedAt, reason: 0, type: "FAMILY_REVOKE") }
        return period
    }

    private static func renewal(
        _ about: NotificationTypeTests.About,
        _ period: Transaction,
        _ signedAt: Timestamp
    ) throws -> Renewal? {
        guard period.kind == .autoRenewable else { return nil }
        var renewal = Renewal(
            originalID: try #require(period.originalID),
            product: period.product,
            signedAt: signedAt
        )
        renewal.willAutoRenew = about != .off && about != .over
        renewal.nextProduct = period.product
        if about == .uncommitted {
            // The months that are left are charged for.
            renewal.nextBillingPlan = "MONTHLY"
            renewal.nextCommitment = NextCommitment()
            renewal.nextCommitment?.willRenew = false
        }
        renewal.environment = .sandbox
        renewal.isInBillingRetry = about == .retry || about == .grace ? true : nil
        if about == .grace { renewal.graceEndsAt = PipelineHouse.now.advanced(by: day * 6) }
        if about == .over { renewal.expirationIntent = 1 }
        if about == .raised { renewal.priceIncreaseStatus = 0 }
        if about == .consented { renewal.priceIncreaseStatus = 1 }
        return renewal
    }
}
