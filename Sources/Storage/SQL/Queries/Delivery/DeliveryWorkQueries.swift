import PurchaseModel

/// The work of the deliveries: claims them, and writes how they went.
struct DeliveryWorkQueries {
    let connection: any SQLConnection
    let events: EventQueries
    let endpoints: EndpointQueries
    let time: LeaseTime

    /// Due ones of one state, longest due first. That they have not ended is said for the index.
    private static let due = """
        FROM webhook_deliveries WHERE endpoint = $1 AND state = $2 AND ended_at IS NULL AND due_at <= $3
        ORDER BY due_at, position
        """
    /// The first event of the same customer as a row of `table` that waits; NULL for one of nobody. That it is the least, and
    /// positions are above 0, is said for the planner: asked whether there is one, it makes a join of that while it knows of few
    /// rows, or walks along all that was ever delivered once many of them are one customer's.
    private static func firstWaiting(_ table: String) -> String {
        """
        (
            SELECT min(waiting.position) FROM webhook_deliveries AS waiting
            WHERE waiting.endpoint = $1 AND waiting.realm = \(table).realm AND waiting.customer = \(table).customer
                AND waiting.position > 0 AND waiting.ended_at IS NULL AND waiting.customer IS NOT NULL
        )
        """
    }
    /// Whether an earlier event of the same customer stands in the way of a row of `table`.
    private static func isBlocked(_ table: String) -> String {
        "\(table).position > coalesce(\(firstWaiting(table)), \(table).position)"
    }
    /// Changes due ones among some. PostgreSQL finds those first: the planner could look for them anew for each row. Then it
    /// goes by the key of each: that their places are in a range has it expect one of them, and that the endpoint is told
    /// with each has it look for no more; by state and time, hence the pluses, it would come upon all that were
    /// ever sent as long as it knows nothing of the table.
    private static func change(_ candidates: String, _ assignments: String, _ rest: String) -> Query {
        Query(
            """
            UPDATE webhook_deliveries SET \(assignments)
            WHERE endpoint = $1 AND state = $2 AND due_at <= $3 AND position IN (\(candidates)) \(rest)
            """,
            postgresql: """
                WITH key AS MATERIALIZED (
                    SELECT CAST($1 AS bigint) AS target, position AS number, row_number() OVER () AS place
                    FROM (\(candidates)) AS candidates
                )
                UPDATE webhook_deliveries SET \(assignments) FROM key
                WHERE key.place BETWEEN 1 AND 1000000 AND endpoint = key.target AND position = key.number
                    AND +state = $2 AND +due_at <= $3 \(rest)
                """
        )
    }
    /// As long as ``DeliveryBatch/holdBack`` says.
    private static let holdBack = change(
        "SELECT position \(due) LIMIT \(DeliveryBatch.lookedAtMax)",
        """
        state = 0, owner = NULL, due_at = CASE WHEN attempts > 0 THEN $4 ELSE coalesce((
            SELECT CASE WHEN head.due_at > $5 THEN $5 WHEN head.due_at > $4 THEN head.due_at ELSE $4 END
            FROM webhook_deliveries AS head
            WHERE head.endpoint = $1 AND head.position = \(firstWaiting("webhook_deliveries"))
        ), $4) END
        """,
        "AND \(isBlocked("webhook_deliveries"))"
    )
    private static func claim(_ candidates: String) -> Query {
        change(
            candidates,
            "state = 1, attempts = attempts + 1, token = token + 1, owner = $5, due_at = $6",
            "RETURNING position, attempts, token, last_status"
        )
    }
    private static let claimAny = claim("SELECT position \(due) LIMIT $4")
    private static let claimInOrder = claim(
        """
        SELECT position FROM (
            SELECT position, due_at, realm, customer \(due) LIMIT \(DeliveryBatch.lookedAtMax)
        ) AS looked_at
        WHERE NOT \(isBlocked("looked_at"))
        ORDER BY due_at, position LIMIT $4
        """
    )
    private static let countUnderWay = Query(
        """
        SELECT count(*) FROM webhook_deliveries WHERE endpoint = $1 AND state = 1 AND ended_at IS NULL AND due_at > $2
        """
    )
    private static let held = "endpoint = $1 AND position = $2 AND state = 1 AND owner = $3 AND token = $4"
    private static let renew = Query("UPDATE webhook_deliveries SET due_at = $5 WHERE \(held)")
    private static let finish = BulkLookup(
        changing: "webhook_deliveries",
        by: [
            .integer("endpoint"), .integer("position"), .text("owner"), .integer("token"), .integer("state"),
            .integer("due_at"), .integer("uncounted"), .integer("last_status"), .text("dead_reason"),
            .integer("ended_at"),
        ],
        set: """
            state = $5, due_at = coalesce($6, due_at), attempts = attempts - $7, owner = NULL,
            last_status = coalesce($8, last_status), dead_reason = $9, ended_at = $10
            """,
        where: held,
        tell: "realm, customer"
    )
    /// The next one of a customer, if it was held back and never tried. That positions are above 0 is said for the
    /// planner, which would walk along all that was ever delivered.
    private static let release = Query(
        """
        UPDATE webhook_deliveries SET due_at = $4
        WHERE endpoint = $1 AND state = 0 AND attempts = 0 AND due_at > $4 AND position = (
            SELECT min(position) FROM webhook_deliveries
            WHERE endpoint = $1 AND realm = $2 AND customer = $3 AND position > 0 AND ended_at IS NULL
                AND customer IS NOT NULL
        )
        """
    )
    /// That positions are 1 at least is said for the index.
    static let hasten = SteppedChange(
        of: "webhook_deliveries",
        by: ["endpoint", "state", "position"],
        rows: "ended_at IS NULL AND position >= 1",
        set: LeaseTime.hastening.assignments,
        where: LeaseTime.hastening.condition,
        parameters: 3
    )
    private static let log = BulkInsert(
        into: "webhook_attempts",
        [
            .integer("endpoint"), .integer("position"), .integer("number"), .integer("began_at"),
            .integer("milliseconds"), .integer("status"), .text("failure"), .text("address"), .bytes("answer"),
        ],
        key: ["endpoint", "position", "number"],
        on: .keepsOld
    )

    func claim(
        endpoint id: WebhookEndpointID,
        limit: Int,
        terms callers: LeaseTerms
    ) throws(StoreFailure) -> DeliveryBatch? {
        guard let endpoint = try endpoints.find(id), endpoint.isEnabled, let known = try endpoints.known(id) else {
            return nil
        }
        let terms = try time.terms(callers)
        let heldBackCount = endpoint.ordersPerCustomer ? try holdBack(known.code, at: terms.now) : 0
        let moment = SQLValue.integer(terms.now.milliseconds)
        let underWay =
            try connection.row(Self.countUnderWay, [.integer(known.code), moment]) { Int($0.integer(0)) } ?? 0
        var room = min(min(max(limit, 1), DeliveryBatch.limitMax), endpoint.concurrencyMax - underWay)
        var claimed: [ClaimedDelivery] = []
        // What was under way when its holder was lost comes first.
        for state in [DeliveryState.leased, .pending] where room > 0 {
            let values: [SQLValue] = [
                .integer(known.code), .integer(state.rawValue), moment, .integer(Int64(room)),
                .text(terms.owner.text), .integer(terms.until.milliseconds),
            ]
            let query = endpoint.ordersPerCustomer ? Self.claimInOrder : Self.claimAny
            let rows = try connection.rows(query, values, Row.init)
            claimed += try deliveries(rows, of: endpoint, terms)
            room -= rows.count
        }
        return DeliveryBatch(
            endpoint: endpoint,
            deliveries: claimed.sorted { $0.delivery.cursor < $1.delivery.cursor },
            heldBackCount: heldBackCount
        )
    }

    func renew(_ holds: [DeliveryHold], terms callers: LeaseTerms) throws(StoreFailure) -> [DeliveryHold] {
        let terms = try time.terms(callers)
        var placed: [(endpoint: Int64, hold: DeliveryHold)] = []
        for hold in holds {
            if let endpoint = try endpoints.known(hold.id.endpoint) { placed.append((endpoint.code, hold)) }
        }
        // In the order in which endings lock their rows.
        placed.sort { ($0.endpoint, $0.hold.cursor) < ($1.endpoint, $1.hold.cursor) }
        var renewed: Set<DeliveryHold> = []
        for (endpoint, hold) in placed {
            let values = Self.values(of: hold, endpoint: endpoint) + [.integer(terms.until.milliseconds)]
            if try connection.run(Self.renew, values) == 1 { renewed.insert(hold) }
        }
        return holds.filter(renewed.contains)
    }

    func finish(_ finished: [FinishedDelivery], at callers: Timestamp) throws(StoreFailure) -> [Bool] {
        guard finished.allSatisfy(\.isStorable) else { throw .unstorable }
        let now = try time.now(callers)
        var known: [WebhookEndpointID: EndpointQueries.Known] = [:]
        for id in Set(finished.map(\.hold.id.endpoint)) { known[id] = try endpoints.known(id) }
        var endings: [Ending] = []
        var held: Set<DeliveryHold> = []
        for (place, finished) in finished.enumerated() {
            guard let endpoint = known[finished.hold.id.endpoint] else { continue }
            if let attempt = finished.attempt { try log(attempt, finished.hold, endpoint: endpoint.code) }
            // Who says it twice has no lease the second time.
            guard held.insert(finished.hold).inserted else { continue }
            endings.append(Ending(finished, of: endpoint, place: place, at: now))
        }
        // So that two writers lock the same rows in the same order.
        endings.sort { ($0.endpoint.code, $0.cursor) < ($1.endpoint.code, $1.cursor) }
        var isOurs = [Bool](repeating: false, count: finished.count)
        try connection.visit(Self.finish, endings.map(\.values)) { index, row in
            isOurs[endings[index].place] = true
            endings[index].customer = row.optionalText(1).map { Customer(realm: row.integer(0), name: $0) }
        }
        try follow(endings.filter { isOurs[$0.place] }, at: now)
        return isOurs
    }

    /// Writes what follows from endings for their endpoints, and for the next events of their customers.
    private func follow(_ endings: [Ending], at now: Timestamp) throws(StoreFailure) {
        // One endpoint after the other, so that two writers lock their rows in the same order.
        let endings = endings.sorted { ($0.endpoint.code, $0.place) < ($1.endpoint.code, $1.place) }
        var noted: (endpoint: Int64, outcome: EndpointQueries.Noted)?
        for ending in endings where ending.outcome != .released {
            let note = (endpoint: ending.endpoint.code, outcome: EndpointQueries.Noted(ending.outcome))
            // The same again changes nothing.
            if noted.map({ $0 != note }) ?? true { try endpoints.note(note.outcome, of: note.endpoint, at: now) }
            noted = note
        }
        for ending in endings where ending.change.endedAt != nil && ending.endpoint.ordersPerCustomer {
            guard let customer = ending.customer else { continue }
            let values: [SQLValue] = [
                .integer(ending.endpoint.code), .integer(customer.realm), .text(customer.name),
                .integer(now.milliseconds),
            ]
            try connection.run(Self.release, values)
        }
    }

    func hasten(
        by lead: ClockLead,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> (changed: Int, next: WalkPlace?) {
        try Self.hasten.step(on: connection, LeaseTime.values(of: lead), after: place, limit: limit)
    }

    private func holdBack(_ endpoint: Int64, at now: Timestamp) throws(StoreFailure) -> Int {
        let (shortest, longest) = DeliveryBatch.holdBack
        var count = 0
        for state in [DeliveryState.leased, .pending] {
            let values: [SQLValue] = [
                .integer(endpoint), .integer(state.rawValue), .integer(now.milliseconds),
                .integer(now.advanced(by: shortest).milliseconds), .integer(now.advanced(by: longest).milliseconds),
            ]
            count += try connection.run(Self.holdBack, values)
        }
        return count
    }

    private func log(_ attempt: WebhookAttempt, _ hold: DeliveryHold, endpoint: Int64) throws(StoreFailure) {
        let values: [SQLValue] = [
            .integer(endpoint), .integer(hold.cursor.position), .integer(attempt.number),
            .integer(attempt.beganAt.milliseconds), .integer(Int64(attempt.milliseconds)), .optional(attempt.status),
            .optional(attempt.failure), .optional(attempt.address), .bytes(attempt.answer),
        ]
        try connection.insert(values, by: Self.log)
    }

    private static func values(of hold: DeliveryHold, endpoint: Int64) -> [SQLValue] {
        [.integer(endpoint), .integer(hold.cursor.position), .text(hold.owner.text), .integer(hold.token)]
    }

    private func deliveries(
        _ rows: [Row],
        of endpoint: WebhookEndpoint,
        _ terms: LeaseTerms
    ) throws(StoreFailure) -> [ClaimedDelivery] {
        let placed = try events.find(app: endpoint.app, positions: rows.map(\.position))
        guard placed.count == rows.count else { throw SQLiteResult.unreadableRow }
        return zip(rows, placed).map { row, placed in
            let id = WebhookDeliveryID(endpoint: endpoint.id, event: placed.event.id)
            let delivery = WebhookDelivery(
                id: id,
                cursor: placed.cursor,
                state: .leased,
                attempts: row.attempts,
                dueAt: terms.until,
                lease: Lease(owner: terms.owner, until: terms.until, token: row.token),
                lastStatus: row.lastStatus,
                deadReason: nil,
                endedAt: nil
            )
            let hold = DeliveryHold(id: id, cursor: placed.cursor, owner: terms.owner, token: row.token)
            return ClaimedDelivery(delivery: delivery, event: placed.event, hold: hold)
        }
    }

    /// What a claim changed.
    private struct Row {
        var position: Int64
        var attempts: Int
        var token: Int64
        var lastStatus: Int?

        init(_ row: SQLRow) {
            position = row.integer(0)
            attempts = Int(row.integer(1))
            token = row.integer(2)
            lastStatus = row.optionalInteger(3).map { Int($0) }
        }
    }

    /// Whose later events may wait for a delivery.
    private struct Customer {
        var realm: Int64
        var name: String
    }

    /// A delivery that was finished.
    private struct Ending {
        let outcome: DeliveryOutcome
        let endpoint: EndpointQueries.Known
        let cursor: EventCursor
        /// Among those that were finished together.
        let place: Int
        let change: Change
        /// For ``finish``.
        let values: [SQLValue]
        var customer: Customer?

        init(_ finished: FinishedDelivery, of endpoint: EndpointQueries.Known, place: Int, at now: Timestamp) {
            outcome = finished.outcome
            self.endpoint = endpoint
            cursor = finished.hold.cursor
            self.place = place
            change = Change(outcome, at: now)
            values =
                DeliveryWorkQueries.values(of: finished.hold, endpoint: endpoint.code) + [
                    .integer(change.state.rawValue), .optional(change.dueAt?.milliseconds),
                    .integer(change.uncounted), .optional(finished.attempt?.status), .optional(change.deadReason),
                    .optional(change.endedAt?.milliseconds),
                ]
        }
    }

    /// What an outcome writes.
    private struct Change {
        var state = DeliveryState.pending
        var dueAt: Timestamp?
        var uncounted: Int64 = 0
        var deadReason: String?
        var endedAt: Timestamp?

        init(_ outcome: DeliveryOutcome, at now: Timestamp) {
            switch outcome {
            case .delivered:
                state = .delivered
                endedAt = now
            case .again(let delay): dueAt = now.advanced(by: delay)
            case .dead(let reason):
                (state, deadReason, endedAt) = (.dead, reason, now)
            case .released: (dueAt, uncounted) = (now, 1)
            }
        }
    }
}
