import Encoding
package import PurchaseModel

extension AccountToken {
    /// `nil` unless the text is a UUID: 8-4-4-4-12 hexadecimal digits, in either case.
    package init?(uuid text: String) {
        let letters = text.utf8.span
        let hyphen = UInt8(ascii: "-")
        guard letters.count == 36, letters[8] == hyphen, letters[13] == hyphen, letters[18] == hyphen,
            letters[23] == hyphen
        else { return nil }
        guard
            let first = AccountToken.number(letters, 0..<8), let second = AccountToken.number(letters, 9..<13),
            let third = AccountToken.number(letters, 14..<18), let fourth = AccountToken.number(letters, 19..<23),
            let fifth = AccountToken.number(letters, 24..<36)
        else { return nil }
        self.init(high: first << 32 | second << 16 | third, low: fourth << 48 | fifth)
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
