/// The row on which a statement stands. It is read inside the closure that it is given to, and nowhere else.
struct SQLRow {
    private enum Source {
        case sqlite(SQLiteStatement)
        case postgresql(PostgreSQLResult, row: Int32, firstColumn: Int32)
    }

    private let source: Source

    init(of statement: SQLiteStatement) { source = .sqlite(statement) }

    /// - Parameters:
    ///   - result: all the rows.
    ///   - row: which of them.
    ///   - firstColumn: the column that counts as 0.
    init(of result: PostgreSQLResult, row: Int32, firstColumn: Int32 = 0) {
        source = .postgresql(result, row: row, firstColumn: firstColumn)
    }

    func integer(_ column: Int32) -> Int64 {
        switch source {
        case .sqlite(let statement): statement.integer(column)
        case .postgresql(let result, let row, let first): result.integer(row, first + column)
        }
    }

    func text(_ column: Int32) -> String {
        switch source {
        case .sqlite(let statement): statement.text(column)
        case .postgresql(let result, let row, let first): result.text(row, first + column)
        }
    }

    func bytes(_ column: Int32) -> [UInt8] {
        switch source {
        case .sqlite(let statement): statement.bytes(column)
        case .postgresql(let result, let row, let first): result.bytes(row, first + column)
        }
    }

    func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }
    func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }
    func optionalBytes(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : bytes(column) }

    private func isNull(_ column: Int32) -> Bool {
        switch source {
        case .sqlite(let statement): statement.isNull(column)
        case .postgresql(let result, let row, let first): result.isNull(row, first + column)
        }
    }
}
