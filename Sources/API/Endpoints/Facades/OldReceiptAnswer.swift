import Encoding
import Pipeline
import PurchaseModel

/// verifyReceipt's answer about an iOS 6 receipt: everything at the top, and one transaction instead of a list.
struct OldReceiptAnswer {
    private let purchase: PresentedPurchase
    private let sold: Transaction
    private let sent: [UInt8]
    private let now: Timestamp

    init(_ purchase: PresentedPurchase, _ sold: Transaction, sent: [UInt8], at now: Timestamp) {
        self.purchase = purchase
        self.sold = sold
        self.sent = sent
        self.now = now
    }

    func write(into json: inout JSONObjectWriter) {
        json.member("status", hasExpired ? 21_006 : 0)
        json.object("receipt") { writeReceipt(into: &$0) }
        guard sold.mayRenew else { return }
        json.object(hasExpired ? "latest_expired_receipt_info" : "latest_receipt_info") {
            write(newest, isLatest: true, into: &$0)
        }
        if !hasExpired { json.member("latest_receipt", String(decoding: sent, as: UTF8.self)) }
        guard let subscription else { return }
        json.member("auto_renew_status", subscription.willAutoRenew.map { $0 ? 1 : 0 })
        json.member("auto_renew_product_id", (subscription.nextProduct ?? subscription.product).text)
        json.member("expiration_intent", subscription.expirationIntent)
        json.member("is_in_billing_retry_period", subscription.billingRetry)
        json.member("cancellation_reason", subscription.revocation.map { String($0.reason ?? 0) })
    }

    /// What stands in it, decoded.
    func writeReceipt(into json: inout JSONObjectWriter) { write(sold, isLatest: false, into: &json) }

    private var subscription: Subscription? { purchase.subscription(of: sold) }

    private var newest: Transaction {
        purchase.known.first { $0.id == subscription?.current }?.transaction ?? sold
    }

    /// Only subscriptions expire; what was refunded is over, too, and the grace is not.
    private var hasExpired: Bool {
        guard sold.mayRenew else { return false }
        if let until = subscription?.accessUntil { return until <= now }
        return newest.revocation != nil || newest.expiresAt.map { $0 <= now } ?? false
    }

    private func write(_ sold: Transaction, isLatest: Bool, into json: inout JSONObjectWriter) {
        json.member("bid", purchase.bundleID)
        json.member("product_id", sold.product.text)
        json.member("quantity", String(sold.quantity))
        json.member("transaction_id", sold.id.description)
        json.member("original_transaction_id", (sold.originalID ?? sold.id).description)
        AppleMoment.write("purchase_date", sold.purchasedAt, isExact: true, into: &json)
        let first = sold.originallyPurchasedAt ?? sold.purchasedAt
        AppleMoment.write("original_purchase_date", first, isExact: true, into: &json)
        if let end = sold.expiresAt, let texts = AppleMoment.texts(end) {
            json.member("expires_date", String(end.milliseconds))
            json.member("expires_date_formatted", texts.greenwich)
            json.member("expires_date_formatted_pst", texts.pacific)
        }
        json.member("web_order_line_item_id", sold.webOrderLineItem)
        if sold.offer != nil {
            json.member("is_trial_period", sold.isTrial ? "true" : "false")
            json.member("is_in_intro_offer_period", sold.isIntroductory ? "true" : "false")
        }
        AppleMoment.write("cancellation_date", purchase.takenBack(sold)?.at, into: &json)
        if isLatest { json.member("subscription_group_identifier", sold.subscriptionGroup) }
    }
}
