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

    package func finish(
        _ attempted: [AttemptedDelivery],
        at now: Timestamp
    ) async throws(StoreFailure) -> [DeliveryOutcome?] {
        // Of several one may meet a conflict that stays: the others are better tried without it than all again.
        try await write(triesMax: attempted.count > 1 ? 1 : Self.triesMax) { transaction throws(StoreFailure) in
            var asked: [WebhookEndpointID: WebhookEndpoint] = [:]
            for id in Set(attempted.filter(\.isJudged).map(\.endpoint.id)) { asked[id] = try transaction.endpoint(id) }
            let outcomes = attempted.map { $0.outcome(at: asked[$0.endpoint.id]) }
            let finished = zip(attempted, outcomes).map { attempted, outcome in
                FinishedDelivery(attempted.claimed.hold, as: outcome, attempt: attempted.attempt)
            }
            let isOurs = try transaction.finishDeliveries(finished, at: now)
            let written = zip(outcomes, isOurs).map { outcome, isOurs in isOurs ? outcome : nil }
            // What arrived has arrived, also where the lease was lost meanwhile, or the message given up.
            let told = zip(zip(attempted, outcomes), isOurs).compactMap { attempt, isOurs in
                isOurs || attempt.1 == .delivered ? attempt.0.told(attempt.1) : nil
            }
            let events = try LedgerRequests.noted(told, at: now, in: transaction)
            let gone = Set(zip(attempted, written).compactMap { $1 == .gone ? $0.endpoint.id : nil })
            try Self.end(events, disabling: gone.compactMap { asked[$0] }, at: now, in: transaction)
            return written
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
            guard let found = try transaction.endpoint(endpoint), found.isEnabled else { return false }
            // Since it was asked, something may have arrived, or its address been changed.
            let since = try transaction.webhookFigures(endpoint, countingTo: 1)?.failingSince
            guard isHopeless(since, try transaction.storeTime(now)) else { return false }
            try Self.disable(found, because: reason, at: now, in: transaction)
            return true
        }
    }

    /// Disables what is gone, and tells of the rest. Last, for both hold the apps' feeds until the commit: one app after the
    /// other, in the order of their names, as whoever records holds them.
    private static func end(
        _ events: [LedgerEvent],
        disabling gone: [WebhookEndpoint],
        at now: Timestamp,
        in transaction: any StoreTransaction
    ) throws(StoreFailure) {
        let rows = EventRows.rows(events)
        for app in Set(rows.map(\.app) + gone.map(\.app)).sorted() {
            let own = gone.filter { $0.app == app && $0.isEnabled }.sorted { $0.id.text < $1.id.text }
            for endpoint in own {
                try disable(endpoint, because: DeliveryOutcome.goneReason, at: now, in: transaction)
            }
            let told = rows.filter { $0.app == app }
            if !told.isEmpty { try transaction.append(told) }
        }
    }

    /// Somebody who has changed it since it was read makes this a conflict.
    private static func disable(
        _ found: WebhookEndpoint,
        because reason: String,
        at now: Timestamp,
        in transaction: any StoreTransaction
    ) throws(StoreFailure) {
        var endpoint = found
        endpoint.disable(
            because: reason,
            at: try transaction.storeTime(now),
            after: try transaction.lastEventCursor(app: found.app)
        )
        _ = try transaction.updateEndpoint(endpoint)
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
    /// Whether it says something against the endpoint.
    fileprivate var isJudged: Bool { outcome != .delivered && outcome != .released }

    /// What is made of it when this is the endpoint by now; `nil` when there is none any more. A failure is of the address that
    /// was called, and of before its owner enabled it again: there, or then, the message is still to be tried.
    fileprivate func outcome(at found: WebhookEndpoint?) -> DeliveryOutcome {
        isJudged && found?.hasBegunAnew(since: endpoint) ?? false ? .released : outcome
    }

    /// How far what the event delivers has come by it; `nil` when the event delivers nothing, or is not through.
    fileprivate func told(_ outcome: DeliveryOutcome) -> ToldDelivery? {
        let cursor = claimed.delivery.cursor
        return switch outcome {
        case .delivered:
            ToldDelivery(claimed.event, at: cursor, endpoint.acknowledgesBy2xx ? .acknowledged : .sent)
        case .dead: ToldDelivery(claimed.event, at: cursor, .failed)
        case .again, .released: nil
        }
    }
}

extension WebhookEndpoint {
    /// Whether it has been given another address, or was enabled again, since it was `before`. No other change lets it off what
    /// its calls are answered. Who has it sent all that it missed, too, meanwhile, has it judged as if it were not.
    fileprivate func hasBegunAnew(since before: WebhookEndpoint) -> Bool {
        url != before.url || gap.map { $0.to != before.gap?.to } ?? false
    }
}
