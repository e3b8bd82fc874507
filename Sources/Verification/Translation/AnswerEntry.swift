import AppleFormats
import PurchaseModel

// One entry of verifyReceipt's lists in our own words.
extension AnswerTransaction {
    /// `nil` for what cannot be read as a transaction.
    ///
    /// - Parameter moment: when Apple said so; the purchase's own where nobody knows.
    /// - Returns: the transaction, without what the entry does not tell.
    func transaction(toldAt moment: Timestamp? = nil) -> Transaction? {
        guard
            let id = transactionID.flatMap({ TransactionID($0) }),
            let product = productID.flatMap({ ProductID($0) }),
            let purchasedAt = purchaseDate.map(Timestamp.init(milliseconds:)),
            let quantity = try? FieldReader.quantity(quantity)
        else { return nil }
        return Transaction(
            id: id,
            originalID: originalTransactionID.flatMap { TransactionID($0) },
            product: product,
            kind: isSubscription ? .autoRenewable : nil,
            quantity: quantity,
            purchasedAt: purchasedAt,
            originallyPurchasedAt: originalPurchaseDate.map(Timestamp.init(milliseconds:)),
            expiresAt: expiresDate.map(Timestamp.init(milliseconds:)),
            revocation: revocation,
            isUpgraded: isUpgraded ?? false,
            ownership: ownership,
            accountToken: appAccountToken.flatMap(AccountToken.init(uuid:)),
            offer: offer,
            subscriptionGroup: subscriptionGroupIdentifier,
            webOrderLineItem: webOrderLineItemID,
            signedAt: moment ?? purchasedAt
        )
    }

    /// Apple gives an expiry, and a line item or a group, to nothing else.
    private var isSubscription: Bool {
        expiresDate != nil && (webOrderLineItemID != nil || subscriptionGroupIdentifier != nil)
    }

    /// What was upgraded was cancelled by nobody, unless the reason is one that only a refund has: an issue with the app.
    var revocation: Revocation? {
        cancellationDate.map {
            let reason = cancellationReason.map(Int.init)
            return Revocation(at: Timestamp(milliseconds: $0), reason: isUpgraded == true && reason == 0 ? nil : reason)
        }
    }

    /// A purchase is left unsaid of what may be a consumable: the fold takes a fact that tells who owns a thing for one
    /// that would tell of its refund, and these answers never do of a consumable. A newer answer in which a refunded one
    /// still stands must not make it good again.
    private var ownership: Ownership? {
        guard let inAppOwnershipType else { return nil }
        guard inAppOwnershipType == .purchased else {
            return Ownership(rawValue: inAppOwnershipType.rawValue.lowercased())
        }
        return expiresDate == nil && cancellationDate == nil ? nil : .purchased
    }

    private var offer: Offer? {
        if let promotionalOfferID { return Offer(kind: .promotional, identifier: promotionalOfferID) }
        if let offerCodeRefName { return Offer(kind: .offerCode, identifier: offerCodeRefName) }
        // `is_trial_period` stands in entries of all kinds of product, and says something of subscriptions only.
        guard expiresDate != nil else { return nil }
        if isTrialPeriod == true { return Offer(kind: .introductory, discount: "FREE_TRIAL") }
        return isInIntroOfferPeriod == true ? Offer(kind: .introductory) : nil
    }
}
