import PurchaseModel

/// How a webhook endpoint stands in a row: the one place that knows the order of the columns.
enum EndpointColumns {
    /// What an update may write.
    static let content = [
        "url", "secrets", "signing_key", "types", "realms", "concurrency_max", "per_second_max", "orders_per_customer",
        "acknowledges_by_2xx", "is_enabled", "disabled_reason", "disabled_at", "missed_after",
        "realms_ever", "gap_from", "gap_to", "gap_after",
    ]

    /// Where the value of a column of ``content`` stands in a statement whose first of them is at `first`.
    static func place(of column: String, from first: Int) -> String {
        guard let offset = content.firstIndex(of: column) else { preconditionFailure("\(column) is no column") }
        return "$\(first + offset)"
    }

    /// For `SELECT`: what ``read(_:)`` expects, from column 0.
    static let selected =
        "webhook_endpoints.id, apps.name, created_at, version, " + content.joined(separator: ", ")

    /// The values of ``content``, in its order.
    static func values(of endpoint: WebhookEndpoint) -> [SQLValue] {
        [
            .text(endpoint.url),
            .bytes(endpoint.secrets.flatMap { [UInt8($0.bytes.count)] + $0.bytes }),
            .optional(endpoint.signingKey?.bytes),
            .optional(endpoint.filter.types.map { $0.sorted().joined(separator: " ") }),
            .integer(RealmCode.mask(of: endpoint.filter.realms)),
            .integer(Int64(endpoint.concurrencyMax)),
            .optional(endpoint.perSecondMax),
            .integer(endpoint.ordersPerCustomer ? 1 : 0),
            .integer(endpoint.acknowledgesBy2xx ? 1 : 0),
            .integer(endpoint.isEnabled ? 1 : 0),
            .optional(endpoint.disabledReason),
            .optional(endpoint.disabledAt?.milliseconds),
            .optional(endpoint.missedAfter?.position),
            .integer(RealmCode.mask(of: endpoint.realmsEver)),
            .optional(endpoint.gap?.from.milliseconds),
            .optional(endpoint.gap?.to.milliseconds),
            .optional(endpoint.gap?.after.position),
        ]
    }

    /// Reads a row of ``selected``.
    static func read(_ row: SQLRow) throws(StoreFailure) -> WebhookEndpoint {
        guard let id = WebhookEndpointID(row.text(0)), let app: AppID = try row.identifier(1) else {
            throw SQLiteResult.unreadableRow
        }
        return WebhookEndpoint(
            id: id,
            app: app,
            url: row.text(4),
            secrets: try secrets(row.bytes(5)),
            signingKey: try row.optionalBytes(6).map { bytes throws(StoreFailure) in try secret(bytes) },
            filter: filter(types: row.optionalText(7), realms: row.integer(8)),
            realmsEver: realms(row.integer(17)),
            concurrencyMax: Int(row.integer(9)),
            perSecondMax: row.optionalInteger(10).map { Int($0) },
            ordersPerCustomer: row.integer(11) != 0,
            acknowledgesBy2xx: row.integer(12) != 0,
            isEnabled: row.integer(13) != 0,
            disabledReason: row.optionalText(14),
            disabledAt: row.optionalTimestamp(15),
            missedAfter: row.optionalInteger(16).map(EventCursor.init(position:)),
            gap: gap(row.optionalTimestamp(18), row.optionalTimestamp(19), row.optionalInteger(20)),
            createdAt: Timestamp(milliseconds: row.integer(2)),
            version: row.integer(3)
        )
    }

    static func filter(types: String?, realms: Int64) -> EventFilter {
        EventFilter(
            types: types.map { text in
                Set(text.utf8.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) })
            },
            realms: Self.realms(realms)
        )
    }

    private static func gap(_ from: Timestamp?, _ to: Timestamp?, _ after: Int64?) -> WebhookGap? {
        guard let from, let to, let after else { return nil }
        return WebhookGap(from: from, to: to, after: EventCursor(position: after))
    }

    private static func realms(_ mask: Int64) -> Set<Realm> {
        Set(
            (0..<Int64(RealmCode.count)).filter { mask >> $0 & 1 == 1 }.compactMap { number in
                RealmCode(number: number).realm
            }
        )
    }

    private static func secrets(_ bytes: [UInt8]) throws(StoreFailure) -> [WebhookSecret] {
        var secrets: [WebhookSecret] = []
        var rest = bytes[...]
        while let count = rest.popFirst() {
            guard Int(count) <= rest.count else { throw SQLiteResult.unreadableRow }
            secrets.append(try secret(Array(rest.prefix(Int(count)))))
            rest = rest.dropFirst(Int(count))
        }
        return secrets
    }

    private static func secret(_ bytes: [UInt8]) throws(StoreFailure) -> WebhookSecret {
        guard let secret = WebhookSecret(bytes) else { throw SQLiteResult.unreadableRow }
        return secret
    }
}
