/// Growing JSON text, one scalar at a time. Escapes are chosen byte by byte, so no combining mark can hide a quotation
/// mark.
struct JSONText {
    var bytes: [UInt8] = []

    mutating func string(_ value: String) {
        let text = value.utf8.span
        if Self.needsEscape(text) {
            bytes.append(UInt8(ascii: "\""))
            for index in text.indices { append(escaping: text[index]) }
            return bytes.append(UInt8(ascii: "\""))
        }
        // Room is looked for once, and not for each byte.
        bytes.append(addingCapacity: text.count + 2) { output in
            output.append(UInt8(ascii: "\""))
            for index in text.indices { output.append(text[index]) }
            output.append(UInt8(ascii: "\""))
        }
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

    mutating func boolean(_ value: Bool) {
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
    }

    mutating func null() {
        bytes.append(contentsOf: "null".utf8)
    }

    private static func needsEscape(_ text: Span<UInt8>) -> Bool {
        for index in text.indices where needsEscape(text[index]) { return true }
        return false
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
