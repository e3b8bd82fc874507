import Pipeline
import PurchaseModel
import Simulation
import Storage
import Testing

/// A store on which each question sees what was committed until then, as PostgreSQL's do: another server commits between any
/// two questions of one that reads what it decides from. Either its own commit is refused, and it decides anew, or all is as
/// if one of them had come after the other.
@Suite struct SkewedReadTests {
    /// What has happened before, what one does, and what the other does meanwhile.
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var needsOrder = false
        var before: [Act] = []
        let one: Act
        let other: Act
    }

    enum Act: Sendable {
        case show(Sale, by: String?)
        /// Apple tells of the one, and a customer shows the other, in one batch.
        case showTogether(Sale, Sale, by: String)
        case place(product: String, token: AccountToken?)
        /// The first purchase pays the order, because a person says so.
        case attach
        /// The first purchase's chain becomes another customer's.
        case transfer
    }

    struct Sale: Sendable {
        var number: Int64 = 1
        var product = "coins"
        var token: AccountToken?
        var refundedAfter: Int64?
    }

    static let token = AccountToken(high: 1, low: 2)
    static let otherToken = AccountToken(high: 3, low: 4)
    static let cases: [Case] = [
        Case(
            testDescription: "a repetition, and a refund",
            before: [.show(Sale(), by: "ann")],
            one: .show(Sale(), by: "ann"),
            other: .show(Sale(refundedAfter: 9), by: nil)
        ),
        Case(
            testDescription: "a claim, and a renewal",
            before: [.show(Sale(product: "monthly"), by: nil)],
            one: .show(Sale(product: "monthly"), by: "ann"),
            other: .show(Sale(number: 2, product: "monthly"), by: nil)
        ),
        Case(
            testDescription: "an order by its token, and what names it",
            needsOrder: true,
            one: .place(product: "coins", token: token),
            other: .show(Sale(token: token), by: nil)
        ),
        Case(
            testDescription: "an order, and its payment",
            needsOrder: true,
            one: .place(product: "coins", token: nil),
            other: .show(Sale(), by: "ann")
        ),
        Case(
            testDescription: "a renewal, and the purchase that it goes on from",
            needsOrder: true,
            before: [
                .place(product: "monthly", token: token),
                .show(Sale(product: "monthly", token: otherToken), by: "ann"),
            ],
            one: .show(Sale(number: 3, product: "monthly", token: otherToken), by: "ann"),
            other: .show(Sale(number: 2, product: "monthly", token: token), by: "ann")
        ),
        Case(
            testDescription: "a renewal, and a transfer",
            before: [.show(Sale(product: "monthly"), by: "ann")],
            one: .show(Sale(number: 2, product: "monthly"), by: nil),
            other: .transfer
        ),
        Case(
            testDescription: "a purchase attached by hand, and its refund",
            needsOrder: true,
            before: [.place(product: "coins", token: token), .show(Sale(token: otherToken), by: "ann")],
            one: .attach,
            other: .show(Sale(token: otherToken, refundedAfter: 9), by: nil)
        ),
        Case(
            testDescription: "what was given without an order and is attached by hand, and its refund",
            before: [.show(Sale(), by: "ann"), .place(product: "coins", token: nil)],
            one: .attach,
            other: .show(Sale(refundedAfter: 9), by: nil)
        ),
        Case(
            testDescription: "what one proof of a batch tells and another claims, and an order for it",
            one: .showTogether(Sale(number: 2, product: "yearly"), Sale(product: "monthly"), by: "ann"),
            other: .place(product: "yearly", token: nil)
        ),
        Case(
            testDescription: "the same, where purchases need orders",
            needsOrder: true,
            one: .showTogether(Sale(number: 2, product: "yearly"), Sale(product: "monthly"), by: "ann"),
            other: .place(product: "yearly", token: nil)
        ),
    ]

    @Test(arguments: cases, [false, true])
    func whatIsCommittedBetweenTwoQuestionsIsSeenOrToldByAConflict(given: Case, isTurned: Bool) async throws {
        let desk = try Desk(needsOrder: given.needsOrder)
        let (one, other) = isTurned ? (given.other, given.one) : (given.one, given.other)
        let alike = [
            try await desk.end(of: given.before + [one, other]), try await desk.end(of: given.before + [other, one]),
        ]
        var place = 0
        while true {
            let store = MemoryStore()
            for act in given.before { try await desk.commit(act, to: store) }
            let (decisions, isAsked) = try await store.write { [place] write throws(StoreFailure) in
                let reads = SkewedReads(write, before: place) { () throws(StoreFailure) in
                    try desk.write(desk.decide(other, from: write), to: write)
                }
                return (try desk.decide(one, from: reads), reads.isSkewed)
            }
            guard isAsked else { break }
            do {
                try await store.write { write throws(StoreFailure) in
                    try desk.write(decisions, to: write)
                }
            } catch StoreFailure.conflict {
                try await desk.commit(one, to: store)
            }
            let end = try await desk.end(store)
            #expect(alike.contains(end), "before question \(place): \(end), and not \(alike)")
            place += 1
        }
        #expect(place > 5)
    }
}

/// What it takes to decide, and to say how all stands in the end.
private struct Desk: Sendable {
    let app: AppID
    let customer: CustomerID
    let heir: CustomerID
    let order: OrderID
    let terms: AppTerms
    let evidence: EvidenceRow
    let products: [String: ProductID]
    let numbers: [Int64: TransactionID]

    static let now = Timestamp(milliseconds: 1_700_000_000_000)
    static let realm = Realm(environment: .production, isTestSigned: false)

    init(needsOrder: Bool) throws {
        app = try #require(AppID("game"))
        customer = try #require(CustomerID("ann"))
        heir = try #require(CustomerID("bob"))
        order = try #require(OrderID("o-1"))
        let (coins, monthly) = (try #require(ProductID("coins")), try #require(ProductID("monthly")))
        let yearly = try #require(ProductID("yearly"))
        let gems = try #require(CurrencyID("gems"))
        terms = AppTerms(
            products: [
                coins: ProductTerms(product: coins, kind: .consumable, goods: [.amount(100, gems)]),
                monthly: ProductTerms(product: monthly, kind: .autoRenewable, goods: [.amount(10, gems)]),
                yearly: ProductTerms(product: yearly, kind: .autoRenewable, goods: [.amount(120, gems)]),
            ],
            needsOrder: needsOrder
        )
        evidence = EvidenceRow(
            digest: try #require(ProofDigest([UInt8](repeating: 1, count: 32))),
            format: "jws",
            proof: [1],
            customer: nil,
            receivedAt: Self.now,
            verdict: "recorded"
        )
        products = ["coins": coins, "monthly": monthly, "yearly": yearly]
        numbers = try Dictionary(
            uniqueKeysWithValues: (Int64(1)...3).map { ($0, try #require(TransactionID(number: $0))) }
        )
    }

    func commit(_ act: SkewedReadTests.Act, to store: MemoryStore) async throws {
        try await store.write { write throws(StoreFailure) in
            try self.write(decide(act, from: write), to: write)
        }
    }

    /// With its events, as the recorder writes it.
    func write(_ decisions: [Decision], to transaction: any StoreTransaction) throws(StoreFailure) {
        for decision in decisions { try transaction.apply(decision, evidence: evidence) }
        try transaction.append(EventRows.rows(decisions.flatMap(\.events)))
    }

    func decide(_ act: SkewedReadTests.Act, from reader: any StoreReader) throws(StoreFailure) -> [Decision] {
        guard case .showTogether(let told, let shown, let customer) = act else {
            return [try decideOne(act, from: reader)]
        }
        let recordings = [recording(of: told, by: nil), recording(of: shown, by: customer)]
        var situation = try reader.situation(around: recordings)
        return recordings.map { recording in
            let decision = PurchaseModel.decide(situation, recording, ownToken: { _ in nil }, at: Self.now)
            situation.apply(decision)
            return decision
        }
    }

    private func decideOne(_ act: SkewedReadTests.Act, from reader: any StoreReader) throws(StoreFailure) -> Decision {
        let key = OrderKey(app: app, id: order)
        switch act {
        case .showTogether: preconditionFailure("it is decided as a batch")
        case .show(let sale, let customer):
            let recording = recording(of: sale, by: customer)
            let situation = try reader.situation(around: [recording])
            return PurchaseModel.decide(situation, recording, ownToken: { _ in nil }, at: Self.now)
        case .place(let product, let token):
            guard let product = products[product] else { return Decision() }
            let placed = Order(
                app: app,
                id: order,
                customer: customer,
                product: product,
                quantity: 1,
                accountToken: token,
                placedAt: Self.now,
                expiresAt: Self.now.advanced(by: .seconds(3_600))
            )
            let situation = try reader.situation(placing: placed, customerToken: nil, terms)
            let decision = try? PurchaseModel.decide(
                situation,
                placing: placed,
                ownToken: { _ in nil },
                terms: terms,
                at: Self.now
            )
            return decision ?? Decision()
        case .transfer:
            guard let original = numbers[1] else { return Decision() }
            let chain = ChainKey(app: app, realm: Self.realm, original: original)
            var inquiry = Inquiry()
            inquiry.chains = [chain]
            inquiry.customers = [StreamKey(app: app, realm: Self.realm, customer: heir)]
            var situation = Situation()
            try reader.answer(inquiry, in: &situation)
            let decision = try? PurchaseModel.decide(
                situation,
                transferring: chain,
                to: heir,
                overrulesToken: true,
                ownToken: AccountToken.init(ofCustomer:),
                at: Self.now
            )
            return decision ?? Decision()
        case .attach:
            guard let first = keys.first else { return Decision() }
            let situation = try reader.situation(of: [first], order: key, terms)
            let attached = try? PurchaseModel.decide(
                situation,
                attaching: first,
                to: key,
                ownToken: { _ in nil },
                terms: terms,
                at: Self.now
            )
            return attached ?? Decision()
        }
    }

    private var keys: [TransactionKey] {
        numbers.sorted { $0.key < $1.key }.map { TransactionKey(app: app, realm: Self.realm, id: $0.value) }
    }

    private func recording(of sale: SkewedReadTests.Sale, by customer: String?) -> Recording {
        var all: [Transaction] = []
        if let id = numbers[sale.number], let product = products[sale.product] {
            let signedAt = Self.now.advanced(by: .seconds(sale.refundedAfter ?? 0))
            var sold = Transaction(id: id, originalID: id, product: product, purchasedAt: Self.now, signedAt: signedAt)
            sold.accountToken = sale.token
            if sale.product != "coins" {
                sold.kind = .autoRenewable
                sold.originalID = numbers[1]
                sold.expiresAt = Self.now.advanced(by: .seconds(sale.number * 30 * 86_400))
            }
            if sale.refundedAfter != nil { sold.revocation = Revocation(at: signedAt, reason: 0) }
            all.append(sold)
        }
        return Recording(
            app: app,
            realm: Self.realm,
            transactions: all,
            customer: customer.flatMap { CustomerID($0) },
            terms: terms
        )
    }

    func end(of acts: [SkewedReadTests.Act]) async throws -> [String] {
        let store = MemoryStore()
        for act in acts { try await commit(act, to: store) }
        return try await end(store)
    }

    /// What was given for each purchase, what the balances are, how the order stands, and what everybody was told.
    func end(_ store: MemoryStore) async throws -> [String] {
        try await store.read { reader throws(StoreFailure) in
            let situation = try reader.situation(of: keys, terms)
            var lines = keys.compactMap { key in
                situation.fulfilment(of: key).map { row in
                    "\(key.id) \(row.state) \(row.reason?.rawValue ?? "") \(row.customer?.text ?? "") \(row.order?.text ?? "")"
                }
            }
            for customer in [customer, heir] {
                lines += try reader.wallets(app: app, customer: customer).map {
                    "\(customer) \($0.key.currency) \($0.balance)"
                }
            }
            lines += try reader.orders([OrderKey(app: app, id: order)]).map { "\($0.id) \($0.state)" }
            let feed = try reader.events(app: app, after: .start, where: .everything, limit: 100).events
            let told = feed.map { "\($0.event.customer?.text ?? "") \($0.event.sequence) \($0.event.type)" }
            return lines + told.sorted()
        }
    }
}
