package import AppleFormats
import PurchaseModel

/// verifyReceipt's answer about an iOS 6 transaction receipt: everything at the top, and one transaction instead of a list.
package struct OldReceiptAnswer: Sendable {
    /// What was sent.
    package var receipt: PlistReceipt
    package var ledger: CustomerLedger
    package var sold: SoldTransaction
    /// The newest iOS 6 receipt of the same subscription.
    package var latestReceipt: [UInt8] = []

    package init(_ receipt: PlistReceipt, _ sold: SoldTransaction, _ ledger: CustomerLedger) {
        self.receipt = receipt
        self.sold = sold
        self.ledger = ledger
    }

    /// `nil` for what does not renew.
    package var subscription: CustomerLedger.Subscription? {
        sold.isSubscription ? ledger.subscription(sold.originalID) : nil
    }

    /// Only subscriptions expire; what was refunded is over, too.
    package var hasExpired: Bool {
        guard let subscription else { return false }
        return subscription.current.isRevoked || subscription.line.expiresAt <= ledger.now
    }

    package var payload: Payload {
        var payload = Payload()
        payload.set("status", (hasExpired ? VerifyReceiptStatus.subscriptionExpired : .valid).rawValue)
        var sent = Payload.underscored(receipt.purchase.pairs)
        sent.addCancellation(of: sold)
        payload["receipt"] = .object(sent)
        guard let subscription else { return payload }
        let (line, current) = (subscription.line, subscription.current)
        var newest = Payload.underscored(CustomerReceipts.purchaseInfo(current, ledger))
        newest.set("subscription_group_identifier", line.group)
        newest.addCancellation(of: current)
        payload[hasExpired ? "latest_expired_receipt_info" : "latest_receipt_info"] = .object(newest)
        if !hasExpired { payload.setReceipt("latest_receipt", latestReceipt) }
        payload.set("auto_renew_status", line.willAutoRenew ? 1 : 0)
        payload.set("auto_renew_product_id", line.nextProduct.text)
        if let intent = line.expirationIntent {
            payload.set("expiration_intent", String(intent.rawValue))
            payload.set("is_in_billing_retry_period", subscription.isInBillingRetry ? "1" : "0")
        }
        if let revocation = current.shownRevocation {
            payload.set("cancellation_reason", String(revocation.reason ?? 0))
        }
        return payload
    }
}

extension Payload {
    /// What the plist says; hyphens become underscores.
    fileprivate static func underscored(_ pairs: [OldPlist.Pair]) -> Payload {
        var payload = Payload()
        for pair in pairs {
            let key = pair.key.utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 }
            payload.set(String(decoding: key, as: UTF8.self), pair.value)
        }
        return payload
    }

    fileprivate mutating func addCancellation(of sold: SoldTransaction) {
        setMoment("cancellation_date", sold.shownRevocation?.at)
    }
}
