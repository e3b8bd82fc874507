import PurchaseModel
import Testing

/// What must hold after every step, recomputed from nothing but the rows and the postings.
enum Invariants {
    static func check(_ shop: Shop, _ comment: Comment) throws {
        let fulfilments = shop.fulfilments
        try checkGrants(fulfilments, shop, comment)
        try checkMoney(fulfilments, shop, comment)
        checkOrders(fulfilments, shop, comment)
        checkStreams(shop, comment)
        #expect(shop.figures == Recount(shop).sums, comment)
    }

    /// One grant for each unit, one owner for each chain, and nothing without either.
    private static func checkGrants(_ fulfilments: [Fulfilment], _ shop: Shop, _ comment: Comment) throws {
        struct Unit: Hashable {
            let chain: ChainKey
            let unit: GrantUnit
        }
        let units = fulfilments.compactMap { row in row.unit.map { Unit(chain: row.chain, unit: $0) } }
        #expect(Set(units).count == units.count, comment)
        let begun = Set(units.map(\.chain))
        for row in fulfilments where row.lacksOrder && begun.contains(row.chain) {
            #expect(try shop.kind(of: row) == .consumable, comment)
        }
        for row in fulfilments {
            let isGiven = [.granted, .partlyReversed, .reversed].contains(row.state)
            #expect((row.unit != nil) == isGiven, comment)
            #expect((row.delivery != nil) == isGiven, comment)
            #expect((row.reason == nil || row.isTakenAsCopy) == isGiven, comment)
            #expect(isGiven || row.goods.isEmpty, comment)
            #expect(!row.isOfHistory || !isGiven && row.customer == nil, comment)
            #expect(row.state != .waiting || row.isOfHistory == (row.reason == .fromHistory), comment)
            #expect(!isGiven || row.customer != nil && shop.situation.owner(of: row.chain) != nil, comment)
            let recorded = try #require(shop.situation[row.transaction])
            let kind = try shop.kind(of: row)
            let mayBeRestored = kind.map { $0 == .nonConsumable } ?? !recorded.transaction.isSubscriptionPeriod
            let isPeriod = !mayBeRestored && recorded.transaction.isSubscriptionPeriod
            let others = mayBeRestored || isPeriod ? fulfilments.filter { $0.chain == row.chain } : []
            let byOthers = recorded.takenBack(beside: others, as: isPeriod ? .period : .product)
            let isTaken = recorded.transaction.takenBack != nil || byOthers != nil || row.isTakenAsCopy
            #expect(!isGiven || isTaken == (row.state != .granted), comment)
            // Something is left of amounts, as long as it is not all that was taken.
            let isLeft = row.reversed < 100_000 && (row.hasAmounts || row.isImported && shop.sellsAmounts(of: row))
            #expect(!isGiven || (row.state == .partlyReversed) == (isTaken && isLeft), comment)
            #expect((row.delivery == .compensated) == (row.state == .reversed), comment)
        }
    }

    /// Balances are the sums of their postings, and those are what was granted less what was taken back.
    private static func checkMoney(_ fulfilments: [Fulfilment], _ shop: Shop, _ comment: Comment) throws {
        let wallets = Dictionary(grouping: shop.postings, by: \.wallet)
        for (key, postings) in wallets {
            let wallet = shop.situation.wallet(key)
            #expect(postings.map(\.number) == (1...Int64(postings.count)).map(\.self), comment)
            #expect(wallet.balance == sum(postings, .balance), comment)
            #expect(wallet.uncollected == sum(postings, .uncollected), comment)
            let all = WalletAccount.allCases.map { sum(postings, $0) }
            #expect(all.reduce(0, +) == 0, comment)
            if !shop.terms.allowsNegativeBalance { #expect(wallet.balance >= 0, comment) }
        }
        for row in fulfilments {
            for case .amount(let amount) in row.goods {
                #expect(amount.reversed >= 0 && amount.uncollected >= 0, comment)
                #expect(amount.reversed + amount.uncollected <= amount.amount, comment)
                let share = amount.amount * Int64(row.reversed) / 100_000
                #expect(amount.reversed + amount.uncollected == share, comment)
                let key = WalletKey(
                    app: row.transaction.app,
                    realm: row.transaction.realm,
                    customer: try #require(row.customer),
                    currency: amount.currency
                )
                let theirs = wallets[key, default: []].filter { $0.transaction == row.transaction.id }
                #expect(sum(theirs, .balance) == amount.amount - amount.reversed, comment)
            }
        }
    }

    private static func sum(_ postings: [Posting], _ account: WalletAccount) -> Int64 {
        postings.reduce(0) { sum, posting in
            sum + (posting.credit == account ? posting.amount : 0) - (posting.debit == account ? posting.amount : 0)
        }
    }

    /// A paid order has one payment, which is for what it asks, and no payment has two orders.
    private static func checkOrders(_ fulfilments: [Fulfilment], _ shop: Shop, _ comment: Comment) {
        var payments: Set<TransactionKey> = []
        for order in shop.orders {
            guard let payment = order.payment else {
                #expect([.pending, .expired, .cancelled].contains(order.state), comment)
                continue
            }
            let key = TransactionKey(app: order.app, realm: payment.realm, id: payment.transaction)
            #expect(payments.insert(key).inserted, comment)
            let row = fulfilments.first { $0.transaction == key }
            #expect(row?.order == order.id && row?.product == order.product, comment)
            #expect(row?.quantity == order.quantity && row?.customer == order.customer, comment)
            #expect((order.state == .refunded) == (row?.state == .reversed), comment)
            #expect(order.refunded == row?.reversed, comment)
            #expect([.paid, .delivered, .refunded].contains(order.state), comment)
        }
        let settled = fulfilments.compactMap(\.order)
        #expect(Set(settled).count == settled.count, comment)
    }

    private static func checkStreams(_ shop: Shop, _ comment: Comment) {
        for (stream, events) in Dictionary(grouping: shop.events, by: \.stream) {
            #expect(events.map(\.sequence) == (1...Int64(events.count)).map(\.self), comment)
            #expect(shop.situation.sequence(of: stream) == Int64(events.count), comment)
            for event in events {
                // What waits and becomes somebody's is told to whom it is then, and was decided about before.
                guard case .fulfilment(let told, _) = event.subject, event.type != .purchaseWaiting else { continue }
                #expect(told.decidedAt == event.learnedAt, comment)
            }
        }
    }
}

extension Fulfilment {
    fileprivate var hasAmounts: Bool { goods.contains { if case .amount = $0 { true } else { false } } }
}

extension Shop {
    /// What another system has delivered names no amounts: the catalogue does.
    fileprivate func sellsAmounts(of row: Fulfilment) -> Bool {
        let sold = terms.products?[row.product]?.goods ?? []
        return sold.contains { if case .amount = $0 { true } else { false } }
    }
}
