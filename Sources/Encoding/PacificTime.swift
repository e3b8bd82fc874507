/// The wall clock of Los Angeles, in which Apple writes a third form of every moment (`_pst`, in summer too).
///
/// Source: Energy Policy Act of 2005, in force since 2007; before it the Uniform Time Act as amended in 1986. Earlier
/// years, in which there was no App Store, have no summer time here.
package enum PacificTime {
    /// Seconds east of Greenwich.
    package static func offset(at milliseconds: Int64) -> Int64 {
        guard let year = CivilTime(milliseconds: milliseconds)?.year, let summer = summer(of: year) else {
            return standard
        }
        return summer.contains(milliseconds) ? standard + 3_600 : standard
    }

    private static let standard: Int64 = -8 * 3_600

    /// Begins at two o'clock of standard time and ends at two o'clock of summer time.
    private static func summer(of year: Int) -> Range<Int64>? {
        let isNew = year >= 2007
        guard year >= 1987,
            let first = isNew ? sunday(of: year, 3, from: 8) : sunday(of: year, 4, from: 1),
            let last = isNew ? sunday(of: year, 11, from: 1) : sunday(of: year, 10, from: 25)
        else { return nil }
        return first + 10 * 3_600_000..<last + 9 * 3_600_000
    }

    /// Midnight in Greenwich of the first Sunday on that day of the month or after it.
    private static func sunday(of year: Int, _ month: Int, from day: Int) -> Int64? {
        guard let start = CivilTime(year: year, month: month, day: day, hour: 0, minute: 0, second: 0) else {
            return nil
        }
        // 1970-01-01 was a Thursday.
        let weekday = (start.milliseconds / 86_400_000 + 4) % 7
        return start.milliseconds + (7 - weekday) % 7 * 86_400_000
    }
}
