/// What makes a transaction the same one: the app, the side of the wall, Apple's number.
package struct TransactionKey: Hashable, Sendable {
    package let app: AppID
    package let realm: Realm
    package let id: TransactionID

    package init(app: AppID, realm: Realm, id: TransactionID) {
        self.app = app
        self.realm = realm
        self.id = id
    }
}

/// A transaction as the ledger holds it: the newest that Apple signed about it, and who brought it first.
package struct RecordedTransaction: Hashable, Sendable {
    package var app: AppID
    package var realm: Realm
    package var transaction: Transaction
    /// Who presented it first. `nil` when it came without a customer.
    package var customer: CustomerID?
    package var order: OrderID?
    /// When we first learned of it.
    package var recordedAt: Timestamp

    package init(
        app: AppID,
        realm: Realm,
        transaction: Transaction,
        customer: CustomerID?,
        order: OrderID?,
        recordedAt: Timestamp
    ) {
        self.app = app
        self.realm = realm
        self.transaction = transaction
        self.customer = customer
        self.order = order
        self.recordedAt = recordedAt
    }

    package var key: TransactionKey { TransactionKey(app: app, realm: realm, id: transaction.id) }
}

/// What the ledger already knows around some transactions. Read once for a whole batch; each decision is applied to
/// it, so that the next one in the batch sees it.
package struct Situation: Sendable {
    private var known: [TransactionKey: RecordedTransaction]

    package init(_ recorded: some Sequence<RecordedTransaction> = []) {
        known = Dictionary(recorded.map { ($0.key, $0) }, uniquingKeysWith: { _, last in last })
    }

    package subscript(key: TransactionKey) -> RecordedTransaction? { known[key] }

    package mutating func apply(_ decision: Decision) {
        for change in decision.changes { known[change.recorded.key] = change.recorded }
    }
}
