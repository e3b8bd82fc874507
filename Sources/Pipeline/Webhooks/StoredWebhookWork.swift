package import PurchaseModel
package import Storage

/// Sending's verbs on a store.
package struct StoredWebhookWork: WebhookWork {
    /// How often a write is tried again that another was faster than: what was sent is not to be sent twice for it.
    private static let triesMax = 5

    private let store: any Store

    package init(_ store: any Store) {
        self.store = store
    }

    package func dueEndpoints(at now: Timestamp, limit: Int) async throws(StoreFailure) -> [WebhookEndpointID] {
        try await store.read { reader throws(StoreFailure) in
            try reader.dueEndpoints(at: now, limit: limit).map(\.id)
        }
    }

    package func claim(
        _ endpoint: WebhookEndpointID,
        limit: Int,
        terms: LeaseTerms
    ) async throws(StoreFailure) -> DeliveryBatch? {
        try await write { transaction throws(StoreFailure) in
            try transaction.claimDeliveries(endpoint: endpoint, limit: limit, terms: terms)
        }
    }

    package func renew(_ holds: [DeliveryHold], terms: LeaseTerms) async throws(StoreFailure) -> [DeliveryHold] {
        try await write { transaction throws(StoreFailure) in try transaction.renewDeliveries(holds, terms: terms) }
    }

    package func finish(
        _ claimed: ClaimedDelivery,
        of endpoint: WebhookEndpoint,
        as outcome: DeliveryOutcome,
        attempt: WebhookAttempt?,
        at now: Timestamp
    ) async throws(StoreFailure) -> Bool {
        let told = outcome.isEnd ? ToldDelivery(claimed.event) : nil
        return try await write { transaction throws(StoreFailure) in
            let isOurs = try transaction.finishDelivery(claimed.hold, as: outcome, attempt: attempt, at: now)
            guard isOurs, let told else { return isOurs }
            if outcome == .delivered, endpoint.acknowledgesBy2xx {
                // What has changed since is told by an event of its own, which is acknowledged for itself.
                _ = try LedgerRequests.acknowledge(told.key, fence: told.fence, at: now, in: transaction)
            } else {
                let progress: DeliveryProgress = outcome == .delivered ? .sent : .failed
                try LedgerRequests.note(progress, of: told.key, fence: told.fence, at: now, in: transaction)
            }
            return true
        }
    }

    package func disable(
        _ endpoint: WebhookEndpointID,
        because reason: String,
        at now: Timestamp,
        if isHopeless: @escaping @Sendable (Timestamp?, Timestamp) -> Bool
    ) async throws(StoreFailure) -> Bool {
        let isLost = try await store.read { reader throws(StoreFailure) in
            isHopeless(try reader.webhookFigures(endpoint)?.failingSince, try reader.deliveryTime(now))
        }
        guard isLost else { return false }
        return try await write { transaction throws(StoreFailure) in
            guard var found = try transaction.endpoint(endpoint), found.isEnabled else { return false }
            found.isEnabled = false
            found.disabledReason = reason
            _ = try transaction.updateEndpoint(found)
            return true
        }
    }

    private func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreTransaction) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        for _ in 1..<StoredWebhookWork.triesMax {
            do throws(StoreFailure) { return try await store.write(body) } catch {
                guard error == .conflict else { throw error }
            }
        }
        return try await store.write(body)
    }
}

extension DeliveryOutcome {
    /// Whether the delivery has ended.
    fileprivate var isEnd: Bool {
        switch self {
        case .delivered, .dead, .endpointGone: true
        case .again, .released: false
        }
    }
}
