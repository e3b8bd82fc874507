package import PurchaseModel

/// Who holds a lease: one process's worker, under a name that no other has, nor had before it was started again.
package struct LeaseOwner: ASCIIIdentifier {
    package let text: String
    package init(checked text: String) { self.text = text }
}

/// On which terms work is claimed.
package struct LeaseTerms: Hashable, Sendable {
    /// No lease is longer: so long at most does the work of a dead process lie idle. Longer work renews.
    package static let durationMax = Duration.seconds(30)

    package var owner: LeaseOwner
    /// At most ``durationMax``; longer is cut.
    package let duration: Duration
    /// The caller's time. A store that several machines share takes its database's instead, for all that has to do with
    /// leases and due moments.
    package var now: Timestamp

    package init(owner: LeaseOwner, duration: Duration, now: Timestamp) {
        self.owner = owner
        self.duration = min(max(duration, .zero), Self.durationMax)
        self.now = now
    }

    var until: Timestamp { now.advanced(by: duration) }
}

/// Work that somebody has claimed.
package struct Lease: Hashable, Sendable {
    package var owner: LeaseOwner
    /// From then on others may claim it.
    package var until: Timestamp
    /// Greater at every claim of the same work: the holder of an older one has lost it.
    package var token: Int64

    package init(owner: LeaseOwner, until: Timestamp, token: Int64) {
        self.owner = owner
        self.until = until
        self.token = token
    }
}
