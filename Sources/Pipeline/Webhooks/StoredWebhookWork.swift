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

    package func dueEndpoints(at now: Timestamp, limit: Int) async throws(StoreFailure) -> [DueEndpoint] {
        try await store.read { reader throws(StoreFailure) in
            try reader.dueEndpoints(at: now, limit: limit)
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

    package func finish(_ attempted: [AttemptedDelivery], at now: Timestamp) async throws(StoreFailure) -> [Bool] {
        let told = attempted.map(\.told)
        let finished = attempted.map { FinishedDelivery($0.claimed.hold, as: $0.outcome, attempt: $0.attempt) }
        // Of several one may meet a conflict that stays: the others are better tried without it than all again.
        return try await write(triesMax: attempted.count > 1 ? 1 : Self.triesMax) { transaction throws(StoreFailure) in
            let isOurs = try transaction.finishDeliveries(finished, at: now)
            let ours = zip(told, isOurs).compactMap { told, isOurs in isOurs ? told : nil }
            try LedgerRequests.note(ours, at: now, in: transaction)
            return isOurs
        }
    }

    package func disable(
        _ endpoint: WebhookEndpointID,
        because reason: String,
        at now: Timestamp,
        if isHopeless: @escaping @Sendable (Timestamp?, Timestamp) -> Bool
    ) async throws(StoreFailure) -> Bool {
        let isLost = try await store.read { reader throws(StoreFailure) in
            isHopeless(try reader.webhookFigures(endpoint, countingTo: 1)?.failingSince, try reader.storeTime(now))
        }
        guard isLost else { return false }
        return try await write { transaction throws(StoreFailure) in
            guard var found = try transaction.endpoint(endpoint), found.isEnabled else { return false }
            found.disable(
                because: reason,
                at: try transaction.storeTime(now),
                after: try transaction.lastEventCursor(app: found.app)
            )
            _ = try transaction.updateEndpoint(found)
            return true
        }
    }

    private func write<Value: Sendable>(
        triesMax: Int = triesMax,
        _ body: @escaping @Sendable (any StoreTransaction) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        for _ in 1..<triesMax {
            do throws(StoreFailure) { return try await store.write(body) } catch {
                guard error == .conflict else { throw error }
            }
        }
        return try await store.write(body)
    }
}

extension AttemptedDelivery {
    /// How far what the event delivers has come by it; `nil` when the event delivers nothing, or is not through.
    fileprivate var told: ToldDelivery? {
        let cursor = claimed.delivery.cursor
        return switch outcome {
        case .delivered:
            ToldDelivery(claimed.event, at: cursor, endpoint.acknowledgesBy2xx ? .acknowledged : .sent)
        case .dead, .endpointGone: ToldDelivery(claimed.event, at: cursor, .failed)
        case .again, .released: nil
        }
    }
}
