import HTTP
package import PurchaseModel

/// Reads `Retry-After` in the three forms that there are: UNIX milliseconds, which only Apple writes, seconds from now,
/// and a date (RFC 9110 § 10.2.3). UNIX seconds are understood too.
package enum RetryAfter {
    /// Nobody is believed who says less: a loop would be hot again.
    static let least = Duration.seconds(1)
    /// Apple's limits are kept by the hour, so nothing can be longer than that; an hour more for clocks that differ.
    static let most = Duration.seconds(7_200)

    /// - Parameters:
    ///   - text: the field's value.
    ///   - now: what the moment is counted from, and held against.
    /// - Returns: when to ask again, between a second and two hours from now; `nil` for a text in no form.
    package static func moment(_ text: String, at now: Timestamp) -> Timestamp? {
        let letters = text.utf8.filter { $0 != UInt8(ascii: " ") }
        let told: Timestamp?
        if !letters.isEmpty, letters.allSatisfy({ (0x30...0x39).contains($0) }) {
            told = number(Int64(String(decoding: letters, as: UTF8.self)) ?? .max, at: now)
        } else {
            told = HTTPDate.milliseconds(text, at: now.milliseconds).map(Timestamp.init(milliseconds:))
        }
        return told.map { bounded($0, at: now) }
    }

    static func bounded(_ moment: Timestamp, at now: Timestamp) -> Timestamp {
        min(max(moment, now.advanced(by: least)), now.advanced(by: most))
    }

    private static func number(_ number: Int64, at now: Timestamp) -> Timestamp {
        // 1973 in milliseconds is three thousand years of seconds; 2001 in seconds is thirty years.
        if number >= 100_000_000_000 { return Timestamp(milliseconds: number) }
        if number >= 1_000_000_000 { return Timestamp(seconds: number) }
        return now.advanced(by: .seconds(number))
    }
}
