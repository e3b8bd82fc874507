import Foundation
import PurchaseModel
import Storage
import TestSupport
import Testing

/// A folder that an older version made opens, with all that is in it.
@Suite(.enabled(if: Python.isThere, "python3 is missing: nothing makes an old file"))
struct MigrationTests {
    /// What somebody presented before there were owners is theirs.
    @Test func purchasesOfTheFirstVersionGetOwners() async throws {
        try await TemporaryFolder.with { folder in
            try await Purchases.make(in: folder + "/data", 1...3)
            try Python.toFirstVersion(folder + "/data")
            let store = try SQLiteStore.open(folder: folder + "/data")
            let game = try Samples.app()
            // The samples are of one chain: whoever presented its first transaction owns it.
            let chain = ChainKey(
                app: game,
                realm: Samples.production,
                original: try #require(TransactionID(number: .max))
            )
            let owners = try await store.read { reader throws(StoreFailure) in try reader.owners([chain]) }
            #expect(owners.map(\.customer.text) == ["c1"])
            // And what was recorded before there were subscriptions is looked at once.
            let due = try await store.read { reader throws(StoreFailure) in
                try reader.dueSubscriptions(at: Samples.now, limit: 10)
            }
            #expect(due.map(\.chain) == [chain] && due.map(\.current?.number) == [3])
            #expect(due.map(\.state) == [.unknown] && due.map(\.group) == ["20000001"])
            #expect(try await store.integrityProblems() == [])
            await store.close()
        }
    }

    /// What a family shares was counted as due, too: what copies had added is taken off, unless all is still to be counted.
    @Test(arguments: [(isUncounted: false, due: [Int64(1), 9_990]), (true, [5, 29_970])])
    func copiesAreNoLongerDue(isUncounted: Bool, due: [Int64]) async throws {
        try await TemporaryFolder.with { folder in
            let first = try SQLiteStore.open(folder: folder + "/data")
            try await Purchases.recordFamily(in: first)
            #expect(try await Purchases.due(in: first) == [1, 9_990])
            await first.close()
            try Python.run(
                Purchases.familyBefore + Python.withoutColumnsSince
                    + (isUncounted ? ["INSERT INTO figures_due SELECT code FROM apps"] : [])
                    + ["DELETE FROM migrations WHERE number > 26", "PRAGMA user_version = 26"],
                in: folder + "/data"
            )
            let second = try SQLiteStore.open(folder: folder + "/data")
            #expect(try await Purchases.due(in: second) == due)
            let app = try Samples.app()
            let rows = try await second.read { reader throws(StoreFailure) in
                try reader.walkSubscriptions(app: app, after: nil, limit: 10).rows
            }
            #expect(rows.map(\.isShared) == [false, true, true, true, true])
            await second.close()
        }
    }

    /// Of several trials the first alone was counted as paid for.
    @Test func severalTrialsAreCountedAnew() async throws {
        try await TemporaryFolder.with { folder in
            let first = try SQLiteStore.open(folder: folder + "/data")
            try await Purchases.recordTrials(in: first)
            #expect(try await Purchases.uncounted(in: first) == [false, false])
            await first.close()
            let statements = ["DELETE FROM migrations WHERE number > 27", "PRAGMA user_version = 27"]
            try Python.run(Python.withoutColumnsSince + statements, in: folder + "/data")
            let second = try SQLiteStore.open(folder: folder + "/data")
            #expect(try await Purchases.uncounted(in: second) == [true, false])
            await second.close()
        }
    }

    /// What was paid back of a period that was upgraded was not counted.
    @Test func refundsOfUpgradesAreCountedAnew() async throws {
        try await TemporaryFolder.with { folder in
            let first = try SQLiteStore.open(folder: folder + "/data")
            try await Purchases.recordUpgrades(in: first)
            #expect(try await Purchases.uncounted(in: first) == [false, false])
            await first.close()
            let statements = ["DELETE FROM migrations WHERE number > 36", "PRAGMA user_version = 36"]
            try Python.run(Python.withoutColumnsSince36 + statements, in: folder + "/data")
            let second = try SQLiteStore.open(folder: folder + "/data")
            #expect(try await Purchases.uncounted(in: second) == [true, false])
            await second.close()
        }
    }

    /// The first proof is what told more, where nothing was noted of that.
    @Test func whatToldMoreIsNotedOfOlderRows() async throws {
        try await TemporaryFolder.with { folder in
            let first = try SQLiteStore.open(folder: folder + "/data")
            try await Purchases.recordFuller(in: first)
            #expect(try await Purchases.fuller(in: first) == [nil, nil, nil, nil, nil])
            await first.close()
            let statements = ["DELETE FROM migrations WHERE number > 31", "PRAGMA user_version = 31"]
            try Python.run(Purchases.fullerBefore + Python.withoutColumnsSince31 + statements, in: folder + "/data")
            let second = try SQLiteStore.open(folder: folder + "/data")
            #expect(try await Purchases.fuller(in: second) == [1, 3, nil, nil, nil])
            await second.close()
        }
    }

    /// What imports had planned before that was noted is not asked at the same time as what the next one plans.
    @Test func whatImportsAskAlreadyIsPlanned() async throws {
        try await TemporaryFolder.with { folder in
            let (app, other) = (try Samples.app(), try Samples.app("other"))
            let source = try #require(ProofDigest([UInt8](repeating: 1, count: 32)))
            let presented = try Samples.submission(1, app: "other")
            let jobs = try [("a", Int64(5_000)), ("b", 9_000)].map { name, due in
                try OutboxSamples.job(name, kind: "proof.decide", due: due)
            }
            let first = try SQLiteStore.open(folder: folder + "/data")
            try await first.write { write throws(StoreFailure) in
                var progress = ImportProgress(id: source, app: app, startedAt: Samples.now)
                progress.version = 1
                try write.noteImport(progress)
                _ = try write.keepPending(presented)
                for job in jobs { _ = try write.enqueue(job) }
            }
            await first.close()
            let statements = ["DELETE FROM migrations WHERE number > 48", "PRAGMA user_version = 48"]
            let columns = [Python.withoutPlannedQuestions] + Python.withoutColumnsSince49
            try Python.run(columns + statements, in: folder + "/data")
            let second = try SQLiteStore.open(folder: folder + "/data")
            let last = try await second.read { reader throws(StoreFailure) in
                try [app, other].map { app throws(StoreFailure) in
                    try reader.importQuestionsLast(of: app, at: OutboxSamples.at(1_000))
                }
            }
            #expect(last == [.seconds(8), .zero])
            await second.close()
        }
    }

    @Test func submissionsOfTheFirstVersionGetNames() async throws {
        try await TemporaryFolder.with { folder in
            let submissions = try (UInt8(1)...3).map { try Samples.submission($0, customer: "ann") }
            let first = try SQLiteStore.open(folder: folder + "/data")
            try await first.write { transaction throws(StoreFailure) in
                for submission in submissions { _ = try transaction.keepPending(submission) }
            }
            await first.close()
            try Python.toFirstVersion(folder + "/data")
            #expect(throws: StoreOpenFailure.olderSchema(found: 1, known: SQLiteStore.schemaVersion)) {
                try ReadOnlyLedger.open(folder: folder + "/data")
            }
            let second = try SQLiteStore.open(folder: folder + "/data")
            let found = try await second.read { reader throws(StoreFailure) in
                try reader.pendingSubmissions(app: nil, after: nil, limit: 20).submissions
            }
            #expect(Set(found.map(\.id)).count == 3)
            #expect(Set(found.map(\.id)).isDisjoint(with: submissions.map(\.id)))
            #expect(found.map(\.submission.digest) == submissions.map(\.digest))
            // The same submission again finds its new name, and nothing is kept twice.
            let again = try await second.write { transaction throws(StoreFailure) in
                var ids: [SubmissionID] = []
                for submission in submissions { ids.append(try transaction.keepPending(submission).id) }
                return ids
            }
            #expect(again == found.map(\.id))
            #expect(try await second.integrityProblems() == [])
            await second.close()
        }
    }
}

/// An independent hand on the file: Python brings SQLite along.
enum Python {
    static let isThere = FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")

    struct Failed: Error {}

    /// Takes back what versions after 27 added.
    static let withoutColumnsSince =
        [
            "ALTER TABLE webhook_endpoints DROP COLUMN disabled_at",
            "ALTER TABLE webhook_endpoints DROP COLUMN missed_after",
            "ALTER TABLE imports DROP COLUMN without_customer", "DROP INDEX submissions_of_imports",
        ] + withoutColumnsSince31
    /// After 31.
    static let withoutColumnsSince31 =
        [
            withoutCorrections, "DROP INDEX admins_first", "ALTER TABLE admins DROP COLUMN is_first",
            "DROP TABLE first_account_links", "ALTER TABLE notification_watches DROP COLUMN marks",
            "ALTER TABLE consumption_requests DROP COLUMN said_delivery",
        ] + withoutColumnsSince36
    /// After 36.
    static let withoutColumnsSince36 =
        [
            "DROP INDEX submissions_pending_of_customer", withoutReason,
            "ALTER TABLE subscriptions DROP COLUMN renewal_win_back_offers",
            "ALTER TABLE transactions DROP COLUMN advanced_commerce",
            "ALTER TABLE transactions DROP COLUMN billing_plan",
            "ALTER TABLE transactions DROP COLUMN commitment_ends_at",
            "ALTER TABLE transactions DROP COLUMN previous_original_id", "ALTER TABLE owners DROP COLUMN successor",
        ] + withoutColumnsSince40
    /// After 40.
    static let withoutColumnsSince40 =
        withoutColumnsSince49 + [
            "ALTER TABLE webhook_endpoints DROP COLUMN realms_ever",
            "ALTER TABLE webhook_endpoints DROP COLUMN gap_from",
            "ALTER TABLE webhook_endpoints DROP COLUMN gap_to", "ALTER TABLE webhook_endpoints DROP COLUMN gap_after",
            "DROP INDEX submissions_overdue", "DROP INDEX webhook_deliveries_open",
            "DROP INDEX fulfilments_waiting_in_order",
            withoutClaimedIndex, withoutClaimed, withoutFormat, "ALTER TABLE imports DROP COLUMN other_store",
            "ALTER TABLE orders DROP COLUMN refunded", withoutOnlyNamed, withoutProofDigest, withoutPlannedQuestions,
        ]
    private static let withoutOnlyNamed = "ALTER TABLE submissions DROP COLUMN only_named"
    private static let withoutProofDigest = "ALTER TABLE submissions DROP COLUMN proof_sha256"
    /// After 49.
    static let withoutColumnsSince49 =
        [
            "renewal_billing_plan", "commitment_auto_renew", "commitment_next_product", "commitment_billing_plan",
            "commitment_renews_at", "renewal_beside",
        ].map { "ALTER TABLE subscriptions DROP COLUMN \($0)" } + [
            "ALTER TABLE fulfilments DROP COLUMN imported_fence", "DROP INDEX admin_actions_links",
            "ALTER TABLE admin_actions DROP COLUMN link", "ALTER TABLE admin_actions DROP COLUMN link_number",
        ]
    static let withoutPlannedQuestions = "ALTER TABLE apps DROP COLUMN asks_until"
    private static let withoutClaimedIndex = "DROP INDEX refusal_samples_of_transaction"
    private static let withoutClaimed = "ALTER TABLE refusal_samples DROP COLUMN claimed"
    private static let withoutFormat = "ALTER TABLE refusal_samples DROP COLUMN format"
    private static let withoutReason = "ALTER TABLE transactions DROP COLUMN reason"
    private static let withoutCorrections = "ALTER TABLE apps DROP COLUMN figure_corrections"

    /// Takes back what later versions did.
    static func toFirstVersion(_ folder: String) throws {
        let kept = [
            "apps", "evidence", "transactions", "submissions", "refusal_counts", "refusal_samples", "migrations",
        ]
        let statements = [
            withoutClaimedIndex, withoutClaimed, withoutFormat, withoutCorrections, withoutReason, withoutOnlyNamed,
            withoutProofDigest, withoutPlannedQuestions,
            "DROP INDEX submissions_of_imports", "DROP INDEX submissions_settled", "DROP INDEX submissions_overdue",
            "DROP INDEX submissions_by_name", "DROP INDEX submissions_pending_of_customer",
            "ALTER TABLE submissions DROP COLUMN name", "ALTER TABLE submissions DROP COLUMN imported",
            "ALTER TABLE submissions DROP COLUMN version", "ALTER TABLE submissions DROP COLUMN environments",
            "ALTER TABLE transactions DROP COLUMN version", "ALTER TABLE transactions DROP COLUMN fuller_evidence",
            "ALTER TABLE transactions DROP COLUMN previous_original_id",
            "ALTER TABLE transactions DROP COLUMN billing_plan",
            "ALTER TABLE transactions DROP COLUMN commitment_ends_at",
            "ALTER TABLE transactions DROP COLUMN advanced_commerce",
            "CREATE INDEX transactions_of_customer ON transactions (app, customer) WHERE customer IS NOT NULL",
            "DELETE FROM migrations WHERE number > 1", "PRAGMA user_version = 1",
        ]
        try run(statements, in: folder, keeping: kept)
    }

    /// - Parameters:
    ///   - statements: what to do with the file of a folder that nobody has open.
    ///   - folder: which one.
    ///   - kept: the tables that are not dropped before; all of them when it is empty.
    /// - Throws: `Failed` when SQLite takes one of the statements for wrong.
    static func run(_ statements: [String], in folder: String, keeping kept: [String] = []) throws {
        let script = """
            import sqlite3, sys
            file = sqlite3.connect(sys.argv[1], isolation_level=None)
            kept = sys.argv[2].split()
            tables = [row[0] for row in file.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
            for table in tables:
                if kept and table not in kept: file.execute("DROP TABLE " + table)
            for statement in sys.argv[3:]: file.execute(statement)
            """
        let process = ChildProcess(
            ["/usr/bin/python3", "-c", script, folder + "/assay.sqlite", kept.joined(separator: " ")] + statements
        )
        guard try process.start().waitUntilExit() == 0 else { throw Failed() }
    }
}
