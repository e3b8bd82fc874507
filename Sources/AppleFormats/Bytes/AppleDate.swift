/// Reads the texts in which receipts hold moments.
///
/// Two shapes: `2015-08-10T06:54:32Z` in app receipts, where Xcode writes an offset with or without colon and fractions
/// of a second may stand; and `2012-07-12 12:54:35 Etc/GMT` in the older receipts and in answers of verifyReceipt.
package enum AppleDate {
    /// Longer than any of the shapes.
    private static let lengthMax = 40

    /// Milliseconds since 1970-01-01T00:00:00Z; nil for any other text. Fractions below a millisecond are cut off.
    package static func milliseconds(_ text: Span<UInt8>) -> Int64? {
        guard text.count >= 20, text.count <= lengthMax else { return nil }
        guard
            let year = number(text, 0, 4), text[4] == 0x2D,
            let month = number(text, 5, 2), text[7] == 0x2D,
            let day = number(text, 8, 2),
            let hour = number(text, 11, 2), text[13] == 0x3A,
            let minute = number(text, 14, 2), text[16] == 0x3A,
            let second = number(text, 17, 2)
        else { return nil }
        guard (1...12).contains(month), (1...daysIn(month: month, year: year)).contains(day) else { return nil }
        guard hour < 24, minute < 60, second < 60 else { return nil }
        let days = daysSince1970(year: year, month: month, day: day)
        let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second
        switch text[10] {
        case UInt8(ascii: "T"):
            guard let tail = fractionAndZone(text, from: 19) else { return nil }
            return (seconds - tail.offsetSeconds) * 1_000 + tail.milliseconds
        case UInt8(ascii: " "):
            return isZoneGMT(text, from: 19) ? seconds * 1_000 : nil
        default:
            return nil
        }
    }

    /// The same for a text that has been made a string.
    package static func milliseconds(_ text: String) -> Int64? {
        milliseconds(Array(text.utf8).span)
    }

    private static func number(_ text: Span<UInt8>, _ start: Int, _ count: Int) -> Int64? {
        guard start + count <= text.count else { return nil }
        var value: Int64 = 0
        for offset in start..<start + count {
            let digit = text[offset] &- 0x30
            guard digit < 10 else { return nil }
            value = value * 10 + Int64(digit)
        }
        return value
    }

    private static func fractionAndZone(
        _ text: Span<UInt8>,
        from start: Int
    ) -> (milliseconds: Int64, offsetSeconds: Int64)? {
        var position = start
        var milliseconds: Int64 = 0
        if text[position] == UInt8(ascii: ".") {
            position += 1
            let firstDigit = position
            var weight: Int64 = 100
            while position < text.count, text[position] &- 0x30 < 10 {
                milliseconds += Int64(text[position] &- 0x30) * weight
                weight /= 10
                position += 1
            }
            guard position > firstDigit, position < text.count else { return nil }
        }
        guard let offset = zone(text, from: position) else { return nil }
        return (milliseconds, offset)
    }

    /// `Z`, `+hhmm` or `+hh:mm`, to the end of the text, in seconds east of Greenwich.
    private static func zone(_ text: Span<UInt8>, from start: Int) -> Int64? {
        let sign: Int64
        switch text[start] {
        case UInt8(ascii: "Z"): return start + 1 == text.count ? 0 : nil
        case UInt8(ascii: "+"): sign = 1
        case UInt8(ascii: "-"): sign = -1
        default: return nil
        }
        let hasColon = text.count == start + 6
        guard hasColon || text.count == start + 5 else { return nil }
        guard !hasColon || text[start + 3] == UInt8(ascii: ":") else { return nil }
        guard let hours = number(text, start + 1, 2), let minutes = number(text, start + (hasColon ? 4 : 3), 2) else {
            return nil
        }
        guard hours < 24, minutes < 60 else { return nil }
        return sign * (hours * 3_600 + minutes * 60)
    }

    private static func isZoneGMT(_ text: Span<UInt8>, from start: Int) -> Bool {
        let zone = " Etc/GMT"
        guard text.count == start + zone.utf8.count else { return false }
        var offset = start
        for byte in zone.utf8 {
            guard text[offset] == byte else { return false }
            offset += 1
        }
        return true
    }

    private static func daysIn(month: Int64, year: Int64) -> Int64 {
        switch month {
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Counts in years that begin in March, so that a leap day is a year's last.
    private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let marchYear = month > 2 ? year : year - 1
        let marchMonth = month > 2 ? month - 3 : month + 9
        let leapDays = floorDivide(marchYear, 4) - floorDivide(marchYear, 100) + floorDivide(marchYear, 400)
        return marchYear * 365 + leapDays + (marchMonth * 153 + 2) / 5 + day - 719_469
    }

    private static func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
        value >= 0 ? value / divisor : -((divisor - 1 - value) / divisor)
    }
}
