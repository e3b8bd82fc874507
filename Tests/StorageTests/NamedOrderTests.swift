import PurchaseModel
import Storage
import TestSupport
import Testing

/// How an order stands that was named for a purchase is looked up wherever that is decided about again.
@Suite struct NamedOrderTests {
    enum Named: CaseIterable { case absent, expired, paid, cancelled, ofAnotherProduct }
    enum Path: CaseIterable { case shown, heard, placed, transferred }

    @Test(arguments: StoreKind.allCases, Named.allCases)
    func onlyWhatMayBePlacedYetIsWaitedFor(kind: StoreKind, named: Named) async throws {
        for (path, isUnknown) in Path.allCases.flatMap({ path in [false, true].map { (path, $0) } }) {
            // While it can be given, it pays what it fits at once.
            if named == .expired, !isUnknown { continue }
            try await kind.withStore { store in
                var shop = NamingShop(store)
                try await shop.prepare(named)
                let terms = shop.terms
                if isUnknown { shop.terms.products = [:] }
                try await shop.show(1, by: "ann", order: "o-n")
                if path != .placed, path != .transferred {
                    // Nothing of it can be given meanwhile.
                    shop.terms.products = [:]
                    try await shop.place("o-2")
                }
                shop.terms = terms
                switch path {
                case .shown: try await shop.show(1, by: "ann", order: "o-n")
                case .heard: try await shop.show(1, by: nil)
                case .placed: try await shop.place("o-2")
                case .transferred:
                    try await shop.transfer(1, to: "bob")
                    try await shop.place("o-2", for: "bob")
                }
                let isLeft = path != .transferred && (named == .absent || named == .expired)
                let (second, first) = (try await shop.payer(of: "o-2"), try await shop.payer(of: "o-n"))
                #expect(second == (isLeft ? nil : 1), "\(path) \(isUnknown)")
                #expect(first == (named == .paid ? 9 : named == .expired && isLeft ? 1 : nil), "\(path) \(isUnknown)")
            }
        }
    }

    /// Each of two alike that come together pays an order of its own, and one alone is noted with the name.
    @Test(arguments: StoreKind.allCases) func ofTwoAlikeEachPaysItsOwn(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let shop = NamingShop(store)
            try await shop.place("o-1")
            try await shop.place("o-2")
            try await shop.show(1, 2, by: "ann", order: "o-2")
            #expect(try await shop.payer(of: "o-1") == 2)
            #expect(try await shop.payer(of: "o-2") == 1)
            #expect(try await shop.named() == [1])
        }
    }
}

/// An app that sells for orders alone, on a store.
private struct NamingShop {
    var terms = AppTerms(needsOrder: true)
    private let store: any Store

    init(_ store: any Store) { self.store = store }

    func prepare(_ named: NamedOrderTests.Named) async throws {
        switch named {
        case .absent: return
        case .expired, .cancelled, .paid: try await place("o-n")
        case .ofAnotherProduct: try await place("o-n", product: "lamp")
        }
        let (key, later) = (try Self.order("o-n"), Samples.now.advanced(by: .seconds(3_600)))
        switch named {
        case .paid: try await show(9, by: "ann", order: "o-n")
        case .expired, .cancelled:
            try await store.write { write throws(StoreFailure) in
                var (situation, inquiry) = (Situation(), Inquiry())
                inquiry.orders = [key]
                inquiry.customers = [StreamKey(app: key.app, realm: Samples.production, customer: CustomerID("ann"))]
                try write.answer(inquiry, in: &situation)
                let decision =
                    named == .expired
                    ? decide(situation, expiring: [key], at: later)
                    : (try? decide(situation, cancelling: key, at: Samples.now)) ?? Decision()
                try write.apply(decision, evidence: nil)
            }
        case .absent, .ofAnotherProduct: break
        }
    }

    func show(_ numbers: Int64..., by customer: String?, order: String? = nil) async throws {
        let transactions = try numbers.map { number in
            var sold = try Samples.transaction(number)
            sold.kind = .consumable
            return sold
        }
        let recording = Recording(
            app: try Samples.app(),
            realm: Samples.production,
            transactions: transactions,
            customer: try customer.map { try Samples.customer($0) },
            order: order.flatMap { OrderID($0) },
            terms: terms
        )
        try await Purchases.record([recording], try Samples.evidence([UInt8(numbers[0])]), in: store)
    }

    func place(_ id: String, product: String = "coins.100", for customer: String = "ann") async throws {
        let order = Order(
            app: try Samples.app(),
            id: try #require(OrderID(id)),
            customer: try Samples.customer(customer),
            product: try #require(ProductID(product)),
            quantity: 1,
            accountToken: nil,
            placedAt: Samples.now,
            expiresAt: Samples.now.advanced(by: .seconds(3_600))
        )
        let terms = terms
        try await store.write { write throws(StoreFailure) in
            let situation = try write.situation(placing: order, customerToken: nil, terms)
            let decision = Result { () throws(RequestFault) in
                try decide(situation, placing: order, terms: terms, at: Samples.now)
            }
            if case .success(let decision) = decision { try write.apply(decision, evidence: nil) }
        }
    }

    func transfer(_ number: Int64, to customer: String) async throws {
        let (key, customer, terms) = (try Samples.key(number), try Samples.customer(customer), terms)
        try await store.write { write throws(StoreFailure) in
            var situation = try write.situation(of: [key], terms)
            var inquiry = Inquiry()
            inquiry.customers = [StreamKey(app: key.app, realm: key.realm, customer: customer)]
            try write.answer(inquiry, in: &situation)
            let (seen, chain) = (situation, ChainKey(app: key.app, realm: key.realm, original: key.id))
            let decision = Result { () throws(RequestFault) in
                try decide(seen, transferring: chain, to: customer, ownToken: { _ in nil }, at: Samples.now)
            }
            if case .success(let decision) = decision { try write.apply(decision, evidence: nil) }
        }
    }

    private static func order(_ id: String) throws -> OrderKey {
        OrderKey(app: try Samples.app(), id: try #require(OrderID(id)))
    }

    func payer(of id: String) async throws -> Int64? {
        let key = try Self.order(id)
        return try await store.read { reader throws(StoreFailure) in
            try reader.orders([key]).first?.payment?.transaction.number
        }
    }

    /// Of the first two, what has an order's name.
    func named() async throws -> [Int64] {
        let keys = [try Samples.key(1), try Samples.key(2)]
        return try await store.read { reader throws(StoreFailure) in
            try reader.transactions(keys).filter { $0.order != nil }.compactMap(\.id.number)
        }
    }
}
