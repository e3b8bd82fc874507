import CSQLite

/// SQLite's C interface and nothing else: the statements of one recorded purchase, prepared once, with values that lie
/// ready. What a store can reach at best.
///
/// It is safe because it owns every handle, frees them at its end, and never hands them out.
@safe final class PlainSQLite {
    private let handle: OpaquePointer
    private let pagesOfLog: UnsafeMutablePointer<Int32>
    private var nextCheckpoint = PlainSQLite.checkpointPages

    /// As the store does it, and so are the pragmas.
    private static let checkpointPages: Int32 = 1_000
    private static let pragmas = """
        PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON;
        PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384; PRAGMA journal_size_limit = 67108864
        """

    /// The statements of one batch, in their order.
    private struct Statements {
        let begin: PlainStatement
        let app: PlainStatement
        let find: PlainStatement
        let evidence: PlainStatement
        let transaction: PlainStatement
        let others: [PlainStatement]
        let head: PlainStatement
        let commit: PlainStatement
    }

    /// A table that a purchase writes a row to besides, the name of that row, and which one is its own.
    private struct Other {
        let table: String
        let row: String
        let condition: String
    }

    /// Here each purchase has a customer of its own, who hears of it twice: of the delivery, and of the subscription.
    private static let others = [
        Other(table: "owners", row: "owner", condition: "owner.original_id = \(chain)"),
        Other(table: "fulfilments", row: "fulfilment", condition: "fulfilment.original_id = \(chain)"),
        Other(table: "subscriptions", row: "subscription", condition: "subscription.original_id = \(chain)"),
        Other(table: "events", row: "one", condition: "one.customer = transactions.customer AND one.sequence = 1"),
        Other(table: "events", row: "two", condition: "two.customer = transactions.customer AND two.sequence = 2"),
    ]
    private static let eventsOfPurchase = 2
    private static let chain = "coalesce(transactions.original_id, transactions.transaction_id)"

    /// Opens a database that the store has made.
    init(path: String) throws {
        var opened: OpaquePointer?
        guard unsafe sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK,
            let handle = unsafe opened
        else { throw BenchmarkFailure("SQLite does not open \(path)") }
        unsafe self.handle = handle
        unsafe pagesOfLog = .allocate(capacity: 1)
        unsafe pagesOfLog.initialize(to: 0)
        unsafe sqlite3_wal_autocheckpoint(handle, 0)
        // The number lives as long as the handle.
        unsafe sqlite3_wal_hook(
            handle,
            { pages, _, _, count in
                unsafe pages?.assumingMemoryBound(to: Int32.self).pointee = count
                return SQLITE_OK
            },
            pagesOfLog
        )
        try run(PlainSQLite.pragmas)
    }

    deinit {
        unsafe sqlite3_close_v2(handle)
        unsafe pagesOfLog.deallocate()
    }

    /// All purchases of the database, as values to be bound, in the order of recording.
    func purchases() throws -> [PlainPurchase] {
        let tables =
            try ["evidence", "transactions"].map { try columns(of: $0) }
            + PlainSQLite.others.map { try allColumns(of: $0.table) }
        let names = ["evidence", "transactions"] + PlainSQLite.others.map(\.row)
        let selected = zip(names, tables).flatMap { table, columns in columns.map { "\(table).\($0)" } }
        let joins = PlainSQLite.others.map { other in
            "JOIN \(other.table) AS \(other.row) ON \(other.row).app = transactions.app AND \(other.condition)"
        }
        let select = try prepare(
            """
            SELECT \(selected.joined(separator: ", ")) FROM transactions
            JOIN evidence ON evidence.sequence = first_evidence \(joins.joined(separator: " "))
            ORDER BY transactions.sequence
            """
        )
        var found: [PlainPurchase] = []
        while select.step() == SQLITE_ROW { found.append(try PlainPurchase(select, columns: tables.map(\.count))) }
        return found
    }

    /// Gives the app its number, as the store does with the first purchase.
    func addApp(_ name: String) throws {
        try run("INSERT INTO apps (name) VALUES ('\(name)'); INSERT INTO event_heads SELECT code, 0 FROM apps")
    }

    /// Records them in batches, each durable before the next one begins.
    func record(_ purchases: [PlainPurchase], batch: Int) throws {
        let statements = Statements(
            begin: try prepare("BEGIN IMMEDIATE"),
            app: try prepare("SELECT code FROM apps WHERE name = 'game'"),
            find: try prepare(
                """
                SELECT \(try columns(of: "transactions").joined(separator: ", ")) FROM transactions
                WHERE app = $1 AND transaction_id = $2 AND realm = $3
                """
            ),
            evidence: try prepare(try insertion("evidence") + " RETURNING sequence"),
            transaction: try prepare(
                try insertion("transactions") + " ON CONFLICT (app, transaction_id, realm) DO NOTHING"
            ),
            others: try PlainSQLite.others.map { other in
                try prepare(try insertion(other.table, try allColumns(of: other.table)))
            },
            head: try prepare("UPDATE event_heads SET last_position = last_position + $1"),
            commit: try prepare("COMMIT")
        )
        for start in stride(from: 0, to: purchases.count, by: batch) {
            try record(purchases[start..<min(start + batch, purchases.count)], statements)
            try checkpointIfDue()
        }
    }

    private func record(_ batch: ArraySlice<PlainPurchase>, _ statements: Statements) throws {
        statements.begin.step()
        statements.begin.reset()
        statements.app.step()
        statements.app.reset()
        for purchase in batch {
            purchase.bindKey(to: statements.find)
            statements.find.step()
            statements.find.reset()
        }
        for purchase in batch {
            purchase.bindEvidence(to: statements.evidence)
            statements.evidence.step()
            let sequence = statements.evidence.integer(0)
            statements.evidence.step()
            statements.evidence.reset()
            purchase.bindTransaction(to: statements.transaction, provedBy: sequence)
            let code = statements.transaction.step()
            statements.transaction.reset()
            guard code == SQLITE_DONE else { throw BenchmarkFailure("SQLite does not insert: \(code)") }
            for (table, statement) in statements.others.enumerated() {
                purchase.bindOther(table, to: statement)
                let code = statement.step()
                statement.reset()
                guard code == SQLITE_DONE else { throw BenchmarkFailure("SQLite does not insert: \(code)") }
            }
        }
        statements.head.bind(Int64(batch.count * PlainSQLite.eventsOfPurchase), 1)
        statements.head.step()
        statements.head.reset()
        let code = statements.commit.step()
        statements.commit.reset()
        guard code == SQLITE_DONE else { throw BenchmarkFailure("SQLite does not commit: \(code)") }
    }

    private func checkpointIfDue() throws {
        let pages = unsafe pagesOfLog.pointee
        // A shorter log than before is a new one.
        if pages < nextCheckpoint - PlainSQLite.checkpointPages { nextCheckpoint = PlainSQLite.checkpointPages }
        guard pages >= nextCheckpoint else { return }
        guard unsafe sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil) == SQLITE_OK else {
            throw BenchmarkFailure("SQLite does not checkpoint")
        }
        nextCheckpoint = pages + PlainSQLite.checkpointPages
    }

    private func insertion(_ table: String) throws -> String { try insertion(table, try columns(of: table)) }

    private func insertion(_ table: String, _ names: [String]) throws -> String {
        let places = names.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        return "INSERT INTO \(table) (\(names.joined(separator: ", "))) VALUES (\(places))"
    }

    /// All but the row's place, in the order of the table.
    private func columns(of table: String) throws -> [String] {
        try allColumns(of: table).filter { $0 != "sequence" }
    }

    private func allColumns(of table: String) throws -> [String] {
        let list = try prepare("SELECT name FROM pragma_table_info('\(table)')")
        var names: [String] = []
        while list.step() == SQLITE_ROW { names.append(list.text(0) ?? "") }
        return names
    }

    private func run(_ text: String) throws {
        guard unsafe sqlite3_exec(handle, text, nil, nil, nil) == SQLITE_OK else {
            throw BenchmarkFailure("SQLite does not take: \(text)")
        }
    }

    private func prepare(_ text: String) throws -> PlainStatement {
        var statement: OpaquePointer?
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        guard unsafe sqlite3_prepare_v3(handle, text, -1, flags, &statement, nil) == SQLITE_OK,
            let statement = unsafe statement
        else { throw BenchmarkFailure("SQLite does not take: \(text)") }
        return unsafe PlainStatement(owning: statement)
    }
}
