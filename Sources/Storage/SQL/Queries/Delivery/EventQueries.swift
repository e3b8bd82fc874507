import PurchaseModel

/// Writes and reads events.
///
/// An event's position is given out by its app's row in `event_heads`, which the write that adds it updates and, where
/// several write, keeps locked until it commits. So a position that is seen is above no one that is yet to be committed.
/// The price: writes with events of one app commit one after the other. Whoever has many adds them in one write.
struct EventQueries {
    let connection: any SQLConnection
    let apps: AppQueries
    let numbers: StreamNumbers

    static let selected = "position, id, realm, customer, sequence, type, happened_at, learned_at, data"

    private static let find = Query("SELECT \(selected) FROM events WHERE app = $1 AND id = $2")
    private static let findByPosition = BulkLookup(
        by: [.integer("app"), .integer("position")],
        "SELECT \(selected) FROM events WHERE app = $1 AND position = $2"
    )
    private static let lastSequence = BulkLookup(
        by: [.integer("app"), .integer("realm"), .text("customer")],
        "SELECT max(sequence) FROM events WHERE app = $1 AND realm = $2 AND customer = $3"
    )
    private static let head = Query("SELECT last_position FROM event_heads WHERE app = $1")
    private static let moveHead = Query(
        """
        INSERT INTO event_heads (app, last_position) VALUES ($1, $2)
        ON CONFLICT (app) DO UPDATE SET last_position = event_heads.last_position + excluded.last_position
        RETURNING last_position
        """
    )
    private static let insert = BulkInsert(
        into: "events",
        [
            .integer("app"), .integer("position"), .text("id"), .integer("realm"), .text("customer"),
            .integer("sequence"), .text("type"), .integer("happened_at"), .integer("learned_at"), .bytes("data"),
        ],
        key: ["app", "position"],
        on: .failsByAnyName
    )
    private static let listAll = Query(listing(ofTypes: false))
    private static let listOfTypes = Query(listing(ofTypes: true))

    private static func listing(ofTypes: Bool) -> String {
        let realms = ValueList.places(from: 5, count: RealmCode.count)
        let types = ValueList.places(from: 5 + RealmCode.count, count: EventFilter.typesMax)
        return """
            SELECT \(selected) FROM events
            WHERE app = $1 AND position > $2 AND position <= $3 AND realm IN (\(realms))
            \(ofTypes ? "AND type IN (\(types))" : "")
            ORDER BY position LIMIT $4
            """
    }

    func find(app: AppID, id: EventID) throws(StoreFailure) -> PlacedEvent? {
        guard let code = try apps.code(of: app) else { return nil }
        return try connection.row(Self.find, [.integer(code), .text(id.text)]) { row throws(StoreFailure) in
            try Self.read(row, app: app)
        }
    }

    /// In the order in which they are named; those that there are not are left out.
    func find(app: AppID, positions: [Int64]) throws(StoreFailure) -> [PlacedEvent] {
        guard let code = try apps.code(of: app) else { return [] }
        let keys = positions.map { [SQLValue.integer(code), .integer($0)] }
        var found: [PlacedEvent] = []
        try connection.visit(Self.findByPosition, keys) { _, row throws(StoreFailure) in
            found.append(try Self.read(row, app: app))
        }
        return found
    }

    func lastPosition(app: AppID) throws(StoreFailure) -> Int64 {
        guard let code = try apps.code(of: app) else { return 0 }
        return try connection.row(Self.head, [.integer(code)]) { $0.integer(0) } ?? 0
    }

    func lastSequences(_ streams: [StreamKey]) throws(StoreFailure) -> [StreamKey: Int64] {
        let (asked, values) = try apps.keys(streams, app: \.app) { code, stream in
            [code, .integer(RealmCode.wanted(stream.realm)), .text(stream.customer?.text ?? "")]
        }
        var found: [StreamKey: Int64] = [:]
        try connection.visit(Self.lastSequence, values) { place, row throws(StoreFailure) in
            let last = row.optionalInteger(0)
            if let last { found[asked[place]] = last }
            if numbers.areLasting { numbers[asked[place]] = last ?? 0 }
        }
        return found
    }

    /// Asks for the last numbers of the streams that some events belong to, as far as they may not be known.
    private func readNumbers(of events: [EventRow]) throws(StoreFailure) {
        var asked: Set<StreamKey> = []
        for event in events where !numbers.areLasting || numbers[event.stream] == nil { asked.insert(event.stream) }
        if asked.isEmpty { return }
        let found = try lastSequences(Array(asked))
        for stream in asked { numbers[stream] = found[stream] ?? 0 }
    }

    func list(
        app: AppID,
        after cursor: EventCursor,
        where filter: EventFilter,
        limit: Int
    ) throws(StoreFailure) -> EventPage {
        guard filter.isStorable else { throw .unstorable }
        // The head is read first: what it says is committed, whatever else is committed while the rest is read.
        let last = try lastPosition(app: app)
        guard cursor.position < last, let code = try apps.code(of: app) else {
            return EventPage(next: cursor, hasMore: false)
        }
        let first = cursor.position
        let end = min(first + EventPage.lookedAtMax, last)
        let limit = min(max(limit, 1), EventPage.limitMax)
        var values: [SQLValue] = [.integer(code), .integer(first), .integer(end), .integer(Int64(limit))]
        values += RealmCode.list(of: filter.realms)
        if let types = filter.types { values += ValueList.filled(types.map(SQLValue.text), EventFilter.typesMax) }
        let query = filter.types == nil ? Self.listAll : Self.listOfTypes
        let events = try connection.rows(query, values) { row throws(StoreFailure) in try Self.read(row, app: app) }
        let next = events.count == limit ? events.last?.cursor : nil
        let reached = next ?? EventCursor(position: end)
        return EventPage(events: events, next: reached, hasMore: reached.position < last)
    }

    /// Adds events to the feed.
    ///
    /// - Returns: them with their places.
    func append(_ events: [EventRow]) throws(StoreFailure) -> [PlacedEvent] {
        guard events.allSatisfy({ $0.isStorable }) else { throw .unstorable }
        var placed: [PlacedEvent] = []
        placed.reserveCapacity(events.count)
        // In the order of their names, so that two writes never wait for each other crosswise.
        let names = Self.apps(of: events)
        for app in names {
            let own = names.count == 1 ? events : events.filter { $0.app == app }
            let code = try apps.codeForWriting(app)
            let moved = try connection.row(Self.moveHead, [.integer(code), .integer(Int64(own.count))]) {
                $0.integer(0)
            }
            guard let last = moved else { throw SQLiteResult.unreadableRow }
            // Asked after the head is ours: nobody adds to these streams any more.
            try readNumbers(of: own)
            var position = last - Int64(own.count)
            for event in own {
                position += 1
                let stream = event.stream
                guard let before = numbers[stream], event.sequence == before + 1 else {
                    connection.doom(.conflict)
                    throw .conflict
                }
                numbers[stream] = event.sequence
                try insert(event, app: code, at: position)
                placed.append(PlacedEvent(event, at: EventCursor(position: position)))
            }
        }
        return placed
    }

    /// Mostly one.
    private static func apps(of events: [EventRow]) -> [AppID] {
        var apps: [AppID] = []
        for event in events where apps.last != event.app && !apps.contains(event.app) { apps.append(event.app) }
        return apps.sorted()
    }

    private func insert(_ event: EventRow, app: Int64, at position: Int64) throws(StoreFailure) {
        guard let realm = RealmCode(event.realm) else { throw .unstorable }
        let values: [SQLValue] = [
            .integer(app), .integer(position), .text(event.id.text), .integer(realm.number),
            .text(event.customer?.text ?? ""), .integer(event.sequence), .text(event.type),
            .integer(event.happenedAt.milliseconds), .integer(event.learnedAt.milliseconds), .bytes(event.data),
        ]
        try connection.insert(values, by: Self.insert)
    }

    /// Reads a row of ``selected``.
    static func read(_ row: SQLRow, app: AppID) throws(StoreFailure) -> PlacedEvent {
        guard let id = EventID(row.text(1)), let realm = RealmCode(number: row.integer(2)).realm else {
            throw SQLiteResult.unreadableRow
        }
        let event = EventRow(
            id: id,
            app: app,
            realm: realm,
            customer: row.text(3).utf8.isEmpty ? nil : try row.identifier(3),
            sequence: row.integer(4),
            type: row.text(5),
            happenedAt: Timestamp(milliseconds: row.integer(6)),
            learnedAt: Timestamp(milliseconds: row.integer(7)),
            data: row.bytes(8)
        )
        return PlacedEvent(event, at: EventCursor(position: row.integer(0)))
    }
}
