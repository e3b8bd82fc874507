import PurchaseModel

/// Writes and finds how subscriptions stand.
struct SubscriptionQueries {
    let connection: any SQLConnection
    let apps: AppQueries

    private static let key: [BulkColumn] = [.integer("app"), .integer("original_id"), .integer("realm")]
    private static let standing: [BulkColumn] = [
        .integer("transaction_id"), .text("product"), .text("subscription_group"), .integer("expires_at"),
        .integer("grace_ends_at"), .integer("will_auto_renew"), .text("state"), .integer("since"),
        .integer("next_look_at"), .integer("looked_at"),
    ]
    private static let renewal: [BulkColumn] = [
        .integer("renewal_signed_at"), .text("renewal_product"), .text("renewal_next_product"),
        .integer("renewal_auto_renew"), .text("renewal_environment"), .integer("renewal_intent"),
        .integer("renewal_retrying"), .integer("renewal_grace_ends_at"), .integer("renewal_renews_at"),
        .integer("renewal_recent_start_at"), .integer("renewal_price"), .text("renewal_currency"),
        .integer("renewal_price_increase"), .integer("renewal_offer_kind"), .text("renewal_offer_identifier"),
        .text("renewal_offer_discount"), .text("renewal_offer_period"), .bytes("renewal_account_token"),
    ]
    /// What was signed of it before the newest, too.
    private static let history: [BulkColumn] = [.text("period_ends")]
    /// Whether another one pays for it; and what the renewal says since later versions.
    private static let sharing: [BulkColumn] = [
        .integer("is_shared"), .text("renewal_win_back_offers"), .text("renewal_billing_plan"),
        .integer("commitment_auto_renew"), .text("commitment_next_product"), .text("commitment_billing_plan"),
        .integer("commitment_renews_at"), .bytes("renewal_beside"),
    ]
    private static let insert = BulkInsert(
        into: "subscriptions",
        key + [.integer("version")] + standing + renewal + history + sharing,
        key: key.map(\.name)
    )
    private static let update = BulkUpdate(of: "subscriptions", key: key, standing + renewal + history + sharing)
    /// What ``read(_:app:)`` expects.
    static let selected = BulkColumn.names(
        [.integer("original_id"), .integer("realm"), .integer("version")] + standing + renewal + history + sharing
    )
    private static let find = BulkLookup(
        by: key,
        "SELECT \(selected) FROM subscriptions WHERE app = $1 AND original_id = $2 AND realm = $3"
    )
    /// In the order of its index, since after an upgrade or a rebuild very many may be due at the same moment.
    static let due = Query(
        """
        SELECT \(selected), apps.name FROM subscriptions JOIN apps ON apps.code = subscriptions.app
        WHERE next_look_at <= $1 ORDER BY next_look_at, subscriptions.app, original_id, realm LIMIT $2
        """
    )
    /// The plus keeps the planner to the same index: by another it would come upon all of the app.
    static let dueOfApp = Query(
        """
        SELECT \(selected) FROM subscriptions
        WHERE next_look_at <= $1 AND +app = $2 ORDER BY next_look_at, app, original_id, realm LIMIT $3
        """
    )
    /// Goes through all of them: an index would be kept for what hardly ever happens.
    static let hasten = SteppedChange(
        of: "subscriptions",
        by: ["app", "original_id", "realm"],
        set: "next_look_at = $1, version = version + 1",
        where: "looked_at > $1 AND (next_look_at IS NULL OR next_look_at > $1) OR next_look_at > $2",
        parameters: 2
    )
    static let inState = Query(by: "subscriptions_in_state") { index in
        """
        SELECT \(selected) FROM subscriptions \(index)
        WHERE app = $1 AND realm = $2 AND state = $3 AND original_id > $4
        ORDER BY original_id LIMIT $5
        """
    }
    private static let name = Int32(3 + standing.count + renewal.count + history.count + sharing.count)

    func write(_ change: RowChange<RecordedSubscription>) throws(StoreFailure) {
        let row = change.row
        let key: [SQLValue] = [
            .integer(try apps.codeForWriting(row.chain.app)), .integer(row.chain.original.number),
            .integer(try RealmCode.number(of: row.chain.realm)),
        ]
        let (standing, renewal) = (Self.standing(of: row), Self.values(of: row.renewal))
        let offers = row.renewal?.winBackOffers ?? []
        let others: [SQLValue] = [
            .optional(PeriodEndsText.text(of: row.ends)), .integer(row.isShared ? 1 : 0),
            .optional(offers.isEmpty ? nil : offers.joined(separator: "\n")), .optional(row.renewal?.nextBillingPlan),
        ]
        let beside = row.renewal.flatMap { TellingBytes.bytes(of: $0.telling) }
        let rest = others + Self.values(of: row.renewal?.nextCommitment) + [SQLValue.optional(beside)]
        switch change {
        case .insert:
            let version = SQLValue.integer(row.version)
            try connection.insert([key, [version], standing, renewal, rest], by: Self.insert)
        case .update:
            let version = SQLValue.integer(row.version - 1)
            try connection.update(key + [version] + standing + renewal + rest, by: Self.update)
        }
    }

    func find(_ chains: [ChainKey]) throws(StoreFailure) -> [RecordedSubscription] {
        let (asked, values) = try apps.keys(chains, app: \.app) { code, chain in
            [code, .integer(chain.original.number), .integer(RealmCode.wanted(chain.realm))]
        }
        var found: [RecordedSubscription] = []
        try connection.visit(Self.find, values) { place, row throws(StoreFailure) in
            found.append(try Self.read(row, app: asked[place].app))
        }
        return found
    }

    func due(at now: Timestamp, limit: Int) throws(StoreFailure) -> [RecordedSubscription] {
        let limit = min(max(limit, 1), RecordedSubscription.listedMax)
        return try connection.rows(Self.due, [.integer(now.milliseconds), .integer(Int64(limit))]) {
            row throws(StoreFailure) in
            guard let app: AppID = try row.identifier(Self.name) else { throw SQLiteResult.unreadableRow }
            return try Self.read(row, app: app)
        }
    }

    func due(of app: AppID, at now: Timestamp, limit: Int) throws(StoreFailure) -> [RecordedSubscription] {
        guard let code = try apps.code(of: app) else { return [] }
        let limit = min(max(limit, 1), RecordedSubscription.listedMax)
        let values: [SQLValue] = [.integer(now.milliseconds), .integer(code), .integer(Int64(limit))]
        return try connection.rows(Self.dueOfApp, values) { row throws(StoreFailure) in try Self.read(row, app: app) }
    }

    func hasten(
        by lead: ClockLead,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> (changed: Int, next: WalkPlace?) {
        let values: [SQLValue] = [.integer(lead.now.milliseconds), .integer(lead.looksEnd.milliseconds)]
        return try Self.hasten.step(on: connection, values, after: place, limit: limit)
    }

    func list(
        app: AppID,
        realm: Realm,
        state: SubscriptionState,
        after original: TransactionID?,
        limit: Int
    ) throws(StoreFailure) -> SubscriptionPage {
        guard let code = try apps.code(of: app) else { return SubscriptionPage() }
        let limit = min(max(limit, 1), RecordedSubscription.listedMax)
        // One more than asked for tells whether there is more.
        let values: [SQLValue] = [
            .integer(code), .integer(RealmCode.wanted(realm)), .text(state.rawValue),
            .integer(original?.number ?? -1), .integer(Int64(limit + 1)),
        ]
        let found = try connection.rows(Self.inState, values) { row throws(StoreFailure) in
            try Self.read(row, app: app)
        }
        let page = Array(found.prefix(limit))
        return SubscriptionPage(
            subscriptions: page,
            next: found.count > limit ? page.last?.chain.original : nil
        )
    }

    private static func standing(of row: RecordedSubscription) -> [SQLValue] {
        [
            .optional(row.current?.number), .text(row.product.text), .optional(row.group),
            .optional(row.expiresAt?.milliseconds), .optional(row.graceEndsAt?.milliseconds), flag(row.willAutoRenew),
            .text(row.state.rawValue), .optional(row.since?.milliseconds), .optional(row.nextLook?.milliseconds),
            .integer(row.lookedAt.milliseconds),
        ]
    }

    private static func values(of renewal: Renewal?) -> [SQLValue] {
        [
            .optional(renewal?.signedAt.milliseconds), .optional(renewal?.product.text),
            .optional(renewal?.nextProduct?.text), flag(renewal?.willAutoRenew),
            .optional(renewal?.environment?.rawValue), .optional(renewal?.expirationIntent),
            flag(renewal?.isInBillingRetry), .optional(renewal?.graceEndsAt?.milliseconds),
            .optional(renewal?.renewsAt?.milliseconds), .optional(renewal?.recentStartAt?.milliseconds),
            .optional(renewal?.nextPrice?.milliunits), .optional(renewal?.nextPrice?.currency),
            .optional(renewal?.priceIncreaseStatus), .optional(renewal?.offer?.kind.rawValue),
            .optional(renewal?.offer?.identifier), .optional(renewal?.offer?.discount),
            .optional(renewal?.offer?.period), .optional((renewal?.accountToken).map(TokenBytes.bytes)),
        ]
    }

    private static func values(of next: NextCommitment?) -> [SQLValue] {
        [
            flag(next?.willRenew), .optional(next?.product?.text), .optional(next?.billingPlan),
            .optional(next?.beginsAt?.milliseconds),
        ]
    }

    private static func flag(_ value: Bool?) -> SQLValue { .optional(value.map { $0 ? Int64(1) : 0 }) }

    /// Reads a row of ``selected``.
    static func read(_ row: SQLRow, app: AppID) throws(StoreFailure) -> RecordedSubscription {
        guard let original = TransactionID(number: row.integer(0)), let realm = RealmCode(number: row.integer(1)).realm,
            let product: ProductID = try row.identifier(4), let state = SubscriptionState(rawValue: row.text(9))
        else { throw SQLiteResult.unreadableRow }
        return RecordedSubscription(
            chain: ChainKey(app: app, realm: realm, original: original),
            current: try row.optionalInteger(3).map { number throws(StoreFailure) in
                guard let id = TransactionID(number: number) else { throw SQLiteResult.unreadableRow }
                return id
            },
            renewal: try renewal(row, of: original),
            product: product,
            group: row.optionalText(5),
            expiresAt: row.optionalTimestamp(6),
            graceEndsAt: row.optionalTimestamp(7),
            willAutoRenew: row.flag(8),
            state: state,
            since: row.optionalTimestamp(10),
            nextLook: row.optionalTimestamp(11),
            lookedAt: Timestamp(milliseconds: row.integer(12)),
            version: row.integer(2),
            ends: try row.optionalText(31).map { text throws(StoreFailure) in
                guard let ends = PeriodEndsText.ends(in: text) else { throw SQLiteResult.unreadableRow }
                return ends
            } ?? PeriodEnds(),
            isShared: row.integer(32) != 0
        )
    }

    private static func renewal(_ row: SQLRow, of original: TransactionID) throws(StoreFailure) -> Renewal? {
        guard let signedAt = row.optionalTimestamp(13) else { return nil }
        guard let product: ProductID = try row.identifier(14) else { throw SQLiteResult.unreadableRow }
        var renewal = Renewal(originalID: original, product: product, signedAt: signedAt)
        renewal.nextProduct = try row.identifier(15)
        renewal.willAutoRenew = row.flag(16)
        renewal.environment = row.optionalText(17).map(StoreEnvironment.init(rawValue:))
        renewal.expirationIntent = row.optionalInteger(18).map { Int($0) }
        renewal.isInBillingRetry = row.flag(19)
        renewal.graceEndsAt = row.optionalTimestamp(20)
        renewal.renewsAt = row.optionalTimestamp(21)
        renewal.recentStartAt = row.optionalTimestamp(22)
        if let milliunits = row.optionalInteger(23), let currency = row.optionalText(24) {
            renewal.nextPrice = Price(milliunits: milliunits, currency: currency)
        }
        renewal.priceIncreaseStatus = row.optionalInteger(25).map { Int($0) }
        renewal.offer = row.optionalInteger(26).map { kind in
            Offer(
                kind: OfferKind(rawValue: Int(kind)),
                identifier: row.optionalText(27),
                discount: row.optionalText(28),
                period: row.optionalText(29)
            )
        }
        renewal.winBackOffers =
            row.optionalText(33)?.utf8.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
            ?? []
        renewal.accountToken = try row.optionalBytes(30).map { bytes throws(StoreFailure) in
            try TokenBytes.token(bytes)
        }
        renewal.nextBillingPlan = row.optionalText(34)
        renewal.nextCommitment = try commitment(row)
        renewal.telling = try TellingBytes.telling(row.optionalBytes(39), of: original)
        return renewal
    }

    private static func commitment(_ row: SQLRow) throws(StoreFailure) -> NextCommitment? {
        var next = NextCommitment()
        next.willRenew = row.flag(35)
        next.product = try row.identifier(36)
        next.billingPlan = row.optionalText(37)
        next.beginsAt = row.optionalTimestamp(38)
        return next == NextCommitment() ? nil : next
    }
}

extension SQLRow {
    fileprivate func flag(_ column: Int32) -> Bool? { optionalInteger(column).map { $0 != 0 } }
}
