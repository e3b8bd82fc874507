/// A day in UTC, counted since 1970-01-01: how finely figures are counted.
package struct DayOfTime: Hashable, Comparable, Sendable {
    private static let length: Int64 = 86_400_000

    package let number: Int64

    package init(number: Int64) { self.number = number }

    /// The day in which the moment lies.
    package init(containing moment: Timestamp) {
        number = floored(moment.milliseconds, by: Self.length)
    }

    /// Its first millisecond.
    package var start: Timestamp {
        Timestamp(milliseconds: number.multipliedReportingOverflow(by: Self.length).partialValue)
    }

    package func advanced(by days: Int64) -> DayOfTime { DayOfTime(number: number &+ days) }

    package static func < (left: DayOfTime, right: DayOfTime) -> Bool { left.number < right.number }
}

/// A month of the calendar in UTC, counted since January of the year 0.
package struct MonthOfTime: Hashable, Comparable, Sendable {
    package let number: Int64

    package init(number: Int64) { self.number = number }

    /// - Parameters:
    ///   - year: such as 2026.
    ///   - month: 1 to 12.
    package init(year: Int64, month: Int64) { self.init(number: year * 12 + month - 1) }

    /// The month in which the day lies.
    package init(containing day: DayOfTime) {
        // Days since 0000-03-01, so that the day that not every year has is a year's last.
        let shifted = day.number &+ 719_468
        let era = floored(shifted, by: 146_097)
        let dayOfEra = shifted &- era &* 146_097
        let year = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * year + year / 4 - year / 100)
        let month = (5 * dayOfYear + 2) / 153
        number = (year &+ era &* 400) &* 12 &+ month &+ 2
    }

    package init(containing moment: Timestamp) { self.init(containing: DayOfTime(containing: moment)) }

    /// Its first day. Source: Howard Hinnant, *chrono-Compatible Low-Level Date Algorithms*, `days_from_civil`.
    package var firstDay: DayOfTime {
        let shifted = number &- 2
        let year = floored(shifted, by: 12)
        let month = shifted &- year &* 12
        let era = floored(year, by: 400)
        let yearOfEra = year &- era &* 400
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + (153 * month + 2) / 5
        return DayOfTime(number: era &* 146_097 &+ dayOfEra &- 719_468)
    }

    package var start: Timestamp { firstDay.start }

    package var year: Int64 { floored(number, by: 12) }
    /// 1 to 12.
    package var month: Int64 { number - year * 12 + 1 }

    package func advanced(by months: Int64) -> MonthOfTime { MonthOfTime(number: number &+ months) }

    package static func < (left: MonthOfTime, right: MonthOfTime) -> Bool { left.number < right.number }
}

private func floored(_ number: Int64, by divisor: Int64) -> Int64 {
    let (quotient, rest) = number.quotientAndRemainder(dividingBy: divisor)
    return rest < 0 ? quotient - 1 : quotient
}
