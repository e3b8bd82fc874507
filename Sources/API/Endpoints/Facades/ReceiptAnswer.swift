import Encoding
import Pipeline
import PurchaseModel

/// verifyReceipt's answer about a receipt that was accepted: what its signed bytes say, and beside it what the ledger knows.
///
/// What neither tells is left out; Apple itself is never asked for it here.
struct ReceiptAnswer {
    private let purchase: PresentedPurchase
    /// As it was sent.
    private let sent: [UInt8]
    private let excludesOld: Bool
    private let reader: CustomerID?
    private let now: Timestamp

    /// - Parameters:
    ///   - purchase: what was accepted.
    ///   - sent: the receipt, as it was sent.
    ///   - excludesOld: whether only the newest of each subscription is told.
    ///   - reader: the customer who asks; `nil` when the shop does, by its own key.
    ///   - now: the moment of the request.
    init(_ purchase: PresentedPurchase, sent: [UInt8], excludesOld: Bool, to reader: CustomerID?, at now: Timestamp) {
        self.purchase = purchase
        self.sent = sent
        self.excludesOld = excludesOld
        self.reader = reader
        self.now = now
    }

    func write(into json: inout JSONObjectWriter) {
        if let old { return old.write(into: &json) }
        json.member("status", 0)
        json.member("environment", environment)
        json.object("receipt") { writeReceipt(into: &$0) }
        guard purchase.transactions.contains(where: \.mayRenew) else { return }
        json.array("latest_receipt_info") { json in
            for recorded in latest {
                json.object { json in
                    let sold = recorded.transaction
                    writeTransaction(sold, isLatest: true, into: &json)
                    guard TransactionJSON.isWhole(recorded, to: reader) else { return }
                    json.member("app_account_token", sold.accountToken?.description)
                }
            }
        }
        json.member("latest_receipt", String(decoding: sent, as: UTF8.self))
        json.array("pending_renewal_info") { json in
            for subscription in purchase.subscriptions {
                json.object { PendingRenewal.write(subscription, into: &$0) }
            }
        }
    }

    /// What stands in it, decoded.
    func writeDecoded(into json: inout JSONObjectWriter) {
        if let old { old.writeReceipt(into: &json) } else { writeReceipt(into: &json) }
    }

    private var old: OldReceiptAnswer? {
        guard purchase.isOldReceipt, let sold = purchase.transactions.first(where: { _ in true }) else { return nil }
        return OldReceiptAnswer(purchase, sold, sent: sent, at: now)
    }

    private var environment: String? {
        switch purchase.environment {
        case .production?: "Production"
        case .sandbox?: "Sandbox"
        case .xcode?, .localTesting?: "Xcode"
        default: nil
        }
    }

    /// Finished consumables are not among them, and those in the receipt were not finished; without the old ones, of each
    /// subscription the newest alone.
    private var latest: [RecordedTransaction] {
        let unfinished = Set(purchase.transactions.map(\.id))
        var seen: Set<ChainKey> = []
        return purchase.known.filter { recorded in
            guard recorded.transaction.kind != .consumable || unfinished.contains(recorded.id) else { return false }
            guard excludesOld, recorded.transaction.mayRenew else { return true }
            return seen.insert(recorded.chain).inserted
        }
    }

    private func writeReceipt(into json: inout JSONObjectWriter) {
        let download = purchase.download
        let isProduction = purchase.environment == .production
        json.member("receipt_type", download?.receiptKind ?? (isProduction ? "Production" : "ProductionSandbox"))
        json.member("adam_id", download?.appleID ?? 0)
        json.member("app_item_id", download?.appleID ?? 0)
        json.member("bundle_id", purchase.bundleID)
        json.member("application_version", download?.version)
        json.member("download_id", download?.downloadID ?? 0)
        json.member("version_external_identifier", download?.buildID ?? 0)
        AppleMoment.write("receipt_creation_date", purchase.signedAt, into: &json)
        AppleMoment.write("request_date", now, isExact: true, into: &json)
        AppleMoment.write("original_purchase_date", download?.originallyPurchasedAt, into: &json)
        json.member("original_application_version", download?.originalVersion)
        AppleMoment.write("preorder_date", download?.preorderedAt, into: &json)
        AppleMoment.write("expiration_date", download?.expiresAt, into: &json)
        json.array("in_app") { json in
            for transaction in purchase.transactions {
                json.object { writeTransaction(transaction, isLatest: false, into: &$0) }
            }
        }
    }

    private func writeTransaction(_ sold: Transaction, isLatest: Bool, into json: inout JSONObjectWriter) {
        json.member("quantity", String(sold.quantity))
        json.member("product_id", sold.product.text)
        json.member("transaction_id", sold.id.description)
        json.member("original_transaction_id", (sold.originalID ?? sold.id).description)
        AppleMoment.write("purchase_date", sold.purchasedAt, into: &json)
        AppleMoment.write("original_purchase_date", sold.originallyPurchasedAt ?? sold.purchasedAt, into: &json)
        if sold.mayRenew {
            AppleMoment.write("expires_date", sold.expiresAt, into: &json)
            json.member("web_order_line_item_id", sold.webOrderLineItem)
        }
        json.member("is_trial_period", sold.isTrial ? "true" : "false")
        if sold.mayRenew { json.member("is_in_intro_offer_period", sold.isIntroductory ? "true" : "false") }
        if isLatest, sold.isUpgraded { json.member("is_upgraded", "true") }
        if let revocation = purchase.takenBack(sold) {
            AppleMoment.write("cancellation_date", revocation.at, into: &json)
            json.member("cancellation_reason", String(revocation.reason ?? 0))
        }
        if sold.offer?.kind == .promotional { json.member("promotional_offer_id", sold.offer?.identifier) }
        json.member("in_app_ownership_type", sold.ownership?.rawValue.uppercased())
        guard isLatest else { return }
        if sold.offer?.kind == .offerCode { json.member("offer_code_ref_name", sold.offer?.identifier) }
        json.member("subscription_group_identifier", sold.subscriptionGroup)
    }
}

/// An element of `pending_renewal_info`. What Apple has not told yet is left out.
enum PendingRenewal {
    static func write(_ subscription: Subscription, into json: inout JSONObjectWriter) {
        json.member("auto_renew_product_id", (subscription.nextProduct ?? subscription.product).text)
        json.member("product_id", subscription.product.text)
        json.member("original_transaction_id", subscription.chain.original.description)
        json.member("auto_renew_status", subscription.willAutoRenew.map { $0 ? "1" : "0" })
        json.member("expiration_intent", subscription.expirationIntent)
        json.member("is_in_billing_retry_period", subscription.billingRetry)
        AppleMoment.write("grace_period_expires_date", subscription.graceEndsAt, into: &json)
        if subscription.priceIncrease == .pending { json.member("price_consent_status", "0") }
        json.member("price_increase_status", subscription.priceIncrease.map { String($0.rawValue) })
        guard let offer = subscription.nextOffer else { return }
        if offer.kind == .promotional { json.member("promotional_offer_id", offer.identifier) }
        if offer.kind == .offerCode { json.member("offer_code_ref_name", offer.identifier) }
    }
}

extension Subscription {
    /// Why the paid period was the last so far: Apple says `2` as soon as a charge has failed, also while it still tries.
    var expirationIntent: String? {
        if let ending { return String(ending.rawValue) }
        return state == .grace || state == .billingRetry ? "2" : nil
    }

    /// Whether Apple still tries to charge, in its words; `nil` while nothing went wrong.
    var billingRetry: String? {
        switch state {
        case .grace, .billingRetry: "1"
        case .expired: ending == nil ? nil : "0"
        default: nil
        }
    }
}

extension Transaction {
    /// Whether Apple gives it an expiry.
    var mayRenew: Bool { isSubscriptionPeriod || expiresAt != nil }

    /// Free at first, as Apple tells every new customer: of what is free by another offer receipts do not say it.
    var isTrial: Bool { offer?.kind == .introductory && offer?.discount == "FREE_TRIAL" }

    /// An introductory price that is no trial.
    var isIntroductory: Bool { offer?.kind == .introductory && !isTrial }
}
