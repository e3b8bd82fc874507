import PurchaseModel
import Storage
import TestSupport
import Testing

/// A batch is read once. What is decided from that is what would be decided of each proof by itself, from a reading of its
/// own after the one before.
@Suite struct BatchReadingTests {
    /// One says whose a chain is, and another brings of it what an order waits for.
    struct Meeting: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// What is recorded before, by itself.
        var before: [Proof] = []
        let batch: [Proof]
        var binding = BindingRule.refuse
    }

    /// Of the chain that began with the first transaction.
    struct Proof: Sendable {
        var number: Int64
        var product: String
        var customer: String?
        var token: AccountToken?
        var original: Int64? = 1
    }

    static let token = AccountToken(high: 1, low: 2)
    static let meetings = [
        Meeting(
            testDescription: "a notification and a claim",
            batch: [Proof(number: 2, product: "yearly"), Proof(number: 1, product: "monthly", customer: "ann")]
        ),
        Meeting(
            testDescription: "a notification, and another one with the token of whose it is",
            batch: [Proof(number: 2, product: "yearly"), Proof(number: 1, product: "monthly", token: token)]
        ),
        Meeting(
            testDescription: "a notification, and whoever takes the chain over",
            before: [Proof(number: 1, product: "monthly", customer: "bob")],
            batch: [Proof(number: 2, product: "yearly"), Proof(number: 1, product: "monthly", customer: "ann")],
            binding: .transfer
        ),
        Meeting(
            testDescription: "a notification, a claim, and one that has come before",
            before: [Proof(number: 3, product: "weekly")],
            batch: [Proof(number: 2, product: "yearly"), Proof(number: 1, product: "monthly", customer: "ann")]
        ),
        Meeting(
            testDescription: "a notification of a chain that has come before, and a claim that names none",
            before: [Proof(number: 3, product: "monthly")],
            batch: [
                Proof(number: 2, product: "yearly"),
                Proof(number: 2, product: "yearly", customer: "ann", original: nil),
            ]
        ),
        Meeting(
            testDescription: "a notification that names no chain, and a claim that does",
            batch: [
                Proof(number: 2, product: "yearly", original: nil),
                Proof(number: 2, product: "yearly"),
                Proof(number: 1, product: "monthly", customer: "ann"),
            ]
        ),
    ]

    @Test(arguments: StoreKind.allCases, meetings)
    func whatIsSomebodysByAnotherProofPaysHerOrder(kind: StoreKind, given: Meeting) async throws {
        var paidCount = 0
        for batch in [given.batch, given.batch.reversed()] {
            for needsOrder in [false, true] {
                let terms = try Self.terms(needsOrder, given.binding)
                let recordings = try batch.map { try Self.recording($0, terms) }
                let before = try given.before.map { try Self.recording($0, terms) }
                var ends: [[String]] = []
                for batches in [[recordings], recordings.map { [$0] }] {
                    let end = try await kind.withStore { store in
                        for recording in before { try await Self.record([recording], in: store) }
                        try await Self.place("o-0", "monthly", terms, in: store, customerToken: Self.token)
                        try await Self.place("o-1", "yearly", terms, in: store)
                        for batch in batches { try await Self.record(batch, in: store) }
                        return try await Self.end(store)
                    }
                    ends.append(end)
                }
                #expect(ends[0] == ends[1], "order needed: \(needsOrder), \(batch.map(\.number))")
                if ends[1].contains(where: { $0.hasPrefix("o-1 paid") }) { paidCount += 1 }
            }
        }
        // Where the first to come says that it is another's, or of no chain, it is not hers.
        #expect(paidCount >= 2)
    }

    /// In memory many, and in each store some: what is asked is the same, and what is answered the stores' own.
    @Test(arguments: UInt64(0)..<300) func aBatchIsDecidedAsItsProofsOneAfterAnother(seed: UInt64) async throws {
        try await Self.compare(seed: seed, MemoryStore(), MemoryStore())
    }

    @Test(arguments: StoreKind.allCases, UInt64(1_000)..<1_003)
    func soItIsInEveryStore(kind: StoreKind, seed: UInt64) async throws {
        try await kind.withStore { store in try await Self.compare(seed: seed, store, MemoryStore()) }
    }

    private static func compare(seed: UInt64, _ together: any Store, _ each: any Store) async throws {
        var bustle = try Bustle(seed: seed)
        var rows: (together: [ChainKey: RecordedSubscription], each: [ChainKey: RecordedSubscription]) = ([:], [:])
        for step in 0..<12 {
            bustle.pass()
            for _ in 0..<3 {
                let act = try bustle.act()
                let one = try await carryOut(act, in: together)?.telling(after: &rows.together)
                let other = try await carryOut(act, in: each)?.telling(after: &rows.each)
                guard one == other else {
                    Issue.record("step \(step): what else happens differs")
                    return
                }
            }
            let batch = try bustle.batch()
            let found = try await record(batch, in: together, ownToken: bustle.ownToken, at: bustle.now)
                .map { $0.telling(after: &rows.together) }
            var expected: [Decision] = []
            for recording in batch {
                let decided = try await record([recording], in: each, ownToken: bustle.ownToken, at: bustle.now)
                expected += decided.map { $0.telling(after: &rows.each) }
            }
            for (place, (found, expected)) in zip(found, expected).enumerated() where found != expected {
                Issue.record("step \(step), proof \(place) of \(batch.count): \(found.differences(from: expected))")
                return
            }
        }
    }

    /// As the recorder does.
    @discardableResult
    private static func record(
        _ batch: [Recording],
        in store: any Store,
        ownToken: @escaping @Sendable (CustomerID) -> AccountToken? = { _ in nil },
        at now: Timestamp = Samples.now
    ) async throws -> [Decision] {
        let evidence = try Samples.evidence()
        return try await store.write { write throws(StoreFailure) in
            var situation = try write.situation(around: batch)
            var decisions: [Decision] = []
            for recording in batch {
                let decision = decide(situation, recording, ownToken: ownToken, at: now)
                try write.apply(decision, evidence: evidence)
                situation.apply(decision)
                decisions.append(decision)
            }
            try write.append(decisions.flatMap(\.events).map(row))
            return decisions
        }
    }

    @discardableResult
    private static func carryOut(_ act: @escaping Bustle.Act, in store: any Store) async throws -> Decision? {
        try await store.write { write throws(StoreFailure) in
            guard let decision = try act(write) else { return nil }
            try write.apply(decision, evidence: nil)
            try write.append(decision.events.map(row))
            return decision
        }
    }

    private static func row(_ event: LedgerEvent) -> EventRow {
        let stream = event.stream
        let name = "\(stream.realm.environment.rawValue)-\(stream.customer?.text ?? "0")-\(event.sequence)"
        return EventRow(
            id: EventID(checked: "evt_" + name),
            app: stream.app,
            realm: stream.realm,
            customer: stream.customer,
            sequence: event.sequence,
            type: event.type.rawValue,
            happenedAt: event.happenedAt,
            learnedAt: event.learnedAt,
            data: Array("{}".utf8)
        )
    }

    // MARK: One meeting

    private static func terms(_ needsOrder: Bool, _ binding: BindingRule) throws -> AppTerms {
        let products = try ["weekly", "monthly", "yearly"].map { id in
            let currency = try #require(CurrencyID(id))
            return ProductTerms(
                product: try #require(ProductID(id)),
                kind: .autoRenewable,
                goods: [.amount(10, currency)]
            )
        }
        return AppTerms(
            products: Dictionary(uniqueKeysWithValues: products.map { ($0.product, $0) }),
            needsOrder: needsOrder,
            binding: binding
        )
    }

    private static func recording(_ proof: Proof, _ terms: AppTerms) throws -> Recording {
        var sold = Transaction(
            id: try #require(TransactionID(number: proof.number)),
            originalID: proof.original.flatMap { TransactionID(number: $0) },
            product: try #require(ProductID(proof.product)),
            kind: .autoRenewable,
            purchasedAt: Samples.now,
            signedAt: Samples.now
        )
        sold.expiresAt = Samples.now.advanced(by: .seconds(proof.number * 86_400))
        sold.accountToken = proof.token
        return Recording(
            app: try Samples.app(),
            realm: Samples.production,
            transactions: [sold],
            customer: try proof.customer.map { try Samples.customer($0) },
            terms: terms
        )
    }

    private static func place(
        _ id: String,
        _ product: String,
        _ terms: AppTerms,
        in store: any Store,
        customerToken: AccountToken? = nil
    ) async throws {
        let order = try Samples.order(id, product)
        try await carryOut(
            { reader throws(StoreFailure) in
                let known = try reader.situation(placing: order, customerToken: customerToken, terms)
                return try? decide(
                    known,
                    placing: order,
                    ownToken: { _ in customerToken },
                    terms: terms,
                    at: Samples.now
                )
            },
            in: store
        )
    }

    /// How the orders stand, what was given, and the balances.
    private static func end(_ store: any Store) async throws -> [String] {
        let (app, ann) = (try Samples.app(), try Samples.customer("ann"))
        let chains = try (1...3).map { number in
            ChainKey(app: app, realm: Samples.production, original: try #require(TransactionID(number: number)))
        }
        return try await store.read { reader throws(StoreFailure) in
            let page = try reader.orders(app: app, customer: nil, after: nil, limit: 9)
            let orders = page.orders.map { "\($0.id) \($0.state) \($0.payment?.transaction.description ?? "")" }
            let rows = try reader.fulfilments(chains).map { row in
                "\(row.transaction.id) \(row.state) \(row.reason?.rawValue ?? "") \(row.customer?.text ?? "") "
                    + (row.order?.text ?? "")
            }
            let balances = try reader.wallets(app: app, customer: ann).map { "\($0.key.currency) \($0.balance)" }
            return orders + rows.sorted() + balances.sorted()
        }
    }
}

extension Decision {
    /// The same without how often a subscription was written, and without those that are written as they were. That is done
    /// so that of two who each know a part of the periods only one succeeds, and who knows more may do it more often.
    fileprivate func telling(after rows: inout [ChainKey: RecordedSubscription]) -> Decision {
        var told = self
        told.subscriptions = []
        for row in subscriptions.map({ $0.row.unversioned }) where rows.updateValue(row, forKey: row.chain) != row {
            told.subscriptions.append(.update(row))
        }
        return told
    }

    /// What is not as it should be.
    fileprivate func differences(from expected: Decision) -> String {
        func words(_ decision: Decision) -> [String] {
            Mirror(reflecting: decision).children.map { "\($0.label ?? ""): \($0.value)" }
        }
        let (one, other) = (words(self), words(expected))
        return "\(one.filter { !other.contains($0) }) and not \(other.filter { !one.contains($0) })"
    }
}

extension RecordedSubscription {
    fileprivate var unversioned: RecordedSubscription { copy(current: current, expiresAt: expiresAt, version: 0) }
}
