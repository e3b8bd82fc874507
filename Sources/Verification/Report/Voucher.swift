/// Who says that a fact is true: whose certificate stands at the end of a chain, or who answered when asked.
package enum Voucher: Hashable, Sendable {
    /// One of Apple's roots, built in and compared byte by byte.
    case apple
    /// A root that the operator added: a simulator's, or that of tests.
    case addedRoot
    /// A certificate of StoreKit Testing in Xcode that the operator added.
    case xcode
    /// Nobody signed it: one of Apple's own hosts answered so over TLS (``ServerAnswer``).
    case appleServer
    /// The same from any other host: a simulator's.
    case testServer

    package var isTest: Bool {
        switch self {
        case .apple, .appleServer: false
        case .addedRoot, .xcode, .testServer: true
        }
    }

    /// What is said of a proof about which there is nothing else to say.
    package var reason: Reason {
        switch self {
        case .apple: .verified
        case .addedRoot: .addedRoot
        case .xcode: .xcode
        case .appleServer: .answeredByApple
        case .testServer: .answeredByTestServer
        }
    }
}
