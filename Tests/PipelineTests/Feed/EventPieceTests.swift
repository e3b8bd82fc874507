import Pipeline
import PurchaseModel
import Storage
import TestSupport
import Testing

/// The events of a long receipt are added piece by piece, and stand in the feed as if they had been added at once.
@Suite struct EventPieceTests {
    private static let realm = Realm(environment: .production, isTestSigned: false)
    private static let now = Timestamp(milliseconds: 1_700_000_000_000)

    private static let counts = [[1], [300], [128, 129], [1, 500, 3]]

    @Test(arguments: counts)
    func piecesAddUpInMemoryAndInAFile(counts: [Int]) async throws {
        try await Self.compare(MemoryStore(), counts)
        try await Tampering.withFolder { folder in
            let store = try SQLiteStore.open(folder: folder + "/data")
            try await Self.compare(store, counts)
            await store.close()
        }
    }

    @Test(.enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"), arguments: counts)
    func piecesAddUpInADatabase(counts: [Int]) async throws {
        try await Tampering.withSchema { settings in
            let store = try await PostgreSQLStore.open(settings)
            try await Self.compare(store, counts)
            await store.close()
        }
    }

    private static func compare(_ store: any Store, _ counts: [Int]) async throws {
        let events = try Self.events(counts)
        let whole = MemoryStore()
        try await whole.write { write throws(StoreFailure) in
            try EventRows.append(events, inPieces: false, to: write)
        }
        try await store.write { write throws(StoreFailure) in
            try EventRows.append(events, inPieces: true, to: write)
        }
        for place in counts.indices {
            let app = try #require(AppID("app-\(place)"))
            let expected = try await feed(of: app, in: whole)
            #expect(expected.count == counts[place])
            #expect(try await feed(of: app, in: store) == expected)
        }
    }

    /// So many events of each app, of all apps in turn, the last app first.
    private static func events(_ counts: [Int]) throws -> [LedgerEvent] {
        var events: [LedgerEvent] = []
        for number in 1...(counts.max() ?? 1) {
            for place in counts.indices.reversed() where number <= counts[place] {
                let stream = StreamKey(app: try #require(AppID("app-\(place)")), realm: realm, customer: nil)
                events.append(
                    LedgerEvent(
                        type: .customerTransferred,
                        stream: stream,
                        sequence: Int64(number),
                        happenedAt: now,
                        learnedAt: now,
                        subject: .transfer(
                            chain: ChainKey(
                                app: stream.app,
                                realm: realm,
                                original: try #require(TransactionID(number: Int64(number)))
                            ),
                            from: try #require(CustomerID("ann")),
                            to: try #require(CustomerID("bob"))
                        )
                    )
                )
            }
        }
        return events
    }

    private static func feed(of app: AppID, in store: any Store) async throws -> [PlacedEvent] {
        try await store.read { reader throws(StoreFailure) in
            var (found, cursor) = ([PlacedEvent](), EventCursor.start)
            while true {
                let page = try reader.events(app: app, after: cursor, where: .everything, limit: EventPage.limitMax)
                found += page.events
                if !page.hasMore { return found }
                cursor = page.next
            }
        }
    }
}
