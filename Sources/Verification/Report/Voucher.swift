/// Whose certificate stands at the end of a chain.
package enum Voucher: Hashable, Sendable {
    /// One of Apple's roots, built in and compared byte by byte.
    case apple
    /// A root that the operator added: a simulator's, or that of tests.
    case addedRoot
    /// A certificate of StoreKit Testing in Xcode that the operator added.
    case xcode

    package var isTest: Bool { self != .apple }

    /// What is said of a proof about which there is nothing else to say.
    package var reason: Reason {
        switch self {
        case .apple: .verified
        case .addedRoot: .addedRoot
        case .xcode: .xcode
        }
    }
}
