package import PurchaseModel
package import Storage

/// What the sender tells its reporter. No body, secret or URL.
package enum WebhookEvent: Sendable {
    /// One request, with the answer's status or the word for why there was none.
    case attempted(
        endpoint: WebhookEndpointID,
        app: AppID,
        verdict: WebhookVerdict,
        status: Int?,
        failure: String?,
        duration: Duration
    )
    /// A delivery was given up; it can be replayed.
    case died(endpoint: WebhookEndpointID, event: EventID)
    /// An endpoint is sent nothing any more until somebody enables it.
    case disabled(endpoint: WebhookEndpointID, app: AppID, reason: String)
    /// After failures in a row an endpoint is left alone for a while.
    case paused(endpoint: WebhookEndpointID, app: AppID)
    /// Somebody else has the delivery by now; both may have sent it.
    case leaseLost(endpoint: WebhookEndpointID, event: EventID)
    /// A write about deliveries failed; they are sent again when their leases have run out.
    case storeFailed(StoreFailure)
}
