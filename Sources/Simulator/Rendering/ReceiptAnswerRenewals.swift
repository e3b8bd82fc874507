import PurchaseModel

// What will become of a subscription, as verifyReceipt writes it.
// Source: Apple, *responseBody.Pending_renewal_info*.
extension Payload {
    /// An element of `pending_renewal_info`; everything is text.
    static func pendingRenewal(_ subscription: CustomerLedger.Subscription) -> Payload {
        let (line, current) = (subscription.line, subscription.current)
        var payload = Payload()
        payload.set("auto_renew_product_id", line.nextProduct.text)
        payload.set("product_id", current.fact.product.text)
        payload.set("original_transaction_id", line.originalID.description)
        payload.set("auto_renew_status", line.willAutoRenew ? "1" : "0")
        if let intent = line.expirationIntent {
            payload.set("expiration_intent", String(intent.rawValue))
            payload.set("is_in_billing_retry_period", subscription.isInBillingRetry ? "1" : "0")
        }
        payload.setMoment("grace_period_expires_date", line.failure?.graceEndsAt)
        if let increase = line.priceIncrease {
            let answer = increase.isAccepted ? "1" : "0"
            if increase.needsConsent { payload.set("price_consent_status", answer) }
            payload.set("price_increase_status", answer)
        }
        if line.pendingOffer?.kind == .promotional {
            payload.set("promotional_offer_id", line.pendingOffer?.identifier)
        }
        let code = [line.pendingOffer?.fact, current.fact.offer].compactMap { $0 }.first { $0.kind == .offerCode }
        payload.set("offer_code_ref_name", code?.identifier)
        return payload
    }
}

extension CustomerLedger.Subscription {
    /// Apple still tries to charge, in the grace period too.
    var isInBillingRetry: Bool { line.failure != nil && !line.hasExpired }
}

extension CustomerLedger {
    /// `pending_renewal_info`. Who switched auto-renew off in the grace period has left it.
    var pendingRenewals: [Payload.Value] {
        subscriptions.filter { !$0.line.endedInGrace }.map { .object(.pendingRenewal($0)) }
    }
}
