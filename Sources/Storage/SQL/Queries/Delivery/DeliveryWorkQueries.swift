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
    /// Whether an earlier event of the same customer stands in the way of a row of `table`.
    private static func isBlocked(_ table: String) -> String {
        """
        EXISTS (
            SELECT 1 FROM webhook_deliveries AS earlier
            WHERE earlier.endpoint = $1 AND earlier.realm = \(table).realm AND earlier.customer = \(table).customer
                AND earlier.position < \(table).position AND earlier.ended_at IS NULL AND earlier.customer IS NOT NULL
        )
        """
    }
    private static let holdBack = Query(
        """
        UPDATE webhook_deliveries SET state = 0, owner = NULL, due_at = $4
        WHERE endpoint = $1 AND state = $2 AND due_at <= $3 AND position IN (SELECT position \(due) LIMIT \(DeliveryBatch.lookedAtMax))
            AND \(isBlocked("webhook_deliveries"))
        """
    )
    private static func claim(_ candidates: String) -> String {
        """
        UPDATE webhook_deliveries
        SET state = 1, attempts = attempts + 1, token = token + 1, owner = $5, due_at = $6
        WHERE endpoint = $1 AND state = $2 AND due_at <= $3 AND position IN (\(candidates))
        RETURNING position, attempts, token, last_status
        """
    }
    private static let claimAny = Query(claim("SELECT position \(due) LIMIT $4"))
    private static let claimInOrder = Query(
        claim(
            """
            SELECT position FROM (
                SELECT position, due_at, realm, customer \(due) LIMIT \(DeliveryBatch.lookedAtMax)
            ) AS looked_at
            WHERE NOT \(isBlocked("looked_at"))
            ORDER BY due_at, position LIMIT $4
            """
        )
    )
    private static let countUnderWay = Query(
        """
        SELECT count(*) FROM webhook_deliveries WHERE endpoint = $1 AND state = 1 AND ended_at IS NULL AND due_at > $2
        """
    )
    private static let held = "endpoint = $1 AND position = $2 AND state = 1 AND owner = $3 AND token = $4"
    private static let renew = Query("UPDATE webhook_deliveries SET due_at = $5 WHERE \(held)")
    private static let finish = Query(
        """
        UPDATE webhook_deliveries
        SET state = $5, due_at = coalesce($6, due_at), attempts = attempts - $7, owner = NULL,
            last_status = coalesce($8, last_status), dead_reason = $9, ended_at = $10
        WHERE \(held)
        RETURNING realm, customer
        """
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
    private static let log = Query(
        """
        INSERT INTO webhook_attempts (endpoint, position, number, began_at, milliseconds, status, failure, address, answer)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        ON CONFLICT (endpoint, position, number) DO NOTHING
        """
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
        if endpoint.ordersPerCustomer { try holdBack(known.code, at: terms.now) }
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
            for row in rows { claimed.append(try delivery(row, of: endpoint, terms)) }
            room -= rows.count
        }
        return DeliveryBatch(
            endpoint: endpoint,
            deliveries: claimed.sorted { $0.delivery.cursor < $1.delivery.cursor }
        )
    }

    func renew(_ holds: [DeliveryHold], terms callers: LeaseTerms) throws(StoreFailure) -> [DeliveryHold] {
        let terms = try time.terms(callers)
        var renewed: [DeliveryHold] = []
        for hold in holds {
            guard let endpoint = try endpoints.known(hold.id.endpoint) else { continue }
            let values = Self.values(of: hold, endpoint: endpoint.code) + [.integer(terms.until.milliseconds)]
            if try connection.run(Self.renew, values) == 1 { renewed.append(hold) }
        }
        return renewed
    }

    func finish(
        _ hold: DeliveryHold,
        as outcome: DeliveryOutcome,
        attempt: WebhookAttempt?,
        at callers: Timestamp
    ) throws(StoreFailure) -> Bool {
        guard outcome.isStorable, attempt?.isStorable ?? true else { throw .unstorable }
        guard let endpoint = try endpoints.known(hold.id.endpoint) else { return false }
        let now = try time.now(callers)
        if let attempt { try log(attempt, hold, endpoint: endpoint.code) }
        let end = Ending(outcome, at: now)
        let values: [SQLValue] = [
            .integer(end.state.rawValue), .optional(end.dueAt?.milliseconds), .integer(end.uncounted),
            .optional(attempt?.status), .optional(end.deadReason), .optional(end.endedAt?.milliseconds),
        ]
        let held = Self.values(of: hold, endpoint: endpoint.code)
        let ended = try connection.row(Self.finish, held + values) { row in
            (realm: row.integer(0), customer: row.optionalText(1))
        }
        guard let ended else { return false }
        if outcome != .released { try endpoints.note(outcome == .delivered, of: endpoint.code, at: now) }
        if outcome == .endpointGone { try endpoints.disable(endpoint.code, because: DeliveryOutcome.goneReason) }
        if let customer = ended.customer, end.endedAt != nil, endpoint.ordersPerCustomer {
            let values: [SQLValue] = [
                .integer(endpoint.code), .integer(ended.realm), .text(customer), .integer(now.milliseconds),
            ]
            try connection.run(Self.release, values)
        }
        return true
    }

    private func holdBack(_ endpoint: Int64, at now: Timestamp) throws(StoreFailure) {
        let later = now.advanced(by: DeliveryBatch.holdBack)
        for state in [DeliveryState.leased, .pending] {
            let values: [SQLValue] = [
                .integer(endpoint), .integer(state.rawValue), .integer(now.milliseconds), .integer(later.milliseconds),
            ]
            try connection.run(Self.holdBack, values)
        }
    }

    private func log(_ attempt: WebhookAttempt, _ hold: DeliveryHold, endpoint: Int64) throws(StoreFailure) {
        let values: [SQLValue] = [
            .integer(endpoint), .integer(hold.cursor.position), .integer(attempt.number),
            .integer(attempt.beganAt.milliseconds), .integer(Int64(attempt.milliseconds)), .optional(attempt.status),
            .optional(attempt.failure), .optional(attempt.address), .bytes(attempt.answer),
        ]
        try connection.run(Self.log, values)
    }

    private static func values(of hold: DeliveryHold, endpoint: Int64) -> [SQLValue] {
        [.integer(endpoint), .integer(hold.cursor.position), .text(hold.owner.text), .integer(hold.token)]
    }

    private func delivery(
        _ row: Row,
        of endpoint: WebhookEndpoint,
        _ terms: LeaseTerms
    ) throws(StoreFailure) -> ClaimedDelivery {
        guard let placed = try events.find(app: endpoint.app, position: row.position) else {
            throw SQLiteResult.unreadableRow
        }
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

    /// What an outcome writes.
    private struct Ending {
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
            case .endpointGone:
                (state, deadReason, endedAt) = (.dead, DeliveryOutcome.goneReason, now)
            case .released: (dueAt, uncounted) = (now, 1)
            }
        }
    }
}
