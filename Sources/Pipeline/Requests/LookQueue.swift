package import PurchaseModel
package import Storage

/// Where the jobs are put that ask Apple how a subscription stands of which somebody has told, and nobody has signed what.
package struct LookQueue: Sendable {
    package let ask: @Sendable (ChainKey, any JobVerbs) throws(StoreFailure) -> Void

    package init(ask: @escaping @Sendable (ChainKey, any JobVerbs) throws(StoreFailure) -> Void) {
        self.ask = ask
    }

    /// For what has no jobs: what is told waits for the look that is due anyway.
    package static let none = LookQueue { _, _ in }
}
