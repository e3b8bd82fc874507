import PurchaseModel

/// Writes and finds Apple's notifications, and how far they were compared.
struct NotificationQueries {
    let connection: any SQLConnection
    let apps: AppQueries

    private static let columns = """
        realm, id, format, type, subtype, original_id, transaction_id, arrival, signed_at, received_at, payload
        """
    private static let insert = Query(
        """
        INSERT INTO notifications (app, \(columns))
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
        ON CONFLICT (app, id, realm) DO NOTHING
        """
    )
    private static let find = Query(
        "SELECT \(columns) FROM notifications WHERE app = $1 AND id = $2 AND realm = $3"
    )
    private static let list = Query(listing(""))
    private static let listOfChain = Query(listing("AND original_id = $7"))
    /// One realm has one bit. The plus keeps the planner to the index by time.
    private static func listing(_ more: String) -> String {
        """
        SELECT \(columns) FROM notifications
        WHERE app = $1 AND (received_at, id) < ($2, $3) AND ($4 >> CAST(realm AS INTEGER)) % 2 = 1
            AND (CAST($5 AS TEXT) IS NULL OR type = $5) \(more)
        ORDER BY received_at DESC, id DESC, realm DESC LIMIT $6
        """
    }
    private static let watch = Query(
        """
        SELECT compared_until, sent, arrived, recovered, version, marks FROM notification_watches
        WHERE app = $1 AND realm = $2
        """
    )
    private static let key: [BulkColumn] = [.integer("app"), .integer("realm")]
    private static let figures: [BulkColumn] = [
        .integer("compared_until"), .integer("sent"), .integer("arrived"), .integer("recovered"),
        .text("marks"),
    ]
    private static let insertWatch = BulkInsert(
        into: "notification_watches",
        key + [.integer("version")] + figures,
        key: key.map(\.name)
    )
    private static let updateWatch = BulkUpdate(of: "notification_watches", key: key, figures)

    func find(_ key: NotificationKey) throws(StoreFailure) -> KeptNotification? {
        guard let code = try apps.code(of: key.app) else { return nil }
        let values: [SQLValue] = [.integer(code), .text(key.id.text), .integer(RealmCode.wanted(key.realm))]
        return try connection.row(Self.find, values) { row throws(StoreFailure) in try Self.read(row, app: key.app) }
    }

    func list(
        app: AppID,
        before cursor: NotificationCursor?,
        where filter: NotificationFilter,
        limit: Int
    ) throws(StoreFailure) -> NotificationPage {
        guard let code = try apps.code(of: app) else { return NotificationPage() }
        let limit = min(max(limit, 1), NotificationPage.limitMax)
        var values: [SQLValue] = [
            .integer(code), .integer(cursor?.moment.milliseconds ?? .max), .text(cursor?.id.text ?? ""),
            .integer(RealmCode.mask(of: filter.realms)), .optional(filter.type), .integer(Int64(limit + 1)),
        ]
        if let original = filter.original { values.append(.integer(original.number)) }
        var found = try connection.rows(filter.original == nil ? Self.list : Self.listOfChain, values) {
            row throws(StoreFailure) in try Self.read(row, app: app)
        }
        guard found.count > limit else { return NotificationPage(notifications: found) }
        found.removeLast()
        return NotificationPage(notifications: found, next: found.last?.cursor)
    }

    func keep(_ notification: KeptNotification) throws(StoreFailure) -> Bool {
        guard notification.isStorable else { throw .unstorable }
        let values: [SQLValue] = [
            .integer(try apps.codeForWriting(notification.key.app)),
            .integer(try RealmCode.number(of: notification.key.realm)), .text(notification.key.id.text),
            .integer(Int64(notification.version)), .text(notification.type), .optional(notification.subtype),
            .optional(notification.original?.number), .optional(notification.transaction?.number),
            .integer(notification.arrival.rawValue), .integer(notification.signedAt.milliseconds),
            .integer(notification.receivedAt.milliseconds), .bytes(notification.payload),
        ]
        return try connection.run(Self.insert, values) == 1
    }

    func watch(app: AppID, realm: Realm) throws(StoreFailure) -> NotificationWatch? {
        guard let code = try apps.code(of: app) else { return nil }
        return try connection.row(Self.watch, [.integer(code), .integer(RealmCode.wanted(realm))]) {
            row throws(StoreFailure) in
            guard let marks = WatchMarksText.marks(in: row.optionalText(5) ?? "") else {
                throw SQLiteResult.unreadableRow
            }
            return NotificationWatch(
                app: app,
                realm: realm,
                comparedUntil: Timestamp(milliseconds: row.integer(0)),
                sent: row.integer(1),
                arrived: row.integer(2),
                recovered: row.integer(3),
                marks: marks,
                version: row.integer(4)
            )
        }
    }

    func note(_ watch: NotificationWatch) throws(StoreFailure) {
        let key: [SQLValue] = [
            .integer(try apps.codeForWriting(watch.app)), .integer(try RealmCode.number(of: watch.realm)),
        ]
        let figures: [SQLValue] = [
            .integer(watch.comparedUntil.milliseconds), .integer(watch.sent), .integer(watch.arrived),
            .integer(watch.recovered), .optional(WatchMarksText.text(of: watch.marks)),
        ]
        if watch.version == RowVersions.first {
            try connection.insert(key + [.integer(watch.version)] + figures, by: Self.insertWatch)
        } else {
            try connection.update(key + [.integer(watch.version - 1)] + figures, by: Self.updateWatch)
        }
    }

    private static func read(_ row: SQLRow, app: AppID) throws(StoreFailure) -> KeptNotification {
        guard let realm = RealmCode(number: row.integer(0)).realm, let id = NotificationID(row.text(1)),
            let arrival = KeptNotification.Arrival(rawValue: row.integer(7))
        else { throw SQLiteResult.unreadableRow }
        return KeptNotification(
            key: NotificationKey(app: app, realm: realm, id: id),
            version: Int(row.integer(2)),
            type: row.text(3),
            subtype: row.optionalText(4),
            original: row.optionalInteger(5).flatMap { TransactionID(number: $0) },
            transaction: row.optionalInteger(6).flatMap { TransactionID(number: $0) },
            arrival: arrival,
            signedAt: Timestamp(milliseconds: row.integer(8)),
            receivedAt: Timestamp(milliseconds: row.integer(9)),
            payload: row.bytes(10)
        )
    }
}
