import AppStore
import PurchaseModel
import TestSupport
import Testing

/// Budgets and breakers as values.
@Suite struct RequestBudgetTests {
    private static let start = AppleDesk.start

    /// In no hour, wherever it begins, more than Apple allows; however the requests come.
    @Test(arguments: UInt64(0)..<40)
    func noHourHasMoreThanApplesLimit(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let perSecond = [1, 10, 20].randomElement(using: &random) ?? 1
        let isProduction = Bool.random(using: &random)
        let nodes = Int.random(in: 1...3, using: &random)
        let share = RequestBudget.Share(nodes: nodes)
        var budgets = (0..<nodes).map { _ in
            RequestBudget(perSecond: perSecond, isProduction: isProduction, share: share, at: Self.start)
        }
        var now = Self.start
        var sent: [Int64] = []
        while now < Self.start.advanced(by: .seconds(7_500)) {
            for node in budgets.indices {
                while budgets[node].take(at: now) == nil { sent.append(now.milliseconds) }
            }
            now = now.advanced(by: .milliseconds(Int64.random(in: 1...20_000, using: &random)))
        }
        let limit = perSecond * 3_600 / (isProduction ? 1 : 10)
        var first = 0
        var most = 0
        for last in sent.indices {
            while sent[last] - sent[first] >= 3_600_000 { first += 1 }
            most = max(most, last - first + 1)
        }
        #expect(most <= limit)
        // And not much less than that is used.
        #expect(most >= limit * 85 / 100 - nodes)
    }

    @Test func aHeldRequestGoesExactlyWhenItWasPromised() throws {
        let budget = Bucket(RequestBudget(perSecond: 1, isProduction: false, share: .init(nodes: 7), at: Self.start))
        var now = Self.start
        while budget.take(at: now) == nil {}
        for _ in 0..<100 {
            let asked = Bucket(budget.value)
            let until = try #require(asked.take(at: now))
            let early = Bucket(budget.value)
            #expect(early.take(at: until.advanced(by: .milliseconds(-1))) != nil)
            now = until
            #expect(budget.take(at: now) == nil)
        }
    }

    @Test func applesWordHoldsAndNoBurstFollows() {
        let budget = Bucket(RequestBudget(perSecond: 50, isProduction: true, share: .init(), at: Self.start))
        let until = Self.start.advanced(by: .seconds(600))
        budget.value.block(until: until, at: Self.start)
        budget.value.block(until: Self.start.advanced(by: .seconds(5)), at: Self.start)
        #expect(budget.take(at: until.advanced(by: .milliseconds(-1))) == until)
        #expect(budget.value.blockedUntil == until)
        #expect(budget.take(at: until) == nil)
    }

    @Test func refusalsInARowHoldLongerEachTime() {
        var budget = RequestBudget(perSecond: 50, isProduction: true, share: .init(), at: Self.start)
        var now = Self.start
        for seconds: Int64 in [1, 2, 4, 8, 16, 32, 60, 60] {
            budget.block(until: Self.start, at: now)
            #expect(budget.blockedUntil == now.advanced(by: .seconds(seconds)))
            now = budget.blockedUntil ?? now
        }
        budget.answered()
        budget.block(until: Self.start, at: now)
        #expect(budget.blockedUntil == now.advanced(by: .seconds(1)))
    }

    @Test func aClockThatIsSetBackFillsNothing() {
        let budget = Bucket(RequestBudget(perSecond: 1, isProduction: true, share: .init(), at: Self.start))
        while budget.take(at: Self.start) == nil {}
        for _ in 0..<10 {
            #expect(budget.take(at: Self.start.advanced(by: .seconds(-7_200))) != nil)
            #expect(budget.take(at: Self.start.advanced(by: .seconds(-7_200))) != nil)
        }
    }

    /// However greedy it is, half a minute's worth is there for whom somebody waits.
    @Test func whatNobodyWaitsForLeavesHalfOfTheBucket() throws {
        let budget = Bucket(RequestBudget(perSecond: 50, isProduction: true, share: .init(), at: Self.start))
        var now = Self.start
        var (patient, awaited) = (0, 0)
        while budget.take(at: now, for: .patient) == nil { patient += 1 }
        #expect(patient == 1_350)
        // It goes on with what comes in, when it was promised.
        for _ in 0..<10 {
            let until = try #require(budget.take(at: now, for: .patient))
            #expect(budget.take(at: until.advanced(by: .milliseconds(-1)), for: .patient) == until)
            now = until
            #expect(budget.take(at: now, for: .patient) == nil)
        }
        while budget.take(at: now) == nil { awaited += 1 }
        #expect(awaited == 1_350)
    }

    /// One of which no half is left has its turn all the same.
    @Test func aSmallBucketHoldsNothingBackForEver() {
        let budget = Bucket(RequestBudget(perSecond: 1, isProduction: false, share: .init(nodes: 7), at: Self.start))
        #expect(budget.take(at: Self.start, for: .patient) == nil)
        #expect(budget.take(at: Self.start, for: .patient) != nil)
        #expect(budget.take(at: Self.start.advanced(by: .seconds(600)), for: .patient) == nil)
    }

    @Test func sharesAreParts() {
        func perHour(_ nodes: Int, _ percent: Int, isProduction: Bool = true) -> Int64 {
            let share = RequestBudget.Share(nodes: nodes, percent: percent)
            return RequestBudget(perSecond: 50, isProduction: isProduction, share: share, at: Self.start).perHour
        }
        #expect(perHour(1, 100) == 162_000)
        #expect(perHour(3, 100) == 54_000)
        #expect(perHour(1, 50) == 81_000)
        #expect(perHour(1, 100, isProduction: false) == 16_200)
        #expect(
            RequestBudget(perSecond: 1, isProduction: false, share: .init(nodes: 5_000), at: Self.start).perHour == 1
        )
    }

    @Test func aBreakerRestsTwiceAsLongEachTimeAndClosesWithTheFirstSuccess() throws {
        let breaker = Breaker(CircuitBreaker(.host))
        var now = Self.start
        for _ in 0..<4 {
            #expect(breaker.take(at: now) == nil)
            #expect(breaker.fail(at: now) == nil)
        }
        #expect(breaker.take(at: now) == nil)
        var until = try #require(breaker.fail(at: now))
        for seconds: Int64 in [5, 10, 20, 40, 80, 160, 300, 300] {
            #expect(breaker.value.isOpen && until == now.advanced(by: .seconds(seconds)))
            #expect(breaker.take(at: until.advanced(by: .milliseconds(-1))) == until)
            now = until
            #expect(breaker.take(at: now) == nil)
            // One probe at a time.
            #expect(breaker.take(at: now) != nil)
            until = try #require(breaker.fail(at: now))
        }
        now = until
        #expect(breaker.take(at: now) == nil)
        #expect(breaker.succeed() && !breaker.value.isOpen && breaker.take(at: now) == nil)
        #expect(!breaker.succeed())
    }

    @Test func aProbeOfWhichNothingIsHeardIsForgotten() throws {
        let breaker = Breaker(CircuitBreaker(.key))
        for _ in 0..<3 { _ = breaker.fail(at: Self.start) }
        let now = Self.start.advanced(by: .seconds(60))
        #expect(breaker.take(at: now) == nil)
        let again = try #require(breaker.take(at: now))
        #expect(again == now.advanced(by: .seconds(90)))
        #expect(breaker.take(at: again) == nil)
        breaker.value.tellNothing(at: again)
        #expect(breaker.take(at: again) == nil)
    }

    /// What a clock noted that was hours ahead holds nobody up for hours.
    @Test func aClockThatIsSetBackEndsWhatItBegan() {
        let right = Self.start.advanced(by: .seconds(-28_800))
        let resting = Breaker(CircuitBreaker(.host))
        for _ in 0..<5 { _ = resting.fail(at: Self.start) }
        #expect(resting.take(at: Self.start) != nil)
        #expect(resting.take(at: right) == nil)
        // One probe at a time, by the clock as it is now.
        #expect(resting.take(at: right) == right.advanced(by: .seconds(90)))
        let probing = Breaker(CircuitBreaker(.host))
        for _ in 0..<5 { _ = probing.fail(at: Self.start) }
        #expect(probing.take(at: Self.start.advanced(by: .seconds(5))) == nil)
        #expect(probing.take(at: right) == nil)
        let blocked = Bucket(RequestBudget(perSecond: 50, isProduction: true, share: .init(), at: Self.start))
        blocked.value.block(until: Self.start.advanced(by: .seconds(600)), at: Self.start)
        // A minute may be the clock's own correction: what Apple said holds.
        #expect(blocked.take(at: Self.start.advanced(by: .seconds(-60))) != nil)
        #expect(blocked.take(at: right) == nil)
    }

    @Test(arguments: [
        ("1767225700000", Int64(100_000)), ("1767225700", 100_000), ("30", 30_000), ("0", 1_000), ("", nil),
        (" 7 ", 7_000), ("99999999999999999999", 7_200_000), ("1767225000000", 1_000), ("86400", 7_200_000),
        ("Thu, 01 Jan 2026 00:01:40 GMT", 100_000), ("Thursday, 01-Jan-26 00:01:40 GMT", 100_000),
        ("Thu, 01 Jan 2099 00:00:00 GMT", 7_200_000), ("soon", nil), ("-5", nil), ("1.5", nil),
    ])
    func retryAfterIsReadInEachOfItsForms(text: String, milliseconds: Int64?) {
        let moment = RetryAfter.moment(text, at: Self.start)
        #expect(moment == milliseconds.map { Self.start.advanced(by: .milliseconds($0)) })
    }
}

/// Values that are asked inside of an expectation, which takes nothing that changes.
private final class Bucket {
    var value: RequestBudget

    init(_ value: RequestBudget) { self.value = value }

    func take(at now: Timestamp, for urgency: AppleUrgency = .awaited) -> Timestamp? {
        value.take(at: now, for: urgency)
    }
}

private final class Breaker {
    var value: CircuitBreaker

    init(_ value: CircuitBreaker) { self.value = value }

    func take(at now: Timestamp) -> Timestamp? { value.take(at: now) }
    func fail(at now: Timestamp) -> Timestamp? { value.fail(at: now) }
    func succeed() -> Bool { value.succeed() }
}
