import CSQLite
import Foundation
import Storage

/// Where a ledger lies that is made to be measured with, and removed.
protocol LedgerPlace: Sendable {
    associatedtype Plain: PlainLedger

    func openStore() async throws -> any Store
    /// To the tables that a store has made.
    func openPlain() throws -> Plain
    /// The database's server, whose children do its work; `nil` when it has no process of its own.
    func server() throws -> Int32?
    /// How often the database has synced its log, once nobody is connected; `nil` where it does not count that.
    func syncs() throws -> Int?
    func bytes() throws -> Int
    /// Brings what was written to where it belongs, so that what follows does not pay for it.
    func settle() throws
    func remove() throws

    /// Numbers the rows of a store that has written nothing yet from there on, where it is not the tables' end that tells.
    func moveNumbers(beyond number: Int64) throws
    /// What has rows in it before anything is recorded.
    var ownTables: [String] { get }

    /// How its SQL differs from the other's.
    var dialect: GrownLedger.Dialect { get }

    /// Beside this one, and empty.
    func sibling(_ name: String) -> Self
}

extension LedgerPlace {
    /// An empty ledger with all its tables.
    func make() async throws { try await openStore().close() }
}

/// A folder with a SQLite file.
struct SQLitePlace: LedgerPlace {
    let path: String

    private var file: String { path + "/assay.sqlite" }

    func openStore() async throws -> any Store { try SQLiteStore.open(folder: path) }
    func openPlain() throws -> PlainSQLite { try PlainSQLite(path: file) }
    func server() -> Int32? { nil }
    func syncs() -> Int? { nil }

    func bytes() throws -> Int {
        try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int ?? 0
    }

    func settle() { sync() }
    func remove() { try? FileManager.default.removeItem(atPath: path) }
    /// Rows are numbered after those that are there.
    func moveNumbers(beyond number: Int64) {}
    var ownTables: [String] { ["migrations"] }
    var dialect: GrownLedger.Dialect { .sqlite }
    func sibling(_ name: String) -> SQLitePlace { SQLitePlace(path: path + "-" + name) }
}

/// A schema of a PostgreSQL database whose server runs on this machine.
struct PostgreSQLPlace: LedgerPlace {
    let url: String
    let schema: String

    func openStore() async throws -> any Store {
        let settings = PostgreSQLSettings(url: url, schema: schema) { duration in
            try? await Task.sleep(for: duration)
        }
        guard let settings else { throw BenchmarkFailure("no name for a schema: \(schema)") }
        return try await PostgreSQLStore.open(settings)
    }

    func openPlain() throws -> PlainPostgreSQL { try PlainPostgreSQL(url: url, schema: schema) }

    func server() throws -> Int32? {
        let link = try link()
        let answer = try link.texts("SELECT pg_backend_pid()").first?.first ?? nil
        // Its process ends with the link.
        let server = withExtendedLifetime(link) { answer.flatMap { Int32($0) }.flatMap(ProcessTree.parent) }
        guard let server else { throw BenchmarkFailure("the database's server is not on this machine") }
        return server
    }

    func syncs() throws -> Int? {
        let link = try link()
        let others = "SELECT 1 FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        // A session tells what it did at its end at the latest.
        for _ in 0..<5_000 where try !link.texts(others).isEmpty { usleep(1_000) }
        guard try link.texts(others).isEmpty else { throw BenchmarkFailure("others use the database, too") }
        return try link.texts("SELECT wal_sync FROM pg_stat_wal").first?.first?.flatMap { Int($0) }
    }

    func bytes() throws -> Int {
        let sizes = "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relnamespace = "
        return try link().texts(sizes + "'\(schema)'::regnamespace").first?.first?.flatMap { Int($0) } ?? 0
    }

    func settle() throws { try link().run("CHECKPOINT") }
    func remove() throws { try link().run("DROP SCHEMA IF EXISTS \"\(schema)\" CASCADE") }
    /// A row's number is that of its commit, and 20 bits.
    func moveNumbers(beyond number: Int64) throws { try link().run("SELECT setval('batches', \((number >> 20) + 1))") }
    var ownTables: [String] { ["migrations", "migration_steps", "writers"] }
    var dialect: GrownLedger.Dialect { .postgresql }
    func sibling(_ name: String) -> PostgreSQLPlace { PostgreSQLPlace(url: url, schema: schema + "_" + name) }

    func link() throws -> PostgreSQLLink { try PostgreSQLLink(url: url, schema: schema) }
}

/// The databases that there are to measure on: SQLite, and PostgreSQL when `ASSAY_TEST_POSTGRES` names a server.
/// `BENCH_STORE` is `sqlite` or `postgresql` to choose one.
struct StoreChoice {
    let name: String
    /// `nil` for SQLite.
    private let url: String?

    var isSQLite: Bool { url == nil }

    static var available: [StoreChoice] {
        let environment = ProcessInfo.processInfo.environment
        let server = environment["ASSAY_TEST_POSTGRES"]
        let all =
            [StoreChoice(name: "SQLite", url: nil)] + (server.map { [StoreChoice(name: "PostgreSQL", url: $0)] } ?? [])
        guard let wanted = environment["BENCH_STORE"], !wanted.isEmpty else { return all }
        return all.filter { $0.name.lowercased() == wanted }
    }

    /// Nothing is there yet. The path is a file's; a schema is called by its last part.
    func place(in path: String) -> any LedgerPlace {
        guard let url else { return SQLitePlace(path: path) }
        let name = path.split(separator: "/").last.map(String.init) ?? "ledger"
        return PostgreSQLPlace(url: url, schema: "bench_\(getpid())_\(name)")
    }

    func withStore<Value>(in path: String, _ body: (any Store) async throws -> Value) async throws -> Value {
        let place = place(in: path)
        try place.remove()
        let store = try await place.openStore()
        let value = try await body(store)
        await store.close()
        try place.remove()
        return value
    }
}
