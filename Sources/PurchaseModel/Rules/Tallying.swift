extension Decision {
    /// Works out what it adds to the figures: what its rows add as they are now, less what they added before.
    ///
    /// A subscription's figures follow from all of its periods. Whoever changes one writes the subscription too, so that
    /// of two who each saw a part of them only the first succeeds.
    ///
    /// - Parameter known: what it was decided from.
    mutating func countFigures(after known: Situation) {
        // So many are those of a new subscription; most decisions are of repetitions, and add nothing.
        var sums = FigureSums(minimumCapacity: changes.isEmpty ? 0 : 24)
        countChains(after: known, in: &sums)
        for change in orders {
            if let before = known.order(change.row.key) { sums.subtract(before.figures) }
            change.row.count(in: &sums)
        }
        for change in fulfilments {
            if let before = known.fulfilment(of: change.row.key) { sums.subtract(before.figures) }
            change.row.count(in: &sums)
        }
        for change in subscriptions {
            if let before = known.subscription(of: change.row.chain) { sums.subtract(before.figures) }
            change.row.count(in: &sums)
        }
        for event in events {
            if let key = event.type.figure(event.stream, learnedAt: event.learnedAt) { sums.add(1, to: key) }
        }
        figures = sums
    }

    private mutating func countChains(after known: Situation, in sums: inout FigureSums) {
        var chains: [ChainKey: [RecordedTransaction]] = [:]
        for change in changes {
            chains[known.chain(of: change.recorded), default: []].append(change.recorded)
        }
        // What is said of an end may change what a chain comes to whose periods are all known.
        var ends: [ChainKey: PeriodEnds] = [:]
        for row in subscriptions.map(\.row) where !row.ends.isEmpty {
            ends[row.chain] = row.ends
            guard chains[row.chain] == nil else { continue }
            let before = known.subscription(of: row.chain)?.ends ?? PeriodEnds()
            if !before.countsLike(row.ends) { chains[row.chain] = [] }
        }
        var touched: [ChainKey] = []
        for (chain, changed) in chains {
            let row = known.subscription(of: chain)
            var transactions = known.transactions(of: chain, with: changed)
            let endsBefore = row?.ends ?? PeriodEnds()
            let endsAfter = ends[chain] ?? endsBefore
            guard !transactions.isEmpty || row != nil else {
                // Most are new: nothing is to be taken off, and nobody else can have counted a part of them.
                chain.count(changed.map(\.transaction), endsAfter, in: &sums)
                continue
            }
            let before = chain.figures(transactions.values, endsBefore)
            let isMoved = changed.contains { $0.transaction.isMoved(from: transactions[$0.id]) }
            for recorded in changed { transactions[recorded.id] = recorded.transaction }
            let after = chain.figures(transactions.values, endsAfter)
            if row != nil, isMoved || before != after { touched.append(chain) }
            if before == after { continue }
            sums.subtract(before)
            sums.add(after)
        }
        let written = touched.isEmpty ? [] : Set(subscriptions.map(\.row.chain))
        for chain in touched.sorted(by: { $0.precedes($1) }) where !written.contains(chain) {
            guard var row = known.subscription(of: chain) else { continue }
            row.version += 1
            subscriptions.append(.update(row))
        }
    }
}

extension Transaction {
    /// Whether it is another period than it was: to somebody else, who hears at this moment that a renewal failed, that may
    /// matter where it does not matter here.
    fileprivate func isMoved(from before: Transaction?) -> Bool {
        guard let before else { return true }
        return purchasedAt.seconds != before.purchasedAt.seconds || expiresAt?.seconds != before.expiresAt?.seconds
            || revocation?.at != before.revocation?.at || isUpgraded != before.isUpgraded
            || ownership != before.ownership || product != before.product
    }
}
