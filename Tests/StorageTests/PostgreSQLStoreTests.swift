import Foundation
import PurchaseModel
import Storage
import TestSupport
import Testing

/// What only a database that several servers share can do to a store.
@Suite(.enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"))
struct PostgreSQLStoreTests {
    /// Its disk is another machine's: a failure counts for some looks, and each new one from the beginning.
    @Test func aDatabaseWithoutRoomIsToldForAWhile() async throws {
        try await PostgreSQLServer.withSchema { schema in
            let store = try await PostgreSQLStore.open(PostgreSQLServer.settings(schema: schema))
            #expect(!store.lacksRoom)
            try TestDatabase.query(
                """
                CREATE FUNCTION \(schema).refuse() RETURNS trigger LANGUAGE plpgsql
                AS $$ BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = '53100'; END $$
                """
            )
            try TestDatabase.query(
                "CREATE TRIGGER refuse BEFORE INSERT ON \(schema).submissions EXECUTE FUNCTION \(schema).refuse()"
            )
            let submission = try Samples.submission(1)
            func keep() async throws {
                _ = try await store.write { write throws(StoreFailure) in try write.keepPending(submission) }
            }
            for looks in [5, 11] {
                await #expect(throws: StoreFailure.full) { try await keep() }
                for _ in 0..<looks { await store.lookForRoom() }
                #expect(store.lacksRoom)
            }
            await store.lookForRoom()
            #expect(!store.lacksRoom)
            await store.lookForRoom()
            try TestDatabase.query("DROP TRIGGER refuse ON \(schema).submissions")
            try await keep()
            #expect(!store.lacksRoom)
            await store.close()
        }
    }

    /// Two servers are sent the same purchases at the same time.
    @Test(arguments: PostgreSQLSettings.Isolation.allCases)
    func twoStoresRecordEachPurchaseOnce(isolation: PostgreSQLSettings.Isolation) async throws {
        try await PostgreSQLServer.withSchema { schema in
            let settings = try PostgreSQLServer.settings(schema: schema) {
                $0.isolation = isolation
                $0.attemptsMax = 100
            }
            let stores = [
                try await PostgreSQLStore.open(settings), try await PostgreSQLStore.open(settings),
            ]
            let new = try await withThrowingTaskGroup(of: Int.self) { group in
                for client in 0..<16 {
                    group.addTask {
                        var new = 0
                        var random = SeededRandom(seed: UInt64(client))
                        for _ in 0..<5 {
                            let numbers = (Int64(1)...50).shuffled(using: &random).prefix(10)
                            new += try await Purchases.record(Array(numbers), in: stores[client % 2])
                        }
                        new += try await Purchases.record(Array(1...50), in: stores[client % 2])
                        return new
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(new == 50)
            #expect(try await Purchases.count(in: stores[0]) == 50)
            #expect(try TestDatabase.query("SELECT count(*) FROM \(schema).transactions") == ["50"])
            // Each batch with something new keeps its proof once for each purchase in it.
            #expect(try TestDatabase.query("SELECT count(*) FROM \(schema).evidence") == ["50"])
            for store in stores { await store.close() }
        }
    }

    /// Two servers look for work at the same time: nobody waits for the other, and nothing is done twice.
    @Test func twoStoresClaimEachJobOnce() async throws {
        try await PostgreSQLServer.withSchema { schema in
            let settings = try PostgreSQLServer.settings(schema: schema) { $0.attemptsMax = 100 }
            let stores = [
                try await PostgreSQLStore.open(settings), try await PostgreSQLStore.open(settings),
            ]
            let jobs = try (0..<120).map { try OutboxSamples.job("\($0)") }
            try await stores[0].write { transaction throws(StoreFailure) in
                for job in jobs { _ = try transaction.enqueue(job) }
            }
            let claimed = try await withThrowingTaskGroup(of: [JobRow].self) { group in
                for worker in 0..<8 {
                    group.addTask {
                        var own: [JobRow] = []
                        for _ in 0..<12 {
                            own += try await stores[worker % 2].jobs(.sound(limit: 5), "w\(worker)", at: 1).jobs
                        }
                        return own
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(Set(claimed.map(\.id)).count == claimed.count)
            #expect(claimed.allSatisfy { $0.attempt == 1 })
            // Whoever came second went away empty, so that some may be left.
            let rest = try await stores[0].jobs(.sound(limit: 120), "w", at: 1).jobs
            #expect(Set((claimed + rest).map(\.id)) == Set(jobs.map(\.id)))
            for store in stores { await store.close() }
        }
    }

    /// A decision was made from what has changed since: it is made again.
    @Test func aChangeThatAnotherMadeInBetweenIsDecidedUpon() async throws {
        try await PostgreSQLServer.withStore { store in
            let evidence = try Samples.evidence()
            let first = try Samples.recorded(Samples.transaction(1))
            try await store.write { transaction throws(StoreFailure) in
                try transaction.apply(Decision(changes: [.insert(first)]), evidence: evidence)
            }
            let (runs, meets) = (Counter(), Once())
            var others = first
            others.transaction.quantity = 2
            let other = others
            try await store.write { transaction throws(StoreFailure) in
                var found = try transaction.transactions([first.key])
                runs.add()
                if meets() { Self.blocking { try await Self.update(other, evidence, in: store) } }
                found[0].transaction.quantity += 10
                try transaction.apply(Decision(changes: [.update(found[0])]), evidence: evidence)
            }
            let found = try await store.read { reader throws(StoreFailure) in try reader.transactions([first.key]) }
            #expect(found.map(\.transaction.quantity) == [12])
            #expect(runs.count == 2)
        }
    }

    @Test func aBrokenConnectionIsReplacedAndTheWriteRepeated() async throws {
        try await PostgreSQLServer.withSchema { schema in
            var settings = try PostgreSQLServer.namedSettings(schema: schema)
            // Each run is counted.
            settings.faults = { _ in false }
            let store = try await PostgreSQLStore.open(settings)
            let (runs, breaks) = (Counter(), Once())
            let evidence = try Samples.evidence()
            let recorded = try (Int64(1)...3).map { try Samples.recorded(Samples.transaction($0)) }
            for turn in 0..<3 {
                try await store.write { transaction throws(StoreFailure) in
                    runs.add()
                    try transaction.apply(Decision(changes: [.insert(recorded[turn])]), evidence: evidence)
                    _ = try transaction.figures()
                    if turn == 1, breaks() { Self.endSessions(of: schema) }
                    _ = try transaction.transactions([recorded[turn].key])
                }
            }
            #expect(runs.count == 4)
            #expect(try await Purchases.count(in: store) == 3)
            #expect(try TestDatabase.query("SELECT count(*) FROM \(schema).evidence") == ["3"])
            // Idle sessions may end too; nobody notices.
            Self.endSessions(of: schema)
            #expect(try await Purchases.record([1, 2, 3, 4], in: store) == 1)
            Self.endSessions(of: schema)
            #expect(try await Purchases.count(in: store) == 4)
            await store.close()
        }
    }

    /// The commit holds, and nobody heard of it.
    @Test func aCommitWithoutAnAnswerIsFoundToHold() async throws {
        let cuts = Once()
        let change = { (settings: inout PostgreSQLSettings) in
            settings.faults = { moment in moment == .answerToCommit && cuts() }
        }
        try await PostgreSQLServer.withStore(change) { store in
            let runs = Counter()
            let (evidence, recorded) = (try Samples.evidence(), try Samples.recorded(Samples.transaction(1)))
            try await store.write { transaction throws(StoreFailure) in
                runs.add()
                try transaction.apply(Decision(changes: [.insert(recorded)]), evidence: evidence)
            }
            #expect(runs.count == 1)
            #expect(try await Purchases.count(in: store) == 1)
        }
    }

    /// A database that lost its last moments has no row of the writer: it is made anew by the commit, and what is added is
    /// counted.
    @Test(arguments: [false, true]) func theWritersRowIsMadeAnew(isAnswered: Bool) async throws {
        let commits = Counter()
        try await PostgreSQLServer.withSchema { schema in
            let settings = try PostgreSQLServer.settings(schema: schema) { settings in
                settings.writers = 1
                settings.faults = { moment in
                    guard moment == .answerToCommit else { return false }
                    commits.add()
                    return !isAnswered && commits.count == 2
                }
            }
            let store = try await PostgreSQLStore.open(settings)
            let runs = Counter()
            for number in Int64(1)...2 {
                if number == 2 { try TestDatabase.query("DELETE FROM \(schema).writers") }
                let (evidence, recorded) = (try Samples.evidence(), try Samples.recorded(Samples.transaction(number)))
                try await store.write { transaction throws(StoreFailure) in
                    runs.add()
                    try transaction.apply(Decision(changes: [.insert(recorded)]), evidence: evidence)
                }
            }
            #expect(runs.count == 2)
            #expect(try TestDatabase.query("SELECT count(*) FROM \(schema).transactions") == ["2"])
            // What the lost row had counted is lost with it.
            #expect(try TestDatabase.query("SELECT sum(transactions) FROM \(schema).writers") == ["1"])
            await store.close()
        }
    }

    /// The session ends while it commits, so that the commit does not hold: it is written again, once. A database that crashed
    /// in that instant may give out the lost batch's number anew.
    @Test(arguments: [false, true]) func aCommitThatWasCutOffIsRepeated(isGivenOutAgain: Bool) async throws {
        try await PostgreSQLServer.withSchema { schema in
            let store = try await PostgreSQLStore.open(PostgreSQLServer.namedSettings(schema: schema))
            try TestDatabase.query(
                """
                CREATE SEQUENCE \(schema).commits;
                CREATE FUNCTION \(schema).cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    IF nextval('\(schema).commits') = 1 THEN
                        IF \(isGivenOutAgain) THEN
                            PERFORM setval('\(schema).batches', currval('\(schema).batches') - 1);
                        END IF;
                        PERFORM pg_terminate_backend(pg_backend_pid());
                        PERFORM pg_sleep(10);
                    END IF;
                    RETURN NULL;
                END $$;
                CREATE CONSTRAINT TRIGGER cut AFTER INSERT ON \(schema).transactions
                    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION \(schema).cut();
                """
            )
            let runs = Counter()
            let (evidence, recorded) = (try Samples.evidence(), try Samples.recorded(Samples.transaction(1)))
            try await store.write { transaction throws(StoreFailure) in
                runs.add()
                try transaction.apply(Decision(changes: [.insert(recorded)]), evidence: evidence)
            }
            #expect(runs.count == 2)
            #expect(try await Purchases.count(in: store) == 1)
            #expect(try TestDatabase.query("SELECT count(*) FROM \(schema).evidence") == ["1"])
            await store.close()
        }
    }

    /// The session stands still with the commit in its socket, and goes on once the write was given up for lost.
    @Test func aCommitThatComesTooLateHasNoEffect() async throws {
        try await PostgreSQLServer.withSchema { schema in
            var settings = try PostgreSQLServer.namedSettings(schema: schema)
            settings.statementTimeout = .seconds(1)
            settings.idleTimeout = .seconds(60)
            settings.lockTimeout = .milliseconds(200)
            settings.attemptsMax = 100
            let store = try await PostgreSQLStore.open(settings)
            let (runs, stops) = (Counter(), Once())
            let (evidence, recorded) = (try Samples.evidence(), try Samples.recorded(Samples.transaction(1)))
            try await withThrowingTaskGroup(of: Void.self) { group in
                let halted = AsyncStream<pid_t>.makeStream()
                group.addTask {
                    for await process in halted.stream {
                        // By now the commit is sent, not answered, and tried again.
                        while runs.count < 3 { try await Task.sleep(for: .milliseconds(20)) }
                        kill(process, SIGCONT)
                    }
                }
                try await store.write { transaction throws(StoreFailure) in
                    runs.add()
                    try transaction.apply(Decision(changes: [.insert(recorded)]), evidence: evidence)
                    // Sends the rows.
                    _ = try transaction.figures()
                    if stops(), let process = Self.session(of: schema) {
                        #expect(kill(process, SIGSTOP) == 0)
                        halted.continuation.yield(process)
                    }
                    halted.continuation.finish()
                }
                try await group.waitForAll()
            }
            #expect(runs.count >= 3)
            #expect(try await Purchases.count(in: store) == 1)
            #expect(try TestDatabase.query("SELECT count(*) FROM \(schema).evidence") == ["1"])
            await store.close()
        }
    }

    /// The server does not notice that nobody listens any more: each repetition would be one more that works on.
    @Test func aReadThatTakesTooLongIsEndedAndNotRepeated() async throws {
        try await PostgreSQLServer.withSchema { schema in
            var settings = try PostgreSQLServer.namedSettings(schema: schema)
            settings.statementTimeout = .seconds(10)
            let store = try await PostgreSQLStore.open(settings)
            #expect(try await Purchases.record([1], in: store) == 1)
            try TestDatabase.query(
                """
                ALTER TABLE \(schema).apps RENAME TO kept_apps;
                CREATE VIEW \(schema).apps AS SELECT kept_apps.* FROM pg_sleep(60), \(schema).kept_apps
                """
            )
            let runs = Counter()
            await #expect(throws: StoreFailure.busy) {
                try await store.read { reader throws(StoreFailure) in
                    runs.add()
                    return try reader.knownApps()
                }
            }
            #expect(runs.count == 1)
            let atWork = "FROM pg_stat_activity WHERE application_name = '\(schema)' AND state = 'active'"
            #expect(try TestDatabase.query("SELECT count(*) \(atWork)") == ["0"])
            // The connection is as good as before.
            #expect(try await Purchases.count(in: store) == 1)
            await store.close()
        }
    }

    @Test func whatWasThrownInAWriteIsNotTriedAgain() async throws {
        try await PostgreSQLServer.withStore { store in
            let runs = Counter()
            await #expect(throws: StoreFailure.busy) {
                try await store.write { _ throws(StoreFailure) in
                    runs.add()
                    throw .busy
                }
            }
            #expect(runs.count == 1)
        }
    }

    /// A listing by another connection, with no way round the queue of the first one.
    private static func update(
        _ recorded: RecordedTransaction,
        _ evidence: EvidenceRow,
        in store: PostgreSQLStore
    ) async throws {
        try await store.write { transaction throws(StoreFailure) in
            _ = try transaction.transactions([recorded.key])
            try transaction.apply(Decision(changes: [.update(recorded)]), evidence: evidence)
        }
    }

    /// The one that is in a transaction.
    private static func session(of name: String) -> pid_t? {
        let text = """
            SELECT pid FROM pg_stat_activity WHERE application_name = '\(name)' AND state = 'idle in transaction'
            """
        return (try? TestDatabase.query(text))?.first.flatMap { pid_t($0) }
    }

    private static func endSessions(of name: String) {
        let text = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = '\(name)'"
        do { try TestDatabase.query(text) } catch { Issue.record(error) }
    }

    /// Waits on the store's own thread, which nothing else waits for.
    private static func blocking(_ work: @escaping @Sendable () async throws -> Void) {
        let end = DispatchSemaphore(value: 0)
        Task {
            do { try await work() } catch { Issue.record(error) }
            end.signal()
        }
        end.wait()
    }
}
