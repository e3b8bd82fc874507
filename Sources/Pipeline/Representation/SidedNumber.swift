package import PurchaseModel

/// A transaction's number with its side of the wall, as our texts name it: `2000000123456789.sandbox`, and `.test` behind
/// it for what only a test authority signed.
package enum SidedNumber {
    package static func text(_ id: TransactionID, _ realm: Realm) -> String {
        "\(id).\(realm.environment)\(realm.isTestSigned ? ".test" : "")"
    }

    /// `nil` unless the text is one that we wrote.
    package static func read(_ text: some Sequence<UInt8>) -> (id: TransactionID, realm: Realm)? {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard (2...3).contains(parts.count), let id = TransactionID(parts[0]),
            let environment = StoreEnvironment.known.first(where: { $0.rawValue == parts[1] }),
            parts.count == 2 || parts[2] == "test"
        else { return nil }
        return (id, Realm(environment: environment, isTestSigned: parts.count == 3))
    }
}
