import PurchaseModel
import Simulator
import Testing

/// What holds in every store, whatever its customers do.
struct StorePropertyTests {
    static let start = Timestamp(seconds: 1_767_225_600)
    static let seeds: ClosedRange<UInt64> = 1...20

    /// Sixteen customers in three families, over two years.
    static func population(_ seed: UInt64, steps: Int = 1) -> Population {
        var store = SimulatedStore(startingAt: start, seed: seed)
        store.set(DemoCatalogue.app())
        var population = Population(in: store, app: DemoCatalogue.bundleID, count: 16, seed: seed)
        for step in 1...steps {
            let days = Int64(730 * step / steps)
            population.live(until: start.advanced(by: .seconds(days * 86_400)))
        }
        return population
    }

    @Test(arguments: seeds)
    func timeInOneJumpOrInManyIsTheSame(_ seed: UInt64) {
        let (once, often) = (Self.population(seed), Self.population(seed, steps: 100))
        #expect(once.store.transactions == often.store.transactions)
        #expect(once.store.lines == often.store.lines)
        #expect(once.store.notices == often.store.notices)
        #expect(once.done > 100)
    }

    /// A server's ledger remembers the store before.
    @Test func storesOfOtherSeedsSellUnderOtherNumbers() {
        let stores = Self.seeds.map { Self.population($0).store }
        #expect(Set(stores.flatMap(\.transactions.keys)).count == stores.reduce(0) { $0 + $1.transactions.count })
        #expect(stores.allSatisfy { $0.transactions.keys.allSatisfy { [15, 16].contains($0.description.utf8.count) } })
    }

    @Test(arguments: seeds)
    func noticesAreInOrderAndNoneIsTwice(_ seed: UInt64) {
        let notices = Self.population(seed).store.notices
        #expect(zip(notices, notices.dropFirst()).allSatisfy { $0.at <= $1.at })
        #expect(Set(notices.map(\.uuid)).count == notices.count)
    }

    @Test(arguments: seeds)
    func aLineIsOneChainOfPeriods(_ seed: UInt64) throws {
        let store = Self.population(seed).store
        for line in store.lines.values {
            let refunded = Self.everRefunded(store)
            let owner = SimulatedStore.Owner(customer: line.customer, app: line.app)
            let chain = store.transactions(of: owner).filter { $0.originalID == line.originalID }
            #expect(chain.first?.id == line.originalID)
            #expect(chain.last?.id == line.current)
            #expect(Set(chain.compactMap(\.fact.webOrderLineItem)).count == chain.count)
            #expect(chain.allSatisfy { $0.fact.originallyPurchasedAt == chain[0].fact.purchasedAt })
            #expect(chain.allSatisfy { try! #require($0.fact.expiresAt) > $0.fact.purchasedAt })
            for (earlier, later) in zip(chain, chain.dropFirst()) {
                let end = try #require(earlier.fact.expiresAt)
                let isReplaced = earlier.fact.isUpgraded || refunded.contains(earlier.id)
                // Only an upgrade, a refund (even one that was reversed later) or a family's coming and going may cut a
                // period short.
                #expect(later.fact.purchasedAt >= end || isReplaced || line.sharedFrom != nil, "\(later.id)")
            }
        }
    }

    private static func everRefunded(_ store: SimulatedStore) -> Set<TransactionID> {
        Set(
            store.notices.compactMap { notice in
                guard notice.type == .refund, case .purchase(let purchase) = notice.subject else { return nil }
                return purchase.transaction.id
            }
        )
    }

    @Test(arguments: seeds)
    func whatIsTakenBackWasToldAndTheOtherWayRound(_ seed: UInt64) {
        let store = Self.population(seed).store
        var revoked: Set<TransactionID> = []
        for notice in store.notices {
            guard case .purchase(let purchase) = notice.subject else { continue }
            switch notice.type {
            case .refund, .revoke: revoked.insert(purchase.transaction.id)
            case .refundReversed: revoked.remove(purchase.transaction.id)
            default: break
            }
        }
        #expect(Set(store.transactions.values.filter(\.isRevoked).map(\.id)) == revoked)
    }

    @Test(arguments: seeds)
    func theLastStatusThatWasToldIsTheStatus(_ seed: UInt64) {
        let store = Self.population(seed).store
        var told: [TransactionID: SubscriptionLine.Status] = [:]
        for notice in store.notices {
            guard case .purchase(let purchase) = notice.subject, let line = purchase.line else { continue }
            told[line.originalID] = purchase.status
        }
        for line in store.lines.values {
            #expect(told[line.originalID] == store.status(of: line), "\(line.originalID)")
        }
    }

    @Test(arguments: seeds)
    func aSubscriptionThatIsActiveHasNotEnded(_ seed: UInt64) {
        let store = Self.population(seed).store
        for line in store.lines.values where store.status(of: line) == .active {
            #expect(line.expiresAt > store.now, "\(line.originalID)")
        }
    }
}
