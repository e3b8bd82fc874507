/// Decides about recorded transactions again: what was given follows what Apple signed last, and what waits is looked at
/// by the terms that are in force now.
///
/// What depends on who came first stays as it is: owners, what was granted, which order it paid.
///
/// - Parameters:
///   - situation: around the transactions, with the orders that they name.
///   - keys: which ones.
///   - tokens: what client libraries make of the customers' names.
///   - terms: how the app delivers.
///   - now: when it is decided.
/// - Returns: what to write; nothing when all is as the rules leave it.
package func decide(
    _ situation: Situation,
    rebuilding keys: [TransactionKey],
    tokens: [CustomerID: AccountToken],
    terms: AppTerms,
    at now: Timestamp
) -> Decision {
    var draft = Draft(situation, terms: terms, at: now)
    var open = keys.compactMap { situation[$0] }
    // What is taken back may be bought anew, whatever comes later in the round: the others are asked again until nothing
    // more is given.
    while true {
        let asked = open.filter { !draft.isToBeShown($0, tokens) }
        let given = draft.settle(asked) { recorded in
            var naming = Naming(of: recorded, customerToken: recorded.customer.flatMap { tokens[$0] })
            let owner = situation.owner(of: situation.chain(of: recorded))
            naming.placedAfter = situation.fulfilment(of: recorded.key).flatMap { owner?.came(with: $0) }
            return naming
        }
        let done = Set(zip(asked, given).filter { $0.1.unit != nil }.map(\.0.key))
        if done.isEmpty { break }
        open.removeAll { done.contains($0.key) }
    }
    return draft.decided
}

extension Draft {
    /// Whether something waits in a customer's hands that is signed for somebody else by what is known now: it is his to show.
    fileprivate mutating func isToBeShown(
        _ recorded: RecordedTransaction,
        _ tokens: [CustomerID: AccountToken]
    ) -> Bool {
        guard let row = known.fulfilment(of: recorded.key), row.state == .waiting, !recorded.isRevoked,
            let customer = row.customer
        else { return false }
        return isAnothers(row, [tokens[customer]].compactMap(\.self))
    }
}

extension Owner {
    /// When a chain came to whose it is with something that waited, of which nothing was decided since: what waits in a chain
    /// goes with it, and pays none of the orders that there were by then. What did not wait for an order may come with one, to
    /// whom Apple signed it: of that it counts only where a person moved it.
    func came(with row: Fulfilment) -> Timestamp? {
        let hasWaited = row.lacksOrder || isSettled && row.state == .waiting
        return previous != nil && hasWaited && row.decidedAt <= since ? since : nil
    }
}

/// What a subscription's row would be if it were written anew.
///
/// What the shop was told stays as it is; a row that is made new is looked at once, and nobody is told of its past.
///
/// - Parameters:
///   - chain: which one.
///   - transactions: all that are recorded of it.
///   - stored: the row that there is.
///   - now: when it is decided.
/// - Returns: `nil` when the row is as it must be, or nothing of the chain is a period.
package func rebuild(
    _ chain: ChainKey,
    from transactions: [RecordedTransaction],
    stored: RecordedSubscription?,
    at now: Timestamp
) -> RecordedSubscription? {
    let period = newestPeriod(transactions.filter(\.isSubscriptionPeriod))
    let ends = stored?.ends ?? PeriodEnds()
    guard let found = fold(chain, period?.transaction, stored?.renewal, ends, at: now) else { return nil }
    var row = RecordedSubscription(found, renewal: stored?.renewal, ends: ends, lookedAt: now)
    if let stored {
        if stored.saysTheSame(as: row) { return nil }
        (row.state, row.since, row.version) = (stored.state, stored.since, stored.version + 1)
    } else {
        // The shop may have been told of it: what comes next does not begin it.
        (row.state, row.since) = (found.state, found.since)
    }
    row.nextLook = now
    return row
}
