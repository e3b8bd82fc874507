/// That Apple may have a word on a period that another plan took the place of, which it sends to nobody.
enum UnheardUpgrade {
    case recent
    /// The period was over for longer than Apple tries to charge.
    case old
}

extension Draft {
    /// Apple sends no word of what an upgrade took the place of. About what is over for long it is asked once, by a period that
    /// was not known before: that cannot wait for the next look, which may never be due.
    func unheardUpgrade(
        of fresh: [RecordedTransaction],
        _ last: Transaction?,
        before newest: RecordedTransaction?,
        _ toldByLess: Set<TransactionID>
    ) -> UnheardUpgrade? {
        guard let newest else { return nil }
        let late = last == nil ? [] : fresh.filter { $0.id != newest.id && known[$0.key] == nil }
        let passed = upgrades(toldBy: late)
        // Mostly all are of one product, one after the other, and nothing else is looked at.
        let isOfNewest = passed.isEmpty && fresh.allSatisfy { $0.product == newest.product }
        if isOfNewest, last.map({ $0.product == newest.product }) ?? true {
            if fresh.isEmpty || fresh.count == 1 && last == nil { return nil }
            guard overlap(fresh.map(\.transaction.span) + (last.map { [$0.span] } ?? [])) else { return nil }
        }
        var periods = fresh.map { period in
            var transaction = period.transaction
            // A receipt is newer, and says nothing of upgrades.
            if toldByLess.contains(period.id), let before = known[period.key] {
                transaction.signedAt = before.transaction.signedAt
            }
            return transaction
        }
        let ids = Set(periods.map(\.id))
        periods += [last, newest.transaction].compactMap(\.self).filter { !ids.contains($0.id) }
        let found = Set(upgradesToHear(among: periods))
        let open = periods.filter { found.contains($0.id) } + passed
        if open.isEmpty { return nil }
        let isRecent = open.contains { period in
            guard let end = period.expiresAt else { return false }
            return end.advanced(by: SubscriptionRules.billingRetry(on: period.billingPlan)) > now
        }
        if isRecent { return .recent }
        return fresh.contains { known[$0.key] == nil } ? .old : nil
    }

    /// The periods that may have given way to a neighbour that was not told in its turn, or are told after it: what is known of
    /// the chain is compared, for neither is its newest.
    private func upgrades(toldBy late: [RecordedTransaction]) -> [Transaction] {
        guard let first = late.first else { return [] }
        let others = known.numbers(of: chain(of: first)).map(\.transaction)
        return late.map(\.transaction).flatMap { period in
            let hasGivenWay = others.contains { period.mayHaveGivenWay(to: $0) }
            return others.filter { $0.mayHaveGivenWay(to: period) } + (hasGivenWay ? [period] : [])
        }
    }
}
