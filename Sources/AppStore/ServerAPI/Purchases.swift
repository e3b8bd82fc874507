package import AppleFormats
import Encoding
package import PurchaseModel
package import Verification

/// Something found by its id, and the store that has it.
package struct Found<Value: Sendable>: Sendable {
    package let value: Value
    package let store: StoreEnvironment
}

// What a customer has bought.
extension AppStoreServerClient {
    /// Get Transaction Info: one transaction, finished consumables too.
    ///
    /// - Parameters:
    ///   - id: of a transaction; a customer's app transaction is refused here.
    ///   - store: `nil` to find it.
    ///   - urgency: whether somebody waits for it.
    /// - Returns: the transaction, proved.
    /// - Throws: ``AppStoreFailure``.
    package func transaction(
        _ id: TransactionID,
        in store: StoreEnvironment? = nil,
        for urgency: AppleUrgency = .awaited
    ) async throws(AppStoreFailure) -> Found<Verified<Proof>> {
        try await find(store) { store throws(AppStoreFailure) in
            let request = Request(endpoint: .transaction, segments: [id.description], urgency: urgency)
            let answer = try await answer(request, in: store, as: SignedTransactionAnswer.self)
            let proof = try prove(answer.signedTransactionInfo, .jwsTransaction, from: store, .transaction)
            return Found(value: proof, store: store)
        }
    }

    /// Get App Transaction Info: that of the customer who has any of these ids.
    package func appTransaction(
        ofAny id: TransactionID,
        in store: StoreEnvironment? = nil
    ) async throws(AppStoreFailure) -> Found<Verified<Proof>> {
        try await find(store) { store throws(AppStoreFailure) in
            let request = Request(endpoint: .appTransaction, segments: [id.description])
            let answer = try await answer(request, in: store, as: SignedAppTransactionAnswer.self)
            let proof = try prove(answer.signedAppTransactionInfo, .jwsAppTransaction, from: store, .appTransaction)
            return Found(value: proof, store: store)
        }
    }

    /// One page of Get Transaction History.
    ///
    /// - Parameters:
    ///   - id: any of the customer's.
    ///   - query: the same for all pages.
    ///   - revision: of the page before; `nil` for the first.
    ///   - store: `nil` to find it.
    /// - Returns: at most twenty transactions, proved.
    /// - Throws: ``AppStoreFailure``.
    package func historyPage(
        ofAny id: TransactionID,
        matching query: HistoryQuery = HistoryQuery(),
        after revision: String? = nil,
        in store: StoreEnvironment? = nil
    ) async throws(AppStoreFailure) -> HistoryPage {
        try await page(.history, id, query.parameters, revision, store)
    }

    /// The whole history of a customer, page after page.
    package func history(
        ofAny id: TransactionID,
        matching query: HistoryQuery = HistoryQuery(),
        after revision: String? = nil,
        in store: StoreEnvironment? = nil
    ) -> VerifiedPages<HistoryPage> {
        VerifiedPages(first: revision, pagesMax: Self.pagesMax) { continuation throws(AppStoreFailure) in
            try await historyPage(ofAny: id, matching: query, after: continuation, in: store)
        }
    }

    /// Get Refund History: what Apple took back of a customer's purchases, oldest refund first.
    package func refunds(
        ofAny id: TransactionID,
        after revision: String? = nil,
        in store: StoreEnvironment? = nil
    ) -> VerifiedPages<HistoryPage> {
        VerifiedPages(first: revision, pagesMax: Self.pagesMax) { continuation throws(AppStoreFailure) in
            try await page(.refunds, id, [], continuation, store)
        }
    }

    private func page(
        _ endpoint: ServerEndpoint,
        _ id: TransactionID,
        _ parameters: [(name: String, value: String)],
        _ revision: String?,
        _ store: StoreEnvironment?
    ) async throws(AppStoreFailure) -> HistoryPage {
        var request = Request(endpoint: endpoint, segments: [id.description], query: parameters)
        if let revision { request.query.append(("revision", revision)) }
        let question = request
        return try await find(store) { store throws(AppStoreFailure) in
            let answer = try await answer(question, in: store, as: HistoryAnswer.self)
            let proofs = try prove(answer.signedTransactions, .jwsTransaction, from: store, endpoint)
            return HistoryPage(
                store: store,
                transactions: proofs,
                revision: answer.revision,
                hasMore: answer.hasMore
            )
        }
    }

    /// Look Up Order ID, production only: the purchases of a customer's order.
    ///
    /// - Parameter order: as it stands on the customer's receipt from Apple.
    /// - Returns: empty for an order that is none of this app's.
    /// - Throws: ``AppStoreFailure``.
    package func order(_ order: String) async throws(AppStoreFailure) -> [Verified<Proof>] {
        guard (1...64).contains(order.utf8.count), order.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .invalidRequest(field: "order")
        }
        let request = Request(endpoint: .order, segments: [order])
        let answer = try await answer(request, in: .production, as: OrderAnswer.self)
        guard answer.status == 0 else { return [] }
        return try prove(answer.signedTransactions, .jwsTransaction, from: .production, .order)
    }

    /// Set App Account Token: who bought, for purchases made outside of the app. It replaces the one before, and counts for
    /// this transaction and later ones.
    ///
    /// - Parameters:
    ///   - token: of the customer.
    ///   - id: an original transaction's.
    ///   - store: where it is.
    /// - Throws: ``AppStoreFailure``.
    package func setAccountToken(
        _ token: AccountToken,
        ofOriginal id: TransactionID,
        in store: StoreEnvironment
    ) async throws(AppStoreFailure) {
        let body = JSONWriter.object { $0.member("appAccountToken", token.description) }
        try await tell(Request(endpoint: .setAccountToken, segments: [id.description], body: body), in: store)
    }

    /// Finish Transaction: what the app does by `finish()`, once it has delivered.
    package func finish(_ id: TransactionID, in store: StoreEnvironment) async throws(AppStoreFailure) {
        try await tell(Request(endpoint: .finish, segments: [id.description]), in: store)
    }

    /// Send Consumption Information, within 12 hours of CONSUMPTION_REQUEST (sandbox: 5 minutes).
    package func sendConsumption(
        _ information: ConsumptionInformation,
        of id: TransactionID,
        in store: StoreEnvironment
    ) async throws(AppStoreFailure) {
        if let field = information.faultyField { throw .invalidRequest(field: field) }
        let request = Request(endpoint: .consumption, segments: [id.description], body: information.json)
        try await tell(request, in: store)
    }

    /// The older form, for purchases made through Advanced Commerce.
    package func sendConsumption(
        _ information: FirstConsumptionInformation,
        of id: TransactionID,
        in store: StoreEnvironment
    ) async throws(AppStoreFailure) {
        let request = Request(endpoint: .firstConsumption, segments: [id.description], body: information.json)
        try await tell(request, in: store)
    }

    /// A customer with more than a hundred thousand transactions is read in parts.
    static let pagesMax = 5_000
}
