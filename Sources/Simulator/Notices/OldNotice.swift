import Crypto
import PurchaseModel

/// A notification of version 1: JSON without a signature, which the shared secret vouches for.
///
/// Source: Apple, *responseBodyV1*, *unified_receipt*, *notification_type*.
struct OldNotice: Sendable {
    /// Apple's `notification_type`.
    enum Kind: String, Hashable, Sendable, CaseIterable {
        case initialBuy = "INITIAL_BUY"
        case didRenew = "DID_RENEW"
        case didRecover = "DID_RECOVER"
        case interactiveRenewal = "INTERACTIVE_RENEWAL"
        case didChangePreference = "DID_CHANGE_RENEWAL_PREF"
        case didChangeStatus = "DID_CHANGE_RENEWAL_STATUS"
        case didFailToRenew = "DID_FAIL_TO_RENEW"
        case cancel = "CANCEL"
        case refund = "REFUND"
        case revoke = "REVOKE"
        case priceIncreaseConsent = "PRICE_INCREASE_CONSENT"
        case consumptionRequest = "CONSUMPTION_REQUEST"

        /// Whether a purchaser's server hears of it.
        var isForPurchasers: Bool { self != .revoke }

        /// Whether it is told of what a family member has.
        var isForFamily: Bool {
            switch self {
            case .initialBuy, .cancel, .refund, .priceIncreaseConsent, .consumptionRequest: false
            default: true
            }
        }

        /// Whether the sandbox sends it, and then about purchasers only.
        var isInSandbox: Bool {
            switch self {
            case .initialBuy, .didChangePreference, .didChangeStatus, .didRenew, .interactiveRenewal, .cancel, .refund:
                true
            default: false
            }
        }
    }

    let kind: Kind
    private let notice: StoreNotice
    private let purchase: StoreNotice.Purchase
    private var ledger: CustomerLedger

    /// What version 1 says of it: nothing, one or two messages.
    static func all(of notice: StoreNotice, in store: SimulatedStore) -> [OldNotice] {
        guard case .purchase(let purchase) = notice.subject else { return [] }
        let owner = SimulatedStore.Owner(customer: purchase.transaction.customer, app: notice.app)
        guard let ledger = CustomerLedger(store, owner)?.asOf(notice, purchase) else { return [] }
        let isFamily = purchase.transaction.purchasedBy != nil
        return kinds(of: notice, purchase, ledger).filter { kind in
            guard notice.environment == .production || kind.isInSandbox && !isFamily else { return false }
            return isFamily ? kind.isForFamily : kind.isForPurchasers
        }
        .map { OldNotice(kind: $0, notice: notice, purchase: purchase, ledger: ledger) }
    }

    /// Which messages of version 1 an event of version 2 was.
    private static func kinds(
        of notice: StoreNotice,
        _ purchase: StoreNotice.Purchase,
        _ ledger: CustomerLedger
    ) -> [Kind] {
        let transaction = purchase.transaction
        switch (notice.type, notice.subtype) {
        case (.subscribed, "INITIAL_BUY"): return [.initialBuy]
        case (.subscribed, _):
            return ledger.product(before: transaction) == transaction.fact.product
                ? [.didChangeStatus] : [.interactiveRenewal, .didChangeStatus]
        case (.didRenew, nil): return [.didRenew]
        case (.didRenew, _): return [.didRecover]
        case (.didChangeRenewalPreference, "UPGRADE"), (.offerRedeemed, "UPGRADE"):
            return [.didChangeStatus, .interactiveRenewal]
        case (.didChangeRenewalPreference, _), (.offerRedeemed, "DOWNGRADE"): return [.didChangePreference]
        case (.didChangeRenewalStatus, _), (.expired, "BILLING_RETRY"): return [.didChangeStatus]
        case (.didFailToRenew, _): return [.didFailToRenew]
        case (.priceIncrease, "PENDING"): return [.priceIncreaseConsent]
        case (.consumptionRequest, _): return transaction.fact.kind == .consumable ? [.consumptionRequest] : []
        case (.refund, _): return transaction.isSubscription ? [.cancel, .didChangeStatus] : [.refund]
        case (.revoke, _): return [.revoke]
        default: return []
        }
    }

    /// The body, with the customer's newest receipt.
    func body(signedBy authority: SimulatorAuthority) throws(CryptoError) -> [UInt8] {
        var body = Payload()
        body.set("notification_type", kind.rawValue)
        body.set("password", ledger.app.sharedSecret)
        body.set("environment", notice.environment == .production ? "PROD" : "Sandbox")
        if let line = purchase.line {
            let product = ledger.app.products[line.nextProduct]
            body.set("auto_renew_adam_id", product.map { String($0.appleID) })
            body.set("auto_renew_product_id", line.nextProduct.text)
            body.set("auto_renew_status", line.willAutoRenew ? "true" : "false")
            if kind == .didChangeStatus { body.setMoment("auto_renew_status_change_date", notice.at) }
            // A number here, and a text in the receipt below.
            if line.hasExpired { body.set("expiration_intent", line.expirationIntent.map { Int64($0.rawValue) }) }
        }
        body.set("original_transaction_id", purchase.transaction.originalID.description)
        body.set("bid", ledger.app.bundleID.text)
        body.set("bvrs", ledger.app.version)
        body.set("deprecation", "Mon, 5 Jun 2023 00:00:00 GMT")
        var unified = Payload()
        unified.set("environment", notice.environment.answerName)
        unified.setReceipt("latest_receipt", try CustomerReceipts(authority).appReceipt(ledger))
        unified["latest_receipt_info"] = .list(ledger.latestTransactions(atMost: OldNotice.transactionsMax))
        unified["pending_renewal_info"] = .list(ledger.pendingRenewals)
        unified.set("status", 0)
        body["unified_receipt"] = .object(unified)
        return body.json
    }

    /// Apple sends the newest hundred.
    private static let transactionsMax = 100
}

extension CustomerLedger {
    /// The ledger as it was when the notice was made: what came later is left out.
    fileprivate func asOf(_ notice: StoreNotice, _ purchase: StoreNotice.Purchase) -> CustomerLedger {
        var ledger = self
        ledger.now = notice.at
        ledger.transactions = transactions.filter {
            $0.id <= purchase.transaction.id || $0.fact.purchasedAt <= notice.at
        }
        .map { sold in
            if sold.id == purchase.transaction.id { return purchase.transaction }
            var sold = sold
            if let revokedAt = sold.fact.revocation?.at, revokedAt > notice.at { sold.fact.revocation = nil }
            return sold
        }
        ledger.subscriptions = subscriptions.compactMap { known in
            if let line = purchase.line, known.line.originalID == line.originalID {
                return Subscription(line: line, current: purchase.transaction)
            }
            return ledger.transactions.contains { $0.originalID == known.line.originalID } ? known : nil
        }
        return ledger
    }

    /// What the same subscription was before this transaction.
    fileprivate func product(before transaction: SoldTransaction) -> ProductID? {
        transactions.last { $0.originalID == transaction.originalID && $0.id < transaction.id }?.fact.product
    }
}
