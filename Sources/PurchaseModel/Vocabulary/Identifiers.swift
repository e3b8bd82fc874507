/// The number that the App Store gives one charge, renewal or restore.
///
/// Apple sends it as a string of decimal digits; 16 to 19 of them today, `"0"`, `"1"` … from Xcode. Only the
/// canonical form is one: no sign, no leading zero, no space, at most `Int64.max`. So equal text is equal value.
package struct TransactionID: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let number: Int64

    /// `nil` for a negative number.
    package init?(number: Int64) {
        guard number >= 0 else { return nil }
        self.number = number
    }

    /// `nil` unless the text is the canonical decimal form of a non-negative `Int64`.
    package init?(_ text: String) {
        self.init(digits: text.utf8.span)
    }

    /// The same of a text's octets.
    package init?(digits: Span<UInt8>) {
        guard digits.count >= 1, digits.count <= 19, digits[0] != 0x30 || digits.count == 1 else { return nil }
        // Nineteen digits fit without a sign.
        var number: UInt64 = 0
        var at = 0
        while digits.count &- at >= 8 {
            guard let eight = Self.eightDigits(digits.extracting(at..<at &+ 8)) else { return nil }
            number = number &* 100_000_000 &+ eight
            at &+= 8
        }
        while at < digits.count {
            let digit = digits[at] &- 0x30
            guard digit < 10 else { return nil }
            number = number &* 10 &+ UInt64(digit)
            at &+= 1
        }
        guard let number = Int64(exactly: number) else { return nil }
        self.number = number
    }

    /// What eight digits are worth, in one go: first each is joined with its neighbour, then each pair, then each four.
    @inline(__always)
    private static func eightDigits(_ text: Span<UInt8>) -> UInt64? {
        let low = UInt64(text[0]) | UInt64(text[1]) &<< 8 | UInt64(text[2]) &<< 16 | UInt64(text[3]) &<< 24
        let high = UInt64(text[4]) | UInt64(text[5]) &<< 8 | UInt64(text[6]) &<< 16 | UInt64(text[7]) &<< 24
        let digits = (low | high &<< 32) ^ 0x3030_3030_3030_3030
        // The top bit of a byte that is more than nine is set, or gets set by what nine has not room for.
        guard ((digits &+ 0x7676_7676_7676_7676) | digits) & 0x8080_8080_8080_8080 == 0 else { return nil }
        let pairs = digits &* 10 &+ digits &>> 8
        let ofFour: UInt64 = 0x0000_00FF_0000_00FF
        return ((pairs & ofFour) &* 0x000F_4240_0000_0064 &+ (pairs &>> 16 & ofFour) &* 0x0000_2710_0000_0001) &>> 32
    }

    package var description: String { String(number) }

    package static func < (left: TransactionID, right: TransactionID) -> Bool { left.number < right.number }
}

/// A name made of printable ASCII without spaces, 1 to 255 bytes: product ids, bundle ids, our own ids.
///
/// Only ASCII is let in, so that `==` on the text compares bytes and no normalisation can make two ids one.
package protocol ASCIIIdentifier: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Whether paths of the API name things by it.
    static var standsInPaths: Bool { get }
    /// Texts that are no name, in lower case, though they have the form of one.
    static var noNames: Set<String> { get }

    var text: String { get }
    init(checked text: String)
}

extension ASCIIIdentifier {
    /// The longest id that is let in, in bytes: what Apple allows for product ids and bundle ids.
    package static var bytesMax: Int { 255 }

    /// `nil` unless the text is 1 to ``bytesMax`` bytes of printable ASCII without spaces.
    package init?(_ text: String) {
        let bytes = text.utf8.span
        guard bytes.count >= 1, bytes.count <= Self.bytesMax else { return nil }
        var isPrintable = true
        for index in bytes.indices { isPrintable = isPrintable && bytes[index] &- 0x21 < 0x5E }
        guard isPrintable else { return nil }
        self.init(checked: text)
    }

    package static var standsInPaths: Bool { false }
    package static var noNames: Set<String> { [] }

    /// One that comes from outside, to be kept from now on: none of ``noNames``, and of those that stand in paths not `.` and
    /// `..` either.
    ///
    /// Clients and proxies take such a step out of a path before anybody is asked, as `%2E%2E` too (RFC 3986 § 5.2.4 and
    /// § 6.2.2.2; WHATWG URL, *double-dot URL path segment*), so nobody could ask for what has that name. What was kept under it
    /// can still be read.
    package init?(given text: String) {
        guard !Self.standsInPaths || text != "." && text != ".." else { return nil }
        guard Self.noNames.isEmpty || !Self.noNames.contains(text.lowercased()) else { return nil }
        self.init(text)
    }

    /// What it has to be, for who gave another one.
    package static var rule: String {
        "1 to \(bytesMax) printable ASCII characters, no spaces" + (standsInPaths ? ", and neither . nor .." : "")
            + (noNames.isEmpty ? "" : ", and no word for nothing such as null or undefined")
    }

    package var description: String { text }

    /// By their bytes, which is how Swift orders texts of ASCII.
    package static func < (left: Self, right: Self) -> Bool { left.text < right.text }
}

/// What is sold, as App Store Connect names it.
package struct ProductID: ASCIIIdentifier {
    package let text: String
    package init(checked text: String) { self.text = text }
}

/// The name by which Apple signs for an app, such as `com.example.app`.
package struct BundleID: ASCIIIdentifier {
    package let text: String
    package init(checked text: String) { self.text = text }
}

/// Our own short name for a configured app; it stands in paths, keys and rows.
package struct AppID: ASCIIIdentifier {
    package let text: String
    package init(checked text: String) { self.text = text }
}

/// Who bought, as the shop that uses us names its customer.
package struct CustomerID: ASCIIIdentifier {
    package static let standsInPaths = true
    /// What programs write where a value is missing. One customer of such a name would own what many have bought.
    package static let noNames: Set<String> = [
        "null", "(null)", "<null>", "nil", "none", "nan", "undefined", "00000000-0000-0000-0000-000000000000",
    ]
    package let text: String
    package init(checked text: String) { self.text = text }
}

/// An order of the shop that uses us.
package struct OrderID: ASCIIIdentifier {
    package static let standsInPaths = true
    package let text: String
    package init(checked text: String) { self.text = text }
}

/// What a customer may use, in the words of the shop: `premium`.
package struct EntitlementID: ASCIIIdentifier {
    package static let standsInPaths = true
    package let text: String
    package init(checked text: String) { self.text = text }
}

/// A currency of the app's own, such as `gems`.
package struct CurrencyID: ASCIIIdentifier {
    package static let standsInPaths = true
    package let text: String
    package init(checked text: String) { self.text = text }
}

/// The UUID that an app gives StoreKit with a purchase (`appAccountToken`), 16 bytes.
package struct AccountToken: Hashable, Sendable, CustomStringConvertible {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Lower case, with hyphens.
    package var description: String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for position in 0..<32 {
            if position == 8 || position == 12 || position == 16 || position == 20 { text.append(0x2D) }
            let half = position < 16 ? high : low
            text.append(digits[Int(half >> UInt64(60 - (position % 16) * 4) & 0xF)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
