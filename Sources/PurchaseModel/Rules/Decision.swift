/// What follows from one proof, or from one request of the shop: which rows to write, and what to tell who asked.
package struct Decision: Hashable, Sendable {
    /// In the order of the proof; empty when everything was known already.
    package var changes: [LedgerChange]
    /// One for each transaction of the proof, in its order, each id once.
    package var outcomes: [TransactionOutcome]
    /// What was known before anybody had shown it, and is shown now by whose it is: it was given for this proof, which counts
    /// as its first.
    package var shown: Set<TransactionKey> = []
    package var fulfilments: [RowChange<Fulfilment>] = []
    package var owners: [RowChange<Owner>] = []
    package var vacancies: [RowChange<Vacancy>] = []
    package var tokens: [RowChange<TokenOwner>] = []
    package var orders: [RowChange<Order>] = []
    package var subscriptions: [RowChange<RecordedSubscription>] = []
    /// As they are after the ``postings``, each once.
    package var wallets: [Wallet] = []
    package var postings: [Posting] = []
    package var consumptions: [RowChange<ConsumptionRequest>] = []
    /// What Apple declines to refund, and since when: kept with its notifications.
    package var refundsDeclined: [TransactionKey: Timestamp] = [:]
    package var consents: [RowChange<Consent>] = []
    package var grantedEntitlements: [RowChange<GrantedEntitlement>] = []
    package var audit: [AuditEntry] = []
    /// In the order of each stream.
    package var events: [LedgerEvent] = []
    /// By how much it changes the figures over time.
    package var figures = FigureSums()

    package init(changes: [LedgerChange] = [], outcomes: [TransactionOutcome] = []) {
        self.changes = changes
        self.outcomes = outcomes
    }

    /// True when the proof told neither of a transaction that was unknown nor whose it is.
    package var isRepetition: Bool { owners.isEmpty && !outcomes.contains { $0.isNew } }

    /// Without anything to write there is no commit.
    package var isEmpty: Bool {
        changes.isEmpty && fulfilments.isEmpty && owners.isEmpty && vacancies.isEmpty && tokens.isEmpty
            && orders.isEmpty && subscriptions.isEmpty && wallets.isEmpty && events.isEmpty && consumptions.isEmpty
            && consents.isEmpty && grantedEntitlements.isEmpty
    }

    /// What is left of it once it is written: what to tell who asked. A decision on a long receipt is many times as large as
    /// the receipt.
    package var told: Decision {
        var told = Decision(outcomes: outcomes)
        told.owners = owners
        return told
    }

    /// What was bought, and how subscriptions stand by it: where one proof tells the one and another the other.
    package var parts: (bought: Decision, standing: Decision) {
        var (bought, standing) = (self, Decision())
        standing.subscriptions = subscriptions
        bought.subscriptions = []
        return (bought, standing)
    }
}

/// One row of the ledger to write.
package enum LedgerChange: Hashable, Sendable {
    /// Seen for the first time.
    case insert(RecordedTransaction)
    /// Known, and Apple has since signed something newer about it.
    case update(RecordedTransaction)
    /// The same, by a proof of a kind that tells less than one before it did: that one proves the rest.
    case updateByLess(RecordedTransaction)
    /// Known, and proved by what it was: somebody has said whose it is, or for which order, or an older fact has added what
    /// the newer one left out.
    case amend(RecordedTransaction)
    /// Known, and an older fact of a kind that tells everything has added to it: it proves what the newest leaves out.
    case amendByMore(RecordedTransaction)

    package var recorded: RecordedTransaction {
        switch self {
        case .insert(let recorded), .update(let recorded), .updateByLess(let recorded), .amend(let recorded),
            .amendByMore(let recorded):
            recorded
        }
    }
}

/// One row of another table to write.
///
/// An update is of the row with the version before: when it is another one by now, somebody else was faster, and all has
/// to be decided again.
package enum RowChange<Row: Hashable & Sendable>: Hashable, Sendable {
    case insert(Row)
    case update(Row)

    package var row: Row {
        switch self {
        case .insert(let row), .update(let row): row
        }
    }

    /// The same row, changed once more before it was written.
    func replaced(by row: Row) -> RowChange {
        switch self {
        case .insert: .insert(row)
        case .update: .update(row)
        }
    }
}

/// A row that counts its changes.
protocol VersionedRow: Hashable, Sendable {
    var version: Int64 { get set }
}

extension Fulfilment: VersionedRow {}
extension Owner: VersionedRow {}
extension Vacancy: VersionedRow {}
extension TokenOwner: VersionedRow {}
extension Order: VersionedRow {}
extension RecordedSubscription: VersionedRow {}
extension ConsumptionRequest: VersionedRow {}
extension Consent: VersionedRow {}
extension GrantedEntitlement: VersionedRow {}

/// What was decided about one transaction.
package struct TransactionOutcome: Hashable, Sendable {
    package var recorded: RecordedTransaction
    package var standing: Standing
    package var isNew: Bool
    /// `nil` for who has no right to know.
    package var fulfilment: Fulfilment?

    package init(recorded: RecordedTransaction, standing: Standing, isNew: Bool, fulfilment: Fulfilment? = nil) {
        self.recorded = recorded
        self.standing = standing
        self.isNew = isNew
        self.fulfilment = fulfilment
    }
}

/// How a transaction stands for the customer who presented it. Stable words of the API.
package enum Standing: String, Hashable, Sendable, CaseIterable {
    /// It counts for this customer.
    case recorded
    /// Apple has taken it back: it must not be delivered.
    case revoked
    /// Apple has taken a part back: the rest is to be delivered.
    case partlyRevoked = "partly_revoked"
    /// An upgrade took its place: the upgrade is what to deliver.
    case upgraded
    /// Another customer presented it first, or this one has only named it: nothing is owed to her.
    case ownedByAnother = "owned_by_another_customer"
}
