import Encoding
import PurchaseModel
import Simulator
import TestSupport
import Testing

/// What the simulator answers and sends, beside what Apple was recorded to: the same keys, of the same kinds.
///
/// Each difference is named here and explained in docs/simulator-shapes.md.
@Suite(.enabled(if: Corpus.isPresent, Comment(rawValue: Corpus.absenceNote)))
struct RecordedShapeTests {
    struct Row: Sendable, CustomTestStringConvertible {
        /// In the corpus.
        let path: String
        /// Keys that only Apple's text has, and that only ours has.
        var onlyRecorded: Set<String> = []
        var onlyOurs: Set<String> = []
        let ours: @Sendable () async throws -> JSONObject

        var testDescription: String { path }
    }

    /// The answer about a customer who lived so.
    private static func answer(
        _ environment: StoreEnvironment,
        _ live: (inout StoreLife, String) throws -> Void
    ) throws -> JSONObject {
        var life = StoreLife()
        let customer = environment == .production ? "anna" : "tester"
        try live(&life, customer)
        return try ReceiptDesk(life).ask(about: customer, environment)
    }

    private static func subscription(_ product: String, _ customer: String) -> Act.Subscription {
        Act.Subscription(customer: customer, app: DemoCatalogue.bundleID, product: DemoCatalogue.product(product))
    }

    private static func lapse(_ life: inout StoreLife, _ customer: String) throws {
        try life.buy("pro.yearly", by: customer)
        try life.perform(.setAutoRenew(subscription("pro.yearly", customer), isOn: false))
        life.days(366)
    }

    private static func oldAnswer(days: Double) throws -> JSONObject {
        var life = StoreLife()
        let sold = try life.buy("pro.yearly", by: "tester")
        try life.perform(.setAutoRenew(subscription("pro.yearly", "tester"), isOn: false))
        life.days(days)
        let desk = ReceiptDesk(life)
        return try desk.ask(desk.oldReceipt(of: sold, version: .three), .sandbox)
    }

    private static func oldNotice(_ live: (inout StoreLife) throws -> Void) async throws -> JSONObject {
        var life = StoreLife()
        try life.useOldNotices()
        try live(&life)
        let desk = try NoticeDesk(life)
        await desk.sender.deliverDue()
        return try #require(try desk.received().last)
    }

    private static func notice(_ live: (inout StoreLife) throws -> Void) async throws -> JSONObject {
        var life = StoreLife()
        try live(&life)
        let desk = try NoticeDesk(life)
        await desk.sender.deliverDue()
        return try #require(try desk.payloads().last)
    }

    /// Keys that came after these were recorded.
    private static let since2017: Set<String> = [
        "receipt.in_app.is_in_intro_offer_period", "receipt.in_app.in_app_ownership_type",
        "latest_receipt_info.is_in_intro_offer_period", "latest_receipt_info.in_app_ownership_type",
        "latest_receipt_info.subscription_group_identifier",
    ]

    /// What answers about iOS 6 receipts tell today; `newest` is the key of the newest transaction.
    private static func renewals(_ newest: String) -> Set<String> {
        [
            "auto_renew_status", "auto_renew_product_id", "receipt.is_trial_period", "receipt.is_in_intro_offer_period",
            newest + ".is_trial_period", newest + ".is_in_intro_offer_period",
            newest + ".subscription_group_identifier",
        ]
    }

    static let answers = [
        Row(path: "verify_receipt_responses/049.json") { try answer(.sandbox) { try $0.buy("coins.100", by: $1) } },
        Row(path: "verify_receipt_responses/068.json", onlyOurs: ["receipt.in_app.in_app_ownership_type"]) {
            try answer(.sandbox) { try $0.buy("sword", by: $1) }
        },
        Row(path: "verify_receipt_responses/050.json", onlyOurs: ["receipt.in_app.in_app_ownership_type"]) {
            try answer(.production) { try lapse(&$0, $1) }
        },
        Row(path: "verify_receipt_responses/045.json", onlyOurs: since2017) {
            try answer(.sandbox) { try lapse(&$0, $1) }
        },
        Row(
            path: "verify_receipt_responses/071.json",
            onlyOurs: since2017.union(["pending_renewal_info.original_transaction_id"])
        ) { try answer(.sandbox) { try lapse(&$0, $1) } },
        Row(
            path: "verify_receipt_responses/053.json",
            onlyOurs: renewals("latest_expired_receipt_info").union(["expiration_intent", "is_in_billing_retry_period"])
        ) { try oldAnswer(days: 366) },
        Row(path: "verify_receipt_responses/054.json", onlyOurs: renewals("latest_receipt_info")) {
            try oldAnswer(days: 0)
        },
        Row(
            path: "verify_receipt_responses/060.json",
            onlyOurs: renewals("latest_receipt_info").union([
                "receipt.unique_vendor_identifier", "latest_receipt_info.unique_vendor_identifier",
            ])
        ) { try oldAnswer(days: 0) },
    ]

    static let notices = [
        Row(path: "notifications_v1/002.json", onlyOurs: ["auto_renew_adam_id"]) {
            try await oldNotice { life in
                try life.buy("pro.weekly")
                life.days(7)
            }
        },
        Row(
            path: "notifications_v1/009.json",
            onlyRecorded: [
                "unified_receipt.pending_renewal_info.expiration_intent",
                "unified_receipt.pending_renewal_info.is_in_billing_retry_period",
            ],
            onlyOurs: [
                "original_transaction_id", "unified_receipt.latest_receipt_info.in_app_ownership_type", "deprecation",
                "auto_renew_adam_id",
            ]
        ) {
            try await oldNotice { life in
                try life.buy("pro.weekly")
                try life.perform(
                    .changePlan(subscription("pro.weekly", "anna"), to: DemoCatalogue.product("premium.monthly"))
                )
                try life.perform(.setAutoRenew(subscription("pro.weekly", "anna"), isOn: false))
            }
        },
        Row(path: "jws/003.jws") {
            try await notice { try $0.perform(.requestTestNotification(app: $0.app, environment: .sandbox)) }
        },
        Row(path: "jws/005.jws") {
            try await notice { try $0.perform(.requestTestNotification(app: $0.app, environment: .sandbox)) }
        },
        Row(path: "jws/008.jws", onlyRecorded: ["data.appAppleId"]) {
            try await notice { life in
                try lapse(&life, "tester")
                try life.buy("pro.yearly", by: "tester")
            }
        },
        Row(path: "jws/014.jws", onlyRecorded: ["data.appAppleId"]) {
            try await notice { life in
                try life.buy("premium.monthly", by: "tester")
                let yearly = DemoCatalogue.product("pro.yearly")
                try life.perform(.changePlan(subscription("premium.monthly", "tester"), to: yearly))
            }
        },
    ]

    @Test(arguments: answers + notices)
    func theSameKeysHaveTheSameKinds(_ row: Row) async throws {
        let bytes = try Corpus.bytes(row.path)
        let recorded =
            row.path.hasSuffix(".jws")
            ? try NoticeDesk.payload(of: String(decoding: bytes, as: UTF8.self))
            : try #require(try JSONDocument(bytes).root.object)
        let (theirs, ours) = (Self.shape(of: recorded), Self.shape(of: try await row.ours()))
        #expect(Set(theirs.keys).subtracting(ours.keys) == row.onlyRecorded)
        #expect(Set(ours.keys).subtracting(theirs.keys) == row.onlyOurs)
        for (path, kinds) in theirs {
            guard let other = ours[path] else { continue }
            #expect(kinds == other, "\(path)")
        }
    }

    /// Each path in an object with the kinds of value that stand there; the elements of a list count as one.
    private static func shape(of object: JSONObject) -> [String: Set<JSONValue.Kind>] {
        var shape: [String: Set<JSONValue.Kind>] = [:]
        for (key, value) in object.members {
            shape[key, default: []].insert(value.kind)
            let inner = [value.object].compactMap { $0 } + object.list(key)
            for (path, kinds) in inner.flatMap({ Array(Self.shape(of: $0)) }) {
                shape[key + "." + path, default: []].formUnion(kinds)
            }
        }
        return shape
    }
}
