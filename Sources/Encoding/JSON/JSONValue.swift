/// A value inside a checked document; it keeps the document alive.
///
/// Each property answers nil when the value is of another kind: nothing is turned from one kind into another.
package struct JSONValue: Sendable {
    /// The six kinds of RFC 8259, with the two literals `true` and `false` as one.
    package enum Kind: String, Equatable, Sendable {
        case object, array, string, number, boolean, null
    }

    let tape: JSONTape
    let index: Int

    var node: JSONNode { tape.nodes[index] }

    package var kind: Kind {
        switch node.kind {
        case .object: .object
        case .array: .array
        case .plainString, .escapedString: .string
        case .integer, .decimal: .number
        case .yes, .no: .boolean
        case .null: .null
        }
    }

    package var object: JSONObject? {
        node.kind == .object ? JSONObject(tape: tape, index: index) : nil
    }

    package var array: JSONArray? {
        node.kind == .array ? JSONArray(tape: tape, index: index) : nil
    }

    package var string: String? {
        let node = node
        guard node.kind == .plainString else { return utf8.map { String(decoding: $0, as: UTF8.self) } }
        // The parser has let nothing in but UTF-8.
        let bytes = tape.bytes
        guard let text = try? UTF8Span(validating: bytes.span.extracting(node.range)) else { return nil }
        return String(copying: text)
    }

    /// What the string says, as UTF-8; a slice of the text itself when the string holds no escape.
    package var utf8: ArraySlice<UInt8>? {
        let node = node
        switch node.kind {
        case .plainString: return tape.bytes[node.range]
        case .escapedString: return JSONString.unescape(tape.bytes[node.range].span)[...]
        default: return nil
        }
    }

    /// A number that is written without point and exponent and fits. `-0` is 0; `1.0` and `1e3` are nil.
    package var int64: Int64? {
        let node = node
        return node.kind == .integer ? JSONNumber.int64(tape.bytes[node.range]) : nil
    }

    /// Any number, rounded to the nearest double; nil if that would be infinite.
    package var double: Double? {
        let node = node
        guard node.kind == .integer || node.kind == .decimal else { return nil }
        return JSONNumber.double(tape.bytes[node.range])
    }

    /// A count of milliseconds: an integer, or any other number with its fraction cut off.
    ///
    /// Xcode's StoreKit testing signs dates with a fraction of a millisecond.
    package var milliseconds: Int64? {
        if node.kind == .integer { return int64 }
        // Both bounds are doubles that an Int64 holds, so the conversion, which cuts off, cannot trap.
        guard let double, double.magnitude < 0x1p63 else { return nil }
        return Int64(double)
    }

    package var bool: Bool? {
        switch node.kind {
        case .yes: true
        case .no: false
        default: nil
        }
    }

    package var isNull: Bool { node.kind == .null }

    /// The value exactly as it stands in the text, a string with its quotation marks.
    package var raw: ArraySlice<UInt8> {
        let node = node
        return node.isString ? tape.bytes[Int(node.start) - 1..<Int(node.end) + 1] : tape.bytes[node.range]
    }

    /// Where ``raw`` starts, counted in bytes from the start of the text.
    package var offset: Int {
        node.isString ? Int(node.start) - 1 : Int(node.start)
    }

    /// Whether this is a string that says `text`, byte for byte; cheaper than ``string``.
    package func says(_ text: String) -> Bool {
        tape.says(text, index)
    }
}
