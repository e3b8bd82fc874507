/// The row on which a statement stands. It is read inside the closure that it is given to, and nowhere else.
struct SQLRow {
    private let statement: SQLiteStatement

    init(of statement: SQLiteStatement) { self.statement = statement }

    func integer(_ column: Int32) -> Int64 { statement.integer(column) }
    func text(_ column: Int32) -> String { statement.text(column) }
    func bytes(_ column: Int32) -> [UInt8] { statement.bytes(column) }

    func optionalInteger(_ column: Int32) -> Int64? { statement.isNull(column) ? nil : statement.integer(column) }
    func optionalText(_ column: Int32) -> String? { statement.isNull(column) ? nil : statement.text(column) }
    func optionalBytes(_ column: Int32) -> [UInt8]? { statement.isNull(column) ? nil : statement.bytes(column) }
}
