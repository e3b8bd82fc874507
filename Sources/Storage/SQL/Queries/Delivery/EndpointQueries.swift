import PurchaseModel

/// Keeps webhook endpoints.
struct EndpointQueries {
    let connection: any SQLConnection
    let apps: AppQueries

    private static let source = "webhook_endpoints JOIN apps ON apps.code = webhook_endpoints.app"
    private static let find = Query(
        "SELECT \(EndpointColumns.selected) FROM \(source) WHERE webhook_endpoints.id = $1 AND is_deleted = 0"
    )
    private static let list = Query(
        """
        SELECT \(EndpointColumns.selected) FROM \(source)
        WHERE webhook_endpoints.app = $1 AND is_deleted = 0 ORDER BY webhook_endpoints.code
        """
    )
    private static let findCode = Query(
        """
        SELECT webhook_endpoints.code, apps.code, apps.name, orders_per_customer, failing_since, is_deleted
        FROM \(source) WHERE webhook_endpoints.id = $1
        """
    )
    private static let listSubscribed = Query(
        "SELECT code, types, realms FROM webhook_endpoints WHERE app = $1 AND is_enabled = 1 ORDER BY code"
    )
    private static let insert: Query = {
        let columns = ["id", "app", "created_at", "version", "is_deleted"] + EndpointColumns.content
        let places = EndpointColumns.content.indices.map { "$\($0 + 4)" }
        return Query(
            """
            INSERT INTO webhook_endpoints (\(columns.joined(separator: ", ")))
            VALUES ($1, $2, $3, 1, 0, \(places.joined(separator: ", ")))
            ON CONFLICT (id) DO NOTHING
            """
        )
    }()
    private static let update: Query = {
        let from = EndpointColumns.place(of: "gap_from", from: 3)
        let after = EndpointColumns.place(of: "gap_after", from: 3)
        // A replay may have moved it on since the endpoint was read.
        let later = "CASE WHEN gap_from = \(from) AND gap_after > \(after) THEN gap_after ELSE \(after) END"
        let assignments = EndpointColumns.content.map { column in
            "\(column) = \(column == "gap_after" ? later : EndpointColumns.place(of: column, from: 3))"
        }
        let url = EndpointColumns.place(of: "url", from: 3)
        let isEnabled = EndpointColumns.place(of: "is_enabled", from: 3)
        return Query(
            """
            UPDATE webhook_endpoints SET version = version + 1, \(assignments.joined(separator: ", ")),
                failing_since = CASE WHEN url = \(url) AND is_enabled >= \(isEnabled) THEN failing_since END
            WHERE id = $1 AND version = $2 AND is_deleted = 0
            """
        )
    }()
    private static let moveGap = Query(
        "UPDATE webhook_endpoints SET gap_after = $2 WHERE id = $1 AND gap_after < $2 AND is_deleted = 0"
    )
    private static let delete = Query(
        """
        UPDATE webhook_endpoints
        SET version = version + 1, is_deleted = 1, is_enabled = 0, secrets = $3, signing_key = NULL
        WHERE id = $1 AND version = $2 AND is_deleted = 0
        """
    )
    /// Whoever adds to the feed holds this row until the commit, and asks before who wants to hear of it.
    private static let holdFeed = Query(
        """
        INSERT INTO event_heads (app, last_position) VALUES ($1, 0)
        ON CONFLICT (app) DO UPDATE SET last_position = event_heads.last_position
        """
    )
    private static let noteFailure = Query(
        "UPDATE webhook_endpoints SET failing_since = $2 WHERE code = $1 AND failing_since IS NULL"
    )
    /// It is disabled next, and then its app's feed is held: whoever disables several locks all their rows before.
    private static let noteGone = Query(
        "UPDATE webhook_endpoints SET failing_since = coalesce(failing_since, $2) WHERE code = $1"
    )
    private static let noteSuccess = Query(
        "UPDATE webhook_endpoints SET failing_since = NULL WHERE code = $1 AND failing_since IS NOT NULL"
    )

    /// What the work of the deliveries asks of an endpoint, also of a deleted one.
    struct Known {
        var code: Int64
        var appCode: Int64
        var app: AppID
        var ordersPerCustomer: Bool
        var failingSince: Timestamp?
        var isDeleted: Bool
    }

    struct Subscribed {
        var code: Int64
        var filter: EventFilter
    }

    func find(_ id: WebhookEndpointID) throws(StoreFailure) -> WebhookEndpoint? {
        try connection.row(Self.find, [.text(id.text)], EndpointColumns.read)
    }

    func list(app: AppID) throws(StoreFailure) -> [WebhookEndpoint] {
        guard let code = try apps.code(of: app) else { return [] }
        return try connection.rows(Self.list, [.integer(code)], EndpointColumns.read)
    }

    /// First the row that every new endpoint holds, so that what is found holds until the end.
    func hold(app: AppID) throws(StoreFailure) -> [WebhookEndpoint] {
        try connection.run(Self.holdFeed, [.integer(try apps.codeForWriting(app))])
        return try list(app: app)
    }

    func known(_ id: WebhookEndpointID) throws(StoreFailure) -> Known? {
        try connection.row(Self.findCode, [.text(id.text)]) { row throws(StoreFailure) in
            guard let app: AppID = try row.identifier(2) else { throw SQLiteResult.unreadableRow }
            return Known(
                code: row.integer(0),
                appCode: row.integer(1),
                app: app,
                ordersPerCustomer: row.integer(3) != 0,
                failingSince: row.optionalTimestamp(4),
                isDeleted: row.integer(5) != 0
            )
        }
    }

    /// The enabled endpoints of an app, with what they want.
    func subscribed(app: AppID) throws(StoreFailure) -> [Subscribed] {
        guard let code = try apps.code(of: app) else { return [] }
        return try connection.rows(Self.listSubscribed, [.integer(code)]) { row in
            Subscribed(
                code: row.integer(0),
                filter: EndpointColumns.filter(types: row.optionalText(1), realms: row.integer(2))
            )
        }
    }

    func create(_ endpoint: WebhookEndpoint) throws(StoreFailure) {
        guard endpoint.isStorable else { throw .unstorable }
        let code = try apps.codeForWriting(endpoint.app)
        let values: [SQLValue] = [
            .text(endpoint.id.text), .integer(code), .integer(endpoint.createdAt.milliseconds),
        ]
        try confirm(try connection.run(Self.insert, values + EndpointColumns.values(of: endpoint)))
        try connection.run(Self.holdFeed, [.integer(code)])
    }

    func update(_ endpoint: WebhookEndpoint) throws(StoreFailure) -> Int64 {
        guard endpoint.isStorable else { throw .unstorable }
        let values: [SQLValue] = [.text(endpoint.id.text), .integer(endpoint.version)]
        try confirm(try connection.run(Self.update, values + EndpointColumns.values(of: endpoint)))
        try connection.run(Self.holdFeed, [.integer(try apps.codeForWriting(endpoint.app))])
        return endpoint.version + 1
    }

    func moveGap(of id: WebhookEndpointID, to place: EventCursor) throws(StoreFailure) {
        try connection.run(Self.moveGap, [.text(id.text), .integer(place.position)])
    }

    func delete(_ id: WebhookEndpointID, version: Int64) throws(StoreFailure) {
        try confirm(try connection.run(Self.delete, [.text(id.text), .integer(version), .bytes([])]))
    }

    /// What an answer says of an endpoint.
    enum Noted {
        case success, failure, gone

        init(_ outcome: DeliveryOutcome) {
            switch outcome {
            case .delivered: self = .success
            case .gone: self = .gone
            default: self = .failure
            }
        }
    }

    /// Notes when an endpoint began to fail, or that it no longer does; nothing when that is known.
    func note(_ outcome: Noted, of code: Int64, at now: Timestamp) throws(StoreFailure) {
        switch outcome {
        case .success: try connection.run(Self.noteSuccess, [.integer(code)])
        case .failure: try connection.run(Self.noteFailure, [.integer(code), .integer(now.milliseconds)])
        case .gone: try connection.run(Self.noteGone, [.integer(code), .integer(now.milliseconds)])
        }
    }

    private func confirm(_ changes: Int) throws(StoreFailure) {
        guard changes == 1 else {
            connection.doom(.conflict)
            throw .conflict
        }
    }
}
