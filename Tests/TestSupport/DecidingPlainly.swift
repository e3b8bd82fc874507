package import PurchaseModel

// The rules as they are where client libraries make no token of a customer's name.

/// Decides about a proof.
package func decide(_ situation: Situation, _ recording: Recording, at now: Timestamp) -> Decision {
    decide(situation, recording, ownToken: { _ in nil }, at: now)
}

/// Places an order.
///
/// - Throws: ``RequestFault``, as the rule itself.
package func decide(
    _ situation: Situation,
    placing order: Order,
    terms: AppTerms,
    at now: Timestamp
) throws(RequestFault) -> Decision {
    try decide(situation, placing: order, ownToken: { _ in nil }, terms: terms, at: now)
}

/// Has a transaction pay an order, because a person says so.
///
/// - Throws: ``RequestFault``, as the rule itself.
package func decide(
    _ situation: Situation,
    attaching transaction: TransactionKey,
    to order: OrderKey,
    terms: AppTerms,
    at now: Timestamp
) throws(RequestFault) -> Decision {
    try decide(situation, attaching: transaction, to: order, ownToken: { _ in nil }, terms: terms, at: now)
}
