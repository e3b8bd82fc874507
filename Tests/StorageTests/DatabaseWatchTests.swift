import Storage
import Synchronization
import TestSupport
import Testing

/// What a store tells of a database that is lost, to whoever looks after it.
@Suite struct DatabaseWatchTests {
    private final class Heard: Sendable {
        private let events = Mutex<[DatabaseEvent]>([])
        var all: [DatabaseEvent] { events.withLock { $0 } }

        func note(_ event: DatabaseEvent) { events.withLock { $0.append(event) } }
    }

    private static func ask(_ store: PostgreSQLStore) async throws(StoreFailure) {
        try await store.write { write throws(StoreFailure) in _ = try write.admins() }
        _ = try await store.read { reader throws(StoreFailure) in try reader.admins() }
    }

    /// By a role that may not log in any more, as after a change of `pg_hba.conf`: however often somebody asks, it is told once.
    @Test(.enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"))
    func aLossAndItsEndAreToldOnce() async throws {
        let (heard, role) = (Heard(), TestDatabase.freshName())
        try await PostgreSQLServer.withSchema { schema in
            try TestDatabase.query("CREATE ROLE \(role) SUPERUSER LOGIN")
            let settings = try PostgreSQLServer.namedSettings(schema: schema) { settings in
                settings.url += "&user=\(role)"
                settings.tell = heard.note
                settings.pause = { _ in }
            }
            let store = try await PostgreSQLStore.open(settings)
            try await Self.ask(store)
            #expect(heard.all == [])
            try TestDatabase.query("ALTER ROLE \(role) NOLOGIN")
            try TestDatabase.query(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = '\(schema)'"
            )
            for _ in 0..<3 { await #expect(throws: StoreFailure.unreachable) { try await Self.ask(store) } }
            guard case .lost(let words)? = heard.all.first, heard.all.count == 1 else {
                Issue.record("\(heard.all)")
                return
            }
            #expect(words.contains("is not permitted to log in"), "\(words)")
            try TestDatabase.query("ALTER ROLE \(role) LOGIN")
            for _ in 0..<3 { try await Self.ask(store) }
            #expect(heard.all.dropFirst() == [.back])
            await store.close()
        }
        // With its tables gone it owns nothing.
        try TestDatabase.query("DROP ROLE \(role)")
    }
}
