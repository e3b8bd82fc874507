import PurchaseModel
import Storage
import TestSupport
import Testing

/// What Apple tells of purchases and of their renewals, in any order and however often, ends in the same rows in every store.
@Suite struct HistoryTests {
    private static let histories: Int64 = 2_000
    /// Proofs in one write, as the recorder's batches are.
    private static let batch = 100
    private static let app = AppID(checked: "game")

    /// How one history ends.
    private struct End: Equatable {
        /// Whether something is in force, how much was taken back, the balance.
        var books: String
        /// As it stands there, save for how often it was written.
        var subscription: RecordedSubscription?
    }

    @Test func twoThousandHistoriesEndAlikeInAnyOrderInEveryStore() async throws {
        let facts = try (0..<Self.histories).flatMap { try Self.history($0) }
        let expected = try await Self.ends(of: facts, in: .memory)
        #expect(expected.count == Int(Self.histories))
        #expect(Set(expected.map(\.books)).count > 4)
        try Self.checkSubscriptions(expected)
        for (turn, kind) in StoreKind.allCases.enumerated() {
            var random = SeededRandom(seed: UInt64(turn))
            let again = (0..<facts.count / 4).compactMap { _ in facts.randomElement(using: &random) }
            let found = try await Self.ends(of: (facts + again).shuffled(using: &random), in: kind)
            let differing = (0..<expected.count).filter { expected[$0] != found[$0] }
            #expect(differing.isEmpty, "\(kind): \(differing.prefix(2).map { (expected[$0], found[$0]) })")
        }
    }

    /// As they were told in their order: each stands as its life says, and there are such of every kind.
    private static func checkSubscriptions(_ ends: [End]) throws {
        for (number, end) in ends.enumerated() {
            guard kind(of: Int64(number)) == .autoRenewable else {
                #expect(end.subscription == nil)
                continue
            }
            let course = try life(Int64(number)).course
            let state = try #require(end.subscription).state
            #expect(state == course.state || state == .revoked, "\(number): \(course)")
        }
        let rows = ends.compactMap(\.subscription)
        #expect(Set(rows.map(\.state)) == [.active, .grace, .billingRetry, .expired, .revoked])
        #expect(Set(rows.map(\.willAutoRenew)) == [true, false])
        #expect(Set(rows.map { $0.graceEndsAt == nil }).count == 2)
        #expect(Set(rows.map { $0.nextLook == nil }).count == 2)
        #expect(Set(rows.map(\.ends.isEmpty)).count == 2)
    }

    private static func kind(of number: Int64) -> ProductKind {
        number % 3 == 0 ? .consumable : number % 3 == 1 ? .nonConsumable : .autoRenewable
    }

    private static func purchase(_ number: Int64) throws -> Transaction {
        var bought = try Samples.transaction(number * 10 + 1)
        bought.kind = kind(of: number)
        bought.product = try product(kind(of: number))
        bought.ownership = .purchased
        return bought
    }

    private static func life(_ number: Int64) throws -> SubscriptionLife {
        var random = SeededRandom(seed: UInt64(number))
        return SubscriptionLife(try purchase(number), &random)
    }

    /// Each history: a purchase, or the periods of a subscription and what is said of its renewal, and what follows in one of
    /// several lives; each customer has one.
    private static func history(_ number: Int64) throws -> [Recording] {
        var random = SeededRandom(seed: UInt64(number) + 1_000_000)
        var (purchases, renewals) = ([try purchase(number)], [Renewal]())
        if kind(of: number) == .autoRenewable {
            let life = try life(number)
            (purchases, renewals) = (life.periods, life.renewals)
        }
        var proofs: [(at: Timestamp, facts: [Transaction], renewals: [Renewal])] = []
        for bought in purchases {
            let life = Int.random(in: 0...3, using: &random)
            // What was signed in one breath mostly comes in one notification.
            let place = renewals.firstIndex { $0.signedAt == bought.signedAt }
            let isOne = Int.random(in: 0...2, using: &random) > 0
            let told = isOne ? place.map { [renewals.remove(at: $0)] } : nil
            proofs.append((bought.signedAt, [bought], told ?? []))
            // Refunded at 10, perhaps in part; good again at 20.
            let refund = refunded(bought, percentage: life == 2 ? 40_000 : nil)
            if life >= 2 { proofs.append((refund.signedAt, [refund], [])) }
            if life == 3 {
                let again = signed(bought, after: 20)
                proofs.append((again.signedAt, [again], []))
            }
        }
        proofs += renewals.map { ($0.signedAt, [], [$0]) }
        proofs.sort { $0.at < $1.at }
        let customer = try Samples.customer("c\(number)")
        return try proofs.map { proof in
            Recording(
                app: app,
                realm: Samples.production,
                transactions: proof.facts,
                renewals: proof.renewals,
                customer: customer,
                terms: try terms()
            )
        }
    }

    private static func refunded(_ bought: Transaction, percentage: Int?) -> Transaction {
        var refunded = signed(bought, after: 10)
        refunded.revocation = Revocation(at: refunded.signedAt, reason: 0, percentage: percentage)
        return refunded
    }

    private static func signed(_ bought: Transaction, after seconds: Int64) -> Transaction {
        var again = bought
        again.signedAt = bought.signedAt.advanced(by: .seconds(seconds))
        return again
    }

    private static func product(_ kind: ProductKind) throws -> ProductID {
        try #require(ProductID("a.\(kind)"))
    }

    private static func terms() throws -> AppTerms {
        let gems = try #require(CurrencyID("gems"))
        let premium = try #require(EntitlementID("premium"))
        let all = try [ProductKind.consumable, .nonConsumable, .autoRenewable].map { kind in
            ProductTerms(
                product: try product(kind),
                kind: kind,
                goods: kind == .consumable ? [.amount(100, gems)] : [.entitlement(premium), .amount(7, gems)],
                deliversExpired: true
            )
        }
        return AppTerms(products: Dictionary(uniqueKeysWithValues: all.map { ($0.product, $0) }))
    }

    private static func ends(of facts: [Recording], in kind: StoreKind) async throws -> [End] {
        try await kind.withStore { store in
            for start in stride(from: 0, to: facts.count, by: batch) {
                let part = Array(facts[start..<min(start + batch, facts.count)])
                try await Purchases.record(part, try Samples.evidence(), in: store)
            }
            var ends: [End] = []
            for start in stride(from: 0, to: histories, by: batch) {
                let numbers = start..<min(start + Int64(batch), histories)
                // What is told of a subscription may hang on what came first, until it is looked at.
                let subscriptions = numbers.filter { self.kind(of: $0) == .autoRenewable }
                try await look(at: try subscriptions.map { try chain($0) }, in: store)
                let customers = try numbers.map { try Samples.customer("c\($0)") }
                ends += try await store.read { reader throws(StoreFailure) in
                    try customers.map { customer throws(StoreFailure) in try end(of: customer, reader) }
                }
            }
            return ends
        }
    }

    private static func end(of customer: CustomerID, _ reader: any StoreReader) throws(StoreFailure) -> End {
        let chains = try reader.chains(app: app, customer: customer)
        let rows = try reader.fulfilments(chains)
        let subscriptions = try reader.subscriptions(chains)
        let rights = entitlements(rows, subscriptions, at: Samples.now)
            .map { "\($0.id) \($0.until?.milliseconds ?? -1)" }
        let parts = rows.map { "\($0.transaction.id % 10) \($0.reversed)" }
        let balance = try reader.wallets(app: app, customer: customer).map(\.balance).reduce(0, +)
        let row = subscriptions.first
        return End(
            books: "\(rights) \(parts) \(balance) \(subscriptions.count)",
            subscription: row?.copy(current: row?.current, expiresAt: row?.expiresAt, version: 0)
        )
    }

    private static func look(at chains: [ChainKey], in store: any Store) async throws {
        try await store.write { write throws(StoreFailure) in
            var situation = try write.situation(lookingAt: chains)
            for chain in chains {
                let decision = decide(situation, lookingAt: chain, at: Samples.now)
                guard !decision.isEmpty else { continue }
                try write.apply(decision, evidence: nil)
                situation.apply(decision)
            }
        }
    }

    private static func chain(_ number: Int64) throws -> ChainKey {
        let first = try Samples.key(number * 10 + 1)
        return ChainKey(app: first.app, realm: first.realm, original: first.id)
    }
}

extension TransactionID {
    fileprivate static func % (id: TransactionID, divisor: Int64) -> Int64 { id.number % divisor }
}
