import PurchaseModel
import Testing

/// A subscription that Apple goes on with under another original transaction, as when it is moved to Advanced Commerce: the
/// period that ran, under both numbers, and the next two under the new one alone.
@Suite struct MovedSubscriptionTests {
    private static let orders = [[0, 1, 2, 3], [1, 0, 2, 3], [1, 2, 3, 0], [3, 2, 1, 0], [2, 0, 3, 1]]

    /// From a day on, under a product of the shop's that stands for many.
    private static func moved(_ number: Int64, from day: Int64) throws -> Transaction {
        var sold = try Sold.month(number, original: 90, from: day)
        sold.product = try Shop.product("generic")
        sold.previousOriginalID = TransactionID(number: 1)
        return FigureTests.priced(sold, 9_990)
    }

    private static func shop(needsOrder: Bool = false, binding: BindingRule = .transferIfInactive) throws -> Shop {
        let gems = try Shop.currency("gems")
        let generic = ProductTerms(
            product: try Shop.product("generic"),
            kind: .autoRenewable,
            goods: [.entitlement(try Shop.right("premium")), .amount(10, gems)]
        )
        return try Shop(needsOrder: needsOrder) { terms in
            terms.products?[generic.product] = generic
            terms.binding = binding
        }
    }

    /// Ann shows the old one; Apple tells of the rest by itself.
    private static func tell(_ order: [Int], to shop: inout Shop) throws {
        let old = FigureTests.priced(try Sold.month(1), 9_990)
        for place in order {
            let moved = try place == 0 ? nil : moved(89 + Int64(place), from: Int64(place - 1) * 30)
            try shop.show(moved ?? old, by: moved == nil ? "ann" : nil)
        }
    }

    /// Apple signed it for her, under either number, and no person has moved it.
    @Test func whatAppleMovesIsSignedForHerStill() throws {
        var shop = try Self.shop()
        let token = AccountToken(high: 1, low: 2)
        shop.ownTokens = ["ann": token]
        var (first, moved) = (try Sold.month(1), try Self.moved(90, from: 30))
        (first.accountToken, moved.accountToken) = (token, token)
        try shop.show(first)
        shop.now = SubscriptionCase.at(30)
        try shop.show(moved, by: nil)
        #expect(shop.situation.owner(of: try Shop.chain(90))?.customer.text == "ann")
        #expect(throws: RequestFault.tokenContradicts) { try shop.transfer(90, to: "bob") }
        try shop.transfer(90, to: "bob", overrulesToken: true)
        // To undo it takes no word more, nor to do that again.
        for customer in ["ann", "bob"] { try shop.transfer(90, to: customer) }
        #expect(shop.situation.owner(of: try Shop.chain(90))?.customer.text == "bob")
    }

    /// Bob showed the new one before anybody had the old one, which Ann has ordered and paid for.
    @Test(arguments: [nil, TransactionReason.renewal]) func whatAnotherPaidForGoesOnForNobodyElse(
        reason: TransactionReason?
    ) throws {
        var shop = try Self.shop(needsOrder: true, binding: .refuse)
        try shop.place("o-1", "monthly")
        var moved = try Self.moved(90, from: 0)
        moved.reason = reason
        try shop.show(moved, by: "bob")
        try shop.show(Sold.month(1))
        #expect(try shop.order("o-1").state == .paid)
        try shop.show(moved, by: "bob")
        #expect(try shop.rebuild([90]) == [])
        #expect(try shop.word(90) == "waiting no_order" && shop.rights(of: "bob") == [])
        // His own order it pays.
        try shop.place("o-2", "generic", for: "bob")
        #expect(try shop.word(90) == "granted" && shop.order("o-2").state == .paid)
        try Invariants.check(shop, "bob")
    }

    /// It was one customer's until one of its numbers changed hands. Each row: which.
    @Test(arguments: ["new", "old"]) func whatChangedHandsGoesOnWithoutAnOrder(which: String) throws {
        var shop = try Self.shop(needsOrder: true, binding: which == "new" ? .transfer : .transferIfInactive)
        let terms = shop.terms
        if which == "old" { shop.terms.products?[try Shop.product("generic")] = nil }
        try shop.place("o-1", "monthly")
        try shop.show(Sold.month(1))
        shop.now = SubscriptionCase.at(31)
        let moved = try Self.moved(90, from: 30)
        if which == "new" {
            try shop.show(moved, by: "bob")
        } else {
            try shop.show(moved, by: nil)
            try shop.show(Sold.month(1), by: "bob")
            shop.terms = terms
            _ = try shop.rebuild([90])
        }
        #expect(try shop.word(90) == "granted")
        #expect(try shop.fulfilment(90).customer?.text == (which == "new" ? "bob" : "ann"))
        try Invariants.check(shop, "\(which)")
    }

    @Test(arguments: orders) func itStaysWhoseItWasAndIsGivenOnce(order: [Int]) throws {
        var shop = try Self.shop()
        try Self.tell(order, to: &shop)
        #expect(shop.situation.owner(of: try Shop.chain(90))?.customer.text == "ann")
        #expect(try [1, 90, 91, 92].map { try shop.word($0) } == Array(repeating: "granted", count: 4))
        // The period that ran was paid once; the two after it are new.
        #expect(try shop.gems() == 30)
        #expect(try shop.rights(at: SubscriptionCase.at(75)) == ["premium"])
        try Invariants.check(shop, "\(order)")
    }

    @Test(arguments: orders) func figuresHaveOneSubscription(order: [Int]) throws {
        var shop = try Self.shop()
        try Self.tell(order, to: &shop)
        #expect(shop.figures.total(.revenue) == 3 * 9_990)
        #expect(shop.figures.lines(.firstPurchases) == ["0 1"] && shop.figures.lines(.restores) == ["0 1"])
        #expect(shop.figures.lines(.subscribers) == ["17 1", "48 1", "79 1"])
        #expect(shop.figures.lines(.subscribersLost) == ["79 1"])
        #expect(shop.figures.lines(.recurringNew) == ["-13 USD 9990"])
        #expect(shop.figures.lines(.recurringChurn) == ["79 USD 9990"])
        // From one sum to the other.
        #expect(shop.figures.lines(.recurringContraction) == ["17 USD 9990"])
        #expect(shop.figures.lines(.recurringExpansion) == ["17 USD 9990"])
        #expect(shop.figures.lines(.periodsEnded) == ["30 1", "60 1", "90 1"])
        #expect(shop.figures.lines(.periodsRenewed) == ["30 1", "60 1"])
        #expect(shop.figures.total(.active) == 1)
    }

    /// The money for the period is back: it is given under no other number. Each row: the share that was refunded.
    @Test(arguments: [nil, 100_000, 40_000] as [Int?])
    func whatWasTakenBackIsNotGivenAgain(percentage: Int?) throws {
        var shop = try Self.shop()
        let old = try Sold.month(1)
        try shop.show(old)
        try shop.show(Sold.refunded(old, percentage: percentage), by: nil)
        let kept = try shop.gems()
        try shop.show(Self.moved(90, from: 0), by: nil)
        #expect(try shop.gems() == kept && kept < 10)
        try Invariants.check(shop, "refunded")
    }

    /// What another system has delivered of it is not told.
    @Test func whatWasDeliveredBeforeIsNotGivenAgain() throws {
        var shop = try Self.shop()
        try shop.show(Sold.month(1), from: .imported)
        try shop.show(Self.moved(90, from: 0), by: nil)
        #expect(try shop.word(90) == "granted" && shop.gems() == 0)
        try shop.show(Self.moved(91, from: 30), by: nil)
        #expect(try shop.gems() == 10)
    }

    /// Each row: whose act Apple says that it was, and whether it pays an order that was only placed.
    @Test(arguments: [(nil, false), (.renewal, false), (.purchase, true)] as [(TransactionReason?, Bool)])
    func whatGoesOnPaysNoWish(reason: TransactionReason?, isPaid: Bool) throws {
        var shop = try Self.shop()
        try shop.place("o-1", "generic")
        try shop.show(Sold.month(1))
        var next = try Self.moved(90, from: 30)
        next.reason = reason
        try shop.show(next, by: nil)
        #expect(try shop.order("o-1").state == (isPaid ? .paid : .pending))
    }

    /// Apple charges anew in the middle of a period: it is cut short, as by an upgrade.
    @Test func aPeriodMayEndWhereTheNewOneBegins() throws {
        var shop = try Self.shop()
        try shop.show(FigureTests.priced(try Sold.month(1), 9_990))
        try shop.show(Self.moved(90, from: 10), by: nil)
        #expect(shop.figures.total(.revenue) == 2 * 9_990)
        #expect(shop.figures.lines(.subscribers) == ["17 1"] && shop.figures.lines(.periodsEnded) == ["40 1"])
        #expect(try shop.gems() == 20)
        try Invariants.check(shop, "cut short")
    }

    @Test(arguments: [[0, 1, 2], [1, 2, 0]]) func nobodyHearsThatTheOldOneIsOver(order: [Int]) throws {
        var shop = try Self.shop()
        try Self.tell(order, to: &shop)
        shop.now = SubscriptionCase.at(33)
        try shop.look(at: 1)
        #expect(try shop.subscription(1).state == .expired)
        #expect(!shop.types.contains("subscription.expired"))
        #expect(shop.figures.total(.lapsed) == 0)
        shop.now = SubscriptionCase.at(63)
        try shop.look(at: 90)
        #expect(shop.types.count { $0 == "subscription.expired" } == 1)
        try Invariants.check(shop, "over")
    }

    @Test func eachTellsOfTheOther() throws {
        var shop = try Self.shop()
        try Self.tell([0, 1], to: &shop)
        let (old, new) = (try shop.subscription(1).ends, try shop.subscription(90).ends)
        #expect(old.move == PeriodEnds.Move(to: try #require(TransactionID(number: 90)), at: SubscriptionCase.at(30)))
        #expect(new.origin?.from.number == 1 && new.origin?.repeated == Facts.now)
    }

    @Test func itNeedsNoOrderOfItsOwn() throws {
        var shop = try Self.shop(needsOrder: true)
        try shop.place("o-1", "monthly")
        try shop.show(Sold.month(1))
        try shop.show(Self.moved(90, from: 0), by: nil)
        try shop.show(Self.moved(91, from: 30), by: nil)
        #expect(try [1, 90, 91].map { try shop.word($0) } == Array(repeating: "granted", count: 3))
    }

    /// Each row: the app's rule, and who may use the new one after Bob has shown a copy of it.
    @Test(arguments: [
        (BindingRule.refuse, ["ann"]), (.transferIfInactive, ["ann"]), (.transfer, ["bob"]), (.share, ["ann", "bob"]),
    ])
    func aCopyGivesNobodyElseMoreThanTheOldOneWould(rule: BindingRule, users: [String]) throws {
        var shop = try Self.shop(binding: rule)
        try shop.show(Sold.month(1))
        try shop.show(Self.moved(90, from: 0), by: "bob")
        try shop.show(Self.moved(91, from: 30), by: nil)
        let owner = try #require(shop.situation.owner(of: try Shop.chain(90)))
        #expect(["ann", "bob"].filter { CustomerID($0).map(owner.mayUse) == true } == users)
    }

    /// Whoever shares the old one shares the new one.
    @Test(arguments: [true, false]) func itIsSharedByWhomItWas(isOldFirst: Bool) throws {
        var shop = try Self.shop(binding: .share)
        if !isOldFirst { try shop.show(Self.moved(90, from: 0), by: nil) }
        try shop.show(Sold.month(1))
        try shop.show(Sold.month(1), by: "bob")
        if isOldFirst { try shop.show(Self.moved(90, from: 0), by: nil) }
        let owner = try #require(shop.situation.owner(of: try Shop.chain(90)))
        #expect(owner.customer.text == "ann" && owner.sharers.map(\.text) == (isOldFirst ? ["bob"] : []))
    }

    /// Whoever has the old one by a late order, or by hand, has both at once, and no proof is waited for.
    @Test(arguments: [true, false], [true, false])
    func whatGoesOnIsHandedOnWithALateOrder(isByHand: Bool, needsOrder: Bool) throws {
        var shop = try Self.shop(needsOrder: needsOrder)
        let token = AccountToken(high: 3, low: 4)
        var old = try Sold.month(1)
        if !isByHand { old.accountToken = token }
        try shop.show(old, by: nil)
        for (number, day) in [(Int64(90), Int64(0)), (91, 30)] { try shop.show(Self.moved(number, from: day), by: nil) }
        #expect(shop.situation.owner(of: try Shop.chain(90)) == nil)
        try shop.place("o-1", "monthly", token: isByHand ? nil : token)
        if isByHand { try shop.attach(1, to: "o-1") }
        #expect(shop.situation.owner(of: try Shop.chain(90))?.customer.text == "ann")
        #expect(try [1, 90, 91].map { try shop.word($0) } == Array(repeating: "granted", count: 3))
        #expect(try shop.gems() == 20)
        #expect(try shop.order("o-1").payment?.transaction.number == 1)
        try Invariants.check(shop, "late")
    }

    /// Bob had a copy first, and nothing was given to him.
    @Test(arguments: [true, false]) func whatGoesOnIsTakenAlongWithALateOrder(isSigned: Bool) throws {
        var shop = try Self.shop(needsOrder: true)
        let (token, other) = (AccountToken(high: 3, low: 4), AccountToken(high: 5, low: 6))
        var (old, new) = (try Sold.month(1), try Self.moved(90, from: 0))
        old.accountToken = token
        if isSigned { new.accountToken = other }
        try shop.place("o-0", "coins", for: "bob", token: other)
        try shop.show(old, by: "bob")
        try shop.show(new, by: nil)
        #expect(shop.situation.owner(of: try Shop.chain(90))?.customer.text == "bob")
        try shop.place("o-1", "monthly", token: token)
        #expect(shop.situation.owner(of: try Shop.chain(1))?.customer.text == "ann")
        // Unless Apple signed it for him.
        #expect(shop.situation.owner(of: try Shop.chain(90))?.customer.text == (isSigned ? "bob" : "ann"))
        #expect(try shop.word(90) == (isSigned ? "waiting no_order" : "granted"))
        try Invariants.check(shop, "taken along")
    }

    /// What waited in the new one goes on as soon as anything is given in the old one.
    @Test(arguments: [true, false]) func whatWaitsInTheNewOneGoesOnWithTheOldOne(isOrderLate: Bool) throws {
        var shop = try Self.shop(needsOrder: true)
        try shop.show(Sold.month(1))
        try shop.show(Self.moved(90, from: 30), by: nil)
        #expect(try shop.word(90) == "waiting no_order")
        if isOrderLate {
            try shop.place("o-1", "monthly")
        } else {
            // Placed when the first period was over, and paid by another one.
            shop.now = SubscriptionCase.at(31)
            try shop.place("o-1", "monthly")
            #expect(try shop.word(90) == "waiting no_order")
            var next = try Sold.month(2, original: 1, from: 31)
            next.reason = .purchase
            try shop.show(next)
        }
        #expect(try shop.order("o-1").state == .paid)
        #expect(try shop.word(90) == "granted")
        try Invariants.check(shop, "goes on")
    }

    /// Of what Apple signed for somebody else the old one says nothing.
    @Test func whatIsSignedForAnotherIsAnothers() throws {
        var shop = try Self.shop()
        let token = AccountToken(high: 3, low: 4)
        try shop.place("o-1", "generic", for: "bob", token: token)
        try shop.show(Sold.month(1))
        var moved = try Self.moved(90, from: 0)
        moved.accountToken = token
        try shop.show(moved, by: nil)
        #expect(shop.situation.owner(of: try Shop.chain(90))?.customer.text == "bob")
    }
}
