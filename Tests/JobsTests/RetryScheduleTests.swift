import Jobs
import TestSupport
import Testing

/// When a failed job is tried again.
@Suite struct RetryScheduleTests {
    private static let schedule = RetrySchedule(first: .seconds(4), longest: .seconds(20), attemptsMax: 5)

    /// A chance of 250 is the middle of the spread.
    @Test(
        arguments: [(0, 4_000), (1, 4_000), (2, 8_000), (3, 16_000), (4, 20_000), (5, nil), (6, nil)] as [(Int, Int?)]
    )
    func delaysDoubleUpToTheLongest(attempt: Int, milliseconds: Int?) {
        let delay = Self.schedule.delay(afterAttempt: attempt, chance: 250)
        #expect(delay == milliseconds.map { .milliseconds($0) })
    }

    @Test(arguments: [(0, 3_000), (500, 5_000), (501, 3_000)] as [(UInt64, Int)])
    func aDelayIsSpreadByAQuarter(chance: UInt64, milliseconds: Int) {
        #expect(Self.schedule.delay(afterAttempt: 1, chance: chance) == .milliseconds(milliseconds))
    }

    @Test(arguments: UInt64(0)..<50)
    func noDelayLeavesItsSpread(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for attempt in 1..<5 {
            let middle = try #require(Self.schedule.delay(afterAttempt: attempt, chance: 250))
            let delay = try #require(Self.schedule.delay(afterAttempt: attempt, chance: random.next()))
            #expect(delay >= middle * 3 / 4)
            #expect(delay <= middle * 5 / 4)
        }
    }

    @Test func aScheduleOfManyAttemptsEnds() {
        let schedule = RetrySchedule(first: .seconds(1), longest: .seconds(3_600), attemptsMax: .max)
        #expect(schedule.delay(afterAttempt: .max - 1, chance: 250) == .seconds(3_600))
    }
}
