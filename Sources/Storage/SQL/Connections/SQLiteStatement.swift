import CSQLite

/// A prepared statement. It belongs to its connection, and dies before it.
@safe final class SQLiteStatement {
    private let handle: OpaquePointer
    /// Where each of `$1`, `$2` … stands: SQLite numbers named parameters by their first appearance.
    private let positions: [Int32]

    /// Takes a handle that `sqlite3_prepare_v3` gave and nobody else finalizes.
    init(owning handle: OpaquePointer) {
        unsafe self.handle = handle
        let count = unsafe sqlite3_bind_parameter_count(handle)
        positions = (0..<count).map { unsafe sqlite3_bind_parameter_index(handle, "$\($0 + 1)") }
    }

    deinit { unsafe sqlite3_finalize(handle) }

    /// Goes to the next row: `SQLITE_ROW`, `SQLITE_DONE`, or a failure's code.
    func step() -> Int32 { unsafe sqlite3_step(handle) }

    /// Makes it ready to run again; lets go of the values and of the read lock.
    func reset() {
        unsafe sqlite3_reset(handle)
        unsafe sqlite3_clear_bindings(handle)
    }

    /// - Returns: `SQLITE_OK`, or the code of the first value that could not be bound.
    func bind(_ values: [SQLValue]) -> Int32 {
        precondition(values.count == positions.count, "a query's parameters and its values are counted alike")
        for (position, value) in zip(positions, values) {
            let code = bind(value, at: position)
            if code != SQLITE_OK { return code }
        }
        return SQLITE_OK
    }

    func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(handle, column) == SQLITE_NULL }

    func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

    func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }

    func bytes(_ column: Int32) -> [UInt8] {
        // SQLite's pointer lives until the next step; it is copied before that.
        guard let start = unsafe sqlite3_column_blob(handle, column) else { return [] }
        let count = unsafe Int(sqlite3_column_bytes(handle, column))
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }

    private func bind(_ value: SQLValue, at position: Int32) -> Int32 {
        switch value {
        case .null: unsafe sqlite3_bind_null(handle, position)
        case .integer(let number): unsafe sqlite3_bind_int64(handle, position, number)
        case .text(var text):
            // SQLite copies the bytes before the call returns.
            text.withUTF8 { utf8 in
                guard let count = Int32(exactly: utf8.count) else { return SQLITE_TOOBIG }
                guard let start = utf8.baseAddress else {
                    return unsafe assay_sqlite_bind_text(handle, position, "", 0)
                }
                return unsafe start.withMemoryRebound(to: CChar.self, capacity: utf8.count) { start in
                    unsafe assay_sqlite_bind_text(handle, position, start, count)
                }
            }
        case .bytes(let bytes):
            unsafe bytes.withUnsafeBytes { bytes in
                guard let count = Int32(exactly: bytes.count) else { return SQLITE_TOOBIG }
                guard let start = bytes.baseAddress else { return unsafe sqlite3_bind_zeroblob(handle, position, 0) }
                return unsafe assay_sqlite_bind_bytes(handle, position, start, count)
            }
        }
    }
}
