/// Gives a customer an entitlement without a purchase, or changes until when she has it.
///
/// - Parameters:
///   - situation: around the customer: see ``Inquiry/grantedEntitlements``.
///   - key: whose, and what; one that the app's catalogue knows.
///   - end: `nil` for ever.
///   - motive: who says so, and why.
///   - terms: the app's.
///   - now: the moment.
/// - Returns: what to write; nothing when she has it until then already.
/// - Throws: ``RequestFault/unknown`` when no product gives it, ``RequestFault/isOver`` for an end that has passed.
package func decide(
    _ situation: Situation,
    granting key: GrantedEntitlementKey,
    until end: Timestamp?,
    because motive: Motive,
    terms: AppTerms,
    at now: Timestamp
) throws(RequestFault) -> Decision {
    guard terms.entitlements.contains(key.entitlement) else { throw .unknown }
    if let end, end <= now { throw .isOver }
    let known = situation.grantedEntitlement(key)
    if let known, known.isInForce(at: now), known.until == end { return Decision() }
    var draft = Draft(situation, terms: terms, at: now)
    draft.put(GrantedEntitlement(key: key, until: end, changedAt: now, motive: motive), told: .entitlementGranted)
    return draft.decided
}

/// Ends what was granted by hand. What the customer bought stays.
///
/// - Parameters:
///   - situation: around the customer: see ``Inquiry/grantedEntitlements``.
///   - key: whose, and what.
///   - motive: who says so, and why.
///   - now: the moment.
/// - Returns: what to write; nothing when it has ended already.
/// - Throws: ``RequestFault/unknown`` when it was never granted by hand.
package func decide(
    _ situation: Situation,
    revoking key: GrantedEntitlementKey,
    because motive: Motive,
    at now: Timestamp
) throws(RequestFault) -> Decision {
    guard var row = situation.grantedEntitlement(key) else { throw .unknown }
    guard row.isInForce(at: now) else { return Decision() }
    (row.isRevoked, row.changedAt, row.motive) = (true, now, motive)
    var draft = Draft(situation, terms: AppTerms(), at: now)
    draft.put(row, told: .entitlementRevoked)
    return draft.decided
}

extension AppTerms {
    /// All that any product of the catalogue gives.
    package var entitlements: Set<EntitlementID> {
        var found: Set<EntitlementID> = []
        for terms in (products ?? [:]).values {
            for case .entitlement(let id) in terms.goods { found.insert(id) }
        }
        return found
    }
}

extension Draft {
    /// Writes the row and tells the customer's stream.
    fileprivate mutating func put(_ row: GrantedEntitlement, told type: EventType) {
        let row = put(row)
        tell(type, row.key.stream, happenedAt: now, .entitlement(row))
    }
}
