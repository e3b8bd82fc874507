package import PurchaseModel

/// What names a delivery: there is one for an event and an endpoint.
package struct WebhookDeliveryID: Hashable, Sendable {
    package var endpoint: WebhookEndpointID
    package var event: EventID

    package init(endpoint: WebhookEndpointID, event: EventID) {
        self.endpoint = endpoint
        self.event = event
    }
}

/// How far a delivery is. The numbers are in files that exist: one is never given another meaning.
package enum DeliveryState: Int64, Hashable, Sendable, CaseIterable {
    case pending = 0
    case leased = 1
    case delivered = 2
    /// Given up, with a reason; it can be replayed.
    case dead = 3
}

/// An event on its way to an endpoint.
package struct WebhookDelivery: Hashable, Sendable {
    package var id: WebhookDeliveryID
    /// The event's place in the feed.
    package var cursor: EventCursor
    package var state: DeliveryState
    /// How often it was claimed since it was made, or last replayed. Counted at the claim: a crash does not undo it.
    package var attempts: Int
    /// When it may be claimed; while it is leased, until when. Means nothing once it has ended.
    package var dueAt: Timestamp
    /// While it is leased.
    package var lease: Lease?
    /// The HTTP status of the last answer.
    package var lastStatus: Int?
    /// The word for why it is dead.
    package var deadReason: String?
    /// When it was delivered or died.
    package var endedAt: Timestamp?

    package init(
        id: WebhookDeliveryID,
        cursor: EventCursor,
        state: DeliveryState,
        attempts: Int,
        dueAt: Timestamp,
        lease: Lease?,
        lastStatus: Int?,
        deadReason: String?,
        endedAt: Timestamp?
    ) {
        self.id = id
        self.cursor = cursor
        self.state = state
        self.attempts = attempts
        self.dueAt = dueAt
        self.lease = lease
        self.lastStatus = lastStatus
        self.deadReason = deadReason
        self.endedAt = endedAt
    }
}

/// What a lease's holder shows to renew it or to say how it went.
package struct DeliveryHold: Hashable, Sendable {
    package var id: WebhookDeliveryID
    /// The event's place in the feed.
    package var cursor: EventCursor
    package var owner: LeaseOwner
    package var token: Int64

    package init(id: WebhookDeliveryID, cursor: EventCursor, owner: LeaseOwner, token: Int64) {
        self.id = id
        self.cursor = cursor
        self.owner = owner
        self.token = token
    }
}

/// A delivery to make now.
package struct ClaimedDelivery: Hashable, Sendable {
    package var delivery: WebhookDelivery
    package var event: EventRow
    package var hold: DeliveryHold

    package init(delivery: WebhookDelivery, event: EventRow, hold: DeliveryHold) {
        self.delivery = delivery
        self.event = event
        self.hold = hold
    }
}

/// What was claimed for an endpoint, and the endpoint as it was at the claim.
package struct DeliveryBatch: Hashable, Sendable {
    /// The most that one claim gives.
    package static let limitMax = 100
    /// How many due ones a claim looks at where the endpoint orders per customer.
    static let lookedAtMax = 400
    /// For how long a delivery that has to wait for an earlier one is not looked at: until its customer's first one is due, within
    /// these bounds. The earlier one's end has it looked at before, unless that was written in the same instant: what can end
    /// then is leased, and due within the shorter one. That one also has to do for what was tried, which no end hastens.
    static let holdBack = (shortest: Duration.seconds(30), longest: Duration.seconds(600))

    package var endpoint: WebhookEndpoint
    /// In the order of the feed. How long it was due decides what is claimed, not where it stands here.
    package var deliveries: [ClaimedDelivery]
    /// How many were due, and are not any more, as they have to wait for earlier ones: others may be due behind them.
    package var heldBackCount: Int

    package init(endpoint: WebhookEndpoint, deliveries: [ClaimedDelivery], heldBackCount: Int = 0) {
        self.endpoint = endpoint
        self.deliveries = deliveries
        self.heldBackCount = heldBackCount
    }
}

/// How an attempt to deliver ended.
package enum DeliveryOutcome: Hashable, Sendable {
    /// With a 2xx.
    case delivered
    /// It failed, and is due again so much later.
    case again(after: Duration)
    /// Given up, with the word for the reason.
    case dead(because: String)
    /// It was not tried: due at once, and not counted as an attempt.
    case released

    /// Why what was answered with 410 is dead, and the endpoint disabled.
    package static let goneReason = "endpoint_gone"
    package static let gone = DeliveryOutcome.dead(because: goneReason)
    /// Why what a deleted endpoint was still to be sent is dead.
    package static let deletedReason = "endpoint_deleted"

    var isStorable: Bool {
        if case .dead(let reason) = self { StorableText.isWord(reason) } else { true }
    }
}

/// A delivery that was attempted, and how that went.
package struct FinishedDelivery: Hashable, Sendable {
    /// What the claim gave.
    package var hold: DeliveryHold
    package var outcome: DeliveryOutcome
    /// What was sent and answered, if anything was. It is kept whoever holds the lease by now: it did happen.
    package var attempt: WebhookAttempt?

    package init(_ hold: DeliveryHold, as outcome: DeliveryOutcome, attempt: WebhookAttempt?) {
        self.hold = hold
        self.outcome = outcome
        self.attempt = attempt
    }

    var isStorable: Bool { outcome.isStorable && attempt?.isStorable ?? true }
}

/// One request to an endpoint, as it went.
package struct WebhookAttempt: Hashable, Sendable {
    /// How much of an answer is kept.
    package static let answerBytesMax = 1_024
    /// How many are listed at once.
    package static let listedMax = 100

    /// The lease's token: it counts the claims of the delivery, over all replays.
    package var number: Int64
    package var beganAt: Timestamp
    package var milliseconds: Int
    /// `nil` when there was no answer.
    package var status: Int?
    /// The word for why there was no answer.
    package var failure: String?
    /// The address that was connected to.
    package var address: String?
    /// The answer's beginning, at most ``answerBytesMax`` bytes.
    package let answer: [UInt8]

    package init(
        number: Int64,
        beganAt: Timestamp,
        milliseconds: Int,
        status: Int?,
        failure: String?,
        address: String?,
        answer: some Collection<UInt8>
    ) {
        self.number = number
        self.beganAt = beganAt
        self.milliseconds = milliseconds
        self.status = status
        self.failure = failure
        self.address = address
        self.answer = Array(answer.prefix(Self.answerBytesMax))
    }

    var isStorable: Bool {
        failure.map(StorableText.isWord) ?? true && address.map(StorableText.isWord) ?? true
    }
}

/// Some of an endpoint's deliveries, newest first.
package struct WebhookDeliveryPage: Hashable, Sendable {
    /// The most that one page holds.
    package static let limitMax = 500

    package var deliveries: [WebhookDelivery]
    /// `nil` when there are no more.
    package var next: EventCursor?

    package init(deliveries: [WebhookDelivery] = [], next: EventCursor? = nil) {
        self.deliveries = deliveries
        self.next = next
    }
}

/// What is to be delivered again.
package enum WebhookReplay: Hashable, Sendable {
    /// All that are dead.
    case dead
    /// Every event that the endpoint's filter includes and of which we learned in these moments, the first one included
    /// and the last one not; also those from before there was the endpoint or while it was disabled.
    case learned(from: Timestamp, to: Timestamp)
    /// Those of them that were not delivered, such as what an endpoint missed.
    case undelivered(from: Timestamp, to: Timestamp)

    /// Whether what was delivered is delivered again.
    var includesDelivered: Bool { if case .learned = self { true } else { false } }

    /// The moments in which we learned of the events; `nil` when that does not matter.
    package var period: (from: Timestamp, to: Timestamp)? {
        switch self {
        case .dead: nil
        case .learned(let from, let to), .undelivered(let from, let to): (from, to)
        }
    }

    /// By how much the clocks may differ of those who wrote events.
    private static let clocksDiffer = Duration.seconds(3_600)

    /// How many stretches that a clock wrote which was further behind are looked before.
    private static let partsMax = 32

    /// Behind which place a replay begins that is given none: events stand as they were written, and most were learned of long
    /// before.
    ///
    /// By halves first. What a clock wrote that was behind by more than clocks may differ would stand for all before it; so it
    /// is looked before the place that was found as well, further by an eighth each time, and what is found late there leads to
    /// the part before it. Only what is eight times shorter than what such a clock wrote after it can be passed over.
    ///
    /// - Parameters:
    ///   - from: of what was learned before that nothing is looked for.
    ///   - last: the last event's position.
    ///   - learnedAt: when the event at a position was learned of; `nil` for one that is not there. Asked some hundred times.
    /// - Returns: a position, 0 for before the first event.
    /// - Throws: what `learnedAt` does.
    static func beginning<Failure: Error>(
        from: Timestamp,
        last: Int64,
        learnedAt: (Int64) throws(Failure) -> Timestamp?
    ) throws(Failure) -> Int64 {
        let moment = from.advanced(by: .zero - clocksDiffer)
        func isEarlier(_ position: Int64) throws(Failure) -> Bool {
            guard let learned = try learnedAt(position) else { return false }
            return learned < moment
        }
        var (before, behind) = (Int64(0), last + 1)
        for _ in 0..<partsMax {
            while behind - before > 1 {
                let middle = before + (behind - before) / 2
                if try isEarlier(middle) { before = middle } else { behind = middle }
            }
            var reach = Int64(1)
            while before > reach, try isEarlier(before - reach) { reach += reach / 8 + 1 }
            if before <= reach { break }
            (before, behind) = (0, before - reach)
        }
        return before
    }
}

/// How far a replay has come.
package struct WebhookReplayStep: Hashable, Sendable {
    /// The most events that one step looks at.
    package static let limitMax = 1_000

    /// How many are pending again, or for the first time.
    package var replayed: Int
    /// Where the next step goes on; `nil` when it is done.
    package var next: EventCursor?

    package init(replayed: Int, next: EventCursor?) {
        self.replayed = replayed
        self.next = next
    }
}
