import PurchaseModel

/// A ledger as a plain program sees it: its database, and no store around it. The store has made the tables.
protocol PlainLedger: AnyObject {
    /// What one commit writes: rows that lie ready, as the database takes them.
    associatedtype Batch

    /// Runs statements without parameters.
    func run(_ script: String) throws
    /// What a question finds, as text.
    func texts(_ question: String) throws -> [[String?]]
    /// A table's columns, in their order.
    func columns(of table: String) throws -> [String]
    /// The columns of a table's primary key, in their order.
    func key(of table: String) throws -> [String]
    /// All tables.
    func tables() throws -> [String]

    /// What the store has recorded, in the order of recording, as commits of so many purchases, and with what each added
    /// to the charts' sums.
    func batches(of size: Int, adding sums: [[PlainSum]]) throws -> [Batch]

    /// Does once what a writer does once: the app's number, its place in the feed, its own row.
    func begin() throws

    /// Writes one commit; returns when it is durable.
    func record(_ batch: Batch) throws
}

/// A value of a key of the charts' sums.
enum PlainKey: Hashable, Comparable {
    case integer(Int64)
    case text(String)
}

/// What a commit adds to one of the charts' sums.
struct PlainSum {
    let key: [PlainKey]
    let amount: Int64
}

/// The tables of a recorded purchase. The names of their columns are asked of the database, so that a migration changes
/// what the plain program writes, too.
enum PurchaseTables {
    /// A table that a purchase writes a row to besides the proof and the transaction, the name of that row, and which
    /// one is its own.
    struct Other {
        let table: String
        let row: String
        let condition: String
    }

    static let evidence = "evidence"
    static let transactions = "transactions"
    static let figures = "figures"
    static let amount = "amount"
    static let eventsOfPurchase = 2

    private static let chain = "coalesce(transactions.original_id, transactions.transaction_id)"

    /// Here each purchase has a customer of its own, who hears of it twice: of the delivery, and of the subscription.
    static let others = [
        Other(table: "owners", row: "owner", condition: "owner.original_id = \(chain)"),
        Other(table: "fulfilments", row: "fulfilment", condition: "fulfilment.original_id = \(chain)"),
        Other(table: "subscriptions", row: "subscription", condition: "subscription.original_id = \(chain)"),
        Other(table: "events", row: "one", condition: "one.customer = transactions.customer AND one.sequence = 1"),
        Other(table: "events", row: "two", condition: "two.customer = transactions.customer AND two.sequence = 2"),
    ]

    /// Each table once, in the order in which a purchase's rows are written.
    static let all = [evidence, transactions, "owners", "fulfilments", "subscriptions", "events"]
    /// What a commit writes besides: numbers and sums.
    static let counted = ["apps", "event_heads", figures]

    /// Asks for all that was recorded, a purchase a row. It is told the columns that are wanted of a table, for a row of
    /// a name.
    static func question(_ select: (_ table: String, _ row: String) throws -> [String]) rethrows -> String {
        var columns = try select(evidence, evidence) + select(transactions, transactions)
        for other in others { columns += try select(other.table, other.row) }
        let joins = others.map { other in
            "JOIN \(other.table) AS \(other.row) ON \(other.row).app = transactions.app AND \(other.condition)"
        }
        return """
            SELECT \(columns.joined(separator: ", ")) FROM transactions
            JOIN evidence ON evidence.sequence = first_evidence \(joins.joined(separator: " "))
            ORDER BY transactions.sequence
            """
    }
}

extension PlainLedger {
    /// The charts' sums as they stand.
    func sums() throws -> [[PlainKey]: Int64] {
        let key = try key(of: PurchaseTables.figures)
        let wanted = (key + [PurchaseTables.amount]).joined(separator: ", ")
        var sums: [[PlainKey]: Int64] = [:]
        for row in try texts("SELECT \(wanted) FROM \(PurchaseTables.figures)") {
            let values = row.map { text in text.flatMap(Int64.init).map(PlainKey.integer) ?? .text(text ?? "") }
            guard case .integer(let amount)? = values.last else { throw BenchmarkFailure("a sum is no number") }
            sums[Array(values.dropLast())] = amount
        }
        return sums
    }

    /// How many rows each table has. Two ledgers that were written alike are the same here.
    func counts() throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for table in try tables() {
            counts[table] = try texts("SELECT count(*) FROM \(table)").first?.first?.flatMap { Int($0) } ?? 0
        }
        return counts
    }

    /// Moves the feed's end far away: what is recorded in one ledger can then be written to another one that has grown.
    func moveFeed(to position: Int64) throws {
        try run(
            "INSERT INTO apps (name) VALUES ('\(PurchaseWork.app.text)'); "
                + "INSERT INTO event_heads (app, last_position) SELECT code, \(position) FROM apps"
        )
    }

    /// What was added between two looks, in the order of the keys, as the store writes it.
    static func added(_ before: [[PlainKey]: Int64], _ after: [[PlainKey]: Int64]) -> [PlainSum] {
        after.compactMap { key, amount in
            amount == before[key, default: 0] && before[key] != nil
                ? nil : PlainSum(key: key, amount: amount - before[key, default: 0])
        }
        .sorted { $0.key.lexicographicallyPrecedes($1.key) }
    }
}
