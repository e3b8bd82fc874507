import PurchaseModel
import Testing

/// Many subscriptions that began at one moment are not looked at in one.
@Suite struct LookSpreadTests {
    private static let count: Int64 = 50_000
    private static let day = Duration.seconds(86_400)

    /// When each of many is looked at next, that stood so at one moment, in Apple's order of numbers.
    private static func looks(after now: Timestamp, _ change: (inout Renewal) -> Void) throws -> [Timestamp] {
        var looks: [Timestamp] = []
        for number in 1...count {
            let period = try Sold.month(number)
            var renewal = Renewal(
                originalID: try #require(TransactionID(number: number)),
                product: period.product,
                signedAt: Facts.now
            )
            renewal.renewsAt = period.expiresAt
            change(&renewal)
            let found = try #require(fold(try Shop.chain(number), period, renewal, at: now))
            looks.append(try #require(LookSchedule().next(after: now, of: found)))
        }
        return looks
    }

    /// When it was looked at last, how it stood, and between when and when they are looked at next: seconds.
    struct Row: Sendable {
        let day: Int
        let isFailing: Bool
        let from: Int64
        let to: Int64
    }

    private static let dayBefore: Int64 = 29 * 86_400
    private static let end: Int64 = 30 * 86_400

    static let rows = [
        Row(day: 0, isFailing: false, from: dayBefore - 2 * 86_400, to: dayBefore + 64_800),
        Row(day: 30, isFailing: false, from: end + 600, to: end + 1_200),
        Row(day: 30, isFailing: true, from: end + 600, to: end + 1_200),
    ]

    @Test(arguments: rows)
    func theyComeOneAfterTheOther(row: Row) throws {
        let now = Facts.now.advanced(by: Self.day * row.day)
        let looks = try Self.looks(after: now) { renewal in
            guard row.isFailing else { return }
            renewal.signedAt = now
            (renewal.isInBillingRetry, renewal.expirationIntent) = (true, 2)
        }
        let seconds = looks.map { $0.milliseconds / 1_000 - Facts.now.milliseconds / 1_000 }
        #expect(seconds.allSatisfy { row.from <= $0 && $0 <= row.to })
        let most = Dictionary(grouping: seconds, by: \.self).values.map(\.count).max() ?? 0
        let even = Int(Self.count / (row.to - row.from)) + 1
        #expect(most <= 2 * even + 12, "\(most) in one second")
    }

    /// Whoever reckons, today or later, on this server or another.
    @Test func allAgreeOnWhen() throws {
        #expect(try Self.looks(after: Facts.now) { _ in } == Self.looks(after: Facts.now) { _ in })
        let found = try #require(fold(try Shop.chain(7), try Sold.month(7), nil, at: Facts.now))
        let look = try #require(LookSchedule().next(after: Facts.now, of: found))
        #expect(look.milliseconds - Facts.now.milliseconds == 2_512_448_151)
    }
}
