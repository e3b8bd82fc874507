import PurchaseModel
import Simulator
import TestSupport
import Testing

/// What became of renewals that could not be charged, as the simulated App Store told of it in its notices, one after the
/// other; and as the figures have it, which have seen what it signed in any order. The two share no rule.
@Suite struct FailedRenewalOracleTests {
    /// One subscription's failures, by the types of its notices alone.
    private struct Told {
        private(set) var failed: Int64 = 0
        private(set) var paidInGrace: Int64 = 0
        private(set) var paidInRetry: Int64 = 0
        private(set) var lost: Int64 = 0
        private var open: (transaction: TransactionID, graceEndsAt: Timestamp?)?

        mutating func hear(_ notice: StoreNotice, _ purchase: StoreNotice.Purchase) {
            if notice.type == .didFailToRenew {
                failed += 1
                open = (purchase.transaction.fact.id, purchase.outlook?.renewal.graceEndsAt)
            }
            guard let open else { return }
            switch notice.type {
            case .didRenew, .subscribed, .offerRedeemed:
                let isInGrace = open.graceEndsAt.map { notice.at < $0 } ?? false
                if isInGrace { paidInGrace += 1 } else { paidInRetry += 1 }
            case .expired: lost += 1
            case .refund where purchase.transaction.fact.id == open.transaction: lost += 1
            default: return
            }
            self.open = nil
        }
    }

    /// Ten customers for two years, their cards failing now and then, in shops with and without a grace. Lives in which a
    /// refund was taken back are left out: the store ends those subscriptions without a word.
    @Test func theyAreWhatTheStoreTold() throws {
        var all: [Int64] = [0, 0, 0, 0]
        for seed in UInt64(1)..<33 {
            let (told, counted) = try Self.live(seed)
            #expect(counted == told, "seed \(seed)")
            all = zip(all, counted).map(+)
        }
        // There was something to compare of each kind.
        #expect(all.allSatisfy { $0 > 3 }, "\(all)")
    }

    /// What was told, and what was counted: failed, paid in grace, paid in retry, lost.
    private static func live(_ seed: UInt64) throws -> (told: [Int64], counted: [Int64]) {
        let start = Timestamp(seconds: 1_704_067_200)
        var store = SimulatedStore(startingAt: start, seed: seed)
        var app = DemoCatalogue.app()
        app.gracePeriod = seed % 2 == 0 ? GracePeriod(days: 28) : nil
        app.productionNotifications = NotificationTarget(url: "https://shop.example/apple")
        store.set(app)
        var population = Population(in: store, app: DemoCatalogue.bundleID, count: 10, seed: seed)
        population.live(until: start.advanced(by: .seconds(731 * 86_400)))
        var told: [TransactionID: Told] = [:]
        var unclear: Set<TransactionID> = []
        for notice in population.store.notices where notice.environment == .production {
            guard case .purchase(let purchase) = notice.subject, let line = purchase.line, line.sharedFrom == nil else {
                continue
            }
            if notice.type == .refundReversed { unclear.insert(line.originalID) }
            told[line.originalID, default: Told()].hear(notice, purchase)
        }
        var random = SeededRandom(seed: seed)
        let facts = AppleTruth(store: population.store).facts().filter { fact in
            fact.environment == .production && !(fact.transaction.originalID.map(unclear.contains) ?? true)
        }
        let again = (0..<facts.count * 3 / 10).compactMap { _ in facts.randomElement(using: &random) }
        var ledger = try SubscriptionLedger()
        for fact in (facts + again).shuffled(using: &random) { ledger.record(fact, at: population.store.now) }
        let clear = told.filter { !unclear.contains($0.key) }.values
        let measures = [Measure.renewalsFailed, .renewalsPaidInGrace, .renewalsPaidInRetry, .renewalsLost]
        return (
            [
                clear.reduce(0) { $0 + $1.failed }, clear.reduce(0) { $0 + $1.paidInGrace },
                clear.reduce(0) { $0 + $1.paidInRetry }, clear.reduce(0) { $0 + $1.lost },
            ],
            measures.map { measure in
                ledger.figures.values.reduce(0) { $1.key.measure == measure ? $0 + $1.value : $0 }
            }
        )
    }
}
