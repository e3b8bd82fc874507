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

    /// What was listed of chains that reach beyond a step.
    private var said: Set<TransactionKey> = []

    package init() {}

    mutating func add(_ difference: LedgerDifference) {
        if difference.isLeft { left += 1 } else { differences += 1 }
        if listed.count < Self.listedMax { listed.append(difference) }
    }

    /// Adds what a step has found, save what an earlier one has found of the same chain.
    ///
    /// - Parameters:
    ///   - step: with what was decided, if it was.
    ///   - isWritten: whether that was written: then what differs again has changed since.
    mutating func add(_ step: FulfilmentRebuild.Step, isWritten: Bool) {
        let before = said
        func isSaid(_ key: TransactionKey?) -> Bool { key.map { before.contains($0) } ?? false }
        for difference in step.found where isWritten && !difference.isLeft || !isSaid(difference.transaction) {
            add(difference)
            if let key = difference.transaction, step.reaching.contains(key) { said.insert(key) }
        }
        for event in step.decision.events where isWritten || !isSaid(event.transaction) {
            told[event.type, default: 0] += 1
        }
    }
}

extension LedgerDifference {
    fileprivate var transaction: TransactionKey? {
        switch self {
        case .fulfilment(_, let rebuilt, _): rebuilt.key
        case .leftTransaction(let key, _): key
        default: nil
        }
    }
}

extension LedgerEvent {
    /// What it tells of was decided with this transaction.
    fileprivate var transaction: TransactionKey? {
        switch subject {
        case .fulfilment(let row, _): row.key
        case .order(let order):
            order.payment.map { TransactionKey(app: order.app, realm: $0.realm, id: $0.transaction) }
        default: nil
        }
    }
}
