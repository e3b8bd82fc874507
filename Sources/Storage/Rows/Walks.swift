package import PurchaseModel

/// A place in a walk along a table: the key of the last row that was looked at.
package struct WalkPlace: Hashable, Sendable {
    enum Part: Hashable, Sendable {
        case integer(Int64)
        case text(String)
        case bytes([UInt8])
    }

    let parts: [Part]
}

/// Some rows of a table, in the order of their keys.
package struct WalkPage<Row: Hashable & Sendable>: Hashable, Sendable {
    /// The most that one page holds.
    package static var limitMax: Int { 500 }
    /// The most that one page of proofs holds: each may have some MB.
    package static var proofsMax: Int { 16 }

    package var rows: [Row]
    /// What no version of ours writes, by the table and the key.
    package var unreadable: [String]
    /// `nil` when there are no more.
    package var next: WalkPlace?

    package init(rows: [Row] = [], unreadable: [String] = [], next: WalkPlace? = nil) {
        self.rows = rows
        self.unreadable = unreadable
        self.next = next
    }
}

extension WalletKey {
    /// Whether a walk comes to it before another one of the same app.
    package func precedes(_ other: WalletKey) -> Bool {
        if customer != other.customer { return customer < other.customer }
        let (one, two) = (RealmCode.wanted(realm), RealmCode.wanted(other.realm))
        return one == two ? currency < other.currency : one < two
    }
}

package struct WalkedTransaction: Hashable, Sendable {
    package var recorded: RecordedTransaction
    /// Whether the proofs are there that it was first and last changed by.
    package var hasEvidence: Bool

    package init(recorded: RecordedTransaction, hasEvidence: Bool) {
        self.recorded = recorded
        self.hasEvidence = hasEvidence
    }
}

/// An event without what it tells.
package struct WalkedEvent: Hashable, Sendable {
    package var cursor: EventCursor
    package var stream: StreamKey
    package var sequence: Int64
    package var type: String
    package var learnedAt: Timestamp

    package init(cursor: EventCursor, stream: StreamKey, sequence: Int64, type: String, learnedAt: Timestamp) {
        self.cursor = cursor
        self.stream = stream
        self.sequence = sequence
        self.type = type
        self.learnedAt = learnedAt
    }
}

package struct WalkedEndpoint: Hashable, Sendable {
    package var id: WebhookEndpointID
    package var filter: EventFilter
    package var createdAt: Timestamp
    package var isEnabled: Bool
    package var version: Int64

    package init(id: WebhookEndpointID, filter: EventFilter, createdAt: Timestamp, isEnabled: Bool, version: Int64) {
        self.id = id
        self.filter = filter
        self.createdAt = createdAt
        self.isEnabled = isEnabled
        self.version = version
    }

    /// Whether it wants such an event.
    package func includes(_ event: WalkedEvent) -> Bool {
        filter.includes(type: event.type, realm: event.stream.realm)
    }
}

package struct WalkedDelivery: Hashable, Sendable {
    package var cursor: EventCursor
    package var realm: Realm
    package var customer: CustomerID?
    package var state: DeliveryState
    /// Whether it says when it ended.
    package var hasEnd: Bool

    package init(cursor: EventCursor, realm: Realm, customer: CustomerID?, state: DeliveryState, hasEnd: Bool) {
        self.cursor = cursor
        self.realm = realm
        self.customer = customer
        self.state = state
        self.hasEnd = hasEnd
    }
}

package struct WalkedSubmission: Hashable, Sendable {
    package var id: SubmissionID
    /// Of the proof's bytes.
    package var digest: ProofDigest
    package var proof: [UInt8]
    /// Whether it says when it was settled.
    package var hasEnd: Bool
    /// Whether it says how.
    package var hasVerdict: Bool

    package init(id: SubmissionID, digest: ProofDigest, proof: [UInt8], hasEnd: Bool, hasVerdict: Bool) {
        self.id = id
        self.digest = digest
        self.proof = proof
        self.hasEnd = hasEnd
        self.hasVerdict = hasVerdict
    }
}
