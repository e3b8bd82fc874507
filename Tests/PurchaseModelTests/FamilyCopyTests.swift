import PurchaseModel
import Testing

/// A family member's copy of what the shop gives to no family. Receipts do not tell that it is one; but each member has chains
/// of her own, and once one number of a chain is known to be a copy, nothing more is given in it by a word that cannot tell.
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

    /// The first period before StoreKit 2 has told of it, or after: what was given stays, and nothing comes to it.
    @Test(arguments: [false, true]) func thePeriodsAfterACopyAreCopies(isReceiptFirst: Bool) throws {
        var shop = try Shop()
        let facts = [try Self.month(1), Self.copy(try Self.month(1))]
        for fact in isReceiptFirst ? facts : facts.reversed() { try shop.show(fact) }
        #expect(try shop.word(1) == (isReceiptFirst ? "granted" : "withheld family_shared"))
        for number in Int64(2)...3 {
            try shop.show(Self.month(number))
            #expect(try shop.word(number) == "withheld family_shared")
            try shop.show(Self.copy(Self.month(number)), by: nil)
            #expect(try shop.word(number) == "withheld family_shared")
        }
        #expect(try shop.gems() == (isReceiptFirst ? 10 : 0))
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
}
