import Encoding
import PurchaseModel
import Simulator
import Testing

struct TimeRateTests {
    private static func moment(_ text: String) throws -> Timestamp {
        Timestamp(milliseconds: try #require(RFC3339.milliseconds(text)))
    }

    static let dates: [(start: String, period: String, times: Int, end: String)] = [
        ("2026-01-15T10:00:00Z", "P1W", 1, "2026-01-22T10:00:00Z"),
        ("2026-01-15T10:00:00Z", "P1M", 1, "2026-02-15T10:00:00Z"),
        ("2026-01-31T10:00:00Z", "P1M", 1, "2026-02-28T10:00:00Z"),
        ("2028-01-31T10:00:00Z", "P1M", 1, "2028-02-29T10:00:00Z"),
        ("2028-02-29T10:00:00Z", "P1Y", 1, "2029-02-28T10:00:00Z"),
        ("2026-11-30T23:59:59.999Z", "P3M", 1, "2027-02-28T23:59:59.999Z"),
        ("2026-11-30T00:00:00Z", "P1M", 13, "2027-12-30T00:00:00Z"),
        ("2026-01-15T10:00:00Z", "P3D", 1, "2026-01-18T10:00:00Z"),
    ]

    @Test("adds periods as a calendar does", arguments: dates)
    func calendar(_ row: (start: String, period: String, times: Int, end: String)) throws {
        let period = try #require(BillingPeriod(row.period))
        #expect(period.description == row.period)
        #expect(try period.end(from: Self.moment(row.start), times: row.times) == Self.moment(row.end))
    }

    @Test(
        "takes no other text for a period",
        arguments: ["", "P", "PM", "P0M", "P1", "1M", "P1H", "PT1M", "P-1M", "P+1M", "P1M ", "P1M1D", "P1000D", "p1m"]
    )
    func notAPeriod(_ text: String) {
        #expect(BillingPeriod(text) == nil)
    }

    /// Minutes, as App Store Connect's table for testers has them.
    static let table: [(period: String, minutes: [Int: Int])] = [
        ("P1W", [5: 3, 15: 5, 30: 10, 60: 15]),
        ("P1M", [3: 3, 5: 5, 15: 15, 30: 30, 60: 60]),
        ("P2M", [3: 6, 5: 10, 15: 30, 30: 60, 60: 120]),
        ("P3M", [3: 9, 5: 15, 15: 45, 30: 90, 60: 180]),
        ("P6M", [3: 18, 5: 30, 15: 90, 30: 180, 60: 360]),
        ("P1Y", [3: 36, 5: 60, 15: 180, 30: 360, 60: 720]),
    ]

    @Test("runs a sandbox tester's subscriptions at the tester's rate", arguments: table)
    func sandbox(_ row: (period: String, minutes: [Int: Int])) throws {
        let start = Timestamp(seconds: 1_767_225_600)
        let period = try #require(BillingPeriod(row.period))
        for (rate, minutes) in row.minutes {
            let end = TimeRate.sandbox(minutesPerMonth: rate).end(of: period, from: start)
            #expect(start.duration(to: end) == .seconds(minutes * 60), "\(rate)")
        }
    }

    @Test("gives grace and tries again as long as Apple does")
    func trouble() {
        let sixteen = GracePeriod(days: 16)
        #expect(TimeRate.real.grace(sixteen, of: .month) == .seconds(16 * 86_400))
        #expect(TimeRate.real.grace(sixteen, of: .week) == .seconds(6 * 86_400))
        #expect(TimeRate.real.grace(GracePeriod(days: 3), of: .week) == .seconds(3 * 86_400))
        let rates = [5: (154, 150, 600), 15: (257, 450, 1_800), 30: (514, 900, 3_600), 60: (771, 1_800, 7_200)]
        for (minutes, expected) in rates {
            let rate = TimeRate.sandbox(minutesPerMonth: minutes)
            #expect(rate.grace(sixteen, of: .week) == .seconds(expected.0))
            #expect(rate.grace(sixteen, of: .month) == .seconds(expected.1))
            #expect(rate.billingRetry == .seconds(expected.2))
        }
        #expect(TimeRate.real.billingRetry == .seconds(60 * 86_400))
        #expect(TimeRate.testFlight.end(of: .year, from: Timestamp(seconds: 0)) == Timestamp(seconds: 86_400))
    }
}
