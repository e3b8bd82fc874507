package import PurchaseModel

/// The name of an endpoint.
package struct WebhookEndpointID: PrefixedID {
    package static let prefix = "whe_"
    package let text: String
    package init(checked text: String) { self.text = text }
}

/// A key that webhooks are signed with. It does not show itself in any text.
package struct WebhookSecret: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    package static let bytesMax = 64

    package let bytes: [UInt8]

    /// `nil` unless there are 1 to ``bytesMax`` bytes.
    package init?(_ bytes: [UInt8]) {
        guard (1...Self.bytesMax).contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    package var description: String { "WebhookSecret(\(bytes.count) bytes)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// While an endpoint was disabled.
package struct WebhookGap: Hashable, Sendable {
    package var from: Timestamp
    package var to: Timestamp
    /// The last place in the feed before, or up to which it has been sent what it missed.
    package var after: EventCursor

    package init(from: Timestamp, to: Timestamp, after: EventCursor) {
        (self.from, self.to, self.after) = (from, to, after)
    }
}

/// Where an app's events are sent to.
package struct WebhookEndpoint: Hashable, Sendable {
    /// How many secrets there can be at once: the old and the new, and one for who rotates in haste.
    package static let secretsMax = 4
    package static let urlBytesMax = 2_048

    package var id: WebhookEndpointID
    package var app: AppID
    package var url: String
    /// Newest first; every one signs.
    package var secrets: [WebhookSecret]
    /// The private half of an Ed25519 key, if signatures of that kind are wanted too.
    package var signingKey: WebhookSecret?
    package var filter: EventFilter { didSet { realmsEver.formUnion(filter.realms) } }
    /// Every realm that its filter has ever let through: what it was sent of them stands in its log, and may still be on its way.
    package private(set) var realmsEver: Set<Realm>
    /// How many of its deliveries may be under way at once, over all nodes.
    package var concurrencyMax: Int
    /// How many requests a second one node may send; `nil` for no limit.
    package var perSecondMax: Int?
    /// Whether an event waits until the earlier ones of its customer are delivered or dead.
    package var ordersPerCustomer: Bool
    /// Whether a 2xx also acknowledges what the event delivers.
    package var acknowledgesBy2xx: Bool
    /// A disabled one is sent nothing, and gets no deliveries of new events.
    package var isEnabled: Bool
    /// The word for why it was disabled.
    package var disabledReason: String?
    /// Since when it is disabled; `nil` while it is enabled, and for what was disabled before this was kept.
    package var disabledAt: Timestamp?
    /// The last place in the feed before it was disabled: of what stands behind it, it was sent nothing.
    package var missedAfter: EventCursor?
    /// When it was disabled, up to when it was last enabled again; `nil` when it has been sent what it missed since. Kept, and
    /// offered to nobody, while it is disabled once more.
    package var gap: WebhookGap?
    package var createdAt: Timestamp
    /// Grows with every update; an update is refused unless it was made from the newest.
    package var version: Int64

    package init(
        id: WebhookEndpointID,
        app: AppID,
        url: String,
        secrets: [WebhookSecret],
        signingKey: WebhookSecret? = nil,
        filter: EventFilter,
        realmsEver: Set<Realm> = [],
        concurrencyMax: Int,
        perSecondMax: Int? = nil,
        ordersPerCustomer: Bool,
        acknowledgesBy2xx: Bool,
        isEnabled: Bool = true,
        disabledReason: String? = nil,
        disabledAt: Timestamp? = nil,
        missedAfter: EventCursor? = nil,
        gap: WebhookGap? = nil,
        createdAt: Timestamp,
        version: Int64 = 1
    ) {
        self.id = id
        self.app = app
        self.url = url
        self.secrets = secrets
        self.signingKey = signingKey
        self.filter = filter
        self.realmsEver = realmsEver.union(filter.realms)
        self.concurrencyMax = concurrencyMax
        self.perSecondMax = perSecondMax
        self.ordersPerCustomer = ordersPerCustomer
        self.acknowledgesBy2xx = acknowledgesBy2xx
        self.isEnabled = isEnabled
        self.disabledReason = disabledReason
        self.disabledAt = disabledAt
        self.missedAfter = missedAfter
        self.gap = gap
        self.createdAt = createdAt
        self.version = version
    }

    /// Notes since when it is disabled, unless it is already: what it misses began then.
    package mutating func disable(because reason: String?, at now: Timestamp, after last: EventCursor) {
        if isEnabled { (disabledAt, missedAfter) = (now, last) }
        (isEnabled, disabledReason) = (false, reason)
    }

    /// Notes while when it was disabled, unless it is enabled already, or since when is not known. What it missed before, and has
    /// not been sent, stays with it.
    package mutating func enable(at now: Timestamp) {
        if let disabledAt, let missedAfter {
            gap = WebhookGap(from: gap?.from ?? disabledAt, to: now, after: gap?.after ?? missedAfter)
        }
        (isEnabled, disabledReason, disabledAt, missedAfter) = (true, nil, nil, nil)
    }

    var isStorable: Bool {
        (1...Self.urlBytesMax).contains(url.utf8.count) && StorableText.isStorable(url) && filter.isStorable
            && (1...Self.secretsMax).contains(secrets.count) && disabledReason.map(StorableText.isWord) ?? true
    }
}

/// An endpoint that something is due for.
package struct DueEndpoint: Hashable, Sendable {
    /// How many are listed at once.
    package static let limitMax = 1_000

    package var id: WebhookEndpointID
    package var app: AppID
    /// The moment of what is due longest.
    package var since: Timestamp
    /// The endpoint's own.
    package var version: Int64

    package init(id: WebhookEndpointID, app: AppID, since: Timestamp, version: Int64) {
        self.id = id
        self.app = app
        self.since = since
        self.version = version
    }
}

/// How an endpoint is doing.
package struct WebhookFigures: Hashable, Sendable {
    /// Deliveries that are neither made nor dead.
    package var backlog: Int
    /// Those of them that are under way.
    package var leased: Int
    package var dead: Int
    /// When we learned of the oldest event in the backlog.
    package var oldest: Timestamp?
    /// The first failure since the last success. `nil` when the last attempt was a success, or there was none.
    package var failingSince: Timestamp?

    package init(
        backlog: Int = 0,
        leased: Int = 0,
        dead: Int = 0,
        oldest: Timestamp? = nil,
        failingSince: Timestamp? = nil
    ) {
        self.backlog = backlog
        self.leased = leased
        self.dead = dead
        self.oldest = oldest
        self.failingSince = failingSince
    }
}
