/// Text as a part of a URL: whatever is not plain stands there as `%XX`. RFC 3986 § 2.1.
package enum PercentCoding {
    package static func encode(_ text: String) -> String {
        var encoded: [UInt8] = []
        // One or two dots alone would be a step in a path, and no name.
        let isStep = text == "." || text == ".."
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: ".") where isStep: encoded += [UInt8(ascii: "%"), digits[2], digits[14]]
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.append(byte)
            default:
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// What was encoded; `nil` unless every `%` has two digits and the whole is UTF-8 without control characters. A `+` is
    /// a plus.
    package static func decode(_ text: some Sequence<UInt8>) -> String? {
        guard let decoded = bytes(of: text), decoded.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        return String(validating: decoded, as: UTF8.self)
    }

    /// What was encoded, whatever it is; `nil` unless every `%` has two digits.
    package static func bytes(of text: some Sequence<UInt8>) -> [UInt8]? {
        var decoded: [UInt8] = []
        var rest = text.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(Hexadecimal.value), let low = rest.next().flatMap(Hexadecimal.value)
            else { return nil }
            decoded.append(high << 4 | low)
        }
        return decoded
    }

    /// With its question mark; empty without parameters.
    package static func query(_ parameters: [(name: String, value: String)]) -> String {
        guard !parameters.isEmpty else { return "" }
        return "?" + parameters.map { encode($0.name) + "=" + encode($0.value) }.joined(separator: "&")
    }

    private static let digits = Array("0123456789ABCDEF".utf8)
}
