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
            second.comparedUntil = Timestamp(milliseconds: 20)
            second.sent = 4
            second.version = 2
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
