import Encoding

/// Dates as fields of HTTP have them. RFC 9110 § 5.6.7.
package enum HTTPDate {
    /// Milliseconds since 1970; nil for any text but the three forms that a recipient must take:
    /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`.
    ///
    /// The day's name is not compared with the date: who is wrong about it means the date.
    ///
    /// - Parameters:
    ///   - text: the field's value.
    ///   - now: a year of two digits is the last one that is no more than 50 years ahead.
    /// - Returns: milliseconds since 1970.
    package static func milliseconds(_ text: String, at now: Int64) -> Int64? {
        let spaced = text.utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: " ") : $0 }
        let words = spaced.split(separator: UInt8(ascii: " ")).map(Array.init)
        switch (words.count, words.first?.last) {
        case (6, UInt8(ascii: ",")):
            guard words[1].count == 2, words[5].elementsEqual("GMT".utf8) else { return nil }
            let year = words[3].count == 2 ? number(words[3]).flatMap { century(of: $0, at: now) } : number(words[3])
            return milliseconds(words[1], words[2], year, words[4])
        case (5, _): return milliseconds(words[1], words[2], year: words[4], words[3])
        default: return nil
        }
    }

    /// The form of C's `asctime`, with the month before the day.
    private static func milliseconds(_ month: [UInt8], _ day: [UInt8], year: [UInt8], _ time: [UInt8]) -> Int64? {
        milliseconds(day, month, number(year), time)
    }

    private static func milliseconds(_ day: [UInt8], _ month: [UInt8], _ year: Int?, _ time: [UInt8]) -> Int64? {
        let parts = time.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).map { number(Array($0)) }
        guard parts.count == 3, let day = number(day), let year, let hour = parts[0], let minute = parts[1],
            let second = parts[2], let month = months.firstIndex(of: month)
        else { return nil }
        return CivilTime(year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second)?
            .milliseconds
    }

    private static func century(of year: Int, at now: Int64) -> Int? {
        guard let thisYear = CivilTime(milliseconds: now)?.year else { return nil }
        let same = thisYear / 100 * 100 + year
        return same > thisYear + 50 ? same - 100 : same <= thisYear - 50 ? same + 100 : same
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ].map { Array($0.utf8) }

    /// Of one to four digits.
    private static func number(_ digits: [UInt8]) -> Int? {
        guard (1...4).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}
