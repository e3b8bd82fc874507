import Glibc
import Storage
import TestSupport
import Testing

/// Schemas that others made, half made, or are making.
@Suite(.enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"))
struct PostgreSQLOpeningTests {
    @Test(arguments: 0..<4)
    func manyNodesMayStartAtOnce(turn: Int) async throws {
        try await PostgreSQLServer.withSchema { schema in
            let settings = try PostgreSQLServer.settings(schema: schema) { $0.writers = 1 }
            let stores = try await withThrowingTaskGroup(of: PostgreSQLStore.self) { group in
                for _ in 0..<6 { group.addTask { try await PostgreSQLStore.open(settings) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for (number, store) in stores.enumerated() {
                #expect(try await Purchases.record([1, Int64(number + 2)], in: store) == (number == 0 ? 2 : 1))
            }
            #expect(try await Purchases.count(in: stores[0]) == 7)
            for store in stores { await store.close() }
        }
    }

    /// Of an older schema, whose 21st migration takes a while and is counted: who comes late finds it done, and so does the start
    /// after one that was killed in its middle.
    @Test func nodesThatStartAtOnceRunEachStatementOnce() async throws {
        try await PostgreSQLServer.withSchema { schema in
            let settings = try PostgreSQLServer.settings(schema: schema) { $0.writers = 1 }
            await (try PostgreSQLStore.open(settings)).close()
            let counted = [
                "CREATE TABLE runs (number INT)",
                """
                CREATE FUNCTION note_run() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN INSERT INTO \(schema).runs VALUES (1); PERFORM pg_sleep(0.5); RETURN NULL; END $$
                """,
                "CREATE TRIGGER runs AFTER UPDATE ON owners FOR EACH STATEMENT EXECUTE FUNCTION note_run()",
            ]
            try TestDatabase.query(Self.rewound(schema, to: 20, counted))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<6 { group.addTask { await (try PostgreSQLStore.open(settings)).close() } }
                try await group.waitForAll()
            }
            let (runs, count) = ("SELECT count(*) FROM \(schema).runs", "SELECT count(*) FROM \(schema).migrations")
            #expect(try TestDatabase.query(runs) == ["1"])
            #expect(try TestDatabase.query(count) == ["\(PostgreSQLStore.schemaVersion)"])
            try TestDatabase.query(
                """
                DELETE FROM \(schema).migrations WHERE number > 20;
                DELETE FROM \(schema).migration_steps WHERE number > 21 OR number = 21 AND step > 2
                """
            )
            await (try PostgreSQLStore.open(settings)).close()
            #expect(try TestDatabase.query(runs) == ["1"])
            #expect(try TestDatabase.query(count) == ["\(PostgreSQLStore.schemaVersion)"])
        }
    }

    /// As a start leaves it that was killed after so many statements: the migration is not noted, and what comes later is
    /// not there.
    @Test(arguments: [
        [], ["refusal_samples"], ["refusal_samples", "refusal_counts", "submissions"],
        ["refusal_samples", "refusal_counts", "submissions", "transactions", "evidence", "apps", "writers"],
    ])
    func aStartThatWasKilledMidwayIsFinishedByTheNext(missing: [String]) async throws {
        try await PostgreSQLServer.withSchema { schema in
            let settings = try PostgreSQLServer.settings(schema: schema)
            await (try PostgreSQLStore.open(settings)).close()
            let tables = try TestDatabase.query(Self.relations(of: schema))
            try TestDatabase.query("DELETE FROM \(schema).migrations; DELETE FROM \(schema).migration_steps")
            for table in missing { try TestDatabase.query("DROP TABLE \(schema).\(table)") }
            let store = try await PostgreSQLStore.open(settings)
            #expect(try TestDatabase.query(Self.relations(of: schema)) == tables)
            #expect(try await Purchases.record([1, 2], in: store) == 2)
            await store.close()
        }
    }

    /// A pager that is not read on must not end an export.
    @Test func whoOnlyLooksMayPause() async throws {
        try await PostgreSQLServer.withSchema { schema in
            let settings = try PostgreSQLServer.settings(schema: schema) { $0.idleTimeout = .milliseconds(200) }
            await (try PostgreSQLStore.open(settings)).close()
            let store = try await PostgreSQLStore.open(toRead: settings)
            let found = try await store.read { reader throws(StoreFailure) in
                let before = try reader.knownApps()
                usleep(1_000_000)
                return [before, try reader.knownApps()]
            }
            #expect(found == [[], []])
            await store.close()
        }
    }

    /// One that was left open for the night holds up no upgrade.
    @Test func whoOnlyLooksDoesNotPauseForEver() async throws {
        try await PostgreSQLServer.withSchema { schema in
            let settings = try PostgreSQLServer.settings(schema: schema) { settings in
                settings.lookTimeout = .milliseconds(200)
                settings.attemptsMax = 1
            }
            await (try PostgreSQLStore.open(settings)).close()
            let store = try await PostgreSQLStore.open(toRead: settings)
            await #expect(throws: StoreFailure.self) {
                _ = try await store.read { reader throws(StoreFailure) in
                    let before = try reader.knownApps()
                    usleep(1_000_000)
                    return [before, try reader.knownApps()]
                }
            }
            await store.close()
        }
    }

    /// Whoever hardens a database takes from its role what it needs no more.
    @Test func whoMayMakeNothingStartsWhereNothingIsToBeMade() async throws {
        try await PostgreSQLServer.withSchema { schema in
            await (try PostgreSQLStore.open(PostgreSQLServer.settings(schema: schema))).close()
            let (role, url) = ("\(schema)_role", try #require(TestDatabase.url))
            try TestDatabase.query(
                """
                CREATE ROLE \(role); GRANT USAGE ON SCHEMA \(schema) TO \(role);
                GRANT ALL ON ALL TABLES IN SCHEMA \(schema) TO \(role);
                GRANT ALL ON ALL SEQUENCES IN SCHEMA \(schema) TO \(role)
                """
            )
            defer { _ = try? TestDatabase.query("DROP OWNED BY \(role); DROP ROLE \(role)") }
            let limited = url + (url.contains("?") ? "&" : "?") + "options=-crole%3D\(role)"
            let store = try await PostgreSQLStore.open(PostgreSQLServer.settings(schema: schema, url: limited))
            #expect(try await Purchases.record([1, 2], in: store) == 2)
            await store.close()
            try TestDatabase.query("DELETE FROM \(schema).migrations WHERE number = \(PostgreSQLStore.schemaVersion)")
            await #expect(throws: StoreOpenFailure.self) {
                _ = try await PostgreSQLStore.open(PostgreSQLServer.settings(schema: schema, url: limited))
            }
        }
    }

    /// What a family shares was counted as due, too; a start that was killed after it took that off takes it off no more.
    @Test func copiesAreNoLongerDue() async throws {
        try await PostgreSQLServer.withSchema { schema in
            let settings = try PostgreSQLServer.settings(schema: schema)
            let first = try await PostgreSQLStore.open(settings)
            try await Purchases.recordFamily(in: first)
            #expect(try await Purchases.due(in: first) == [1, 9_990])
            await first.close()
            for statements in [Purchases.familyBefore, []] {
                try TestDatabase.query(Self.rewound(schema, to: 25, statements))
                let store = try await PostgreSQLStore.open(settings)
                #expect(try await Purchases.due(in: store) == [1, 9_990])
                await store.close()
            }
        }
    }

    @Test func severalTrialsAreCountedAnew() async throws {
        try await PostgreSQLServer.withSchema { schema in
            let settings = try PostgreSQLServer.settings(schema: schema)
            let first = try await PostgreSQLStore.open(settings)
            try await Purchases.recordTrials(in: first)
            #expect(try await Purchases.uncounted(in: first) == [false, false])
            await first.close()
            try TestDatabase.query(Self.rewound(schema, to: 26))
            let second = try await PostgreSQLStore.open(settings)
            #expect(try await Purchases.uncounted(in: second) == [true, false])
            await second.close()
        }
    }

    @Test func whatToldMoreIsNotedOfOlderRows() async throws {
        try await PostgreSQLServer.withSchema { schema in
            let settings = try PostgreSQLServer.settings(schema: schema)
            let first = try await PostgreSQLStore.open(settings)
            try await Purchases.recordFuller(in: first)
            await first.close()
            try TestDatabase.query(Self.rewound(schema, to: 30, Purchases.fullerBefore))
            let second = try await PostgreSQLStore.open(settings)
            #expect(try await Purchases.fuller(in: second) == [1, 3, nil, nil, nil])
            await second.close()
        }
    }

    @Test func aSchemaOfAnotherTimeIsLeftAlone() async throws {
        try await PostgreSQLServer.withSchema { schema in
            let settings = try PostgreSQLServer.settings(schema: schema)
            await (try PostgreSQLStore.open(settings)).close()
            let known = PostgreSQLStore.schemaVersion
            try TestDatabase.query("INSERT INTO \(schema).migrations VALUES (\(known + 1), 'later')")
            await #expect(throws: StoreOpenFailure.newerSchema(found: known + 1, known: known)) {
                try await PostgreSQLStore.open(settings)
            }
            try TestDatabase.query(
                """
                DELETE FROM \(schema).migrations WHERE number = \(known + 1);
                UPDATE \(schema).migrations SET text = text || ' ' WHERE number = 1
                """
            )
            await #expect(throws: StoreOpenFailure.changedMigration(number: 1)) {
                try await PostgreSQLStore.open(settings)
            }
        }
    }

    @Test func aServerThatIsNotThereOrOnlyReadsIsNotOpened() async throws {
        let url = try #require(TestDatabase.url)
        let reading = url + "?options=-c%20default_transaction_read_only%3Don"
        for url in ["postgresql://nobody@127.0.0.1:1/none", url + "_that_is_not_there", reading] {
            let settings = try PostgreSQLServer.settings(schema: "unused", url: url)
            do {
                await (try PostgreSQLStore.open(settings)).close()
                Issue.record("\(url) was opened")
            } catch {
                guard case .unreachable = error else {
                    Issue.record("\(error)")
                    continue
                }
            }
        }
    }

    /// What can be committed is on disk, whatever the server does by default.
    @Test func aServerThatForgetsTheLastCommitsIsToldNotTo() async throws {
        let change = { (settings: inout PostgreSQLSettings) in settings.url += "?options=-c%20synchronous_commit%3Doff"
        }
        try await PostgreSQLServer.withStore(change) { store in
            let new = try await Purchases.record([1], in: store)
            #expect(new == 1)
        }
    }

    @Test(arguments: [("assay", true), ("a_1", true), ("", false), ("Assay", false), ("a-b", false), ("a\"b", false)])
    func aSchemasNameIsPlain(name: String, isPlain: Bool) {
        #expect((PostgreSQLSettings(url: "", schema: name, pause: { _ in }) != nil) == isPlain)
    }

    /// Has a schema be migrated again after a number, from what some statements make of it.
    private static func rewound(_ schema: String, to number: Int, _ statements: [String] = []) -> String {
        let forgotten = ["migrations", "migration_steps"].map { "DELETE FROM \($0) WHERE number > \(number)" }
        return (["SET search_path TO \(schema)"] + statements + forgotten).joined(separator: "; ")
    }

    private static func relations(of schema: String) -> String {
        """
        SELECT relname, relkind FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
        WHERE nspname = '\(schema)' ORDER BY relname
        """
    }
}
