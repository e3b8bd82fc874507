package import PurchaseModel

/// The name of a delivery for the shop: `dlv_2000000123456789.production`, and `.test` behind it for what only a test
/// authority signed. There is one for each transaction.
package struct DeliveryID: Hashable, Sendable, CustomStringConvertible {
    package let transaction: TransactionID
    package let realm: Realm

    package init(_ transaction: TransactionKey) {
        self.transaction = transaction.id
        realm = transaction.realm
    }

    /// `nil` unless the text is a name that we gave.
    package init?(_ text: String) {
        let prefix = Array("dlv_".utf8)
        guard text.utf8.starts(with: prefix) else { return nil }
        let parts = text.utf8.dropFirst(prefix.count)
            .split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard (2...3).contains(parts.count), let transaction = TransactionID(parts[0]),
            let environment = StoreEnvironment.known.first(where: { $0.rawValue == parts[1] }),
            parts.count == 2 || parts[2] == "test"
        else { return nil }
        self.transaction = transaction
        realm = Realm(environment: environment, isTestSigned: parts.count == 3)
    }

    package func key(app: AppID) -> TransactionKey { TransactionKey(app: app, realm: realm, id: transaction) }

    package var description: String { "dlv_\(transaction).\(realm.environment)\(realm.isTestSigned ? ".test" : "")" }
}
