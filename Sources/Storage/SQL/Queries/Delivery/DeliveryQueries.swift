import PurchaseModel

/// Makes deliveries, and reads how they stand.
struct DeliveryQueries {
    let connection: any SQLConnection
    let events: EventQueries
    let endpoints: EndpointQueries
    let time: LeaseTime

    private static let selected = selecting(by: "")
    private static func selecting(by index: String) -> String {
        """
        SELECT d.position, e.id, d.state, d.attempts, d.due_at, d.owner, d.token, d.last_status, d.dead_reason,
            d.ended_at
        FROM webhook_deliveries AS d \(index) JOIN events AS e ON e.app = $2 AND e.position = d.position
        """
    }
    private static let find = Query("\(selected) WHERE d.endpoint = $1 AND e.id = $3")
    private static let list = Query(
        "\(selected) WHERE d.endpoint = $1 AND d.position < $3 ORDER BY d.position DESC LIMIT $4"
    )
    private static let listOfState = Query(
        "\(selected) WHERE d.endpoint = $1 AND d.position < $3 AND d.state = $5 ORDER BY d.position DESC LIMIT $4"
    )
    /// Of those that are still to be sent, by an index that has no others; in PostgreSQL it is for whoever says that positions
    /// are 1 or above: the claims, which say that they are above 0, are to have nothing of it.
    static let listOpenOfState = Query(by: "webhook_deliveries_open") { index in
        """
        \(selecting(by: index)) WHERE d.endpoint = $1 AND d.position >= 1 AND d.position < $3 AND d.state = $5
            AND d.ended_at IS NULL
        ORDER BY d.position DESC LIMIT $4
        """
    }
    static let listDead = Query(by: dead) { index in
        """
        \(selecting(by: index)) WHERE d.endpoint = $1 AND d.position < $3 AND d.state = 3
        ORDER BY d.position DESC LIMIT $4
        """
    }
    /// The first moment at which something that waits is due for a row of `webhook_endpoints`, and the first at which a lease
    /// ends: each a look-up in the index, and NULL where there is none.
    static let firstDue = [DeliveryState.pending, .leased].map { state in
        """
        (SELECT min(due_at) FROM webhook_deliveries
         WHERE endpoint = webhook_endpoints.code AND state = \(state.rawValue) AND ended_at IS NULL)
        """
    }.joined(separator: ", ")
    private static let listEnabled = Query(
        """
        SELECT webhook_endpoints.id, apps.name, \(firstDue), webhook_endpoints.version
        FROM webhook_endpoints JOIN apps ON apps.code = webhook_endpoints.app
        WHERE is_enabled = 1 ORDER BY webhook_endpoints.code
        """
    )
    /// The order, and that due moments are not below the lowest, are said for the planner, which would walk along all that
    /// was ever delivered.
    static let countOpen = Query(countOpen(from: ""))
    /// From the other end: what has waited for the most attempts.
    static let countOpenLast = Query(countOpen(from: "DESC"))
    private static func countOpen(from end: String) -> String {
        """
        SELECT count(*), min(position) FROM (
            SELECT position FROM webhook_deliveries
            WHERE endpoint = $1 AND state = $2 AND due_at >= $3 AND ended_at IS NULL
            ORDER BY due_at \(end), position \(end) LIMIT $4
        ) AS waiting
        """
    }
    /// The index of those that were given up.
    static let dead = "webhook_deliveries_dead"
    static let countDead = Query(by: dead) { index in
        """
        SELECT count(*) FROM (
            SELECT 1 FROM webhook_deliveries \(index) WHERE endpoint = $1 AND state = 3 ORDER BY position LIMIT $2
        ) AS dead
        """
    }
    private static let isAwaited = Query(
        """
        SELECT 1 FROM webhook_endpoints AS e JOIN webhook_deliveries AS d ON d.endpoint = e.code AND d.position = $2
        WHERE e.app = $1 AND e.is_deleted = 0 AND d.ended_at IS NULL LIMIT 1
        """
    )
    private static let insert = BulkInsert(
        into: "webhook_deliveries",
        [
            .integer("endpoint"), .integer("position"), .integer("realm"), .text("customer"), .integer("due_at"),
            .integer("state"), .integer("attempts"), .integer("token"),
        ],
        key: ["endpoint", "position"]
    )
    private static let add = Query(add(due: "$5"), postgresql: add(due: dueAtOnce))
    /// The same of what was not delivered.
    private static let addUndelivered = Query(add(due: "$5", from: 3), postgresql: add(due: dueAtOnce, from: 3))
    private static let dueAtOnce = "coalesce($5, \(LeaseTime.databaseNow))"
    private static func add(due: String, from state: Int = 2) -> String {
        """
        INSERT INTO webhook_deliveries (endpoint, position, realm, customer, state, attempts, due_at, token)
        VALUES ($1, $2, $3, $4, 0, 0, \(due), 0)
        ON CONFLICT (endpoint, position) DO UPDATE
        SET state = 0, attempts = 0, due_at = excluded.due_at, dead_reason = NULL, ended_at = NULL
        WHERE webhook_deliveries.state >= \(state)
            OR webhook_deliveries.state = 0 AND webhook_deliveries.due_at > excluded.due_at
        """
    }
    private static let listAttempts = Query(
        """
        SELECT number, began_at, milliseconds, status, failure, address, answer FROM webhook_attempts
        WHERE endpoint = $1 AND position = $2 ORDER BY number DESC LIMIT $3
        """
    )

    func find(_ id: WebhookDeliveryID) throws(StoreFailure) -> WebhookDelivery? {
        guard let endpoint = try endpoints.known(id.endpoint) else { return nil }
        let values: [SQLValue] = [.integer(endpoint.code), .integer(endpoint.appCode), .text(id.event.text)]
        return try connection.row(Self.find, values) { row throws(StoreFailure) in
            try Self.read(row, endpoint: id.endpoint)
        }
    }

    func list(
        endpoint id: WebhookEndpointID,
        state: DeliveryState?,
        before cursor: EventCursor?,
        limit: Int
    ) throws(StoreFailure) -> WebhookDeliveryPage {
        guard let endpoint = try endpoints.known(id) else { return WebhookDeliveryPage() }
        let limit = min(max(limit, 1), WebhookDeliveryPage.limitMax)
        var values: [SQLValue] = [
            .integer(endpoint.code), .integer(endpoint.appCode), .integer(cursor?.position ?? .max),
            .integer(Int64(limit + 1)),
        ]
        let query: Query
        switch state {
        case nil: query = Self.list
        case .dead: query = Self.listDead
        case .some(let state):
            query = state == .delivered ? Self.listOfState : Self.listOpenOfState
            values.append(.integer(state.rawValue))
        }
        let found = try connection.rows(query, values) { row throws(StoreFailure) in
            try Self.read(row, endpoint: id)
        }
        let page = Array(found.prefix(limit))
        return WebhookDeliveryPage(deliveries: page, next: found.count > limit ? page.last?.cursor : nil)
    }

    func due(at now: Timestamp, limit: Int) throws(StoreFailure) -> [DueEndpoint] {
        let due = try firstDue().enumerated().filter { $0.element.since <= now }
        let first = due.sorted { ($0.element.since, $0.offset) < ($1.element.since, $1.offset) }
        return first.prefix(min(max(limit, 1), DueEndpoint.limitMax)).map(\.element)
    }

    func nextDue() throws(StoreFailure) -> Timestamp? {
        try firstDue().map(\.since).min()
    }

    /// The enabled endpoints that something waits for, in the order in which they were made.
    private func firstDue() throws(StoreFailure) -> [DueEndpoint] {
        let found = try connection.rows(Self.listEnabled) { row throws(StoreFailure) -> DueEndpoint? in
            guard let since = [row.optionalTimestamp(2), row.optionalTimestamp(3)].compactMap(\.self).min() else {
                return nil
            }
            guard let id = WebhookEndpointID(row.text(0)), let app: AppID = try row.identifier(1) else {
                throw SQLiteResult.unreadableRow
            }
            return DueEndpoint(id: id, app: app, since: since, version: row.integer(4))
        }
        return found.compactMap(\.self)
    }

    func figures(_ id: WebhookEndpointID, countingTo limit: Int) throws(StoreFailure) -> WebhookFigures? {
        guard let endpoint = try endpoints.known(id), !endpoint.isDeleted else { return nil }
        let limit = max(limit, 1)
        var figures = WebhookFigures(failingSince: endpoint.failingSince)
        var oldest: Int64?
        for state in [DeliveryState.pending, .leased] {
            let values: [SQLValue] = [
                .integer(endpoint.code), .integer(state.rawValue), .integer(.min), .integer(Int64(limit)),
            ]
            let open = try connection.row(Self.countOpen, values) { (Int($0.integer(0)), $0.optionalInteger(1)) }
            guard let open, var first = open.1 else { continue }
            if open.0 >= limit {
                let last = try connection.row(Self.countOpenLast, values) { $0.optionalInteger(1) } ?? nil
                first = min(first, last ?? first)
            }
            figures.backlog = min(figures.backlog + open.0, limit)
            if state == .leased { figures.leased = open.0 }
            oldest = min(oldest ?? first, first)
        }
        if let oldest {
            figures.oldest = try events.find(app: endpoint.app, positions: [oldest]).first?.event.learnedAt
        }
        let dead: [SQLValue] = [.integer(endpoint.code), .integer(Int64(limit))]
        figures.dead = try connection.row(Self.countDead, dead) { Int($0.integer(0)) } ?? 0
        return figures
    }

    func awaited(app: AppID, among places: [EventCursor]) throws(StoreFailure) -> Set<EventCursor> {
        guard let code = try endpoints.apps.code(of: app) else { return [] }
        var awaited: Set<EventCursor> = []
        for place in Set(places) {
            let values: [SQLValue] = [.integer(code), .integer(place.position)]
            if try connection.row(Self.isAwaited, values, { _ in true }) == true { awaited.insert(place) }
        }
        return awaited
    }

    func attempts(of id: WebhookDeliveryID, limit: Int) throws(StoreFailure) -> [WebhookAttempt] {
        guard let endpoint = try endpoints.known(id.endpoint),
            let event = try events.find(app: endpoint.app, id: id.event)
        else { return [] }
        let limit = min(max(limit, 1), WebhookAttempt.listedMax)
        let values: [SQLValue] = [
            .integer(endpoint.code), .integer(event.cursor.position), .integer(Int64(limit)),
        ]
        return try connection.rows(Self.listAttempts, values) { row in
            WebhookAttempt(
                number: row.integer(0),
                beganAt: Timestamp(milliseconds: row.integer(1)),
                milliseconds: Int(row.integer(2)),
                status: row.optionalInteger(3).map { Int($0) },
                failure: row.optionalText(4),
                address: row.optionalText(5),
                answer: row.bytes(6)
            )
        }
    }

    /// Makes a delivery of each of these new events for every endpoint that wishes for it: due now, whatever the time is on
    /// the machine that learned of them.
    func add(_ placed: [PlacedEvent]) throws(StoreFailure) {
        for app in Set(placed.map(\.event.app)).sorted() {
            let subscribed = try endpoints.subscribed(app: app)
            if subscribed.isEmpty { continue }
            let own = placed.filter { $0.event.app == app }
            for (event, due) in zip(own, try time.moments(own.map(\.event.learnedAt))) {
                for endpoint in subscribed where endpoint.filter.includes(event.event) {
                    let values = try Self.values(of: DeliveredEvent(event), to: endpoint.code)
                    try connection.insert(
                        values + [.integer(due.milliseconds), .integer(0), .integer(0), .integer(0)],
                        by: Self.insert
                    )
                }
            }
        }
    }

    private static func values(of event: DeliveredEvent, to endpoint: Int64) throws(StoreFailure) -> [SQLValue] {
        [
            .integer(endpoint), .integer(event.position), .integer(try RealmCode.number(of: event.realm)),
            .optional(event.customer?.text),
        ]
    }

    /// Has an event be due for an endpoint, again or for the first time, or sooner than its next turn.
    ///
    /// - Parameters:
    ///   - event: what is sent.
    ///   - endpoint: to whom.
    ///   - due: when.
    ///   - isAgain: whether also what was delivered is.
    /// - Returns: false when it is due or on its way already.
    /// - Throws: ``StoreFailure``.
    func add(
        _ event: DeliveredEvent,
        to endpoint: Int64,
        due: SQLValue,
        isAgain: Bool = true
    ) throws(StoreFailure) -> Bool {
        let query = isAgain ? Self.add : Self.addUndelivered
        return try connection.run(query, try Self.values(of: event, to: endpoint) + [due]) == 1
    }

    private static func read(_ row: SQLRow, endpoint: WebhookEndpointID) throws(StoreFailure) -> WebhookDelivery {
        guard let event = EventID(row.text(1)), let state = DeliveryState(rawValue: row.integer(2)) else {
            throw SQLiteResult.unreadableRow
        }
        let dueAt = Timestamp(milliseconds: row.integer(4))
        var lease: Lease?
        if state == .leased {
            guard let owner: LeaseOwner = try row.identifier(5) else { throw SQLiteResult.unreadableRow }
            lease = Lease(owner: owner, until: dueAt, token: row.integer(6))
        }
        return WebhookDelivery(
            id: WebhookDeliveryID(endpoint: endpoint, event: event),
            cursor: EventCursor(position: row.integer(0)),
            state: state,
            attempts: Int(row.integer(3)),
            dueAt: dueAt,
            lease: lease,
            lastStatus: row.optionalInteger(7).map { Int($0) },
            deadReason: row.optionalText(8),
            endedAt: row.optionalTimestamp(9)
        )
    }
}

/// What a delivery takes from its event.
struct DeliveredEvent {
    var position: Int64
    var realm: Realm
    var customer: CustomerID?
}

extension DeliveredEvent {
    init(_ placed: PlacedEvent) {
        self.init(position: placed.cursor.position, realm: placed.event.realm, customer: placed.event.customer)
    }
}
