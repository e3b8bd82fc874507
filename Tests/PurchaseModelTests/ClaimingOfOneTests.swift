import PurchaseModel
import TestSupport
import Testing

/// A proof that holds several people's purchases, brought for the one whose one of them is.
@Suite struct ClaimingOfOneTests {
    static let token = AccountToken(high: 1, low: 2)

    private static func owner(_ original: Int64, _ shop: Shop) throws -> String? {
        shop.situation.owner(of: try Shop.chain(original))?.customer.text
    }

    @Test(arguments: [RecordingSource.presented, .imported])
    func onlyItsChainIsTheCustomersAndAllIsRecorded(source: RecordingSource) throws {
        var shop = try Shop()
        let all = [
            try Sold.lamp(1), try Sold.month(2), try Sold.month(3, original: 2, from: 30), try Sold.coins(4),
        ]
        let decision = try shop.show(all, from: source, claiming: 3)
        #expect(decision.outcomes.map(\.recorded.id.number) == [1, 2, 3, 4])
        #expect(decision.outcomes.allSatisfy { $0.isNew && $0.standing == .recorded })
        #expect(decision.changes.map(\.recorded.customer?.text) == [nil, "ann", "ann", nil])
        #expect(try Self.owner(1, shop) == nil && Self.owner(2, shop) == "ann" && Self.owner(4, shop) == nil)
        #expect(try shop.word(1) == "waiting no_customer" && shop.word(4) == "waiting no_customer")
        #expect(try shop.rights() == ["premium"])
        // Then the others' rows come, one of them by what was recorded alone.
        let lamp = try #require(shop.situation[try Shop.key(1, Shop.production)]).transaction
        #expect(try !shop.show(lamp, by: "bob", from: source, claiming: 1).isRepetition)
        #expect(try shop.rights(of: "bob") == ["light"])
        #expect(try Self.owner(4, shop) == nil)
        // Once more: nothing.
        #expect(try shop.show(all, from: source, claiming: 3).isEmpty)
        #expect(try shop.show(lamp, by: "bob", from: source, claiming: 1).isEmpty)
        try Invariants.check(shop, "\(source)")
    }

    @Test func anothersStaysAnothersAndOnlyTheOwnIsSaidToBe() throws {
        var shop = try Shop()
        try shop.show(Sold.lamp(1), by: "bob")
        let first = try shop.show(Sold.lamp(1), Sold.coins(2), from: .imported, claiming: 2)
        #expect(first.outcomes.map(\.standing) == [.recorded, .recorded])
        let second = try shop.show(Sold.lamp(1), Sold.coins(2), from: .imported, claiming: 1)
        #expect(second.outcomes.map(\.standing) == [.ownedByAnother, .recorded])
        #expect(second.isEmpty)
    }

    @Test func whatTheProofDoesNotHoldGivesNobodyAnything() throws {
        var shop = try Shop()
        try shop.show(Sold.lamp(1), from: .imported, claiming: 9)
        #expect(try Self.owner(1, shop) == nil)
    }

    @Test func ofAnothersChainNothingWasSaid() throws {
        var shop = try Shop(needsOrder: true)
        // Her token says whose the other one is, but its own row has the word.
        try shop.show(Sold.lamp(1), Sold.coins(2, token: Self.token), token: Self.token, claiming: 1)
        #expect(try Self.owner(2, shop) == nil)
        // Nor does her order name what is his.
        try shop.show(Sold.coins(3), by: "bob")
        #expect(try shop.word(3) == "waiting no_order")
        try shop.place("o-1", for: "bob")
        try shop.show(Sold.lamp(1), Sold.coins(3), order: "o-1", claiming: 1)
        #expect(try shop.situation[Shop.key(3, Shop.production)]?.order == nil)
        #expect(try Self.owner(3, shop) == "bob")
    }

    /// A poorer proof came first and stands in a chain of its own: that one is claimed.
    @Test func whereATransactionWasFirstFulfilledIsItsChain() throws {
        var shop = try Shop()
        var poor = try Sold.month(2)
        poor.originalID = nil
        try shop.show(poor, by: nil)
        try shop.show(Sold.month(1), Sold.month(2, original: 1, from: 30), from: .imported, claiming: 2)
        #expect(try Self.owner(2, shop) == "ann" && Self.owner(1, shop) == nil)
    }

    /// Row by row, in any order, with proofs that overlap, it comes out as if each owner had shown what is hers.
    @Test(arguments: UInt64(0)..<60)
    func rowByRowItIsAsIfEachHadShownHerOwn(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var sold: [Transaction] = []
        var owners: [Int64: String?] = [:]
        for original in stride(from: Int64(1), through: 21, by: 4) {
            owners[original] = ["ann", "bob", "eve", nil].randomElement(using: &random) ?? nil
            switch Int.random(in: 0...2, using: &random) {
            case 0: sold.append(try Sold.coins(original))
            case 1: sold.append(try Sold.lamp(original))
            default:
                for period in 0...Int64.random(in: 0...2, using: &random) {
                    sold.append(try Sold.month(original + period, original: original, from: period * 30))
                }
            }
        }
        var (rows, apart) = (try Shop(), try Shop())
        for one in sold {
            let owner = owners[one.originalID?.number ?? 0] ?? nil
            try apart.show([one], by: owner, from: .imported)
        }
        for one in sold.shuffled(using: &random) {
            let owner = owners[one.originalID?.number ?? 0] ?? nil
            let key = try Shop.key(one.id.number, Shop.production)
            if let known = rows.situation[key] {
                try rows.show([known.transaction], by: owner, from: .imported)
            } else {
                let proof = sold.filter { $0 == one || Bool.random(using: &random) }
                try rows.show(proof, by: owner, from: .imported, claiming: one.id.number)
            }
        }
        for one in sold {
            let (original, number) = (one.originalID?.number ?? 0, one.id.number)
            #expect(try Self.owner(original, rows) == owners[original] ?? nil)
            #expect(try rows.word(number) == apart.word(number))
            #expect(try rows.fulfilment(number).goods == apart.fulfilment(number).goods)
            let key = try Shop.key(number, Shop.production)
            #expect(rows.situation[key]?.customer == apart.situation[key]?.customer)
        }
        for customer in ["ann", "bob", "eve"] {
            #expect(try rows.rights(of: customer) == apart.rights(of: customer))
            #expect(try rows.gems(of: customer) == 0)
        }
        #expect(rows.events == [])
        try Invariants.check(rows, "seed \(seed)")
    }
}
