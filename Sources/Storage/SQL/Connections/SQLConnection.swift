import PurchaseModel

/// A connection to a database, used by one thread at a time: what the queries are written against.
///
/// What `insert` and `update` are given may wait for the next question or the commit, so a conflict may be found there.
protocol SQLConnection: AnyObject {
    /// What this transaction adds to the figures. A database that cannot count its rows cheaply keeps the sums.
    var added: StoreFigures { get set }
    /// The numbers of apps that were committed, as far as they were asked for: see ``AppQueries``.
    var appCodes: [AppID: Int64] { get set }
    /// In which rows this transaction adds to sums: writers that add to the same one wait for each other.
    var figureSlot: Int64 { get }
    /// Whose clock leases go by.
    var leaseClock: LeaseClock { get }
    /// Whether others may write at the same time.
    var isShared: Bool { get }
    /// Whether a question may pass over rows that another transaction has locked.
    var skipsLocked: Bool { get }

    /// Runs a statement, and hands over each of its rows.
    ///
    /// - Returns: how many rows it changed.
    @discardableResult
    func run(
        _ query: Query,
        _ values: [SQLValue],
        _ visit: (SQLRow) throws(StoreFailure) -> Void
    ) throws(StoreFailure) -> Int

    /// Asks the same of many keys. Each row comes with its key's place among them; those of a question in the order of the
    /// keys, those of a change in any.
    func visit(
        _ lookup: BulkLookup,
        _ keys: [[SQLValue]],
        _ visit: (Int, SQLRow) throws(StoreFailure) -> Void
    ) throws(StoreFailure)

    /// Has the questions that come next asked at once, where that saves journeys. They are asked all the same, in this order,
    /// and any other question or change makes void what was foreseen.
    ///
    /// - Parameter ask: asks them, and finds nothing.
    /// - Throws: what it throws, and what a question throws.
    func foresee(_ ask: () throws(StoreFailure) -> Void) throws(StoreFailure)

    /// Changes the row of each key.
    ///
    /// - Returns: for each key, whether there was one.
    func change(_ change: BulkChange, _ keys: [[SQLValue]]) throws(StoreFailure) -> [Bool]

    /// Inserts a row: one value for each of the description's columns, in parts that follow one another, which need not be
    /// copied into one.
    func insert(_ parts: [[SQLValue]], by insert: BulkInsert) throws(StoreFailure)

    /// Updates a row: the values of its key, then the version that was read of it, then those of the columns.
    func update(_ values: [SQLValue], by update: BulkUpdate) throws(StoreFailure)

    /// A number for a row to insert, above those of all rows that this transaction sees.
    func next(_ sequence: RowSequence) throws(StoreFailure) -> Int64

    /// Has the rest of this transaction, in which many rows are written, take little memory.
    func saveMemory() throws(StoreFailure)

    /// Makes the current transaction impossible to commit.
    func doom(_ failure: StoreFailure)
}

extension SQLConnection {
    /// What is written lies with a server of its own.
    func saveMemory() {}

    /// In the same process there is no journey to save.
    func foresee(_ ask: () throws(StoreFailure) -> Void) {}

    /// Inserts a row: one value for each of the description's columns.
    func insert(_ values: [SQLValue], by insert: BulkInsert) throws(StoreFailure) {
        try self.insert([values], by: insert)
    }

    /// Runs a statement that gives no rows.
    ///
    /// - Returns: how many rows it changed.
    @discardableResult
    func run(_ query: Query, _ values: [SQLValue] = []) throws(StoreFailure) -> Int {
        try run(query, values) { _ in }
    }

    func rows<Value>(
        _ query: Query,
        _ values: [SQLValue] = [],
        _ read: (SQLRow) throws(StoreFailure) -> Value
    ) throws(StoreFailure) -> [Value] {
        var found: [Value] = []
        try run(query, values) { row throws(StoreFailure) in found.append(try read(row)) }
        return found
    }

    /// The only row there is, or `nil`.
    func row<Value>(
        _ query: Query,
        _ values: [SQLValue] = [],
        _ read: (SQLRow) throws(StoreFailure) -> Value
    ) throws(StoreFailure) -> Value? {
        var found: Value?
        try run(query, values) { row throws(StoreFailure) in found = try read(row) }
        return found
    }
}
