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
    var situation = situation
    var place: [TransactionKey: Int] = [:]
    for transaction in recording.transactions {
        let fresh = RecordedTransaction(
            app: recording.app,
            realm: recording.realm,
            transaction: transaction,
            customer: recording.customer,
            order: recording.order,
            recordedAt: now
        )
        let known = situation[fresh.key]
        let change = change(from: known, to: fresh)
        if let change { situation.apply(Decision(changes: [change])) }
        let current = change?.recorded ?? known ?? fresh
        let outcome = TransactionOutcome(
            recorded: current,
            standing: standing(of: current, for: recording.customer),
            isNew: known == nil
        )
        if let index = place[fresh.key] {
            decision.repeatOutcome(at: index, outcome, change)
        } else {
            place[fresh.key] = decision.outcomes.count
            decision.outcomes.append(outcome)
            if let change { decision.changes.append(change) }
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
    merged.transaction = fold(known.transaction, fresh.transaction)
    if merged.customer == nil {
        merged.customer = fresh.customer
        merged.order = merged.order ?? fresh.order
    }
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
    return fresh.revocation != nil && known.revocation == nil
}

extension Decision {
    /// The same transaction stood twice in one proof: one outcome and one row, with what counts of both.
    fileprivate mutating func repeatOutcome(at index: Int, _ outcome: TransactionOutcome, _ change: LedgerChange?) {
        outcomes[index].recorded = outcome.recorded
        outcomes[index].standing = outcome.standing
        guard let change else { return }
        if let earlier = changes.firstIndex(where: { $0.recorded.key == change.recorded.key }) {
            changes[earlier] =
                if case .insert = changes[earlier] { .insert(change.recorded) } else { .update(change.recorded) }
        } else {
            changes.append(change)
        }
    }
}
