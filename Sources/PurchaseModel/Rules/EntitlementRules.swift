/// What a customer may use, and until when.
package struct Entitlement: Hashable, Sendable {
    package let id: EntitlementID
    package let realm: Realm
    /// `nil` is for ever.
    package var until: Timestamp?
    /// What gives it, the longest lasting; `nil` when that is what a person granted.
    package var purchase: Purchase?

    /// What was bought.
    package struct Purchase: Hashable, Sendable {
        package let product: ProductID
        package let transaction: TransactionID
    }
}

/// What is in force at a moment, of all that was given in the chains that a customer owns or shares, and by hand.
///
/// - Parameters:
///   - fulfilments: of those chains, in any order.
///   - subscriptions: of those chains, in any order: what Apple could not charge for lasts until the grace ends.
///   - granted: what a person gave the customer.
///   - now: the moment.
/// - Returns: each entitlement once on each side of the wall, by realm and name.
package func entitlements(
    _ fulfilments: some Sequence<Fulfilment>,
    _ subscriptions: some Sequence<RecordedSubscription>,
    _ granted: some Sequence<GrantedEntitlement> = EmptyCollection(),
    at now: Timestamp
) -> [Entitlement] {
    let graces = Graces(fulfilments, in: subscriptions)
    let successions = Successions(fulfilments, in: subscriptions)
    var longest: [Realm: [EntitlementID: Entitlement]] = [:]
    for row in granted where row.isInForce(at: now) {
        let found = Entitlement(id: row.key.entitlement, realm: row.key.realm, until: row.until)
        longest[found.realm, default: [:]][found.id] = found
    }
    for fulfilment in fulfilments where fulfilment.isInForce {
        let grace = graces.end(after: fulfilment)
        var successor: (paidUntil: Timestamp, start: Timestamp?)?
        for case .entitlement(let id, let paidUntil) in fulfilment.goods {
            var until = paidUntil.map { max($0, grace ?? $0) }
            guard until.map({ now < $0 }) ?? true else { continue }
            // All that a period gives mostly ends at once, and then what follows it is looked for once.
            if let paidUntil, successor?.paidUntil != paidUntil {
                successor = (paidUntil, successions.start(after: fulfilment, paidUntil: paidUntil))
            }
            if paidUntil != nil, let end = until, let start = successor?.start { until = min(end, start) }
            guard until.map({ now < $0 }) ?? true else { continue }
            let found = Entitlement(
                id: id,
                realm: fulfilment.transaction.realm,
                until: until,
                purchase: .init(product: fulfilment.product, transaction: fulfilment.transaction.id)
            )
            let known = longest[found.realm]?[id]
            if known.map({ found.outlasts($0) }) ?? true { longest[found.realm, default: [:]][id] = found }
        }
    }
    return longest.values.flatMap(\.values).sorted { left, right in
        left.realm == right.realm ? left.id < right.id : left.realm.precedes(right.realm)
    }
}

/// Which products are in force at a moment, of all that was given in a chain, whatever they give: of what gives only amounts
/// counts until when it was paid.
///
/// - Parameters:
///   - fulfilments: all of the chain, in any order.
///   - subscription: of the chain; `nil` where it is none.
///   - now: the moment.
/// - Returns: each once.
func productsInForce(
    _ fulfilments: some Collection<Fulfilment>,
    _ subscription: RecordedSubscription?,
    at now: Timestamp
) -> Set<ProductID> {
    let ends = PaidEnds(fulfilments, of: subscription)
    var found: Set<ProductID> = []
    for fulfilment in fulfilments where fulfilment.isInForce && !found.contains(fulfilment.product) {
        if let paidUntil = fulfilment.paidUntil, !ends.lasts(fulfilment, paidUntil: paidUntil, at: now) { continue }
        found.insert(fulfilment.product)
    }
    return found
}

/// Which products run at a moment by what Apple signed, of what waits in a chain.
///
/// - Parameters:
///   - paidUntil: until when each was paid that waits.
///   - fulfilments: all of the chain, in any order.
///   - subscription: of the chain; `nil` where it is none.
///   - now: the moment.
/// - Returns: each once.
func productsAwaited(
    _ paidUntil: [TransactionID: Timestamp],
    _ fulfilments: some Collection<Fulfilment>,
    _ subscription: RecordedSubscription?,
    at now: Timestamp
) -> Set<ProductID> {
    if paidUntil.isEmpty { return [] }
    let ends = PaidEnds(fulfilments, of: subscription)
    var found: Set<ProductID> = []
    for fulfilment in fulfilments where !found.contains(fulfilment.product) {
        guard let end = paidUntil[fulfilment.transaction.id], ends.lasts(fulfilment, paidUntil: end, at: now) else {
            continue
        }
        found.insert(fulfilment.product)
    }
    return found
}

/// Until when what was paid for lasts in one chain, given or not.
private struct PaidEnds {
    private let subscription: RecordedSubscription?
    private let graces: Graces
    private let successions: Successions

    init(_ fulfilments: some Collection<Fulfilment>, of subscription: RecordedSubscription?) {
        let subscriptions = [subscription].compactMap(\.self)
        self.subscription = subscription
        graces = Graces(fulfilments, in: subscriptions)
        successions = Successions(fulfilments, in: subscriptions)
    }

    func lasts(_ fulfilment: Fulfilment, paidUntil: Timestamp, at now: Timestamp) -> Bool {
        // Apple may have moved the end of what gives only amounts.
        let moved = subscription?.current == fulfilment.transaction.id ? subscription?.expiresAt : nil
        let ends = [paidUntil, graces.end(after: fulfilment), moved].compactMap(\.self)
        guard ends.contains(where: { now < $0 }) else { return false }
        guard let start = successions.start(after: fulfilment, paidUntil: paidUntil) else { return true }
        return now < start
    }
}

/// How long what Apple could not charge for lasts. A period may be known under two numbers, one of a restore by StoreKit 1: the
/// higher one tells how the subscription stands, and the other one may be what was given.
private struct Graces {
    private var ends: [TransactionKey: Timestamp] = [:]
    private var periods: [ChainKey: Fulfilment] = [:]

    init(_ fulfilments: some Sequence<Fulfilment>, in subscriptions: some Sequence<RecordedSubscription>) {
        for subscription in subscriptions {
            if let period = subscription.currentKey, let end = subscription.graceEndsAt { ends[period] = end }
        }
        guard !ends.isEmpty else { return }
        for fulfilment in fulfilments where ends[fulfilment.transaction] != nil {
            periods[fulfilment.chain] = fulfilment
        }
    }

    func end(after fulfilment: Fulfilment) -> Timestamp? {
        guard !ends.isEmpty else { return nil }
        if let end = ends[fulfilment.transaction] { return end }
        guard let period = periods[fulfilment.chain], period.product == fulfilment.product,
            period.purchasedAt.seconds == fulfilment.purchasedAt.seconds
        else { return nil }
        return ends[period.transaction]
    }
}

/// When each period of a subscription gives way to one of another product.
///
/// That a period was upgraded stands in its own transaction, which Apple does not send with the upgrade: the newer period
/// itself says that the older one is over, though it would have lasted longer, and says so also once it is taken back. One of
/// the same product says nothing of the kind: what was paid for and not taken back lasts, whatever was bought after it.
private struct Successions {
    private struct Start {
        let product: ProductID
        let id: TransactionID
        let at: Timestamp
        /// `nil` if it was not given.
        let end: Timestamp?
    }

    private var starts: [ChainKey: [Start]] = [:]

    init(_ fulfilments: some Sequence<Fulfilment>, in subscriptions: some Sequence<RecordedSubscription>) {
        for subscription in subscriptions { starts[subscription.chain] = [] }
        guard !starts.isEmpty else { return }
        for fulfilment in fulfilments where fulfilment.takesPlace {
            let start = Start(
                product: fulfilment.product,
                id: fulfilment.transaction.id,
                at: fulfilment.purchasedAt,
                end: fulfilment.unit?.base.endOfPeriod
            )
            starts[fulfilment.chain]?.append(start)
        }
    }

    /// When another plan takes its place, before the end that was paid for; one that is charged for shortly before only follows.
    func start(after fulfilment: Fulfilment, paidUntil end: Timestamp) -> Timestamp? {
        guard let starts = starts[fulfilment.chain],
            let lastMoment = fulfilment.purchasedAt.lastMoment(ofPeriodUntil: end)
        else { return nil }
        return starts.lazy
            .filter { $0.product != fulfilment.product && $0.at.seconds > fulfilment.purchasedAt.seconds }
            .filter { $0.at < lastMoment }
            .filter { start in
                let (began, id) = (fulfilment.purchasedAt, fulfilment.transaction.id)
                return !wasChargedAhead(from: start.at, start.id, until: start.end, of: began, id)
            }
            .map(\.at).min()
    }
}

extension Fulfilment {
    /// Until when it was paid, by what it gives, or else as a period; `nil` is for ever.
    fileprivate var paidUntil: Timestamp? {
        var last: Timestamp?
        for case .entitlement(_, let until) in goods {
            guard let until else { return nil }
            last = max(last ?? until, until)
        }
        return last ?? unit?.base.endOfPeriod
    }

    /// Whether it is a period of its own, and no family member's copy: that takes the place of nothing that was bought.
    fileprivate var takesPlace: Bool {
        switch reason {
        // The same period once more, by a restore.
        case .alreadyGranted, .familyShared: false
        // By another number of it, which says so itself, or as a copy.
        case .revoked: reversedAt != nil
        default: true
        }
    }
}

extension Entitlement {
    /// Of two that last equally long, the later purchase, and any before what is no purchase.
    fileprivate func outlasts(_ other: Entitlement) -> Bool {
        let (one, two) = (until?.milliseconds ?? .max, other.until?.milliseconds ?? .max)
        guard one == two else { return one > two }
        guard let one = purchase?.transaction, let other = other.purchase?.transaction else { return purchase != nil }
        return one > other
    }
}

extension Realm {
    fileprivate func precedes(_ other: Realm) -> Bool {
        environment == other.environment
            ? !isTestSigned && other.isTestSigned
            : environment.rawValue.utf8.lexicographicallyPrecedes(other.environment.rawValue.utf8)
    }
}
