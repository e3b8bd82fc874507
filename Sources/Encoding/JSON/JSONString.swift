/// The inside of a JSON string: where it ends, whether it may stand, and what it says.
enum JSONString {
    /// Finds the closing quotation mark and checks every byte before it; `start` is the byte after the opening one.
    static func scan(_ input: Span<UInt8>, from start: Int) throws(JSONFault) -> (end: Int, isEscaped: Bool) {
        var at = start
        var isEscaped = false
        while true {
            at = skipPlain(input, at)
            guard at < input.count else { throw JSONFault(.unexpectedEnd, at: at) }
            let byte = input[at]
            if byte == UInt8(ascii: "\"") {
                return (at, isEscaped)
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
                at = try escape(input, at).end
            } else if byte < 0x20 {
                throw JSONFault(.controlCharacter, at: at)
            } else {
                guard let length = sequenceLength(input, at) else { throw JSONFault(.invalidUTF8, at: at) }
                at &+= length
            }
        }
    }

    /// Steps over ASCII that may stand in a string as it is.
    private static func skipPlain(_ input: Span<UInt8>, _ start: Int) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var at = start
        while at &+ 8 <= input.count {
            let part = input.extracting(at..<at &+ 8)
            let low =
                UInt64(part[0]) | UInt64(part[1]) &<< 8 | UInt64(part[2]) &<< 16 | UInt64(part[3]) &<< 24
            let high =
                UInt64(part[4]) | UInt64(part[5]) &<< 8 | UInt64(part[6]) &<< 16 | UInt64(part[7]) &<< 24
            let word = low | high &<< 32
            // The top bit of each byte says: a quotation mark, a backslash, below 0x20, or not ASCII. A borrow can
            // mark a byte above such a one wrongly, never one below, so the first mark is right.
            let quote = word ^ ones &* 0x22
            let backslash = word ^ ones &* 0x5C
            let marks =
                (quote &- ones) & ~quote | (backslash &- ones) & ~backslash | (word &- ones &* 0x20) & ~word | word
            let special = marks & 0x8080_8080_8080_8080
            if special != 0 { return at &+ special.trailingZeroBitCount &>> 3 }
            at &+= 8
        }
        while at < input.count {
            let byte = input[at]
            guard byte &- 0x20 < 0x60, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") else { break }
            at &+= 1
        }
        return at
    }

    /// The bytes that an escaped string stands for. The text was scanned before, so nothing is left to refuse.
    static func unescape(_ text: Span<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var at = 0
        while at < text.count {
            guard text[at] == UInt8(ascii: "\\"), let (scalar, end) = try? escape(text, at) else {
                result.append(text[at])
                at += 1
                continue
            }
            result.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            at = end
        }
        return result
    }

    /// Whether an escaped string stands for `wanted`; stops at the first byte that differs.
    static func says(_ wanted: Span<UInt8>, _ text: Span<UInt8>) -> Bool {
        var at = 0
        var matched = 0
        while at < text.count {
            if text[at] == UInt8(ascii: "\\"), let (scalar, end) = try? escape(text, at) {
                for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
                    guard matched < wanted.count, wanted[matched] == byte else { return false }
                    matched += 1
                }
                at = end
            } else {
                guard matched < wanted.count, wanted[matched] == text[at] else { return false }
                matched += 1
                at += 1
            }
        }
        return matched == wanted.count
    }

    /// Reads the escape whose backslash lies at `start`.
    private static func escape(
        _ input: Span<UInt8>,
        _ start: Int
    ) throws(JSONFault) -> (scalar: Unicode.Scalar, end: Int) {
        guard start + 1 < input.count else { throw JSONFault(.unexpectedEnd, at: input.count) }
        switch input[start + 1] {
        case UInt8(ascii: "\""): return ("\"", start + 2)
        case UInt8(ascii: "\\"): return ("\\", start + 2)
        case UInt8(ascii: "/"): return ("/", start + 2)
        case UInt8(ascii: "b"): return ("\u{8}", start + 2)
        case UInt8(ascii: "f"): return ("\u{C}", start + 2)
        case UInt8(ascii: "n"): return ("\n", start + 2)
        case UInt8(ascii: "r"): return ("\r", start + 2)
        case UInt8(ascii: "t"): return ("\t", start + 2)
        case UInt8(ascii: "u"): return try unicodeEscape(input, start)
        default: throw JSONFault(.invalidEscape, at: start)
        }
    }

    /// `\uXXXX`, or two of them that name one character outside the basic plane.
    private static func unicodeEscape(
        _ input: Span<UInt8>,
        _ start: Int
    ) throws(JSONFault) -> (scalar: Unicode.Scalar, end: Int) {
        let first = try fourDigits(input, from: start + 2, escapeAt: start)
        if first == 0 { throw JSONFault(.nullCharacter, at: start) }
        if let scalar = Unicode.Scalar(first) { return (scalar, start + 6) }
        // What is no scalar is one half of a surrogate pair; only the high half may come first.
        guard first < 0xDC00 else { throw JSONFault(.loneSurrogate, at: start) }
        guard start + 7 < input.count, input[start + 6] == UInt8(ascii: "\\"), input[start + 7] == UInt8(ascii: "u")
        else { throw JSONFault(.loneSurrogate, at: start) }
        let second = try fourDigits(input, from: start + 8, escapeAt: start + 6)
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00))
        else { throw JSONFault(.loneSurrogate, at: start) }
        return (scalar, start + 12)
    }

    private static func fourDigits(
        _ input: Span<UInt8>,
        from start: Int,
        escapeAt: Int
    ) throws(JSONFault) -> UInt16 {
        var value: UInt16 = 0
        for at in start..<start + 4 {
            guard at < input.count else { throw JSONFault(.unexpectedEnd, at: input.count) }
            guard let digit = Hexadecimal.value(of: input[at]) else { throw JSONFault(.invalidEscape, at: escapeAt) }
            value = value << 4 | UInt16(digit)
        }
        return value
    }

    /// How many bytes the UTF-8 sequence at `at` has, whose first byte is not ASCII; nil if it is none.
    ///
    /// The Unicode Standard, table 3-7: the second byte's range rules out overlong forms, surrogates and what lies
    /// beyond U+10FFFF.
    private static func sequenceLength(_ input: Span<UInt8>, _ at: Int) -> Int? {
        let lead = input[at]
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch lead {
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: length = 3
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        case 0xF1...0xF3: length = 4
        default: return nil
        }
        guard length <= input.count - at, second.contains(input[at + 1]) else { return nil }
        for index in at + 2..<max(at + 2, at + length) where input[index] & 0xC0 != 0x80 { return nil }
        return length
    }
}
