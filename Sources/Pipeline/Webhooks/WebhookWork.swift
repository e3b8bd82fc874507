package import PurchaseModel
package import Storage

/// A delivery that was attempted, with the endpoint as it was at the claim.
package struct AttemptedDelivery: Sendable {
    package let claimed: ClaimedDelivery
    package let endpoint: WebhookEndpoint
    package let outcome: DeliveryOutcome
    /// `nil` where nothing was sent.
    package let attempt: WebhookAttempt?

    package init(
        claimed: ClaimedDelivery,
        endpoint: WebhookEndpoint,
        outcome: DeliveryOutcome,
        attempt: WebhookAttempt?
    ) {
        self.claimed = claimed
        self.endpoint = endpoint
        self.outcome = outcome
        self.attempt = attempt
    }
}

/// The store's verbs that sending needs, each a read or a write of its own.
package protocol WebhookWork: Sendable {
    /// Enabled endpoints with something due, longest due first.
    func dueEndpoints(at now: Timestamp, limit: Int) async throws(StoreFailure) -> [DueEndpoint]

    /// Leases due deliveries; nil when there is no such endpoint, or it is disabled.
    func claim(
        _ endpoint: WebhookEndpointID,
        limit: Int,
        terms: LeaseTerms
    ) async throws(StoreFailure) -> DeliveryBatch?

    /// The holds that were renewed.
    func renew(_ holds: [DeliveryHold], terms: LeaseTerms) async throws(StoreFailure) -> [DeliveryHold]

    /// Says how attempts ended, and with it how far what their events deliver has come; all of them in one write.
    ///
    /// Where the endpoint has been given another address since the claim, or was enabled again, what failed is released, to be
    /// sent there, and nothing follows from it. Else, where the outcome is `DeliveryOutcome.gone`, the endpoint is
    /// disabled. An endpoint of these that is gone hears of nothing that the others lead to, whichever of them came first.
    ///
    /// - Returns: what became of each; `nil` when its lease was lost.
    func finish(_ attempted: [AttemptedDelivery], at now: Timestamp) async throws(StoreFailure) -> [DeliveryOutcome?]

    /// Disables an endpoint when `isHopeless` says so of the first failure since its last success.
    ///
    /// - Parameters:
    ///   - endpoint: which one.
    ///   - reason: why.
    ///   - now: the caller's time; `isHopeless` is told the store's, by which failures are noted. Somebody whose clock is
    ///     days ahead would find every endpoint hopeless.
    ///   - isHopeless: decides.
    /// - Returns: whether it was disabled now.
    /// - Throws: `StoreFailure`.
    func disable(
        _ endpoint: WebhookEndpointID,
        because reason: String,
        at now: Timestamp,
        if isHopeless: @escaping @Sendable (_ failingSince: Timestamp?, _ now: Timestamp) -> Bool
    ) async throws(StoreFailure) -> Bool
}
