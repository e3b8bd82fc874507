import PurchaseModel
import TestSupport
import Testing

/// Apple takes back a part of what was bought, and the rest stays the customer's.
@Suite struct PartialRefundTests {
    private static func coins(_ percentage: Int?, _ seconds: Int64) throws -> Transaction {
        Sold.refunded(try Sold.coins(), after: seconds, percentage: percentage)
    }

    private static func sold(_ product: String) throws -> Transaction {
        product == "lamp" ? try Sold.lamp() : product == "coins" ? try Sold.coins() : try Sold.month()
    }

    private struct Outcome: Hashable {
        let gems: Int64
        let state: FulfilmentState
        let reversed: Int
    }

    @Test func whatIsLeftStaysDeliveredAndItsOrderStands() throws {
        var shop = try Shop()
        try shop.place("o-1")
        try shop.show(Sold.coins())
        try shop.acknowledge(1, fence: 1)
        let decision = try shop.show(Self.coins(40_000, 60), by: nil)
        #expect(try shop.gems() == 60)
        #expect(try shop.word(1) == "partly_reversed")
        let row = try shop.fulfilment(1)
        #expect(row.reversed == 40_000 && row.fence == 2 && row.delivery == .acknowledged)
        guard case .amount(let amount)? = row.goods.first else { return #expect(Bool(false), "no amount") }
        #expect(amount.reversed == 40 && amount.left == 60)
        let order = try shop.order("o-1")
        #expect(order.state == .delivered && order.refunded == 40_000)
        #expect(decision.events.map(\.type) == [.orderRefundChanged, .deliveryCompensated])
        #expect(decision.outcomes.map(\.standing) == [.partlyRevoked])
        // It was undone, and stays delivered; an older one is still refused.
        #expect(try shop.acknowledge(1, fence: 2).isEmpty)
        #expect(throws: RequestFault.staleFence(2)) { try shop.acknowledge(1, fence: 1) }
    }

    @Test func whatWasNotDeliveredIsStillToBeDeliveredLessThatPart() throws {
        var shop = try Shop()
        try shop.place("o-1")
        try shop.show(Sold.coins())
        try shop.show(Self.coins(40_000, 60), by: nil)
        #expect(try shop.fulfilment(1).delivery == .pending)
        #expect(try shop.order("o-1").state == .paid)
        #expect(throws: RequestFault.staleFence(2)) { try shop.acknowledge(1, fence: 1) }
        try shop.acknowledge(1, fence: 2)
        #expect(try shop.fulfilment(1).delivery == .acknowledged)
        #expect(try shop.order("o-1").state == .delivered)
        #expect(try shop.order("o-1").refunded == 40_000)
    }

    /// A shop that was told and says nothing has delivered: that it could not be told of the part afterwards is no outage of which
    /// Apple is to hear.
    @Test func whatTheShopWasToldOfStaysTold() throws {
        var shop = try Shop()
        try shop.show(Sold.coins())
        try shop.note(.sent, of: 1, fence: 1)
        try shop.show(Self.coins(40_000, 60), by: nil)
        #expect(try shop.fulfilment(1).delivery == .sent)
        try shop.note(.failed, of: 1, fence: 2)
        #expect(try shop.fulfilment(1).delivery == .sent)
        try shop.acknowledge(1, fence: 2)
        #expect(try shop.fulfilment(1).delivery == .acknowledged)
    }

    /// Each row: the parts that Apple says are taken back, one after the other, `nil` for none any more; what is left of the
    /// hundred; and what the shop hears of the last.
    @Test(
        arguments: [
            ([50_000, 70_000], 30, ["order.refund_changed", "delivery.compensated"]),
            ([50_000, 20_000], 80, ["order.refund_changed", "delivery.restored"]),
            ([50_000, 100_000], 0, ["order.refunded", "delivery.compensated"]),
            ([50_000, nil], 100, ["order.refund_changed", "delivery.restored"]),
            ([100_000, 50_000], 50, ["order.paid", "delivery.restored"]),
            ([100_000, nil], 100, ["order.paid", "delivery.restored"]),
            ([50_000, 100_000, nil], 100, ["order.paid", "delivery.restored"]),
            ([0], 100, ["delivery.compensated"]),
        ] as [([Int?], Int64, [String])]
    )
    func thePartThatCountsIsTheLast(parts: [Int?], left: Int64, told: [String]) throws {
        var shop = try Shop()
        try shop.place("o-1")
        try shop.show(Sold.coins())
        try shop.acknowledge(1, fence: 1)
        var last: [LedgerEvent] = []
        for (place, part) in parts.enumerated() {
            let seconds = Int64(place + 1) * 60
            let fact = try part == nil ? Sold.again(Sold.coins(), after: seconds) : Self.coins(part, seconds)
            last = try shop.show(fact, by: nil).events
            try Invariants.check(shop, "\(part ?? -1) of \(parts)")
        }
        #expect(try shop.gems() == left)
        #expect(last.map(\.type.rawValue) == told)
    }

    /// Whatever comes in whatever order, also where the shop delivers in between: the fact that was signed last counts.
    @Test(arguments: UInt64(0)..<100)
    func anyOrderLeadsToTheSame(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var facts = [try Sold.coins(quantity: 3)]
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            // Some are signed in the same moment.
            let seconds = Int64.random(in: 1...3, using: &random) * 60
            let part = [nil, 100_000, Int.random(in: 0...100_000, using: &random)].randomElement(using: &random) ?? nil
            facts.append(
                Bool.random(using: &random)
                    ? Sold.refunded(facts[0], after: seconds, percentage: part) : Sold.again(facts[0], after: seconds)
            )
        }
        var found: Set<Outcome> = []
        for _ in 0..<4 {
            var shop = try Shop()
            try shop.place("o-1", quantity: 3)
            for fact in facts.shuffled(using: &random) { try shop.show(fact) }
            try Invariants.check(shop, "\(seed)")
            // Of what was refunded whole before it was given, nothing is.
            let row = try shop.fulfilment(1)
            let word = row.reason == .revoked ? FulfilmentState.reversed : row.state
            let reversed = row.reason == .revoked ? 100_000 : row.reversed
            found.insert(Outcome(gems: try shop.gems(), state: word, reversed: reversed))
            if row.order != nil { #expect(try shop.order("o-1").refunded == row.reversed) }
        }
        #expect(found.count == 1)
    }

    /// Of a shop that has no catalogue nobody knows what was given: what is used up may be divided, and nothing else.
    @Test(arguments: [
        ("coins", ProductKind.consumable, "partly_reversed", Standing.partlyRevoked),
        ("lamp", .nonConsumable, "reversed", .revoked), ("season", .nonRenewing, "reversed", .revoked),
    ])
    func whoDeliversByTheProductIsToldOfAPart(
        product: String,
        kind: ProductKind,
        word: String,
        standing: Standing
    ) throws {
        var shop = try Shop { $0.products = nil }
        try shop.show(Sold.transaction(1, product, kind))
        let refunded = Sold.refunded(try Sold.transaction(1, product, kind), percentage: 50_000)
        #expect(try shop.show(refunded).outcomes.map(\.standing) == [standing])
        #expect(try shop.word(1) == word)
        #expect(refunded.isPartlyTakenBack == (kind == .consumable))
    }

    /// Access ends with any refund; what is left of the amounts is hers.
    @Test func accessEndsAndAmountsAreLeft() throws {
        var shop = try Shop()
        try shop.show(Sold.lamp())
        try shop.show(Sold.refunded(Sold.lamp(), percentage: 60_000), by: nil)
        #expect(try shop.word(1) == "partly_reversed")
        #expect(try shop.rights() == [])
        #expect(try shop.gems() == 2)
        #expect(try shop.fulfilment(1).isInForce == false)
        #expect(try shop.fulfilment(1).isPossessed(under: shop.terms, at: shop.now) == false)
        // She may buy it again.
        var anew = try Sold.lamp(2, original: 1)
        anew.purchasedAt = Facts.now.advanced(by: .seconds(120))
        try shop.show(anew)
        #expect(try shop.rights() == ["light"])
        #expect(try shop.gems() == 7)
    }

    /// Another system's amounts stand in no row, and the shop is told of the part all the same: as the catalogue sells them.
    @Test(arguments: ["coins", "lamp", "monthly"]) func ofWhatWasImportedAPartIsOne(product: String) throws {
        var shop = try Shop()
        let sold = try Self.sold(product)
        try shop.show(sold, from: .imported)
        try shop.show(Sold.refunded(sold, percentage: 60_000), by: nil)
        #expect(try shop.word(1) == "partly_reversed")
        #expect(shop.deliveries == ["delivery.compensated"])
        let row = try shop.fulfilment(1)
        #expect(row.reversed == 60_000 && row.fence == 2 && row.delivery == .acknowledged)
        #expect(try shop.rights() == [] && shop.gems() == 0)
        try Invariants.check(shop, "a part")
        try shop.show(Sold.refunded(sold, after: 120), by: nil)
        #expect(try shop.word(1) == "reversed")
        #expect(shop.deliveries == ["delivery.compensated", "delivery.compensated"])
        try Invariants.check(shop, "all")
    }

    /// Nobody knows of amounts of what is sold no more. Of what was told as a part all is not taken back by that.
    @Test(arguments: [true, false]) func whatIsSoldNoMoreIsNoPartAnewAndStaysOne(wasToldBefore: Bool) throws {
        var shop = try Shop()
        let (sold, lamp) = (try Sold.lamp(), try Shop.product("lamp"))
        try shop.show(sold, from: .imported)
        if wasToldBefore { try shop.show(Sold.refunded(sold, percentage: 60_000), by: nil) }
        shop.terms.products?[lamp] = nil
        for (seconds, percentage) in [(120, 70_000), (180, 80_000)] as [(Int64, Int)] {
            try shop.show(Sold.refunded(sold, after: seconds, percentage: percentage), by: nil)
            #expect(try shop.word(1) == (wasToldBefore ? "partly_reversed" : "reversed"))
            #expect(try shop.fulfilment(1).reversed == percentage)
        }
        #expect(shop.deliveries.allSatisfy { $0 == "delivery.compensated" })
    }

    /// Earlier versions told the shop of the part as of all: it hears once what is left. What had been refunded before the
    /// import nobody was told of, and is amended in silence.
    @Test(arguments: [true, false]) func whatEarlierVersionsTookBackWholeIsAmendedOnce(wasTold: Bool) throws {
        var shop = try Shop()
        let sold = try Sold.lamp()
        var part = Sold.refunded(sold, percentage: 60_000)
        if wasTold {
            try shop.show(sold, from: .imported)
            try shop.show(part, by: nil)
        } else {
            try shop.show(part, from: .imported)
        }
        let earlier = try shop.fulfilment(1).copy { stored in
            stored.version += 1
            (stored.state, stored.delivery) = (.reversed, .compensated)
        }
        var decision = Decision()
        decision.fulfilments = [.update(earlier)]
        shop.apply(decision)
        let before = shop.deliveries
        for _ in 0..<2 {
            part.signedAt = part.signedAt.advanced(by: .seconds(60))
            try shop.show(part, by: nil)
            #expect(shop.deliveries == before + (wasTold ? ["delivery.restored"] : []))
            let row = try shop.fulfilment(1)
            #expect(row.state == .partlyReversed && row.reversed == 60_000)
            #expect(row.fence == (wasTold ? 3 : 1) && row.delivery == (wasTold ? .pending : .acknowledged))
            #expect(try shop.rights() == [])
        }
    }

    /// Nothing of access is left to be given again by a smaller part.
    @Test func ofAccessAloneAllIsOverWhateverThePart() throws {
        var shop = try Shop()
        let season = try Sold.transaction(1, "season", .nonRenewing)
        try shop.place("o-1", "season")
        try shop.show(season)
        try shop.show(Sold.refunded(season, after: 60, percentage: 60_000), by: nil)
        #expect(shop.types.suffix(2) == ["order.refunded", "delivery.compensated"])
        try shop.show(Sold.refunded(season, after: 120, percentage: 30_000), by: nil)
        #expect(shop.types.suffix(2) == ["order.refund_changed", "delivery.compensated"])
        #expect(try shop.word(1) == "reversed")
        #expect(try shop.fulfilment(1).delivery == .compensated)
        #expect(try shop.order("o-1").state == .refunded && shop.order("o-1").refunded == 30_000)
        try Invariants.check(shop, "a smaller part")
    }

    /// What waits for an order, and was refunded in part meanwhile, is given less that part when the order comes.
    @Test func anOrderThatComesLaterIsPaidByTheRest() throws {
        var shop = try Shop(needsOrder: true)
        let outcome = try shop.show(Self.coins(25_000, 60)).outcomes.first
        #expect(try shop.word(1) == "waiting no_order")
        #expect(outcome?.standing == .partlyRevoked)
        try shop.place("o-1")
        #expect(try shop.gems() == 75)
        #expect(try shop.order("o-1").state == .paid && shop.order("o-1").refunded == 25_000)
        #expect(try shop.fulfilment(1).delivery == .pending)
        try Invariants.check(shop, "an order that comes later")
        #expect(throws: RequestFault.fulfilmentIs(.partlyReversed)) {
            try shop.place("o-2")
            try shop.attach(1, to: "o-2")
        }
    }

    /// The sale, the part and the order in any order: one state, and every answer that knows of the part says so. What gives
    /// access has something left where it gave amounts, too.
    @Test(arguments: ["coins", "lamp", "monthly"], [true, false])
    func aPartIsOneWhateverCameFirst(product: String, needsOrder: Bool) throws {
        let sold = try Self.sold(product)
        let part = Sold.refunded(sold, percentage: 40_000)
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            var shop = try Shop(needsOrder: needsOrder)
            var isRefunded = false
            for place in order {
                if place == 2 {
                    try shop.place("o-1", product)
                    continue
                }
                isRefunded = isRefunded || place == 1
                let said = try shop.show(place == 0 ? sold : part).outcomes.map(\.standing)
                #expect(said == [isRefunded ? .partlyRevoked : .recorded], "\(order)")
            }
            #expect(try shop.word(1) == "partly_reversed", "\(order)")
            #expect(try shop.gems() == (product == "coins" ? 60 : product == "lamp" ? 3 : 6), "\(order)")
            #expect(try shop.rights() == [], "\(order)")
            let row = try #require(shop.recorded.first)
            #expect(standing(of: row, try shop.fulfilment(1), under: shop.terms) == .partlyRevoked, "\(order)")
            let isPaid = try shop.order("o-1").state == .paid
            #expect(isPaid == (needsOrder || order[0] == 2), "\(order)")
            try Invariants.check(shop, "\(order)")
        }
    }

    /// A season gives none, a family member's lamp is not given, and nobody knows what a sword would give.
    @Test(arguments: ["season", "lamp", "sword"]) func ofWhatGivesNoAmountsNothingIsLeft(product: String) throws {
        var shop = try Shop(needsOrder: true)
        var sold = try Sold.transaction(1, product, product == "season" ? .nonRenewing : .nonConsumable)
        if product == "lamp" { sold.ownership = .familyShared }
        let said = try shop.show(Sold.refunded(sold, percentage: 40_000)).outcomes.map(\.standing)
        #expect(said == [.revoked])
    }

    /// It waits for an order, and gives nothing but access: after the part nothing of it is left, and the order is that of what
    /// is bought next.
    @Test func whatGivesNothingAnyMoreUsesUpNoOrder() throws {
        var shop = try Shop(needsOrder: true)
        let sold = try Sold.transaction(1, "season", .nonRenewing)
        try shop.show(sold)
        try shop.show(Sold.refunded(sold, percentage: 40_000), by: nil)
        try shop.place("o-1", "season")
        try shop.show(Sold.transaction(2, "season", .nonRenewing))
        #expect(try shop.order("o-1").payment?.transaction.number == 2)
        #expect(!shop.types.contains("order.refunded"))
        #expect(try shop.word(1) == "waiting no_order" && shop.rights() == ["season"])
        #expect(try shop.rebuild([1, 2]) == [])
        // Apple takes nothing back any more.
        try shop.show(Sold.again(sold, after: 120), by: nil)
        try shop.place("o-2", "season")
        #expect(try shop.order("o-2").payment?.transaction.number == 1)
        try Invariants.check(shop, "")
    }

    /// What Apple took back was not used.
    @Test func ofThePartThatIsLeftItIsSaidHowMuchWasUsed() throws {
        var shop = try Shop { $0.consumption.answers = true }
        try shop.show(Sold.coins())
        let asked = Announcement(
            id: try #require(NotificationID("n-1")),
            type: "CONSUMPTION_REQUEST",
            signedAt: Facts.now,
            transaction: TransactionID(number: 1),
            original: TransactionID(number: 1),
            matter: .refundRequest(reason: "LEGAL", isAdvancedCommerce: false)
        )
        try shop.hear(asked, Self.coins(40_000, 60))
        let id = ConsumptionKey(app: try Shop.app(), realm: Shop.production, id: asked.id)
        let request = try #require(shop.situation.consumption(id))
        for (balance, used) in [(Int64(60), 0), (50, 10_000), (0, 60_000)] {
            let facts = ConsumptionFacts(
                transaction: shop.recorded.first,
                fulfilment: try shop.fulfilment(1),
                balances: [try Shop.currency("gems"): balance]
            )
            #expect(preview(of: request, facts, shop.terms.consumption, at: shop.now)?.percentage == used)
        }
    }
}

extension Shop {
    /// What was told of deliveries, without what a subscription has to tell.
    fileprivate var deliveries: [String] { types.filter { $0.hasPrefix("delivery.") } }
}
