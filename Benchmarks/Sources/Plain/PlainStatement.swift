import CSQLite

/// One value of SQLite's own: binding it costs what SQLite costs.
///
/// It is safe because it owns the value and frees it at its end.
@safe final class PlainValue {
    private let value: OpaquePointer

    /// Copies what stands in a column of the row on which a statement stands.
    init(_ statement: PlainStatement, column: Int) throws {
        guard let value = unsafe sqlite3_value_dup(sqlite3_column_value(statement.handle, Int32(column))) else {
            throw BenchmarkFailure("out of memory")
        }
        unsafe self.value = value
    }

    deinit { unsafe sqlite3_value_free(value) }

    func bind(to statement: PlainStatement, _ place: Int) {
        unsafe sqlite3_bind_value(statement.handle, Int32(place), value)
    }
}

/// A prepared statement, and nothing around it.
///
/// It is safe because it owns the handle and finalizes it at its end. It must die before its connection closes.
@safe final class PlainStatement {
    @unsafe let handle: OpaquePointer

    @unsafe
    init(owning handle: OpaquePointer) { unsafe self.handle = handle }

    deinit { unsafe sqlite3_finalize(handle) }

    var columns: Int { unsafe Int(sqlite3_column_count(handle)) }

    @discardableResult
    func step() -> Int32 { unsafe sqlite3_step(handle) }

    func reset() { unsafe sqlite3_reset(handle) }

    func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

    func text(_ column: Int32) -> String? {
        unsafe sqlite3_column_text(handle, column).map { unsafe String(cString: $0) }
    }

    func bind(_ number: Int64, _ place: Int) { unsafe sqlite3_bind_int64(handle, Int32(place), number) }

    func bind(_ value: PlainKey, _ place: Int) {
        switch value {
        case .integer(let number): bind(number, place)
        case .text(let text):
            // SQLite copies the bytes before the call returns.
            unsafe assay_sqlite_bind_text(handle, Int32(place), text, Int32(text.utf8.count))
        }
    }

    /// Steps to the end, shows each row on the way, and makes it ready to run again.
    func run(_ row: (PlainStatement) -> Void = { _ in }) throws {
        var code = step()
        while code == SQLITE_ROW {
            row(self)
            code = step()
        }
        reset()
        guard code == SQLITE_DONE else { throw BenchmarkFailure("SQLite fails with \(code)") }
    }
}

/// One recorded purchase, ready to be bound.
struct PlainPurchase {
    private let evidence: [PlainValue]
    private let transaction: [PlainValue]
    /// Its row in each of the other tables, in their order.
    private let others: [[PlainValue]]

    /// How many columns of a transaction are its key: app, number, realm.
    private static let keyColumns = 3
    /// The two columns after the key name the proof, by the number that it gets.
    private static let proofColumns = 2

    /// Copies the row on which a statement stands: so many columns of the evidence, of the transaction, and of each of the
    /// other tables.
    init(_ row: PlainStatement, columns: [Int]) throws {
        var (all, start): ([[PlainValue]], Int) = ([], 0)
        for count in columns {
            all.append(try (start..<start + count).map { try PlainValue(row, column: $0) })
            start += count
        }
        evidence = all[0]
        transaction = all[1]
        others = Array(all.dropFirst(2))
    }

    func bindOther(_ table: Int, to statement: PlainStatement) {
        for (place, value) in others[table].enumerated() { value.bind(to: statement, place + 1) }
    }

    func bindKey(to statement: PlainStatement) {
        for place in 0..<PlainPurchase.keyColumns { transaction[place].bind(to: statement, place + 1) }
    }

    func bindEvidence(to statement: PlainStatement) {
        for place in evidence.indices { evidence[place].bind(to: statement, place + 1) }
    }

    func bindTransaction(to statement: PlainStatement, provedBy sequence: Int64) {
        bindKey(to: statement)
        let content = PlainPurchase.keyColumns + PlainPurchase.proofColumns
        for place in PlainPurchase.keyColumns..<content { statement.bind(sequence, place + 1) }
        for place in content..<transaction.count { transaction[place].bind(to: statement, place + 1) }
    }
}
