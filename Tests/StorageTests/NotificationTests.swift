import PurchaseModel
import Storage
import Testing

/// What is kept of Apple's notifications.
@Suite struct NotificationTests {
    private static let sandbox = Realm(environment: .sandbox, isTestSigned: false)
    private static let everywhere: Set = [Samples.production, sandbox]

    @Test(arguments: StoreKind.allCases)
    func oneIsKeptOnceOnEachSideOfTheWall(kind: StoreKind) async throws {
        try await kind.withStore { store in
            var notification = try Self.notification("5f1f0a64-3d0b-4d4e-9a4e-2d1bb6b2f3a1", receivedAt: 10)
            notification.subtype = "BILLING_RECOVERY"
            notification.original = TransactionID(number: 7)
            notification.transaction = TransactionID(number: 8)
            var repeated = notification
            repeated.receivedAt = Timestamp(milliseconds: 99)
            repeated.arrival = .fetched
            var other = repeated
            other.key.realm = Self.sandbox
            let rows = [notification, repeated, other]
            let kept = try await store.write { write throws(StoreFailure) in
                try rows.map { row throws(StoreFailure) in try write.keepNotification(row) }
            }
            #expect(kept == [true, false, true])
            let keys = [notification.key, other.key]
            let found = try await store.read { reader throws(StoreFailure) in
                try keys.map { key throws(StoreFailure) in try reader.notification(key) }
            }
            #expect(found == [notification, other])
            var unknown = notification.key
            unknown.app = try #require(AppID("nobody"))
            let missing = unknown
            #expect(try await store.read { reader throws(StoreFailure) in try reader.notification(missing) } == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func theListingGoesFromTheNewestToTheOldest(kind: StoreKind) async throws {
        try await kind.withStore { store in
            // Two that came in the same millisecond; another app's; another side's.
            var rows = try [("a", 10), ("b", 20), ("c", 20), ("d", 5), ("e", 30)].map {
                try Self.notification($0.0, receivedAt: $0.1)
            }
            rows[1].type = "REFUND"
            rows[3].original = TransactionID(number: 7)
            rows[4].original = TransactionID(number: 7)
            rows[4].key.realm = Self.sandbox
            var foreign = rows[0]
            foreign.key.app = try #require(AppID("other"))
            let all = rows + [foreign]
            try await store.write { write throws(StoreFailure) in
                for row in all { _ = try write.keepNotification(row) }
            }
            let everything = NotificationFilter(realms: Self.everywhere)
            #expect(try await Self.names(everything, in: store) == ["e", "c", "b", "a", "d"])
            #expect(
                try await Self.names(NotificationFilter(realms: [Samples.production]), in: store) == [
                    "c", "b", "a", "d",
                ]
            )
            #expect(
                try await Self.names(NotificationFilter(type: "REFUND", realms: Self.everywhere), in: store) == ["b"]
            )
            let chain = NotificationFilter(original: TransactionID(number: 7), realms: Self.everywhere)
            #expect(try await Self.names(chain, in: store) == ["e", "d"])
            #expect(try await Self.names(NotificationFilter(realms: []), in: store) == [])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aWatchIsWrittenOverTheOneThatWasRead(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let app = try Samples.app()
            let first = NotificationWatch(
                app: app,
                realm: Samples.production,
                comparedUntil: Timestamp(milliseconds: 10),
                sent: 3,
                arrived: 2,
                recovered: 1
            )
            var second = first
            second.goOn(to: Timestamp(milliseconds: 20), sent: 1, arrived: 1, recovered: 0)
            #expect(second.marks.count == 1 && second.version == 2)
            let next = second
            try await store.write { write throws(StoreFailure) in try write.noteWatch(first) }
            try await store.write { write throws(StoreFailure) in try write.noteWatch(next) }
            for late in [first, next] {
                await #expect(throws: StoreFailure.conflict) {
                    try await store.write { write throws(StoreFailure) in try write.noteWatch(late) }
                }
            }
            let found = try await store.read { reader throws(StoreFailure) in
                [
                    try reader.notificationWatch(app: app, realm: Samples.production),
                    try reader.notificationWatch(app: app, realm: Self.sandbox),
                ]
            }
            #expect(found == [next, nil])
        }
    }

    /// Each row: to which hour a watch goes back that looked every hour, and counted one each time; from where it begins again,
    /// and with how many.
    @Test(arguments: [
        (hour: Int64(20), from: Int64(18), sent: Int64(18)), (18, 18, 18), (17, 12, 12), (3, 0, 0), (0, 0, 0),
        (-5, -5, 0),
    ])
    func aWatchGoesBackToAMark(hour: Int64, from: Int64, sent: Int64) throws {
        func moment(_ hour: Int64) -> Timestamp { Timestamp(milliseconds: 1_700_000_000_000 + hour * 3_600_000) }
        var watch = NotificationWatch(app: try Samples.app(), realm: Samples.production, comparedUntil: moment(0))
        for hour in Int64(1)...30 { watch.goOn(to: moment(hour), sent: 1, arrived: hour % 2, recovered: 1 - hour % 2) }
        watch.goBack(to: moment(hour))
        #expect(watch.comparedUntil == moment(from))
        #expect((watch.sent, watch.arrived, watch.recovered) == (sent, sent / 2, sent / 2))
        #expect(watch.marks.allSatisfy { $0.moment <= watch.comparedUntil } && watch.version == 32)
        // As many again as it has to look at again.
        for hour in (from + 1)...30 { watch.goOn(to: moment(hour), sent: 1, arrived: 0, recovered: 1) }
        #expect(watch.sent == 30 - min(from, 0))
    }

    /// One of an earlier version has no marks; one that has looked for long has only the last ones.
    @Test func whatNoMarkIsOldEnoughForIsCountedAgain() throws {
        func moment(_ hour: Int64) -> Timestamp { Timestamp(milliseconds: 1_700_000_000_000 + hour * 3_600_000) }
        let app = try Samples.app()
        var old = NotificationWatch(app: app, realm: Samples.production, comparedUntil: moment(0), sent: 9)
        old.goBack(to: moment(-2))
        #expect(old.comparedUntil == moment(-2) && old.sent == 9)
        var long = NotificationWatch(app: app, realm: Samples.production, comparedUntil: moment(0))
        for hour in Int64(1)...1_000 { long.goOn(to: moment(hour), sent: 1, arrived: 1, recovered: 0) }
        #expect(long.marks.count == 64)
        let first = try #require(long.marks.first)
        #expect(first.moment <= moment(1_000 - 14 * 24))
        long.goBack(to: moment(2))
        #expect(long.comparedUntil == moment(2) && long.sent == first.sent && long.marks.isEmpty)
    }

    private static func notification(_ id: String, receivedAt: Int) throws -> KeptNotification {
        KeptNotification(
            key: NotificationKey(
                app: try Samples.app(),
                realm: Samples.production,
                id: try #require(NotificationID(id))
            ),
            version: 2,
            type: "DID_RENEW",
            arrival: .pushed,
            signedAt: Timestamp(milliseconds: 1),
            receivedAt: Timestamp(milliseconds: Int64(receivedAt)),
            payload: Array("{\"signedPayload\":\"\(id)\"}".utf8)
        )
    }

    /// Read in pages of two.
    private static func names(_ filter: NotificationFilter, in store: any Store) async throws -> [String] {
        let app = try Samples.app()
        var names: [String] = []
        var place: NotificationCursor?
        repeat {
            let before = place
            let page = try await store.read { reader throws(StoreFailure) in
                try reader.notifications(app: app, before: before, where: filter, limit: 2)
            }
            names += page.notifications.map(\.key.id.text)
            place = page.next
        } while place != nil
        return names
    }
}
