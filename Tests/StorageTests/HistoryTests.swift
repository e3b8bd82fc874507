import PurchaseModel
import Storage
import TestSupport
import Testing

/// What Apple tells of purchases, in any order and however often, ends in the same rows in every store.
@Suite struct HistoryTests {
    private static let histories: Int64 = 2_000
    /// Proofs in one write, as the recorder's batches are.
    private static let batch = 100

    @Test func twoThousandHistoriesEndAlikeInAnyOrderInEveryStore() async throws {
        let facts = try (0..<Self.histories).flatMap { try Self.history($0) }
        let expected = try await Self.end(of: facts, in: .memory)
        #expect(expected.count == Int(Self.histories))
        #expect(Set(expected.map { $0.split(separator: " ").dropFirst().joined() }).count > 4)
        for (turn, kind) in StoreKind.allCases.enumerated() {
            var random = SeededRandom(seed: UInt64(turn))
            let again = (0..<facts.count / 4).compactMap { _ in facts.randomElement(using: &random) }
            let found = try await Self.end(of: (facts + again).shuffled(using: &random), in: kind)
            let differing = zip(expected, found).filter { $0 != $1 }
            #expect(differing.isEmpty, "\(kind): \(differing.prefix(3))")
        }
    }

    /// Each history: a purchase, and what follows in one of several lives; each customer has one.
    private static func history(_ number: Int64) throws -> [Recording] {
        var random = SeededRandom(seed: UInt64(number))
        let kind: ProductKind = number % 3 == 0 ? .consumable : number % 3 == 1 ? .nonConsumable : .autoRenewable
        let count = kind == .autoRenewable ? Int64.random(in: 1...4, using: &random) : 1
        var facts: [Transaction] = []
        for period in 0..<count {
            var bought = try Samples.transaction(number * 10 + period + 1)
            bought.originalID = TransactionID(number: number * 10 + 1)
            bought.product = try product(kind)
            bought.kind = kind
            bought.ownership = .purchased
            bought.purchasedAt = Samples.now.advanced(by: .seconds(period * 100))
            if kind == .autoRenewable {
                bought.expiresAt = Samples.now.advanced(by: .seconds(1_000_000 + period * 100))
            }
            let life = Int.random(in: 0...3, using: &random)
            facts.append(bought)
            // Refunded at 10, perhaps in part; good again at 20.
            if life >= 2 { facts.append(refunded(bought, percentage: life == 2 ? 40_000 : nil)) }
            if life == 3 { facts.append(signed(bought, after: 20)) }
        }
        let customer = try Samples.customer("c\(number)")
        return try facts.map { fact in
            Recording(
                app: try Samples.app(),
                realm: Samples.production,
                transactions: [fact],
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
        again.signedAt = Samples.now.advanced(by: .seconds(seconds))
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
                goods: kind == .consumable ? [.amount(100, gems)] : [.entitlement(premium), .amount(7, gems)]
            )
        }
        return AppTerms(products: Dictionary(uniqueKeysWithValues: all.map { ($0.product, $0) }))
    }

    /// How each history stands: its customer, whether something is in force, how much was taken back, the balance.
    private static func end(of facts: [Recording], in kind: StoreKind) async throws -> [String] {
        try await kind.withStore { store in
            for start in stride(from: 0, to: facts.count, by: batch) {
                let part = Array(facts[start..<min(start + batch, facts.count)])
                try await Purchases.record(part, try Samples.evidence(), in: store)
            }
            let app = try Samples.app()
            var ends: [String] = []
            for number in 0..<histories {
                let customer = try Samples.customer("c\(number)")
                let end = try await store.read { reader throws(StoreFailure) in
                    let chains = try reader.chains(app: app, customer: customer)
                    let rows = try reader.fulfilments(chains)
                    let rights = entitlements(rows, try reader.subscriptions(chains), at: Samples.now)
                        .map { "\($0.id) \($0.until?.milliseconds ?? -1)" }
                    let parts = rows.map { "\($0.transaction.id % 10) \($0.reversed)" }
                    let balance = try reader.wallets(app: app, customer: customer).map(\.balance).reduce(0, +)
                    return "\(customer) \(rights) \(parts) \(balance)"
                }
                ends.append(end)
            }
            return ends
        }
    }
}

extension TransactionID {
    fileprivate static func % (id: TransactionID, divisor: Int64) -> Int64 { id.number % divisor }
}
