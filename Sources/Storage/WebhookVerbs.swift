package import PurchaseModel

/// The questions about webhooks.
package protocol WebhookReader {
    /// `nil` when there is none, or it was deleted.
    func endpoint(_ id: WebhookEndpointID) throws(StoreFailure) -> WebhookEndpoint?

    /// An app's endpoints, in the order in which they were made.
    func endpoints(app: AppID) throws(StoreFailure) -> [WebhookEndpoint]

    /// Enabled endpoints with something due, longest due first; the limit is brought between 1 and
    /// ``DueEndpoint/limitMax``.
    ///
    /// What is due may still have to wait for its customer's earlier events: a claim may give nothing.
    func dueEndpoints(at now: Timestamp, limit: Int) throws(StoreFailure) -> [DueEndpoint]

    /// When the next delivery of an enabled endpoint becomes due, or did; `nil` when none waits.
    func nextDeliveryDue() throws(StoreFailure) -> Timestamp?

    func delivery(_ id: WebhookDeliveryID) throws(StoreFailure) -> WebhookDelivery?

    /// An endpoint's deliveries before a place in the feed, newest first.
    ///
    /// - Parameters:
    ///   - endpoint: whose.
    ///   - state: only these; `nil` for all. Anything but ``DeliveryState/dead`` walks along all.
    ///   - cursor: where to go on; `nil` for the newest.
    ///   - limit: brought between 1 and ``WebhookDeliveryPage/limitMax``.
    /// - Returns: none for an endpoint that there is not.
    /// - Throws: ``StoreFailure``.
    func deliveries(
        endpoint: WebhookEndpointID,
        state: DeliveryState?,
        before cursor: EventCursor?,
        limit: Int
    ) throws(StoreFailure) -> WebhookDeliveryPage

    /// A delivery's last attempts, newest first; the limit is brought between 1 and
    /// ``WebhookAttempt/listedMax``.
    func attempts(of id: WebhookDeliveryID, limit: Int) throws(StoreFailure) -> [WebhookAttempt]

    /// Deleted endpoints that were still to be sent something, in the order in which they were made; the limit is brought
    /// between 1 and ``DueEndpoint/limitMax``.
    func endpointsToBury(limit: Int) throws(StoreFailure) -> [WebhookEndpointID]

    /// Which of some events of an app an endpoint is still to be sent, or is just being sent. A disabled one may be enabled
    /// again; a deleted one is sent nothing.
    func awaitedEvents(app: AppID, among places: [EventCursor]) throws(StoreFailure) -> Set<EventCursor>

    /// `nil` when there is no such endpoint. Counts no further than a limit, and looks at no more deliveries of one state
    /// than twice as many. Where there are more, the oldest is the oldest of those that are due first and of those that are
    /// due last: what has failed most often waits longest for its turn.
    func webhookFigures(_ id: WebhookEndpointID, countingTo limit: Int) throws(StoreFailure) -> WebhookFigures?
}

extension WebhookReader {
    /// All that there is of an endpoint. Looks at every delivery that is not made.
    package func webhookFigures(_ id: WebhookEndpointID) throws(StoreFailure) -> WebhookFigures? {
        try webhookFigures(id, countingTo: .max)
    }
}

/// Endpoints, and the work of their deliveries. Who claims sends, and says how it went.
package protocol WebhookVerbs: WebhookReader {
    /// An app's endpoints, in the order in which they were made. Another write that asks so waits until this one has ended,
    /// or is made again: whoever adds an endpoint by what it finds here does so alone.
    func holdEndpoints(app: AppID) throws(StoreFailure) -> [WebhookEndpoint]

    /// Keeps a new endpoint; its version is 1.
    ///
    /// - Throws: ``StoreFailure/conflict`` when the id was ever given. ``StoreFailure/unstorable``.
    func createEndpoint(_ endpoint: WebhookEndpoint) throws(StoreFailure)

    /// Writes all of an endpoint but its app and when it was made. One that is enabled again, or has another address, has
    /// not failed yet. How far it has been sent what it missed goes on, and not back: see ``moveGap(of:to:)``.
    ///
    /// - Parameter endpoint: its version is the one that the change was made from.
    /// - Returns: the new version.
    /// - Throws: ``StoreFailure/conflict`` when there is no such endpoint of this version.
    ///   ``StoreFailure/unstorable``.
    func updateEndpoint(_ endpoint: WebhookEndpoint) throws(StoreFailure) -> Int64

    /// Notes up to where an endpoint was sent what it missed; nothing where that was noted, or it has missed nothing. Its version
    /// stays: nobody has changed it.
    func moveGap(of endpoint: WebhookEndpointID, to place: EventCursor) throws(StoreFailure)

    /// Forgets an endpoint's secrets, and lists it no more. Its log stays. What it was still to be sent is for
    /// ``buryDeliveries(endpoint:because:at:limit:)``; ``WebhookReader/endpointsToBury(limit:)`` tells of it until then.
    ///
    /// - Throws: ``StoreFailure/conflict`` when there is no such endpoint of this version.
    func deleteEndpoint(_ id: WebhookEndpointID, version: Int64) throws(StoreFailure)

    /// Gives up what an endpoint was still to be sent: first what waits, longest due first, then what is leased. Also a
    /// deleted endpoint's.
    ///
    /// - Parameters:
    ///   - endpoint: whose.
    ///   - reason: the word for why.
    ///   - now: when.
    ///   - limit: how many at once, so that no write takes long.
    /// - Returns: their events, in no order; fewer than the limit when none are left.
    /// - Throws: ``StoreFailure/unstorable`` for a reason that is no word.
    func buryDeliveries(
        endpoint: WebhookEndpointID,
        because reason: String,
        at now: Timestamp,
        limit: Int
    ) throws(StoreFailure) -> [PlacedEvent]

    /// Leases due deliveries of an endpoint.
    ///
    /// No more than its ``WebhookEndpoint/concurrencyMax`` allows beside those that are leased already; nodes that claim
    /// in the same instant may exceed it by what each claims. Where the endpoint orders per customer, none is given
    /// while an earlier event of the same realm and customer is neither delivered nor dead: what waits for one is due later,
    /// ten minutes at most, or when that ends. Events without a customer are in no order.
    ///
    /// - Parameters:
    ///   - endpoint: whose.
    ///   - limit: brought between 1 and ``DeliveryBatch/limitMax``.
    ///   - terms: who claims, when and for how long.
    /// - Returns: `nil` when there is no such endpoint, or it is disabled.
    /// - Throws: ``StoreFailure``.
    func claimDeliveries(
        endpoint: WebhookEndpointID,
        limit: Int,
        terms: LeaseTerms
    ) throws(StoreFailure) -> DeliveryBatch?

    /// Has leases end later, by the terms.
    ///
    /// - Returns: those that were renewed; the others are lost, and must not be sent any more.
    func renewDeliveries(_ holds: [DeliveryHold], terms: LeaseTerms) throws(StoreFailure) -> [DeliveryHold]

    /// Says how deliveries went; what comes of it is the same as if each were said alone, in their order.
    ///
    /// - Parameters:
    ///   - finished: of any endpoints.
    ///   - now: when; a shared store takes its database's time.
    /// - Returns: for each, false when its lease is another's by now, or nobody's; then only the attempt is kept.
    /// - Throws: ``StoreFailure/unstorable`` for any of them, before anything is written.
    func finishDeliveries(_ finished: [FinishedDelivery], at now: Timestamp) throws(StoreFailure) -> [Bool]

    /// Has one event delivered again, or for the first time; one that waits for its next turn is due now. Its attempts are
    /// counted anew.
    ///
    /// - Returns: false when there is no such event or endpoint, or it is due or on its way already.
    func replayDelivery(_ id: WebhookDeliveryID, at now: Timestamp) throws(StoreFailure) -> Bool

    /// Has many events delivered again, step by step. Those on their way already stay as they are.
    ///
    /// - Parameters:
    ///   - replay: which ones.
    ///   - endpoint: to whom.
    ///   - cursor: where the last step ended; ``EventCursor/start`` at first.
    ///   - limit: how many events to look at, brought between 1 and ``WebhookReplayStep/limitMax``.
    ///   - now: when they are due.
    /// - Returns: how many, and where to go on.
    /// - Throws: ``StoreFailure``.
    func replayDeliveries(
        _ replay: WebhookReplay,
        endpoint: WebhookEndpointID,
        after cursor: EventCursor,
        limit: Int,
        at now: Timestamp
    ) throws(StoreFailure) -> WebhookReplayStep
}
