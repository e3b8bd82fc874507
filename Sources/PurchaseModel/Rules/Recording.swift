/// A proof whose transactions have been verified, ready to be recorded.
package struct Recording: Hashable, Sendable {
    package var app: AppID
    package var realm: Realm
    package var transactions: [Transaction]
    package var customer: CustomerID?
    package var order: OrderID?

    package init(
        app: AppID,
        realm: Realm,
        transactions: [Transaction],
        customer: CustomerID? = nil,
        order: OrderID? = nil
    ) {
        self.app = app
        self.realm = realm
        self.transactions = transactions
        self.customer = customer
        self.order = order
    }

    /// The keys under which the ledger must be asked before this can be decided.
    package var keys: [TransactionKey] {
        transactions.map { TransactionKey(app: app, realm: realm, id: $0.id) }
    }
}

/// Decides what to write for one verified proof.
///
/// Each transaction is recorded once; of two facts about one transaction the one that Apple signed later counts,
/// whatever order they arrive in; at the same moment a revocation counts. So any order and any repetition of the same
/// proofs leads to the same ledger, save for who came first.
package func decide(_ situation: Situation, _ recording: Recording, at now: Timestamp) -> Decision {
    var decision = Decision()
    decision.outcomes.reserveCapacity(recording.transactions.count)
    let known = situation.transactions(app: recording.app, realm: recording.realm)
    if known.isEmpty { decision.changes.reserveCapacity(recording.transactions.count) }
    // Where each id of this proof stands, for those that follow a first one.
    var places = [TransactionID: Place](minimumCapacity: recording.transactions.count)
    for transaction in recording.transactions {
        if let place = places[transaction.id] {
            places[transaction.id] = decision.repeatOutcome(at: place, transaction, recording)
        } else if let known = known[transaction.id] {
            places[transaction.id] = decision.addOutcome(from: known, transaction, recording)
        } else {
            places[transaction.id] = decision.addFirst(transaction, recording, at: now)
        }
    }
    return decision
}

/// How a recorded transaction stands for a customer.
package func standing(of recorded: RecordedTransaction, for customer: CustomerID?) -> Standing {
    if let owner = recorded.customer, let customer, owner != customer { return .ownedByAnother }
    if recorded.isRevoked { return .revoked }
    return recorded.isUpgraded ? .upgraded : .recorded
}

/// What is known with what a fresh proof adds to it; `nil` when that is nothing.
private func merge(
    _ known: RecordedTransaction,
    _ fresh: Transaction,
    _ recording: Recording
) -> RecordedTransaction? {
    var merged = known
    // A repetition, by far the most common case, leaves the shared row alone.
    if !known.says(fresh) { merged.transaction = fold(known.transaction, fresh) }
    if merged.customer == nil, recording.customer != nil { merged.customer = recording.customer }
    // The owner may name the order later, but no second one.
    if merged.order == nil, recording.order != nil, merged.customer == recording.customer {
        merged.order = recording.order
    }
    return merged == known ? nil : merged
}

/// Two facts about one transaction made one.
///
/// What changes in a transaction's life (revocation, expiry, quantity) is taken from the fact that Apple signed later.
/// What never changes, and what a poorer format does not carry at all, is kept from whichever fact has it: an app
/// receipt knows no price and no upgrade, cuts moments to seconds, and must not erase what is known better.
private func fold(_ known: Transaction, _ fresh: Transaction) -> Transaction {
    let (later, earlier) = supersedes(fresh, known) ? (fresh, known) : (known, fresh)
    var folded = later
    folded.isUpgraded = later.isUpgraded || earlier.isUpgraded
    folded.originalID = later.originalID ?? earlier.originalID
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
    return folded
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

private func supersedes(_ fresh: Transaction, _ known: Transaction) -> Bool {
    let (freshTells, knownTells) = (tellsOfRefunds(fresh), tellsOfRefunds(known))
    if freshTells != knownTells { return freshTells }
    if fresh.signedAt != known.signedAt { return fresh.signedAt > known.signedAt }
    if (fresh.revocation == nil) != (known.revocation == nil) { return fresh.revocation != nil }
    return precedence(of: fresh) > precedence(of: known)
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
private func precedence(of fact: Transaction) -> (Int64, Int64, Int64, Int64, Int64, ProductID) {
    (
        fact.revocation?.at.milliseconds ?? .min, fact.expiresAt?.milliseconds ?? .min, Int64(fact.quantity),
        fact.purchasedAt.milliseconds, fact.originalID?.number ?? .min, fact.product
    )
}

/// Where a transaction stands in a decision: its outcome, and the row to write if there is one.
private struct Place {
    var outcome: Int
    var change: Int?
}

extension Decision {
    fileprivate mutating func addFirst(_ fresh: Transaction, _ recording: Recording, at now: Timestamp) -> Place {
        let recorded = RecordedTransaction(
            app: recording.app,
            realm: recording.realm,
            transaction: fresh,
            customer: recording.customer,
            order: recording.order,
            recordedAt: now
        )
        changes.append(.insert(recorded))
        return addOutcome(recorded, for: recording.customer, isNew: true, change: changes.count - 1)
    }

    fileprivate mutating func addOutcome(
        from known: RecordedTransaction,
        _ fresh: Transaction,
        _ recording: Recording
    ) -> Place {
        guard let merged = merge(known, fresh, recording) else { return addOutcome(known, for: recording.customer) }
        changes.append(.update(merged))
        return addOutcome(merged, for: recording.customer, change: changes.count - 1)
    }

    private mutating func addOutcome(
        _ recorded: RecordedTransaction,
        for customer: CustomerID?,
        isNew: Bool = false,
        change: Int? = nil
    ) -> Place {
        let standing = standing(of: recorded, for: customer)
        outcomes.append(TransactionOutcome(recorded: recorded, standing: standing, isNew: isNew))
        return Place(outcome: outcomes.count - 1, change: change)
    }

    /// The same transaction stood twice in one proof: one outcome and one row, with what counts of both.
    fileprivate mutating func repeatOutcome(at place: Place, _ fresh: Transaction, _ recording: Recording) -> Place {
        guard let merged = merge(outcomes[place.outcome].recorded, fresh, recording) else { return place }
        outcomes[place.outcome].recorded = merged
        outcomes[place.outcome].standing = standing(of: merged, for: recording.customer)
        guard let index = place.change else {
            changes.append(.update(merged))
            return Place(outcome: place.outcome, change: changes.count - 1)
        }
        if case .insert = changes[index] { changes[index] = .insert(merged) } else { changes[index] = .update(merged) }
        return place
    }
}
