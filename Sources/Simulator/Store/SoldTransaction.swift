package import PurchaseModel

/// One transaction of the simulated store, with everything that any of Apple's answers says of it.
package struct SoldTransaction: Hashable, Sendable {
    /// What is signed. Its `signedAt` is when it last changed; each text is signed anew, at its own moment.
    package var fact: Transaction
    package let customer: String
    package let app: BundleID
    package let environment: StoreEnvironment
    package var storefront: Storefront
    /// The order on the receipt that the customer gets by mail; production only.
    package let orderID: String
    /// When any of this last changed: the order of Apple's history.
    package var modifiedAt: Timestamp
    /// The number of that change among all changes of the store: many can happen at one moment.
    package var changeNumber: Int64 = 0
    /// Finished consumables leave receipts.
    package var isFinished = false
    /// A family member's copy: whose purchase it came from.
    package var purchasedBy: TransactionID?

    package var id: TransactionID { fact.id }
    package var originalID: TransactionID { fact.originalID ?? fact.id }
    package var reason: TransactionReason { fact.reason ?? .purchase }
    package var isRevoked: Bool { fact.revocation != nil }
    package var isSubscription: Bool { fact.kind == .autoRenewable }

    package init(
        fact: Transaction,
        customer: StoreCustomer,
        app: BundleID,
        reason: TransactionReason,
        orderID: String,
        purchasedBy: TransactionID? = nil
    ) {
        self.fact = fact
        self.customer = customer.name
        self.app = app
        environment = customer.environment
        self.fact.reason = reason
        storefront = customer.storefront
        self.orderID = orderID
        modifiedAt = fact.purchasedAt
        self.purchasedBy = purchasedBy
    }
}
