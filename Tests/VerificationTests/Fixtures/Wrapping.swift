import Encoding

/// How proofs arrive: each case is one way of sending, met in the field or likely to be.
enum Wrapping: String, CaseIterable, Sendable {
    case none, spaceAround
    case base64, base64Unpadded, base64URL, base64URLUnpadded
    case linesOf76, linesOf64WithReturns, linesOf60, linesBySpaces, linesIndented
    case percentEncoded, spacesForPlus, jsonEscaped, jsonEscapedLines, jsonUnicodeEscapes
    case jsonString, jsonStringWithEscapes, twice, twiceInLines, percentTwice

    var isMereSpace: Bool { self == .none || self == .spaceAround }

    /// `nil` where it makes no sense: bytes that are no text cannot stand between spaces.
    func applied(to proof: [UInt8]) -> [UInt8]? {
        func encoded(_ alphabet: Base64.Alphabet = .standard, isPadded: Bool = true) -> [UInt8] {
            Base64.encode(proof, alphabet, isPadded: isPadded)
        }
        switch self {
        case .none: return proof
        case .spaceAround:
            let text = proof.first == 0x30 ? encoded() : proof
            return Array(" \r\n\t\u{0B}\u{0C}".utf8) + text + Array("\n \n".utf8)
        case .base64: return encoded()
        case .base64Unpadded: return encoded(isPadded: false)
        case .base64URL: return encoded(.url)
        case .base64URLUnpadded: return encoded(.url, isPadded: false)
        case .linesOf76: return Wrapping.lines(encoded(), 76, [0x0A])
        case .linesOf64WithReturns: return Wrapping.lines(encoded(), 64, [0x0D, 0x0A])
        case .linesOf60: return Wrapping.lines(encoded(), 60, [0x0D])
        case .linesBySpaces: return Wrapping.lines(encoded(), 76, [0x20])
        case .linesIndented: return Wrapping.lines(encoded(), 76, Array("\n\t".utf8))
        case .percentEncoded: return Wrapping.percentEncoded(encoded())
        case .percentTwice: return Wrapping.percentEncoded(Wrapping.percentEncoded(encoded()))
        case .spacesForPlus: return encoded().map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }
        case .jsonEscaped: return Wrapping.replaced(encoded(), UInt8(ascii: "/"), by: "\\/")
        case .jsonEscapedLines:
            return Wrapping.lines(Wrapping.replaced(encoded(), UInt8(ascii: "/"), by: "\\/"), 80, Array("\\r\\n".utf8))
        case .jsonUnicodeEscapes:
            let text = Wrapping.replaced(encoded(), UInt8(ascii: "+"), by: "\\u002B")
            return Wrapping.replaced(text, UInt8(ascii: "="), by: "\\u003d")
        case .jsonString: return Array("\"".utf8) + encoded() + Array("\"".utf8)
        case .jsonStringWithEscapes:
            let text = Wrapping.replaced(encoded(), UInt8(ascii: "/"), by: "\\/")
            return Array("\"".utf8) + Wrapping.replaced(text, UInt8(ascii: "+"), by: "\\u002b") + Array("\\n\"".utf8)
        case .twice: return Base64.encode(encoded(), .standard, isPadded: true)
        case .twiceInLines:
            return Wrapping.lines(
                Base64.encode(Wrapping.lines(encoded(), 76, [0x0A]), .url, isPadded: true),
                64,
                [0x0A]
            )
        }
    }

    static func lines(_ text: [UInt8], _ width: Int, _ end: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        for (index, byte) in text.enumerated() {
            // A line does not begin in the middle of an escape.
            if index > 0, index % width == 0, text[index - 1] != UInt8(ascii: "\\") { result += end }
            result.append(byte)
        }
        return result
    }

    private static func replaced(_ text: [UInt8], _ byte: UInt8, by escape: String) -> [UInt8] {
        text.flatMap { $0 == byte ? Array(escape.utf8) : [$0] }
    }

    private static func percentEncoded(_ text: [UInt8]) -> [UInt8] {
        text.flatMap { byte -> [UInt8] in
            let isPlain = byte < 0x80 && (byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A || byte >= 0x30 && byte <= 0x39)
            return isPlain ? [byte] : Array("%\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true))".utf8)
        }
    }
}
