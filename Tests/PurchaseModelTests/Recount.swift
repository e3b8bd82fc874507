import PurchaseModel

/// The figures of a shop, counted anew from its rows. Of what a transaction sold nothing is shared with the rules.
struct Recount {
    private(set) var sums = FigureSums()

    init(_ shop: Shop) {
        var chains: [ChainKey: [Transaction]] = [:]
        for recorded in shop.recorded {
            let chain = shop.situation.fulfilment(of: recorded.key)?.chain ?? recorded.chain
            chains[chain, default: []].append(recorded.transaction)
        }
        for (chain, transactions) in chains {
            sums.add(chain.figures(transactions, shop.situation.subscription(of: chain)?.ends ?? PeriodEnds()))
        }
        for order in shop.orders { sums.add(order.figures) }
        for fulfilment in shop.fulfilments { sums.add(fulfilment.figures) }
        for chain in shop.followed {
            if let subscription = shop.situation.subscription(of: chain) { sums.add(subscription.figures) }
        }
        for event in shop.events {
            if let key = event.type.figure(event.stream, learnedAt: event.learnedAt) { sums.add(1, to: key) }
        }
    }
}

extension FigureSums {
    /// What there is of a measure, in words: the day counted from ``Facts/now``, the currency, the step, the amount.
    func lines(_ measure: Measure) -> [String] {
        let today = DayOfTime(containing: Facts.now).number
        let found = values.filter { $0.key.measure == measure }
        return found.sorted { ($0.key.day.number, $0.key.step) < ($1.key.day.number, $1.key.step) }.map { key, amount in
            let parts = ["\(key.day.number - today)", key.currency, key.step > 0 ? "+\(key.step)" : "", "\(amount)"]
            return parts.filter { !$0.isEmpty }.joined(separator: " ")
        }
    }

    /// All that a measure comes to, of some days.
    func total(_ measure: Measure, _ days: (DayOfTime) -> Bool = { _ in true }) -> Int64 {
        values.reduce(0) { $1.key.measure == measure && days($1.key.day) ? $0 + $1.value : $0 }
    }
}
