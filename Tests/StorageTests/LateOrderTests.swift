import PurchaseModel
import Storage
import TestSupport
import Testing

/// What was given without an order pays one that is placed afterwards, because a person says so: what a store must look up and
/// keep for that.
@Suite struct LateOrderTests {
    private static func order(
        _ id: String,
        for customer: String = "ann",
        token: AccountToken? = nil
    ) throws -> Order {
        Order(
            app: try Samples.app(),
            id: try #require(OrderID(id)),
            customer: try Samples.customer(customer),
            product: try Samples.transaction(1).product,
            quantity: 1,
            accountToken: token,
            placedAt: Samples.now,
            expiresAt: Samples.now.advanced(by: .seconds(3_600))
        )
    }

    private static func show(
        _ sold: Transaction,
        by customer: String?,
        proof: UInt8,
        in store: any Store
    ) async throws {
        let recording = Recording(
            app: try Samples.app(),
            realm: Samples.production,
            transactions: [sold],
            customer: try customer.map { try Samples.customer($0) }
        )
        try await Purchases.record([recording], try Samples.evidence([proof]), in: store)
    }

    private static func place(_ order: Order, in store: any Store) async throws {
        try await store.write { write throws(StoreFailure) in
            let situation = try write.situation(placing: order, customerToken: nil, AppTerms())
            let decision = try? decide(situation, placing: order, terms: AppTerms(), at: Samples.now)
            if let decision { try write.apply(decision, evidence: nil) }
        }
    }

    /// - Returns: why it was refused.
    private static func attach(_ number: Int64, to order: Order, in store: any Store) async throws -> RequestFault? {
        let key = try Samples.key(number)
        return try await store.write { write throws(StoreFailure) -> RequestFault? in
            let situation = try write.situation(of: [key], order: order.key, AppTerms())
            let decision = Result { () throws(RequestFault) in
                try decide(situation, attaching: key, to: order.key, terms: AppTerms(), at: Samples.now)
            }
            switch decision {
            case .success(let decision):
                try write.apply(decision, evidence: nil)
                return nil
            case .failure(let fault): return fault
            }
        }
    }

    /// How the order and what pays it stand.
    private static func words(_ order: Order, in store: any Store) async throws -> String {
        let key = try Samples.key(1)
        let chain = ChainKey(app: key.app, realm: key.realm, original: key.id)
        let (found, row) = try await store.read { reader throws(StoreFailure) in
            (try reader.orders([order.key]).first, try reader.fulfilments([chain]).first)
        }
        let (paid, given) = (try #require(found), try #require(row))
        return [
            paid.state.rawValue, paid.payment?.match.rawValue ?? "-", given.state.rawValue,
            given.delivery?.rawValue ?? "-", given.order?.text ?? "-", "\(given.fence)",
        ].joined(separator: " ")
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func whatWasGivenPaysItAndIsTakenBackWithIt(kind: StoreKind, isAcknowledged: Bool) async throws {
        try await kind.withStore { store in
            var sold = try Samples.transaction(1)
            sold.kind = .consumable
            let (order, key) = (try Self.order("o-1"), try Samples.key(1))
            try await Self.show(sold, by: "ann", proof: 1, in: store)
            if isAcknowledged {
                try await store.write { write throws(StoreFailure) in
                    let situation = try write.situation(of: [key], AppTerms())
                    let decision = try? decide(situation, acknowledging: key, fence: 1, at: Samples.now)
                    if let decision { try write.apply(decision, evidence: nil) }
                }
            }
            try await Self.place(order, in: store)
            let delivery = isAcknowledged ? "acknowledged" : "pending"
            #expect(try await Self.words(order, in: store) == "pending - granted \(delivery) - 1")
            #expect(try await Self.attach(1, to: order, in: store) == nil)
            let state = isAcknowledged ? "delivered" : "paid"
            #expect(try await Self.words(order, in: store) == "\(state) by_hand granted \(delivery) o-1 1")
            let other = try Self.order("o-2")
            try await Self.place(other, in: store)
            #expect(try await Self.attach(1, to: other, in: store) == .fulfilmentIs(.granted))
            sold.signedAt = Samples.now.advanced(by: .seconds(60))
            sold.revocation = Revocation(at: sold.signedAt)
            try await Self.show(sold, by: nil, proof: 2, in: store)
            #expect(try await Self.words(order, in: store) == "refunded by_hand reversed compensated o-1 2")
        }
    }

    /// A copy without an account token goes by the one that Apple signed for another number of its chain, which was given, too:
    /// whose that is by now must be looked up.
    @Test(arguments: StoreKind.allCases) func aCopyGoesByTheTokenOfItsChain(kind: StoreKind) async throws {
        let token = AccountToken(high: 3, low: 4)
        try await kind.withStore { store in
            for number in Int64(1)...2 {
                var month = try Samples.transaction(number)
                (month.originalID, month.kind) = (TransactionID(number: 1), .autoRenewable)
                month.purchasedAt = Samples.now.advanced(by: .seconds((number - 1) * 30 * 86_400))
                month.expiresAt = month.purchasedAt.advanced(by: .seconds(30 * 86_400))
                month.accountToken = number == 1 ? token : nil
                try await Self.show(month, by: "ann", proof: UInt8(number), in: store)
            }
            try await Self.place(try Self.order("o-1", for: "bob", token: token), in: store)
            let order = try Self.order("o-2")
            try await Self.place(order, in: store)
            #expect(try await Self.attach(2, to: order, in: store) == .tokenContradicts)
        }
    }
}
