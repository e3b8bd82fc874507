package import PurchaseModel
package import Storage

/// Has one event sent to an endpoint once more, or for the first time.
package struct EventReplay: Sendable {
    /// Why it is not.
    package enum Fault: Sendable {
        /// The app has no such event.
        case unknown
        /// The endpoint takes no such events, and was never sent this one.
        case unwanted
        /// It is due, or on its way.
        case underWay
    }

    private let endpoint: WebhookEndpoint
    private let event: EventID
    private var id: WebhookDeliveryID { WebhookDeliveryID(endpoint: endpoint.id, event: event) }

    package init(of event: EventID, to endpoint: WebhookEndpoint) {
        (self.event, self.endpoint) = (event, endpoint)
    }

    /// What was sent there once may be sent there again; else the endpoint's wishes count, and keep test purchases out.
    ///
    /// - Throws: `StoreFailure`.
    package func fault(_ reader: any StoreReader, at now: Timestamp) throws(StoreFailure) -> Fault? {
        guard let placed = try reader.event(app: endpoint.app, id: event) else { return .unknown }
        guard let delivery = try reader.delivery(id) else {
            return endpoint.filter.includes(placed.event) ? nil : .unwanted
        }
        // When it is due was written by the ledger's clock.
        let now = try reader.storeTime(now)
        return delivery.state == .leased || delivery.state == .pending && delivery.dueAt <= now ? .underWay : nil
    }

    /// - Returns: why it is not sent, if it is not.
    /// - Throws: `StoreFailure`.
    package func carryOut(_ write: any StoreTransaction, at now: Timestamp) throws(StoreFailure) -> Fault? {
        if let fault = try fault(write, at: now) { return fault }
        return try write.replayDelivery(id, at: now) ? nil : .underWay
    }
}

extension WebhookReplay {
    /// Has many events sent to an endpoint once more, or for the first time: as many as one write takes. What it missed is offered
    /// from there on, and with the last of it no longer. Where the offer itself is taken, nothing comes that was delivered: an
    /// offer may span months in which nearly all was, and today's events would wait behind them.
    ///
    /// - Throws: `StoreFailure`.
    package func carryOut(
        to endpoint: WebhookEndpoint,
        after cursor: EventCursor,
        at now: Timestamp,
        in write: any StoreTransaction
    ) throws(StoreFailure) -> WebhookReplayStep {
        let missed = MissedEvents(of: endpoint).flatMap { $0.isSent(by: self, after: cursor) ? $0 : nil }
        let step = try write.replayDeliveries(
            missed.flatMap { $0.undelivered(ifAskedBy: self) } ?? self,
            endpoint: endpoint.id,
            after: cursor,
            limit: WebhookReplayStep.limitMax,
            at: now
        )
        guard missed != nil else { return step }
        if let next = step.next {
            try write.moveGap(of: endpoint.id, to: next)
        } else {
            var endpoint = endpoint
            endpoint.gap = nil
            _ = try write.updateEndpoint(endpoint)
        }
        return step
    }
}
