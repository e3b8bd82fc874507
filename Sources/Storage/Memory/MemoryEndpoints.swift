import PurchaseModel

// Webhook endpoints, and the questions about what they are sent.
extension MemoryTransaction {
    func endpoint(_ id: WebhookEndpointID) -> WebhookEndpoint? {
        ledger.outbox.endpoints[id].flatMap { $0.isDeleted ? nil : $0.row }
    }

    func endpoints(app: AppID) -> [WebhookEndpoint] {
        ledger.outbox.endpoints.values.filter { $0.row.app == app && !$0.isDeleted }
            .sorted { $0.number < $1.number }.map(\.row)
    }

    /// There is one writer.
    func holdEndpoints(app: AppID) -> [WebhookEndpoint] { endpoints(app: app) }

    func createEndpoint(_ endpoint: WebhookEndpoint) throws(StoreFailure) {
        guard endpoint.isStorable else { throw .unstorable }
        guard ledger.outbox.endpoints[endpoint.id] == nil else { throw conflict() }
        var row = endpoint
        row.version = 1
        let added = MemoryOutbox.Endpoint(row: row, number: ledger.outbox.endpoints.count + 1)
        put(added, at: \.outbox.endpoints[endpoint.id])
    }

    func updateEndpoint(_ endpoint: WebhookEndpoint) throws(StoreFailure) -> Int64 {
        guard endpoint.isStorable else { throw .unstorable }
        guard var known = ledger.outbox.endpoints[endpoint.id], !known.isDeleted,
            known.row.version == endpoint.version
        else { throw conflict() }
        let before = known.row
        known.row = endpoint
        known.row.app = before.app
        known.row.createdAt = before.createdAt
        known.row.version += 1
        if let old = before.gap, let gap = known.row.gap, old.from == gap.from {
            known.row.gap?.after = max(old.after, gap.after)
        }
        let isAnother = known.row.url != before.url || known.row.isEnabled && !before.isEnabled
        if isAnother { known.failingSince = nil }
        put(known, at: \.outbox.endpoints[endpoint.id])
        return known.row.version
    }

    func moveGap(of endpoint: WebhookEndpointID, to place: EventCursor) throws(StoreFailure) {
        guard var known = ledger.outbox.endpoints[endpoint], !known.isDeleted else { return }
        guard let gap = known.row.gap, gap.after < place else { return }
        known.row.gap?.after = place
        put(known, at: \.outbox.endpoints[endpoint])
    }

    func deleteEndpoint(_ id: WebhookEndpointID, version: Int64) throws(StoreFailure) {
        guard var known = ledger.outbox.endpoints[id], !known.isDeleted, known.row.version == version else {
            throw conflict()
        }
        known.isDeleted = true
        known.row.isEnabled = false
        known.row.secrets = []
        known.row.signingKey = nil
        known.row.version += 1
        put(known, at: \.outbox.endpoints[id])
    }

    func dueEndpoints(at now: Timestamp, limit: Int) -> [DueEndpoint] {
        let due = firstDue().filter { $0.due <= now }
        let first = due.sorted { ($0.due, $0.endpoint.number) < ($1.due, $1.endpoint.number) }
        return first.prefix(min(max(limit, 1), DueEndpoint.limitMax)).map { due, endpoint in
            DueEndpoint(id: endpoint.row.id, app: endpoint.row.app, since: due, version: endpoint.row.version)
        }
    }

    func nextDeliveryDue() -> Timestamp? { firstDue().map(\.due).min() }

    func delivery(_ id: WebhookDeliveryID) -> WebhookDelivery? {
        place(of: id).flatMap { ledger.outbox.deliveries[$0]?.row }
    }

    func deliveries(
        endpoint: WebhookEndpointID,
        state: DeliveryState?,
        before cursor: EventCursor?,
        limit: Int
    ) -> WebhookDeliveryPage {
        let limit = min(max(limit, 1), WebhookDeliveryPage.limitMax)
        let listed = deliveries(of: endpoint).map(\.row).filter { delivery in
            (state == nil || delivery.state == state) && cursor.map { delivery.cursor < $0 } ?? true
        }
        let page = listed.reversed().prefix(limit)
        return WebhookDeliveryPage(
            deliveries: Array(page),
            next: listed.count > limit ? page.last?.cursor : nil
        )
    }

    func attempts(of id: WebhookDeliveryID, limit: Int) -> [WebhookAttempt] {
        let known = place(of: id).flatMap { ledger.outbox.attempts[$0] } ?? []
        let last = known.sorted { $0.number > $1.number }
        return Array(last.prefix(min(max(limit, 1), WebhookAttempt.listedMax)))
    }

    func endpointsToBury(limit: Int) -> [WebhookEndpointID] {
        let open = Set(ledger.outbox.deliveries.values.filter(\.isOpen).map(\.row.id.endpoint))
        let left = ledger.outbox.endpoints.values.filter { $0.isDeleted && open.contains($0.row.id) }
        let first = left.sorted { $0.number < $1.number }.prefix(min(max(limit, 1), DueEndpoint.limitMax))
        return first.map(\.row.id)
    }

    func awaitedEvents(app: AppID, among places: [EventCursor]) -> Set<EventCursor> {
        let endpoints = ledger.outbox.endpoints.values.filter { $0.row.app == app && !$0.isDeleted }.map(\.row.id)
        return Set(places).filter { place in
            endpoints.contains { endpoint in
                let name = MemoryOutbox.DeliveryPlace(endpoint: endpoint, position: place.position)
                return ledger.outbox.deliveries[name]?.isOpen == true
            }
        }
    }

    func webhookFigures(_ id: WebhookEndpointID, countingTo limit: Int) -> WebhookFigures? {
        guard let endpoint = ledger.outbox.endpoints[id], !endpoint.isDeleted else { return nil }
        let all = deliveries(of: id)
        let open = all.filter(\.isOpen)
        let limit = max(limit, 1)
        let looked = Dictionary(grouping: open, by: \.row.state).values.flatMap { waiting in
            let inTurn = waiting.sorted { ($0.row.dueAt, $0.row.cursor) < ($1.row.dueAt, $1.row.cursor) }
            return inTurn.prefix(limit) + inTurn.suffix(limit)
        }
        let oldest = looked.map(\.row.cursor.position).min()
            .flatMap { placedEvent(app: endpoint.row.app, at: $0) }
        return WebhookFigures(
            backlog: min(open.count, limit),
            leased: min(open.count { $0.row.state == .leased }, limit),
            dead: min(all.count { $0.row.state == .dead }, limit),
            oldest: oldest?.event.learnedAt,
            failingSince: endpoint.failingSince
        )
    }

    /// An endpoint's deliveries in the order of the feed.
    func deliveries(of endpoint: WebhookEndpointID) -> [MemoryOutbox.Delivery] {
        ledger.outbox.deliveries.values.filter { $0.row.id.endpoint == endpoint }
            .sorted { $0.row.cursor < $1.row.cursor }
    }

    func place(of id: WebhookDeliveryID) -> MemoryOutbox.DeliveryPlace? {
        guard let endpoint = ledger.outbox.endpoints[id.endpoint] else { return nil }
        let name = MemoryOutbox.EventName(app: endpoint.row.app, id: id.event)
        return ledger.outbox.positions[name].map {
            MemoryOutbox.DeliveryPlace(endpoint: id.endpoint, position: $0)
        }
    }

    /// Enabled endpoints with the first moment at which something of theirs is due.
    private func firstDue() -> [(due: Timestamp, endpoint: MemoryOutbox.Endpoint)] {
        ledger.outbox.endpoints.values.filter(\.row.isEnabled).compactMap { endpoint in
            let due = deliveries(of: endpoint.row.id).filter(\.isOpen).map(\.row.dueAt).min()
            return due.map { ($0, endpoint) }
        }
    }
}
