import PurchaseModel
import Storage
import TestSupport
import Testing

/// A subscription that Apple goes on with under another original transaction: what a store must look up for it to stay whose it
/// was, whichever of the two comes first.
@Suite struct MovedSubscriptionTests {
    private static func period(_ number: Int64, of original: Int64, from day: Int64) throws -> Transaction {
        var period = try Samples.transaction(number)
        period.originalID = TransactionID(number: original)
        period.kind = .autoRenewable
        period.purchasedAt = Samples.now.advanced(by: .seconds(day * 86_400))
        period.expiresAt = Samples.now.advanced(by: .seconds((day + 30) * 86_400))
        period.price = Price(milliunits: 4_990, currency: "USD")
        if original == 90, number == 90 { period.previousOriginalID = TransactionID(number: 1) }
        return period
    }

    private static func chain(_ original: Int64) throws -> ChainKey {
        let id = try #require(TransactionID(number: original))
        return ChainKey(app: try Samples.app(), realm: Samples.production, original: id)
    }

    private static func recording(_ place: Int) throws -> Recording {
        let period =
            switch place {
            case 0: try period(1, of: 1, from: 0)
            // The second period does not say where it came from.
            default: try period(89 + Int64(place), of: 90, from: Int64(place - 1) * 30)
            }
        var recording = Recording(app: try Samples.app(), realm: Samples.production, transactions: [period])
        if place == 0 { recording.customer = try Samples.customer("ann") }
        return recording
    }

    private static let orders = [[[0], [1], [2]], [[1], [0], [2]], [[1], [2], [0]], [[1, 2, 0]], [[0, 1, 2]]]

    @Test(arguments: StoreKind.allCases, orders)
    func itStaysWhoseItWas(kind: StoreKind, batches: [[Int]]) async throws {
        try await kind.withStore { store in
            for (number, batch) in batches.enumerated() {
                let evidence = try Samples.evidence([UInt8(number)])
                try await Purchases.record(try batch.map { try Self.recording($0) }, evidence, in: store)
            }
            let chains = [try Self.chain(1), try Self.chain(90)]
            let keys = try [Int64(1), 90, 91].map { try Samples.key($0) }
            let (owners, given, rows, recorded) = try await store.read { reader throws(StoreFailure) in
                (
                    try reader.owners(chains), try reader.fulfilments(chains), try reader.subscriptions(chains),
                    try reader.transactions(keys)
                )
            }
            #expect(owners.map(\.customer.text) == ["ann", "ann"])
            #expect(owners.first { $0.chain == chains[0] }?.successor?.number == 90)
            #expect(given.map(\.state) == [.granted, .granted, .granted])
            #expect(rows.first { $0.chain == chains[0] }?.ends.move?.to.number == 90)
            #expect(rows.first { $0.chain == chains[1] }?.ends.origin?.from.number == 1)
            #expect(recorded.compactMap(\.transaction.previousOriginalID?.number) == [1])
        }
    }

    /// A late order, or one that a person attaches the old one to, is one commit for both chains: what waits in the new one, and
    /// its customer's balance, are looked up with the old one.
    @Test(arguments: StoreKind.allCases, [true, false])
    func itIsHandedOnWithALateOrder(kind: StoreKind, isByHand: Bool) async throws {
        let token = AccountToken(high: 3, low: 4)
        let gems = try #require(CurrencyID("gems"))
        var terms = AppTerms(needsOrder: true)
        let order = Order(
            app: try Samples.app(),
            id: try #require(OrderID("o-1")),
            customer: try Samples.customer("ann"),
            product: try Self.period(1, of: 1, from: 0).product,
            quantity: 1,
            accountToken: isByHand ? nil : token,
            placedAt: Samples.now,
            expiresAt: Samples.now.advanced(by: .seconds(3_600))
        )
        terms.products = [
            order.product: ProductTerms(product: order.product, kind: .autoRenewable, goods: [.amount(10, gems)])
        ]
        try await kind.withStore { [terms] store in
            for place in 0...2 {
                var recording = try Self.recording(place)
                (recording.customer, recording.terms) = (nil, terms)
                if place == 0, !isByHand { recording.transactions[0].accountToken = token }
                try await Purchases.record([recording], try Samples.evidence([UInt8(place)]), in: store)
            }
            try await store.write { write throws(StoreFailure) in
                let situation = try write.situation(placing: order, customerToken: nil, terms)
                let decision = try? decide(situation, placing: order, terms: terms, at: Samples.now)
                if let decision { try write.apply(decision, evidence: nil) }
            }
            let first = try Samples.key(1)
            if isByHand {
                try await store.write { write throws(StoreFailure) in
                    let situation = try write.situation(of: [first], order: order.key, terms)
                    let decision = try? decide(
                        situation,
                        attaching: first,
                        to: order.key,
                        terms: terms,
                        at: Samples.now
                    )
                    if let decision { try write.apply(decision, evidence: nil) }
                }
            }
            let chains = [try Self.chain(1), try Self.chain(90)]
            let wallet = WalletKey(app: order.app, realm: Samples.production, customer: order.customer, currency: gems)
            let (owners, given, balances) = try await store.read { reader throws(StoreFailure) in
                (try reader.owners(chains), try reader.fulfilments(chains), try reader.wallets([wallet]))
            }
            #expect(owners.map(\.customer.text) == ["ann", "ann"])
            // The period that ran was paid once.
            #expect(given.map(\.state) == [.granted, .withheld, .granted])
            #expect(balances.map(\.balance) == [20])
        }
    }

    /// Nobody is known: what is left there is told to whoever comes to have the old one.
    @Test(arguments: StoreKind.allCases) func whatGoesOnIsKeptWhereNobodyIsKnown(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await Purchases.record([try Self.recording(1)], try Samples.evidence(), in: store)
            let chain = try Self.chain(1)
            let found = try await store.read { reader throws(StoreFailure) in try reader.ownersAndVacancies([chain]) }
            #expect(found.owners.isEmpty && found.vacancies.map(\.successor?.number) == [90])
        }
    }
}
