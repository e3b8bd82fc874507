import PurchaseModel

/// A connection to a PostgreSQL server, used by one thread at a time.
///
/// Rows are gathered and sent as arrays: before the next question, and before the commit.
final class PostgreSQLConnection: SQLConnection {
    private struct Statement {
        let name: String
        let types: [UInt32]
    }

    /// A statement, and what it is sent with.
    private struct Sending {
        let query: Query
        let parameters: PostgreSQLParameters
    }

    /// A batch's number is followed by this many bits for its rows.
    private static let rowBits: Int64 = 20
    /// Over how many rows writers spread what they add to one sum.
    private static let figureSlots: Int64 = 8

    private let session: PostgreSQLSession
    private let settings: PostgreSQLSettings
    /// Statements that were prepared, or behind a pooler only examined.
    private var statements: [ObjectIdentifier: Statement] = [:]
    /// What every transaction begins with.
    private var preparation: [String] = []
    private var pending = PendingRows()
    private var foreseen = ForeseenQuestions()
    /// The first failure since the transaction began: it dooms the transaction even when the closure swallows it.
    private var doom: StoreFailure?
    private var fault: PostgreSQLFault?
    private var hasWritten = false
    /// Whether it has done a transaction.
    var isProven = false
    private var faultsAreMade = false
    private var lastRow: Int64 = 0
    private var lastBatch: Int64 = 0
    var added = StoreFigures()
    var appCodes: [AppID: Int64] = [:]
    private(set) var figureSlot: Int64 = 0
    var leaseClock: LeaseClock { settings.leaseClock }
    let isShared = true
    var skipsLocked: Bool { settings.skipsLocked }

    /// - Throws: ``StoreOpenFailure/unreachable(_:)``.
    init(_ settings: PostgreSQLSettings) throws(StoreOpenFailure) {
        self.settings = settings
        session = try PostgreSQLSession(settings)
        do throws(PostgreSQLFault) {
            preparation = settings.preparation
            // An operator may have traded the last commits for speed, or do so later: a connection that has said nothing of
            // its own follows a configuration that is read again. What we answered for must be on disk.
            let durability = try session.run("SHOW synchronous_commit").text(0, 0)
            preparation.append("synchronous_commit TO \(Self.lasting.contains(durability) ? durability : "on")")
            if !settings.isPooled {
                try session.run(preparation.map { "SET \($0)" }.joined(separator: "; "))
                preparation = []
            }
        } catch {
            throw .unreachable("the session could not be prepared (\(error.words))")
        }
    }

    /// With these a commit is on this server's disk, or on more than one's, before it is answered.
    private static let lasting: Set = ["on", "local", "remote_write", "remote_apply"]

    /// What went wrong first in the last transaction.
    var words: String? { fault?.words }

    /// False when no statement can be sent any more.
    var isUsable: Bool { !session.isLost }

    @discardableResult
    func run(
        _ query: Query,
        _ values: [SQLValue],
        _ visit: (SQLRow) throws(StoreFailure) -> Void
    ) throws(StoreFailure) -> Int {
        let result = try send { () throws(PostgreSQLFault) in
            [Sending(query: query, parameters: try PostgreSQLParameters(values, types: try statement(query).types))]
        }[0]
        for row in 0..<result.rowCount { try visit(SQLRow(of: result, row: row)) }
        return result.affected
    }

    func visit(
        _ lookup: BulkLookup,
        _ keys: [[SQLValue]],
        _ visit: (Int, SQLRow) throws(StoreFailure) -> Void
    ) throws(StoreFailure) {
        if keys.isEmpty { return }
        if foreseen.areNoted { return foreseen.note(lookup, keys) }
        let known = pending.isEmpty ? foreseen.take(lookup, keys) : nil
        let result = if let known { known } else { try ask(lookup.many, lookup.keys, keys) }
        // One key after the other is looked up, but nothing promises that. Those of one key are in the question's order.
        var found = (0..<result.rowCount).map { (place: Int(result.integer($0, 0)) - 1, row: $0) }
        found.sort { ($0.place, $0.row) < ($1.place, $1.row) }
        for (place, row) in found { try visit(place, SQLRow(of: result, row: row, firstColumn: 1)) }
    }

    func foresee(_ ask: () throws(StoreFailure) -> Void) throws(StoreFailure) {
        // A pooler may know no way to be asked several things at once.
        if settings.isPooled { return }
        foreseen.begin()
        var answers: [PostgreSQLResult] = []
        defer { foreseen.end(answers) }
        try ask()
        let questions = foreseen.questions
        // One alone can as well be asked when it comes.
        if questions.count < 2 { return }
        answers = try send { () throws(PostgreSQLFault) in
            questions.map { Sending(query: $0.lookup.many, parameters: .init($0.lookup.keys, rows: $0.keys)) }
        }
    }

    func change(_ change: BulkChange, _ keys: [[SQLValue]]) throws(StoreFailure) -> [Bool] {
        if keys.isEmpty { return [] }
        var isFound = [Bool](repeating: false, count: keys.count)
        let result = try ask(change.many, change.keys, keys)
        for row in 0..<result.rowCount { isFound[Int(result.integer(row, 0)) - 1] = true }
        return isFound
    }

    func insert(_ parts: [[SQLValue]], by insert: BulkInsert) throws(StoreFailure) {
        let values = parts.count == 1 ? parts[0] : Array(parts.joined())
        if !pending.add(values, insert) {
            try flush()
            _ = pending.add(values, insert)
        }
        if pending.isFull { try flush() }
    }

    func update(_ values: [SQLValue], by update: BulkUpdate) throws(StoreFailure) {
        if !pending.add(values, update) {
            try flush()
            _ = pending.add(values, update)
        }
        if pending.isFull { try flush() }
    }

    /// The batch's number, which the database gave, and then that of the row in it. There are gaps.
    func next(_ sequence: RowSequence) -> Int64 {
        lastRow += 1
        return lastRow
    }

    func doom(_ failure: StoreFailure) { doom = doom ?? failure }

    /// Runs statements without parameters in a transaction of their own, as a migration has them.
    func runScript(_ text: String) throws(PostgreSQLFault) {
        let local = preparation.map { "SET LOCAL \($0); " }.joined()
        do throws(PostgreSQLFault) {
            try session.run("BEGIN; \(local)\(text); COMMIT")
        } catch {
            _ = try? session.run("ROLLBACK")
            throw error
        }
    }

    /// Makes a row where a writer notes its last batch, and what it added.
    func makeWriter() throws(PostgreSQLFault) -> Int64 {
        try alone("INSERT INTO writers (id) SELECT nextval('batches') RETURNING id") ?? 0
    }

    /// Whether a batch holds that was a writer's last. Waits for the end of a commit that is under way: it has locked the
    /// row. When it does not hold it never will: what of it may still lie in a socket finds a higher number, and fails. The row
    /// is made anew where it is missing, as in a database that lost its last moments. One that crashed may give out again the
    /// very number of a batch that it lost; that one is passed over, since here it would say that the batch holds.
    func isKept(_ batch: Int64, by writer: Int64) throws(PostgreSQLFault) -> Bool {
        try alone(
            """
            WITH drawn AS MATERIALIZED (SELECT nextval('batches') AS number)
            INSERT INTO writers (id, batch)
            SELECT \(writer), CASE WHEN number = \(batch) THEN nextval('batches') ELSE number END FROM drawn
            ON CONFLICT (id) DO UPDATE
                SET batch = CASE WHEN writers.batch = \(batch) THEN writers.batch ELSE EXCLUDED.batch END
            RETURNING batch
            """
        ) == batch
    }

    /// Runs one statement in a transaction of its own, and tells the number that it gives.
    private func alone(_ text: String) throws(PostgreSQLFault) -> Int64? {
        let local = preparation.map { "SET LOCAL \($0); " }.joined()
        do throws(PostgreSQLFault) {
            let result = try session.run("BEGIN; \(local)\(text)")
            let number = result.rowCount == 1 ? Int64(result.text(0, 0)) : nil
            try session.run("COMMIT")
            return number
        } catch {
            // Over a fresh connection, whatever state this one is in.
            session.cut()
            throw error
        }
    }

    /// Runs the closure in a transaction that writes. Commits when the closure changed something and nothing failed.
    ///
    /// - Parameters:
    ///   - writer: the row where this writer notes its last batch.
    ///   - body: may be run again over another connection.
    /// - Returns: how it ended; when it failed, nothing of it is kept.
    func write<Value>(
        as writer: Int64,
        _ body: (PostgreSQLConnection) throws(StoreFailure) -> Value
    ) -> WriteOutcome<Value> {
        faultsAreMade = true
        defer { faultsAreMade = false }
        do throws(StoreFailure) {
            let batch = try begin("ISOLATION LEVEL \(settings.isolation.rawValue)", "SELECT nextval('batches')")
            // Numbers that go back are another database's, restored under us: what was kept of the one before is void.
            if batch <= lastBatch { appCodes = [:] }
            lastBatch = batch
            lastRow = batch << Self.rowBits
            figureSlot = writer % Self.figureSlots
            let value = try body(self)
            if let doom { throw doom }
            try flush()
            guard hasWritten else {
                rollBack()
                return .done(value)
            }
            return try commit(batch, writer) ? .done(value) : .unknown(value, batch: batch)
        } catch {
            return end(after: error)
        }
    }

    /// Runs the closure over one snapshot.
    func read<Value>(_ body: (PostgreSQLConnection) throws(StoreFailure) -> Value) -> WriteOutcome<Value> {
        do throws(StoreFailure) {
            _ = try begin("ISOLATION LEVEL REPEATABLE READ READ ONLY", nil, settings.readPreparation)
            let value = try body(self)
            if let doom { throw doom }
            rollBack()
            return .done(value)
        } catch {
            return end(after: error)
        }
    }

    /// - Returns: the number that the last statement told.
    private func begin(
        _ mode: String,
        _ last: String?,
        _ more: [String] = []
    ) throws(StoreFailure) -> Int64 {
        pending = PendingRows()
        foreseen = ForeseenQuestions()
        // Behind a pooler another database may answer from one transaction to the next, and this connection would live on.
        if settings.isPooled { appCodes = [:] }
        doom = nil
        fault = nil
        hasWritten = false
        added = StoreFigures()
        let local = (preparation + more).map { "SET LOCAL \($0)" }
        let statements = ["BEGIN \(mode)"] + local + (last.map { [$0] } ?? [])
        let result = try asking { () throws(PostgreSQLFault) in
            [try session.run(statements.joined(separator: "; "))]
        }[0]
        // These come in text.
        return last == nil ? 0 : Int64(result.text(0, 0)) ?? 0
    }

    /// Notes the batch in the writer's row, which tells afterwards whether a commit holds of which no answer came.
    ///
    /// - Returns: false when no answer came.
    private func commit(_ batch: Int64, _ writer: Int64) throws(StoreFailure) -> Bool {
        foreseen = ForeseenQuestions()
        // The division is one by zero, in a form that no planner works out beforehand. The row is missing in a database that
        // lost its last moments.
        let text = """
            INSERT INTO writers (id, batch, transactions, evidence, submissions)
            VALUES (\(writer), \(batch), \(added.transactions), \(added.evidence), \(added.submissions))
            ON CONFLICT (id) DO UPDATE
                SET batch = CASE WHEN writers.batch < EXCLUDED.batch THEN EXCLUDED.batch
                        ELSE 1 / (writers.batch - writers.batch) END,
                    transactions = writers.transactions + EXCLUDED.transactions,
                    evidence = writers.evidence + EXCLUDED.evidence,
                    submissions = writers.submissions + EXCLUDED.submissions;
            COMMIT
            """
        do throws(PostgreSQLFault) {
            if settings.faults(.statement) { throw .serialization }
            let result = try session.run(text)
            if settings.faults(.answerToCommit) {
                session.cut()
                return false
            }
            guard result.command == "COMMIT" else { throw .serialization }
            return true
        } catch {
            if error.endsConnection {
                session.cut()
                return false
            }
            throw note(error)
        }
    }

    private func end<Value>(after failure: StoreFailure) -> WriteOutcome<Value> {
        rollBack()
        let isOurs = fault?.isMendedByRepetition ?? (doom == .conflict)
        return isOurs ? .again(fault?.failure ?? failure) : .failed(failure)
    }

    private func rollBack() {
        pending = PendingRows()
        foreseen = ForeseenQuestions()
        guard isUsable else { return }
        do throws(PostgreSQLFault) { try session.run("ROLLBACK") } catch { session.cut() }
    }

    /// Sends the rows that wait.
    private func flush() throws(StoreFailure) {
        if !pending.isEmpty { _ = try send { [] } }
    }

    private func ask(
        _ query: Query,
        _ columns: [BulkColumn],
        _ rows: [[SQLValue]]
    ) throws(StoreFailure) -> PostgreSQLResult {
        try send { [Sending(query: query, parameters: PostgreSQLParameters(columns, rows: rows))] }[0]
    }

    /// Sends the rows that wait, and after them some statements.
    ///
    /// - Returns: the results of those statements.
    private func send(
        _ statements: () throws(PostgreSQLFault) -> [Sending]
    ) throws(StoreFailure) -> [PostgreSQLResult] {
        foreseen.forget()
        let batches = pending.take()
        let results = try asking { () throws(PostgreSQLFault) in
            let rows = batches.map { batch in
                Sending(query: batch.statement, parameters: .init(batch.columns, rows: batch.rows))
            }
            return try run(rows + statements())
        }
        for (batch, result) in zip(batches, results) where batch.mustWriteAll && result.affected != batch.rows.count {
            doom(.conflict)
            throw .conflict
        }
        return Array(results.dropFirst(batches.count))
    }

    /// In one round trip; through a pooler, which may know no such thing, one after the other.
    private func run(_ statements: [Sending]) throws(PostgreSQLFault) -> [PostgreSQLResult] {
        if settings.isPooled {
            return try statements.map { statement throws(PostgreSQLFault) in
                try session.run(statement.query.postgresql, statement.parameters)
            }
        }
        let named = try statements.map { statement throws(PostgreSQLFault) in
            (name: try self.statement(statement.query).name, parameters: statement.parameters)
        }
        if named.count == 1 { return [try session.run(prepared: named[0].name, named[0].parameters)] }
        return named.isEmpty ? [] : try session.run(together: named)
    }

    /// Asks the server something, and notes how it went.
    private func asking(
        _ ask: () throws(PostgreSQLFault) -> [PostgreSQLResult]
    ) throws(StoreFailure) -> [PostgreSQLResult] {
        do throws(PostgreSQLFault) {
            // A transaction that has failed is over, whatever the closure made of it.
            if let fault { throw fault }
            if faultsAreMade, settings.faults(.statement) { throw .serialization }
            let results = try ask()
            for result in results where !result.command.utf8.starts(with: "SELECT".utf8) && result.affected > 0 {
                hasWritten = true
            }
            return results
        } catch {
            throw note(error)
        }
    }

    private func note(_ fault: PostgreSQLFault) -> StoreFailure {
        if fault.endsConnection { session.cut() }
        self.fault = self.fault ?? fault
        doom(fault.failure)
        return fault.failure
    }

    private func statement(_ query: Query) throws(PostgreSQLFault) -> Statement {
        if let known = statements[ObjectIdentifier(query)] { return known }
        let name = settings.isPooled ? "" : "q\(statements.count)"
        let statement = Statement(name: name, types: try session.prepare(query.postgresql, name: name))
        statements[ObjectIdentifier(query)] = statement
        return statement
    }
}
