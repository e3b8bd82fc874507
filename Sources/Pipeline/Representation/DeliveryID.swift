package import PurchaseModel

/// The name of a delivery for the shop: `dlv_2000000123456789.production`, and `.test` behind it for what only a test
/// authority signed. There is one for each transaction.
package struct DeliveryID: Hashable, Sendable, CustomStringConvertible {
    private static let prefix = "dlv_"

    package let transaction: TransactionID
    package let realm: Realm

    package init(_ transaction: TransactionKey) {
        self.transaction = transaction.id
        realm = transaction.realm
    }

    /// `nil` unless the text is a name that we gave.
    package init?(_ text: String) {
        guard text.utf8.starts(with: DeliveryID.prefix.utf8),
            let (id, realm) = SidedNumber.read(text.utf8.dropFirst(DeliveryID.prefix.utf8.count))
        else { return nil }
        (transaction, self.realm) = (id, realm)
    }

    package func key(app: AppID) -> TransactionKey { TransactionKey(app: app, realm: realm, id: transaction) }

    package var description: String { DeliveryID.prefix + SidedNumber.text(transaction, realm) }
}
