public import Foundation

/// A purchase as the store hands it to the app, again and again until it is finished.
public struct StorePurchase: Sendable {
    /// The store's number of the transaction.
    public let id: String
    /// What the store has signed: StoreKit's `jwsRepresentation`.
    public let proof: String
    /// What the app gave the store for this account when it bought.
    public let accountToken: UUID?
    /// Tells the store that the app has delivered. Only the client calls it, once the server has recorded the purchase.
    public let finish: @Sendable () async -> Void

    /// A purchase of any store.
    ///
    /// - Parameters:
    ///   - id: the transaction's number.
    ///   - proof: what the store has signed.
    ///   - accountToken: what the app gave the store for this account.
    ///   - finish: tells the store that the app has delivered.
    public init(id: String, proof: String, accountToken: UUID?, finish: @escaping @Sendable () async -> Void) {
        self.id = id
        self.proof = proof
        self.accountToken = accountToken
        self.finish = finish
    }
}

/// Where purchases come from by themselves. Live: StoreKit. In a test: two closures.
public struct PurchaseSource: Sendable {
    /// Hands over what the store tells while the app runs, until the task is cancelled.
    public let listen: @Sendable (_ take: @Sendable (StorePurchase) async -> Void) async -> Void
    /// All purchases that are not finished.
    public let unfinished: @Sendable () async -> [StorePurchase]

    /// A source that is these two closures.
    ///
    /// - Parameters:
    ///   - listen: hands over what the store tells, until the task is cancelled.
    ///   - unfinished: all purchases that are not finished.
    public init(
        listen: @escaping @Sendable (_ take: @Sendable (StorePurchase) async -> Void) async -> Void,
        unfinished: @escaping @Sendable () async -> [StorePurchase]
    ) {
        self.listen = listen
        self.unfinished = unfinished
    }
}
