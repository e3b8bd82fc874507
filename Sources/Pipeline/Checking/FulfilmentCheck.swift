import PurchaseModel
import Storage

// What was given: for which transaction, whose, how much of it is still given.
extension LedgerCheck {
    /// What fulfilments say that other tables must say too.
    struct Given {
        /// How many amounts were given.
        var amounts = 0
        /// How often what is to be delivered has changed, on each side of the wall.
        var changes: [Realm: Int64] = [:]
    }

    mutating func checkFulfilments(_ app: AppID) throws(StoreFailure) -> Given {
        let reader = reader
        var given = Given()
        var (chain, units): (ChainKey?, Set<GrantUnit>) = (nil, [])
        try walk { place throws(StoreFailure) in
            try reader.walkFulfilments(app: app, after: place, limit: Self.pageMax)
        } _: { check, page throws(StoreFailure) in
            check.findings.fulfilments += page.count
            for row in page {
                if row.chain != chain { (chain, units) = (row.chain, []) }
                if let unit = row.unit, !units.insert(unit).inserted {
                    check.add(.unitGrantedTwice, row, "another one of its chain is the only grant of \(unit.text) too")
                }
                given.changes[row.transaction.realm, default: 0] += row.changesTold
                if row.isGiven { given.amounts += row.amounts.count }
                check.checkAlone(row)
            }
            try check.checkTransactions(of: page)
            try check.checkOrders(of: page)
        }
        return given
    }

    mutating func add(_ code: ViolationCode, _ row: Fulfilment, _ found: String) {
        findings.add(code, .of(row.transaction), found)
    }

    /// What goes with a state.
    private mutating func checkAlone(_ row: Fulfilment) {
        let faults = row.faults
        guard faults.isEmpty else {
            return add(.grantIncomplete, row, "it is \(row.state.rawValue) and has " + faults.joined(separator: ", "))
        }
        for amount in row.amounts where amount.reversed + amount.uncollected != amount.share(row.reversed) {
            add(.reversalDiffers, row, "of \(amount.amount) \(amount.currency) another share is back than reversed")
        }
    }

    private mutating func checkTransactions(of page: [Fulfilment]) throws(StoreFailure) {
        let reader = reader
        let recorded = try LookedUp(page.map(\.transaction), by: \RecordedTransaction.key) {
            keys throws(StoreFailure) in try reader.transactions(keys)
        }
        let owners = try LookedUp(page.filter(\.isGiven).map(\.chain), by: \Owner.chain) { keys throws(StoreFailure) in
            try reader.owners(keys)
        }
        // Where else a transaction may stand: with its first one, or by itself.
        let elsewhere = page.compactMap { row in recorded[row.transaction]?.otherChain(than: row.chain) }
        let twins = try LookedUp(elsewhere, by: \Fulfilment.chain) { keys throws(StoreFailure) in
            try reader.fulfilments(keys)
        }
        let besides = try takenBack(beside: page)
        try checkPeriods(page, recorded)
        for row in page where !recorded.unreadable.contains(row.transaction) {
            guard let transaction = recorded[row.transaction] else {
                try addUnrecorded(row)
                continue
            }
            if row.original != transaction.chain.original, row.original != transaction.id {
                add(.chainContradicts, row, "it stands in the chain of \(row.original)")
            }
            if let other = transaction.otherChain(than: row.chain),
                twins.rows[other]?.contains(where: { $0.transaction == row.transaction }) == true
            {
                add(.fulfilledTwice, row, "it stands in the chains of \(row.original) and \(other.original)")
            }
            if row.isGiven, owners[row.chain] == nil, !owners.unreadable.contains(row.chain) {
                add(.ownerMissing, row, "nobody owns the chain of \(row.original)")
            }
            let kind = row.restorable ?? (transaction.transaction.isSubscriptionPeriod ? .period : .product)
            let mayHaveOthers = row.restorable != nil || row.reason == .revoked
            let others = mayHaveOthers ? besides.rows[row.chain, default: []] : []
            let takenBack = transaction.takenBack(beside: others, as: kind)
            let isCopy = row.isTakenAsCopy
            checkReversal(of: row, isCopy ? Revocation(at: row.purchasedAt) : takenBack, transaction.transaction)
        }
    }

    /// All of the chains of which something was taken back: what may have several numbers may be taken back by another one.
    private func takenBack(beside page: [Fulfilment]) throws(StoreFailure) -> LookedUp<ChainKey, Fulfilment> {
        let reader = reader
        let takenBack = page.filter { $0.tellsOfReturn || $0.isReversed }.map(\.chain)
        // The first one's may have begun on the page before.
        let chains = Set(takenBack + page.prefix(1).map(\.chain))
        return try LookedUp(Array(chains), by: \Fulfilment.chain) { keys throws(StoreFailure) in
            try reader.fulfilments(keys)
        }
    }

    private mutating func addUnrecorded(_ row: Fulfilment) throws(StoreFailure) {
        let others = try? reader.transactions(app: row.transaction.app, id: row.transaction.id)
        if let other = others?.first {
            add(.wallCrossed, row, "its transaction is recorded for \(other.realm.environment.rawValue) only")
        } else {
            add(.fulfilmentWithoutTransaction, row, "its transaction is not recorded")
        }
    }

    private mutating func checkReversal(of row: Fulfilment, _ revocation: Revocation?, _ transaction: Transaction) {
        // Of what was refunded in part before anything was given, the rest may wait for something.
        let isReversed = row.isGiven ? row.isReversed : row.reason == .revoked
        let isTaken = row.isGiven ? revocation != nil : revocation?.share == Fulfilment.whole
        if isReversed != isTaken {
            let said = isTaken ? "took it back" : "did not take it back"
            return add(.revocationContradicts, row, "it is \(row.word), and Apple \(said)")
        }
        guard row.isGiven else { return }
        // Of what was imported only the catalogue has the amounts, and here is none: as its row says, or partly left.
        let state = row.state(after: revocation, of: transaction, given: row.goods)
        if row.state != state {
            return add(.revocationContradicts, row, "it is \(row.word), and by what Apple took back \(state.rawValue)")
        }
        let share = revocation?.share ?? 0
        if row.reversed != share {
            add(
                .reversalDiffers,
                row,
                "\(row.reversed) of \(Fulfilment.whole) are reversed, and Apple took \(share) back"
            )
        }
    }

    private mutating func checkOrders(of page: [Fulfilment]) throws(StoreFailure) {
        let reader = reader
        let orders = try LookedUp(page.compactMap(\.orderKey), by: \Order.key) { keys throws(StoreFailure) in
            try reader.orders(keys)
        }
        for row in page {
            guard let key = row.orderKey, !orders.unreadable.contains(key) else { continue }
            guard let order = orders[key] else {
                add(.orderMissing, row, "the order \(key.id) is not there")
                continue
            }
            if order.payment?.transaction != row.transaction.id || order.payment?.realm != row.transaction.realm {
                add(.orderContradicts, row, "the order \(key.id) is not paid by it")
            }
        }
    }

    /// Each order that is paid is paid by what it asks for, and each that is not is in a state without a payment.
    mutating func checkOrders(_ app: AppID) throws(StoreFailure) {
        let reader = reader
        try walk { place throws(StoreFailure) in
            try reader.walkOrders(app: app, after: place, limit: Self.pageMax)
        } _: { check, page throws(StoreFailure) in
            check.findings.orders += page.count
            let found = try check.fulfilments(of: page.compactMap(\.paidBy))
            for order in page { check.check(order, found) }
        }
    }

    private mutating func check(_ order: Order, _ found: LookedUp<TransactionKey, Fulfilment>) {
        let isPaid = [.paid, .delivered, .refunded].contains(order.state)
        guard let key = order.paidBy else {
            if isPaid {
                findings.add(.orderStateContradicts, .of(order.key), "it is \(order.state.rawValue) without a payment")
            }
            return
        }
        guard isPaid else {
            return findings.add(.orderStateContradicts, .of(order.key), "it is \(order.state.rawValue) with a payment")
        }
        guard !found.unreadable.contains(key) else { return }
        guard let row = found[key] else {
            return findings.add(.orderContradicts, .of(order.key), "nothing was given for its payment \(key.id)")
        }
        if row.order != order.id || row.product != order.product || row.quantity != order.quantity
            || row.customer != order.customer
        {
            let what = "its payment \(key.id) is for another order, product, quantity or customer"
            findings.add(.orderContradicts, .of(order.key), what)
        }
        if (order.state == .refunded) != (row.state == .reversed) {
            findings.add(
                .orderStateContradicts,
                .of(order.key),
                "it is \(order.state.rawValue), its payment \(row.state.rawValue)"
            )
        } else if order.refunded != row.reversed {
            let found = "\(order.refunded) of \(Fulfilment.whole) are refunded, \(row.reversed) of its payment reversed"
            findings.add(.orderStateContradicts, .of(order.key), found)
        }
    }

    /// What was given for transactions, wherever it stands.
    func fulfilments(
        of keys: [TransactionKey]
    ) throws(StoreFailure) -> LookedUp<TransactionKey, Fulfilment> {
        let reader = reader
        return try LookedUp(keys, by: \Fulfilment.transaction) { keys throws(StoreFailure) in
            let chains = try reader.transactions(keys).flatMap(\.chains)
            let wanted = Set(keys)
            return try reader.fulfilments(Array(Set(chains))).filter { wanted.contains($0.transaction) }
        }
    }
}

extension Fulfilment {
    /// How many changes of what is to be delivered the shop was told; the first of what was imported is none of them, nor are
    /// those that the ledger has told which it was exported from.
    fileprivate var changesTold: Int64 { isImported && isGiven ? fence - max(importedFence, 1) : fence }

    /// What is missing of what goes with its state, and what is there that does not.
    var faults: [String] {
        var faults: [String] = []
        if isGiven {
            if unit == nil { faults.append("no unit") }
            if customer == nil { faults.append("no customer") }
            if delivery == nil { faults.append("no delivery") }
            if reason != nil, !isTakenAsCopy { faults.append("a reason for nothing") }
            if fence < 1 { faults.append("no fence") }
        } else {
            if unit != nil { faults.append("a unit") }
            if delivery != nil { faults.append("a delivery") }
            if reason == nil { faults.append("no reason") }
            if !goods.isEmpty { faults.append("goods") }
            if fence != 0 { faults.append("a fence") }
        }
        if isOfHistory, isGiven || customer != nil { faults.append("somebody who has it, and a mark that nobody has") }
        if (order == nil) != (match == nil) { faults.append("an order or how it matched, and not both") }
        let areSound = amounts.allSatisfy { amount in
            amount.amount > 0 && amount.reversed >= 0 && amount.uncollected >= 0
                && !amount.reversed.addingReportingOverflow(amount.uncollected).overflow
        }
        if !areSound || !(0...Fulfilment.whole).contains(reversed) { faults.append("amounts that are none") }
        return faults
    }

    var amounts: [GrantedAmount] {
        goods.compactMap { goods in
            guard case .amount(let amount) = goods else { return nil }
            return amount
        }
    }

    fileprivate var orderKey: OrderKey? { order.map { OrderKey(app: transaction.app, id: $0) } }

    fileprivate var word: String { reason.map { "\(state.rawValue) (\($0.rawValue))" } ?? state.rawValue }
}

extension Order {
    fileprivate var paidBy: TransactionKey? {
        payment.map { TransactionKey(app: app, realm: $0.realm, id: $0.transaction) }
    }
}

extension RecordedTransaction {
    fileprivate func otherChain(than chain: ChainKey) -> ChainKey? { chains.first { $0 != chain } }
}
