import PurchaseModel

// Events and their feed.
extension MemoryTransaction {
    func event(app: AppID, id: EventID) -> PlacedEvent? {
        ledger.outbox.positions[MemoryOutbox.EventName(app: app, id: id)].flatMap { placedEvent(app: app, at: $0) }
    }

    func lastEventSequences(_ streams: [StreamKey]) -> [StreamKey: Int64] {
        var found: [StreamKey: Int64] = [:]
        for stream in streams { found[stream] = ledger.outbox.lastSequences[stream] }
        return found
    }

    func lastEventCursor(app: AppID) -> EventCursor {
        EventCursor(position: ledger.outbox.lastPositions[app] ?? 0)
    }

    func events(
        app: AppID,
        after cursor: EventCursor,
        where filter: EventFilter,
        limit: Int
    ) throws(StoreFailure) -> EventPage {
        guard filter.isStorable else { throw .unstorable }
        let last = ledger.outbox.lastPositions[app] ?? 0
        guard cursor.position < last else { return EventPage(next: cursor, hasMore: false) }
        let first = cursor.position
        let end = min(first + EventPage.lookedAtMax, last)
        let limit = min(max(limit, 1), EventPage.limitMax)
        let found = (first..<end).lazy.compactMap { self.placedEvent(app: app, at: $0 + 1) }
            .filter { filter.includes($0.event) }.prefix(limit)
        let events = Array(found)
        let next = events.count == limit ? events.last?.cursor : nil
        let reached = next ?? EventCursor(position: end)
        return EventPage(events: events, next: reached, hasMore: reached.position < last)
    }

    func append(_ events: [EventRow]) throws(StoreFailure) {
        guard events.allSatisfy(\.isStorable) else { throw .unstorable }
        for event in events {
            let name = MemoryOutbox.EventName(app: event.app, id: event.id)
            let stream = event.stream
            let position = (ledger.outbox.lastPositions[event.app] ?? 0) + 1
            guard ledger.outbox.positions[name] == nil,
                event.sequence == (ledger.outbox.lastSequences[stream] ?? 0) + 1
            else { throw conflict() }
            put(event, at: \.outbox.events[MemoryOutbox.EventPlace(app: event.app, position: position)])
            put(position, at: \.outbox.positions[name])
            put(position, at: \.outbox.lastPositions[event.app])
            put(event.sequence, at: \.outbox.lastSequences[stream])
            let placed = PlacedEvent(event, at: EventCursor(position: position))
            for endpoint in ledger.outbox.endpoints.values.map(\.row)
            where endpoint.isEnabled && endpoint.app == event.app && endpoint.filter.includes(event) {
                addDelivery(of: placed, to: endpoint.id, due: event.learnedAt)
            }
        }
    }

    func addDelivery(of placed: PlacedEvent, to endpoint: WebhookEndpointID, due: Timestamp) {
        let delivery = WebhookDelivery(
            id: WebhookDeliveryID(endpoint: endpoint, event: placed.event.id),
            cursor: placed.cursor,
            state: .pending,
            attempts: 0,
            dueAt: due,
            lease: nil,
            lastStatus: nil,
            deadReason: nil,
            endedAt: nil
        )
        let place = MemoryOutbox.DeliveryPlace(endpoint: endpoint, position: placed.cursor.position)
        let added = MemoryOutbox.Delivery(row: delivery, realm: placed.event.realm, customer: placed.event.customer)
        put(added, at: \.outbox.deliveries[place])
    }

    func placedEvent(app: AppID, at position: Int64) -> PlacedEvent? {
        ledger.outbox.events[MemoryOutbox.EventPlace(app: app, position: position)].map {
            PlacedEvent($0, at: EventCursor(position: position))
        }
    }
}
