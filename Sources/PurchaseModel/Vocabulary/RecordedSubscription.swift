/// A subscription as the ledger holds it: what Apple last signed about its renewal, and what of the fold is looked for.
///
/// There is one for each chain of an auto-renewable product. What the newest period says stands with its transaction.
package struct RecordedSubscription: Hashable, Sendable {
    package let chain: ChainKey
    /// The newest period's transaction; `nil` while only Apple's word on the renewal is known.
    package internal(set) var current: TransactionID?
    /// The newest that Apple signed, and what stands beside it: see ``fold(_:_:)``.
    package internal(set) var renewal: Renewal?
    /// What any statement on its renewal said of the ends of its periods.
    package internal(set) var ends: PeriodEnds

    // What follows from the two.
    package internal(set) var product: ProductID
    package internal(set) var group: String?
    package internal(set) var expiresAt: Timestamp?
    /// Until when access goes on after a renewal that could not be charged.
    package internal(set) var graceEndsAt: Timestamp?
    /// Whether Apple means to charge for a next period; `nil` while nobody has said so of the newest one, also inside a
    /// commitment.
    package internal(set) var willAutoRenew: Bool?
    /// Whether it is a family member's copy, which another one pays for: what the newest period says.
    package internal(set) var isShared: Bool

    // What also depends on when it was looked at last.
    /// What the shop was told last: time may have passed since.
    package internal(set) var state: SubscriptionState
    package internal(set) var since: Timestamp?
    /// When Apple is to be asked again; `nil` when it is over for good.
    package internal(set) var nextLook: Timestamp?
    package internal(set) var lookedAt: Timestamp
    /// Counts its changes, so that of two writers who saw the same one only the first succeeds.
    package internal(set) var version: Int64

    package var key: ChainKey { chain }

    /// Where its newest period is recorded.
    package var currentKey: TransactionKey? {
        current.map { TransactionKey(app: chain.app, realm: chain.realm, id: $0) }
    }

    package init(
        chain: ChainKey,
        current: TransactionID?,
        renewal: Renewal?,
        product: ProductID,
        group: String?,
        expiresAt: Timestamp?,
        graceEndsAt: Timestamp?,
        willAutoRenew: Bool?,
        state: SubscriptionState,
        since: Timestamp?,
        nextLook: Timestamp?,
        lookedAt: Timestamp,
        version: Int64,
        ends: PeriodEnds = PeriodEnds(),
        isShared: Bool = false
    ) {
        self.chain = chain
        self.current = current
        self.renewal = renewal
        self.product = product
        self.group = group
        self.expiresAt = expiresAt
        self.graceEndsAt = graceEndsAt
        self.willAutoRenew = willAutoRenew
        self.state = state
        self.since = since
        self.nextLook = nextLook
        self.lookedAt = lookedAt
        self.version = version
        self.ends = ends
        self.isShared = isShared
    }

    /// A subscription that nobody has been told of.
    init(_ subscription: Subscription, renewal: Renewal?, ends: PeriodEnds, lookedAt now: Timestamp) {
        self.init(
            chain: subscription.chain,
            current: subscription.current,
            renewal: renewal,
            product: subscription.product,
            group: subscription.group,
            expiresAt: subscription.expiresAt,
            graceEndsAt: subscription.graceEndsAt,
            willAutoRenew: subscription.willAutoRenew == nil && subscription.goesOn == true ? nil : subscription.goesOn,
            state: .unknown,
            since: nil,
            nextLook: nil,
            lookedAt: now,
            version: 1,
            ends: ends,
            isShared: subscription.isFamilyShared
        )
    }

    /// Whether both were made of the same facts.
    package func saysTheSame(as other: RecordedSubscription) -> Bool {
        current == other.current && renewal == other.renewal && product == other.product && group == other.group
            && expiresAt == other.expiresAt && graceEndsAt == other.graceEndsAt
            && willAutoRenew == other.willAutoRenew && ends == other.ends && isShared == other.isShared
    }
}
