import PurchaseModel
import Storage

// How subscriptions stand: each is what its newest period and Apple's last word on its renewal make of it.
extension LedgerCheck {
    /// Whether what stands there follows from the facts that it names.
    mutating func checkSubscriptions(_ app: AppID) throws(StoreFailure) {
        let reader = reader
        try walk { place throws(StoreFailure) in
            try reader.walkSubscriptions(app: app, after: place, limit: Self.pageMax)
        } _: { check, page throws(StoreFailure) in
            check.findings.subscriptions += page.count
            let periods = try LookedUp(page.compactMap(\.currentKey), by: \RecordedTransaction.key) {
                keys throws(StoreFailure) in try reader.transactions(keys)
            }
            for row in page { check.check(row, periods) }
        }
    }

    private mutating func check(
        _ row: RecordedSubscription,
        _ periods: LookedUp<TransactionKey, RecordedTransaction>
    ) {
        let names: [LedgerViolation.Name] = .of(row.chain)
        if let key = row.currentKey {
            guard !periods.unreadable.contains(key) else { return }
            guard periods[key] != nil else {
                return findings.add(.subscriptionContradicts, names, "its period \(key.id) is not recorded")
            }
        }
        if let renewal = row.renewal, renewal.originalID != row.chain.original {
            return findings.add(.subscriptionContradicts, names, "its renewal is of \(renewal.originalID)")
        }
        let period = row.currentKey.flatMap { periods[$0] }
        if rebuild(row.chain, from: [period].compactMap(\.self), stored: row, at: row.lookedAt) != nil {
            findings.add(.subscriptionContradicts, names, "it is not what its period and its renewal make of it")
        }
    }

    /// Each period belongs to a subscription that knows it, or a newer one.
    mutating func checkPeriods(
        _ page: [Fulfilment],
        _ recorded: LookedUp<TransactionKey, RecordedTransaction>
    ) throws(StoreFailure) {
        let reader = reader
        let rows = page.filter { recorded[$0.transaction]?.transaction.isSubscriptionPeriod ?? false }
        let subscriptions = try LookedUp(rows.map(\.chain), by: \RecordedSubscription.chain) {
            keys throws(StoreFailure) in try reader.subscriptions(keys)
        }
        let keys = subscriptions.rows.values.flatMap { $0.compactMap(\.currentKey) }
        let newest = try LookedUp(keys, by: \RecordedTransaction.key) { keys throws(StoreFailure) in
            try reader.transactions(keys)
        }
        for row in rows where !subscriptions.unreadable.contains(row.chain) {
            guard let subscription = subscriptions[row.chain] else {
                findings.add(
                    .subscriptionMissing,
                    .of(row.chain),
                    "there is none, and \(row.transaction.id) is a period"
                )
                continue
            }
            guard let key = subscription.currentKey else {
                let what = "it has no period, and \(row.transaction.id) is one"
                findings.add(.subscriptionContradicts, .of(row.chain), what)
                continue
            }
            let known = [recorded[row.transaction], newest[key]].compactMap(\.self)
            if known.count == 2, newestPeriod(known)?.key != key {
                let what = "\(row.transaction.id) is newer than its period \(key.id)"
                findings.add(.subscriptionContradicts, .of(row.chain), what)
            }
        }
    }
}
