package import PurchaseModel

/// The name of an event for all who hear of it. It stays the same through all retries.
package struct EventID: PrefixedID {
    package static let prefix = "evt_"
    package let text: String
    package init(checked text: String) { self.text = text }
}

/// Something that happened and that others are told of. It is never changed.
package struct EventRow: Hashable, Sendable {
    /// The longest ``data``: with the envelope around it a webhook's body stays below the 20 kB that Standard Webhooks
    /// advises.
    package static let dataBytesMax = 19_000

    package var id: EventID
    package var app: AppID
    package var realm: Realm
    package var customer: CustomerID?
    /// Counts the events of an app, realm and customer from 1, without a gap. Those without a customer are counted
    /// as one customer's.
    package var sequence: Int64
    /// A dotted word such as `purchase.verified`: 1 to 100 ASCII letters, digits, underscores and dots.
    package var type: String
    /// When it happened, as Apple or the shop says.
    package var happenedAt: Timestamp
    /// When we learned of it.
    package var learnedAt: Timestamp
    /// A JSON object, at most ``dataBytesMax`` bytes.
    package var data: [UInt8]

    package init(
        id: EventID,
        app: AppID,
        realm: Realm,
        customer: CustomerID?,
        sequence: Int64,
        type: String,
        happenedAt: Timestamp,
        learnedAt: Timestamp,
        data: [UInt8]
    ) {
        self.id = id
        self.app = app
        self.realm = realm
        self.customer = customer
        self.sequence = sequence
        self.type = type
        self.happenedAt = happenedAt
        self.learnedAt = learnedAt
        self.data = data
    }

    /// Whose events it is numbered with.
    package var stream: StreamKey { StreamKey(app: app, realm: realm, customer: customer) }

    var isStorable: Bool {
        RealmCode(realm) != nil && EventFilter.isType(type) && data.count <= Self.dataBytesMax
            && data.first == UInt8(ascii: "{") && data.last == UInt8(ascii: "}")
    }
}

/// A place in an app's feed: how many of its events were committed up to there. Positions have no gap, and an event that
/// is committed later has the greater one.
package struct EventCursor: Hashable, Comparable, Sendable {
    package static let start = EventCursor(position: 0)

    /// Not below 0.
    package let position: Int64

    package init(position: Int64) { self.position = max(position, 0) }

    package static func < (left: EventCursor, right: EventCursor) -> Bool { left.position < right.position }
}

/// An event and its place in its app's feed.
package struct PlacedEvent: Hashable, Sendable {
    package var event: EventRow
    package var cursor: EventCursor

    package init(_ event: EventRow, at cursor: EventCursor) {
        self.event = event
        self.cursor = cursor
    }
}

/// Which events somebody wants.
package struct EventFilter: Hashable, Sendable {
    /// How many types a filter can name.
    package static let typesMax = 16

    /// `nil` for all types, also those that are yet to be.
    package var types: Set<String>?
    /// Sandbox and production are never mixed unawares: they are named.
    package var realms: Set<Realm>

    /// All events there can be, each with its realm.
    package static let everything = EventFilter(realms: Set(Realm.known))

    package init(types: Set<String>? = nil, realms: Set<Realm>) {
        self.types = types
        self.realms = realms
    }

    package func includes(_ event: EventRow) -> Bool { includes(type: event.type, realm: event.realm) }

    func includes(type: String, realm: Realm) -> Bool {
        realms.contains(realm) && types?.contains(type) ?? true
    }

    /// Whether a feed can be read by it.
    package var isStorable: Bool {
        realms.allSatisfy { RealmCode($0) != nil } && types?.count ?? 0 <= Self.typesMax
            && types?.allSatisfy(Self.isType) ?? true
    }

    static func isType(_ text: String) -> Bool {
        (1...100).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}

/// Some of an app's events, in commit order.
package struct EventPage: Hashable, Sendable {
    /// The most that one page holds.
    package static let limitMax = 500
    /// How many positions one reading looks at, so that a filter which nothing meets keeps no snapshot for long.
    package static let lookedAtMax: Int64 = 5_000

    package var events: [PlacedEvent]
    /// How far was looked; the next reading goes on after it. It may move although no event was found.
    package var next: EventCursor
    /// Whether the feed goes on after ``next``.
    package var hasMore: Bool

    package init(events: [PlacedEvent] = [], next: EventCursor, hasMore: Bool) {
        self.events = events
        self.next = next
        self.hasMore = hasMore
    }
}
