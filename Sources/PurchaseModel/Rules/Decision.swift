/// What follows from one proof: which rows to write, and what to tell who sent it.
package struct Decision: Hashable, Sendable {
    /// In the order of the proof; empty when everything was known already, and then nothing is committed.
    package var changes: [LedgerChange]
    /// One for each transaction of the proof, in its order, each id once.
    package var outcomes: [TransactionOutcome]

    package init(changes: [LedgerChange] = [], outcomes: [TransactionOutcome] = []) {
        self.changes = changes
        self.outcomes = outcomes
    }

    /// True when no transaction of the proof was seen for the first time.
    package var isRepetition: Bool { !outcomes.contains { $0.isNew } }
}

/// One row of the ledger to write.
package enum LedgerChange: Hashable, Sendable {
    /// Seen for the first time.
    case insert(RecordedTransaction)
    /// Known, and Apple has since signed something newer about it.
    case update(RecordedTransaction)

    package var recorded: RecordedTransaction {
        switch self {
        case .insert(let recorded), .update(let recorded): recorded
        }
    }
}

/// What was decided about one transaction.
package struct TransactionOutcome: Hashable, Sendable {
    package var recorded: RecordedTransaction
    package var standing: Standing
    package var isNew: Bool

    package init(recorded: RecordedTransaction, standing: Standing, isNew: Bool) {
        self.recorded = recorded
        self.standing = standing
        self.isNew = isNew
    }
}

/// How a transaction stands for the customer who presented it. Stable words of the API.
package enum Standing: String, Hashable, Sendable, CaseIterable {
    /// It counts for this customer.
    case recorded
    /// Apple has taken it back: it must not be delivered.
    case revoked
    /// An upgrade took its place: the upgrade is what to deliver.
    case upgraded
    /// Another customer presented it first: nothing is owed to this one.
    case ownedByAnother = "owned_by_another_customer"
}
