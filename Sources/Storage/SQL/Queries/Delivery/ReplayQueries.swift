import PurchaseModel

/// Has events delivered again, and gives deliveries up.
struct ReplayQueries {
    let connection: any SQLConnection
    let events: EventQueries
    let endpoints: EndpointQueries
    let deliveries: DeliveryQueries

    static let listDead = Query(by: DeliveryQueries.dead) { index in
        """
        SELECT position FROM webhook_deliveries \(index) WHERE endpoint = $1 AND state = 3 AND position > $2
        ORDER BY position LIMIT $3
        """
    }
    static let restartDead = Query(by: DeliveryQueries.dead) { index in
        """
        UPDATE webhook_deliveries \(index) SET state = 0, attempts = 0, due_at = $4, dead_reason = NULL, ended_at = NULL
        WHERE endpoint = $1 AND state = 3 AND position > $2 AND position <= $3
        """
    }
    private static let look = Query(
        """
        SELECT position, realm, customer, type, learned_at FROM events
        WHERE app = $1 AND position > $2 AND position <= $3 ORDER BY position
        """
    )
    private static let learnedAt = Query("SELECT learned_at FROM events WHERE app = $1 AND position = $2")
    private static let bury = Query(
        """
        UPDATE webhook_deliveries SET state = 3, owner = NULL, dead_reason = $2, ended_at = $3
        WHERE endpoint = $1 AND ended_at IS NULL AND position IN (
            SELECT position FROM webhook_deliveries WHERE endpoint = $1 AND ended_at IS NULL
            ORDER BY state, due_at, position LIMIT $4
        )
        RETURNING position
        """
    )
    private static let listToBury = Query(
        """
        SELECT id FROM webhook_endpoints WHERE is_deleted = 1 AND coalesce(\(DeliveryQueries.firstDue)) IS NOT NULL
        ORDER BY code LIMIT $1
        """
    )

    func one(_ id: WebhookDeliveryID, at now: Timestamp) throws(StoreFailure) -> Bool {
        guard let endpoint = try endpoints.known(id.endpoint), !endpoint.isDeleted,
            let event = try events.find(app: endpoint.app, id: id.event)
        else { return false }
        return try deliveries.add(DeliveredEvent(event), to: endpoint.code, due: .integer(now.milliseconds))
    }

    func many(
        _ replay: WebhookReplay,
        endpoint id: WebhookEndpointID,
        after cursor: EventCursor,
        limit: Int,
        at now: Timestamp
    ) throws(StoreFailure) -> WebhookReplayStep {
        guard let endpoint = try endpoints.known(id), !endpoint.isDeleted else {
            return WebhookReplayStep(replayed: 0, next: nil)
        }
        let limit = min(max(limit, 1), WebhookReplayStep.limitMax)
        switch replay {
        case .dead:
            return try dead(endpoint: endpoint.code, after: cursor, limit: limit, at: now)
        case .learned(let from, let to), .undelivered(let from, let to):
            guard let filter = try endpoints.find(id)?.filter else { return WebhookReplayStep(replayed: 0, next: nil) }
            let last = try events.lastPosition(app: endpoint.app)
            guard cursor.position < last else { return WebhookReplayStep(replayed: 0, next: nil) }
            let first =
                cursor != .start
                ? cursor.position
                : try WebhookReplay.beginning(from: from, last: last) { position throws(StoreFailure) in
                    try connection.row(Self.learnedAt, [.integer(endpoint.appCode), .integer(position)]) { row in
                        Timestamp(milliseconds: row.integer(0))
                    }
                }
            let end = min(first + Int64(limit), last)
            let isAgain = replay.includesDelivered
            let due = SQLValue.integer(now.milliseconds)
            var replayed = 0
            for event in try look(endpoint.appCode, first, end, filter, from, to) {
                replayed += try deliveries.add(event, to: endpoint.code, due: due, isAgain: isAgain) ? 1 : 0
            }
            return WebhookReplayStep(replayed: replayed, next: end < last ? EventCursor(position: end) : nil)
        }
    }

    func bury(
        endpoint: WebhookEndpointID,
        because reason: String,
        at now: Timestamp,
        limit: Int
    ) throws(StoreFailure) -> [PlacedEvent] {
        guard StorableText.isWord(reason) else { throw .unstorable }
        guard let endpoint = try endpoints.known(endpoint) else { return [] }
        let values: [SQLValue] = [
            .integer(endpoint.code), .text(reason), .integer(now.milliseconds), .integer(Int64(max(limit, 0))),
        ]
        let positions = try connection.rows(Self.bury, values) { $0.integer(0) }
        return positions.isEmpty ? [] : try events.find(app: endpoint.app, positions: positions)
    }

    func toBury(limit: Int) throws(StoreFailure) -> [WebhookEndpointID] {
        let limit = min(max(limit, 1), DueEndpoint.limitMax)
        return try connection.rows(Self.listToBury, [.integer(Int64(limit))]) { row throws(StoreFailure) in
            guard let id = WebhookEndpointID(row.text(0)) else { throw SQLiteResult.unreadableRow }
            return id
        }
    }

    private func dead(
        endpoint: Int64,
        after cursor: EventCursor,
        limit: Int,
        at now: Timestamp
    ) throws(StoreFailure) -> WebhookReplayStep {
        let values: [SQLValue] = [.integer(endpoint), .integer(cursor.position), .integer(Int64(limit + 1))]
        let found = try connection.rows(Self.listDead, values) { $0.integer(0) }
        guard let last = found.prefix(limit).last else { return WebhookReplayStep(replayed: 0, next: nil) }
        let range: [SQLValue] = [
            .integer(endpoint), .integer(cursor.position), .integer(last), .integer(now.milliseconds),
        ]
        let replayed = try connection.run(Self.restartDead, range)
        return WebhookReplayStep(
            replayed: replayed,
            next: found.count > limit ? EventCursor(position: last) : nil
        )
    }

    /// The events between two places that an endpoint wants and of which we learned in time.
    private func look(
        _ app: Int64,
        _ first: Int64,
        _ end: Int64,
        _ filter: EventFilter,
        _ from: Timestamp,
        _ to: Timestamp
    ) throws(StoreFailure) -> [DeliveredEvent] {
        let values: [SQLValue] = [.integer(app), .integer(first), .integer(end)]
        let found = try connection.rows(Self.look, values) { row throws(StoreFailure) -> DeliveredEvent? in
            guard let realm = RealmCode(number: row.integer(1)).realm else { throw SQLiteResult.unreadableRow }
            let learnedAt = Timestamp(milliseconds: row.integer(4))
            guard learnedAt >= from, learnedAt < to, filter.includes(type: row.text(3), realm: realm) else {
                return nil
            }
            return DeliveredEvent(
                position: row.integer(0),
                realm: realm,
                customer: row.text(2).utf8.isEmpty ? nil : try row.identifier(2)
            )
        }
        return found.compactMap(\.self)
    }
}
