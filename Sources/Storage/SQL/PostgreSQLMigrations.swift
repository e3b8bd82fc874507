/// The steps that make a schema the one we know: numbered SQL texts, applied in order, statement by statement.
///
/// Each statement is noted in the transaction that runs it, by a row that is there once: of nodes that start at once, one runs
/// it and the others wait, and a start that was killed midway is gone on with. Every statement may be run again all the same: a
/// database may end a change of the schema in a transaction of its own.
enum PostgreSQLMigrations {
    /// The texts in order; the number of each is its place, from 1. One that was released is never changed.
    static let texts = [
        PackageResources.postgres_0001_sql, PackageResources.postgres_0002_sql, PackageResources.postgres_0003_sql,
        PackageResources.postgres_0004_sql, PackageResources.postgres_0005_sql, PackageResources.postgres_0006_sql,
        PackageResources.postgres_0007_sql, PackageResources.postgres_0008_sql, PackageResources.postgres_0009_sql,
        PackageResources.postgres_0010_sql, PackageResources.postgres_0011_sql,
        PackageResources.postgres_0012_sql, PackageResources.postgres_0013_sql, PackageResources.postgres_0014_sql,
        PackageResources.postgres_0015_sql, PackageResources.postgres_0016_sql, PackageResources.postgres_0017_sql,
        PackageResources.postgres_0018_sql, PackageResources.postgres_0019_sql, PackageResources.postgres_0020_sql,
        PackageResources.postgres_0021_sql, PackageResources.postgres_0022_sql, PackageResources.postgres_0023_sql,
        PackageResources.postgres_0024_sql, PackageResources.postgres_0025_sql, PackageResources.postgres_0026_sql,
        PackageResources.postgres_0027_sql, PackageResources.postgres_0028_sql, PackageResources.postgres_0029_sql,
        PackageResources.postgres_0030_sql, PackageResources.postgres_0031_sql, PackageResources.postgres_0032_sql,
        PackageResources.postgres_0033_sql, PackageResources.postgres_0034_sql, PackageResources.postgres_0035_sql,
        PackageResources.postgres_0036_sql, PackageResources.postgres_0037_sql,
        PackageResources.postgres_0038_sql, PackageResources.postgres_0039_sql,
        PackageResources.postgres_0040_sql, PackageResources.postgres_0041_sql,
        PackageResources.postgres_0042_sql, PackageResources.postgres_0043_sql,
        PackageResources.postgres_0044_sql, PackageResources.postgres_0045_sql,
        PackageResources.postgres_0046_sql, PackageResources.postgres_0047_sql,
        PackageResources.postgres_0048_sql, PackageResources.postgres_0049_sql,
        PackageResources.postgres_0050_sql, PackageResources.postgres_0051_sql,
        PackageResources.postgres_0052_sql,
    ].map { String(decoding: $0, as: UTF8.self) }

    /// How often a statement is tried that collides with the same one of another node. Each waits for the other's end.
    private static let attemptsMax = 50
    /// What such a collision is called: there already (relation, object, schema, unique key), changed by another just
    /// now, a deadlock, a lock that was not free in time.
    private static let collisions: Set = ["42P07", "42710", "42P06", "23505", "XX000", "40P01", "40001", "55P03"]

    private static let table = """
        CREATE TABLE IF NOT EXISTS migrations (number BIGINT PRIMARY KEY, text TEXT COLLATE "C" NOT NULL)
        """
    /// A node that is slow may be at a migration that others have long noted, and whose servers write: the rows stay.
    private static let stepTable = """
        CREATE TABLE IF NOT EXISTS migration_steps (
            number BIGINT NOT NULL,
            step BIGINT NOT NULL,
            PRIMARY KEY (number, step)
        )
        """
    private static let isThere = Query(
        "SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'migrations'"
    )
    private static let applied = Query("SELECT number, text FROM migrations ORDER BY number")
    private static let isDone = Query("SELECT 1 FROM migration_steps WHERE number = $1 AND step = $2")
    private static let remember = BulkInsert(
        into: "migrations",
        [.integer("number"), .text("text")],
        key: ["number"],
        on: .keepsOld
    )

    /// Brings a schema up to date; refuses one that is newer than we are, or was made otherwise.
    static func run(on connection: PostgreSQLConnection, schema: String) throws(StoreOpenFailure) {
        // Whoever may make nothing starts where nothing is to be made: the server asks for the right first.
        if try isMade(schema, on: connection), try check(connection) == texts.count { return }
        try apply("CREATE SCHEMA IF NOT EXISTS \"\(schema)\"", on: connection)
        try apply(table, on: connection)
        try apply(stepTable, on: connection)
        let version = try check(connection)
        for (index, text) in texts.enumerated().dropFirst(version) {
            for (step, statement) in statements(of: text).enumerated() {
                try apply(statement, as: (Int64(index + 1), Int64(step + 1)), on: connection)
            }
            try note(index + 1, text, on: connection)
        }
        // Another node may have noted a text of its own under one of these numbers.
        try check(connection)
    }

    /// Throws unless the schema is up to date. Writes nothing.
    static func confirm(on connection: PostgreSQLConnection, schema: String) throws(StoreOpenFailure) {
        guard try isMade(schema, on: connection) else { throw .absent }
        let version = try check(connection)
        guard version > 0 else { throw .absent }
        guard version == texts.count else { throw .olderSchema(found: version, known: texts.count) }
    }

    private static func isMade(_ schema: String, on connection: PostgreSQLConnection) throws(StoreOpenFailure) -> Bool {
        try settled {
            connection.read { connection throws(StoreFailure) in
                try connection.row(isThere, [.text(schema)]) { $0.integer(0) > 0 } ?? false
            }
        }
    }

    /// - Returns: how many migrations are applied.
    @discardableResult
    private static func check(_ connection: PostgreSQLConnection) throws(StoreOpenFailure) -> Int {
        let found = try settled {
            connection.read { connection throws(StoreFailure) in
                try connection.rows(applied) { (number: Int($0.integer(0)), text: $0.text(1)) }
            }
        }
        guard found.count <= texts.count else { throw .newerSchema(found: found.count, known: texts.count) }
        for (index, applied) in found.enumerated() {
            // Compared as bytes: two texts that differ only in their normalisation are two texts.
            guard applied.number == index + 1, applied.text.utf8.elementsEqual(texts[index].utf8) else {
                throw .changedMigration(number: index + 1)
            }
        }
        return found.count
    }

    private static func note(
        _ number: Int,
        _ text: String,
        on connection: PostgreSQLConnection
    ) throws(StoreOpenFailure) {
        _ = try settled {
            connection.write(as: 0) { connection throws(StoreFailure) in
                try connection.insert([.integer(Int64(number)), .text(text)], by: remember)
            }
        }
    }

    /// What came of a transaction in the end: another node, at the same step, may have it turned back.
    private static func settled<Value>(
        _ attempt: () -> WriteOutcome<Value>
    ) throws(StoreOpenFailure) -> Value {
        var failure = StoreFailure.conflict
        for _ in 0..<attemptsMax {
            switch attempt() {
            case .done(let value): return value
            case .failed(let found): throw StoreOpenFailure(found)
            case .again(let found): failure = found
            case .unknown, .unreachable: throw .unreachable("the connection broke")
            }
        }
        throw StoreOpenFailure(failure)
    }

    /// Runs a statement that nobody has run as this step of this migration.
    private static func apply(
        _ statement: String,
        as step: (number: Int64, place: Int64),
        on connection: PostgreSQLConnection
    ) throws(StoreOpenFailure) {
        // First the row: whoever has the same one waits here until that commit, and is then refused.
        let noted = "INSERT INTO migration_steps (number, step) VALUES (\(step.number), \(step.place)); \(statement)"
        try apply(noted, on: connection) { () throws(StoreOpenFailure) in
            try settled {
                connection.read { connection throws(StoreFailure) in
                    try connection.row(isDone, [.integer(step.number), .integer(step.place)]) { _ in true } ?? false
                }
            }
        }
    }

    /// Runs a statement again after a collision, unless it is done by then.
    private static func apply(
        _ statement: String,
        on connection: PostgreSQLConnection,
        unless isDone: () throws(StoreOpenFailure) -> Bool = { () throws(StoreOpenFailure) in false }
    ) throws(StoreOpenFailure) {
        var attempt = 1
        while true {
            do throws(PostgreSQLFault) {
                return try connection.runScript(statement)
            } catch {
                if error.isLost { throw .unreachable("the connection broke") }
                guard collisions.contains(error.state) else { throw StoreOpenFailure(error.failure) }
                if try isDone() { return }
                guard attempt < attemptsMax else { throw StoreOpenFailure(error.failure) }
                attempt += 1
            }
        }
    }

    /// A statement ends with a semicolon at the end of a line; none of ours has one elsewhere.
    static func statements(of text: String) -> [String] {
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"))
        var statements: [String] = []
        var current: [UInt8] = []
        for line in lines where !line.starts(with: "--".utf8) {
            current += line
            if line.last == UInt8(ascii: ";") {
                statements.append(String(decoding: current.dropLast(), as: UTF8.self))
                current = []
            } else {
                current.append(UInt8(ascii: "\n"))
            }
        }
        precondition(current.isEmpty, "a migration's last statement ends with a semicolon")
        return statements
    }
}
