import PurchaseModel

// The work of the deliveries.
extension MemoryTransaction {
    func claimDeliveries(
        endpoint id: WebhookEndpointID,
        limit: Int,
        terms: LeaseTerms
    ) -> DeliveryBatch? {
        guard let endpoint = endpoint(id), endpoint.isEnabled else { return nil }
        let now = terms.now
        let heldBackCount = endpoint.ordersPerCustomer ? holdBack(endpoint: id, at: now) : 0
        let underWay = deliveries(of: id).count { $0.row.state == .leased && $0.row.dueAt > now }
        let limit = min(min(max(limit, 1), DeliveryBatch.limitMax), endpoint.concurrencyMax - underWay)
        let open = deliveries(of: id)
        let due = [DeliveryState.leased, .pending].flatMap { state in
            self.due(open, state, at: now).prefix(endpoint.ordersPerCustomer ? DeliveryBatch.lookedAtMax : .max)
        }
        let free = due.filter { !endpoint.ordersPerCustomer || !isBlocked($0, among: open) }
        let claimed = free.prefix(max(limit, 0)).sorted { $0.row.cursor < $1.row.cursor }.compactMap { known in
            claim(known, of: endpoint, terms)
        }
        return DeliveryBatch(endpoint: endpoint, deliveries: claimed, heldBackCount: heldBackCount)
    }

    func renewDeliveries(_ holds: [DeliveryHold], terms: LeaseTerms) -> [DeliveryHold] {
        holds.filter { hold in
            guard var known = held(hold) else { return false }
            known.row.dueAt = terms.until
            known.row.lease?.until = known.row.dueAt
            put(known)
            return true
        }
    }

    func finishDeliveries(_ finished: [FinishedDelivery], at now: Timestamp) throws(StoreFailure) -> [Bool] {
        guard finished.allSatisfy(\.isStorable) else { throw .unstorable }
        return finished.map { finish($0, at: now) }
    }

    private func finish(_ finished: FinishedDelivery, at now: Timestamp) -> Bool {
        let hold = finished.hold
        guard var endpoint = ledger.outbox.endpoints[hold.id.endpoint] else { return false }
        if let attempt = finished.attempt { log(attempt, hold) }
        guard var known = held(hold) else { return false }
        known.row.lease = nil
        known.row.lastStatus = finished.attempt?.status ?? known.row.lastStatus
        switch finished.outcome {
        case .delivered:
            known.end(.delivered, nil, at: now)
            endpoint.failingSince = nil
        case .again(let delay):
            known.row.state = .pending
            known.row.dueAt = now.advanced(by: delay)
            endpoint.failingSince = endpoint.failingSince ?? now
        case .dead(let reason):
            known.end(.dead, reason, at: now)
            endpoint.failingSince = endpoint.failingSince ?? now
        case .released:
            known.row.state = .pending
            known.row.dueAt = now
            known.row.attempts -= 1
        }
        put(known)
        put(endpoint, at: \.outbox.endpoints[endpoint.row.id])
        if !known.isOpen, endpoint.row.ordersPerCustomer { release(after: known, at: now) }
        return true
    }

    func buryDeliveries(
        endpoint: WebhookEndpointID,
        because reason: String,
        at now: Timestamp,
        limit: Int
    ) throws(StoreFailure) -> [PlacedEvent] {
        guard StorableText.isWord(reason) else { throw .unstorable }
        let open = deliveries(of: endpoint).filter(\.isOpen).sorted { left, right in
            (left.row.state.rawValue, left.row.dueAt, left.row.cursor)
                < (right.row.state.rawValue, right.row.dueAt, right.row.cursor)
        }
        let buried = open.prefix(max(limit, 0))
        for var known in buried {
            known.end(.dead, reason, at: now)
            put(known)
        }
        guard let app = ledger.outbox.endpoints[endpoint]?.row.app else { return [] }
        return buried.compactMap { placedEvent(app: app, at: $0.row.cursor.position) }
    }

    func hastenDeliveries(
        by lead: ClockLead,
        after place: WalkPlace?,
        limit: Int
    ) -> (changed: Int, next: WalkPlace?) {
        let open = ledger.outbox.deliveries.values.filter(\.isOpen).map { (hasteKey(of: $0), $0) }
        let page = Self.page(open, after: place, limit)
        let changed = page.rows.count { delivery in
            let moved = lead.moved(delivery.row.dueAt, isLeased: delivery.row.state == .leased)
            guard let moved else { return false }
            var known = delivery
            known.row.dueAt = moved
            known.row.lease?.until = moved
            put(known)
            return true
        }
        return (changed, page.next)
    }

    private func hasteKey(of delivery: MemoryOutbox.Delivery) -> [WalkPlace.Part] {
        let endpoint = ledger.outbox.endpoints[delivery.row.id.endpoint]?.number ?? 0
        let (state, position) = (delivery.row.state.rawValue, delivery.row.cursor.position)
        return [.integer(Int64(endpoint)), .integer(state), .integer(position)]
    }

    func replayDelivery(_ id: WebhookDeliveryID, at now: Timestamp) -> Bool {
        guard let endpoint = endpoint(id.endpoint), let event = event(app: endpoint.app, id: id.event) else {
            return false
        }
        return replay(event, to: endpoint.id, at: now)
    }

    func replayDeliveries(
        _ replay: WebhookReplay,
        endpoint id: WebhookEndpointID,
        after cursor: EventCursor,
        limit: Int,
        at now: Timestamp
    ) -> WebhookReplayStep {
        guard let endpoint = endpoint(id) else { return WebhookReplayStep(replayed: 0, next: nil) }
        let limit = min(max(limit, 1), WebhookReplayStep.limitMax)
        switch replay {
        case .dead:
            let dead = deliveries(of: id).filter { $0.row.state == .dead && $0.row.cursor > cursor }
            let step = dead.prefix(limit)
            for var known in step {
                known.restart(at: now)
                put(known)
            }
            return WebhookReplayStep(
                replayed: step.count,
                next: dead.count > limit ? step.last?.row.cursor : nil
            )
        case .learned(let from, let to), .undelivered(let from, let to):
            let last = ledger.outbox.lastPositions[endpoint.app] ?? 0
            guard cursor.position < last else { return WebhookReplayStep(replayed: 0, next: nil) }
            let first =
                cursor != .start
                ? cursor.position
                : WebhookReplay.beginning(from: from, last: last) { position in
                    placedEvent(app: endpoint.app, at: position)?.event.learnedAt
                }
            let end = min(first + Int64(limit), last)
            let events = (first..<end).compactMap { placedEvent(app: endpoint.app, at: $0 + 1) }
            let isAgain = replay.includesDelivered
            let replayed = events.count { placed in
                placed.event.learnedAt >= from && placed.event.learnedAt < to
                    && endpoint.filter.includes(placed.event) && self.replay(placed, to: id, at: now, isAgain: isAgain)
            }
            return WebhookReplayStep(replayed: replayed, next: end < last ? EventCursor(position: end) : nil)
        }
    }

    private func replay(
        _ placed: PlacedEvent,
        to endpoint: WebhookEndpointID,
        at now: Timestamp,
        isAgain: Bool = true
    ) -> Bool {
        let place = MemoryOutbox.DeliveryPlace(endpoint: endpoint, position: placed.cursor.position)
        guard var known = ledger.outbox.deliveries[place] else {
            addDelivery(of: placed, to: endpoint, due: now)
            return true
        }
        guard isAgain || known.row.state != .delivered else { return false }
        // What waits for its next turn is due now.
        guard !known.isOpen || known.row.state == .pending && known.row.dueAt > now else { return false }
        known.restart(at: now)
        put(known)
        return true
    }

    /// Has what waits for an earlier event be looked at later, so that it does not stand before what need not wait.
    private func holdBack(endpoint: WebhookEndpointID, at now: Timestamp) -> Int {
        let open = deliveries(of: endpoint)
        let (shortest, longest) = DeliveryBatch.holdBack
        let (first, last) = (now.advanced(by: shortest), now.advanced(by: longest))
        var count = 0
        for state in [DeliveryState.leased, .pending] {
            for var known in due(open, state, at: now).prefix(DeliveryBatch.lookedAtMax) {
                guard let head = blocker(of: known, among: open) else { continue }
                known.row.state = .pending
                known.row.lease = nil
                known.row.dueAt = known.row.attempts > 0 ? first : max(first, min(last, head.row.dueAt))
                put(known)
                count += 1
            }
        }
        return count
    }

    private func due(
        _ open: [MemoryOutbox.Delivery],
        _ state: DeliveryState,
        at now: Timestamp
    ) -> [MemoryOutbox.Delivery] {
        open.filter { $0.row.state == state && $0.row.dueAt <= now }
            .sorted { ($0.row.dueAt, $0.row.cursor) < ($1.row.dueAt, $1.row.cursor) }
    }

    private func isBlocked(_ known: MemoryOutbox.Delivery, among open: [MemoryOutbox.Delivery]) -> Bool {
        blocker(of: known, among: open) != nil
    }

    /// Its customer's first one, if that is another.
    private func blocker(
        of known: MemoryOutbox.Delivery,
        among open: [MemoryOutbox.Delivery]
    ) -> MemoryOutbox.Delivery? {
        guard known.customer != nil else { return nil }
        return open.first { other in
            other.isOpen && other.realm == known.realm && other.customer == known.customer
                && other.row.cursor < known.row.cursor
        }
    }

    private func claim(
        _ known: MemoryOutbox.Delivery,
        of endpoint: WebhookEndpoint,
        _ terms: LeaseTerms
    ) -> ClaimedDelivery? {
        guard let placed = placedEvent(app: endpoint.app, at: known.row.cursor.position) else { return nil }
        var known = known
        known.token += 1
        known.row.attempts += 1
        known.row.state = .leased
        known.row.dueAt = terms.until
        known.row.lease = Lease(owner: terms.owner, until: terms.until, token: known.token)
        put(known)
        let hold = DeliveryHold(
            id: known.row.id,
            cursor: known.row.cursor,
            owner: terms.owner,
            token: known.token
        )
        return ClaimedDelivery(delivery: known.row, event: placed.event, hold: hold)
    }

    private func release(after ended: MemoryOutbox.Delivery, at now: Timestamp) {
        guard let customer = ended.customer else { return }
        let next = deliveries(of: ended.row.id.endpoint).first { other in
            other.isOpen && other.realm == ended.realm && other.customer == customer
        }
        guard var next, next.row.state == .pending, next.row.attempts == 0, next.row.dueAt > now else { return }
        next.row.dueAt = now
        put(next)
    }

    private func held(_ hold: DeliveryHold) -> MemoryOutbox.Delivery? {
        let place = MemoryOutbox.DeliveryPlace(endpoint: hold.id.endpoint, position: hold.cursor.position)
        guard let known = ledger.outbox.deliveries[place], let lease = known.row.lease,
            lease.owner == hold.owner, lease.token == hold.token
        else { return nil }
        return known
    }

    private func log(_ attempt: WebhookAttempt, _ hold: DeliveryHold) {
        let place = MemoryOutbox.DeliveryPlace(endpoint: hold.id.endpoint, position: hold.cursor.position)
        let known = ledger.outbox.attempts[place] ?? []
        if known.contains(where: { $0.number == attempt.number }) { return }
        put(known + [attempt], at: \.outbox.attempts[place])
    }

    private func put(_ known: MemoryOutbox.Delivery) {
        let place = MemoryOutbox.DeliveryPlace(
            endpoint: known.row.id.endpoint,
            position: known.row.cursor.position
        )
        put(known, at: \.outbox.deliveries[place])
    }
}

extension MemoryOutbox.Delivery {
    fileprivate mutating func end(_ state: DeliveryState, _ reason: String?, at now: Timestamp) {
        row.state = state
        row.lease = nil
        row.deadReason = reason
        row.endedAt = now
    }

    fileprivate mutating func restart(at now: Timestamp) {
        row.state = .pending
        row.attempts = 0
        row.dueAt = now
        row.deadReason = nil
        row.endedAt = nil
    }
}
