import PurchaseModel

// Events and webhooks: hands each verb to the file that knows its SQL.
extension SQLTransaction {
    private var feed: EventQueries { EventQueries(connection: connection, apps: apps, numbers: numbers) }
    private var addresses: EndpointQueries { EndpointQueries(connection: connection, apps: apps) }
    private var outgoing: DeliveryQueries {
        DeliveryQueries(connection: connection, events: feed, endpoints: addresses, time: time)
    }
    private var work: DeliveryWorkQueries {
        DeliveryWorkQueries(
            connection: connection,
            events: feed,
            endpoints: addresses,
            time: time
        )
    }
    private var replays: ReplayQueries {
        ReplayQueries(connection: connection, events: feed, endpoints: addresses, deliveries: outgoing)
    }

    func event(app: AppID, id: EventID) throws(StoreFailure) -> PlacedEvent? {
        try feed.find(app: app, id: id)
    }

    func lastEventSequences(_ streams: [StreamKey]) throws(StoreFailure) -> [StreamKey: Int64] {
        try feed.lastSequences(streams)
    }

    func lastEventCursor(app: AppID) throws(StoreFailure) -> EventCursor {
        EventCursor(position: try feed.lastPosition(app: app))
    }

    func events(
        app: AppID,
        after cursor: EventCursor,
        where filter: EventFilter,
        limit: Int
    ) throws(StoreFailure) -> EventPage {
        try feed.list(app: app, after: cursor, where: filter, limit: limit)
    }

    func append(_ events: [EventRow]) throws(StoreFailure) {
        try outgoing.add(try feed.append(events))
    }

    func endpoint(_ id: WebhookEndpointID) throws(StoreFailure) -> WebhookEndpoint? {
        try addresses.find(id)
    }

    func endpoints(app: AppID) throws(StoreFailure) -> [WebhookEndpoint] {
        try addresses.list(app: app)
    }

    func holdEndpoints(app: AppID) throws(StoreFailure) -> [WebhookEndpoint] { try addresses.hold(app: app) }

    func createEndpoint(_ endpoint: WebhookEndpoint) throws(StoreFailure) {
        try addresses.create(endpoint)
    }

    func updateEndpoint(_ endpoint: WebhookEndpoint) throws(StoreFailure) -> Int64 {
        try addresses.update(endpoint)
    }

    func moveGap(of endpoint: WebhookEndpointID, to place: EventCursor) throws(StoreFailure) {
        try addresses.moveGap(of: endpoint, to: place)
    }

    func deleteEndpoint(_ id: WebhookEndpointID, version: Int64) throws(StoreFailure) {
        try addresses.delete(id, version: version)
    }

    func dueEndpoints(at now: Timestamp, limit: Int) throws(StoreFailure) -> [DueEndpoint] {
        try outgoing.due(at: try time.now(now), limit: limit)
    }

    func nextDeliveryDue() throws(StoreFailure) -> Timestamp? {
        try outgoing.nextDue()
    }

    func delivery(_ id: WebhookDeliveryID) throws(StoreFailure) -> WebhookDelivery? {
        try outgoing.find(id)
    }

    func deliveries(
        endpoint: WebhookEndpointID,
        state: DeliveryState?,
        before cursor: EventCursor?,
        limit: Int
    ) throws(StoreFailure) -> WebhookDeliveryPage {
        try outgoing.list(endpoint: endpoint, state: state, before: cursor, limit: limit)
    }

    func attempts(of id: WebhookDeliveryID, limit: Int) throws(StoreFailure) -> [WebhookAttempt] {
        try outgoing.attempts(of: id, limit: limit)
    }

    func endpointsToBury(limit: Int) throws(StoreFailure) -> [WebhookEndpointID] {
        try replays.toBury(limit: limit)
    }

    func awaitedEvents(app: AppID, among places: [EventCursor]) throws(StoreFailure) -> Set<EventCursor> {
        try outgoing.awaited(app: app, among: places)
    }

    func webhookFigures(_ id: WebhookEndpointID, countingTo limit: Int) throws(StoreFailure) -> WebhookFigures? {
        try outgoing.figures(id, countingTo: limit)
    }

    func buryDeliveries(
        endpoint: WebhookEndpointID,
        because reason: String,
        at now: Timestamp,
        limit: Int
    ) throws(StoreFailure) -> [PlacedEvent] {
        try replays.bury(endpoint: endpoint, because: reason, at: try time.now(now), limit: limit)
    }

    func claimDeliveries(
        endpoint: WebhookEndpointID,
        limit: Int,
        terms: LeaseTerms
    ) throws(StoreFailure) -> DeliveryBatch? {
        try work.claim(endpoint: endpoint, limit: limit, terms: terms)
    }

    func renewDeliveries(_ holds: [DeliveryHold], terms: LeaseTerms) throws(StoreFailure) -> [DeliveryHold] {
        try work.renew(holds, terms: terms)
    }

    func finishDeliveries(_ finished: [FinishedDelivery], at now: Timestamp) throws(StoreFailure) -> [Bool] {
        try work.finish(finished, at: now)
    }

    func hastenDeliveries(
        by lead: ClockLead,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> (changed: Int, next: WalkPlace?) {
        try work.hasten(by: lead, after: place, limit: limit)
    }

    func replayDelivery(_ id: WebhookDeliveryID, at now: Timestamp) throws(StoreFailure) -> Bool {
        try replays.one(id, at: try time.now(now))
    }

    func replayDeliveries(
        _ replay: WebhookReplay,
        endpoint: WebhookEndpointID,
        after cursor: EventCursor,
        limit: Int,
        at now: Timestamp
    ) throws(StoreFailure) -> WebhookReplayStep {
        try replays.many(replay, endpoint: endpoint, after: cursor, limit: limit, at: try time.now(now))
    }
}
