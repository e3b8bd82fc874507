package import PurchaseModel

/// One customer's purchases in one app at one moment: what receipts and answers about them are made of.
package struct CustomerLedger: Sendable {
    package let app: StoreApp
    package let customer: StoreCustomer
    package var now: Timestamp
    /// In the order in which they were made.
    package var transactions: [SoldTransaction]
    /// Oldest first.
    package var subscriptions: [Subscription]

    /// A subscription with its newest transaction.
    package struct Subscription: Sendable {
        package var line: SubscriptionLine
        package var current: SoldTransaction

        package init(line: SubscriptionLine, current: SoldTransaction) {
            self.line = line
            self.current = current
        }
    }

    /// `nil` for a customer or an app that the store does not know.
    package init?(_ store: SimulatedStore, _ owner: SimulatedStore.Owner) {
        guard let app = store.apps[owner.app], let customer = store.customers[owner.customer] else { return nil }
        self.app = app
        self.customer = customer
        now = store.now
        transactions = store.transactions(of: owner)
        subscriptions = store.lines(of: owner).compactMap { line in
            store.transactions[line.current].map { Subscription(line: line, current: $0) }
        }
    }

    package var environment: StoreEnvironment { customer.environment }

    /// What receipts still have: finished consumables leave them.
    package var lasting: [SoldTransaction] {
        transactions.filter { $0.fact.kind != .consumable || !$0.isFinished }
    }

    package func subscription(_ originalID: TransactionID) -> Subscription? {
        subscriptions.first { $0.line.originalID == originalID }
    }

    package func transaction(_ id: TransactionID) -> SoldTransaction? {
        transactions.first { $0.id == id }
    }
}

extension SoldTransaction {
    /// What verifyReceipt and receipts say of a refund: nothing of a consumable's. Source: Apple, *cancellation_date*.
    var shownRevocation: Revocation? { fact.kind == .consumable ? nil : fact.revocation }

    var isTrial: Bool { isIntroductory && fact.offer?.discount == StoreOffer.Mode.freeTrial.rawValue }

    var isIntroductory: Bool { fact.offer?.kind == .introductory }
}
