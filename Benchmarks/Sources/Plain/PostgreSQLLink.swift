import CPostgres

/// A connection to PostgreSQL over libpq, and nothing around it.
///
/// It is safe because it owns the handle, frees it at its end, and never hands it out.
@safe final class PostgreSQLLink {
    private let handle: OpaquePointer

    init(url: String, schema: String) throws {
        guard let handle = unsafe PQconnectdb(url) else { throw BenchmarkFailure("out of memory") }
        unsafe self.handle = handle
        guard unsafe PQstatus(handle) == CONNECTION_OK else { throw refused("a connection") }
        unsafe PQsetNoticeReceiver(handle, { _, _ in }, nil)
        try run("SET search_path TO \"\(schema)\"")
    }

    deinit { unsafe PQfinish(handle) }

    /// Runs statements without parameters, in one round trip.
    func run(_ script: String) throws { _ = try texts(script) }

    /// The last statement's rows, as text.
    func texts(_ script: String) throws -> [[String?]] {
        guard let result = unsafe PQexec(handle, script) else { throw refused(script) }
        defer { unsafe PQclear(result) }
        try unsafe check(result, script)
        return unsafe (0..<PQntuples(result)).map { row in
            unsafe (0..<PQnfields(result)).map { column in
                unsafe PQgetisnull(result, row, column) == 1 ? nil : String(cString: PQgetvalue(result, row, column))
            }
        }
    }

    /// A question's rows, in the server's binary format: what it takes back as parameters.
    func values(_ question: String) throws -> [[[UInt8]?]] {
        guard let result = unsafe PQexecParams(handle, question, 0, nil, nil, nil, nil, 1) else {
            throw refused(question)
        }
        defer { unsafe PQclear(result) }
        try unsafe check(result, question)
        return unsafe Self.values(of: result)
    }

    @unsafe
    private static func values(of result: OpaquePointer) -> [[[UInt8]?]] {
        unsafe (0..<PQntuples(result)).map { row in
            unsafe (0..<PQnfields(result)).map { column in
                guard unsafe PQgetisnull(result, row, column) == 0 else { return nil }
                let count = unsafe Int(PQgetlength(result, row, column))
                return unsafe [UInt8](UnsafeRawBufferPointer(start: PQgetvalue(result, row, column), count: count))
            }
        }
    }

    func prepare(_ name: String, _ text: String) throws {
        guard let result = unsafe PQprepare(handle, name, text, 0, nil) else { throw refused(text) }
        defer { unsafe PQclear(result) }
        try unsafe check(result, text)
    }

    /// Runs a statement that was prepared.
    ///
    /// - Returns: how many rows it found or wrote.
    @discardableResult
    func run(prepared name: String, _ parameters: PlainArrays) throws -> Int {
        let result = unsafe try execute(name, parameters)
        defer { unsafe PQclear(result) }
        return unsafe Int(String(cString: PQcmdTuples(result))) ?? 0
    }

    /// A prepared statement's rows, in the server's binary format.
    func values(prepared name: String, _ parameters: PlainArrays) throws -> [[[UInt8]?]] {
        let result = unsafe try execute(name, parameters)
        defer { unsafe PQclear(result) }
        return unsafe Self.values(of: result)
    }

    /// The caller clears the result.
    @unsafe
    private func execute(_ name: String, _ parameters: PlainArrays) throws -> OpaquePointer {
        let made = unsafe parameters.withPointers { count, values, lengths, formats in
            unsafe PQexecPrepared(handle, name, count, values, lengths, formats, 1)
        }
        guard let result = unsafe made else { throw refused(name) }
        do {
            try unsafe check(result, name)
        } catch {
            unsafe PQclear(result)
            throw error
        }
        return unsafe result
    }

    @unsafe
    private func check(_ result: OpaquePointer, _ what: String) throws {
        switch unsafe PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK: return
        default: throw refused(what)
        }
    }

    private func refused(_ what: String) -> BenchmarkFailure {
        BenchmarkFailure("PostgreSQL refuses \(what.prefix(300)): \(unsafe String(cString: PQerrorMessage(handle)))")
    }
}

/// Parameters that lie ready in the server's binary format: an array for each column of many rows, or a number.
struct PlainArrays {
    /// PostgreSQL's numbers of the types that an array of ours has, and of its elements (`pg_type.dat`).
    enum Kind: String {
        case integer = "bigint"
        case text
        case bytes = "bytea"

        fileprivate var element: Int32 {
            switch self {
            case .integer: 20
            case .text: 25
            case .bytes: 17
            }
        }
    }

    // One byte, so that there is an address.
    private var bytes: [UInt8] = [0]
    private var starts: [Int] = []
    private var lengths: [Int32] = []
    /// How many rows the arrays are of.
    private(set) var rows = 0

    init() {}

    mutating func append(_ number: Int64) {
        starts.append(bytes.count)
        bytes += Self.bytes(number)
        lengths.append(8)
    }

    /// One array: its dimensions, the type of its elements, and each with its length (`array_recv`).
    mutating func append(_ kind: Kind, _ values: [[UInt8]?]) {
        let start = bytes.count
        rows = values.count
        starts.append(start)
        for number in [1, 1, kind.element, Int32(values.count), 1] { bytes += Self.bytes(number) }
        for value in values {
            bytes += Self.bytes(value.map { Int32($0.count) } ?? -1)
            bytes += value ?? []
        }
        lengths.append(Int32(bytes.count - start))
    }

    static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        unsafe withUnsafeBytes(of: number.bigEndian) { unsafe [UInt8]($0) }
    }

    /// Hands over what libpq wants: the values' addresses, their lengths, and their formats. They live as long as the
    /// call.
    func withPointers<Value>(
        _ body: (Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> Value
    ) -> Value {
        unsafe bytes.withUnsafeBytes { bytes in
            let base = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            let values = unsafe starts.map { start in unsafe base.map { unsafe UnsafePointer($0 + start) } }
            let formats = [Int32](repeating: 1, count: lengths.count)
            return unsafe body(Int32(lengths.count), values, lengths, formats)
        }
    }
}
