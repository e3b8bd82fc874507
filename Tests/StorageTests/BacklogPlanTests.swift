import PurchaseModel
import TestSupport
import Testing

@testable import Storage

/// What it costs to count what waits: as much in a table of millions as in a small one.
@Suite struct BacklogPlanTests {
    private static let queries: [(query: Query, plan: [String])] = [
        (
            JobBacklogQueries.listKinds,
            [
                "SEARCH jobs USING COVERING INDEX jobs_due (state=? AND kind>?)",
                "SEARCH jobs USING COVERING INDEX jobs_due (state=?)",
            ]
        ),
        (
            JobBacklogQueries.count.one,
            [
                "SEARCH jobs USING COVERING INDEX jobs_due (state=? AND kind=? AND due_at<?)",
                "SEARCH jobs USING COVERING INDEX jobs_due (state=? AND kind=?)",
            ]
        ),
        (
            DeliveryQueries.countOpen,
            ["SEARCH webhook_deliveries USING INDEX webhook_deliveries_due (endpoint=? AND state=? AND due_at>?)"]
        ),
        (
            DeliveryQueries.countOpenLast,
            ["SEARCH webhook_deliveries USING INDEX webhook_deliveries_due (endpoint=? AND state=? AND due_at>?)"]
        ),
        (
            DeliveryQueries.countDead,
            ["SEARCH webhook_deliveries USING INDEX webhook_deliveries_dead (endpoint=?)"]
        ),
        (
            DeliveryQueries.listDead,
            ["SEARCH d USING INDEX webhook_deliveries_dead (endpoint=? AND position<?)"]
        ),
        (
            ReplayQueries.listDead,
            ["SEARCH webhook_deliveries USING INDEX webhook_deliveries_dead (endpoint=? AND position>?)"]
        ),
        (
            ReplayQueries.restartDead,
            ["SEARCH webhook_deliveries USING INDEX webhook_deliveries_dead (endpoint=? AND position>? AND position<?)"]
        ),
        (
            SubmissionQueries.backlog.one,
            ["SEARCH submissions USING INDEX submissions_pending_of_customer (app=? AND customer>?)"]
        ),
        (
            SubmissionQueries.findAnyImported,
            ["SEARCH submissions USING INDEX submissions_of_imports (app=?)"]
        ),
        (
            SubmissionQueries.findImported.one,
            ["SEARCH submissions USING INDEX submissions_of_imports (app=? AND sha256=?)"]
        ),
        (
            SubmissionQueries.giveUp,
            [
                "SEARCH submissions USING INDEX submissions_overdue (received_at<?)",
                "SEARCH submissions USING INTEGER PRIMARY KEY (rowid=?)",
            ]
        ),
        (
            DeliveryQueries.listOpenOfState,
            ["SEARCH d USING INDEX webhook_deliveries_open (endpoint=? AND state=? AND position>? AND position<?)"]
        ),
        (
            FulfilmentQueries.findWaiting,
            ["SEARCH fulfilments USING INDEX fulfilments_waiting (app=? AND product=? AND customer=?)"]
        ),
        (
            FulfilmentQueries.findWaitingByToken,
            ["SEARCH fulfilments USING INDEX fulfilments_waiting_by_token (app=? AND account_token=? AND product=?)"]
        ),
        (
            FulfilmentQueries.listWaiting,
            [
                "SEARCH fulfilments USING INDEX fulfilments_waiting_in_order (app=? AND (original_id,realm,transaction_id)>(?,?,?))"
            ]
        ),
        (
            FulfilmentQueries.listWaitingOnSides,
            [
                "SEARCH fulfilments USING INDEX fulfilments_waiting_in_order (app=? AND (original_id,realm,transaction_id)>(?,?,?))"
            ]
        ),
        (OwnerQueries.findBought, ["SEARCH owners USING INDEX owners_by_customer (app=? AND customer=?)"]),
        (
            ConsumptionQueries.findOpen.one,
            [
                "SEARCH consumption_requests USING INDEX consumption_requests_of_transaction (app=? AND transaction_id=? AND realm=?)"
            ]
        ),
        (
            ConsumptionQueries.listOfTransaction,
            [
                "SEARCH consumption_requests USING INDEX consumption_requests_of_transaction (app=? AND transaction_id=?)"
            ]
        ),
        (
            OrderQueries.listOfCustomer,
            ["SEARCH orders USING INDEX orders_of_customer (app=? AND customer=? AND order_id>?)"]
        ),
        (
            AuditSweepQueries.findEnd,
            ["SEARCH admin_actions USING INTEGER PRIMARY KEY (rowid>?)"]
        ),
        (
            AuditSweepQueries.delete,
            ["SEARCH admin_actions", "SEARCH admin_actions USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"]
        ),
        (
            AuditQueries.findHead,
            ["SEARCH admin_actions USING INDEX admin_actions_links (link_number>?)"]
        ),
        (
            AuditQueries.listOlder,
            ["SEARCH admin_actions USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"]
        ),
        (JobQueries.findHastened, ["SEARCH jobs USING INTEGER PRIMARY KEY (rowid<?)"]),
        (JobQueries.hastenSome, ["SEARCH jobs USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"]),
        (
            DeliveryWorkQueries.hasten.findEnd,
            [
                "SEARCH webhook_deliveries USING INDEX webhook_deliveries_open ((endpoint,state,position)>(?,?,?))"
            ]
        ),
        (
            DeliveryWorkQueries.hasten.change,
            [
                "SEARCH webhook_deliveries USING INDEX webhook_deliveries_open ((endpoint,state,position)>(?,?,?) AND (endpoint,state,position)<(?,?,?))"
            ]
        ),
        (
            SubscriptionQueries.hasten.findEnd,
            ["SEARCH subscriptions USING PRIMARY KEY ((app,original_id,realm)>(?,?,?))"]
        ),
        (
            SubscriptionQueries.hasten.change,
            [
                "SEARCH subscriptions USING PRIMARY KEY ((app,original_id,realm)>(?,?,?) AND (app,original_id,realm)<(?,?,?))"
            ]
        ),
        (SubscriptionQueries.due, ["SEARCH subscriptions USING INDEX subscriptions_due (next_look_at<?)"]),
        (SubscriptionQueries.dueOfApp, ["SEARCH subscriptions USING INDEX subscriptions_due (next_look_at<?)"]),
        (
            SubscriptionQueries.inState,
            [
                "SEARCH subscriptions USING INDEX subscriptions_in_state (app=? AND realm=? AND state=? AND original_id>?)"
            ]
        ),
    ]
    private static let names = [
        "jobs", "webhook_deliveries", "submissions", "d", "fulfilments", "owners", "consumption_requests", "orders",
        "subscriptions", "admin_actions",
    ]
    /// Of a few kinds, of one transaction's requests, and of what waits for one customer to order one product.
    private static let sorting = [
        JobBacklogQueries.listKinds, ConsumptionQueries.listOfTransaction, FulfilmentQueries.findWaiting,
        FulfilmentQueries.findWaitingByToken,
    ]

    /// Each table is found its rows in by an index that has them in order: a limit ends the search, and nothing is sorted.
    @Test func sqliteLooksFromTheFrontOfAnIndex() async throws {
        try await TemporaryFolder.with { folder in
            await (try SQLiteStore.open(folder: folder + "/data")).close()
            let connection = try SQLiteConnection(path: folder + "/data/assay.sqlite", role: .reader)
            // A connection knows a statement by its identity, so that none may go before it.
            let explained = Self.queries.map { Query("EXPLAIN QUERY PLAN \($0.query.text)") }
            for ((query, plan), explaining) in zip(Self.queries, explained) {
                let parameters = (1...20).count { query.text.contains("$\($0)") }
                let values = [SQLValue](repeating: .integer(1), count: parameters)
                let steps = try connection.rows(explaining, values) { $0.text(3) }
                let ofTables = steps.filter { step in
                    Self.names.contains { "\(step) ".contains(" \($0) ") }
                }
                #expect(ofTables.sorted() == plan, "\(query.text)")
                let isSorted = steps.contains { $0.contains("TEMP B-TREE") }
                #expect(!isSorted || Self.sorting.contains { $0 === query }, "\(steps)")
            }
            withExtendedLifetime(explained) {}
        }
    }

    @Test(.enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"))
    func postgresqlReadsNoMoreThanItCounts() async throws {
        try await PostgreSQLServer.withSchema { schema in
            let settings = try PostgreSQLServer.namedSettings(schema: schema)
            let first = try await PostgreSQLStore.open(settings)
            for table in Self.tables {
                try TestDatabase.query("ALTER TABLE \(schema).\(table) SET (autovacuum_enabled = off)")
            }
            try await Self.fill(first)
            await first.close()
            for isAnalyzed in [false, true] {
                if isAnalyzed { for table in Self.tables { try TestDatabase.query("ANALYZE \(schema).\(table)") } }
                let before = try await Self.reads(in: schema)
                let store = try await PostgreSQLStore.open(settings)
                for _ in 1...8 { try await Self.look(store) }
                await store.close()
                // Each time some ten of each list.
                let read = try await Self.reads(in: schema) - before
                #expect(read <= 8 * 200, "analyzed: \(isAnalyzed)")
            }
        }
    }

    private static let tables = ["jobs", "submissions", "webhook_deliveries"]
    private static let size = Int64(3_000)

    private static func look(_ store: some Store) async throws {
        let endpoint = try OutboxSamples.endpointID("a")
        let (jobs, figures, pending) = try await store.read { reader throws(StoreFailure) in
            (
                try reader.jobBacklogs(at: OutboxSamples.at(9), countingTo: 10),
                try reader.webhookFigures(endpoint, countingTo: 10), try reader.pendingBacklogs()
            )
        }
        #expect(
            jobs
                == ["mail", "print"].map { kind in
                    JobBacklog(kind: kind, counts: [.pending: 10], due: 10, oldestDue: OutboxSamples.at(1))
                }
        )
        #expect(figures == WebhookFigures(backlog: 10, oldest: OutboxSamples.at(1)))
        #expect(pending.map(\.submissions) == [1])
    }

    /// Many jobs that are due, many events that an endpoint is still to be sent, and what imports have kept.
    private static func fill(_ store: some Store) async throws {
        try await store.create(try OutboxSamples.endpoint("a"))
        let jobs = try (1...size).map { number in
            try OutboxSamples.job("\(number)", kind: number % 2 == 0 ? "mail" : "print", due: 1)
        }
        let events = try (1...size).map { try OutboxSamples.event("\($0)", $0, learnedAt: $0) }
        let imported = try (0..<size).map { number in
            var submission = try Samples.submission(UInt8(number % 250), customer: "c\(number / 250)")
            submission.origin = number == 0 ? .presented : .imported
            return submission
        }
        try await store.write { transaction throws(StoreFailure) in
            for job in jobs { _ = try transaction.enqueue(job) }
            for submission in imported { _ = try transaction.keepPending(submission) }
            try transaction.append(events)
        }
    }

    /// How many rows and entries of indexes were read. Nothing is changed, so that no entry is of a row that is gone.
    private static func reads(in schema: String) async throws -> Int {
        let open = "SELECT 1 FROM pg_stat_activity WHERE application_name = '\(schema)'"
        while !(try TestDatabase.query(open).isEmpty) { try await Task.sleep(for: .milliseconds(10)) }
        let names = tables.map { "'\($0)'" }.joined(separator: ", ")
        let sum = try TestDatabase.query(
            """
            SELECT sum(seq_tup_read) + (
                SELECT sum(idx_tup_read) FROM pg_stat_user_indexes
                WHERE schemaname = '\(schema)' AND relname IN (\(names))
            )
            FROM pg_stat_user_tables WHERE schemaname = '\(schema)' AND relname IN (\(names))
            """
        )
        return try #require(sum.first.flatMap { Int($0) })
    }
}
