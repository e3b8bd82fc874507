import PurchaseModel

/// Keeps proofs that could not be decided when they came.
struct SubmissionQueries {
    let connection: any SQLConnection
    let apps: AppQueries
    let time: LeaseTime

    private static let sequence = RowSequence(of: "submissions")
    private static let insert = Query(
        insert(at: "$8"),
        postgresql: insert(at: "coalesce($8, \(LeaseTime.databaseNow))")
    )
    private static func insert(at moment: String) -> String {
        """
        INSERT INTO submissions (app, sha256, customer, name, order_id, format, reason, received_at, proof, sequence,
            imported, environments, only_named, proof_sha256)
        VALUES ($1, $2, $3, $4, $5, $6, $7, \(moment), $9, $10, $11, $13, $15, $16)
        ON CONFLICT (app, sha256, customer) DO UPDATE SET order_id = excluded.order_id, reason = excluded.reason,
            received_at = excluded.received_at, proof = excluded.proof, imported = excluded.imported,
            environments = excluded.environments, only_named = excluded.only_named,
            proof_sha256 = excluded.proof_sha256, settled_at = NULL, verdict = NULL, version = submissions.version + 1
        WHERE submissions.verdict = '\(Settlement.givenUp)'
            OR submissions.verdict = '\(Settlement.notYours)' AND submissions.settled_at <= $12
            OR submissions.verdict IN (\(refusals)) AND submissions.settled_at < $14
        RETURNING name, version
        """
    }
    private static let find = Query("SELECT name FROM submissions WHERE app = $1 AND sha256 = $2 AND customer = $3")
    private static let findNotOver = Query(
        """
        SELECT name FROM submissions
        WHERE app = $1 AND sha256 = $2 AND customer = $3 AND verdict IS DISTINCT FROM '\(Settlement.givenUp)'
            AND (verdict IS DISTINCT FROM '\(Settlement.notYours)' OR settled_at > $4)
            AND (verdict IS NULL OR verdict NOT IN (\(refusals)) OR settled_at >= $5)
        """
    )
    private static let findRefusals = BulkLookup(
        by: [.integer("app"), .bytes("sha256"), .text("customer")],
        """
        SELECT verdict, settled_at FROM submissions
        WHERE app = $1 AND sha256 = $2 AND customer = $3 AND verdict IN (\(refusals))
        """
    )
    private static let refusals = Settlement.refusals.map { "'\($0)'" }.joined(separator: ", ")
    /// The longest waiting first, by an index of its own: it is asked every hour, and mostly there is none. What imports ask
    /// has its turn within one plan of the app, which may be longer than anything may wait: none is given up before all have
    /// had theirs, or it has waited for so long that it must have had its own.
    static let giveUp = Query(
        """
        UPDATE submissions SET settled_at = $2, verdict = '\(Settlement.givenUp)', version = version + 1
        WHERE settled_at IS NULL AND sequence IN (
            SELECT sequence FROM submissions WHERE settled_at IS NULL AND received_at < $1
                AND (imported = 0 OR received_at < $4
                    OR (SELECT asks_until FROM apps WHERE code = submissions.app) <= $1)
            ORDER BY received_at, sequence LIMIT $3
        )
        RETURNING sequence, (SELECT apps.name FROM apps WHERE code = app), sha256, customer, order_id, format, reason,
            received_at, settled_at, verdict, substr(proof, 1, 0), name, imported, environments, only_named,
            proof_sha256
        """
    )
    private static let weighPending = Query(
        """
        SELECT count(*), CAST(coalesce(sum(length(proof)), 0) AS BIGINT) FROM submissions
        WHERE settled_at IS NULL AND app = $1 AND imported = 0
        """
    )
    /// By an index of its own, and no further than the limit.
    private static let countPending = Query(
        """
        SELECT count(*) FROM (
            SELECT 1 FROM submissions WHERE settled_at IS NULL AND app = $1 AND customer = $2 AND imported = 0 LIMIT $3
        ) AS waiting
        """
    )
    /// By the same index, which imports' are not in: that no customer is below the lowest is said for the planner.
    static let backlog = BulkLookup(
        by: [.integer("app")],
        """
        SELECT count(*), min(received_at) FROM submissions
        WHERE settled_at IS NULL AND app = $1 AND customer >= '' AND imported = 0
        """
    )
    private static let settle = Query(
        """
        UPDATE submissions SET settled_at = $2, verdict = $3, proof = $4, version = version + 1
        WHERE name = $1 AND settled_at IS NULL
        """
    )
    private static let note = Query(
        "UPDATE submissions SET reason = $2, version = version + 1 WHERE name = $1 AND settled_at IS NULL"
    )
    /// Never the last that was kept: its number is the count of all that ever were.
    private static let forget = Query(
        """
        DELETE FROM submissions WHERE settled_at IS NOT NULL AND name IN (
            SELECT name FROM submissions
            WHERE settled_at < $1 AND imported = 0 AND sequence < (SELECT max(sequence) FROM submissions)
            ORDER BY settled_at, sequence LIMIT $2
        )
        """
    )
    private static let selected = """
        SELECT submissions.sequence, apps.name, sha256, customer, order_id, format, reason, received_at, settled_at,
            verdict, proof, submissions.name, imported, environments, only_named, proof_sha256
        FROM submissions JOIN apps ON apps.code = submissions.app
        """
    private static let get = Query("\(selected) WHERE submissions.name = $1")
    /// The order names the index: where nothing waits all that was ever kept would be read by another one.
    static let findAnyImported = Query(
        """
        SELECT sequence FROM submissions WHERE app = $1 AND settled_at IS NULL AND imported <> 0
        ORDER BY sha256, sequence LIMIT 1
        """
    )
    /// By an index of its own: thousands of customers may have the same number.
    static let findImported = BulkLookup(
        by: [.integer("app"), .bytes("sha256")],
        """
        \(selected) WHERE submissions.app = $1 AND sha256 = $2 AND settled_at IS NULL AND imported <> 0
        ORDER BY submissions.sequence LIMIT 1
        """
    )
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
            .bytes(submission.id.bytes), .optional(submission.order?.text), .text(submission.format),
            .text(submission.reason), time.noted(submission.receivedAt), .bytes(submission.proof),
            .integer(try connection.next(Self.sequence)), .integer(submission.origin.rawValue),
            try overBefore(submission), .optional(submission.environments.map(Self.text)),
            Self.reopensBefore(submission), .integer(submission.isOnlyNamed ? 1 : 0),
            .optional(submission.proofDigest?.bytes),
        ]
        let kept = try connection.row(Self.insert, name + content) { row throws(StoreFailure) in
            (id: try Self.readID(row), isFirst: row.integer(1) == RowVersions.first)
        }
        if let kept {
            if kept.isFirst { connection.added.submissions += 1 }
            return (kept.id, true)
        }
        guard let id = try connection.row(Self.find, name, Self.readID) else { throw SQLiteResult.unreadableRow }
        return (id, false)
    }

    func find(_ submission: PendingSubmission) throws(StoreFailure) -> SubmissionID? {
        guard let app = try apps.code(of: submission.app) else { return nil }
        return try connection.row(
            Self.findNotOver,
            SubmissionQueries.name(of: submission, app: app) + [
                try overBefore(submission), Self.reopensBefore(submission),
            ],
            Self.readID
        )
    }

    func findRefusals(
        of names: [SubmissionName],
        since moment: Timestamp
    ) throws(StoreFailure) -> [SubmissionName: Settlement] {
        let (asked, values) = try apps.keys(names, app: \.app) { code, name in
            [code, .bytes(name.digest.bytes), .text(name.customer?.text ?? "")]
        }
        var refusals: [SubmissionName: Settlement] = [:]
        try connection.visit(Self.findRefusals, values) { place, row in
            let settlement = Settlement(verdict: row.text(0), at: Timestamp(milliseconds: row.integer(1)))
            if settlement.at >= moment { refusals[asked[place]] = settlement }
        }
        return refusals
    }

    private static func reopensBefore(_ submission: PendingSubmission) -> SQLValue {
        .integer(submission.reopensBefore?.milliseconds ?? .min)
    }

    /// What was not the app's when it was settled by then may be by now.
    private func overBefore(_ submission: PendingSubmission) throws(StoreFailure) -> SQLValue {
        .integer(try time.now(submission.receivedAt).advanced(by: .zero - Settlement.notYoursFor).milliseconds)
    }

    func giveUp(olderThan age: Duration, at callers: Timestamp, limit: Int) throws(StoreFailure) -> [KeptSubmission] {
        let now = try time.now(callers)
        let moment = now.advanced(by: .zero - age)
        let values: [SQLValue] = [
            .integer(moment.milliseconds), .integer(now.milliseconds), .integer(Int64(max(limit, 0))),
            .integer(moment.advanced(by: .zero - Settlement.turnsFor).milliseconds),
        ]
        let givenUp = try connection.rows(Self.giveUp, values, Self.read)
        return givenUp.sorted {
            ($0.kept.submission.receivedAt, $0.sequence) < ($1.kept.submission.receivedAt, $1.sequence)
        }
        .map(\.kept)
    }

    func weighPending(app: AppID) throws(StoreFailure) -> PendingLoad {
        guard let app = try apps.code(of: app) else { return PendingLoad() }
        return try connection.row(Self.weighPending, [.integer(app)]) { row in
            PendingLoad(submissions: Int(row.integer(0)), bytes: Int(row.integer(1)))
        } ?? PendingLoad()
    }

    func backlogs() throws(StoreFailure) -> [PendingBacklog] {
        let all = try apps.all()
        let (asked, values) = try apps.keys(all, app: \.self) { code, _ in [code] }
        var backlogs: [PendingBacklog] = []
        try connection.visit(Self.backlog, values) { place, row in
            guard let oldest = row.optionalTimestamp(1) else { return }
            backlogs.append(PendingBacklog(app: asked[place], submissions: Int(row.integer(0)), oldest: oldest))
        }
        return backlogs
    }

    func countPending(app: AppID, customer: CustomerID, limit: Int) throws(StoreFailure) -> Int {
        guard let app = try apps.code(of: app) else { return 0 }
        let values: [SQLValue] = [.integer(app), .text(customer.text), .integer(Int64(max(limit, 0)))]
        return try connection.row(Self.countPending, values) { Int($0.integer(0)) } ?? 0
    }

    func forget(settledFor age: Duration, at callers: Timestamp, limit: Int) throws(StoreFailure) -> Int {
        let moment = try time.now(callers).advanced(by: .zero - age)
        return try connection.run(Self.forget, [.integer(moment.milliseconds), .integer(Int64(max(limit, 0)))])
    }

    /// What makes a submission the same one.
    private static func name(of submission: PendingSubmission, app: Int64) -> [SQLValue] {
        [.integer(app), .bytes(submission.digest.bytes), .text(submission.customer?.text ?? "")]
    }

    func settle(_ id: SubmissionID, as settlement: Settlement) throws(StoreFailure) -> Bool {
        guard settlement.isStorable else { throw .unstorable }
        let values: [SQLValue] = [
            .bytes(id.bytes), .integer(settlement.at.milliseconds), .text(settlement.verdict), .bytes([]),
        ]
        return try connection.run(Self.settle, values) == 1
    }

    func note(_ id: SubmissionID, waitsFor reason: String) throws(StoreFailure) -> Bool {
        guard StorableText.isWord(reason) else { throw .unstorable }
        return try connection.run(Self.note, [.bytes(id.bytes), .text(reason)]) == 1
    }

    func get(_ id: SubmissionID) throws(StoreFailure) -> KeptSubmission? {
        try connection.row(Self.get, [.bytes(id.bytes)], Self.read)?.kept
    }

    func importsWait(of app: AppID) throws(StoreFailure) -> Bool {
        guard let code = try apps.code(of: app) else { return false }
        return try connection.row(Self.findAnyImported, [.integer(code)]) { _ in true } ?? false
    }

    func findImported(under names: [SubmissionName]) throws(StoreFailure) -> [SubmissionName: KeptSubmission] {
        let (asked, values) = try apps.keys(names, app: \.app) { code, name in [code, .bytes(name.digest.bytes)] }
        var found: [SubmissionName: KeptSubmission] = [:]
        try connection.visit(Self.findImported, values) { place, row throws(StoreFailure) in
            found[asked[place]] = try Self.read(row).kept
        }
        return found
    }

    func listPending(app: AppID?, after cursor: SubmissionCursor?, limit: Int) throws(StoreFailure) -> SubmissionPage {
        let limit = min(max(limit, 1), SubmissionPage.limitMax)
        var values: [SQLValue] = [.integer(cursor?.sequence ?? .min), .integer(Int64(limit + 1))]
        if let app {
            guard let code = try apps.code(of: app) else { return SubmissionPage() }
            values.append(.integer(code))
        }
        let found = try connection.rows(app == nil ? Self.listPending : Self.listPendingOfApp, values, Self.read)
        let page = found.prefix(limit)
        return SubmissionPage(
            submissions: page.map(\.kept),
            next: found.count > limit ? page.last.map { SubmissionCursor(sequence: $0.sequence) } : nil
        )
    }

    private static func text(_ environments: Set<StoreEnvironment>) -> String {
        environments.map(\.rawValue).sorted().joined(separator: ",")
    }

    private static func environments(_ text: String) -> Set<StoreEnvironment> {
        let words = text.utf8.split(separator: UInt8(ascii: ","))
        return Set(words.map { StoreEnvironment(rawValue: String(decoding: $0, as: UTF8.self)) })
    }

    private static func readID(_ row: SQLRow) throws(StoreFailure) -> SubmissionID {
        guard let id = SubmissionID(row.bytes(0)) else { throw SQLiteResult.unreadableRow }
        return id
    }

    private static func digest(_ bytes: [UInt8]) throws(StoreFailure) -> ProofDigest {
        guard let digest = ProofDigest(bytes) else { throw SQLiteResult.unreadableRow }
        return digest
    }

    private static func readApp(_ row: SQLRow, _ column: Int32) throws(StoreFailure) -> AppID {
        guard let app: AppID = try row.identifier(column) else { throw SQLiteResult.unreadableRow }
        return app
    }

    private static func read(_ row: SQLRow) throws(StoreFailure) -> (sequence: Int64, kept: KeptSubmission) {
        guard let id = SubmissionID(row.bytes(11)),
            let origin = SubmissionOrigin(rawValue: row.integer(12))
        else { throw SQLiteResult.unreadableRow }
        let submission = PendingSubmission(
            id: id,
            app: try readApp(row, 1),
            digest: try digest(row.bytes(2)),
            format: row.text(5),
            proof: row.bytes(10),
            customer: row.text(3).utf8.isEmpty ? nil : try row.identifier(3),
            order: try row.identifier(4),
            environments: row.optionalText(13).map(Self.environments),
            isOnlyNamed: row.integer(14) != 0,
            proofDigest: try row.optionalBytes(15).map { bytes throws(StoreFailure) in try digest(bytes) },
            reason: row.text(6),
            receivedAt: Timestamp(milliseconds: row.integer(7)),
            origin: origin
        )
        let settlement = row.optionalTimestamp(8).map { Settlement(verdict: row.text(9), at: $0) }
        return (row.integer(0), KeptSubmission(submission, settlement: settlement))
    }
}
