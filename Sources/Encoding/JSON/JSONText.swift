/// Growing JSON text, one scalar at a time. Escapes are chosen byte by byte, so no combining mark can hide a quotation
/// mark.
struct JSONText {
    var bytes: [UInt8] = []

    mutating func string(_ value: String) {
        let text = value.utf8.span
        let start = bytes.count
        if !append(text, before: false, after: false) { escape(text, from: start) }
    }

    /// The name of a member, with what parts it from its value, and from a member before it.
    mutating func name(_ value: String, isFirst: Bool) {
        let text = value.utf8.span
        let start = bytes.count
        if append(text, before: !isFirst, after: true) { return }
        escape(text, from: isFirst ? start : start + 1)
        bytes.append(UInt8(ascii: ":"))
    }

    /// Appends a text as if no byte of it needed escaping: hardly any does, and room is looked for once.
    ///
    /// - Parameters:
    ///   - text: between quotation marks.
    ///   - hasComma: whether a comma stands before it.
    ///   - hasColon: whether a colon stands after it.
    /// - Returns: false if a byte needs escaping: then what was appended is no JSON.
    private mutating func append(_ text: Span<UInt8>, before hasComma: Bool, after hasColon: Bool) -> Bool {
        var isPlain = true
        bytes.append(addingCapacity: text.count + 4) { output in
            if hasComma { output.append(UInt8(ascii: ",")) }
            output.append(UInt8(ascii: "\""))
            for index in text.indices {
                let byte = text[index]
                if Self.needsEscape(byte) { isPlain = false }
                output.append(byte)
            }
            output.append(UInt8(ascii: "\""))
            if hasColon { output.append(UInt8(ascii: ":")) }
        }
        return isPlain
    }

    /// Puts a text with its escapes in the place of what was appended without.
    private mutating func escape(_ text: Span<UInt8>, from start: Int) {
        bytes.removeSubrange(start...)
        bytes.append(UInt8(ascii: "\""))
        for index in text.indices { append(escaping: text[index]) }
        bytes.append(UInt8(ascii: "\""))
    }

    /// A moment in the shape of ``RFC3339``, which no byte of needs escaping.
    mutating func moment(_ time: CivilTime) {
        bytes.append(UInt8(ascii: "\""))
        RFC3339.append(time, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    mutating func integer(_ value: Int64) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        var rest = value.magnitude
        let start = bytes.count
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        bytes[start...].reverse()
    }

    /// A number as a string: beyond 2⁵³ not every reader keeps a number as it is.
    mutating func quoted(_ value: Int64) {
        bytes.append(UInt8(ascii: "\""))
        integer(value)
        bytes.append(UInt8(ascii: "\""))
    }

    mutating func boolean(_ value: Bool) {
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
    }

    mutating func null() {
        bytes.append(contentsOf: "null".utf8)
    }

    /// What RFC 8259 wants escaped, and DEL, which no terminal should be sent.
    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x7F
    }

    private mutating func append(escaping byte: UInt8) {
        guard Self.needsEscape(byte) else { return bytes.append(byte) }
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(contentsOf: [UInt8(ascii: "\\"), byte])
        case UInt8(ascii: "\n"): bytes.append(contentsOf: "\\n".utf8)
        case UInt8(ascii: "\r"): bytes.append(contentsOf: "\\r".utf8)
        case UInt8(ascii: "\t"): bytes.append(contentsOf: "\\t".utf8)
        default:
            bytes.append(contentsOf: "\\u00".utf8)
            bytes.append(Hexadecimal.digit(byte >> 4))
            bytes.append(Hexadecimal.digit(byte & 0xF))
        }
    }
}
