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
    // Where each id of this proof stands, for those that follow a first one.
    var places: [TransactionID: Place] = [:]
    for transaction in recording.transactions {
        let fresh = RecordedTransaction(
            app: recording.app,
            realm: recording.realm,
            transaction: transaction,
            customer: recording.customer,
            order: recording.order,
            recordedAt: now
        )
        if let place = places[transaction.id] {
            places[transaction.id] = decision.repeatOutcome(at: place, fresh)
        } else {
            places[transaction.id] = decision.addOutcome(from: known[transaction.id], to: fresh)
        }
    }
    return decision
}

/// How a recorded transaction stands for a customer.
package func standing(of recorded: RecordedTransaction, for customer: CustomerID?) -> Standing {
    if let owner = recorded.customer, let customer, owner != customer { return .ownedByAnother }
    if recorded.transaction.revocation != nil { return .revoked }
    return recorded.transaction.isUpgraded ? .upgraded : .recorded
}

private func change(from known: RecordedTransaction?, to fresh: RecordedTransaction) -> LedgerChange? {
    guard let known else { return .insert(fresh) }
    var merged = known
    // A repetition, by far the most common case, leaves the shared transaction alone.
    if fresh.transaction != known.transaction { merged.transaction = fold(known.transaction, fresh.transaction) }
    if merged.customer == nil { merged.customer = fresh.customer }
    // The owner may name the order later, but no second one.
    if merged.order == nil, merged.customer == fresh.customer { merged.order = fresh.order }
    return merged == known ? nil : .update(merged)
}

/// Two facts about one transaction made one.
///
/// What changes in a transaction's life (revocation, expiry, quantity) is taken from the fact that Apple signed later.
/// What never changes, and what a poorer format does not carry at all, is kept from whichever fact has it: an app
/// receipt knows no price and no upgrade, and must not erase them.
private func fold(_ known: Transaction, _ fresh: Transaction) -> Transaction {
    let (later, earlier) = supersedes(fresh, known) ? (fresh, known) : (known, fresh)
    var folded = later
    folded.isUpgraded = later.isUpgraded || earlier.isUpgraded
    folded.originalID = later.originalID ?? earlier.originalID
    folded.kind = later.kind ?? earlier.kind
    folded.originallyPurchasedAt = later.originallyPurchasedAt ?? earlier.originallyPurchasedAt
    folded.expiresAt = later.expiresAt ?? earlier.expiresAt
    folded.ownership = later.ownership ?? earlier.ownership
    folded.accountToken = later.accountToken ?? earlier.accountToken
    folded.offer = later.offer ?? earlier.offer
    folded.price = later.price ?? earlier.price
    folded.storefront = later.storefront ?? earlier.storefront
    folded.subscriptionGroup = later.subscriptionGroup ?? earlier.subscriptionGroup
    folded.webOrderLineItem = later.webOrderLineItem ?? earlier.webOrderLineItem
    folded.appTransaction = later.appTransaction ?? earlier.appTransaction
    return folded
}

private func supersedes(_ fresh: Transaction, _ known: Transaction) -> Bool {
    if fresh.signedAt != known.signedAt { return fresh.signedAt > known.signedAt }
    if (fresh.revocation == nil) != (known.revocation == nil) { return fresh.revocation != nil }
    return precedence(of: fresh) > precedence(of: known)
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
    fileprivate mutating func addOutcome(from known: RecordedTransaction?, to fresh: RecordedTransaction) -> Place {
        let change = change(from: known, to: fresh)
        let current = change?.recorded ?? known ?? fresh
        outcomes.append(
            TransactionOutcome(
                recorded: current,
                standing: standing(of: current, for: fresh.customer),
                isNew: known == nil
            )
        )
        if let change { changes.append(change) }
        return Place(outcome: outcomes.count - 1, change: change == nil ? nil : changes.count - 1)
    }

    /// The same transaction stood twice in one proof: one outcome and one row, with what counts of both.
    fileprivate mutating func repeatOutcome(at place: Place, _ fresh: RecordedTransaction) -> Place {
        guard let merged = change(from: outcomes[place.outcome].recorded, to: fresh)?.recorded else { return place }
        outcomes[place.outcome].recorded = merged
        outcomes[place.outcome].standing = standing(of: merged, for: fresh.customer)
        guard let index = place.change else {
            changes.append(.update(merged))
            return Place(outcome: place.outcome, change: changes.count - 1)
        }
        if case .insert = changes[index] { changes[index] = .insert(merged) } else { changes[index] = .update(merged) }
        return place
    }
}
