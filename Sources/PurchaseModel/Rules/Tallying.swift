extension Decision {
    /// Works out what it adds to the figures: what its rows add as they are now, less what they added before.
    ///
    /// A subscription's figures follow from all of its periods. Whoever changes one writes the subscription too, so that
    /// of two who each saw a part of them only the first succeeds.
    ///
    /// - Parameter known: what it was decided from.
    mutating func countFigures(after known: Situation) {
        var sums = FigureSums()
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
            let chain = known.fulfilment(of: change.recorded.key)?.chain ?? change.recorded.chain
            chains[chain, default: []].append(change.recorded)
        }
        var touched: [ChainKey] = []
        for (chain, changed) in chains {
            var transactions = known.transactions(of: chain, with: changed)
            guard !transactions.isEmpty || known.subscription(of: chain) != nil else {
                // Most are new: nothing is to be taken off, and nobody else can have counted a part of them.
                chain.count(changed.map(\.transaction), in: &sums)
                continue
            }
            let before = chain.figures(transactions.values)
            for recorded in changed { transactions[recorded.id] = recorded.transaction }
            let after = chain.figures(transactions.values)
            guard before != after else { continue }
            sums.subtract(before)
            sums.add(after)
            if known.subscription(of: chain) != nil { touched.append(chain) }
        }
        let written = touched.isEmpty ? [] : Set(subscriptions.map(\.row.chain))
        for chain in touched.sorted(by: { $0.precedes($1) }) where !written.contains(chain) {
            guard var row = known.subscription(of: chain) else { continue }
            row.version += 1
            subscriptions.append(.update(row))
        }
    }
}
