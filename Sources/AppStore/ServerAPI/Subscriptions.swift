package import AppleFormats
package import PurchaseModel
package import Verification

/// The newest of one line of renewals, proved, and what Apple will do next.
package struct SubscriptionStatus: Sendable {
    package let group: String?
    /// Apple's word for the state. It stands beside what is signed, and is not.
    package let status: AppleSubscriptionStatus?
    package let transaction: Verified<Proof>
    /// Its claims hold the renewal.
    package let renewal: Verified<Proof>
}

// What a customer has subscribed to.
extension AppStoreServerClient {
    /// Get All Subscription Statuses: every line of renewals of a customer.
    ///
    /// - Parameters:
    ///   - id: any of the customer's.
    ///   - statuses: only lines in these states; all when empty.
    ///   - store: `nil` to find it.
    /// - Returns: empty for a customer without subscriptions.
    /// - Throws: ``AppStoreFailure``.
    package func statuses(
        ofAny id: TransactionID,
        only statuses: [AppleSubscriptionStatus] = [],
        in store: StoreEnvironment? = nil
    ) async throws(AppStoreFailure) -> Found<[SubscriptionStatus]> {
        let query = statuses.map { (name: "status", value: String($0.rawValue)) }
        let request = Request(endpoint: .statuses, segments: [id.description], query: query)
        return try await find(store) { store throws(AppStoreFailure) in
            let answer = try await answer(request, in: store, as: StatusesAnswer.self)
            var found: [SubscriptionStatus] = []
            for group in answer.groups {
                for line in group.lastTransactions { found.append(try status(line, group.identifier, store)) }
            }
            return Found(value: found, store: store)
        }
    }

    private func status(
        _ answered: StatusesAnswer.LastTransaction,
        _ group: String?,
        _ store: StoreEnvironment
    ) throws(AppStoreFailure) -> SubscriptionStatus {
        let transaction = try prove(answered.signedTransactionInfo, .jwsTransaction, from: store, .statuses)
        let renewal = try prove(answered.signedRenewalInfo, .jwsRenewalInfo, from: store, .statuses)
        // The renewal info names no app: that it belongs to the transaction says whose it is.
        let original = transaction.fact.transactions.first.map { $0.originalID ?? $0.id }
        guard let original, renewal.fact.claims.renewal?.originalID == original else {
            throw .untrusted(.nestedMismatch, detail: "a renewal of another subscription")
        }
        return SubscriptionStatus(group: group, status: answered.status, transaction: transaction, renewal: renewal)
    }

    /// Extend a Subscription Renewal Date: free days for one customer, at most twice a year.
    ///
    /// - Parameters:
    ///   - terms: by how much and why; its identifier makes a repetition harmless.
    ///   - id: the original transaction's.
    ///   - store: where it is.
    /// - Returns: Apple may answer that it did not succeed.
    /// - Throws: ``AppStoreFailure``.
    package func extend(
        _ terms: RenewalExtension,
        original id: TransactionID,
        in store: StoreEnvironment
    ) async throws(AppStoreFailure) -> ExtensionAnswer {
        try check(terms)
        let request = Request(endpoint: .extend, segments: [id.description], body: terms.json)
        return try await answer(request, in: store, as: ExtensionAnswer.self)
    }

    /// Extend Subscription Renewal Dates for All Active Subscribers of a product. Apple needs hours to days for it.
    ///
    /// - Parameters:
    ///   - terms: by how much and why; the identifier is a UUID.
    ///   - product: whose subscribers.
    ///   - storefronts: ISO 3166-1 alpha-3; `nil` for all.
    ///   - store: where.
    /// - Returns: with the identifier to ask with how it went.
    /// - Throws: ``AppStoreFailure``.
    package func extendAll(
        _ terms: RenewalExtension,
        of product: ProductID,
        storefronts: [String]? = nil,
        in store: StoreEnvironment
    ) async throws(AppStoreFailure) -> MassExtensionAnswer {
        try check(terms)
        guard storefronts?.isEmpty != true else { throw .invalidRequest(field: "storefrontCountryCodes") }
        let body = terms.json(product: product.text, storefronts: storefronts)
        return try await answer(Request(endpoint: .extendAll, body: body), in: store, as: MassExtensionAnswer.self)
    }

    /// Get Status of Subscription Renewal Date Extensions.
    package func extensionStatus(
        _ requestIdentifier: String,
        of product: ProductID,
        in store: StoreEnvironment
    ) async throws(AppStoreFailure) -> MassExtensionAnswer {
        let request = Request(endpoint: .extensionStatus, segments: [product.text, requestIdentifier])
        return try await answer(request, in: store, as: MassExtensionAnswer.self)
    }

    private func check(_ terms: RenewalExtension) throws(AppStoreFailure) {
        guard (1...90).contains(terms.days) else { throw .invalidRequest(field: "extendByDays") }
        guard (1...128).contains(terms.requestIdentifier.utf8.count) else {
            throw .invalidRequest(field: "requestIdentifier")
        }
    }
}
