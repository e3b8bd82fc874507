import PurchaseModel
import TestSupport
import Testing

/// What a newer period of a subscription takes from an older one that would still last.
@Suite struct SuccessionTests {
    private static func moment(_ day: Int64) -> Timestamp { Facts.now.advanced(by: .seconds(day * 86_400)) }

    /// A shop that sells `yearly` (all of it), too.
    private static func shop() throws -> Shop {
        var shop = try Shop()
        let yearly = ProductTerms(
            product: try Shop.product("yearly"),
            kind: .autoRenewable,
            goods: [.entitlement(try Shop.right("all"))]
        )
        shop.terms.products?[yearly.product] = yearly
        return shop
    }

    private static func year(_ number: Int64, original: Int64? = nil, from day: Int64 = 0) throws -> Transaction {
        var sold = try Sold.month(number, original: original, from: day)
        sold.product = try Shop.product("yearly")
        sold.expiresAt = moment(day + 365)
        sold.signedAt = sold.purchasedAt
        return sold
    }

    private static func month(_ number: Int64, original: Int64? = nil, from day: Int64 = 0) throws -> Transaction {
        var sold = try Sold.month(number, original: original, from: day)
        sold.signedAt = sold.purchasedAt
        return sold
    }

    /// A month is refunded, bought anew, given back after all, and the second one refunded: what comes of it is the first one,
    /// until its end, in whatever order any of it is heard.
    @Test func whatWasTakenBackCutsNothingOfItsOwnProduct() throws {
        let (first, second) = (try Self.month(1), try Self.month(2, original: 1, from: 5))
        let facts = [
            first, Sold.refunded(first, after: 2 * 86_400), second, Sold.again(first, after: 9 * 86_400),
            Sold.refunded(second, after: 5 * 86_400),
        ]
        for order in permutations(of: facts) {
            var shop = try Self.shop()
            shop.now = Self.moment(12)
            for fact in order { try shop.show(fact) }
            let story = order.map { "\($0.id) \($0.signedAt)" }
            #expect(try shop.rights() == ["premium"], "\(story)")
            #expect(try shop.rights(at: Self.moment(30).advanced(by: .seconds(-1))) == ["premium"], "\(story)")
            #expect(try shop.rights(at: Self.moment(30)) == [], "\(story)")
        }
    }

    /// A cheaper plan follows, and is charged for shortly before the end: what was paid for before lasts until then, also when the
    /// cheaper plan is refunded.
    @Test(arguments: [true, false]) func thePlanThatFollowsEarlyCutsNothing(isRefunded: Bool) throws {
        let old = try Self.month(1)
        var next = try Self.year(2, original: 1)
        next.purchasedAt = Self.moment(29).advanced(by: .seconds(600))
        next.signedAt = next.purchasedAt
        let facts = isRefunded ? [old, next, Sold.refunded(next, after: 60)] : [old, next]
        for order in permutations(of: facts) {
            var shop = try Self.shop()
            shop.now = Self.moment(29).advanced(by: .seconds(3_600))
            for fact in order { try shop.show(fact) }
            #expect(try shop.rights() == (isRefunded ? ["premium"] : ["all", "premium"]))
            #expect(try shop.rights(at: Self.moment(30)) == (isRefunded ? [] : ["all"]))
        }
    }

    /// Apple charges for the next month up to a day ahead, and dates it at the end of this one. In between she takes the year: that
    /// month came first, also where Apple has not said yet that it is over.
    @Test(arguments: [false, true])
    func aRenewalThatWasChargedAheadCutsNoPlanThatWasBoughtAfterIt(isMarked: Bool) throws {
        let first = try Self.month(1)
        var second = try Self.month(2, original: 1, from: 30)
        second.signedAt = Self.moment(29).advanced(by: .seconds(17_280))
        var year = try Self.year(3, original: 1)
        year.purchasedAt = Self.moment(29).advanced(by: .seconds(43_200))
        year.signedAt = year.purchasedAt
        var marked = second
        marked.isUpgraded = true
        marked.signedAt = year.signedAt.advanced(by: .seconds(60))
        for order in permutations(of: [first, second, year] + (isMarked ? [marked] : [])) {
            var shop = try Self.shop()
            shop.now = Self.moment(29).advanced(by: .seconds(50_000))
            for fact in order { try shop.show(fact) }
            let story = order.map { "\($0.id) \($0.signedAt)" }
            for (day, runsOn) in [(Int64(30), !isMarked), (61, false), (364, false)] {
                let rights = try shop.rights(at: Self.moment(day))
                #expect(rights == (runsOn ? ["all", "premium"] : ["all"]), "\(day) \(story)")
            }
            #expect(try shop.rights(at: Self.moment(365)) == [], "\(story)")
        }
        #expect(replacedPeriods(among: [first, second, year]).isEmpty)
        // Nobody sends its mark: Apple is asked.
        #expect(upgradesToHear(among: [first, second, year]).contains(second.id))
        #expect(!upgradesToHear(among: [first, marked, year]).contains(second.id))
    }

    /// A number of a restore is higher than those that came after what it restores: the plan that took its place still does.
    @Test func aHigherNumberOfARestoreIsCutAsWell() throws {
        var shop = try Self.shop()
        try shop.show(Self.year(9, original: 1))
        try shop.show(Self.month(2, original: 1, from: 5))
        #expect(try shop.rights(at: Self.moment(6)) == ["premium"])
        #expect(try shop.rights(at: Self.moment(36)) == [])
    }

    /// Nothing is in force where the plan that took the place of another one was refunded: whoever shows it next may have it.
    @Test func whatWasReplacedIsNotInForce() throws {
        var shop = try Self.shop()
        shop.terms.binding = .transferIfInactive
        let (old, new) = (try Self.year(1), try Self.month(2, original: 1, from: 5))
        try shop.show(old)
        try shop.show(new)
        try shop.show(Sold.refunded(new, after: 3 * 86_400), by: nil)
        shop.now = Self.moment(12)
        #expect(try shop.rights() == [])
        try shop.show(old, by: "bob")
        let chain = ChainKey(app: try Shop.app(), realm: Shop.production, original: old.id)
        #expect(shop.situation.owner(of: chain)?.customer.text == "bob")
    }

    /// Apple does not give the old plan back with the money for the new one.
    @Test func anUpgradeThatWasTakenBackStillCuts() throws {
        let (old, new) = (try Self.year(1), try Self.month(2, original: 1, from: 5))
        for order in permutations(of: [old, new, Sold.refunded(new, after: 3 * 86_400)]) {
            var shop = try Self.shop()
            shop.now = Self.moment(12)
            for fact in order { try shop.show(fact) }
            #expect(try shop.rights(at: Self.moment(4)) == ["all"])
            #expect(try shop.rights() == [])
        }
    }

    /// Whatever becomes of a family member's copy that gives nothing, what she bought herself runs on.
    @Test func aFamilyMembersCopyCutsNothing() throws {
        let own = try Self.year(1)
        var copy = try Self.month(2, original: 1, from: 5)
        copy.ownership = .familyShared
        let gone = Sold.refunded(copy, after: 3 * 86_400)
        for order in permutations(of: [own, copy, gone]) {
            var shop = try Self.shop()
            shop.now = Self.moment(12)
            for fact in order {
                try shop.show(fact)
                let isBought = shop.recorded.contains { $0.id == own.id }
                #expect(try shop.rights() == (isBought ? ["all"] : []))
            }
            #expect(try shop.word(2) == "withheld revoked")
        }
    }

    /// What waits gives nothing in place of what runs: a month that was charged for early, and is sold no more.
    @Test func whatWaitsCutsNothingOfItsOwnProduct() throws {
        var shop = try Self.shop()
        try shop.show(Self.month(1))
        shop.terms.products?[try Shop.product("monthly")] = nil
        shop.now = Self.moment(29).advanced(by: .seconds(600))
        try shop.show(Self.month(2, original: 1, from: 29))
        #expect(try shop.word(2) == "waiting unknown_product")
        #expect(try shop.rights() == ["premium"])
    }
}
