package import PurchaseModel
package import Storage

/// The store's verbs that sending needs, each a read or a write of its own.
package protocol WebhookWork: Sendable {
    /// Enabled endpoints with something due, longest due first.
    func dueEndpoints(at now: Timestamp, limit: Int) async throws(StoreFailure) -> [WebhookEndpointID]

    /// Leases due deliveries; nil when there is no such endpoint, or it is disabled.
    func claim(
        _ endpoint: WebhookEndpointID,
        limit: Int,
        terms: LeaseTerms
    ) async throws(StoreFailure) -> DeliveryBatch?

    /// The holds that were renewed.
    func renew(_ holds: [DeliveryHold], terms: LeaseTerms) async throws(StoreFailure) -> [DeliveryHold]

    /// Says how an attempt ended, and with it how far what the event delivers has come.
    ///
    /// - Returns: false when the lease was lost.
    func finish(
        _ claimed: ClaimedDelivery,
        of endpoint: WebhookEndpoint,
        as outcome: DeliveryOutcome,
        attempt: WebhookAttempt?,
        at now: Timestamp
    ) async throws(StoreFailure) -> Bool

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
