import CSQLite

/// A prepared statement. It belongs to its connection, and dies before it.
@safe final class SQLiteStatement {
    private let handle: OpaquePointer
    /// Where each of `$1`, `$2` … stands: SQLite numbers named parameters by their first appearance.
    private let positions: [Int32]
    /// Where short values lie while the statement runs: SQLite would allocate memory for each to copy it to. It lives as
    /// long as the statement, and is written anew only when all values are.
    private let shelf: UnsafeMutableRawBufferPointer
    private var shelved = 0
    private var bound = 0
    /// Whether SQLite has copied a value that was too long for the shelf.
    private var keepsCopies = false

    /// As much of the shelf as there is for each value.
    private static let shelfBytes = 64

    /// Takes a handle that `sqlite3_prepare_v3` gave and nobody else finalizes.
    init(owning handle: OpaquePointer) {
        unsafe self.handle = handle
        let count = unsafe sqlite3_bind_parameter_count(handle)
        positions = (0..<count).map { unsafe sqlite3_bind_parameter_index(handle, "$\($0 + 1)") }
        unsafe shelf = .allocate(byteCount: Int(count) * Self.shelfBytes, alignment: 1)
    }

    deinit {
        unsafe sqlite3_finalize(handle)
        unsafe shelf.deallocate()
    }

    /// Goes to the next row: `SQLITE_ROW`, `SQLITE_DONE`, or a failure's code.
    func step() -> Int32 { unsafe sqlite3_step(handle) }

    /// Makes it ready to run again; lets go of the read lock, and of long values.
    func reset() {
        unsafe sqlite3_reset(handle)
        if keepsCopies { unsafe sqlite3_clear_bindings(handle) }
        keepsCopies = false
    }

    /// - Returns: `SQLITE_OK`, or the code of the first value that could not be bound.
    func bind(_ values: [SQLValue]) -> Int32 {
        precondition(values.count == positions.count, "a query's parameters and its values are counted alike")
        (bound, shelved) = (0, 0)
        return add(values)
    }

    /// Binds the values of one row that comes in parts. Those that are more than the parameters are left out.
    ///
    /// - Returns: `SQLITE_OK`, or the code of the first value that could not be bound.
    func bind(parts: [[SQLValue]]) -> Int32 {
        (bound, shelved) = (0, 0)
        for part in parts {
            let code = add(part)
            if code != SQLITE_OK { return code }
        }
        precondition(bound == positions.count, "a query's parameters and its values are counted alike")
        return SQLITE_OK
    }

    private func add(_ values: [SQLValue]) -> Int32 {
        for value in values where bound < positions.count {
            let code = bind(value, at: positions[bound])
            if code != SQLITE_OK { return code }
            bound += 1
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
            text.withUTF8 { utf8 in
                guard let count = Int32(exactly: utf8.count) else { return SQLITE_TOOBIG }
                guard let start = utf8.baseAddress else {
                    return unsafe assay_sqlite_bind_text(handle, position, "", 0)
                }
                // What lies on the shelf stays there until the next binding; else SQLite copies before the call returns.
                if let place = unsafe shelve(UnsafeRawBufferPointer(utf8)) {
                    return unsafe assay_sqlite_bind_kept_text(handle, position, place, count)
                }
                return unsafe start.withMemoryRebound(to: CChar.self, capacity: utf8.count) { start in
                    unsafe assay_sqlite_bind_text(handle, position, start, count)
                }
            }
        case .bytes(let bytes):
            unsafe bytes.withUnsafeBytes { bytes in
                guard let count = Int32(exactly: bytes.count) else { return SQLITE_TOOBIG }
                guard let start = bytes.baseAddress else { return unsafe sqlite3_bind_zeroblob(handle, position, 0) }
                // The same.
                if let place = unsafe shelve(bytes) {
                    return unsafe assay_sqlite_bind_kept_bytes(handle, position, place, count)
                }
                return unsafe assay_sqlite_bind_bytes(handle, position, start, count)
            }
        }
    }

    /// - Returns: where the bytes lie now; `nil` when there is no room for them.
    private func shelve(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
        let end = shelved + bytes.count
        guard unsafe end <= shelf.count, let start = bytes.baseAddress, let place = unsafe shelf.baseAddress
        else {
            keepsCopies = true
            return nil
        }
        // The room was counted, and nobody else's memory lies in the shelf.
        let target = unsafe place + shelved
        unsafe target.copyMemory(from: start, byteCount: bytes.count)
        shelved = end
        return UnsafeRawPointer(target)
    }
}
