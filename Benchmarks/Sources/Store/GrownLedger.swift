import Foundation

/// Makes a ledger of many purchases inside its database, by SQL: in an hour the store itself would make fewer.
///
/// The rows are those that the store writes of one purchase, with other names: so a migration changes them by itself. What
/// no index sees is all the same, and short: proofs, and events' texts. They come in the order of their names, first
/// every second one, then those between, so that pages are as full as if names had come in any order; names are spread
/// evenly over all that there may be, so that those of new purchases fall anywhere among them.
struct GrownLedger {
    let purchases: Int
    let dialect: Dialect

    /// What the two databases say differently.
    struct Dialect: Sendable {
        /// A row `(j)` for each number from the first to the last, both included.
        let numbers: @Sendable (Int, Int) -> String
        /// Eight hexadecimal digits of a number.
        let hexadecimal: @Sendable (String) -> String
        /// One relation with all rows of another table, in the order of the first.
        let joined: @Sendable (String) -> String
        /// What a table needs that is about to be filled.
        let prepared: @Sendable (String) -> String
        /// What comes before the first table, and after the last.
        let before: String
        let after: String

        static let sqlite = Dialect(
            numbers: { first, last in
                "(WITH RECURSIVE n(j) AS (SELECT \(first) UNION ALL SELECT j + 1 FROM n WHERE j < \(last)) SELECT j FROM n)"
            },
            hexadecimal: { "printf('%08x', \($0))" },
            joined: { "CROSS JOIN \($0) AS p" },
            prepared: { _ in "" },
            before: """
                PRAGMA foreign_keys = OFF; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -2000000
                """,
            after: "PRAGMA journal_mode = WAL"
        )
        static let postgresql = Dialect(
            numbers: { "(SELECT j FROM generate_series(\($0)::bigint, \($1)::bigint) AS n (j))" },
            hexadecimal: { "lpad(to_hex(\($0)), 8, '0')" },
            joined: { "CROSS JOIN LATERAL (SELECT * FROM \($0) WHERE o > 0 OFFSET 0) AS p" },
            // A vacuum that so many rows call for would come in the midst of what is measured.
            prepared: { "ALTER TABLE \($0) SET (autovacuum_enabled = off)" },
            before: "SET synchronous_commit = off",
            after: "ANALYZE"
        )
    }

    /// As ``Samples/scattered(_:_:)`` numbers them.
    private static let firstNumber = 2_000_000_000_000_000
    private static let numbers = 1_000_000_000_000_000
    private static let eventNumbers = 1 << 32
    /// No index sees an event's text: short ones let more purchases fit on a disk.
    private static let eventBytes = 64
    /// A statement's purchases: between two there is a look at how full the disk is.
    private static let step = 250_000
    private static let bytesLeftMin = 10_000_000_000

    /// How the purchase is called that the others are made of.
    private struct Pattern {
        let transaction: String
        let original: String
        let customer: String
    }

    /// Fills a ledger in which the store has recorded one purchase, and which nobody else has open. The folder tells how
    /// full its disk is.
    func fill(_ ledger: some PlainLedger, in folder: String) throws {
        let pattern = try pattern(in: ledger)
        var rows: [(table: String, columns: String, values: String)] = []
        for table in PurchaseTables.all {
            let columns = try ledger.columns(of: table)
            let texts = try ledger.texts("SELECT \(columns.joined(separator: ", ")) FROM \(table)").first ?? []
            let values = zip(columns, texts).map { value(of: $0, in: table, $1, pattern) }
            rows.append((table, columns.joined(separator: ", "), values.joined(separator: ", ")))
        }
        try ledger.run(dialect.before)
        for row in rows {
            try ledger.run("CREATE TEMPORARY TABLE pattern_\(row.table) AS SELECT * FROM \(row.table)")
            try ledger.run("DELETE FROM \(row.table)")
            try ledger.run(dialect.prepared(row.table))
        }
        for half in 0..<2 {
            for start in stride(from: 0, to: purchases / 2, by: Self.step) {
                let last = min(start + Self.step, purchases / 2) - 1
                for row in rows { try insert(row, half, start, last, into: ledger, folder) }
            }
        }
        try ledger.run("UPDATE event_heads SET last_position = \(purchases * PurchaseTables.eventsOfPurchase)")
        try ledger.run("UPDATE \(PurchaseTables.figures) SET amount = amount * \(purchases)")
        try ledger.run(dialect.after)
    }

    private func insert(
        _ row: (table: String, columns: String, values: String),
        _ half: Int,
        _ first: Int,
        _ last: Int,
        into ledger: some PlainLedger,
        _ folder: String
    ) throws {
        let attributes = try FileManager.default.attributesOfFileSystem(forPath: folder)
        guard let free = attributes[.systemFreeSize] as? Int, free > Self.bytesLeftMin else {
            throw BenchmarkFailure("the disk is too full for \(purchases) purchases")
        }
        // `k` numbers the names, in their order; `o` the rows, in theirs.
        try ledger.run(
            """
            INSERT INTO \(row.table) (\(row.columns))
            SELECT \(row.values) FROM (
                SELECT 2 * j + \(half) AS k, j + 1 + \(half * (purchases / 2)) AS o
                FROM \(dialect.numbers(first, last)) AS numbers
            ) AS named \(dialect.joined("pattern_\(row.table)"))
            """
        )
    }

    private func pattern(in ledger: some PlainLedger) throws -> Pattern {
        let found = try ledger.texts("SELECT transaction_id, original_id, customer FROM transactions")
        guard found.count == 1, let transaction = found[0][0], let original = found[0][1], let customer = found[0][2]
        else {
            throw BenchmarkFailure("there is not one purchase to make others of")
        }
        return Pattern(transaction: transaction, original: original, customer: customer)
    }

    /// What stands in a column of the rows that are made: from what stands in it in the purchase that they are made of.
    private func value(of column: String, in table: String, _ text: String?, _ pattern: Pattern) -> String {
        let original = "(\(Self.firstNumber) + k * \(Self.numbers / purchases))"
        let transaction = "(\(original) + 1)"
        let customer = "'customer-' || \(original)"
        switch (table, column) {
        case (PurchaseTables.evidence, "sequence"), (PurchaseTables.transactions, "sequence"),
            (_, "first_evidence"), (_, "latest_evidence"):
            return "o"
        case ("events", "position"): return "(o - 1) * \(PurchaseTables.eventsOfPurchase) + p.sequence"
        case ("events", "id"):
            let each = Self.eventNumbers / purchases / PurchaseTables.eventsOfPurchase
            let number = "(k * \(PurchaseTables.eventsOfPurchase) + p.sequence) * \(each)"
            return "'evt_' || \(dialect.hexadecimal(number)) || '\(String(repeating: "0", count: 24))'"
        case ("events", "data"): return "substr(p.data, 1, \(Self.eventBytes))"
        case (PurchaseTables.evidence, "proof"), (PurchaseTables.evidence, "sha256"): return "p.\(column)"
        default: break
        }
        guard let text else { return "p.\(column)" }
        if text == pattern.transaction { return transaction }
        if text == pattern.original { return original }
        if text == pattern.customer { return customer }
        var value = "p.\(column)"
        for (old, new) in [
            (pattern.customer, customer), (pattern.transaction, "CAST(\(transaction) AS text)"),
            (pattern.original, "CAST(\(original) AS text)"),
        ] where text.contains(old) { value = "replace(\(value), '\(old)', \(new))" }
        return value
    }
}
