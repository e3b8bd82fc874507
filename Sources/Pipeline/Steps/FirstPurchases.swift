package import PurchaseModel
package import Storage

/// Customers who had bought nothing before, and what follows from it in the same commit.
package struct FirstPurchases: Sendable {
    /// Plans what is to be done, by one of the customer's transactions.
    package typealias Follow = @Sendable (TransactionKey, any StoreTransaction) throws(StoreFailure) -> Void

    private let apps: Set<AppID>
    let follow: Follow

    /// - Parameters:
    ///   - apps: those among them count that want it.
    ///   - follow: what follows.
    package init(among apps: [AppPolicy], follow: @escaping Follow) {
        self.apps = Set(apps.filter(\.readsHistory).map(\.id))
        self.follow = follow
    }

    /// Finds who is new in a decision that is not written yet.
    ///
    /// Imported books bring everybody at once: `assay reconcile` reads about those, as slowly as is fit.
    ///
    /// - Returns: a transaction of each.
    func newcomers(
        of decision: Decision,
        _ recording: Recording,
        in reader: any StoreReader
    ) throws(StoreFailure) -> [TransactionKey] {
        guard !decision.owners.isEmpty, apps.contains(recording.app), recording.source == .presented else { return [] }
        var (keys, seen) = ([TransactionKey](), Set<CustomerID>())
        for case .insert(let owner) in decision.owners where seen.insert(owner.customer).inserted {
            let bought = decision.outcomes.first { $0.recorded.customer == owner.customer }
            guard let key = bought?.recorded.key else { continue }
            if try !reader.hasBought(owner.customer, app: key.app, realm: key.realm) { keys.append(key) }
        }
        return keys
    }
}
