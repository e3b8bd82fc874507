import PurchaseModel
import Testing

/// Apple does not send the older transaction with an upgrade: that it gave way is seen by the newer one.
@Suite struct UpgradingTests {
    private static func yearly(_ number: Int64, original: Int64? = nil, from day: Int64 = 0) throws -> Transaction {
        var sold = try Sold.month(number, original: original, from: day)
        sold.product = try Shop.product("yearly")
        sold.expiresAt = SubscriptionCase.at(Double(day + 365))
        return sold
    }

    /// Each row: what comes after a year that began on day 0, and whether that ended it before its time.
    @Test(arguments: [
        ("month", 30, true), ("month", 363, true), ("month", 364, false), ("month", 365, false), ("month", 400, false),
        ("year", 30, false), ("month", 0, false), ("family", 30, false), ("another chain", 30, false),
        ("refunded", 30, false), ("marked", 400, true),
    ])
    func aNewerPlanInItsMiddleEndsAPeriod(what: String, day: Int64, isCut: Bool) throws {
        var first = try Self.yearly(1)
        var next = try what == "year" ? Self.yearly(2, original: 1, from: day) : Sold.month(2, original: 1, from: day)
        switch what {
        case "family": next.ownership = .familyShared
        case "another chain": next.originalID = next.id
        case "refunded": first = Sold.refunded(first)
        case "marked": first.isUpgraded = true
        default: break
        }
        let expected: Set = isCut ? [first.id] : []
        #expect(replacedPeriods(among: [first, next]) == expected)
        #expect(replacedPeriods(among: [next, first]) == expected)
    }

    @Test func momentsBeyondAllReasonEndNothing() throws {
        var first = try Self.yearly(1)
        (first.purchasedAt, first.expiresAt) = (Timestamp(milliseconds: .min), Timestamp(milliseconds: .max))
        #expect(replacedPeriods(among: [first, try Sold.month(2, original: 1)]) == [first.id])
        (first.purchasedAt, first.expiresAt) = (Timestamp(milliseconds: .max), Timestamp(milliseconds: .min))
        #expect(replacedPeriods(among: [first, try Sold.month(2, original: 1)]).isEmpty)
    }
}
