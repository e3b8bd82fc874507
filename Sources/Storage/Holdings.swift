package import PurchaseModel

/// What was given in some chains as far as it lasts: how subscriptions stand, and what entitlements follow from.
///
/// Whoever bought coins a thousand times has a thousand chains, of which nothing is kept here.
package struct Holdings: Sendable {
    package private(set) var subscriptions: [RecordedSubscription] = []
    private var fulfilments: [Fulfilment] = []

    /// How many chains are asked for at once.
    private static let slice = 1_000

    package init(_ chains: [ChainKey], _ reader: any StoreReader) throws(StoreFailure) {
        for start in stride(from: 0, to: chains.count, by: Self.slice) {
            let asked = Array(chains[start..<min(start + Self.slice, chains.count)])
            let standing = try reader.subscriptions(asked)
            let subscribed = Set(standing.map(\.chain))
            subscriptions += standing
            // Of a subscription everything: what gave nothing may still be what came after that which did.
            fulfilments += try reader.fulfilments(asked).filter { subscribed.contains($0.chain) || $0.lasts }
        }
    }

    /// What is in force at a moment, with what a person gave the customer.
    package func entitlements(and granted: [GrantedEntitlement], at now: Timestamp) -> [Entitlement] {
        PurchaseModel.entitlements(fulfilments, subscriptions, granted, at: now)
    }
}

extension Fulfilment {
    /// Whether an entitlement is among what was given.
    fileprivate var lasts: Bool {
        goods.contains { goods in
            if case .entitlement = goods { true } else { false }
        }
    }
}
