import AppleFormats
import PurchaseModel

// One transaction as verifyReceipt writes it, iOS 7 and later. Everything is text.
// Source: Apple, *responseBody.Receipt.In_app* and *responseBody.Latest_receipt_info*.
extension Payload {
    /// An element of `in_app`: what the receipt says, and the two things that the store adds.
    static func inApp(_ purchase: ReceiptPurchase, in receipt: AppReceipt, _ sold: SoldTransaction?) -> Payload {
        let isSubscription = purchase.productType == 3 || purchase.expiresDate != nil
        var payload = Payload()
        payload.set("quantity", String(purchase.quantity ?? 1))
        payload.set("product_id", receipt.string(purchase.productID))
        payload.set("transaction_id", receipt.string(purchase.transactionID))
        payload.set("original_transaction_id", receipt.string(purchase.originalTransactionID))
        payload.setMoment("purchase_date", purchase.purchaseDate)
        payload.setMoment("original_purchase_date", purchase.originalPurchaseDate)
        if isSubscription {
            payload.setMoment("expires_date", purchase.expiresDate)
            if let number = purchase.webOrderLineItemID, number != 0 {
                payload.set("web_order_line_item_id", String(number))
            }
        }
        payload.setText("is_trial_period", purchase.isTrialPeriod ?? false)
        if isSubscription { payload.setText("is_in_intro_offer_period", purchase.isInIntroOfferPeriod ?? false) }
        if let cancelledAt = purchase.cancellationDate {
            payload.setMoment("cancellation_date", cancelledAt)
            payload.set("cancellation_reason", String(sold?.fact.revocation?.reason ?? 0))
        }
        payload.set("promotional_offer_id", receipt.string(purchase.promotionalOfferID))
        payload.set("in_app_ownership_type", ownership(sold?.fact.ownership))
        return payload
    }

    /// An element of `latest_receipt_info`: what the ledger says now.
    static func latest(_ sold: SoldTransaction) -> Payload {
        let fact = sold.fact
        var payload = Payload()
        payload.set("quantity", String(fact.quantity))
        payload.set("product_id", fact.product.text)
        payload.set("transaction_id", fact.id.description)
        payload.set("original_transaction_id", sold.originalID.description)
        payload.setMoment("purchase_date", fact.purchasedAt)
        payload.setMoment("original_purchase_date", fact.originallyPurchasedAt ?? fact.purchasedAt)
        if sold.isSubscription {
            payload.setMoment("expires_date", fact.expiresAt)
            payload.set("web_order_line_item_id", fact.webOrderLineItem)
        }
        payload.setText("is_trial_period", sold.isTrial)
        if sold.isSubscription {
            payload.setText("is_in_intro_offer_period", sold.isIntroductory && !sold.isTrial)
        }
        if fact.isUpgraded { payload.setText("is_upgraded", true) }
        if let revocation = sold.shownRevocation {
            payload.setMoment("cancellation_date", revocation.at)
            payload.set("cancellation_reason", String(revocation.reason ?? 0))
        }
        if fact.offer?.kind == .promotional { payload.set("promotional_offer_id", fact.offer?.identifier) }
        if fact.offer?.kind == .offerCode { payload.set("offer_code_ref_name", fact.offer?.identifier) }
        payload.set("in_app_ownership_type", ownership(fact.ownership))
        if sold.isSubscription { payload.set("subscription_group_identifier", fact.subscriptionGroup) }
        payload.set("app_account_token", fact.accountToken?.description)
        return payload
    }

    private static func ownership(_ ownership: Ownership?) -> String {
        ownership == .familyShared ? "FAMILY_SHARED" : "PURCHASED"
    }
}

extension CustomerLedger {
    /// `latest_receipt_info`, newest first.
    ///
    /// - Parameters:
    ///   - excludesOld: of each subscription the newest transaction alone.
    ///   - atMost: the newest so many.
    /// - Returns: finished consumables are not among them.
    func latestTransactions(excludesOld: Bool = false, atMost: Int = .max) -> [Payload.Value] {
        let shown = lasting.filter { sold in
            guard excludesOld, sold.isSubscription else { return true }
            return subscription(sold.originalID)?.current.id == sold.id
        }
        let sorted = shown.sorted { one, other in
            (one.fact.purchasedAt, one.id) > (other.fact.purchasedAt, other.id)
        }
        return sorted.prefix(atMost).map { .object(.latest($0)) }
    }
}
