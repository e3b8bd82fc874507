import PurchaseModel
import Storage

/// Values that tests are about nothing in particular of. A test names what it is about.
enum Samples {
    static let now = Timestamp(milliseconds: 1_700_000_000_000)
    static let production = Realm(environment: .production, isTestSigned: false)

    static func app(_ text: String = "game") throws -> AppID { try sample(AppID(text)) }
    static func customer(_ text: String) throws -> CustomerID { try sample(CustomerID(text)) }

    static func key(_ number: Int64, app: String = "game", realm: Realm = production) throws -> TransactionKey {
        TransactionKey(app: try self.app(app), realm: realm, id: try sample(TransactionID(number: number)))
    }

    static func transaction(_ number: Int64, signedAt: Timestamp = now) throws -> Transaction {
        Transaction(
            id: try sample(TransactionID(number: number)),
            originalID: TransactionID(number: number),
            product: try sample(ProductID("coins.100")),
            purchasedAt: now,
            signedAt: signedAt
        )
    }

    /// A transaction with every field set.
    static func fullTransaction(_ number: Int64) throws -> Transaction {
        var transaction = try transaction(number)
        transaction.originalID = TransactionID(number: .max)
        transaction.kind = .autoRenewable
        transaction.quantity = 3
        transaction.originallyPurchasedAt = Timestamp(milliseconds: -1)
        transaction.expiresAt = Timestamp(milliseconds: .max)
        transaction.revocation = Revocation(at: now, reason: 1, type: "REFUND_PRORATED", percentage: 50_000)
        transaction.isUpgraded = true
        transaction.ownership = .familyShared
        transaction.accountToken = AccountToken(high: 0xFEDC_BA98_7654_3210, low: 0x0123_4567_89AB_CDEF)
        transaction.offer = Offer(kind: .winBack, identifier: "back", discount: "FREE_TRIAL", period: "P1M")
        transaction.price = Price(milliunits: .min, currency: "JPY")
        transaction.storefront = "USA"
        transaction.subscriptionGroup = "20000001"
        transaction.webOrderLineItem = "123"
        transaction.appTransaction = "70412345678901234"
        transaction.billingPlan = "MONTHLY"
        transaction.commitmentEndsAt = Timestamp(milliseconds: 8)
        transaction.advancedCommerce = AdvancedCommerce(items: [
            AdvancedCommerce.Item(
                sku: "channel a - ü",
                milliunits: 4_990,
                revokedAt: now,
                refunds: [
                    AdvancedCommerce.Refund(type: "CUSTOM", milliunits: -1, at: now),
                    AdvancedCommerce.Refund(type: nil, milliunits: nil, at: nil),
                ]
            ), AdvancedCommerce.Item(sku: "-", milliunits: nil, revokedAt: nil, refunds: []),
        ])
        return transaction
    }

    static func recorded(
        _ transaction: Transaction,
        app: String = "game",
        realm: Realm = production,
        customer: String? = nil,
        order: String? = nil
    ) throws -> RecordedTransaction {
        RecordedTransaction(
            app: try self.app(app),
            realm: realm,
            transaction: transaction,
            customer: try customer.map { try sample(CustomerID($0)) },
            order: try order.map { try sample(OrderID($0)) },
            recordedAt: now
        )
    }

    static func digest(_ seed: UInt8) throws -> ProofDigest {
        try sample(ProofDigest([UInt8](repeating: seed, count: 32)))
    }

    static func evidence(_ proof: [UInt8] = [1, 2, 3], customer: String? = nil) throws -> EvidenceRow {
        EvidenceRow(
            digest: try digest(proof.first ?? 0),
            format: "jws",
            proof: proof,
            customer: try customer.map { try sample(CustomerID($0)) },
            receivedAt: now,
            verdict: "recorded"
        )
    }

    static func submission(_ seed: UInt8, app: String = "game", customer: String? = nil) throws -> PendingSubmission {
        PendingSubmission(
            id: try submissionID(seed, app: app, customer: customer),
            app: try self.app(app),
            digest: try digest(seed),
            format: "receipt",
            proof: [seed, 0, 255],
            customer: try customer.map { try sample(CustomerID($0)) },
            order: nil,
            reason: "unknown_intermediate",
            receivedAt: now
        )
    }

    static func submissionID(_ seed: UInt8, app: String = "game", customer: String? = nil) throws -> SubmissionID {
        let name = Array("\(app)/\(customer ?? "")".utf8.prefix(15))
        return try sample(SubmissionID(name + Array(repeating: 0, count: 15 - name.count) + [seed]))
    }

    /// Ann's, for an hour.
    static func order(_ id: String = "o-1", _ product: String = "coins.100", token: AccountToken? = nil) throws -> Order
    {
        Order(
            app: try app(),
            id: try sample(OrderID(id)),
            customer: try customer("ann"),
            product: try sample(ProductID(product)),
            quantity: 1,
            accountToken: token,
            placedAt: now,
            expiresAt: now.advanced(by: .seconds(3_600))
        )
    }

    private struct BadSample: Error {}

    private static func sample<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw BadSample() }
        return value
    }
}
