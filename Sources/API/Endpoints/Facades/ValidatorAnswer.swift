import Encoding
import Pipeline
import PurchaseModel

/// One entry of a validator's `collection`: how a product stands for the customer.
///
/// Source: cordova-plugin-purchase 13, `VerifiedPurchase`.
struct ValidatedPurchase {
    let product: ProductID
    private let sold: Transaction
    private let purchase: PresentedPurchase
    private let subscription: Subscription?
    private let now: Timestamp

    init(_ sold: Transaction, in purchase: PresentedPurchase, at now: Timestamp) {
        product = sold.product
        self.sold = sold
        self.purchase = purchase
        let subscription = purchase.subscription(of: sold)
        self.subscription = subscription?.current == sold.id ? subscription : nil
        self.now = now
    }

    /// The newest of each product that gives anything, or else the newest: the plugin tells purchases apart by nothing else.
    static func collection(_ purchase: PresentedPurchase, of customer: CustomerID?, at now: Timestamp) -> [Self] {
        let known = Set(purchase.known.map(\.id))
        let sold = purchase.known.map(\.transaction) + purchase.transactions.filter { !known.contains($0.id) }
        let newestFirst = sold.filter { purchase.counts($0, for: customer) }
            .sorted { ($0.purchasedAt, $0.id) > ($1.purchasedAt, $1.id) }
        var (collection, places) = ([Self](), [ProductID: Int]())
        for sold in newestFirst {
            let entry = Self(sold, in: purchase, at: now)
            guard let place = places[sold.product] else {
                places[sold.product] = collection.count
                collection.append(entry)
                continue
            }
            if collection[place].isExpired, !entry.isExpired { collection[place] = entry }
        }
        return collection
    }

    /// Whether it gives nothing, which is all that the plugin takes for not owned: it is over, or was not delivered.
    var isExpired: Bool { isOver || !purchase.isDelivered(sold, at: now) }

    /// Whether it gives nothing any more: its time is over, or Apple took it back.
    var isOver: Bool {
        if purchase.takenBack(sold) != nil || sold.isUpgraded { return true }
        if let subscription, subscription.state != .unknown {
            return subscription.accessUntil.map { $0 <= now } ?? true
        }
        return purchase.end(of: sold).map { $0 <= now } ?? false
    }

    func write(into json: inout JSONObjectWriter) {
        json.member("id", sold.product.text)
        json.member("platform", "ios-appstore")
        json.member("transactionId", sold.id.description)
        json.member("purchaseId", (sold.originalID ?? sold.id).description)
        let began = sold.mayRenew ? sold.originallyPurchasedAt ?? sold.purchasedAt : sold.purchasedAt
        json.member("purchaseDate", began.milliseconds)
        if sold.mayRenew { json.member("lastRenewalDate", sold.purchasedAt.milliseconds) }
        json.member("expiryDate", (subscription?.accessUntil ?? purchase.end(of: sold))?.milliseconds)
        json.member("isExpired", isExpired)
        json.member("renewalIntent", subscription?.willAutoRenew.map { $0 ? "Renew" : "Lapse" })
        json.member("cancelationReason", cancelation)
        if sold.mayRenew {
            json.member("isBillingRetryPeriod", subscription?.billingRetry == "1")
            json.member("isTrialPeriod", sold.isTrial)
            json.member("isIntroPeriod", sold.isIntroductory)
        }
        // Apple has no such words: what is recorded has been taken, and nobody says that it was used up.
        json.member("isAcknowledged", true)
        json.member("isConsumed", false)
        json.member("discountId", sold.offer?.kind == .promotional ? sold.offer?.identifier : nil)
        switch subscription?.priceIncrease {
        case .pending?: json.member("priceConsentStatus", "Notified")
        case .accepted?: json.member("priceConsentStatus", "Agreed")
        default: break
        }
        json.member("quantity", sold.quantity)
    }

    /// The plugin's `CancelationReason`; empty for what was not cancelled.
    private var cancelation: String {
        if let revocation = purchase.takenBack(sold) {
            return revocation.reason == 1 ? "Customer.TechnicalIssues" : "Customer.OtherReason"
        }
        if sold.isUpgraded { return "System.Replaced" }
        return switch subscription?.ending {
        case nil: ""
        case .cancelled?: "Customer"
        case .billingError?: "System.BillingError"
        case .noConsent?: "Customer.PriceIncrease"
        case .productUnavailable?: "System.ProductUnavailable"
        default: "Unknown"
        }
    }
}

/// The products for which no introductory price is given any more: one was, in their group.
enum SpentIntroductions {
    static func products(in purchase: PresentedPurchase) -> [ProductID] {
        let sold = purchase.known.map(\.transaction).filter(\.mayRenew)
        let spent = Set(sold.filter { $0.offer?.kind == .introductory }.map(group))
        return Set(sold.filter { spent.contains(group($0)) }.map(\.product)).sorted()
    }

    /// Old receipts know no groups: then it is the chain.
    private static func group(_ sold: Transaction) -> String {
        sold.subscriptionGroup ?? "chain \(sold.originalID ?? sold.id)"
    }
}
