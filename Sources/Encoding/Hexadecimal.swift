/// Bytes as pairs of hexadecimal digits.
package enum Hexadecimal {
    /// Two lower-case digits for each byte.
    package static func encode(_ bytes: some Collection<UInt8>) -> String { encode(Array(bytes)) }

    /// Two lower-case digits for each byte.
    package static func encode(_ bytes: [UInt8]) -> String { encode(bytes.span, after: "") }

    /// Two lower-case digits for each byte, after what names them.
    package static func encode(_ bytes: Span<UInt8>, after prefix: String) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(prefix.utf8.count + bytes.count * 2)
        text.append(contentsOf: prefix.utf8)
        for index in bytes.indices {
            text.append(digit(bytes[index] >> 4))
            text.append(digit(bytes[index] & 0xF))
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes that pairs of digits, in either case, stand for; nil for an odd count or any other byte.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(text.count / 2)
        var high: UInt8?
        for byte in text {
            guard let value = value(of: byte) else { return nil }
            if let first = high {
                result.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return high == nil ? result : nil
    }

    package static func decode(_ text: String) -> [UInt8]? { decode(text.utf8) }

    /// The bytes of a UUID or of a hardware address, whose digits stand in groups with `-` or `:` between them.
    package static func decodeGroups(_ text: some Collection<UInt8>) -> [UInt8]? {
        decode(text.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: ":") })
    }

    /// What one digit is worth; nil if the byte is none.
    package static func value(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The lower-case digit for the low four bits.
    static func digit(_ value: UInt8) -> UInt8 {
        let low = value & 0xF
        return low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + (low - 10)
    }
}
