package import PurchaseModel

/// A name with its side of the wall, as our texts write it: `2000000123456789.sandbox`, and `.test` behind it for what
/// only a test authority signed. The name itself has no dot in it.
package enum SidedName {
    package static func text(_ name: String, _ realm: Realm) -> String {
        "\(name).\(realm.environment)\(realm.isTestSigned ? ".test" : "")"
    }

    /// `nil` unless the text ends as we write it.
    package static func read(_ text: some Sequence<UInt8>) -> (name: String, realm: Realm)? {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard (2...3).contains(parts.count),
            let environment = StoreEnvironment.known.first(where: { $0.rawValue == parts[1] }),
            parts.count == 2 || parts[2] == "test"
        else { return nil }
        return (parts[0], Realm(environment: environment, isTestSigned: parts.count == 3))
    }
}

/// A transaction's number with its side of the wall.
package enum SidedNumber {
    package static func text(_ id: TransactionID, _ realm: Realm) -> String { SidedName.text("\(id)", realm) }

    /// `nil` unless the text is one that we wrote.
    package static func read(_ text: some Sequence<UInt8>) -> (id: TransactionID, realm: Realm)? {
        guard let (name, realm) = SidedName.read(text), let id = TransactionID(name) else { return nil }
        return (id, realm)
    }
}
