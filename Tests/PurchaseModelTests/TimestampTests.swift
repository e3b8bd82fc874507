import PurchaseModel
import Testing

@Suite struct TimestampTests {
    static let secondsTable: [(seconds: Int64, milliseconds: Int64)] = [
        (seconds: Int64(0), milliseconds: Int64(0)),
        (1_700_000_000, 1_700_000_000_000),
        (-1, -1_000),
        (.max, .max),
        (.min, .min),
        (9_223_372_036_854_775, 9_223_372_036_854_775_000),
        (9_223_372_036_854_776, .max),
        (-9_223_372_036_854_776, .min),
    ]

    @Test(arguments: secondsTable)
    func secondsBecomeMillisecondsOrSaturate(seconds: Int64, milliseconds: Int64) {
        #expect(Timestamp(seconds: seconds).milliseconds == milliseconds)
    }

    static let stepTable: [(start: Int64, step: Duration, end: Int64)] = [
        (start: Int64(0), step: Duration.seconds(1), end: Int64(1_000)),
        (5, .milliseconds(-6), -1),
        (0, .microseconds(999), 0),
        (0, .microseconds(-999), 0),
        (0, .seconds(-1) + .milliseconds(1), -999),
        (.max, .milliseconds(1), .max),
        (.min, .milliseconds(-1), .min),
        (.max, .milliseconds(-1), .max - 1),
        (1, .milliseconds(Int64.max), .max),
        (-1, .milliseconds(Int64.max), .max - 1),
        (0, .milliseconds(Int64.min), .min),
        (0, .seconds(Int64.max), .max),
        (0, .seconds(Int64.min), .min),
        (0, .seconds(Int64.max) + .seconds(Int64.max), .max),
        (0, .seconds(Int64.min) + .seconds(Int64.min), .min),
    ]

    @Test(arguments: stepTable)
    func advancesOrSaturates(start: Int64, step: Duration, end: Int64) {
        #expect(Timestamp(milliseconds: start).advanced(by: step) == Timestamp(milliseconds: end))
    }

    static let durationTable: [(from: Int64, to: Int64, duration: Duration)] = [
        (from: Int64(0), to: Int64(1), duration: Duration.milliseconds(1)),
        (1, 0, .milliseconds(-1)),
        (.min, .max, .milliseconds(Int64.max)),
        (.max, .min, .milliseconds(Int64.min)),
        (0, .min, .milliseconds(Int64.min)),
    ]

    @Test(arguments: durationTable)
    func measuresOrSaturates(from: Int64, to: Int64, duration: Duration) {
        #expect(Timestamp(milliseconds: from).duration(to: Timestamp(milliseconds: to)) == duration)
    }

    @Test func aManualClockMovesOnlyWhenTold() {
        let clock = ManualClock(Timestamp(milliseconds: 5))
        #expect(clock.now == clock.now)
        clock.advance(by: .seconds(1))
        #expect(clock.now == Timestamp(milliseconds: 1_005))
        clock.set(to: Timestamp(milliseconds: 2))
        #expect(clock.now == Timestamp(milliseconds: 2))
    }
}
