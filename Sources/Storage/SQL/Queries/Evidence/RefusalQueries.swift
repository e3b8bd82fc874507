import PurchaseModel

/// Counts refused proofs, and keeps samples of them.
struct RefusalQueries {
    let connection: any SQLConnection
    let apps: AppQueries

    /// What stands in rows for no app that we know.
    private static let noApp: Int64 = 0

    private static let samples = RowSequence(of: "refusal_samples")
    private static let count = BulkInsert(
        into: "refusal_counts",
        [.integer("hour"), .integer("app"), .text("reason"), .integer("refusals")],
        key: ["hour", "app", "reason"],
        on: .updates("refusals = refusal_counts.refusals + excluded.refusals")
    )
    private static let insertSample = BulkInsert(
        into: "refusal_samples",
        [
            .integer("sequence"), .integer("app"), .text("reason"), .text("customer"), .integer("received_at"),
            .bytes("sha256"), .integer("bytes_in_all"), .bytes("proof"), .text("format"), .text("claimed"),
        ],
        key: ["sequence"]
    )
    /// In SQLite the numbers have no gaps.
    private static let deleteOldSamples = Query(
        "DELETE FROM refusal_samples WHERE sequence <= (SELECT max(sequence) FROM refusal_samples) - $1",
        postgresql: """
            DELETE FROM refusal_samples WHERE sequence <= (
                SELECT sequence FROM refusal_samples ORDER BY sequence DESC LIMIT 1 OFFSET $1
            )
            """
    )
    private static let listCounts = Query(
        """
        SELECT hour, apps.name, reason, refusals
        FROM refusal_counts LEFT JOIN apps ON apps.code = refusal_counts.app
        WHERE hour >= $1 ORDER BY hour, coalesce(apps.name, ''), reason LIMIT $2
        """
    )
    private static let listTotals = Query(
        """
        SELECT apps.name, reason, CAST(sum(refusals) AS BIGINT), min(hour), max(hour)
        FROM refusal_counts LEFT JOIN apps ON apps.code = refusal_counts.app
        WHERE hour >= $1 GROUP BY refusal_counts.app, apps.name, reason
        ORDER BY sum(refusals) DESC, coalesce(apps.name, ''), reason LIMIT $2
        """
    )
    private static let listDays = Query(
        """
        SELECT hour / 24, reason, CAST(sum(refusals) AS BIGINT) FROM refusal_counts
        WHERE hour >= $1 AND app = $2 GROUP BY 1, reason ORDER BY 1, reason LIMIT \(FigureRow.listedMax)
        """
    )
    private static let listSamples = listing("ORDER BY refusal_samples.sequence DESC LIMIT $1")
    private static let ofCustomer = listing(
        "WHERE refusal_samples.app = $1 AND customer = $2 ORDER BY refusal_samples.sequence DESC LIMIT $3"
    )
    private static let ofTransaction = listing(
        "WHERE refusal_samples.app = $1 AND claimed LIKE $2 ORDER BY refusal_samples.sequence DESC LIMIT $3"
    )
    private static let ofProof = listing("WHERE sha256 = $1 ORDER BY refusal_samples.sequence DESC LIMIT $2")

    func add(counts: [RefusalKey: Int], samples: [RefusalSample]) throws(StoreFailure) {
        guard counts.keys.allSatisfy(\.isStorable), samples.allSatisfy(\.isStorable) else { throw .unstorable }
        for (key, count) in counts where count > 0 {
            let values: [SQLValue] = [
                .integer(key.hour.number), .integer(try code(of: key.app)), .text(key.reason), .integer(Int64(count)),
            ]
            try connection.insert(values, by: Self.count)
        }
        // Those that would be deleted at once are not written.
        for sample in samples.suffix(RefusalSample.keptMax) {
            let values: [SQLValue] = [
                .integer(try connection.next(Self.samples)), .integer(try code(of: sample.app)),
                .text(sample.reason), .optional(sample.customer?.text), .integer(sample.receivedAt.milliseconds),
                .bytes(sample.digest.bytes), .integer(Int64(sample.bytesInAll)), .bytes(sample.proof),
                .optional(sample.format), .text(Self.text(sample.claimed)),
            ]
            try connection.insert(values, by: Self.insertSample)
        }
        if !samples.isEmpty { try connection.run(Self.deleteOldSamples, [.integer(Int64(RefusalSample.keptMax))]) }
    }

    func counts(since hour: HourOfTime, limit: Int) throws(StoreFailure) -> [RefusalCount] {
        let limit = min(max(limit, 1), TransactionPage.limitMax)
        return try connection.rows(Self.listCounts, [.integer(hour.number), .integer(Int64(limit))]) {
            row throws(StoreFailure) in
            let hour = HourOfTime(number: row.integer(0))
            let key = RefusalKey(hour: hour, app: try row.identifier(1), reason: row.text(2))
            return RefusalCount(key: key, count: Int(row.integer(3)))
        }
    }

    func totals(since hour: HourOfTime, limit: Int) throws(StoreFailure) -> [RefusalTotal] {
        let limit = min(max(limit, 1), TransactionPage.limitMax)
        return try connection.rows(Self.listTotals, [.integer(hour.number), .integer(Int64(limit))]) {
            row throws(StoreFailure) in
            RefusalTotal(
                app: try row.identifier(0),
                reason: row.text(1),
                count: Int(row.integer(2)),
                first: HourOfTime(number: row.integer(3)),
                last: HourOfTime(number: row.integer(4))
            )
        }
    }

    /// What was refused before 1970 is nobody's.
    func days(app: AppID, since day: DayOfTime) throws(StoreFailure) -> [RefusalDay] {
        guard let code = try apps.code(of: app) else { return [] }
        let hour = HourOfTime(containing: max(day, DayOfTime(number: 0)).start)
        return try connection.rows(Self.listDays, [.integer(hour.number), .integer(code)]) { row in
            RefusalDay(day: DayOfTime(number: row.integer(0)), reason: row.text(1), count: Int(row.integer(2)))
        }
    }

    func samples(limit: Int) throws(StoreFailure) -> [RefusalSample] {
        try list(Self.listSamples, [], limit: limit)
    }

    func samples(of subject: RefusalSubject, limit: Int) throws(StoreFailure) -> [RefusalSample] {
        switch subject {
        case .customer(let app, let customer):
            guard let code = try apps.code(of: app) else { return [] }
            return try list(Self.ofCustomer, [.integer(code), .text(customer.text)], limit: limit)
        case .transaction(let app, let id):
            guard let code = try apps.code(of: app) else { return [] }
            // Nothing but digits: nothing that means anything to LIKE.
            return try list(Self.ofTransaction, [.integer(code), .text("% \(id) %")], limit: limit)
        case .proof(let digest): return try list(Self.ofProof, [.bytes(digest.bytes)], limit: limit)
        }
    }

    private func list(_ query: Query, _ values: [SQLValue], limit: Int) throws(StoreFailure) -> [RefusalSample] {
        let limit = min(max(limit, 1), RefusalSample.listedMax)
        return try connection.rows(query, values + [.integer(Int64(limit))]) { row throws(StoreFailure) in
            guard let digest = ProofDigest(row.bytes(4)) else { throw SQLiteResult.unreadableRow }
            return RefusalSample(
                app: try row.identifier(0),
                reason: row.text(1),
                customer: try row.identifier(2),
                receivedAt: Timestamp(milliseconds: row.integer(3)),
                digest: digest,
                bytesInAll: Int(row.integer(5)),
                proof: row.bytes(6),
                format: row.optionalText(7),
                claimed: Self.claimed(row.text(8))
            )
        }
    }

    private static func listing(_ rest: String) -> Query {
        Query(
            """
            SELECT apps.name, reason, customer, received_at, sha256, bytes_in_all, proof, format, claimed
            FROM refusal_samples LEFT JOIN apps ON apps.code = refusal_samples.app
            \(rest)
            """
        )
    }

    private static func claimed(_ text: String) -> [TransactionID] {
        text.utf8.split(separator: UInt8(ascii: " ")).compactMap { TransactionID(String(decoding: $0, as: UTF8.self)) }
    }

    /// Each number between blanks, so that none is found in another.
    private static func text(_ claimed: [TransactionID]) -> String {
        claimed.isEmpty ? "" : " " + claimed.map(\.description).joined(separator: " ") + " "
    }

    private func code(of app: AppID?) throws(StoreFailure) -> Int64 {
        guard let app else { return Self.noApp }
        return try apps.codeForWriting(app)
    }
}
