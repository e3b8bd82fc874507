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
    for key in keys {
        guard let recorded = situation[key] else { continue }
        let token = recorded.customer.flatMap { tokens[$0] }
        draft.settle(recorded, Naming(order: recorded.order, customerToken: token))
    }
    return draft.decision
}
