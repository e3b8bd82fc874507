import PurchaseModel
import Storage
import TestSupport

/// A bug that others have had, planted to see that it is found. No part of the product knows of it.
package enum PlantedBug: String, CaseIterable, Sendable {
    /// What the shop has delivered is forgotten, and nothing stands against a second grant.
    case doubleGrant = "double-grant"
    /// The events of a commit get lost now and then.
    case lostOutboxRow = "lost-outbox-row"
    /// Of two facts the one counts that came last, not the one that Apple signed last.
    case revocationUndone = "revocation-undone"
    /// Whether an order is paid is looked up too early now and then.
    case orderSettledTwice = "order-settled-twice"

    /// What speaks against it: the invariant's name begins so.
    package var opponents: [String] {
        switch self {
        case .doubleGrant: ["I4"]
        case .lostOutboxRow: ["I6", "I7"]
        case .revocationUndone: ["I9"]
        case .orderSettledTwice: ["I4 orders"]
        }
    }

    func transaction(over base: any StoreTransaction, _ dice: Dice) -> any StoreTransaction {
        switch self {
        case .doubleGrant: Forgetful(base)
        case .lostOutboxRow: dice.happens(oneIn: 20) ? Mute(base) : base
        case .revocationUndone: LastComesFirst(base)
        case .orderSettledTwice: dice.happens(oneIn: 4) ? Unpaid(base) : base
        }
    }
}

/// Finds only what is still to be delivered, and writes over what there is.
private final class Forgetful: PassingTransaction {
    override func fulfilments(_ chains: [ChainKey]) throws(StoreFailure) -> [Fulfilment] {
        try base.fulfilments(chains).filter { $0.delivery != .acknowledged }
    }

    override func apply(_ decision: Decision, evidence: EvidenceRow?) throws(StoreFailure) {
        var decision = decision
        let chains = Set(decision.fulfilments.map(\.row.chain))
        let known = try base.fulfilments(Array(chains))
        for (place, change) in decision.fulfilments.enumerated() {
            guard let before = known.first(where: { $0.transaction == change.row.transaction }) else { continue }
            decision.fulfilments[place] = .update(change.row.copy { $0.version = before.version + 1 })
        }
        try base.apply(decision, evidence: evidence)
    }
}

/// Loses events.
private final class Mute: PassingTransaction {
    override func append(_ events: [EventRow]) throws(StoreFailure) {}
}

/// Takes every known fact for an old one.
private final class LastComesFirst: PassingTransaction {
    override func transactions(_ keys: [TransactionKey]) throws(StoreFailure) -> [RecordedTransaction] {
        try base.transactions(keys).map { known in
            var known = known
            known.transaction.signedAt = Timestamp(milliseconds: 0)
            return known
        }
    }
}

/// Finds paid orders as they were before.
private final class Unpaid: PassingTransaction {
    override func orders(_ keys: [OrderKey]) throws(StoreFailure) -> [Order] {
        try base.orders(keys).map { order in
            guard order.state == .paid else { return order }
            return Order(
                order,
                state: .pending,
                changedAt: order.placedAt,
                payment: nil,
                refunded: 0,
                version: order.version
            )
        }
    }
}
