import PurchaseModel
import TestSupport
import Testing

/// A family member's copy of what the shop gives to no family. Receipts do not tell that it is one; but each member has chains
/// of her own, and once one number of a chain is known to be a copy, nothing is given in it by a word that cannot tell, and what
/// was is taken back.
@Suite struct FamilyCopyTests {
    /// As StoreKit 2 tells of it.
    private static func copy(_ sold: Transaction, _ ownership: Ownership = .familyShared) -> Transaction {
        var copy = sold
        copy.ownership = ownership
        return copy
    }

    /// As a receipt does.
    private static func received(_ sold: Transaction) -> Transaction {
        var received = sold
        received.ownership = nil
        return received
    }

    private static func month(_ number: Int64) throws -> Transaction {
        received(try Sold.month(number, original: 1, from: 30 * (number - 1)))
    }

    /// A restore by StoreKit 1 has a number of its own.
    @Test func aRestoreOfACopyIsACopy() throws {
        var shop = try Shop()
        try shop.show(Self.copy(Sold.lamp(1)))
        try shop.show(Self.received(Sold.lamp(9, original: 1)))
        #expect(try shop.word(9) == "withheld family_shared")
        #expect(try shop.rights() == [] && shop.gems() == 0)
        try shop.show(Self.copy(Sold.lamp(9, original: 1)))
        #expect(try shop.word(9) == "withheld family_shared")
        #expect(shop.types.count { $0 == "purchase.withheld" } == 2)
    }

    /// The first period before StoreKit 2 has told of it, or after.
    @Test(arguments: [false, true]) func thePeriodsAfterACopyAreCopies(isReceiptFirst: Bool) throws {
        var shop = try Shop()
        let facts = [try Self.month(1), Self.copy(try Self.month(1))]
        for fact in isReceiptFirst ? facts : facts.reversed() { try shop.show(fact) }
        #expect(try shop.word(1) == (isReceiptFirst ? "reversed family_shared" : "withheld family_shared"))
        for number in Int64(2)...3 {
            try shop.show(Self.month(number))
            #expect(try shop.word(number) == "withheld family_shared")
            try shop.show(Self.copy(Self.month(number)), by: nil)
            #expect(try shop.word(number) == "withheld family_shared")
        }
        #expect(try shop.gems() == 0)
        try Invariants.check(shop, "receipt first: \(isReceiptFirst)")
    }

    /// Who has come to pay herself is given it, as soon as Apple says that she does.
    @Test func whatIsBoughtIsNoCopy() throws {
        var shop = try Shop()
        try shop.show(Self.copy(Self.month(1)))
        try shop.show(Self.month(2))
        #expect(try shop.word(2) == "withheld family_shared")
        try shop.show(Self.copy(Self.month(2), .purchased), by: nil)
        #expect(try shop.word(2) == "granted")
        try shop.show(Self.month(3))
        #expect(try shop.word(3) == "granted" && shop.gems() == 20)
        try Invariants.check(shop, "bought")
    }

    @Test func whatTheShopGivesToFamiliesIsGiven() throws {
        var shop = try Shop { terms in
            for id in terms.products?.keys.map(\.self) ?? [] { terms.products?[id]?.isFamilyShared = true }
        }
        try shop.show(Self.copy(Self.month(1)))
        try shop.show(Self.month(2))
        #expect(try shop.word(2) == "granted" && shop.gems() == 20)
    }

    /// Whether the rules, asked once more, leave it as it is.
    private static func isSettled(_ shop: Shop) -> Bool {
        let keys = shop.fulfilments.map(\.transaction)
        return decide(shop.situation, rebuilding: keys, tokens: [:], terms: shop.terms, at: shop.now).isEmpty
    }

    @Test func whatAReceiptGaveIsTakenBack() throws {
        var shop = try Shop()
        try shop.place("o-1", "lamp")
        try shop.show(Self.received(Sold.lamp()))
        try shop.acknowledge(1, fence: 1)
        let told = try shop.show(Self.copy(Sold.again(Sold.lamp(), after: 60)), by: nil).events
        #expect(told.map(\.type) == [.orderRefunded, .deliveryCompensated])
        #expect(told.allSatisfy { $0.happenedAt == Facts.now.advanced(by: .seconds(60)) })
        #expect(try shop.word(1) == "reversed family_shared" && shop.gems() == 0 && shop.rights() == [])
        let row = try shop.fulfilment(1)
        #expect(row.reversed == 100_000 && row.fence == 2 && row.delivery == .compensated)
        #expect(try shop.order("o-1").state == .refunded)
        #expect(try shop.show(Self.received(Sold.lamp())).isEmpty)
        #expect(Self.isSettled(shop))
        try Invariants.check(shop, "taken back")
    }

    @Test func whatWasUsedOfItIsMissing() throws {
        var shop = try Shop { $0.allowsNegativeBalance = false }
        try shop.show(Self.received(Sold.lamp()))
        try shop.adjust("ann", by: -4, .use)
        try shop.show(Self.copy(Sold.lamp()))
        let wallet = shop.situation.wallet(try shop.wallet(of: "ann"))
        #expect(wallet.balance == 0 && wallet.uncollected == -4)
        try Invariants.check(shop, "used")
    }

    /// The newest word counts, also on whose it is.
    @Test func whatIsNoCopyAfterAllIsGivenAgain() throws {
        var shop = try Shop()
        try shop.place("o-1", "lamp")
        try shop.show(Self.received(Sold.lamp()))
        try shop.show(Self.copy(Sold.again(Sold.lamp(), after: 60)))
        try shop.show(Self.copy(Sold.again(Sold.lamp(), after: 120), .purchased), by: nil)
        #expect(try shop.word(1) == "granted" && shop.gems() == 5 && shop.rights() == ["light"])
        #expect(shop.types.suffix(2) == ["order.paid", "delivery.restored"])
        try Invariants.check(shop, "given again")
    }

    /// Bought by herself in the same chain: once, whatever was heard first, as r a receipt of the copy, as j that it is one.
    @Test(arguments: ["rjb", "rbj", "jrb", "jbr", "brj", "bjr"]) func whatSheBuysHerselfIsGiven(heard: String) throws {
        var bought = try Sold.lamp(5, original: 1)
        bought.purchasedAt = Facts.now.advanced(by: .seconds(30))
        var shop = try Shop()
        for step in heard {
            let fact = try step == "r" ? Self.received(Sold.lamp()) : step == "j" ? Self.copy(Sold.lamp()) : bought
            try shop.show(fact)
            try Invariants.check(shop, "\(step) of \(heard)")
        }
        #expect(try shop.word(5) == "granted" && shop.gems() == 5 && shop.rights() == ["light"])
        #expect(Self.isSettled(shop))
    }

    /// What was given to a copy that was known as one was given by the terms of that time.
    @Test func whatWasGivenToAFamilyStays() throws {
        let monthly = try Shop.product("monthly")
        var shop = try Shop { $0.products?[monthly]?.isFamilyShared = true }
        try shop.show(Self.copy(Self.month(1)))
        try shop.show(Self.month(2))
        shop.terms.products?[monthly]?.isFamilyShared = false
        for number in Int64(1)...3 { try shop.show(Self.copy(Self.month(number)), by: nil) }
        #expect(try [1, 2, 3].map { try shop.word($0) } == ["granted", "granted", "withheld family_shared"])
        // And the other way.
        shop.terms.products?[monthly]?.isFamilyShared = true
        try shop.show(Self.copy(Self.month(3)))
        #expect(try shop.gems() == 30)
        try Invariants.check(shop, "stays")
    }

    /// What the shop sells no more may have been for families when it was given.
    @Test func whatIsSoldNoMoreStays() throws {
        let monthly = try Shop.product("monthly")
        var shop = try Shop { $0.products?[monthly]?.isFamilyShared = true }
        try shop.show(Self.received(Self.month(1)))
        shop.terms.products?[monthly] = nil
        try shop.show(Self.copy(Self.month(1)), by: nil)
        #expect(try shop.word(1) == "granted")
        #expect(try shop.gems() == 10)
        try Invariants.check(shop, "sold no more")
    }

    /// Whatever is told of one purchase, of some of: a receipt, a receipt that says it is taken back, that it is a copy, that the
    /// family lost it, and that it has it again; in whatever order.
    @Test(arguments: ["lamp", "monthly"], UInt64(0)..<150) func anyOrderLeadsToTheSame(product: String, seed: UInt64)
        throws
    {
        var random = SeededRandom(seed: seed)
        let sold = try product == "lamp" ? Sold.lamp() : Self.month(1)
        let facts = [
            Self.received(sold), Self.received(Sold.refunded(sold, after: 60)), Self.copy(Sold.again(sold, after: 30)),
            Self.copy(Sold.refunded(sold, after: 90)), Self.copy(Sold.again(sold, after: 120)),
        ].filter { _ in Int.random(in: 0...2, using: &random) > 0 }
        let isOwed = facts.max { $0.signedAt < $1.signedAt }.map { $0.revocation == nil } ?? false
        let isCopy = facts.contains { $0.ownership == .familyShared }
        for _ in 0..<4 {
            var shop = try Shop()
            for fact in (facts + facts.prefix(2)).shuffled(using: &random) {
                try shop.show(fact)
                try Invariants.check(shop, "\(seed)")
            }
            shop.now = Facts.now.advanced(by: .seconds(180))
            #expect(try shop.rights().isEmpty == (isCopy || !isOwed))
            #expect(try shop.gems() == (isCopy || !isOwed ? 0 : product == "lamp" ? 5 : 10))
            #expect(Self.isSettled(shop))
        }
    }

    /// Of some periods of a chain Apple says whose they are, and of others receipts tell: those are as the one before, or else as
    /// the first after it.
    @Test(arguments: UInt64(0)..<150) func whatIsUnsaidIsAsTheNearest(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let said = (0..<5).map { _ in
            [nil, .purchased, .familyShared].randomElement(using: &random) ?? nil as Ownership?
        }
        var facts: [Transaction] = []
        for (place, ownership) in said.enumerated() {
            let month = try Self.month(Int64(place) + 1)
            if ownership == nil || Bool.random(using: &random) { facts.append(month) }
            if let ownership { facts.append(Self.copy(Sold.again(month, after: 60), ownership)) }
        }
        let first = said.compactMap(\.self).first
        var (last, owed): (Ownership?, Int64) = (nil, 0)
        for ownership in said {
            last = ownership ?? last
            if last ?? first != .familyShared { owed += 10 }
        }
        for _ in 0..<4 {
            var shop = try Shop()
            for fact in (facts + facts.prefix(2)).shuffled(using: &random) {
                try shop.show(fact)
                try Invariants.check(shop, "\(seed)")
            }
            #expect(try shop.gems() == owed, "\(seed)")
            #expect(Self.isSettled(shop), "\(seed)")
        }
    }
}
