import Encoding

/// Reads the texts in which receipts hold moments.
///
/// Two shapes: `2015-08-10T06:54:32Z` in app receipts, where Xcode writes an offset with or without colon and fractions
/// of a second may stand; and `2012-07-12 12:54:35 Etc/GMT` in the older receipts and in answers of verifyReceipt.
package enum AppleDate {
    /// Longer than any of the shapes.
    private static let lengthMax = 40

    /// Milliseconds since 1970-01-01T00:00:00Z; nil for any other text. Fractions below a millisecond are cut off.
    package static func milliseconds(_ text: Span<UInt8>) -> Int64? {
        guard text.count >= 20, text.count <= lengthMax, let civil = civil(text.extracting(0..<19)) else { return nil }
        switch text[10] {
        case UInt8(ascii: "T"):
            if text.count == 20, text[19] == UInt8(ascii: "Z") { return civil.milliseconds }
            guard let tail = fractionAndZone(text, from: 19) else { return nil }
            return civil.milliseconds + tail.milliseconds - tail.offsetSeconds * 1_000
        case UInt8(ascii: " "):
            return isZoneGMT(text, from: 19) ? civil.milliseconds : nil
        default:
            return nil
        }
    }

    /// The same for a text that has been made a string.
    package static func milliseconds(_ text: String) -> Int64? {
        milliseconds(Array(text.utf8).span)
    }

    /// The time in `2015-08-10T06:54:32`, whatever stands where the `T` does; nil for any other text.
    @inline(__always)
    private static func civil(_ text: Span<UInt8>) -> CivilTime? {
        // All digits are looked at together: what is none makes the greatest of them more than nine.
        var greatest: UInt8 = 0
        func digit(_ place: Int) -> Int {
            let digit = text[place] &- 0x30
            greatest = max(greatest, digit)
            return Int(digit)
        }
        func pair(_ place: Int) -> Int { digit(place) &* 10 &+ digit(place &+ 1) }
        let (year, month, day) = (pair(0) &* 100 &+ pair(2), pair(5), pair(8))
        let (hour, minute, second) = (pair(11), pair(14), pair(17))
        guard greatest < 10, text[4] == 0x2D, text[7] == 0x2D, text[13] == 0x3A, text[16] == 0x3A else { return nil }
        return CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    }

    /// Two digits.
    @inline(__always)
    private static func pair(_ text: Span<UInt8>, _ start: Int) -> Int? {
        let (tens, ones) = (text[start] &- 0x30, text[start + 1] &- 0x30)
        return tens < 10 && ones < 10 ? Int(tens &* 10 &+ ones) : nil
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
        guard let hours = pair(text, start + 1), let minutes = pair(text, start + (hasColon ? 4 : 3)) else {
            return nil
        }
        guard hours < 24, minutes < 60 else { return nil }
        return sign * Int64(hours * 3_600 + minutes * 60)
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
}
