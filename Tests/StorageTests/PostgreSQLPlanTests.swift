import PurchaseModel
import Storage
import TestSupport
import Testing

/// How PostgreSQL means to find rows while it knows nothing of a table, as in each young ledger: its sessions keep such a plan
/// until the table is analyzed, a minute and many rows later.
@Suite(.enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"))
struct PostgreSQLPlanTests {
    @Test func whoAsksByAKeyIsAnsweredByItsIndex() async throws {
        try await PostgreSQLServer.withSchema { schema in
            await (try PostgreSQLStore.open(PostgreSQLServer.settings(schema: schema))).close()
            let keys = try TestDatabase.query(Self.primaryKeys(of: schema)).map {
                $0.split(separator: "|").map(String.init)
            }
            #expect(keys.count > 30)
            // Opening filled some, and where that took a minute, the server has looked at them.
            for table in keys.compactMap(\.first) {
                try TestDatabase.query("ALTER TABLE \(schema).\(table) SET (autovacuum_enabled = off)")
                try TestDatabase.query("TRUNCATE \(schema).\(table)")
            }
            for key in keys {
                let (table, name, columns, types) = (
                    key[0], key[1], key[2].split(separator: " "), key[3].split(separator: "/")
                )
                let arrays = types.map { "NULL::\($0)[]" }.joined(separator: ", ")
                let names = columns.indices.map { "k\($0)" }
                // Who shares a chain is asked by the chain.
                let asked = table == "sharers" ? columns.prefix(3) : columns[...]
                let condition = zip(asked, names).map { "\($0) = key.\($1)" }.joined(separator: " AND ")
                let plan = try TestDatabase.query(
                    """
                    EXPLAIN SELECT key.place, found.*
                    FROM unnest(\(arrays)) WITH ORDINALITY AS key (\(names.joined(separator: ", ")), place)
                    CROSS JOIN LATERAL (SELECT * FROM \(schema).\(table) WHERE \(condition) OFFSET 0) AS found
                    """
                )
                #expect(plan.contains { $0.contains("using \(name) on \(table)") }, "\(plan)")
            }
        }
    }

    /// Also where rows are claimed, changed and deleted by many keys, again and again: after some times the plan is made
    /// without a look at the keys. With a reader who goes on for long, nothing that is gone leaves the tables, which has other
    /// indexes look cheap.
    @Test(.timeLimit(.minutes(60)), arguments: [false, true])
    func noQueueIsReadAsAWhole(besideALongReader: Bool) async throws {
        try await PostgreSQLServer.withSchema { schema in
            let name = "\(schema)_reader"
            let reading = """
                SELECT 1 FROM pg_stat_activity WHERE application_name = '\(name)' AND backend_xmin IS NOT NULL
                """
            if besideALongReader {
                let query = "SET application_name = '\(name)'; SELECT pg_sleep(3600)"
                _ = try ChildProcess(["/usr/bin/psql", try #require(TestDatabase.url), "-X", "-c", query]).start()
                while try TestDatabase.query(reading).isEmpty { try await Task.sleep(for: .milliseconds(10)) }
            }
            defer {
                let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '\(name)'"
                _ = try? TestDatabase.query(end)
            }
            let settings = try PostgreSQLServer.namedSettings(schema: schema)
            let first = try await PostgreSQLStore.open(settings)
            try await first.create(try OutboxSamples.endpoint("a"), try OutboxSamples.endpoint("b", isOrdered: true))
            await first.close()
            // Once the server has looked at them, it knows that they are small.
            for table in ["jobs", "webhook_deliveries"] {
                try TestDatabase.query("ALTER TABLE \(schema).\(table) SET (autovacuum_enabled = off)")
            }
            let before = try await Self.scans(in: schema)
            #expect(before.count == 2)
            let readBefore = try await Self.reads(of: ["webhook_deliveries"], in: schema)
            let store = try await PostgreSQLStore.open(settings)
            for round in Int64(1)...24 { try await Self.work(store, round) }
            await store.close()
            #expect(try await Self.scans(in: schema) == before)
            let read = try await Self.reads(of: ["webhook_deliveries"], in: schema) - readBefore
            #expect(read <= 24 * 100)
            #expect(try TestDatabase.query(reading).count == (besideALongReader ? 1 : 0))
        }
    }

    /// A customer's purchases are found by hers and by those of her chains, and not among everybody's.
    @Test func whoAsksForACustomersPurchasesReadsNobodyElses() async throws {
        try await PostgreSQLServer.withSchema { schema in
            let settings = try PostgreSQLServer.namedSettings(schema: schema)
            let first = try await PostgreSQLStore.open(settings)
            let (app, ann, bob) = (try Samples.app(), try Samples.customer("ann"), try Samples.customer("bob"))
            for table in Self.owning {
                try TestDatabase.query("ALTER TABLE \(schema).\(table) SET (autovacuum_enabled = off)")
            }
            let recordings = try (Int64(1)...310).map { number in
                Recording(
                    app: app,
                    realm: Samples.production,
                    transactions: [try Samples.transaction(number)],
                    customer: number % 31 == 0 ? ann : bob
                )
            }
            try await Purchases.record(recordings, try Samples.evidence(), in: first)
            await first.close()
            let before = try await Self.reads(of: Self.owning, in: schema)
            let store = try await PostgreSQLStore.open(settings)
            for round in 1...12 {
                for order in ListingOrder.allCases {
                    let page = try await store.read { reader throws(StoreFailure) in
                        try reader.transactions(app: app, customer: ann, order: order, after: nil, limit: round)
                    }
                    #expect(page.transactions.count == min(round, 10))
                }
            }
            await store.close()
            // Each time ten of hers, by chain, by link, by place, and those of the page.
            #expect(try await Self.reads(of: Self.owning, in: schema) - before <= 24 * 40)
        }
    }

    /// Adds some of both, claims them, renews the leases, and finishes them in every way.
    private static func work(_ store: PostgreSQLStore, _ round: Int64) async throws {
        let now = round * 1_000
        let names = (0..<6).map { "\(round)_\($0)" }
        for name in names { try await store.add(try OutboxSamples.job(name, due: now)) }
        try await store.append(
            try (Int64(1)...6).map { number in
                let (name, sequence) = (names[Int(number - 1)], round * 6 + number - 6)
                return try OutboxSamples.event(name, sequence, learnedAt: now)
            }
        )
        let jobs = try await store.jobs(.sound(limit: 6), "w", at: now).jobs.compactMap(\.hold)
        #expect(jobs.count == 6)
        #expect(try await store.renew(jobs, "w", at: now + 1) == jobs)
        let endings: [JobEnding] = [.done, .again(after: .seconds(3_600), because: "later"), .dead(because: "no")]
        let ended = zip(jobs, endings + endings).map { FinishedJob($0, as: $1) }
        #expect(try await store.finish(ended, at: now + 2).allSatisfy { $0 })
        let terms = try OutboxSamples.terms("w", at: now)
        var deliveries = try await store.claim("a", terms).map(\.hold)
        deliveries += try await store.claim("b", terms).map(\.hold)
        // In order, a customer's events are claimed one after the other.
        #expect(deliveries.count > 6)
        let outcomes: [DeliveryOutcome] = [.delivered, .again(after: .seconds(3_600)), .dead(because: "refused")]
        let isOurs = try await store.write { [deliveries] transaction throws(StoreFailure) in
            let renewed = try transaction.renewDeliveries(deliveries, terms: terms)
            let finished = renewed.enumerated().map { place, hold in
                FinishedDelivery(hold, as: outcomes[place % 3], attempt: OutboxSamples.attempt(1))
            }
            return try transaction.finishDeliveries(finished, at: OutboxSamples.at(now + 2))
        }
        #expect(isOurs == [Bool](repeating: true, count: deliveries.count))
    }

    /// How often the queues have been read as wholes.
    private static func scans(in schema: String) async throws -> [String] {
        try await figures(
            """
            SELECT relname, seq_scan FROM pg_stat_user_tables
            WHERE schemaname = '\(schema)' AND relname IN ('jobs', 'webhook_deliveries') ORDER BY relname
            """,
            in: schema
        )
    }

    /// What tells whose purchases are.
    private static let owning = ["fulfilments", "owners", "sharers", "transactions"]

    /// How many rows were read of some tables. What an index still says of rows that are gone is not counted: it stays for as
    /// long as any transaction of this server might see them, one of another test, too.
    private static func reads(of tables: [String], in schema: String) async throws -> Int {
        let names = tables.map { "'\($0)'" }.joined(separator: ", ")
        let sum = try await figures(
            """
            SELECT sum(seq_tup_read + idx_tup_fetch) FROM pg_stat_user_tables
            WHERE schemaname = '\(schema)' AND relname IN (\(names))
            """,
            in: schema
        )
        return try #require(sum.first.flatMap { Int($0) })
    }

    /// A session's figures are counted when it has ended.
    private static func figures(_ query: String, in schema: String) async throws -> [String] {
        let open = "SELECT 1 FROM pg_stat_activity WHERE application_name = '\(schema)'"
        while !(try TestDatabase.query(open).isEmpty) { try await Task.sleep(for: .milliseconds(10)) }
        return try TestDatabase.query(query)
    }

    /// Each table with the name of its key, the key's columns and their types.
    private static func primaryKeys(of schema: String) -> String {
        """
        SELECT relation.relname, key.relname, string_agg(attname, ' ' ORDER BY place),
            string_agg(format_type(atttypid, NULL), '/' ORDER BY place)
        FROM pg_index JOIN pg_class AS relation ON relation.oid = indrelid JOIN pg_class AS key ON key.oid = indexrelid
        CROSS JOIN LATERAL unnest(indkey::smallint[]) WITH ORDINALITY AS columns (number, place)
        JOIN pg_attribute ON attrelid = indrelid AND attnum = number
        WHERE indisprimary AND relation.relnamespace = '\(schema)'::regnamespace
        GROUP BY relation.relname, key.relname ORDER BY relation.relname
        """
    }
}
