import Encoding
import Foundation
import Testing
import TestSupport

@Suite struct CivilTimeTests {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("1969-12-31T23:59:59.999Z", -1),
            ("2015-08-13T07:50:46.000Z", 1_439_452_246_000),
            ("2000-02-29T12:00:00Z", 951_825_600_000), ("0000-01-01T00:00:00.000Z", -62_167_219_200_000),
            ("9999-12-31T23:59:59.999Z", 253_402_300_799_999), ("2024-02-29T00:00:00.5Z", 1_709_164_800_500),
            ("1970-01-01T00:00:00.12Z", 120), ("1970-01-01T00:00:00.0019999Z", 1),
            ("1970-01-01T00:00:00.123456789Z", 123),
            ("1970-01-01T00:00:00.000000000Z", 0),
            ("2026-02-30T00:00:00Z", nil), ("2026-02-29T00:00:00Z", nil), ("1900-02-29T00:00:00Z", nil),
            ("2026-04-31T00:00:00Z", nil),
            ("2026-00-01T00:00:00Z", nil), ("2026-13-01T00:00:00Z", nil), ("2026-01-00T00:00:00Z", nil),
            ("2026-01-32T00:00:00Z", nil),
            ("2026-01-01T24:00:00Z", nil), ("2026-01-01T00:60:00Z", nil), ("2016-12-31T23:59:60Z", nil),
            ("2026-01-01T00:00:00", nil), ("2026-01-01T00:00:00+00:00", nil), ("2026-01-01T00:00:00.000+01:00", nil),
            ("2026-01-01t00:00:00Z", nil), ("2026-01-01T00:00:00z", nil), ("2026-01-01 00:00:00Z", nil),
            ("2026-01-01", nil), ("", nil),
            ("2026-01-01T00:00:00.Z", nil), ("2026-01-01T00:00:00.1234567890Z", nil), ("2026-01-01T00:00:00,5Z", nil),
            ("2026-01-01T00:00:00.12a4Z", nil), ("2026-01-01T00:00:00.-12Z", nil), ("+026-01-01T00:00:00Z", nil),
            ("-026-01-01T00:00:00Z", nil),
            ("02026-01-01T00:00:00Z", nil), ("2026-1-01T00:00:00.0Z", nil), (" 2026-01-01T00:00:00Z", nil),
            ("2026-01-01T00:00:00Z ", nil),
            ("2026-01-01T00:00:00ZZ", nil), ("2026-01-01T00:00: 0Z", nil), ("\u{FF12}026-01-01T00:00:00Z", nil),
            ("2026/01/01T00:00:00Z", nil),
        ] as [(String, Int64?)]
    )
    func textIsReadStrictly(text: String, milliseconds: Int64?) {
        #expect(RFC3339.milliseconds(text) == milliseconds)
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (1_439_452_246_007, "2015-08-13T07:50:46.007Z"),
            (CivilTime.range.lowerBound, "0000-01-01T00:00:00.000Z"),
            (CivilTime.range.upperBound, "9999-12-31T23:59:59.999Z"),
            (CivilTime.range.lowerBound - 1, nil), (CivilTime.range.upperBound + 1, nil), (Int64.min, nil),
            (Int64.max, nil),
        ] as [(Int64, String?)]
    )
    func textIsWrittenInOneShape(milliseconds: Int64, text: String?) {
        #expect(RFC3339.text(milliseconds: milliseconds) == text)
    }

    @Test(arguments: UInt64(0)..<200)
    func theCalendarIsFoundations(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        // After 1582, since Foundation's calendar is Julian before.
        let milliseconds = Int64.random(in: -12_000_000_000_000...CivilTime.range.upperBound, using: &random)
        let time = try #require(CivilTime(milliseconds: milliseconds))
        #expect(time.milliseconds == milliseconds)
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let seconds = (Double(milliseconds) / 1_000).rounded(.down)
        let parts = calendar.dateComponents(
            [.year, .month, .day, .hour, .minute, .second],
            from: Date(timeIntervalSince1970: seconds)
        )
        #expect([time.year, time.month, time.day] == [parts.year, parts.month, parts.day])
        #expect([time.hour, time.minute, time.second] == [parts.hour, parts.minute, parts.second])
        let text = try #require(RFC3339.text(milliseconds: milliseconds))
        #expect(RFC3339.milliseconds(text) == milliseconds)
    }

    @Test func everyDayOfFourCenturiesFollowsTheOneBefore() throws {
        var expected = try #require(CivilTime(year: 1_600, month: 1, day: 1)).milliseconds
        var days = 0
        for year in 1_600..<2_000 {
            for month in 1...12 {
                for day in 1...31 {
                    guard let time = CivilTime(year: year, month: month, day: day) else { continue }
                    #expect(time.milliseconds == expected)
                    #expect(CivilTime(milliseconds: expected) == time)
                    expected += 86_400_000
                    days += 1
                }
            }
        }
        #expect(days == 146_097)
    }

    @Test(arguments: [
        CivilTime(year: -1, month: 1, day: 1), CivilTime(year: 10_000, month: 1, day: 1),
        CivilTime(year: .max, month: .max, day: .max),
        CivilTime(year: 2_026, month: .min, day: .min), CivilTime(year: 2_026, month: 1, day: 1, hour: -1),
        CivilTime(year: 2_026, month: 1, day: 1, minute: 60), CivilTime(year: 2_026, month: 1, day: 1, second: 60),
        CivilTime(year: 2_026, month: 1, day: 1, millisecond: 1_000),
    ])
    func whatTheCalendarLacksIsNil(time: CivilTime?) {
        #expect(time == nil)
    }
}
