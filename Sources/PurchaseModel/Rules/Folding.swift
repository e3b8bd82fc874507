/// Two facts about one transaction made one.
///
/// What changes in a transaction's life (revocation, expiry, quantity) is taken from the fact that Apple signed later.
/// What never changes, and what a poorer format does not carry at all, is kept from whichever fact has it: an app
/// receipt knows no price and no upgrade, cuts moments to seconds, and must not erase what is known better.
func fold(_ known: Transaction, _ fresh: Transaction) -> Transaction {
    let (later, earlier) = supersedes(fresh, known) ? (fresh, known) : (known, fresh)
    var folded = later
    folded.isUpgraded = later.isUpgraded || earlier.isUpgraded
    folded.reason = later.reason ?? earlier.reason
    folded.originalID = later.originalID ?? earlier.originalID
    folded.previousOriginalID = later.previousOriginalID ?? earlier.previousOriginalID
    folded.kind = later.kind ?? earlier.kind
    folded.purchasedAt = finer(later.purchasedAt, earlier.purchasedAt)
    folded.originallyPurchasedAt = finer(later.originallyPurchasedAt, earlier.originallyPurchasedAt)
    folded.expiresAt = finer(later.expiresAt, earlier.expiresAt)
    folded.revocation = fold(later.revocation, earlier.revocation)
    folded.ownership = later.ownership ?? earlier.ownership
    folded.accountToken = later.accountToken ?? earlier.accountToken
    folded.offer = fold(later.offer, earlier.offer)
    folded.price = later.price ?? earlier.price
    folded.storefront = later.storefront ?? earlier.storefront
    folded.subscriptionGroup = later.subscriptionGroup ?? earlier.subscriptionGroup
    folded.webOrderLineItem = later.webOrderLineItem ?? earlier.webOrderLineItem
    folded.appTransaction = later.appTransaction ?? earlier.appTransaction
    folded.billingPlan = later.billingPlan ?? earlier.billingPlan
    folded.commitmentEndsAt = later.commitmentEndsAt ?? earlier.commitmentEndsAt
    folded.advancedCommerce = later.advancedCommerce ?? earlier.advancedCommerce
    return folded
}

/// The account token that counts of two facts about one transaction: a poorer copy is without it.
func newestToken(of fresh: Transaction, after known: Transaction?) -> AccountToken? {
    guard let known, let before = known.accountToken else { return fresh.accountToken }
    guard let token = fresh.accountToken, token != before else { return before }
    return supersedes(fresh, known) ? token : before
}

/// The later fact decides whether there is one at all; of one and the same, what either tells is kept.
private func fold(_ later: Revocation?, _ earlier: Revocation?) -> Revocation? {
    guard let later, let earlier, isSameSecond(later.at, earlier.at) else { return later }
    return Revocation(
        at: finer(later.at, earlier.at),
        reason: later.reason ?? earlier.reason,
        type: later.type ?? earlier.type,
        percentage: later.percentage ?? earlier.percentage
    )
}

/// Of one and the same offer what either fact tells.
private func fold(_ later: Offer?, _ earlier: Offer?) -> Offer? {
    guard let later, let earlier else { return later ?? earlier }
    guard later.kind == earlier.kind else { return later }
    return Offer(
        kind: later.kind,
        identifier: later.identifier ?? earlier.identifier,
        discount: later.discount ?? earlier.discount,
        period: later.period ?? earlier.period
    )
}

private func finer(_ later: Timestamp?, _ earlier: Timestamp?) -> Timestamp? {
    guard let later, let earlier else { return later ?? earlier }
    return finer(later, earlier)
}

/// Receipts cut moments to whole seconds: of two that are the same but for that, the one that was not cut.
private func finer(_ later: Timestamp, _ earlier: Timestamp) -> Timestamp {
    isSameSecond(later, earlier) ? max(later, earlier) : later
}

private func isSameSecond(_ one: Timestamp, _ other: Timestamp) -> Bool {
    one.milliseconds / 1_000 == other.milliseconds / 1_000
}

/// Whether of two facts about one transaction the fresh one counts; the other only adds what it leaves out.
func supersedes(_ fresh: Transaction, _ known: Transaction) -> Bool {
    let (freshTells, knownTells) = (tellsOfRefunds(fresh), tellsOfRefunds(known))
    if freshTells != knownTells { return freshTells }
    if fresh.signedAt != known.signedAt { return fresh.signedAt > known.signedAt }
    if (fresh.revocation == nil) != (known.revocation == nil) { return fresh.revocation != nil }
    let (freshRank, knownRank) = (precedence(of: fresh), precedence(of: known))
    return freshRank == knownRank ? fresh.product > known.product : knownRank.lexicographicallyPrecedes(freshRank)
}

/// Whether a fact says that its transaction was taken back, and is the first that counts to say so.
package func takesBack(_ fresh: Transaction, after known: Transaction) -> Bool {
    fresh.revocation != nil && known.revocation == nil && supersedes(fresh, known)
}

/// Whether a fact would say that its transaction was taken back.
///
/// Receipts never say it of a consumable. A newer receipt in which a refunded one still stands must not make it good
/// again, so such a fact only adds what others leave out. StoreKit 2 tells it of everything, and alone who owns it.
private func tellsOfRefunds(_ fact: Transaction) -> Bool {
    if fact.ownership != nil || fact.revocation != nil || fact.expiresAt != nil { return true }
    return fact.kind != nil && fact.kind != .consumable
}

/// Orders facts that Apple signed at one moment. Any order does that does not ask which of them came first.
private func precedence(of fact: Transaction) -> [Int64] {
    [
        fact.revocation?.at.milliseconds ?? .min, fact.revocation?.percentage.map(Int64.init) ?? .min,
        fact.expiresAt?.milliseconds ?? .min, Int64(fact.quantity), fact.purchasedAt.milliseconds,
        fact.originalID?.number ?? .min,
    ]
}
