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
        guard
            let date = pairs(eight(text, from: 0), form: 0x2D30_302D_3030_3030, room: 0x7F76_767F_7676_7676),
            let day = pair(text, 8),
            let time = pairs(eight(text, from: 11), form: 0x3030_3A30_303A_3030, room: 0x7676_7F76_767F_7676)
        else { return nil }
        return CivilTime(
            year: octet(0, of: date) &* 100 &+ octet(2, of: date),
            month: octet(5, of: date),
            day: day,
            hour: octet(0, of: time),
            minute: octet(3, of: time),
            second: octet(6, of: time)
        )
    }

    /// Eight octets as one number, the first one lowest.
    @inline(__always)
    private static func eight(_ text: Span<UInt8>, from start: Int) -> UInt64 {
        let part = text.extracting(start..<start &+ 8)
        let low = UInt64(part[0]) | UInt64(part[1]) &<< 8 | UInt64(part[2]) &<< 16 | UInt64(part[3]) &<< 24
        let high = UInt64(part[4]) | UInt64(part[5]) &<< 8 | UInt64(part[6]) &<< 16 | UInt64(part[7]) &<< 24
        return low | high &<< 32
    }

    /// Joins each digit with the one that follows it.
    ///
    /// - Parameters:
    ///   - octets: what stands there.
    ///   - form: `0` where a digit stands, and otherwise what must stand there.
    ///   - room: how much may be added to an octet that is right without setting its top bit.
    /// - Returns: in each octet what that digit and the next one are worth; nil where something else stands than in the form.
    @inline(__always)
    private static func pairs(_ octets: UInt64, form: UInt64, room: UInt64) -> UInt64? {
        let values = octets ^ form
        guard ((values &+ room) | values) & 0x8080_8080_8080_8080 == 0 else { return nil }
        return values &* 10 &+ values &>> 8
    }

    @inline(__always)
    private static func octet(_ place: UInt64, of word: UInt64) -> Int {
        Int(truncatingIfNeeded: word &>> (place &* 8) & 0xFF)
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
