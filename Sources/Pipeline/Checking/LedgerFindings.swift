package import PurchaseModel
package import Storage

/// Something that is wrong with a ledger.
package struct LedgerViolation: Hashable, Sendable {
    package let code: ViolationCode
    /// What it is about: words of the API and their values, in their order.
    package let names: [Name]
    /// What was found, in a sentence's words.
    package let found: String

    package struct Name: Hashable, Sendable {
        package let key: String
        package let value: String
    }
}

/// What a look at a whole ledger has found.
package struct LedgerFindings: Sendable {
    /// How many violations of one kind are listed; all are counted.
    package static let listedMax = 100

    package private(set) var listed: [LedgerViolation] = []
    package private(set) var counts: [ViolationCode: Int] = [:]
    /// How many of each were looked at.
    package var transactions = 0
    package var fulfilments = 0
    package var subscriptions = 0
    package var orders = 0
    package var wallets = 0
    package var grantedEntitlements = 0
    package var postings = 0
    package var events = 0
    package var deliveries = 0
    package var proofs = 0
    /// When the newest of them came.
    package private(set) var newestProofAt: Timestamp?
    package var submissions = 0
    package var consumptions = 0
    package var supports = 0
    /// Endpoints that were changed after they were made: which events they should have been sent is not known.
    package var endpointsChanged = 0
    package var auditRows = 0
    /// Where the audit log's chain ends; `nil` where there is none.
    package var auditHead: AuditLink?

    package init() {}

    package var isSound: Bool { counts.isEmpty }

    /// Whether nothing is wrong but, if anything, with the log of who did what: what was sold and given is sound.
    package var isSoundBesideAudit: Bool { counts.keys.allSatisfy { $0 == .auditChainBroken } }

    package var violations: Int { counts.values.reduce(0, +) }

    mutating func add(_ code: ViolationCode, _ names: [LedgerViolation.Name], _ found: String) {
        counts[code, default: 0] += 1
        guard counts[code, default: 0] <= Self.listedMax else { return }
        listed.append(LedgerViolation(code: code, names: names, found: found))
    }

    mutating func note(proofsOf moments: [Timestamp]) {
        for moment in moments { newestProofAt = max(newestProofAt ?? moment, moment) }
    }

    mutating func add(unreadable rows: [String]) {
        for row in rows { add(.rowUnreadable, [.init(key: "row", value: row)], "the row cannot be read") }
    }
}

/// How violations name what they are about.
extension [LedgerViolation.Name] {
    static func of(_ app: AppID, _ realm: Realm? = nil, _ rest: (String, String?)...) -> Self {
        var names: [(String, String?)] = [("app", app.text), ("environment", realm?.environment.rawValue)]
        if realm?.isTestSigned == true { names.append(("test_signed", "true")) }
        return (names + rest).compactMap { key, value in value.map { LedgerViolation.Name(key: key, value: $0) } }
    }

    static func of(_ key: TransactionKey) -> Self { of(key.app, key.realm, ("transaction_id", "\(key.id)")) }

    static func of(_ chain: ChainKey) -> Self {
        of(chain.app, chain.realm, ("original_transaction_id", "\(chain.original)"))
    }

    static func of(_ request: ConsumptionKey) -> Self {
        of(request.app, request.realm, ("notification_id", request.id.text))
    }

    static func of(_ order: OrderKey) -> Self { of(order.app, nil, ("order_id", order.id.text)) }

    static func of(_ wallet: WalletKey, _ transaction: TransactionID? = nil) -> Self {
        let id = transaction.map { "\($0)" }
        return of(
            wallet.app,
            wallet.realm,
            ("customer_id", wallet.customer.text),
            ("currency", wallet.currency.text),
            ("transaction_id", id)
        )
    }

    static func of(_ stream: StreamKey) -> Self { of(stream.app, stream.realm, ("customer_id", stream.customer?.text)) }
}
