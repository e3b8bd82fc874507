import PurchaseModel
import TestSupport
import Testing

/// A ledger in memory that decides and applies, as the pipeline does.
struct Ledger {
    private(set) var situation = Situation()
    private var keys: Set<TransactionKey> = []

    /// Decides one proof and writes what was decided.
    @discardableResult
    mutating func record(_ recording: Recording, at now: Timestamp = Facts.now) -> Decision {
        let decision = decide(situation, recording, at: now)
        for change in decision.changes {
            let isKnown = situation[change.recorded.key] != nil
            switch change {
            case .insert: #expect(!isKnown)
            case .update, .updateByLess, .amend, .amendByMore: #expect(isKnown)
            }
            keys.insert(change.recorded.key)
        }
        #expect(Set(decision.changes.map(\.recorded.key)).count == decision.changes.count)
        situation.apply(decision)
        return decision
    }

    var rows: [TransactionKey: RecordedTransaction] {
        Dictionary(uniqueKeysWithValues: keys.compactMap { key in situation[key].map { (key, $0) } })
    }

    /// The rows without what depends on who came first and when.
    var facts: [TransactionKey: Transaction] { rows.mapValues(\.transaction) }
}

/// Facts that tests are about nothing in particular of.
enum Facts {
    static let now = Timestamp(milliseconds: 1_700_000_000_000)

    static func moment(_ second: Int64) -> Timestamp { Timestamp(seconds: 1_600_000_000 + second) }

    static func transaction(_ number: Int64 = 1, signed second: Int64 = 0, revoked: Bool = false) throws -> Transaction
    {
        Transaction(
            id: try #require(TransactionID(number: number)),
            originalID: TransactionID(number: number),
            product: try #require(ProductID("coins")),
            purchasedAt: moment(0),
            revocation: revoked ? Revocation(at: moment(second)) : nil,
            ownership: .purchased,
            signedAt: moment(second)
        )
    }

    static func recording(
        _ transactions: Transaction...,
        customer: String? = nil,
        order: String? = nil,
        app: String = "game",
        realm: Realm = Realm(environment: .production, isTestSigned: false)
    ) throws -> Recording {
        try recording(transactions, customer: customer, order: order, app: app, realm: realm)
    }

    static func recording(
        _ transactions: [Transaction],
        customer: String? = nil,
        order: String? = nil,
        app: String = "game",
        realm: Realm = Realm(environment: .production, isTestSigned: false)
    ) throws -> Recording {
        Recording(
            app: try #require(AppID(app)),
            realm: realm,
            transactions: transactions,
            customer: try customer.map { try #require(CustomerID($0)) },
            order: try order.map { try #require(OrderID($0)) }
        )
    }
}
