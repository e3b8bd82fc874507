import Encoding

/// A NeXT text property list whose values are all strings: what iOS 6 transaction receipts are written in.
///
/// `{ "key" = "value"; other = word; }`, with blanks and comments between. Nested lists, dictionaries and data do not
/// occur in receipts and are refused. Keys are ASCII and stand once.
package struct OldPlist: Hashable, Sendable {
    /// A key and its value, escapes resolved.
    package struct Pair: Hashable, Sendable {
        package let key: String
        package let value: String

        package init(key: String, value: String) {
            self.key = key
            self.value = value
        }
    }

    /// A real receipt has 6 kB.
    package static let sizeMax = 256 * 1_024
    /// A real receipt has 25.
    package static let pairsMax = 128

    /// In the order in which they stand.
    package let pairs: [Pair]

    /// Reads the whole text; only blanks and comments may follow the closing brace.
    package init(_ text: Span<UInt8>) throws(FormatFault) {
        guard text.count <= Self.sizeMax else { throw .tooLarge(at: Self.sizeMax) }
        var reader = OldPlistReader()
        var pairs: [Pair] = []
        try reader.expect(UInt8(ascii: "{"), in: text)
        while try !reader.take(UInt8(ascii: "}"), in: text) {
            guard pairs.count < Self.pairsMax else { throw .tooLarge(at: reader.position) }
            let keyStart = reader.position
            let key = try reader.string(in: text)
            guard !key.isEmpty, key.utf8.allSatisfy({ $0 < 0x80 }) else { throw .invalidSyntax(at: keyStart) }
            guard !pairs.contains(where: { $0.key == key }) else { throw .repeated(field: key) }
            try reader.expect(UInt8(ascii: "="), in: text)
            let value = try reader.string(in: text)
            try reader.expect(UInt8(ascii: ";"), in: text)
            pairs.append(Pair(key: key, value: value))
        }
        try reader.skipBlanks(in: text)
        guard reader.position == text.count else { throw .trailingBytes(at: reader.position) }
        self.pairs = pairs
    }

    /// Whether a text begins like a plist rather than like JSON: after the brace a word, or a string that `=` follows.
    ///
    /// For sorting only; reading decides.
    package static func isLikely(_ text: some Collection<UInt8>) -> Bool {
        let head = Array(text.prefix(512))
        var reader = OldPlistReader()
        do throws(FormatFault) {
            try reader.expect(UInt8(ascii: "{"), in: head.span)
            if try reader.take(UInt8(ascii: "}"), in: head.span) { return false }
            _ = try reader.string(in: head.span)
            return try reader.take(UInt8(ascii: "="), in: head.span)
        } catch {
            return false
        }
    }

    package subscript(key: String) -> String? {
        pairs.first { $0.key == key }?.value
    }

    /// Writes the pairs as Apple does: a tab before each, quotes around all, a line each, no line end after the brace.
    package static func encode(_ pairs: [Pair]) -> [UInt8] {
        var text: [UInt8] = Array("{\n".utf8)
        for pair in pairs {
            text.append(UInt8(ascii: "\t"))
            appendQuoted(pair.key, to: &text)
            text.append(contentsOf: " = ".utf8)
            appendQuoted(pair.value, to: &text)
            text.append(contentsOf: ";\n".utf8)
        }
        text.append(UInt8(ascii: "}"))
        return text
    }

    private static func appendQuoted(_ string: String, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        for byte in string.utf8 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                text.append(UInt8(ascii: "\\"))
            }
            text.append(byte)
        }
        text.append(UInt8(ascii: "\""))
    }
}

/// Where the reading of a text plist stands.
private struct OldPlistReader {
    private(set) var position = 0

    mutating func expect(_ byte: UInt8, in text: Span<UInt8>) throws(FormatFault) {
        guard try take(byte, in: text) else {
            throw position < text.count ? .invalidSyntax(at: position) : .truncated(at: position)
        }
    }

    /// Passes over `byte` if it comes next.
    mutating func take(_ byte: UInt8, in text: Span<UInt8>) throws(FormatFault) -> Bool {
        try skipBlanks(in: text)
        guard position < text.count, text[position] == byte else { return false }
        position += 1
        return true
    }

    /// Passes over blanks, `/* … */` and `// …` to the line's end.
    mutating func skipBlanks(in text: Span<UInt8>) throws(FormatFault) {
        while position < text.count {
            switch text[position] {
            case 0x20, 0x09, 0x0A, 0x0B, 0x0C, 0x0D: position += 1
            case UInt8(ascii: "/"): try skipComment(in: text)
            default: return
            }
        }
    }

    private mutating func skipComment(in text: Span<UInt8>) throws(FormatFault) {
        let start = position
        guard start + 1 < text.count else { throw .invalidSyntax(at: start) }
        position += 2
        switch text[start + 1] {
        case UInt8(ascii: "/"):
            while position < text.count, text[position] != 0x0A, text[position] != 0x0D { position += 1 }
        case UInt8(ascii: "*"):
            while position + 1 < text.count {
                if text[position] == UInt8(ascii: "*"), text[position + 1] == UInt8(ascii: "/") {
                    position += 2
                    return
                }
                position += 1
            }
            throw .truncated(at: text.count)
        default: throw .invalidSyntax(at: start)
        }
    }

    mutating func string(in text: Span<UInt8>) throws(FormatFault) -> String {
        try skipBlanks(in: text)
        guard position < text.count else { throw .truncated(at: position) }
        let start = position
        let quote = text[position]
        let letters: [UInt8]
        if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
            letters = try quoted(by: quote, in: text)
        } else {
            letters = word(in: text)
            guard !letters.isEmpty else { throw .invalidSyntax(at: start) }
        }
        guard let string = String(validating: letters, as: UTF8.self) else { throw .invalidSyntax(at: start) }
        return string
    }

    private mutating func word(in text: Span<UInt8>) -> [UInt8] {
        var letters: [UInt8] = []
        while position < text.count, Self.isWordLetter(text[position]) {
            letters.append(text[position])
            position += 1
        }
        return letters
    }

    /// The letters that need no quotes in the old plist.
    private static func isWordLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case UInt8(ascii: "_"), UInt8(ascii: "$"), UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: "."),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }

    private mutating func quoted(by quote: UInt8, in text: Span<UInt8>) throws(FormatFault) -> [UInt8] {
        position += 1
        var letters: [UInt8] = []
        while position < text.count {
            let byte = text[position]
            switch byte {
            case quote:
                position += 1
                return letters
            case UInt8(ascii: "\\"): try appendEscaped(to: &letters, in: text)
            case 0: throw .invalidSyntax(at: position)
            default:
                letters.append(byte)
                position += 1
            }
        }
        throw .truncated(at: position)
    }

    /// Reads an escape: one letter, up to three octal digits (ASCII only), or `\U` with four hexadecimal ones.
    private mutating func appendEscaped(to letters: inout [UInt8], in text: Span<UInt8>) throws(FormatFault) {
        let start = position
        position += 1
        guard position < text.count else { throw .truncated(at: position) }
        let byte = text[position]
        switch byte {
        case UInt8(ascii: "U"):
            position += 1
            let code = try digits(4, radix: 16, in: text)
            guard code != 0, let scalar = Unicode.Scalar(code) else { throw .invalidSyntax(at: start) }
            letters.append(contentsOf: String(scalar).utf8)
        case 0x30...0x37:
            let code = try digits(3, radix: 8, in: text)
            guard code != 0, code < 0x80 else { throw .invalidSyntax(at: start) }
            letters.append(UInt8(code))
        default:
            guard let letter = Self.escaped(byte) else { throw .invalidSyntax(at: start) }
            letters.append(letter)
            position += 1
        }
    }

    private static func escaped(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "'"), 0x0A: byte
        case UInt8(ascii: "a"): 0x07
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "t"): 0x09
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "v"): 0x0B
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "r"): 0x0D
        default: nil
        }
    }

    /// Reads at most `count` digits, at least one; hexadecimal ones must all be there.
    private mutating func digits(_ count: Int, radix: UInt32, in text: Span<UInt8>) throws(FormatFault) -> UInt32 {
        let start = position
        var code: UInt32 = 0
        while position < text.count, position - start < count, let digit = Hexadecimal.value(of: text[position]),
            digit < radix
        {
            code = code * radix + UInt32(digit)
            position += 1
        }
        guard position > start, radix == 8 || position - start == count else { throw .invalidSyntax(at: start) }
        return code
    }
}
