/// A moment as the calendar names it, in UTC: what every text form of a date is made of.
///
/// The Gregorian calendar without leap seconds, also for the years before it was decreed.
package struct CivilTime: Equatable, Sendable {
    package let year: Int
    /// 1 to 12.
    package let month: Int
    /// From 1 to what the month has.
    package let day: Int
    package let hour: Int
    package let minute: Int
    package let second: Int
    package let millisecond: Int

    /// Nil if the calendar has no such moment: 30 February, 24:00, a leap second, a year beyond 0 to 9999.
    package init?(
        year: Int,
        month: Int,
        day: Int,
        hour: Int = 0,
        minute: Int = 0,
        second: Int = 0,
        millisecond: Int = 0
    ) {
        guard (0...9999).contains(year), (1...12).contains(month),
            day >= 1, day <= Self.daysCount(year: year, month: month),
            (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second),
            (0...999).contains(millisecond)
        else { return nil }
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
        self.millisecond = millisecond
    }

    /// The moment that lies so many milliseconds after 1970-01-01T00:00:00Z; nil outside of the years 0 to 9999.
    package init?(milliseconds: Int64) {
        guard Self.range.contains(milliseconds) else { return nil }
        // Days from 0000-03-01, so that the leap day is the last of its year; the rest is never negative.
        let (days, ofDay) = Self.floorDivide(milliseconds, by: 86_400_000)
        let (era, dayOfEra) = Self.floorDivide(days + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        month = Int(monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9)
        year = Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0)
        day = Int(dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
        hour = Int(ofDay / 3_600_000)
        minute = Int(ofDay / 60_000 % 60)
        second = Int(ofDay / 1_000 % 60)
        millisecond = Int(ofDay % 1_000)
    }

    /// Since 1970-01-01T00:00:00Z; negative before.
    package var milliseconds: Int64 {
        // Days from 1 March 400 years before the year 0: none is negative, and the leap day is the last of its year.
        let years = UInt32(truncatingIfNeeded: month <= 2 ? year + 399 : year + 400)
        let months = UInt32(truncatingIfNeeded: month > 2 ? month - 3 : month + 9)
        let leapDays = years / 4 - years / 100 + years / 400
        let days = years * 365 + leapDays + (months * 153 + 2) / 5 + UInt32(truncatingIfNeeded: day - 1)
        let seconds = (Int64(days) - 865_565) * 86_400 + Int64(hour * 3_600 + minute * 60 + second)
        return seconds * 1_000 + Int64(millisecond)
    }

    /// 0000-01-01T00:00:00.000Z to 9999-12-31T23:59:59.999Z.
    package static let range: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

    private static func daysCount(year: Int, month: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The remainder is never negative.
    private static func floorDivide(_ value: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
