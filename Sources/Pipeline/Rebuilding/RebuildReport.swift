package import PurchaseModel

/// One row that is not what the rules make of the recorded transactions and the postings.
package enum LedgerDifference: Hashable, Sendable {
    /// `nil` where there is none.
    case wallet(stored: Wallet?, rebuilt: Wallet)
    /// With what the shop is told of the change.
    case fulfilment(stored: Fulfilment?, rebuilt: Fulfilment, told: [EventType])
    /// Nobody is told: what has become of it is told when it is looked at.
    case subscription(stored: RecordedSubscription?, rebuilt: RecordedSubscription)
    /// So many figures over time are not what the rows come to; or none are, because there were none when those were
    /// written.
    case figures(AppID, differing: Int)
    /// Not rebuilt: it contradicts itself, and the rules cannot tell which half is true.
    case leftTransaction(TransactionKey, why: String)
    case leftWallet(WalletKey, why: String)
    case leftSubscription(ChainKey, why: String)
    case leftFigures(AppID, why: String)
    /// Not rebuilt: nobody has said how this app delivers.
    case leftApp(AppID)

    package var isLeft: Bool {
        switch self {
        case .wallet, .fulfilment, .subscription, .figures: false
        case .leftTransaction, .leftWallet, .leftSubscription, .leftFigures, .leftApp: true
        }
    }
}

/// What a rebuild has found, and changed if it was to.
package struct RebuildReport: Sendable {
    /// How many differences are listed; all are counted.
    package static let listedMax = 1_000

    package private(set) var listed: [LedgerDifference] = []
    package private(set) var differences = 0
    /// What needs a person.
    package private(set) var left = 0
    package var transactions = 0
    package var wallets = 0
    /// Of each type, how many were told.
    package private(set) var told: [EventType: Int] = [:]

    package init() {}

    mutating func add(_ difference: LedgerDifference) {
        if difference.isLeft { left += 1 } else { differences += 1 }
        if listed.count < Self.listedMax { listed.append(difference) }
    }

    mutating func add(_ found: [LedgerDifference], _ events: [LedgerEvent]) {
        for difference in found { add(difference) }
        for event in events { told[event.type, default: 0] += 1 }
    }
}
