import PurchaseModel
import Testing

@Suite struct SubscriptionRuleTests {
    static let yearly = ProductID(checked: "yearly")

    private static let byTransactionAlone = [
        SubscriptionCase("a period alone", on: 10, is: "active"),
        SubscriptionCase("a period alone, at its end", on: 30, is: "expired"),
        SubscriptionCase("a period that is renewed", [{ _ in }, { _ in }], on: 40, is: "active"),
        SubscriptionCase("charged before the old one ends", [{ _ in }, { _ in }], on: 29.5, is: "active"),
        SubscriptionCase("the newest refunded", [{ _ in }, { $0.revocation = .on(35) }], on: 40, is: "revoked"),
        SubscriptionCase("an older one refunded", [{ $0.revocation = .on(35) }, { _ in }], on: 40, is: "active"),
        SubscriptionCase(
            "refunded in part",
            [{ $0.revocation = Revocation(at: SubscriptionCase.at(5), percentage: 50_000) }],
            on: 10,
            is: "revoked"
        ),
        SubscriptionCase("an upgrade that was not seen yet", [{ $0.isUpgraded = true }], on: 10, is: "active behind"),
        SubscriptionCase(
            "an upgrade",
            [{ $0.isUpgraded = true }, { $0.begin(yearly, on: 12, for: 365) }],
            on: 40,
            is: "active"
        ),
        SubscriptionCase(
            "family access that was lost",
            [
                {
                    $0.ownership = .familyShared
                    $0.revocation = Revocation(at: SubscriptionCase.at(3), reason: 0, type: "FAMILY_REVOKE")
                }
            ],
            on: 4,
            is: "revoked"
        ),
        SubscriptionCase("no end is known", [{ $0.expiresAt = nil }], on: 10, is: "unknown"),
    ]

    private static let over = "expired billing_error"
    private static let month: @Sendable (inout Transaction) -> Void = { $0.billingPlan = "MONTHLY" }

    private static let byRenewal = [
        SubscriptionCase("cancelled, still running", renewal: { $0.willAutoRenew = false }, on: 10, is: "active off"),
        SubscriptionCase(
            "cancelled, over",
            renewal: { $0.willAutoRenew = false },
            on: 30,
            is: "expired cancelled off"
        ),
        SubscriptionCase(
            "turned off while a higher price waited, over",
            renewal: { ($0.willAutoRenew, $0.priceIncreaseStatus) = (false, 0) },
            on: 30,
            is: "expired off price pending"
        ),
        SubscriptionCase(
            "turned off when a higher price was accepted, over",
            renewal: { ($0.willAutoRenew, $0.priceIncreaseStatus) = (false, 1) },
            on: 30,
            is: "expired cancelled off price accepted"
        ),
        SubscriptionCase("on, over", renewal: { $0.willAutoRenew = true }, on: 30, is: "expired"),
        SubscriptionCase("expired by choice", renewal: { $0.end(1) }, on: 31, is: "expired cancelled off"),
        SubscriptionCase("retries over", renewal: { $0.end(2, on: 90) }, on: 91, is: "expired billing_error off"),
        SubscriptionCase(
            "no consent",
            renewal: { $0.end(3) },
            on: 31,
            is: "expired no_consent_to_price_increase off"
        ),
        SubscriptionCase("not for sale", renewal: { $0.end(4) }, on: 31, is: "expired product_unavailable off"),
        SubscriptionCase("ended in a way of tomorrow", renewal: { $0.end(9) }, on: 31, is: "expired apple_9 off"),
        SubscriptionCase("ended before its end", renewal: { $0.end(5, on: 10) }, on: 11, is: "expired other off"),
        SubscriptionCase("in grace", renewal: { $0.fail(graceUntil: 46) }, on: 45, is: "grace_period"),
        SubscriptionCase("grace over", renewal: { $0.fail(graceUntil: 46) }, on: 46, is: "billing_retry"),
        SubscriptionCase(
            "grace without the flag",
            renewal: { $0.fail(nil, graceUntil: 46) },
            on: 45,
            is: "grace_period"
        ),
        SubscriptionCase("that grace over", renewal: { $0.fail(nil, graceUntil: 46) }, on: 46, is: "billing_retry"),
        SubscriptionCase(
            "grace, but not retrying",
            renewal: { $0.fail(false, graceUntil: 46) },
            on: 45,
            is: "expired billing_error"
        ),
        SubscriptionCase("failing, no grace", renewal: { $0.fail() }, on: 31, is: "billing_retry"),
        SubscriptionCase("failing on the last day", renewal: { $0.fail() }, on: 89.9, is: "billing_retry"),
        SubscriptionCase("failing for too long", renewal: { $0.fail() }, on: 90, is: "expired billing_error"),
        SubscriptionCase("heard failing after that", renewal: { $0.fail(on: 91) }, on: 149.9, is: "billing_retry"),
        SubscriptionCase("and not for as long again", renewal: { $0.fail(on: 91) }, on: 150, is: over),
        SubscriptionCase("heard so late, and not for longer", renewal: { $0.fail(on: 149) }, on: 150, is: over),
        SubscriptionCase("heard after that as well", renewal: { $0.fail(on: 151) }, on: 151, is: over),
        SubscriptionCase("a month of a year", [month], { $0.fail() }, on: 91, is: "billing_retry"),
        SubscriptionCase("and heard of late", [month], { $0.fail(on: 105) }, on: 119.9, is: "billing_retry"),
        SubscriptionCase("for too long", [month], { $0.fail() }, on: 120, is: "expired billing_error"),
        SubscriptionCase("a year at once", [{ $0.billingPlan = "BILLED_UPFRONT" }], { $0.fail() }, on: 91, is: over),
        SubscriptionCase("failing before its end", renewal: { $0.fail(on: 29) }, on: 29.5, is: "active"),
        SubscriptionCase(
            "failing, and Apple names no intent",
            renewal: {
                $0.fail()
                $0.expirationIntent = nil
            },
            on: 31,
            is: "billing_retry"
        ),
        SubscriptionCase(
            "cancelled in grace",
            renewal: {
                $0.fail(graceUntil: 46)
                $0.end(1, on: 33)
            },
            on: 34,
            is: "expired cancelled off"
        ),
        SubscriptionCase(
            "a downgrade at renewal",
            renewal: { $0.nextProduct = yearly },
            on: 10,
            is: "active next yearly"
        ),
        SubscriptionCase(
            "asked to consent",
            renewal: { $0.priceIncreaseStatus = 0 },
            on: 10,
            is: "active price pending"
        ),
        SubscriptionCase("consented", renewal: { $0.priceIncreaseStatus = 1 }, on: 10, is: "active price accepted"),
    ]

    private static let byBoth = [
        SubscriptionCase(
            "an older word, a newer period",
            [{ _ in }, { _ in }],
            { $0.willAutoRenew = false },
            on: 40,
            is: "active"
        ),
        SubscriptionCase(
            "an older word of trouble, at the end of a newer period",
            [{ _ in }, { $0.signedAt = SubscriptionCase.at(33) }],
            { $0.fail(graceUntil: 46) },
            on: 61,
            is: "expired"
        ),
        SubscriptionCase(
            "paid in grace by a cheaper plan",
            [{ _ in }, { $0.begin(yearly, on: 30, for: 365, signed: 33) }],
            { $0.fail(graceUntil: 46) },
            on: 61,
            is: "active"
        ),
        SubscriptionCase(
            "a word signed before the renewal begins that it speaks of",
            [{ _ in }, { _ in }],
            {
                $0.sign(on: 29.5, renews: 60)
                $0.willAutoRenew = false
            },
            on: 40,
            is: "active off"
        ),
        SubscriptionCase(
            "a renewal that we missed",
            renewal: { $0.sign(on: 31, renews: 60) },
            on: 40,
            is: "active behind"
        ),
        SubscriptionCase(
            "an upgrade of which only the word came",
            renewal: {
                $0.product = yearly
                $0.sign(on: 12, renews: 377)
            },
            on: 40,
            is: "active behind next monthly"
        ),
        SubscriptionCase(
            "an upgrade to a shorter period",
            [{ $0.begin(yearly, on: 0, for: 365) }, { $0.begin(nil, on: 12, for: 30) }],
            {
                $0.product = yearly
                $0.sign(on: 2, renews: 365)
            },
            on: 41,
            is: "active"
        ),
        SubscriptionCase("an extension", renewal: { $0.sign(on: 5, renews: 40) }, on: 35, is: "active behind"),
        SubscriptionCase(
            "an extension that the word does not know",
            [{ $0.expiresAt = SubscriptionCase.at(40) }],
            { $0.willAutoRenew = false },
            on: 35,
            is: "active off"
        ),
        SubscriptionCase(
            "a refund, and a word after it",
            [{ $0.revocation = .on(5) }],
            {
                $0.sign(on: 6, renews: 30)
                $0.willAutoRenew = false
            },
            on: 7,
            is: "revoked off"
        ),
        SubscriptionCase(
            "bought again after a refund, and only the word came",
            [{ $0.revocation = .on(5) }],
            { $0.sign(on: 50, renews: 80) },
            on: 60,
            is: "active behind"
        ),
        SubscriptionCase(
            "bought again after the end",
            [{ _ in }, { $0.begin(nil, on: 200, for: 30) }],
            { $0.end(1) },
            on: 210,
            is: "active"
        ),
        SubscriptionCase("the word alone", [], { _ in }, on: 10, is: "active behind"),
        SubscriptionCase(
            "the word alone, in grace",
            [],
            { $0.fail(graceUntil: 46) },
            on: 40,
            is: "grace_period behind"
        ),
        SubscriptionCase(
            "a word that names no end, and nothing else",
            [],
            { $0.renewsAt = nil },
            on: 10,
            is: "unknown behind"
        ),
        SubscriptionCase(
            "an old answer: the word names no end",
            [{ $0.signedAt = SubscriptionCase.at(31) }],
            {
                $0.fail(graceUntil: 46)
                $0.renewsAt = nil
            },
            on: 40,
            is: "grace_period"
        ),
        SubscriptionCase(
            "an old answer of the period before",
            [{ _ in }, { $0.signedAt = SubscriptionCase.at(33) }],
            {
                $0.fail(graceUntil: 46)
                $0.renewsAt = nil
            },
            on: 61,
            is: "expired"
        ),
        SubscriptionCase(
            "taken back, and a longer end in the same breath",
            [
                {
                    $0.revocation = .on(10)
                    $0.signedAt = SubscriptionCase.at(12)
                }
            ],
            { $0.sign(on: 12, renews: 44) },
            on: 13,
            is: "revoked"
        ),
        SubscriptionCase(
            "an older period taken back, and the newer one's end in the same breath",
            [
                {
                    $0.revocation = .on(40)
                    $0.signedAt = SubscriptionCase.at(41)
                }
            ],
            { $0.sign(on: 41, renews: 60) },
            on: 42,
            is: "active behind"
        ),
        SubscriptionCase("nothing at all", [], on: 1, is: "none"),
    ]

    @Test(arguments: byTransactionAlone + byRenewal + byBoth)
    func aSubscriptionStandsAsAppleSigned(row: SubscriptionCase) throws {
        #expect(word(try row.subscription()) == row.word)
    }

    @Test func whatIsKnownOfAPeriodStandsInIt() throws {
        let row = SubscriptionCase(
            "a trial that was shared",
            [
                {
                    $0.offer = Offer(kind: .introductory, discount: "FREE_TRIAL", period: "P1M")
                    $0.originallyPurchasedAt = SubscriptionCase.at(-400)
                    $0.subscriptionGroup = "21"
                }
            ],
            {
                $0.recentStartAt = SubscriptionCase.at(-10)
                $0.fail(graceUntil: 46)
            },
            on: 31,
            is: ""
        )
        let found = try #require(try row.subscription())
        #expect(found.isTrial && found.isIntroductory && found.group == "21" && found.hasReturned == true)
        #expect(found.startedAt == SubscriptionCase.at(-400) && found.recentStartAt == SubscriptionCase.at(-10))
        #expect(found.periodStartedAt == SubscriptionCase.at(0) && found.expiresAt == SubscriptionCase.at(30))
        #expect(found.graceEndsAt == SubscriptionCase.at(46) && found.retriesUntil == SubscriptionCase.at(90))
        #expect(found.since == SubscriptionCase.at(30) && found.accessUntil == SubscriptionCase.at(46))
        #expect(found.state.number == 4 && !found.isFamilyShared)
    }

    /// Each row: on which day Apple spoke, on day 31 of the end on day 30; when the newest period began, and whose act it
    /// was; and when the newest stretch did.
    @Test(
        arguments: [
            (31, 90, .purchase, 0), (31, 91, .purchase, 91), (31, 91, .renewal, nil), (1, 91, .purchase, nil),
            (1, 30, .renewal, 0), (1, 20, .purchase, 0), (92, 91, .purchase, 0),
        ] as [(Double, Int64, TransactionReason, Double?)]
    )
    func whatWasAwayForLongBeginsAnew(day: Double, start: Int64, reason: TransactionReason, recent: Double?) throws {
        var period = try Sold.month(2, original: 1, from: start)
        period.reason = reason
        let word = try SubscriptionEventTests.renewal(on: day, renews: day > 90 ? 121 : 30) { word in
            word.recentStartAt = SubscriptionCase.at(0)
            if day == 31 { (word.willAutoRenew, word.expirationIntent) = (false, 1) }
        }
        let moment = SubscriptionCase.at(Double(start) + 2)
        let found = try #require(PurchaseModel.fold(try Shop.chain(1), period, word, at: moment))
        #expect(found.recentStartAt == recent.map { SubscriptionCase.at($0) })
    }

    @Test func everyStateOfApplesHasItsNumber() {
        #expect(SubscriptionState.allCases.compactMap(\.number) == [1, 2, 3, 4, 5])
    }
}

extension SubscriptionCase {
    fileprivate init(
        _ name: String,
        renewal: @escaping @Sendable (inout Renewal) -> Void,
        on day: Double,
        is word: String
    ) {
        self.init(name, [{ _ in }], renewal, on: day, is: word)
    }
}

extension Revocation {
    fileprivate static func on(_ day: Double) -> Revocation { Revocation(at: SubscriptionCase.at(day), reason: 0) }
}

extension Transaction {
    /// Makes it the period of a plan, the same one if none is named.
    fileprivate mutating func begin(_ product: ProductID?, on day: Double, for days: Double, signed: Double? = nil) {
        self.product = product ?? self.product
        purchasedAt = SubscriptionCase.at(day)
        expiresAt = SubscriptionCase.at(day + days)
        signedAt = SubscriptionCase.at(signed ?? day)
    }
}

extension Renewal {
    fileprivate mutating func sign(on day: Double, renews: Double) {
        signedAt = SubscriptionCase.at(day)
        renewsAt = SubscriptionCase.at(renews)
    }

    fileprivate mutating func end(_ intent: Int, on day: Double = 30) {
        signedAt = SubscriptionCase.at(day)
        (willAutoRenew, isInBillingRetry, expirationIntent) = (false, false, intent)
    }

    fileprivate mutating func fail(_ isRetrying: Bool? = true, on day: Double = 30, graceUntil: Double? = nil) {
        signedAt = SubscriptionCase.at(day)
        (isInBillingRetry, expirationIntent) = (isRetrying, 2)
        graceEndsAt = graceUntil.map(SubscriptionCase.at)
    }
}
