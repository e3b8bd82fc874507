import CPostgres

/// The parameters of one statement, in the server's binary format.
struct PostgreSQLParameters {
    /// PostgreSQL's numbers for the types that we use (`pg_type.dat`).
    enum TypeCode {
        static let int8: Oid = 20
        static let int4: Oid = 23
        static let int2: Oid = 21
        static let text: Oid = 25
        static let bytea: Oid = 17
    }

    private(set) var types: [Oid] = []
    // One byte, so that there is an address even when all values are empty.
    private var bytes: [UInt8] = [0]
    private var starts: [Int] = []
    /// -1 for a null.
    private var lengths: [Int32] = []

    /// - Parameters:
    ///   - values: one for each parameter.
    ///   - types: what the server expects, as it told when it prepared the statement.
    /// - Throws: a number that does not fit.
    init(_ values: [SQLValue], types: [Oid]) throws(PostgreSQLFault) {
        precondition(values.count == types.count, "a query's parameters and its values are counted alike")
        for (value, type) in zip(values, types) { try append(value, type) }
    }

    /// Columns of many rows: an array for each.
    init(_ columns: [BulkColumn], rows: [[SQLValue]]) {
        for (place, column) in columns.enumerated() { append(column.kind, rows.count) { rows[$0][place] } }
    }

    /// Hands over what libpq wants: the values' addresses, their lengths, and their formats.
    func withPointers<Value>(
        _ body: (
            Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?
        ) -> Value
    ) -> Value {
        unsafe bytes.withUnsafeBytes { bytes in
            // libpq reads the values before the call returns; an address in the array stays good until then.
            let base = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            let values = unsafe zip(starts, lengths).map { start, length in
                unsafe length < 0 ? nil : base.map { unsafe $0 + start }
            }
            let formats = [Int32](repeating: 1, count: lengths.count)
            return unsafe body(Int32(lengths.count), values, lengths, formats)
        }
    }

    private mutating func append(_ value: SQLValue, _ type: Oid) throws(PostgreSQLFault) {
        types.append(type)
        starts.append(bytes.count)
        switch (value, type) {
        case (.null, _): lengths.append(-1)
        case (.integer(let number), TypeCode.int8): lengths.append(append(number))
        case (.integer(let number), TypeCode.int4):
            guard let narrow = Int32(exactly: number) else { throw Self.outOfRange }
            lengths.append(append(narrow))
        case (.integer(let number), TypeCode.int2):
            guard let narrow = Int16(exactly: number) else { throw Self.outOfRange }
            lengths.append(append(narrow))
        case (.text(let text), _):
            bytes += text.utf8
            lengths.append(Int32(bytes.count - (starts.last ?? 0)))
        case (.bytes(let value), TypeCode.bytea):
            bytes += value
            lengths.append(Int32(value.count))
        default: preconditionFailure("a parameter's type is one that its value can have")
        }
    }

    private static let outOfRange = PostgreSQLFault(state: "22003", isLost: false)

    /// One array: its dimensions, the type of its elements, and each with its length (`array_recv`).
    private mutating func append(_ kind: BulkColumn.Kind, _ count: Int, _ element: (Int) -> SQLValue) {
        let (array, item): (Oid, Oid) =
            switch kind {
            case .integer: (1_016, TypeCode.int8)
            case .text: (1_009, TypeCode.text)
            case .bytes: (1_001, TypeCode.bytea)
            }
        types.append(array)
        let start = bytes.count
        starts.append(start)
        append(Int32(count == 0 ? 0 : 1))
        append(Int32(1))
        append(Int32(item))
        if count > 0 {
            append(Int32(count))
            append(Int32(1))
        }
        for place in 0..<count {
            switch element(place) {
            case .null: append(Int32(-1))
            case .integer(let number):
                append(Int32(8))
                append(number)
            case .text(var text):
                append(Int32(text.utf8.count))
                text.withUTF8 { unsafe bytes.append(contentsOf: $0) }
            case .bytes(let value):
                append(Int32(value.count))
                bytes += value
            }
        }
        lengths.append(Int32(bytes.count - start))
    }

    @discardableResult
    private mutating func append(_ number: some FixedWidthInteger) -> Int32 {
        var number = number.bigEndian
        unsafe withUnsafeBytes(of: &number) { unsafe bytes.append(contentsOf: $0) }
        return Int32(number.bitWidth / 8)
    }
}
