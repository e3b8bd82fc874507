/// What a customer may use, and until when.
package struct Entitlement: Hashable, Sendable {
    package let id: EntitlementID
    package let realm: Realm
    /// `nil` is for ever.
    package var until: Timestamp?
    /// What gives it, the longest lasting.
    package var product: ProductID
    package var transaction: TransactionID
}

/// What is in force at a moment, of all that was given in the chains that a customer owns or shares.
///
/// - Parameters:
///   - fulfilments: of those chains, in any order.
///   - subscriptions: of those chains, in any order: what Apple could not charge for lasts until the grace ends.
///   - now: the moment.
/// - Returns: each entitlement once on each side of the wall, by realm and name.
package func entitlements(
    _ fulfilments: some Sequence<Fulfilment>,
    _ subscriptions: some Sequence<RecordedSubscription>,
    at now: Timestamp
) -> [Entitlement] {
    var graces: [TransactionKey: Timestamp] = [:]
    for subscription in subscriptions {
        if let period = subscription.currentKey, let end = subscription.graceEndsAt { graces[period] = end }
    }
    var longest: [Realm: [EntitlementID: Entitlement]] = [:]
    for fulfilment in fulfilments where fulfilment.isInForce {
        let grace = graces[fulfilment.transaction]
        for case .entitlement(let id, let paidUntil) in fulfilment.goods {
            let until = paidUntil.map { max($0, grace ?? $0) }
            guard until.map({ now < $0 }) ?? true else { continue }
            let found = Entitlement(
                id: id,
                realm: fulfilment.transaction.realm,
                until: until,
                product: fulfilment.product,
                transaction: fulfilment.transaction.id
            )
            let known = longest[found.realm]?[id]
            if known.map({ found.outlasts($0) }) ?? true { longest[found.realm, default: [:]][id] = found }
        }
    }
    return longest.values.flatMap(\.values).sorted { left, right in
        left.realm == right.realm ? left.id < right.id : left.realm.precedes(right.realm)
    }
}

extension Entitlement {
    /// Of two that last equally long, the later purchase.
    fileprivate func outlasts(_ other: Entitlement) -> Bool {
        let (one, two) = (until?.milliseconds ?? .max, other.until?.milliseconds ?? .max)
        return one == two ? transaction > other.transaction : one > two
    }
}

extension Realm {
    fileprivate func precedes(_ other: Realm) -> Bool {
        environment == other.environment
            ? !isTestSigned && other.isTestSigned
            : environment.rawValue.utf8.lexicographicallyPrecedes(other.environment.rawValue.utf8)
    }
}
