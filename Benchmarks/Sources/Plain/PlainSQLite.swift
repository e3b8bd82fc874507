import CSQLite
import PurchaseModel
import Storage

/// SQLite's C interface and nothing else: the statements that write purchases, prepared once, with values that lie ready.
/// What a store can reach at best.
///
/// It is safe because it owns every handle, frees them at its end, and never hands them out.
@safe final class PlainSQLite: PlainLedger {
    /// One commit's purchases, and what they add to the charts' sums.
    struct Batch {
        let purchases: ArraySlice<PlainPurchase>
        let sums: [PlainSum]
    }

    private let handle: OpaquePointer
    private let pagesOfLog: UnsafeMutablePointer<Int32>
    private var nextCheckpoint = PlainSQLite.checkpointPages

    /// As the store does it, and so are the pragmas.
    private static let checkpointPages = Int32(CheckpointLimits().stepPages)
    private static let pragmas = """
        PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON;
        PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384; PRAGMA journal_size_limit = 67108864
        """

    /// The statements of one commit, in their order.
    private struct Statements {
        let begin: PlainStatement
        let app: PlainStatement
        let find: PlainStatement
        let evidence: PlainStatement
        let transaction: PlainStatement
        let others: [PlainStatement]
        let head: PlainStatement
        let sum: PlainStatement
        let commit: PlainStatement
    }

    private var statements: Statements?

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
        statements = nil
        unsafe sqlite3_close_v2(handle)
        unsafe pagesOfLog.deallocate()
    }

    /// Prepares the statements; the app has its number, as the store gives it with the first purchase.
    func begin() throws {
        let (transactions, app) = (PurchaseTables.transactions, PurchaseWork.app.text)
        if try texts("SELECT 1 FROM apps").isEmpty { try moveFeed(to: 0) }
        let (key, conflict) = (try self.key(of: PurchaseTables.figures), "ON CONFLICT")
        statements = Statements(
            begin: try prepare("BEGIN IMMEDIATE"),
            app: try prepare("SELECT code FROM apps WHERE name = '\(app)'"),
            find: try prepare(
                """
                SELECT \(try written(transactions).joined(separator: ", ")) FROM \(transactions)
                WHERE app = $1 AND transaction_id = $2 AND realm = $3
                """
            ),
            evidence: try prepare(
                try insertion(PurchaseTables.evidence, try written(PurchaseTables.evidence)) + " RETURNING sequence"
            ),
            transaction: try prepare(
                try insertion(transactions, try written(transactions))
                    + " \(conflict) (app, transaction_id, realm) DO NOTHING"
            ),
            others: try PurchaseTables.others.map { other in
                try prepare(try insertion(other.table, try columns(of: other.table)))
            },
            head: try prepare("UPDATE event_heads SET last_position = last_position + $1"),
            sum: try prepare(
                try insertion(PurchaseTables.figures, key + [PurchaseTables.amount])
                    + " \(conflict) (\(key.joined(separator: ", "))) DO UPDATE SET amount = figures.amount + excluded.amount"
            ),
            commit: try prepare("COMMIT")
        )
    }

    func batches(of size: Int, adding sums: [[PlainSum]]) throws -> [Batch] {
        var counts = [try written(PurchaseTables.evidence).count, try written(PurchaseTables.transactions).count]
        counts += try PurchaseTables.others.map { try columns(of: $0.table).count }
        let select = try prepare(
            try PurchaseTables.question { table, row in
                let isNumbered = table == PurchaseTables.evidence || table == PurchaseTables.transactions
                return (isNumbered ? try written(table) : try columns(of: table)).map { "\(row).\($0)" }
            }
        )
        var found: [PlainPurchase] = []
        while select.step() == SQLITE_ROW { found.append(try PlainPurchase(select, columns: counts)) }
        return zip(stride(from: 0, to: found.count, by: size), sums).map { start, sums in
            Batch(purchases: found[start..<min(start + size, found.count)], sums: sums)
        }
    }

    func record(_ batch: Batch) throws {
        guard let statements else { throw BenchmarkFailure("nothing was prepared") }
        try write(batch, statements)
        try checkpointIfDue()
    }

    func run(_ script: String) throws {
        guard unsafe sqlite3_exec(handle, script, nil, nil, nil) == SQLITE_OK else {
            throw BenchmarkFailure("SQLite does not take: \(script): \(unsafe String(cString: sqlite3_errmsg(handle)))")
        }
    }

    func texts(_ question: String) throws -> [[String?]] {
        let statement = try prepare(question)
        var rows: [[String?]] = []
        while statement.step() == SQLITE_ROW { rows.append((0..<statement.columns).map { statement.text(Int32($0)) }) }
        return rows
    }

    func columns(of table: String) throws -> [String] {
        try texts("SELECT name FROM pragma_table_info('\(table)') ORDER BY cid").compactMap { $0[0] }
    }

    func key(of table: String) throws -> [String] {
        try texts("SELECT name FROM pragma_table_info('\(table)') WHERE pk > 0 ORDER BY pk").compactMap { $0[0] }
    }

    func tables() throws -> [String] {
        try texts("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'").compactMap {
            $0[0]
        }
    }

    private func write(_ batch: Batch, _ statements: Statements) throws {
        try statements.begin.run()
        try statements.app.run()
        for purchase in batch.purchases {
            purchase.bindKey(to: statements.find)
            try statements.find.run()
        }
        for purchase in batch.purchases {
            purchase.bindEvidence(to: statements.evidence)
            statements.evidence.step()
            let sequence = statements.evidence.integer(0)
            try statements.evidence.run()
            purchase.bindTransaction(to: statements.transaction, provedBy: sequence)
            try statements.transaction.run()
            for (table, statement) in statements.others.enumerated() {
                purchase.bindOther(table, to: statement)
                try statement.run()
            }
        }
        statements.head.bind(Int64(batch.purchases.count * PurchaseTables.eventsOfPurchase), 1)
        try statements.head.run()
        for sum in batch.sums {
            for (place, value) in sum.key.enumerated() { statements.sum.bind(value, place + 1) }
            statements.sum.bind(sum.amount, sum.key.count + 1)
            try statements.sum.run()
        }
        try statements.commit.run()
    }

    func checkpointIfDue() throws {
        let pages = unsafe pagesOfLog.pointee
        // A shorter log than before is a new one.
        if pages < nextCheckpoint - PlainSQLite.checkpointPages { nextCheckpoint = PlainSQLite.checkpointPages }
        guard pages >= nextCheckpoint else { return }
        guard unsafe sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil) == SQLITE_OK else {
            throw BenchmarkFailure("SQLite does not checkpoint")
        }
        nextCheckpoint = pages + PlainSQLite.checkpointPages
    }

    private func insertion(_ table: String, _ names: [String]) throws -> String {
        let places = names.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        return "INSERT INTO \(table) (\(names.joined(separator: ", "))) VALUES (\(places))"
    }

    /// Of a table whose rows SQLite numbers: all but the number.
    private func written(_ table: String) throws -> [String] {
        try columns(of: table).filter { $0 != "sequence" }
    }

    func prepare(_ text: String) throws -> PlainStatement {
        var statement: OpaquePointer?
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        guard unsafe sqlite3_prepare_v3(handle, text, -1, flags, &statement, nil) == SQLITE_OK,
            let statement = unsafe statement
        else { throw BenchmarkFailure("SQLite does not take: \(text)") }
        return unsafe PlainStatement(owning: statement)
    }
}
