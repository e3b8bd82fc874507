package import PurchaseModel
package import Storage

/// Where the jobs are put that ask Apple what it took back of a customer's purchases.
package struct RefundQueue: Sendable {
    /// By any transaction of the customer.
    package let ask: @Sendable (TransactionKey, any JobVerbs) throws(StoreFailure) -> Void

    package init(ask: @escaping @Sendable (TransactionKey, any JobVerbs) throws(StoreFailure) -> Void) {
        self.ask = ask
    }

    /// For what has no jobs: what only Apple knows stays unknown.
    package static let none = RefundQueue { _, _ in }
}
