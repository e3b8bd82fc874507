/// A UUID as text: 8-4-4-4-12 hexadecimal digits (RFC 9562 § 4).
package enum UUIDText {
    /// The first and the last 64 bits; nil for any other text. Digits may be in either case.
    package static func halves(_ text: String) -> (high: UInt64, low: UInt64)? {
        let letters = text.utf8.span
        let hyphen = UInt8(ascii: "-")
        guard letters.count == 36, letters[8] == hyphen, letters[13] == hyphen, letters[18] == hyphen,
            letters[23] == hyphen
        else { return nil }
        guard
            let first = number(letters, 0..<8), let second = number(letters, 9..<13),
            let third = number(letters, 14..<18), let fourth = number(letters, 19..<23),
            let fifth = number(letters, 24..<36)
        else { return nil }
        return (first << 32 | second << 16 | third, fourth << 48 | fifth)
    }

    /// Of at most sixteen digits.
    private static func number(_ letters: Span<UInt8>, _ range: Range<Int>) -> UInt64? {
        var number: UInt64 = 0
        for index in range {
            guard let digit = Hexadecimal.value(of: letters[index]) else { return nil }
            number = number << 4 | UInt64(digit)
        }
        return number
    }
}
