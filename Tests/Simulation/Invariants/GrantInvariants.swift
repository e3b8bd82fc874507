import PurchaseModel
import Simulator

extension Audit {
    /// One grant for each unit, one owner for each chain, nothing without either; and what was given is what the newest
    /// fact says.
    func checkGrants() {
        struct Unit: Hashable {
            let chain: ChainKey
            let unit: GrantUnit
        }
        let rows = Array(store.fulfilments.values)
        let units = rows.compactMap { row in row.unit.map { Unit(chain: row.chain, unit: $0) } }
        expect(Set(units).count == units.count, "I4 credited once", "one unit twice")
        expect(rows.count == store.transactions.count, "I4 credited once", "transactions without a fulfilment")
        let begun = Set(rows.compactMap { $0.unit == nil ? nil : $0.chain })
        for row in rows {
            guard let recorded = store.transactions[row.transaction] else { continue }
            let isGiven = [.granted, .partlyReversed, .reversed].contains(row.state)
            let id = row.transaction.id
            expect(
                (row.unit != nil) == isGiven && (row.delivery != nil) == isGiven && (row.reason == nil) == isGiven
                    && (isGiven || row.goods.isEmpty),
                "I4 credited once",
                "\(id) is \(row.state) and not as that is"
            )
            if row.lacksOrder, begun.contains(row.chain) {
                let kind = recorded.transaction.kind ?? world.terms.products?[row.product]?.kind
                expect(kind == .consumable, "I4 credited once", "\(id) waits for an order in a chain that was given")
            }
            guard isGiven else { continue }
            expect(
                row.customer != nil && store.owners[row.chain] != nil,
                "I10 account binding",
                "\(id) was given to nobody"
            )
            expect(
                row.customer.map { isDelivered(row.transaction.realm, to: $0) } ?? false,
                "I11 environment wall",
                "\(id) was given out of \(row.transaction.realm.environment)"
            )
            checkFold(row, recorded)
        }
    }

    /// What a grant is now, read anew from the recorded fact alone.
    private func checkFold(_ row: Fulfilment, _ recorded: RecordedTransaction) {
        let (fact, id) = (recorded.transaction, recorded.id)
        let share = fact.revocation.map { $0.percentage ?? 100_000 } ?? 0
        let isDivisible = row.goods.contains { if case .amount = $0 { true } else { false } }
        let state: FulfilmentState = isDivisible && share < 100_000 ? .partlyReversed : .reversed
        expect(row.state == (fact.revocation == nil ? .granted : state), "I9 state is the fold of facts", "\(id)")
        expect(row.reversed == share, "I9 state is the fold of facts", "of \(id) \(row.reversed) is reversed")
        guard let terms = world.terms.products?[fact.product] else { return }
        var end = fact.expiresAt
        if terms.kind == .nonRenewing, let period = terms.period {
            end = fact.purchasedAt.advanced(by: period * fact.quantity)
        }
        if let revocation = fact.revocation {
            end = min(revocation.at, end ?? revocation.at)
        } else if fact.isUpgraded {
            end = fact.purchasedAt
        }
        for goods in row.goodsByNow {
            switch goods {
            case .entitlement(let name, let until):
                let isSo = until.map { $0.milliseconds / 1_000 } == end.map { $0.milliseconds / 1_000 }
                expect(isSo, "I9 state is the fold of facts", "\(name) of \(id) ends another time")
            case .amount(let amount):
                let each = terms.goods.compactMap { goods -> Int64? in
                    guard case .amount(let each, amount.currency) = goods else { return nil }
                    return each
                }
                expect(
                    amount.amount == (each.first ?? 0) * Int64(fact.quantity),
                    "I4 credited once",
                    "\(amount.amount) for \(fact.quantity) of \(fact.product)"
                )
                expect(
                    amount.reversed + amount.uncollected == amount.amount * Int64(share) / 100_000
                        && amount.reversed >= 0 && amount.uncollected >= 0,
                    "I8 ledger",
                    "of \(amount.amount) for \(id) \(amount.reversed) is taken back, \(amount.uncollected) missing"
                )
            }
        }
    }

    /// Who pays for a period has it; what was sold and may be given was given.
    func checkEntitlements() {
        guard !world.terms.needsOrder else { return }
        for sold in sold.values where sold.fact.kind == .consumable {
            guard let row = store.fulfilments[key(sold)], let customer = row.customer,
                isDelivered(row.transaction.realm, to: customer)
            else { continue }
            let wasEverRevoked = facts[sold.id, default: []].contains { $0.revocation != nil }
            let isSo = row.state == .granted || wasEverRevoked && row.state != .waiting
            expect(isSo, "I4 credited once", "\(sold.id) was paid and is \(row.state)")
        }
        let (lines, now) = world.appStore.simulator.read { store in
            (store.lines.values.filter { store.status(of: $0) == .active && $0.sharedFrom == nil }, store.now)
        }
        for line in lines {
            guard let sold = sold[line.current], let row = store.fulfilments[key(sold)],
                let owner = store.owners[row.chain]?.customer, isDelivered(row.transaction.realm, to: owner),
                let terms = world.terms.products?[sold.fact.product]
            else { continue }
            let theirs = store.fulfilments.values.filter { store.owners[$0.chain]?.customer == owner }
            let granted = store.granted.filter { $0.key.customer == owner }
            let inForce = entitlements(theirs, [RecordedSubscription](), granted, at: now).filter {
                $0.realm == row.transaction.realm
            }
            for case .entitlement(let id) in terms.goods {
                let found = inForce.first { $0.id == id }?.until
                let isSo = found.map { $0.milliseconds / 1_000 >= line.expiresAt.milliseconds / 1_000 } ?? false
                let why = "\(row.state) \(row.reason?.rawValue ?? "")"
                expect(isSo, "I9 who pays has it", "\(owner) has paid \(sold.id) for \(id): \(why)")
            }
        }
    }
}
