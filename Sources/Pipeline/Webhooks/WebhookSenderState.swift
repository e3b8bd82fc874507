import PurchaseModel
import Storage

extension WebhookSender {
    /// What is known of the endpoints and of what is under way; the lock is held briefly.
    struct State {
        var gates: [WebhookEndpointID: WebhookGate] = [:]
        var lanes: WebhookLanes
        /// What is leased, and when it was claimed or last renewed.
        var holds: [DeliveryHold: Timestamp] = [:]
        /// The store is to be asked who has something due: not after each call, for that is dear when much is due.
        var isAsking = true
        /// There was no room for somebody.
        var isCrowded = false
        /// There may be more for them than was claimed, and a call of theirs has ended.
        var hungry: Set<WebhookEndpointID> = []
        /// Something is due for them that cannot be claimed yet: not tried again before a call of theirs, or some time,
        /// has passed.
        var fruitless: Set<WebhookEndpointID> = []
        /// A claim of theirs is under way: two at once would be after the same deliveries.
        var claiming: Set<WebhookEndpointID> = []
        /// A test message to them is under way.
        var testing: [WebhookEndpointID: AppID] = [:]
        var isStopping = false
    }

    /// Room that was taken for calls to one endpoint.
    struct Place: Sendable {
        let endpoint: WebhookEndpointID
        let limit: Int
        let isProven: Bool
        /// The store said so; else it is only supposed.
        let isDue: Bool
    }
}

extension WebhookSender.State {
    /// As many endpoints are remembered; of more, those that nothing is known against are forgotten.
    private static let gatesMax = 10_000
    /// A claim is one write, which is not to take long.
    private static let claimMax = 100

    /// Takes room for calls to an endpoint; `nil` where it may be sent nothing now.
    ///
    /// - Parameters:
    ///   - endpoint: which one.
    ///   - due: what the store said of it, if it did.
    ///   - now: the moment.
    /// - Returns: the room.
    mutating func reserve(
        _ endpoint: WebhookEndpointID,
        due: DueEndpoint?,
        at now: Timestamp
    ) -> WebhookSender.Place? {
        // Before its room is asked for: who was mended is not left alone for what was.
        if let due { gates[endpoint]?.setVersion(due.version) }
        guard !fruitless.contains(endpoint) else { return nil }
        var gate = gates[endpoint] ?? WebhookGate()
        let isProven = gate.isProven
        let wanted = min(gate.room(at: now), Self.claimMax)
        let limit = min(wanted, lanes.room(isProven: isProven, isBusy: gate.isBusy))
        if limit < wanted { isCrowded = true }
        guard limit > 0 else { return nil }
        guard claiming.insert(endpoint).inserted else {
            hungry.insert(endpoint)
            return nil
        }
        gate.begin(limit)
        if gates.count >= Self.gatesMax { gates = gates.filter { !$0.value.isIdle } }
        gates[endpoint] = gate
        lanes.begin(limit, isProven: isProven)
        return WebhookSender.Place(endpoint: endpoint, limit: limit, isProven: isProven, isDue: due != nil)
    }

    /// Takes note of what a claim gave, and gives back the room that it has no use for.
    mutating func claimed(_ batch: DeliveryBatch?, for place: WebhookSender.Place, at now: Timestamp) {
        let deliveries = batch?.deliveries ?? []
        claiming.remove(place.endpoint)
        lanes.end(place.limit - deliveries.count, isProven: place.isProven)
        gates[place.endpoint]?.giveBack(place.limit - deliveries.count)
        if let endpoint = batch?.endpoint {
            gates[place.endpoint]?.setVersion(endpoint.version)
            gates[place.endpoint]?.setLimits(
                concurrencyMax: endpoint.concurrencyMax,
                perSecondMax: endpoint.perSecondMax,
                at: now
            )
        }
        if batch.map({ $0.heldBackCount > 0 }) ?? false {
            // Behind these others may be due. It ends: what is held back is not due any more.
            hungry.insert(place.endpoint)
        } else if deliveries.isEmpty, place.isDue {
            fruitless.insert(place.endpoint)
        }
        for delivery in deliveries { holds[delivery.hold] = now }
    }
}
