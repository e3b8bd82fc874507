import PurchaseModel

/// Keeps answers for the same request to be answered alike.
struct AnswerQueries {
    let connection: any SQLConnection
    let time: LeaseTime

    private static let find = Query(
        """
        SELECT fingerprint, status, content_type, body, kept_at FROM kept_answers
        WHERE holder = $1 AND request_key = $2
        """
    )
    private static let insert = Query(
        insert(at: "$7"),
        postgresql: insert(at: "coalesce($7, \(LeaseTime.databaseNow))")
    )
    private static func insert(at moment: String) -> String {
        """
        INSERT INTO kept_answers (holder, request_key, fingerprint, status, content_type, body, kept_at)
        VALUES ($1, $2, $3, $4, $5, $6, \(moment))
        ON CONFLICT (holder, request_key) DO NOTHING
        """
    }
    /// Rows are added in the order of time, near enough: the first ones are the old ones, and no index is needed. Those that
    /// a wrong clock dated would stand before the others for ever.
    private static let sweep = Query(
        """
        DELETE FROM kept_answers
        WHERE (kept_at < $1 OR kept_at > $3) AND sequence IN (SELECT sequence FROM kept_answers ORDER BY sequence LIMIT $2)
        """
    )

    func find(_ name: IdempotencyName) throws(StoreFailure) -> KeptAnswer? {
        try connection.row(Self.find, [.text(name.holder), .text(name.key)]) { row in
            KeptAnswer(
                name: name,
                fingerprint: row.bytes(0),
                status: Int(row.integer(1)),
                contentType: row.text(2),
                body: row.bytes(3),
                keptAt: Timestamp(milliseconds: row.integer(4))
            )
        }
    }

    func keep(_ answer: KeptAnswer) throws(StoreFailure) {
        guard answer.isStorable else { throw .unstorable }
        let values: [SQLValue] = [
            .text(answer.name.holder), .text(answer.name.key), .bytes(answer.fingerprint),
            .integer(Int64(answer.status)), .text(answer.contentType), .bytes(answer.body),
            time.noted(answer.keptAt),
        ]
        guard try connection.run(Self.insert, values) == 1 else {
            connection.doom(.conflict)
            throw .conflict
        }
    }

    func sweep(olderThan age: Duration, at callers: Timestamp, limit: Int) throws(StoreFailure) -> Int {
        let now = try time.now(callers)
        let values: [SQLValue] = [
            .integer(now.advanced(by: .zero - age).milliseconds), .integer(Int64(max(limit, 0))),
            .integer(now.advanced(by: age).milliseconds),
        ]
        return try connection.run(Self.sweep, values)
    }
}
