import PurchaseModel
import Storage
import TestSupport
import Testing

/// A shop to which a family member shows periods of one chain. Whatever is asked of it is decided twice: from what the store
/// looks up, and from all that there is; the two must be the same.
struct CopyShop {
    enum Act: Hashable, Sendable {
        /// A receipt tells of a period, and not whose it is.
        case receive(Int64)
        /// Apple tells of it, with whose it is.
        case hear(Int64, Ownership)
        case place
        /// A person says that a period pays the order.
        case attach(Int64)
        /// The rules are asked once more.
        case rebuild(Int64)
    }

    /// Of which nothing is given to families, and what is.
    static let (gold, silver) = ("gold", "silver")

    var now = Samples.now
    var terms: AppTerms
    /// What is bought in each month, where that is not gold.
    var products: [Int64: String] = [:]
    /// What Apple has taken back, before anybody heard of it, and what another plan took the place of.
    var (refunded, upgraded): (Set<Int64>, Set<Int64>) = ([], [])
    private let store: any Store
    private var whole = Situation()
    private var proofs: UInt8 = 0

    init(_ store: any Store, needsOrder: Bool = true) throws {
        self.store = store
        let gems = try #require(CurrencyID("gems"))
        let products = try [Self.gold, Self.silver].map { name in
            var product = ProductTerms(
                product: try Self.product(name),
                kind: .autoRenewable,
                goods: [.amount(10, gems)]
            )
            product.isFamilyShared = name == Self.silver
            return product
        }
        terms = AppTerms(
            products: Dictionary(uniqueKeysWithValues: products.map { ($0.product, $0) }),
            needsOrder: needsOrder
        )
    }

    static func product(_ name: String) throws -> ProductID { try #require(ProductID(name)) }

    // MARK: What happens

    mutating func act(_ acts: Act...) async throws { for act in acts { try await self.act(act) } }

    mutating func act(_ act: Act) async throws {
        switch act {
        case .receive(let number): try await show(number, nil)
        case .hear(let number, let ownership): try await show(number, ownership)
        case .place: try await place()
        case .attach(let number): try await attach(number)
        case .rebuild(let number): try await rebuild(number)
        }
    }

    private func month(_ number: Int64, _ ownership: Ownership?) throws -> Transaction {
        var month = try Samples.transaction(number)
        month.originalID = TransactionID(number: 1)
        month.product = try Self.product(products[number] ?? Self.gold)
        month.kind = .autoRenewable
        month.purchasedAt = Samples.now.advanced(by: .seconds((number - 1) * 30 * 86_400))
        month.expiresAt = month.purchasedAt.advanced(by: .seconds(30 * 86_400))
        month.ownership = ownership
        if refunded.contains(number) { month.revocation = Revocation(at: month.purchasedAt.advanced(by: .seconds(60))) }
        month.isUpgraded = upgraded.contains(number) && ownership != nil
        return month
    }

    private mutating func show(_ number: Int64, _ ownership: Ownership?) async throws {
        let recording = Recording(
            app: try Samples.app(),
            realm: Samples.production,
            transactions: [try month(number, ownership)],
            customer: try Samples.customer("ann"),
            terms: terms
        )
        proofs += 1
        try await carryOut(with: try Samples.evidence([proofs])) { reader throws(StoreFailure) in
            try reader.situation(around: [recording])
        } deciding: { [now] situation in
            decide(situation, recording, at: now)
        }
    }

    private func order() throws -> Order {
        Order(
            app: try Samples.app(),
            id: try #require(OrderID("o-1")),
            customer: try Samples.customer("ann"),
            product: try Self.product(Self.gold),
            quantity: 1,
            accountToken: nil,
            placedAt: now,
            expiresAt: now.advanced(by: .seconds(3_600))
        )
    }

    private mutating func place() async throws {
        let order = try order()
        try await carryOut { [terms] reader throws(StoreFailure) in
            try reader.situation(placing: order, customerToken: nil, terms)
        } deciding: { [terms, now] situation in
            try? decide(situation, placing: order, ownToken: { _ in nil }, terms: terms, at: now)
        }
    }

    private mutating func attach(_ number: Int64) async throws {
        let (order, key) = (try order().key, try Samples.key(number))
        try await carryOut { [terms] reader throws(StoreFailure) in
            try reader.situation(of: [key], order: order, terms)
        } deciding: { [terms, now] situation in
            try? decide(situation, attaching: key, to: order, ownToken: { _ in nil }, terms: terms, at: now)
        }
    }

    private mutating func rebuild(_ number: Int64) async throws {
        let key = try Samples.key(number)
        try await carryOut { [terms] reader throws(StoreFailure) in
            try reader.situation(of: [key], terms)
        } deciding: { [terms, now] situation in
            decide(situation, rebuilding: [key], tokens: [:], terms: terms, at: now)
        }
    }

    private mutating func carryOut(
        with evidence: EvidenceRow? = nil,
        _ lookUp: @escaping @Sendable (any StoreReader) throws(StoreFailure) -> Situation,
        deciding: @escaping @Sendable (Situation) -> Decision?
    ) async throws {
        let decision = try await store.write { write throws(StoreFailure) in
            let decision = deciding(try lookUp(write))
            if let decision, !decision.isEmpty { try write.apply(decision, evidence: evidence) }
            return decision
        }
        let byAll = deciding(whole)
        #expect(decision?.withoutNumbers == byAll?.withoutNumbers)
        #expect(decision?.events.map(\.type) == byAll?.events.map(\.type))
        if let decision { whole.apply(decision) }
    }

    // MARK: How it stands

    /// How each period stands, as `granted`, or the state and why.
    func words(_ numbers: Int64...) throws -> [String] {
        try numbers.map { number in
            let row = try #require(whole.fulfilment(of: try Samples.key(number)))
            return row.state.rawValue + (row.reason.map { " \($0.rawValue)" } ?? "")
        }
    }

    func state() throws -> OrderState? { whole.order(try order().key)?.state }

    /// Which period pays the order.
    func payer() throws -> Int? {
        let payment = whole.order(try order().key)?.payment
        return (1...3).first { TransactionID(number: Int64($0)) == payment?.transaction }
    }

    func gems() throws -> Int64 {
        let wallet = WalletKey(
            app: try Samples.app(),
            realm: Samples.production,
            customer: try Samples.customer("ann"),
            currency: try #require(CurrencyID("gems"))
        )
        return whole.wallet(wallet).balance
    }
}

extension Decision {
    /// Events are numbered by what the store was told of those before: here nobody hands them on.
    fileprivate var withoutNumbers: Decision {
        var decision = self
        decision.events = []
        return decision
    }
}
