import PurchaseModel

/// Keeps proofs that could not be decided when they came.
struct SubmissionQueries {
    let connection: SQLiteConnection
    let apps: AppQueries

    private static let insert = Query(
        """
        INSERT INTO submissions (app, sha256, customer, order_id, format, reason, received_at, proof)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        ON CONFLICT (app, sha256, customer) DO NOTHING RETURNING sequence
        """
    )
    private static let find = Query("SELECT sequence FROM submissions WHERE app = $1 AND sha256 = $2 AND customer = $3")
    private static let countPending = Query("SELECT count(*) FROM submissions WHERE settled_at IS NULL AND app = $1")
    private static let settle = Query(
        "UPDATE submissions SET settled_at = $2, verdict = $3 WHERE sequence = $1 AND settled_at IS NULL"
    )
    private static let selected = """
        SELECT submissions.sequence, apps.name, sha256, customer, order_id, format, reason, received_at, settled_at,
            verdict, proof
        FROM submissions JOIN apps ON apps.code = submissions.app
        """
    private static let get = Query("\(selected) WHERE submissions.sequence = $1")
    private static let listPending = Query(
        """
        \(selected) WHERE settled_at IS NULL AND submissions.sequence > $1
        ORDER BY submissions.sequence LIMIT $2
        """
    )
    /// The plus keeps the planner to the index of the pending ones: the other would sort all that ever waited.
    private static let listPendingOfApp = Query(
        """
        \(selected) WHERE settled_at IS NULL AND submissions.sequence > $1 AND +submissions.app = $3
        ORDER BY submissions.sequence LIMIT $2
        """
    )

    func keep(_ submission: PendingSubmission) throws(StoreFailure) -> (id: SubmissionID, isNew: Bool) {
        guard submission.isStorable else { throw .unstorable }
        let name = SubmissionQueries.name(of: submission, app: try apps.codeForWriting(submission.app))
        let content: [SQLValue] = [
            .optional(submission.order?.text), .text(submission.format), .text(submission.reason),
            .integer(submission.receivedAt.milliseconds), .bytes(submission.proof),
        ]
        if let number = try connection.row(Self.insert, name + content, { $0.integer(0) }) {
            return (SubmissionID(number: number), true)
        }
        guard let number = try connection.row(Self.find, name, { $0.integer(0) }) else {
            throw SQLiteResult.unreadableRow
        }
        return (SubmissionID(number: number), false)
    }

    func find(_ submission: PendingSubmission) throws(StoreFailure) -> SubmissionID? {
        guard let app = try apps.code(of: submission.app) else { return nil }
        let name = SubmissionQueries.name(of: submission, app: app)
        return try connection.row(Self.find, name) { SubmissionID(number: $0.integer(0)) }
    }

    func countPending(app: AppID) throws(StoreFailure) -> Int {
        guard let app = try apps.code(of: app) else { return 0 }
        return try connection.row(Self.countPending, [.integer(app)]) { Int($0.integer(0)) } ?? 0
    }

    /// What makes a submission the same one.
    private static func name(of submission: PendingSubmission, app: Int64) -> [SQLValue] {
        [.integer(app), .bytes(submission.digest.bytes), .text(submission.customer?.text ?? "")]
    }

    func settle(_ id: SubmissionID, as settlement: Settlement) throws(StoreFailure) -> Bool {
        guard settlement.isStorable else { throw .unstorable }
        let values: [SQLValue] = [
            .integer(id.number), .integer(settlement.at.milliseconds), .text(settlement.verdict),
        ]
        return try connection.run(Self.settle, values) == 1
    }

    func get(_ id: SubmissionID) throws(StoreFailure) -> KeptSubmission? {
        try connection.row(Self.get, [.integer(id.number)], Self.read)
    }

    func listPending(app: AppID?, after id: SubmissionID?, limit: Int) throws(StoreFailure) -> SubmissionPage {
        let limit = min(max(limit, 1), SubmissionPage.limitMax)
        var values: [SQLValue] = [.integer(id?.number ?? .min), .integer(Int64(limit + 1))]
        if let app {
            guard let code = try apps.code(of: app) else { return SubmissionPage() }
            values.append(.integer(code))
        }
        let found = try connection.rows(app == nil ? Self.listPending : Self.listPendingOfApp, values, Self.read)
        let page = Array(found.prefix(limit))
        return SubmissionPage(submissions: page, next: found.count > limit ? page.last?.id : nil)
    }

    private static func read(_ row: SQLRow) throws(StoreFailure) -> KeptSubmission {
        guard let app: AppID = try row.identifier(1), let digest = ProofDigest(row.bytes(2)) else {
            throw SQLiteResult.unreadableRow
        }
        let submission = PendingSubmission(
            app: app,
            digest: digest,
            format: row.text(5),
            proof: row.bytes(10),
            customer: row.text(3).utf8.isEmpty ? nil : try row.identifier(3),
            order: try row.identifier(4),
            reason: row.text(6),
            receivedAt: Timestamp(milliseconds: row.integer(7))
        )
        let settlement = row.optionalTimestamp(8).map { Settlement(verdict: row.text(9), at: $0) }
        return KeptSubmission(id: SubmissionID(number: row.integer(0)), submission: submission, settlement: settlement)
    }
}
