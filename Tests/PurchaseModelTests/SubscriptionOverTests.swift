import PurchaseModel
import TestSupport
import Testing

/// Since when a subscription is over: since Apple first said so, however often it is asked.
@Suite struct SubscriptionOverTests {
    private static func word(_ day: Double, _ change: (inout Renewal) -> Void) throws -> Renewal {
        var word = Renewal(
            originalID: try #require(TransactionID(number: 1)),
            product: try Shop.product("monthly"),
            signedAt: SubscriptionCase.at(day)
        )
        word.renewsAt = SubscriptionCase.at(30)
        change(&word)
        return word
    }

    private static func failing(_ day: Double, graceUntil end: Double? = nil) throws -> Renewal {
        try word(day) { word in
            (word.willAutoRenew, word.isInBillingRetry, word.expirationIntent) = (true, true, 2)
            word.graceEndsAt = end.map { SubscriptionCase.at($0) }
        }
    }

    private static func over(_ day: Double, _ intent: Int) throws -> Renewal {
        try word(day) { ($0.willAutoRenew, $0.isInBillingRetry, $0.expirationIntent) = (false, false, intent) }
    }

    /// A month that ends on day 30: what Apple says of it, and the day since when it is over.
    struct Ending: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let words: @Sendable () throws -> [Renewal]
        let since: Double
    }

    static let endings = [
        // Each look at another subscription of the same account has this one signed anew.
        Ending(
            testDescription: "given up",
            words: { [try failing(30), try over(90, 2), try over(120, 2), try over(150, 2)] },
            since: 90
        ),
        Ending(
            testDescription: "given up, heard of late",
            words: { [try over(120, 2), try over(150, 2)] },
            since: 120
        ),
        // Access lasted until then.
        Ending(
            testDescription: "cancelled in the grace",
            words: { [try failing(30, graceUntil: 46), try over(34, 1), try over(60, 1)] },
            since: 34
        ),
        Ending(
            testDescription: "cancelled in the retry",
            words: { [try failing(30), try over(40, 1), try over(60, 1)] },
            since: 40
        ),
        Ending(
            testDescription: "cancelled before",
            words: { [try word(10) { $0.willAutoRenew = false }, try over(30, 1), try over(60, 1)] },
            since: 30
        ),
        Ending(testDescription: "no consent", words: { [try over(30, 3), try over(60, 3)] }, since: 30),
    ]

    @Test(arguments: endings) func itIsOverSinceAppleFirstSaidSo(ending: Ending) throws {
        let since = SubscriptionCase.at(ending.since)
        for words in permutations(of: try ending.words()) {
            var shop = try Shop()
            try shop.show(Sold.month())
            shop.now = SubscriptionCase.at(200)
            for word in words { try shop.show(renewals: [word], by: nil) }
            #expect(try shop.subscription().state == .expired)
            #expect(try shop.subscription().since == since, "\(words.map(\.signedAt))")
        }
        // As it happens, the shop is told when it was.
        var shop = try Shop()
        try shop.show(Sold.month())
        for word in try ending.words() {
            shop.now = max(word.signedAt, SubscriptionCase.at(30))
            try shop.show(renewals: [word], by: nil)
        }
        let told = shop.events.filter { $0.type == .subscriptionExpired }
        #expect(told.map(\.happenedAt) == [since])
        #expect(try shop.subscription().since == since)
    }

    /// What was said of an earlier end is nothing of a later one.
    @Test func anEarlierEndTellsNothingOfThis() throws {
        var shop = try Shop()
        try shop.show(Sold.month())
        try shop.show(renewals: [Self.failing(30, graceUntil: 46), Self.over(34, 1)], by: nil)
        try shop.show(Sold.month(2, original: 1, from: 50))
        shop.now = SubscriptionCase.at(100)
        var ended = try Self.over(85, 1)
        ended.renewsAt = SubscriptionCase.at(80)
        try shop.show(renewals: [ended], by: nil)
        #expect(try shop.subscription().since == SubscriptionCase.at(80))
    }
}
