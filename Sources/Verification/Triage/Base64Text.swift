import Encoding

/// Base64 as people send it: in lines, in the alphabet of URLs, cut out of a JSON text with its escapes, or with the
/// spaces that a form made of each `+`.
struct Base64Text {
    private(set) var isEscaped = false
    private(set) var isWrapped: Bool
    /// The standard alphabet, padding, and spaces.
    private let text: [UInt8]
    private let hasSpaces: Bool

    /// `nil` for an escape that no base64 needs.
    init?(_ bytes: ArraySlice<UInt8>) {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        var hasSpaces = false
        var hasLines = false
        var position = bytes.startIndex
        while position < bytes.endIndex {
            let byte = bytes[position]
            position += 1
            switch byte {
            case 0x0A, 0x0D, 0x09: hasLines = true
            case 0x20:
                hasSpaces = true
                text.append(byte)
            case UInt8(ascii: "-"): text.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): text.append(UInt8(ascii: "/"))
            case UInt8(ascii: "\\"):
                isEscaped = true
                guard let letter = Base64Text.escaped(bytes, &position) else { return nil }
                if letter == 0x0A { hasLines = true } else { text.append(letter) }
            default: text.append(byte)
            }
        }
        self.text = text
        self.hasSpaces = hasSpaces
        isWrapped = hasLines || hasSpaces
    }

    /// What the text stands for; of a text that was cut off in the middle of a group what is there, so that it can be
    /// told from junk.
    func decoded() -> [UInt8]? {
        let plain = hasSpaces ? text.filter { $0 != 0x20 } : text
        guard hasSpaces else { return Base64Text.decode(plain) ?? wholeGroups(of: plain) }
        let restored = text.map { $0 == 0x20 ? UInt8(ascii: "+") : $0 }
        var candidates = hasRegularSpaces ? [plain, restored] : [restored, plain]
        // One at the very end was taken for white space around the text.
        if restored.count % 4 == 3 { candidates.append(restored + [UInt8(ascii: "+")]) }
        let readings = candidates.compactMap(Base64Text.decode)
        return readings.first(where: Base64Text.isWhole) ?? readings.first ?? wholeGroups(of: plain)
    }

    private static func decode(_ text: [UInt8]) -> [UInt8]? {
        try? Base64.decode(text, .standard, padding: .optional)
    }

    private func wholeGroups(of text: [UInt8]) -> [UInt8]? {
        let digits = text.prefix { $0 != UInt8(ascii: "=") }
        guard digits.count >= 64, text[digits.count...].allSatisfy({ $0 == UInt8(ascii: "=") }) else { return nil }
        return try? Base64.decode(digits.prefix(digits.count / 4 * 4), .standard, padding: .forbidden)
    }

    /// Lines that were joined by spaces are equally long, but for the last; what was a `+` stands anywhere.
    private var hasRegularSpaces: Bool {
        var width: Int?
        var length = 0
        for byte in text {
            guard byte == 0x20 else {
                length += 1
                continue
            }
            if length != width ?? length { return false }
            width = length
            length = 0
        }
        return length <= width ?? length
    }

    /// Whether an app receipt is as long as it says; true of everything else.
    private static func isWhole(_ decoded: [UInt8]) -> Bool {
        guard decoded.count >= 2, decoded[0] == 0x30, decoded[1] >= 0x80 else { return true }
        let lengthOctets = Int(decoded[1] & 0x7F)
        guard lengthOctets > 0 else { return decoded.suffix(2).elementsEqual([0, 0]) }
        guard lengthOctets <= 4, decoded.count >= 2 + lengthOctets else { return false }
        let length = decoded[2..<2 + lengthOctets].reduce(0) { $0 << 8 | Int($1) }
        return decoded.count == 2 + lengthOctets + length
    }

    /// What an escape of a JSON string stands for, where it can stand in base64; `position` is behind its backslash.
    private static func escaped(_ bytes: ArraySlice<UInt8>, _ position: inout Int) -> UInt8? {
        guard position < bytes.endIndex else { return nil }
        let letter = bytes[position]
        position += 1
        switch letter {
        case UInt8(ascii: "/"): return letter
        case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"): return 0x0A
        case UInt8(ascii: "u"):
            guard bytes.endIndex - position >= 4 else { return nil }
            var code: UInt16 = 0
            for digit in bytes[position..<position + 4] {
                guard let value = Hexadecimal.value(of: digit) else { return nil }
                code = code << 4 | UInt16(value)
            }
            position += 4
            // Some writers escape `+`, `/` and `=` so.
            guard code > 0x20, code < 0x7F else { return nil }
            return UInt8(truncatingIfNeeded: code)
        default: return nil
        }
    }
}
