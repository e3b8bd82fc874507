import PurchaseModel
import Testing

@Suite struct LookScheduleTests {
    private static func looks(_ row: SubscriptionCase, _ days: [Double]) throws -> [Double?] {
        try days.map { day in
            let found = try #require(
                try SubscriptionCase("", row.periods, row.renewal, on: day, is: "").subscription()
            )
            let next = LookSchedule(isSpread: false).next(after: SubscriptionCase.at(day), of: found)
            return next.map { Double($0.milliseconds - Facts.now.milliseconds) / 86_400_000 }
        }
    }

    /// A tenth of an hour, in days.
    private static let tenth = 600.0 / 86_400

    @Test func aPeriodIsLookedAtBeforeAndAfterItsEndAndEverMoreSeldom() throws {
        let row = SubscriptionCase("", on: 0, is: "")
        let tenth = Self.tenth
        #expect(try Self.looks(row, [0, 29, 30]) == [29, 30 + tenth, 30 + tenth])
        #expect(try Self.looks(row, [30 + tenth, 31]) == [30 + 3 * tenth, 30 + 243 * tenth])
        #expect(try Self.looks(row, [90 + tenth, 400]) == [nil, nil])
    }

    @Test func whatLivesLongIsVerifiedAgain() throws {
        let row = SubscriptionCase("", [{ $0.expiresAt = SubscriptionCase.at(365) }], on: 0, is: "")
        #expect(try Self.looks(row, [0, 100, 350]) == [30, 130, 364])
    }

    @Test func aMinuteOfTheSandboxIsNoDay() throws {
        let minutes = 5.0 / 1_440
        let row = SubscriptionCase("", [{ $0.expiresAt = SubscriptionCase.at(minutes) }], on: 0, is: "")
        let found = try Self.looks(row, [0, minutes * 0.8, minutes])
        #expect(found.compactMap { $0.map { ($0 * 86_400).rounded() } } == [225, 330, 330])
    }

    /// Apple tells of a period of which it never sends the transaction, and signs that anew for whoever asks.
    @Test func whoIsAlwaysToldTheSameAsksEverMoreSeldom() throws {
        var (now, looks) = (40.0, 0)
        while now < 70, looks < 1_000 {
            let signed = SubscriptionCase.at(now)
            let row = SubscriptionCase(
                "",
                [{ _ in }],
                { renewal in
                    renewal.signedAt = signed
                    renewal.renewsAt = SubscriptionCase.at(80)
                },
                on: now,
                is: ""
            )
            #expect(try row.subscription()?.isBehind == true)
            now = try #require(try Self.looks(row, [now]).first ?? nil)
            looks += 1
        }
        #expect(looks < 40, "\(looks) looks in a month")
    }

    /// Apple tries 90 days for a month of a commitment, and for as long again where it is heard trying after that.
    @Test func anEndIsLookedForAsLongAsAppleTries() throws {
        let failing: @Sendable (inout Renewal) -> Void = { $0.isInBillingRetry = true }
        let plain = SubscriptionCase("", [{ _ in }], failing, on: 0, is: "")
        #expect(try Self.looks(plain, [89]) == [90 + Self.tenth])
        let month = SubscriptionCase("", [{ $0.billingPlan = "MONTHLY" }], failing, on: 0, is: "")
        #expect(try Self.looks(month, [89, 119]) == [120 + Self.tenth, 120 + Self.tenth])
        let lately: @Sendable (inout Renewal) -> Void = {
            failing(&$0)
            $0.signedAt = SubscriptionCase.at(95)
        }
        // The ever longer waits begin anew once, where it should have been over.
        let late = SubscriptionCase("", [{ _ in }], lately, on: 0, is: "")
        #expect(try Self.looks(late, [95, 149, 150]) == [95.0625, 150 + Self.tenth, nil])
    }

    /// Apple still tries after as long as it says, and signs that anew for whoever asks; it never says that it is over.
    @Test(arguments: [(String?.none, 90.0, 150.0), ("MONTHLY", 120, 210)])
    func whoIsAlwaysToldThatAppleTriesIsDone(plan: String?, limit: Double, end: Double) throws {
        var (now, looks) = (limit + Self.tenth, 0)
        while looks < 1_000 {
            let signed = SubscriptionCase.at(now)
            let row = SubscriptionCase(
                "",
                [{ $0.billingPlan = plan }],
                { ($0.signedAt, $0.isInBillingRetry) = (signed, true) },
                on: now,
                is: ""
            )
            guard let next = try Self.looks(row, [now]).first ?? nil else { break }
            #expect(try row.subscription()?.state == .billingRetry)
            now = next
            looks += 1
        }
        #expect((5...15).contains(looks), "\(looks) looks")
        #expect(abs(now - end - Self.tenth) < 0.001)
    }

    @Test func itIsOverForGoodWhenAppleSaysSo() throws {
        let row = SubscriptionCase("", [{ _ in }], { $0.expirationIntent = 1 }, on: 0, is: "")
        #expect(try Self.looks(row, [30, 31, 1_000]) == [nil, nil, nil])
    }

    /// Each row: how a month that was over by so many days is first heard of, and within which time Apple is asked about it, once.
    @Test(
        arguments: [
            ("presented", 61, 60), ("presented", 4_000, 60), ("nobody's", 61, 90_000), ("history", 400, 90_000),
            ("imported", 400, 90_000), ("turned off", 400, nil), ("ended by Apple", 400, nil),
        ] as [(String, Double, Int64?)]
    )
    func whatIsOverForLongIsAskedAboutOnce(how: String, days: Double, within: Int64?) throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(30 + days)
        let sold = try Sold.month(1)
        var word = Renewal(originalID: sold.id, product: sold.product, signedAt: SubscriptionCase.at(30))
        (word.willAutoRenew, word.renewsAt) = (false, sold.expiresAt)
        if how == "ended by Apple" { word.expirationIntent = 1 }
        let source: RecordingSource = how == "imported" ? .imported : how == "history" ? .history : .presented
        let words = how == "turned off" || how == "ended by Apple" ? [word] : []
        try shop.show(sold, renewals: words, by: ["nobody's", "history"].contains(how) ? nil : "ann", from: source)
        #expect(try shop.subscription().state == .expired)
        let look = try shop.subscription().nextLook
        #expect((look != nil) == (within != nil))
        guard let look, let within else { return }
        #expect(shop.now < look && look <= shop.now.advanced(by: .seconds(within)))
        // What says no more of it leaves that as it is, but for a customer who has come to wait for it.
        try shop.show(Sold.again(sold, after: 60))
        let awaited = try #require(try shop.subscription().nextLook)
        #expect(within == 60 ? awaited == look : shop.now < awaited && awaited <= shop.now.advanced(by: .seconds(60)))
        shop.now = awaited
        try shop.look()
        #expect(try shop.subscription().nextLook == nil)
        // Nor is it asked about again by whoever presents it, or an older period of it.
        for day in [120, 180] as [Int64] {
            try shop.show(Sold.again(sold, after: day))
            try shop.show(Sold.month(day, original: 1, from: -day))
            #expect(try shop.subscription().nextLook == nil)
        }
        // A later period that was over for long as well is none that Apple was asked about.
        shop.now = SubscriptionCase.at(200 + days)
        try shop.show(Sold.month(900, original: 1, from: 60))
        #expect(try shop.subscription().nextLook.map { $0 > shop.now } == true)
    }

    /// Between the export and the import many have renewed: they wait a day at most.
    @Test(arguments: [0.1, 1, 2, 4, 8, 16, 32])
    func whatWasOverWhenItWasImportedIsAskedAboutWithinADay(days: Double) throws {
        for number in Int64(1)...20 {
            var shop = try Shop()
            shop.now = SubscriptionCase.at(30 + days)
            try shop.show(Sold.month(number), from: .imported)
            let look = try #require(try shop.subscription(number).nextLook)
            #expect(shop.now < look && look <= shop.now.advanced(by: .seconds(90_000)))
            // The same row once more leaves it.
            try shop.show(Sold.again(Sold.month(number), after: 60), from: .imported)
            #expect(try shop.subscription(number).nextLook == look)
        }
    }

    /// What is over for less long is looked at again and again, and at once where its customer presents it for the first time.
    @Test(arguments: ["presented", "told", "told and presented"])
    func whatIsOverIsAskedAboutAtOnce(how: String) throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(50)
        let sold = try Sold.month(1)
        if how != "presented" { try shop.show(sold, by: nil) }
        if how != "told" { try shop.show(sold) }
        let look = try #require(try shop.subscription().nextLook)
        #expect((look <= shop.now.advanced(by: .seconds(60))) == (how != "told"))
        shop.now = look
        try shop.look()
        let next = try #require(try shop.subscription().nextLook)
        if how == "told" {
            try shop.show(sold)
            #expect(try shop.subscription().nextLook.map { $0 <= shop.now.advanced(by: .seconds(60)) } == true)
        }
        // Whoever presents it again hastens nothing, nor puts it off.
        let planned = how == "told" ? try shop.subscription().nextLook : next
        for second in [60, 120] as [Int64] { try shop.show(Sold.again(sold, after: second)) }
        #expect(try shop.subscription().nextLook == planned)
    }

    /// Asked about one, Apple tells of all of a customer's.
    @Test func ofManyThatAreOverTheLastIsAskedAboutAtOnce() throws {
        var shop = try Shop()
        shop.now = SubscriptionCase.at(1_000)
        let all = try [3, 9, 5].map { try Sold.month($0, from: $0 * 40) }
        try shop.show(all)
        let minute = shop.now.advanced(by: .seconds(60))
        let looks = try all.map { try #require(try shop.subscription($0.id.number).nextLook) }
        #expect(looks.map { $0 <= minute } == [false, true, false])
        // Which ends the questions about the others.
        var word = Renewal(originalID: all[0].id, product: all[0].product, signedAt: shop.now)
        (word.willAutoRenew, word.expirationIntent, word.renewsAt) = (false, 1, all[0].expiresAt)
        try shop.show(renewals: [word], by: nil, from: .history)
        #expect(try shop.subscription(3).nextLook == nil)
    }

    @Test func aRefundMayBeTakenBackAsLongAsThePeriodWouldHaveLasted() throws {
        let row = SubscriptionCase("", [{ $0.revocation = Revocation(at: Facts.now) }], on: 0, is: "")
        #expect(try Self.looks(row, [1, 31]) == [30 + Self.tenth, nil])
    }
}
