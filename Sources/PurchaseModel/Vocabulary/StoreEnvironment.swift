/// Which of Apple's stores a fact comes from. A wall stands between any two of them.
///
/// An open value: a name that we do not know stays what it is, and is accepted nowhere.
package struct StoreEnvironment: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// Lower case with underscores, as our API and CLI write it.
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let production = StoreEnvironment(rawValue: "production")
    package static let sandbox = StoreEnvironment(rawValue: "sandbox")
    /// StoreKit Testing in Xcode: signed on a developer's own machine.
    package static let xcode = StoreEnvironment(rawValue: "xcode")
    /// StoreKitTest in a unit test: the same, from a test bundle.
    package static let localTesting = StoreEnvironment(rawValue: "local_testing")

    package static let known: [StoreEnvironment] = [.production, .sandbox, .xcode, .localTesting]

    package var description: String { rawValue }
}

/// Where a fact may count: a store, and whether Apple or only a test authority vouches for it.
///
/// Part of a transaction's identity: the same number on two sides of a wall is two transactions, so that no test
/// signer can ever occupy, change or revoke what Apple signed.
package struct Realm: Hashable, Sendable {
    package let environment: StoreEnvironment
    /// True when the signature leads to a root that only this server trusts, or to Xcode's own certificate.
    package let isTestSigned: Bool

    package init(environment: StoreEnvironment, isTestSigned: Bool) {
        self.environment = environment
        self.isTestSigned = isTestSigned
    }

    /// Both sides of each store that we know, in a fixed order.
    package static let known = StoreEnvironment.known.flatMap { environment in
        [false, true].map { Realm(environment: environment, isTestSigned: $0) }
    }
}
