/// A transaction as the ledger holds it: the newest that Apple signed about it, and who brought it first.
package struct RecordedTransaction: Hashable, Sendable {
    /// A row is large, and goes through many hands between the bytes and the disk: they share it.
    private var row: Row

    package init(
        app: AppID,
        realm: Realm,
        transaction: Transaction,
        customer: CustomerID?,
        order: OrderID?,
        recordedAt: Timestamp
    ) {
        row = Row(
            Fields(
                app: app,
                realm: realm,
                transaction: transaction,
                customer: customer,
                order: order,
                recordedAt: recordedAt
            )
        )
    }

    package var app: AppID { row.fields.app }

    package var realm: Realm { row.fields.realm }

    package var transaction: Transaction {
        get { row.fields.transaction }
        set { change { $0.transaction = newValue } }
    }

    /// Who presented it first. `nil` when it came without a customer.
    package var customer: CustomerID? {
        get { row.fields.customer }
        set { change { $0.customer = newValue } }
    }

    package var order: OrderID? {
        get { row.fields.order }
        set { change { $0.order = newValue } }
    }

    /// When we first learned of it.
    package var recordedAt: Timestamp { row.fields.recordedAt }

    package var key: TransactionKey { TransactionKey(app: app, realm: realm, id: id) }

    /// Where something may have been given for it: in its chain, or by itself when its chain was not known at first.
    package var chains: [ChainKey] { [chain, ChainKey(app: app, realm: realm, original: id)] }

    package var id: TransactionID { row.fields.transaction.id }

    // Asked of every row: a copy of the whole transaction, to look at one field of it, would cost more than the rule.
    var isRevoked: Bool { row.fields.transaction.takenBack != nil }
    var ownership: Ownership? { row.fields.transaction.ownership }
    var isUpgraded: Bool { row.fields.transaction.isUpgraded }
    var purchasedAt: Timestamp { row.fields.transaction.purchasedAt }
    var product: ProductID { row.fields.transaction.product }
    var isSubscriptionPeriod: Bool { row.fields.transaction.isSubscriptionPeriod }

    /// Whether this is what Apple said before.
    func says(_ transaction: Transaction) -> Bool { row.fields.transaction == transaction }

    private mutating func change(_ body: (inout Fields) -> Void) {
        var fields = row.fields
        body(&fields)
        row = Row(fields)
    }
}

extension RecordedTransaction {
    private struct Fields: Hashable, Sendable {
        let app: AppID
        let realm: Realm
        var transaction: Transaction
        var customer: CustomerID?
        var order: OrderID?
        let recordedAt: Timestamp
    }

    /// Never changed once it is made, so that sharing it is copying it.
    private final class Row: Hashable, Sendable {
        let fields: Fields

        init(_ fields: Fields) { self.fields = fields }

        static func == (left: Row, right: Row) -> Bool { left === right || left.fields == right.fields }

        func hash(into hasher: inout Hasher) { hasher.combine(fields) }
    }
}
