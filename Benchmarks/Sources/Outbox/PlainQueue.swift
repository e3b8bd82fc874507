import PurchaseModel

/// The jobs' table as a plain program works it off, over one connection: what ended is deleted and the next ones are claimed,
/// in one commit. The store has made the table and the jobs.
protocol PlainQueue: AnyObject, SendableMetatype {
    /// What a claim tells of a job, as the database takes it back.
    associatedtype Hold

    init(_ place: any LedgerPlace, owner: String, batch: Int) throws

    /// - Returns: what was claimed.
    func exchange(_ ended: [Hold]) throws -> [Hold]
}

/// The claim's SQL: of the due ones the first, with all that a worker must know of them.
private struct PlainClaim {
    let owner: String
    let batch: Int
    /// What time it is, in milliseconds: where several write, the database's.
    let now: String

    /// The statement, where the jobs are named by the question for the first ones.
    func text(_ due: (String) -> String) -> String {
        let first = """
            SELECT sequence FROM jobs WHERE state = 0 AND kind = '\(JobBenchmark.kind)' AND due_at <= \(now)
            ORDER BY due_at, sequence LIMIT \(batch)
            """
        return """
            UPDATE jobs SET state = 1, attempt = attempt + 1, token = token + 1, owner = '\(owner)', due_at = \(now) + 30000
            WHERE \(due(first))
            RETURNING id, token, kind, payload, unique_key, first_due_at, created_at, attempt, lost_leases
            """
    }
}

/// Over SQLite's C interface.
final class PlainSQLiteQueue: PlainQueue {
    private let ledger: PlainSQLite
    private let begin: PlainStatement
    private let delete: PlainStatement
    private let claim: PlainStatement
    private let commit: PlainStatement

    init(_ place: any LedgerPlace, owner: String, batch: Int) throws {
        guard let ledger = try place.openPlain() as? PlainSQLite else { throw BenchmarkFailure("no SQLite") }
        self.ledger = ledger
        begin = try ledger.prepare("BEGIN IMMEDIATE")
        delete = try ledger.prepare(
            "DELETE FROM jobs WHERE id = $1 AND +state = 1 AND owner = '\(owner)' AND token = $2"
        )
        let claim = PlainClaim(owner: owner, batch: batch, now: String(Samples.moment.milliseconds))
        self.claim = try ledger.prepare(claim.text { "sequence IN (\($0))" })
        commit = try ledger.prepare("COMMIT")
    }

    func exchange(_ ended: [(id: PlainKey, token: Int64)]) throws -> [(id: PlainKey, token: Int64)] {
        try begin.run()
        for hold in ended {
            delete.bind(hold.id, 1)
            delete.bind(hold.token, 2)
            try delete.run()
        }
        var claimed: [(id: PlainKey, token: Int64)] = []
        try claim.run { row in claimed.append((.text(row.text(0) ?? ""), row.integer(1))) }
        try commit.run()
        try ledger.checkpointIfDue()
        return claimed
    }
}

/// Over libpq, each statement with arrays.
final class PlainPostgreSQLQueue: PlainQueue {
    private let link: PostgreSQLLink

    init(_ place: any LedgerPlace, owner: String, batch: Int) throws {
        guard let place = place as? PostgreSQLPlace else { throw BenchmarkFailure("no PostgreSQL") }
        link = try place.link()
        try link.prepare(
            "delete",
            """
            DELETE FROM jobs USING unnest($1::text[], $2::bigint[]) AS key (id, token)
            WHERE jobs.id = key.id AND +state = 1 AND owner = '\(owner)' AND jobs.token = key.token
            """
        )
        let now = "(SELECT CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS BIGINT))"
        let claim = PlainClaim(owner: owner, batch: batch, now: now)
        try link.prepare("claim", claim.text { "sequence = ANY(ARRAY(\($0) FOR UPDATE SKIP LOCKED))" })
    }

    func exchange(_ ended: [[[UInt8]?]]) throws -> [[[UInt8]?]] {
        try link.run("BEGIN ISOLATION LEVEL READ COMMITTED")
        if !ended.isEmpty {
            var holds = PlainArrays()
            holds.append(.text, ended.map { $0[0] })
            holds.append(.integer, ended.map { $0[1] })
            let deleted = try link.run(prepared: "delete", holds)
            guard deleted == ended.count else { throw BenchmarkFailure("\(deleted) of \(ended.count) jobs were held") }
        }
        let claimed = try link.values(prepared: "claim", PlainArrays())
        try link.run("COMMIT")
        return claimed
    }
}
