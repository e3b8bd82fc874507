import PurchaseModel
import Storage
import TestSupport
import Testing

/// Whatever may be sent to a shop at one moment, by seeds: few chains of several products each, so that much of it meets.
struct Bustle {
    /// What is written in between: by people, by the shop, by time. `nil` when the rules refuse it.
    typealias Act = @Sendable (any StoreReader) throws(StoreFailure) -> Decision?

    /// What is sold, and the first transaction of its chain where there are several.
    private static let products: [(id: String, kind: ProductKind, original: Int64?)] = [
        ("coins", .consumable, nil), ("monthly", .autoRenewable, 1), ("yearly", .autoRenewable, 1),
        ("weekly", .autoRenewable, 1), ("lamp", .nonConsumable, 4), ("season", .nonRenewing, nil),
    ]
    private static let sandbox = Realm(environment: .sandbox, isTestSigned: false)

    let terms: AppTerms
    /// The token that client libraries make of a customer's name, where they do.
    let ownToken: @Sendable (CustomerID) -> AccountToken?
    private(set) var now = Samples.now
    private var random: SeededRandom

    init(seed: UInt64) throws {
        random = SeededRandom(seed: seed)
        let gems = try #require(CurrencyID("gems"))
        let gold = try #require(CurrencyID("gold"))
        let isNamed = Bool.random(using: &random)
        ownToken = { isNamed ? Self.token(of: $0) : nil }
        var products: [ProductID: ProductTerms] = [:]
        for (id, kind, _) in Self.products {
            let product = try #require(ProductID(id))
            products[product] = ProductTerms(
                product: product,
                kind: kind,
                goods: [.entitlement(try #require(EntitlementID(id))), .amount(10, id == "yearly" ? gold : gems)],
                period: kind == .nonRenewing ? .seconds(90 * 86_400) : nil,
                isFamilyShared: Bool.random(using: &random),
                deliversExpired: Bool.random(using: &random)
            )
        }
        terms = AppTerms(
            products: products,
            needsOrder: Bool.random(using: &random),
            binding: try #require(BindingRule.allCases.randomElement(using: &random)),
            sandbox: .everybody(until: Timestamp(milliseconds: .max)),
            allowsNegativeBalance: Bool.random(using: &random)
        )
    }

    mutating func pass() {
        now = now.advanced(by: .seconds(Int64.random(in: 0...100_000, using: &random)))
    }

    mutating func batch() throws -> [Recording] {
        try (0..<Int.random(in: 2...6, using: &random)).map { _ in try recording() }
    }

    // MARK: Proofs

    private mutating func recording() throws -> Recording {
        let realm = isOne(in: 8) ? Self.sandbox : Samples.production
        var recording = Recording(
            app: try Samples.app(),
            realm: realm,
            transactions: try (0..<Int.random(in: 0...2, using: &random)).map { _ in try sold(in: realm) },
            terms: terms
        )
        if recording.transactions.isEmpty || isOne(in: 6) { recording.renewals = [try renewal()] }
        if isOne(in: 4), let sold = recording.transactions.first { recording.announcement = try announcement(of: sold) }
        if isOne(in: 2), recording.announcement == nil {
            let customer = try customer()
            recording.customer = customer
            recording.customerToken = ownToken(customer)
            if isOne(in: 4) { recording.order = try order() }
            if isOne(in: 5) { recording.claimed = recording.transactions.first?.id }
        }
        switch Int.random(in: 0...9, using: &random) {
        case 0: recording.source = .imported
        case 1: recording.source = .history
        default: break
        }
        return recording
    }

    private mutating func sold(in realm: Realm) throws -> Transaction {
        let number = Int64.random(in: realm == Self.sandbox ? 19...24 : 1...18, using: &random)
        let (product, kind, original) = Self.products[Int(number % 6)]
        var sold = try Samples.transaction(number)
        sold = Transaction(
            id: sold.id,
            originalID: original.map { TransactionID(number: $0 + number / 6 % 2 * 6) } ?? sold.id,
            product: try #require(ProductID(product)),
            kind: isOne(in: 6) ? nil : kind,
            purchasedAt: Samples.now.advanced(by: .seconds((number * 4 - 50) * 86_400)),
            signedAt: Samples.now.advanced(by: .seconds(Int64.random(in: 0...100, using: &random)))
        )
        if kind == .autoRenewable { sold.expiresAt = sold.purchasedAt.advanced(by: .seconds(30 * 86_400)) }
        if number % 4 == 0, !isOne(in: 4) { sold.accountToken = Self.token(UInt64(number % 3)) }
        if number % 7 == 0 { sold.ownership = .familyShared }
        sold.isUpgraded = isOne(in: 12)
        if isOne(in: 4) { sold.revocation = Revocation(at: sold.signedAt, percentage: isOne(in: 3) ? 40_000 : nil) }
        // Apple names one chain for ever; a poorer proof may name none.
        if kind == .autoRenewable, isOne(in: 12) { sold.originalID = isOne(in: 2) ? nil : TransactionID(number: 1) }
        return sold
    }

    private mutating func renewal() throws -> Renewal {
        let product = try #require(ProductID(isOne(in: 2) ? "monthly" : "yearly"))
        let original = try #require(TransactionID(number: isOne(in: 2) ? 1 : 7))
        let signedAt = now.advanced(by: .seconds(Int64.random(in: -100_000...0, using: &random)))
        var renewal = Renewal(originalID: original, product: product, signedAt: signedAt)
        renewal.renewsAt = Samples.now.advanced(by: .seconds(Int64.random(in: -9...9, using: &random) * 5 * 86_400))
        renewal.willAutoRenew = isOne(in: 2)
        renewal.isInBillingRetry = isOne(in: 2)
        if isOne(in: 2) { renewal.graceEndsAt = now.advanced(by: .seconds(9 * 86_400)) }
        return renewal
    }

    private mutating func announcement(of sold: Transaction) throws -> Announcement {
        let number = Int.random(in: 1...9, using: &random)
        let type = ["CONSUMPTION_REQUEST", "REFUND", "REFUND_DECLINED", "NEW_WORD"][number % 4]
        return Announcement(
            id: try #require(NotificationID("n-\(number)")),
            type: type,
            signedAt: sold.signedAt,
            transaction: sold.id,
            matter: number % 4 == 0 ? .refundRequest(reason: nil, isAdvancedCommerce: false) : .none
        )
    }

    // MARK: What else happens

    mutating func act() throws -> Act {
        switch Int.random(in: 0...6, using: &random) {
        case 0...3: return try placing()
        case 4: return try cancelling()
        case 5: return try transferring()
        default: return try attaching()
        }
    }

    private mutating func placing() throws -> Act {
        let customer = try customer()
        let product = try #require(terms.products?.keys.sorted { $0.text < $1.text }.randomElement(using: &random))
        let (order, terms, ownToken, now) = (
            Order(
                app: try Samples.app(),
                id: try order(),
                customer: customer,
                product: product,
                quantity: 1,
                accountToken: isOne(in: 4) ? Self.token(UInt64.random(in: 0...2, using: &random)) : nil,
                placedAt: now,
                expiresAt: now.advanced(by: .seconds(3_600))
            ), terms, ownToken, now
        )
        return { reader throws(StoreFailure) in
            let known = try reader.situation(placing: order, customerToken: ownToken(customer), terms)
            return try? decide(known, placing: order, ownToken: ownToken, terms: terms, at: now)
        }
    }

    private mutating func cancelling() throws -> Act {
        let (key, now) = (OrderKey(app: try Samples.app(), id: try order()), now)
        return { reader throws(StoreFailure) in
            var (inquiry, known) = (Inquiry(), Situation())
            inquiry.orders = [key]
            try reader.answer(inquiry, in: &known)
            inquiry.customers = Set([known.order(key)].compactMap(\.self).map(StreamKey.unpaid))
            try reader.answer(inquiry, in: &known)
            return try? decide(known, cancelling: key, at: now)
        }
    }

    private mutating func transferring() throws -> Act {
        let number: Int64 = isOne(in: 2) ? 1 : 7
        let chain = ChainKey(
            app: try Samples.app(),
            realm: Samples.production,
            original: try #require(TransactionID(number: number))
        )
        let (heir, token, now) = (try customer(), ownToken, now)
        return { reader throws(StoreFailure) in
            var (inquiry, known) = (Inquiry(), Situation())
            inquiry.chains = [chain]
            inquiry.customers = [StreamKey(app: chain.app, realm: chain.realm, customer: heir)]
            try reader.answer(inquiry, in: &known)
            return try? decide(known, transferring: chain, to: heir, overrulesToken: true, ownToken: token, at: now)
        }
    }

    private mutating func attaching() throws -> Act {
        let order = OrderKey(app: try Samples.app(), id: try order())
        let (key, terms, now) = (try Samples.key(Int64.random(in: 1...18, using: &random)), terms, now)
        return { reader throws(StoreFailure) in
            let known = try reader.situation(of: [key], order: order, terms)
            return try? decide(known, attaching: key, to: order, terms: terms, at: now)
        }
    }

    // MARK: Chance

    private static let customers = ["ann", "bob", "eve"]

    private mutating func customer() throws -> CustomerID {
        try Samples.customer(Self.customers[Int.random(in: 0...2, using: &random)])
    }

    private static func token(of customer: CustomerID) -> AccountToken? {
        customers.firstIndex(of: customer.text).map { token(UInt64($0)) }
    }

    private mutating func order() throws -> OrderID {
        try #require(OrderID("o-\(Int.random(in: 1...40, using: &random))"))
    }

    private mutating func isOne(in count: Int) -> Bool { Int.random(in: 1...count, using: &random) == 1 }

    private static func token(_ number: UInt64) -> AccountToken { AccountToken(high: 7, low: number) }
}
