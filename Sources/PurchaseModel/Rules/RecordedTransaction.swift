/// A transaction as the ledger holds it: the newest that Apple signed about it, and who brought it first.
package struct RecordedTransaction: Hashable, Sendable {
    package var app: AppID
    package var realm: Realm
    package var transaction: Transaction {
        get { content.transaction }
        set { content = Content(newValue) }
    }
    /// Who presented it first. `nil` when it came without a customer.
    package var customer: CustomerID?
    package var order: OrderID?
    /// When we first learned of it.
    package var recordedAt: Timestamp

    /// A transaction is large, and a row goes through many hands between the bytes and the disk: they share it.
    private var content: Content

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
        self.customer = customer
        self.order = order
        self.recordedAt = recordedAt
        content = Content(transaction)
    }

    package var key: TransactionKey { TransactionKey(app: app, realm: realm, id: id) }

    package var id: TransactionID { content.transaction.id }
}

extension RecordedTransaction {
    /// Never changed once it is made, so that sharing it is copying it.
    private final class Content: Hashable, Sendable {
        let transaction: Transaction

        init(_ transaction: Transaction) { self.transaction = transaction }

        static func == (left: Content, right: Content) -> Bool {
            left === right || left.transaction == right.transaction
        }

        func hash(into hasher: inout Hasher) { hasher.combine(transaction) }
    }
}
