import PurchaseModel
import TestSupport
import Testing

/// What becomes of a purchase for which an order was named, however that order stands.
@Suite struct NamedOrderTests {
    /// What became of the purchase is no word on the order that its customer named. Each row: the part that Apple took back, and
    /// who shows it then.
    @Test(arguments: [30_000, 50_000], ["ann", "eve"])
    func aRefundOfAPartChangesNoReason(part: Int, who: String) throws {
        var shop = try Shop(needsOrder: true)
        try shop.show(Sold.lamp(1), order: "o-1")
        #expect(try shop.word(1) == "waiting order_contradicts")
        try shop.transfer(1, to: "bob")
        let types = shop.types
        try shop.show(Sold.refunded(Sold.lamp(1), percentage: part), by: who)
        #expect(try shop.word(1) == "waiting order_contradicts" && shop.fulfilment(1).reversed == part)
        #expect(shop.types == types)
        try Invariants.check(shop, "\(who)")
    }

    /// How the order stands that was named for ann's coins.
    enum Named: CaseIterable {
        case absent, pending, expired, paid, paidInTheSandbox, delivered, cancelled, refunded
        case anothers, ofAnotherProduct, expiredOfAnotherProduct, ofAnotherQuantity, ofAnotherToken

        /// Whether her coins may pay it.
        var fits: Bool { self == .pending || self == .expired }

        /// Has it stand so.
        func prepare(_ shop: inout Shop) throws {
            switch self {
            case .absent: return
            case .anothers: try shop.place("o-n", for: "bob")
            case .ofAnotherProduct, .expiredOfAnotherProduct: try shop.place("o-n", "lamp")
            case .ofAnotherQuantity: try shop.place("o-n", quantity: 2)
            case .ofAnotherToken: try shop.place("o-n", token: OrderTests.token)
            default: try shop.place("o-n")
            }
            switch self {
            case .paid, .delivered, .refunded: try shop.show(Sold.coins(9), order: "o-n")
            case .paidInTheSandbox: try shop.show(Sold.coins(9), order: "o-n", realm: Shop.sandbox)
            case .cancelled: try shop.cancel("o-n")
            case .expired, .expiredOfAnotherProduct:
                shop.now = shop.now.advanced(by: .seconds(3_600))
                try shop.expire("o-n")
            default: break
            }
            if self == .delivered { try shop.acknowledge(9, fence: 1) }
            if self == .refunded { try shop.show(Sold.refunded(Sold.coins(9)), by: nil) }
            let states: [Named: OrderState] = [
                .paid: .paid, .paidInTheSandbox: .paid, .delivered: .delivered, .cancelled: .cancelled,
                .refunded: .refunded, .expired: .expired, .expiredOfAnotherProduct: .expired,
            ]
            #expect(try shop.order("o-n").state == states[self] ?? .pending)
        }
    }

    /// What has it decided about while another order, o-2, may be paid.
    enum Path: CaseIterable {
        case shown, shownAgainWithoutName, shownByAnother, shownByAnotherForTheOpenOne
        case heard, rebuilt, placed, attached, transferred
    }

    /// It is left to an order that is not there yet. One that is there and cannot be paid by it keeps it from no other, and
    /// neither does what was said while it was somebody else's.
    @Test(arguments: Named.allCases, Path.allCases)
    func onlyWhatMayBePlacedYetIsWaitedFor(named: Named, path: Path) throws {
        var shop = try Shop(needsOrder: true)
        shop.terms.sandbox = .customers([try #require(CustomerID("ann"))])
        try named.prepare(&shop)
        let coins = try Sold.coins(1, token: named == .ofAnotherToken ? OrderTests.otherToken : nil)
        // Nothing of it can be given yet.
        let terms = shop.terms
        shop.terms.products?[try Shop.product("coins")] = nil
        try shop.show(coins, order: "o-n")
        #expect(try shop.word(1) == "waiting unknown_product")
        if path != .placed, path != .transferred { try shop.place("o-2") }
        shop.terms = terms
        switch path {
        case .shown: try shop.show(coins, order: "o-n")
        case .shownAgainWithoutName: try shop.show(coins)
        case .shownByAnother: try shop.show(coins, by: "bob", order: "o-z")
        case .shownByAnotherForTheOpenOne: try shop.show(coins, by: "bob", order: "o-2")
        case .heard: try shop.show(Sold.again(coins, after: 60), by: nil)
        case .rebuilt: _ = try shop.rebuild([1])
        case .placed: try shop.place("o-2")
        case .attached: try shop.attach(1, to: "o-2")
        case .transferred:
            try shop.transfer(1, to: "bob")
            try shop.place("o-2", for: "bob")
        }
        // What became bob's pays his, also the one that was named.
        let isNamed =
            switch path {
            case .attached: false
            case .transferred: named == .anothers
            default: named.fits
            }
        let isLeft = named == .absent && path != .attached && path != .transferred
        if isLeft {
            if path != .placed { #expect(try shop.word(1) == "waiting order_contradicts") }
            #expect(try shop.order("o-2").payment == nil)
            try shop.place("o-n")
        }
        let payment = try shop.order(isNamed || isLeft ? "o-n" : "o-2").payment
        #expect(payment?.transaction.number == 1)
        let match: OrderMatch = isNamed || isLeft ? .orderID : path == .attached ? .byHand : .customerAndProduct
        #expect(payment?.match == match)
        #expect(try shop.word(1) == "granted")
        try Invariants.check(shop, "\(named) \(path)")
    }

    /// Bob has a copy, and names an order that nobody ever places: it is hers to name one.
    @Test func whatAnotherNamedKeepsItFromNobody() throws {
        var shop = try Shop(needsOrder: true)
        shop.ownTokens = ["ann": OrderTests.token]
        try shop.show(Sold.coins(1, token: OrderTests.token), by: "bob", order: "o-x")
        #expect(try shop.word(1) == "waiting order_contradicts")
        try shop.place("o-1")
        #expect(try shop.order("o-1").payment?.transaction.number == 1)
        #expect(try shop.gems() == 100)
        // Nor while he shows what is known to be hers.
        try shop.place("o-2")
        try shop.show(Sold.coins(2, token: OrderTests.token), by: "bob", order: "o-x")
        #expect(try shop.order("o-2").payment?.transaction.number == 2)
        #expect(try shop.gems(of: "bob") == 0)
        try Invariants.check(shop, "a copy")
    }

    /// Both were sent with the same name, and one of them pays the order. The other one pays the next that fits, placed before
    /// it or after; where there is none it waits on, and nothing more is told of it.
    @Test(arguments: [true, false]) func whatSomethingElsePaysKeepsItFromNoOther(isFirst: Bool) throws {
        var shop = try Shop(needsOrder: true)
        try shop.show(Sold.coins(1), order: "o-n")
        try shop.show(Sold.coins(2), order: "o-n")
        if isFirst { try shop.place("o-2") }
        #expect(try shop.word(1) == "waiting order_contradicts" && shop.word(2) == "waiting order_contradicts")
        try shop.place("o-n")
        #expect(try shop.order("o-n").payment?.transaction.number == 1)
        if !isFirst {
            #expect(try shop.word(2) == "waiting order_contradicts")
            #expect(shop.types.filter { $0 == "purchase.waiting" }.count == 2)
            try shop.place("o-2")
        }
        let payment = try shop.order("o-2").payment
        #expect(payment?.transaction.number == 2 && payment?.match == .customerAndProduct)
        #expect(try shop.gems() == 200)
        #expect(try shop.rebuild([1, 2]) == [])
        try Invariants.check(shop, "first: \(isFirst)")
    }

    /// Bob has a copy of what waits for her order: what he names for it is none of hers.
    @Test(arguments: [nil, "o-a"] as [String?]) func whatAnotherNamedTellsHerNothing(own: String?) throws {
        var shop = try Shop(needsOrder: true)
        try shop.show(Sold.coins(1), order: own)
        let (word, told) = (try shop.word(1), shop.types)
        #expect(word == (own == nil ? "waiting no_order" : "waiting order_contradicts"))
        let said = try shop.show(Sold.coins(1), by: "bob", order: "o-x").outcomes.map(\.standing)
        #expect(said == [.ownedByAnother])
        #expect(try shop.word(1) == word)
        #expect(shop.types == told)
        #expect(try shop.rebuild([1]) == [])
        try Invariants.check(shop, "\(word)")
    }

    /// Coins that were bought a minute after the start, and each minute after that.
    private static func coins(_ number: Int64) throws -> Transaction {
        var coins = try Sold.coins(number)
        coins.purchasedAt = Facts.now.advanced(by: .seconds(60 * number))
        return coins
    }

    /// Both sends failed, and the receipt has both. Each row: in which order; which order is named; whether the older one has
    /// expired meanwhile, so that the newer one would come first.
    @Test(arguments: [[Int64(1), 2], [2, 1]], ["o-1", "o-2"])
    func ofTwoAlikeInAReceiptEachPaysItsOwn(numbers: [Int64], named: String) throws {
        for (needsOrder, isExpired) in [(true, false), (true, true), (false, false), (false, true)] {
            var shop = try Shop(needsOrder: needsOrder)
            try shop.place("o-1")
            shop.now = Facts.now.advanced(by: .seconds(90))
            try shop.place("o-2")
            if isExpired {
                shop.now = Facts.now.advanced(by: .seconds(3_600))
                try shop.expire("o-1")
            }
            let receipt = try numbers.map { try Self.coins($0) }
            try shop.show(receipt, order: named)
            #expect(try shop.order("o-1").payment?.transaction.number == 1)
            #expect(try shop.order("o-2").payment?.transaction.number == 2)
            #expect(try shop.order(named).payment?.match == .orderID)
            #expect(shop.recorded.count { $0.order != nil } == 1)
            #expect(try shop.gems() == 200)
            #expect(try shop.show(receipt, order: named).isEmpty)
            try Invariants.check(shop, "\(numbers) \(named)")
        }
    }

    /// Of two alike one alone was bought for the order that is named; the other one waits for its own.
    @Test(arguments: [[Int64(1), 2], [2, 1]])
    func theOneThatWasBoughtForItPaysIt(numbers: [Int64]) throws {
        var shop = try Shop(needsOrder: true)
        shop.now = Facts.now.advanced(by: .seconds(90))
        try shop.place("o-2")
        let receipt = try numbers.map { try Self.coins($0) }
        try shop.show(receipt, order: "o-2")
        #expect(try shop.order("o-2").payment?.transaction.number == 2)
        #expect(try shop.word(1) == "waiting no_order")
        try shop.place("o-3")
        #expect(try shop.order("o-3").payment?.transaction.number == 1)
        try Invariants.check(shop, "\(numbers)")
    }

    /// The old one stands in another system's books: the order is no word of it, and it is not delivered once more.
    @Test func whatIsAlikeInOldBooksIsNotDeliveredAgain() throws {
        var shop = try Shop(needsOrder: true)
        shop.now = Facts.now.advanced(by: .seconds(90))
        try shop.place("o-2")
        try shop.show([Self.coins(1), Self.coins(2)], order: "o-2")
        try shop.show(Self.coins(1), from: .imported)
        #expect(try shop.fulfilment(1).isImported && shop.gems() == 100)
        try Invariants.check(shop, "books")
    }

    /// Bob shows a copy of what is Ann's, and names an open order of hers: it is hers to say what is for it.
    @Test func whatSomebodyElseNamesPaysNothing() throws {
        var shop = try Shop(needsOrder: true)
        let refunded = Sold.refunded(try Sold.transaction(1, "season", .nonRenewing), percentage: 40_000)
        try shop.show(refunded)
        try shop.place("o-1", "season")
        try shop.show(refunded, by: "bob", order: "o-1")
        #expect(try shop.order("o-1").state == .pending)
        #expect(try shop.word(1) == "waiting no_order")
        try shop.show(Sold.transaction(2, "season", .nonRenewing))
        #expect(try shop.order("o-1").payment?.transaction.number == 2)
        try Invariants.check(shop, "a stranger's")
    }

    /// Those that are given already, that are another's, or that another order was named for, are no word's.
    @Test func whatIsSettledIsNotNamedOnceMore() throws {
        var shop = try Shop(needsOrder: true)
        for number in Int64(1)...4 { try shop.place("o-\(number)") }
        try shop.show(Self.coins(1), order: "o-1")
        try shop.show(Self.coins(2), order: "o-9")
        try shop.show([Self.coins(1), Self.coins(2), Self.coins(3)], order: "o-2")
        #expect(try shop.order("o-2").payment?.transaction.number == 3)
        #expect(try shop.word(2) == "waiting order_contradicts")
        // Another purchase of the same came with its number.
        try shop.show([Self.coins(4), Self.coins(2)], order: "o-2")
        #expect(try shop.order("o-3").payment?.transaction.number == 4)
        #expect(shop.recorded.first { $0.id.number == 4 }?.order == nil)
        try Invariants.check(shop, "settled")
    }

    /// Nobody has presented it. Each row: for what the order is that names its token, whether it is placed before Apple tells of
    /// it, and whether it is hers by both, or only when anybody presents it, by the token.
    @Test(arguments: [("coins", true, true), ("coins", false, true), ("lamp", true, true), ("lamp", false, false)])
    func anOrderForSomethingElseSaysWhoseComesLater(product: String, isFirst: Bool, isHers: Bool) throws {
        var shop = try Shop()
        let token = AccountToken(high: 5, low: 6)
        if isFirst { try shop.place("o-1", product, token: token) }
        try shop.show(Sold.coins(1, token: token), by: nil)
        if !isFirst { try shop.place("o-1", product, token: token) }
        #expect(try shop.word(1) == (isHers ? "granted" : "waiting no_customer"))
        try shop.show(Sold.coins(1, token: token), by: "bob")
        #expect(try shop.word(1) == "granted")
        #expect(try shop.gems() == 100 && shop.gems(of: "bob") == 0)
        #expect(try shop.order("o-1").state == (product == "coins" ? .paid : .pending))
        try Invariants.check(shop, "\(product) \(isFirst)")
    }
}
