import TestSupport

/// Documents that a seed decides: every kind of value, white space, escapes in every spelling.
enum RandomJSON {
    static func text(_ random: inout SeededRandom) -> [UInt8] {
        Array(value(&random, depth: Int.random(in: 0...5, using: &random)).utf8)
    }

    /// A string with its quotation marks.
    static func quoted(_ random: inout SeededRandom) -> String {
        let parts = (0..<Int.random(in: 0...12, using: &random)).map { _ in part(&random) }
        return "\"" + parts.joined() + "\""
    }

    private static func value(_ random: inout SeededRandom, depth: Int) -> String {
        switch Int.random(in: 0...(depth > 0 ? 7 : 4), using: &random) {
        case 0: return ["null", "true", "false"].randomElement(using: &random) ?? "null"
        case 1: return String(Int64(bitPattern: random.next()) >> Int64.random(in: 0...63, using: &random))
        case 2: return decimal(&random)
        case 3, 4: return quoted(&random)
        case 5:
            let elements = (0..<Int.random(in: 0...5, using: &random)).map { _ in
                space(&random) + value(&random, depth: depth - 1) + space(&random)
            }
            return "[" + elements.joined(separator: ",") + space(&random) + "]"
        default:
            let count = Int.random(in: 0...(depth == 1 ? 40 : 6), using: &random)
            let members = (0..<count).map { index in
                let name = quoted(&random).dropLast() + "\(index)\""
                return space(&random) + name + space(&random) + ":" + space(&random) + value(&random, depth: depth - 1)
            }
            return "{" + members.joined(separator: ",") + space(&random) + "}"
        }
    }

    private static func decimal(_ random: inout SeededRandom) -> String {
        let sign = Bool.random(using: &random) ? "-" : ""
        let whole = Int.random(in: 0...9_999_999, using: &random)
        let fraction = Bool.random(using: &random) ? ".\(Int.random(in: 0...99_999, using: &random))" : ""
        let exponent = Bool.random(using: &random) ? "e\(Int.random(in: -30...30, using: &random))" : ""
        return sign + "\(whole)" + fraction + exponent
    }

    private static func space(_ random: inout SeededRandom) -> String {
        ["", "", "", " ", "\n", "\t", "\r\n  "].randomElement(using: &random) ?? ""
    }

    private static func part(_ random: inout SeededRandom) -> String {
        switch Int.random(in: 0...7, using: &random) {
        case 0: return ["\\\"", "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t"].randomElement(using: &random) ?? ""
        case 1: return "\\u" + hex(UInt32.random(in: 1...0xD7FF, using: &random), &random)
        case 2:
            let offset = UInt32.random(in: 0...0xFFFFF, using: &random)
            return "\\u" + hex(0xD800 + offset >> 10, &random) + "\\u" + hex(0xDC00 + offset & 0x3FF, &random)
        case 3:
            return ["é", "e\u{301}", "\u{301}", "\u{2028}", "😀", "\u{7F}", "\u{10FFFF}", "\u{200D}"]
                .randomElement(using: &random) ?? ""
        default:
            let letters = (0..<Int.random(in: 1...12, using: &random)).map { _ in
                Unicode.Scalar(UInt8.random(in: 0x5D...0x7E, using: &random))
            }
            return String(String.UnicodeScalarView(letters))
        }
    }

    private static func hex(_ value: UInt32, _ random: inout SeededRandom) -> String {
        let digits = String(value, radix: 16, uppercase: Bool.random(using: &random))
        return String(repeating: "0", count: 4 - digits.utf8.count) + digits
    }
}
