/// Moments as text in the one shape `2015-08-13T07:50:46.000Z`: RFC 3339 with UTC and no other offset.
package enum RFC3339 {
    /// Always with three digits of a second; nil outside of the years 0 to 9999.
    package static func text(milliseconds: Int64) -> String? {
        guard let time = CivilTime(milliseconds: milliseconds) else { return nil }
        var text: [UInt8] = []
        append(time, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    static func append(_ time: CivilTime, to text: inout [UInt8]) {
        text.append(addingCapacity: 24) { text in
            append(time.year / 100, to: &text)
            append(time.year % 100, to: &text, then: "-")
            append(time.month, to: &text, then: "-")
            append(time.day, to: &text, then: "T")
            append(time.hour, to: &text, then: ":")
            append(time.minute, to: &text, then: ":")
            append(time.second, to: &text, then: ".")
            text.append(digit(UInt8(truncatingIfNeeded: time.millisecond / 100)))
            append(time.millisecond % 100, to: &text, then: "Z")
        }
    }

    /// Milliseconds since 1970; nil if the text is anything but that shape or the calendar has no such moment.
    ///
    /// A fraction may be absent or have one to nine digits; what is finer than a millisecond is cut off. Upper-case
    /// `T` and `Z` only, no other offset, no leap second.
    package static func milliseconds(_ text: Span<UInt8>) -> Int64? {
        guard text.count >= 20, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
            text[10] == UInt8(ascii: "T"), text[13] == UInt8(ascii: ":"), text[16] == UInt8(ascii: ":"),
            text[text.count - 1] == UInt8(ascii: "Z"),
            let year = number(text, 0..<4), let month = number(text, 5..<7), let day = number(text, 8..<10),
            let hour = number(text, 11..<13), let minute = number(text, 14..<16), let second = number(text, 17..<19),
            let millisecond = fraction(text, 19..<text.count - 1)
        else { return nil }
        return CivilTime(
            year: year,
            month: month,
            day: day,
            hour: hour,
            minute: minute,
            second: second,
            millisecond: millisecond
        )?.milliseconds
    }

    package static func milliseconds(_ text: String) -> Int64? { milliseconds(text.utf8.span) }

    /// The thousandths in a fraction with its point; 0 if there is none.
    private static func fraction(_ text: Span<UInt8>, _ range: Range<Int>) -> Int? {
        if range.isEmpty { return 0 }
        guard text[range.lowerBound] == UInt8(ascii: "."), (2...10).contains(range.count) else { return nil }
        let digits = range.lowerBound + 1..<range.upperBound
        guard number(text, digits) != nil else { return nil }
        let kept = digits.prefix(3)
        return number(text, kept).map { $0 * (kept.count == 3 ? 1 : kept.count == 2 ? 10 : 100) }
    }

    /// At most nine digits; nil for any other byte.
    private static func number(_ text: Span<UInt8>, _ range: Range<Int>) -> Int? {
        var value = 0
        for index in range {
            let digit = text[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            value = value * 10 + Int(digit)
        }
        return value
    }

    /// Two digits. That nothing is divided by but what is known beforehand saves most of what a date costs.
    private static func append(_ value: Int, to text: inout OutputSpan<UInt8>) {
        let value = UInt8(truncatingIfNeeded: value)
        text.append(digit(value / 10))
        text.append(digit(value % 10))
    }

    private static func append(_ value: Int, to text: inout OutputSpan<UInt8>, then: Unicode.Scalar) {
        append(value, to: &text)
        text.append(UInt8(ascii: then))
    }

    private static func digit(_ value: UInt8) -> UInt8 { UInt8(ascii: "0") + value }
}
