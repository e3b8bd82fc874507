import Encoding
package import PurchaseModel

/// How long one paid period, trial or offer lasts, as App Store Connect names it: `P1W`, `P1M`, `P1Y`.
package struct BillingPeriod: Hashable, Sendable, CustomStringConvertible {
    package enum Unit: String, Hashable, Sendable, CaseIterable {
        case day = "D"
        case week = "W"
        case month = "M"
        case year = "Y"
    }

    package let count: Int
    package let unit: Unit

    package init(_ count: Int, _ unit: Unit) {
        self.count = count
        self.unit = unit
    }

    /// `nil` for anything but an ISO 8601 duration of one unit and 1 to 999 of it.
    package init?(_ text: String) {
        let letters = Array(text.utf8)
        guard letters.count >= 3, letters.first == UInt8(ascii: "P"), let last = letters.last,
            let unit = Unit(rawValue: String(UnicodeScalar(last))),
            let count = Int(String(decoding: letters[1..<letters.count - 1], as: UTF8.self)), (1...999).contains(count),
            letters[1] != UInt8(ascii: "+")
        else { return nil }
        self.init(count, unit)
    }

    package static let week = BillingPeriod(1, .week)
    package static let month = BillingPeriod(1, .month)
    package static let year = BillingPeriod(1, .year)

    /// ISO 8601.
    package var description: String { "P\(count)\(unit.rawValue)" }

    /// Days, with 30 in a month and 365 in a year: to compare periods, never to add them to a date.
    package var nominalDays: Int {
        switch unit {
        case .day: count
        case .week: count * 7
        case .month: count * 30
        case .year: count * 365
        }
    }

    /// The same moment of the day so many periods later, as a calendar in UTC counts. A day that the month does not have
    /// becomes its last one, and the next period starts from there again: Apple's months do not drift back.
    package func end(from start: Timestamp, times: Int = 1) -> Timestamp {
        let total = count * times
        switch unit {
        case .day: return start.advanced(by: .seconds(Int64(total) * 86_400))
        case .week: return start.advanced(by: .seconds(Int64(total) * 7 * 86_400))
        case .month: return Self.adding(months: total, to: start)
        case .year: return Self.adding(months: total * 12, to: start)
        }
    }

    private static func adding(months: Int, to start: Timestamp) -> Timestamp {
        guard let civil = CivilTime(milliseconds: start.milliseconds) else { return start }
        let month = civil.year * 12 + civil.month - 1 + months
        for day in stride(from: civil.day, to: civil.day - 4, by: -1) {
            let later = CivilTime(
                year: month / 12,
                month: month % 12 + 1,
                day: day,
                hour: civil.hour,
                minute: civil.minute,
                second: civil.second,
                millisecond: civil.millisecond
            )
            if let later { return Timestamp(milliseconds: later.milliseconds) }
        }
        return start
    }
}
