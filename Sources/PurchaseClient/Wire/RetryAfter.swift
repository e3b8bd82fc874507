package import Foundation

/// How long a server asks to wait (RFC 9110, 10.2.3): seconds, or a date.
package enum RetryAfter {
    /// - Parameters:
    ///   - answer: whose field is read.
    ///   - now: by the device's clock, which may be wrong: a date counts from the answer's own `Date` if it has one.
    /// - Returns: seconds, none below zero; `nil` when nothing that can be read is asked for.
    package static func seconds(_ answer: Transport.Answer, at now: Date) -> Double? {
        guard let text = answer.fields["retry-after"] else { return nil }
        // Of ten digits none is less than a day, which is the most that anybody waits.
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return Double(String(text.prefix(10)))
        }
        guard let then = date(text) else { return nil }
        return max(0, then.timeIntervalSince(answer.fields["date"].flatMap(date) ?? now))
    }

    /// Such as `Sun, 06 Nov 1994 08:49:37 GMT`; the two old forms are not read.
    package static func date(_ text: String) -> Date? {
        let bytes = Array(text.utf8)
        guard bytes.count == 29, bytes[25...].elementsEqual(" GMT".utf8) else { return nil }
        let month = String(decoding: bytes[8..<11], as: UTF8.self)
        guard let month = months.firstIndex(of: month), let day = number(bytes[5..<7]),
            let year = number(bytes[12..<16]), let hour = number(bytes[17..<19]),
            let minute = number(bytes[20..<22]), let second = number(bytes[23..<25]),
            let zone = TimeZone(secondsFromGMT: 0)
        else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        return calendar.date(
            from: DateComponents(year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second)
        )
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
