import PurchaseModel

/// How a recorded transaction stands in a row: the one place that knows the order of the columns.
enum TransactionColumns {
    /// What identifies a row, then what a change of it may write.
    static let key: [BulkColumn] = [.integer("app"), .integer("transaction_id"), .integer("realm")]
    static let content: [BulkColumn] = [
        .integer("recorded_at"), .text("customer"), .text("order_id"), .integer("original_id"), .text("product"),
        .text("kind"), .integer("quantity"), .integer("purchased_at"), .integer("originally_purchased_at"),
        .integer("expires_at"), .integer("revoked_at"), .integer("revocation_reason"), .text("revocation_type"),
        .integer("revocation_percentage"), .integer("is_upgraded"), .text("ownership"), .bytes("account_token"),
        .integer("offer_kind"), .text("offer_identifier"), .text("offer_discount"), .text("offer_period"),
        .integer("price_milliunits"), .text("price_currency"), .text("storefront"), .text("subscription_group"),
        .text("web_order_line_item"), .text("app_transaction"), .integer("signed_at"), .text("reason"),
        .integer("previous_original_id"), .text("billing_plan"), .integer("commitment_ends_at"),
        .text("advanced_commerce"),
    ]
    /// In an insertion, a row's number and the proofs it follows from come between the two.
    static let places: [BulkColumn] = [
        .integer("sequence"), .integer("first_evidence"), .integer("latest_evidence"),
    ]
    /// By what a purchase's rows would be spread over several databases: the chain that its first proof named.
    static let chain = BulkColumn.integer("chain")

    /// For `SELECT`: what ``read(_:app:)`` expects, from column 0, and then the version.
    static let selected = "transaction_id, realm, \(BulkColumn.names(content)), version"
    static let version: Int32 = 35

    /// The values of ``content``, in its order.
    static func values(of recorded: RecordedTransaction) -> [SQLValue] {
        let transaction = recorded.transaction
        let revocation = transaction.revocation
        return [
            .integer(recorded.recordedAt.milliseconds),
            .optional(recorded.customer?.text),
            .optional(recorded.order?.text),
            .optional(transaction.originalID?.number),
            .text(transaction.product.text),
            .optional(transaction.kind?.rawValue),
            .integer(Int64(transaction.quantity)),
            .integer(transaction.purchasedAt.milliseconds),
            .optional(transaction.originallyPurchasedAt?.milliseconds),
            .optional(transaction.expiresAt?.milliseconds),
            .optional(revocation?.at.milliseconds),
            .optional(revocation?.reason),
            .optional(revocation?.type),
            .optional(revocation?.percentage),
            .integer(transaction.isUpgraded ? 1 : 0),
            .optional(transaction.ownership?.rawValue),
            .optional(transaction.accountToken.map(TokenBytes.bytes)),
            .optional(transaction.offer?.kind.rawValue),
            .optional(transaction.offer?.identifier),
            .optional(transaction.offer?.discount),
            .optional(transaction.offer?.period),
            .optional(transaction.price?.milliunits),
            .optional(transaction.price?.currency),
            .optional(transaction.storefront),
            .optional(transaction.subscriptionGroup),
            .optional(transaction.webOrderLineItem),
            .optional(transaction.appTransaction),
            .integer(transaction.signedAt.milliseconds),
            .optional(transaction.reason?.rawValue),
            .optional(transaction.previousOriginalID?.number),
            .optional(transaction.billingPlan),
            .optional(transaction.commitmentEndsAt?.milliseconds),
            .optional(transaction.advancedCommerce.map(AdvancedCommerceText.text)),
        ]
    }

    /// Reads a row of ``selected``.
    static func read(_ row: SQLRow, app: AppID) throws(StoreFailure) -> RecordedTransaction {
        guard let realm = RealmCode(number: row.integer(1)).realm else { throw SQLiteResult.unreadableRow }
        return RecordedTransaction(
            app: app,
            realm: realm,
            transaction: try transaction(row),
            customer: try row.identifier(3),
            order: try row.identifier(4),
            recordedAt: Timestamp(milliseconds: row.integer(2))
        )
    }

    private static func transaction(_ row: SQLRow) throws(StoreFailure) -> Transaction {
        guard let product: ProductID = try row.identifier(6) else { throw SQLiteResult.unreadableRow }
        return Transaction(
            id: try transactionID(row.integer(0)),
            originalID: try row.optionalInteger(5).map { number throws(StoreFailure) in try transactionID(number) },
            product: product,
            kind: row.optionalText(7).map(ProductKind.init(rawValue:)),
            quantity: Int(row.integer(8)),
            purchasedAt: Timestamp(milliseconds: row.integer(9)),
            originallyPurchasedAt: row.optionalTimestamp(10),
            expiresAt: row.optionalTimestamp(11),
            revocation: revocation(row),
            isUpgraded: row.integer(16) != 0,
            reason: row.optionalText(30).map(TransactionReason.init(rawValue:)),
            ownership: row.optionalText(17).map(Ownership.init(rawValue:)),
            accountToken: try row.optionalBytes(18).map { bytes throws(StoreFailure) in try TokenBytes.token(bytes) },
            offer: offer(row),
            price: price(row),
            storefront: row.optionalText(25),
            subscriptionGroup: row.optionalText(26),
            webOrderLineItem: row.optionalText(27),
            appTransaction: row.optionalText(28),
            previousOriginalID: try row.optionalInteger(31).map { number throws(StoreFailure) in
                try transactionID(number)
            },
            billingPlan: row.optionalText(32),
            commitmentEndsAt: row.optionalTimestamp(33),
            advancedCommerce: try row.optionalText(34).map { text throws(StoreFailure) in
                guard let goods = AdvancedCommerceText.goods(in: text) else { throw SQLiteResult.unreadableRow }
                return goods
            },
            signedAt: Timestamp(milliseconds: row.integer(29))
        )
    }

    private static func transactionID(_ number: Int64) throws(StoreFailure) -> TransactionID {
        guard let id = TransactionID(number: number) else { throw SQLiteResult.unreadableRow }
        return id
    }

    private static func revocation(_ row: SQLRow) -> Revocation? {
        row.optionalTimestamp(12).map { moment in
            Revocation(
                at: moment,
                reason: row.optionalInteger(13).map { Int($0) },
                type: row.optionalText(14),
                percentage: row.optionalInteger(15).map { Int($0) }
            )
        }
    }

    private static func offer(_ row: SQLRow) -> Offer? {
        row.optionalInteger(19).map { kind in
            Offer(
                kind: OfferKind(rawValue: Int(kind)),
                identifier: row.optionalText(20),
                discount: row.optionalText(21),
                period: row.optionalText(22)
            )
        }
    }

    private static func price(_ row: SQLRow) -> Price? {
        guard let milliunits = row.optionalInteger(23), let currency = row.optionalText(24) else { return nil }
        return Price(milliunits: milliunits, currency: currency)
    }
}

extension SQLRow {
    func optionalTimestamp(_ column: Int32) -> Timestamp? {
        optionalInteger(column).map(Timestamp.init(milliseconds:))
    }

    /// An identifier that was checked when it was written, and is checked again.
    func identifier<Identifier: ASCIIIdentifier>(_ column: Int32) throws(StoreFailure) -> Identifier? {
        guard let text = optionalText(column) else { return nil }
        guard let identifier = Identifier(text) else { throw SQLiteResult.unreadableRow }
        return identifier
    }
}
