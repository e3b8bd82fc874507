import PurchaseModel

/// Writes and reads the log of what was done, and the chain that ties its rows together.
///
/// A row's number in the chain is one more than the newest one's, which the index has at its end, however many refused sign-ins
/// came since. Two writers that give out the same one violate that index: the second one finds so, and is made again.
struct AuditQueries {
    let connection: any SQLConnection

    private static let columns =
        "sequence, at, admin, remote, action, subject, detail, api_key, link_number, link"
    private static let sequence = RowSequence(of: "admin_actions")
    private static let insert = BulkInsert(
        into: "admin_actions",
        [
            .integer("sequence"), .integer("at"), .text("admin"), .text("remote"), .text("action"), .text("subject"),
            .text("detail"), .text("api_key"), .integer("link_number"), .bytes("link"),
        ],
        key: ["sequence"],
        on: .failsByAnyName
    )
    private static let list = Query(
        "SELECT \(columns) FROM admin_actions WHERE sequence < $1 ORDER BY sequence DESC LIMIT $2"
    )
    static let findHead = Query(
        "SELECT link_number, link FROM admin_actions WHERE link_number > 0 ORDER BY link_number DESC LIMIT 1"
    )
    /// What is older than the chain.
    static let listOlder = Query(
        """
        SELECT \(columns) FROM admin_actions
        WHERE sequence > $1 AND sequence < $2 AND link_number IS NULL AND action <> '\(AdminAction.signInRefused)'
        ORDER BY sequence LIMIT $3
        """
    )
    private static let olderMax = 500
    private static let log = TableWalk("admin_actions", of: nil, by: [("sequence", .integer)], columns)
    private static let chain = TableWalk(
        "admin_actions",
        of: nil,
        by: [("link_number", .integer)],
        "link_number, \(columns)"
    )
    /// Before whatever another hand may have written.
    private static let start = WalkPlace(parts: [.integer(.min)])

    func note(_ action: AdminAction) throws(StoreFailure) {
        guard action.isStorable else { throw .unstorable }
        let place = try connection.next(Self.sequence)
        let link = action.isChained ? AuditLink(of: action, at: place, after: try end(before: place)) : nil
        let values: [SQLValue] = [
            .integer(place), .integer(action.at.milliseconds), .optional(action.admin?.text), .text(action.remote),
            .text(action.action), .optional(action.subject), .optional(action.detail), .optional(action.key),
            .optional(link?.number), .optional(link?.digest),
        ]
        try connection.insert(values, by: Self.insert)
    }

    func head() throws(StoreFailure) -> AuditLink? {
        try connection.row(Self.findHead) { row in
            AuditLink(number: row.integer(0), digest: row.optionalBytes(1) ?? [])
        }
    }

    func list(before place: Int64?, limit: Int) throws(StoreFailure) -> AdminActionPage {
        let limit = min(max(limit, 1), AdminActionPage.limitMax)
        let values: [SQLValue] = [.integer(place ?? .max), .integer(Int64(limit + 1))]
        let rows = try connection.rows(Self.list, values) { row throws(StoreFailure) in try Self.read(row) }
        let page = rows.prefix(limit)
        return AdminActionPage(rows: Array(page), next: rows.count > limit ? page.last?.place : nil)
    }

    func walk(after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<AuditRow> {
        try Self.log.page(of: [], after: place ?? Self.start, limit, on: connection) { row throws(StoreFailure) in
            try Self.read(row)
        }
    }

    func walkChain(after place: WalkPlace?, limit: Int) throws(StoreFailure) -> WalkPage<AuditRow> {
        try Self.chain.page(of: [], after: place ?? Self.start, limit, on: connection) { row throws(StoreFailure) in
            try Self.read(row, from: 1)
        }
    }

    /// What the next link goes on from: the head, or the fold of all that is older than the chain.
    private func end(before place: Int64) throws(StoreFailure) -> AuditLink {
        if let head = try head() { return head }
        var (digest, last) = (AuditLink.start, Int64.min)
        while true {
            let values: [SQLValue] = [.integer(last), .integer(place), .integer(Int64(Self.olderMax))]
            // As they are kept: a row that cannot be read as one of ours keeps nobody from being signed in.
            let rows = try connection.rows(Self.listOlder, values) { row in
                (place: row.integer(0), at: row.integer(1), texts: Self.texts(row))
            }
            for row in rows {
                digest = AuditLink.digest(after: digest, [0, row.place, row.at], row.texts)
                last = row.place
            }
            if rows.count < Self.olderMax { return AuditLink(number: 0, digest: digest) }
        }
    }

    /// In the order of ``AuditLink``.
    private static func texts(_ row: SQLRow) -> [String?] {
        [2, 7, 3, 4, 5, 6].map { row.optionalText($0) }
    }

    private static func read(_ row: SQLRow, from first: Int32 = 0) throws(StoreFailure) -> AuditRow {
        AuditRow(
            place: row.integer(first),
            action: AdminAction(
                at: Timestamp(milliseconds: row.integer(first + 1)),
                admin: try row.identifier(first + 2),
                key: row.optionalText(first + 7),
                remote: row.text(first + 3),
                action: row.text(first + 4),
                subject: row.optionalText(first + 5),
                detail: row.optionalText(first + 6)
            ),
            number: row.optionalInteger(first + 8),
            link: row.optionalBytes(first + 9)
        )
    }
}
