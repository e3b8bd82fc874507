import PurchaseModel
import Simulator
import Storage
import TestSupport
import Testing

/// What the simulated App Store knows of its subscriptions, beside what the rules made of what it signed. The two share
/// no rule.
struct AppleTruth {
    let store: SimulatedStore

    /// What is told of a subscription, in words that both sides have.
    static func word(_ subscription: Subscription?) -> String {
        guard let subscription else { return "unknown" }
        // The store moves the end of a family member's copy that was revoked, and tells nobody.
        if subscription.state == .revoked { return "revoked \(subscription.product)" }
        let isFailing = subscription.state == .grace || subscription.state == .billingRetry
        let renewal = subscription.willAutoRenew.map { $0 ? "on" : "off" } ?? "unknown"
        let next = subscription.nextProduct?.text ?? "unknown"
        return
            "\(subscription.state.rawValue) \(subscription.product) until \(text(subscription.expiresAt)), "
            + "grace \(isFailing ? text(subscription.graceEndsAt) : "none"), \(renewal) \(next)"
    }

    /// The same of the simulator's own line.
    func word(_ line: SubscriptionLine) -> String {
        let status = store.status(of: line)
        let current = store.transactions[line.current]
        let state: SubscriptionState =
            switch status {
            case .active: .active
            case .expired: .expired
            case .billingRetry: .billingRetry
            case .gracePeriod: .grace
            case .revoked: .revoked
            }
        let product = current?.fact.product.text ?? "none"
        if state == .revoked { return "revoked \(product)" }
        let isFailing = state == .grace || state == .billingRetry
        return
            "\(state.rawValue) \(product) until \(Self.text(line.expiresAt)), "
            + "grace \(isFailing ? Self.text(line.failure?.graceEndsAt) : "none"), "
            + "\(line.willAutoRenew ? "on" : "off") \(line.nextProduct)"
    }

    private static func text(_ moment: Timestamp?) -> String { moment.map { "\($0.milliseconds)" } ?? "none" }

    /// What Apple signed at each of its notices, for each line: as it is told then.
    func facts() -> [AppleFact] {
        store.notices.compactMap { notice in
            guard case .purchase(let purchase) = notice.subject, purchase.line != nil else { return nil }
            var transaction = purchase.transaction.fact
            transaction.signedAt = notice.at
            return AppleFact(
                environment: notice.environment,
                transaction: transaction,
                renewal: purchase.outlook?.renewal
            )
        }
    }

    /// Compares every line with what a ledger says of it.
    func compare(
        _ ledger: SubscriptionLedger,
        isTestSigned: Bool,
        _ comment: @autoclosure () -> String
    ) throws {
        for line in store.lines.values.sorted(by: { $0.originalID < $1.originalID }) {
            let realm = Realm(environment: line.environment, isTestSigned: isTestSigned)
            let found = try ledger.subscription(line.originalID, realm, at: store.now)
            #expect(Self.word(found) == word(line), "\(comment()), \(line.customer)'s \(line.originalID)")
        }
    }
}

struct AppleFact {
    var environment: StoreEnvironment
    var transaction: Transaction
    var renewal: Renewal?
}

/// A ledger in memory: facts are decided and applied, as the pipeline does.
struct SubscriptionLedger {
    private var situation = Situation()
    private(set) var figures = FigureSums()
    private let app: AppID

    init() throws { app = try #require(AppID("game")) }

    mutating func record(_ transactions: [Transaction], _ renewals: [Renewal], _ realm: Realm, at now: Timestamp) {
        let recording = Recording(app: app, realm: realm, transactions: transactions, renewals: renewals)
        let decision = decide(situation, recording, at: now)
        situation.apply(decision)
        figures.add(decision.figures)
    }

    mutating func record(_ fact: AppleFact, at now: Timestamp) {
        let realm = Realm(environment: fact.environment, isTestSigned: false)
        record([fact.transaction], [fact.renewal].compactMap(\.self), realm, at: now)
    }

    func subscription(_ original: TransactionID, _ realm: Realm, at now: Timestamp) throws -> Subscription? {
        let chain = ChainKey(app: app, realm: realm, original: original)
        guard let row = situation.subscription(of: chain) else { return nil }
        let period = row.currentKey.flatMap { situation[$0]?.transaction }
        return PurchaseModel.fold(chain, period, row.renewal, row.ends, at: now)
    }
}
