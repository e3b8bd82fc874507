import PurchaseModel
import Storage
import TestSupport
import Testing

/// What turns out to be a family member's copy: what a store must look up for what receipts gave to be taken back, in whatever
/// order they come.
@Suite struct FamilyCopyTests {
    /// A number of the chain whose first one is `first`.
    private static func number(_ number: Int64, of first: Int64, _ kind: ProductKind) throws -> Transaction {
        var sold = try Samples.transaction(first + number)
        (sold.originalID, sold.kind, sold.revocation) = (TransactionID(number: first), kind, nil)
        (sold.purchasedAt, sold.signedAt, sold.expiresAt) = (Samples.now, Samples.now, nil)
        if kind == .autoRenewable {
            sold.purchasedAt = Samples.now.advanced(by: .seconds(number * 30 * 86_400))
            sold.expiresAt = sold.purchasedAt.advanced(by: .seconds(30 * 86_400))
        }
        return sold
    }

    /// What receipts tell of, by themselves; what Apple says of one; that it takes it back by a word that does not say whose it
    /// is, and by one that does.
    private static func facts(of first: Int64, _ kind: ProductKind, isLater: Bool) throws -> [Transaction] {
        let said = isLater ? Int64(1) : 0
        let receipts = try (Int64(0)...1).map { number in
            var received = try Self.number(number, of: first, kind)
            received.ownership = nil
            return received
        }
        let later = try (Int64(1)...3).map { second in
            var fact = try number(said, of: first, kind)
            fact.signedAt = Samples.now.advanced(by: .seconds(second * 60))
            fact.ownership = second == 2 ? nil : .familyShared
            if second > 1 { fact.revocation = Revocation(at: fact.signedAt) }
            if second > 2 { fact.revocation?.type = "FAMILY_REVOKE" }
            return fact
        }
        return receipts + later
    }

    private static func terms(_ kind: ProductKind) throws -> AppTerms {
        let product = try Samples.transaction(1).product
        let goods: [Goods] = [
            .entitlement(try #require(EntitlementID("light"))), .amount(10, try #require(CurrencyID("gems"))),
        ]
        return AppTerms(products: [product: ProductTerms(product: product, kind: kind, goods: goods)])
    }

    static func orders(of count: Int) -> [[Int]] {
        guard count > 0 else { return [[]] }
        return orders(of: count - 1).flatMap { order in
            (0...order.count).map { place in
                var longer = order
                longer.insert(count - 1, at: place)
                return longer
            }
        }
    }

    /// Of the first number it is said, or of the second, in all orders: she has nothing in the end.
    @Test(arguments: StoreKind.allCases, [ProductKind.nonConsumable, .autoRenewable])
    func inAnyOrderNothingIsLeft(kind: StoreKind, sold: ProductKind) async throws {
        let terms = try Self.terms(sold)
        try await kind.withStore { store in
            for (place, order) in Self.orders(of: 5).enumerated() {
                let first = Int64(place + 1) * 100
                let customer = try Samples.customer("c\(place)")
                let facts = try Self.facts(of: first, sold, isLater: place.isMultiple(of: 2))
                for next in order {
                    let recording = Recording(
                        app: try Samples.app(),
                        realm: Samples.production,
                        transactions: [facts[next]],
                        customer: customer,
                        terms: terms
                    )
                    try await Purchases.record(
                        [recording],
                        try Samples.evidence([UInt8(place), UInt8(next)]),
                        in: store
                    )
                }
                let chain = ChainKey(
                    app: try Samples.app(),
                    realm: Samples.production,
                    original: try #require(TransactionID(number: first))
                )
                let (rows, wallets) = try await store.read { reader throws(StoreFailure) in
                    (try reader.fulfilments([chain]), try reader.wallets(app: chain.app, customer: customer))
                }
                #expect(rows.count == 2 && !rows.contains(where: \.isInForce), "\(order)")
                #expect(wallets.allSatisfy { $0.balance == 0 && $0.uncollected == 0 }, "\(order)")
            }
        }
    }

    /// What was taken for a copy, and was bought, is given once Apple says so of the period before it: also what is another
    /// product by now, with amounts that she has some of.
    @Test(arguments: StoreKind.allCases) func whatWasBoughtAfterAllIsGiven(kind: StoreKind) async throws {
        let silver = try #require(ProductID("silver")), gold = try #require(ProductID("gold"))
        let gems = try #require(CurrencyID("gems")), customer = try Samples.customer("c")
        let products = [
            silver: ProductTerms(product: silver, kind: .autoRenewable, goods: []),
            gold: ProductTerms(product: gold, kind: .autoRenewable, goods: [.amount(10, gems)]),
        ]
        try await kind.withStore { store in
            let shown: [(number: Int64, first: Int64, ProductID, Ownership?)] = [
                (0, 900, gold, .purchased), (0, 100, silver, .familyShared), (2, 100, gold, nil),
                (1, 100, silver, .purchased),
            ]
            for (place, (number, first, product, ownership)) in shown.enumerated() {
                var sold = try Self.number(number, of: first, .autoRenewable)
                (sold.product, sold.ownership) = (product, ownership)
                let recording = Recording(
                    app: try Samples.app(),
                    realm: Samples.production,
                    transactions: [sold],
                    customer: customer,
                    terms: AppTerms(products: products)
                )
                try await Purchases.record([recording], try Samples.evidence([UInt8(place)]), in: store)
            }
            let app = try Samples.app()
            let wallets = try await store.read { reader throws(StoreFailure) in
                try reader.wallets(app: app, customer: customer)
            }
            #expect(wallets.map(\.balance) == [20])
        }
    }
}
