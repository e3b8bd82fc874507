/// Decides that time has passed over a subscription: to be called when its next look is due, after Apple was asked if it
/// could be, and what it said was recorded.
///
/// What follows from the clock alone is told once: a grace that is over, a billing retry that is over, the end of what was
/// paid for. Of an end that Apple has not told of, and meant to be none, only when ``LookSchedule/patience`` is over.
///
/// - Parameters:
///   - situation: around the chain: its subscription, the newest period's transaction, the owner.
///   - chain: which one.
///   - newest: its newest period when Apple was asked. What became known of it since then is still to be asked about.
///   - schedule: when to look again.
///   - now: the moment.
/// - Returns: what to write; nothing when there is no such subscription, or it is not yet time.
package func decide(
    _ situation: Situation,
    lookingAt chain: ChainKey,
    askedOf newest: TransactionID? = nil,
    schedule: LookSchedule = LookSchedule(),
    at now: Timestamp
) -> Decision {
    guard let before = situation.subscription(of: chain) else { return Decision() }
    let period = before.currentKey.flatMap { situation[$0] }
    guard let new = fold(chain, period?.transaction, before.renewal, before.ends, at: now) else { return Decision() }
    var draft = Draft(situation, terms: AppTerms(), at: now)
    draft.write(
        FoldedSubscription(
            before: before,
            last: period?.transaction,
            old: new,
            new: new,
            period: period,
            renewal: before.renewal,
            ends: before.ends,
            lookedAt: now
        ),
        schedule,
        isLook: true,
        askedOf: newest
    )
    return draft.decided
}
