import CPostgres

/// What the server answered to one statement, in its binary format.
@safe final class PostgreSQLResult {
    private let handle: OpaquePointer

    /// Takes a result that libpq gave and nobody else clears.
    init(owning handle: OpaquePointer) { unsafe self.handle = handle }

    deinit { unsafe PQclear(handle) }

    var rowCount: Int32 { unsafe PQntuples(handle) }

    /// `nil` unless the server refused: its SQLSTATE, empty when libpq itself gave up.
    var refusal: String? {
        switch unsafe PQresultStatus(handle) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: nil
        default: unsafe PQresultErrorField(handle, Int32(UInt8(ascii: "C"))).map { unsafe String(cString: $0) } ?? ""
        }
    }

    /// Whether it is no result of a statement, but tells that those that were sent together have all been answered.
    var endsPipeline: Bool { unsafe PQresultStatus(handle) == PGRES_PIPELINE_SYNC }

    /// What was done, such as `COMMIT` or `INSERT 0 3`.
    var command: String { unsafe String(cString: PQcmdStatus(handle)) }

    /// How many rows were written, or read.
    var affected: Int {
        // libpq's text lives as long as the result.
        unsafe Int(String(cString: PQcmdTuples(handle))) ?? 0
    }

    /// The types that a prepared statement expects of its parameters.
    var parameterTypes: [Oid] {
        (0..<(unsafe PQnparams(handle))).map { unsafe PQparamtype(handle, $0) }
    }

    func isNull(_ row: Int32, _ column: Int32) -> Bool { unsafe PQgetisnull(handle, row, column) == 1 }

    /// An integer of any width.
    func integer(_ row: Int32, _ column: Int32) -> Int64 {
        let bytes = unsafe value(row, column)
        guard let first = unsafe bytes.first else { return 0 }
        // Big-endian, in two's complement.
        return unsafe bytes.dropFirst().reduce(Int64(Int8(bitPattern: first))) { $0 << 8 | Int64($1) }
    }

    func text(_ row: Int32, _ column: Int32) -> String { unsafe String(decoding: value(row, column), as: UTF8.self) }

    func bytes(_ row: Int32, _ column: Int32) -> [UInt8] { unsafe [UInt8](value(row, column)) }

    /// The bytes of a value; they live as long as the result.
    private func value(_ row: Int32, _ column: Int32) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(
            start: PQgetvalue(handle, row, column),
            count: Int(PQgetlength(handle, row, column))
        )
    }
}
