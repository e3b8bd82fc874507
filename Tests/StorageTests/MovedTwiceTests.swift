import PurchaseModel
import Storage
import TestSupport
import Testing

/// A subscription that Apple goes on with under another original transaction twice: a store must look up the whole line of them,
/// whichever comes first.
@Suite struct MovedTwiceTests {
    /// Of each period: its number, that of its first transaction, the day on which it begins, and from which chain it goes on.
    private static let periods: [(number: Int64, original: Int64, day: Int64, previous: Int64?)] = [
        (1, 1, 0, nil), (90, 90, 0, 1), (91, 90, 30, nil), (190, 190, 30, 90), (191, 190, 60, nil),
    ]

    private static func recording(_ place: Int, by customer: String?, _ terms: AppTerms) throws -> Recording {
        let (number, original, day, previous) = periods[place]
        var period = try Samples.transaction(number)
        period.originalID = TransactionID(number: original)
        period.previousOriginalID = previous.flatMap { TransactionID(number: $0) }
        period.kind = .autoRenewable
        period.purchasedAt = Samples.now.advanced(by: .seconds(day * 86_400))
        period.expiresAt = Samples.now.advanced(by: .seconds((day + 30) * 86_400))
        period.accountToken = number == 1 ? AccountToken(high: 3, low: 4) : nil
        period.ownership = .purchased
        var recording = Recording(app: try Samples.app(), realm: Samples.production, transactions: [period])
        recording.terms = terms
        recording.customer = try customer.map { try Samples.customer($0) }
        return recording
    }

    private static func terms(needsOrder: Bool) throws -> AppTerms {
        let product = try Samples.transaction(1).product
        let gems = try #require(CurrencyID("gems"))
        let goods = ProductTerms(product: product, kind: .autoRenewable, goods: [.amount(10, gems)])
        return AppTerms(products: [product: goods], needsOrder: needsOrder)
    }

    /// Three periods were paid, and each is given once.
    private static func check(_ store: any Store, _ comment: Comment) async throws {
        let chains = try [Int64(1), 90, 190].map { original in
            let id = try #require(TransactionID(number: original))
            return ChainKey(app: try Samples.app(), realm: Samples.production, original: id)
        }
        let (app, ann) = (try Samples.app(), try Samples.customer("ann"))
        let (owners, given, balances) = try await store.read { reader throws(StoreFailure) in
            (try reader.owners(chains), try reader.fulfilments(chains), try reader.wallets(app: app, customer: ann))
        }
        #expect(owners.map(\.customer.text) == ["ann", "ann", "ann"], comment)
        #expect(given.count { $0.state == .granted } == 3, comment)
        #expect(given.count { $0.reason == .alreadyGranted } == 2, comment)
        #expect(balances.map(\.balance) == [30], comment)
    }

    @Test(
        arguments: StoreKind.allCases,
        [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [3, 0, 1, 2, 4], [3, 4, 1, 2, 0], [0, 3, 4, 1, 2], [1, 4, 0, 3, 2]]
    )
    func itStaysWhoseItWasAndIsGivenOnce(kind: StoreKind, places: [Int]) async throws {
        let terms = try Self.terms(needsOrder: false)
        try await kind.withStore { store in
            for place in places {
                let recording = try Self.recording(place, by: place == 0 ? "ann" : nil, terms)
                try await Purchases.record([recording], try Samples.evidence([UInt8(place)]), in: store)
            }
            try await Self.check(store, "\(places)")
        }
    }

    @Test(arguments: StoreKind.allCases, ["nobody", "bob"])
    func aLateOrderHandsOnTheWholeLine(kind: StoreKind, holder: String) async throws {
        let terms = try Self.terms(needsOrder: true)
        let order = Order(
            app: try Samples.app(),
            id: try #require(OrderID("o-1")),
            customer: try Samples.customer("ann"),
            product: try Samples.transaction(1).product,
            quantity: 1,
            accountToken: AccountToken(high: 3, low: 4),
            placedAt: Samples.now,
            expiresAt: Samples.now.advanced(by: .seconds(3_600))
        )
        try await kind.withStore { store in
            for place in Self.periods.indices {
                let recording = try Self.recording(place, by: place == 0 && holder == "bob" ? holder : nil, terms)
                try await Purchases.record([recording], try Samples.evidence([UInt8(place)]), in: store)
            }
            try await store.write { write throws(StoreFailure) in
                let situation = try write.situation(placing: order, customerToken: nil, terms)
                let decision = try? decide(situation, placing: order, terms: terms, at: Samples.now)
                if let decision { try write.apply(decision, evidence: nil) }
            }
            try await Self.check(store, "\(holder)")
        }
    }
}
