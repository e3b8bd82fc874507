/// What decides how surely a database keeps what it confirmed, as it is in force.
package struct DatabaseSettings: Hashable, Sendable {
    package enum Engine: String, Hashable, Sendable {
        case sqlite, postgresql
    }

    package var engine: Engine
    package var version: String
    /// By the database's own names: `journal_mode` of SQLite; `fsync`, `full_page_writes` and `synchronous_commit` of
    /// PostgreSQL.
    package var values: [String: String]

    package init(engine: Engine, version: String, values: [String: String]) {
        self.engine = engine
        self.version = version
        self.values = values
    }
}

extension ReadOnlyLedger {
    package func settings() async throws(StoreFailure) -> DatabaseSettings {
        try await read { reader throws(StoreFailure) in
            try SettingQueries.read(reader, .sqlite) { connection throws(StoreFailure) in
                try SettingQueries.sqlite(connection)
            }
        }
    }
}

extension PostgreSQLStore {
    package func settings() async throws(StoreFailure) -> DatabaseSettings {
        try await read { reader throws(StoreFailure) in
            try SettingQueries.read(reader, .postgresql) { connection throws(StoreFailure) in
                try SettingQueries.postgreSQL(connection)
            }
        }
    }
}

private enum SettingQueries {
    private static let journal = Query("PRAGMA journal_mode")
    private static let library = Query("SELECT sqlite_version()")
    private static let names = ["fsync", "full_page_writes", "synchronous_commit", "server_version"]
    private static let settings = Query(
        "SELECT " + names.map { "current_setting('\($0)')" }.joined(separator: ", ")
    )

    typealias Found = (version: String, values: [String: String])

    static func read(
        _ reader: any StoreReader,
        _ engine: DatabaseSettings.Engine,
        _ ask: (any SQLConnection) throws(StoreFailure) -> Found
    ) throws(StoreFailure) -> DatabaseSettings {
        guard let transaction = reader as? SQLTransaction else {
            preconditionFailure("a ledger in a database is read by SQL")
        }
        let found = try ask(transaction.connection)
        return DatabaseSettings(engine: engine, version: found.version, values: found.values)
    }

    static func sqlite(_ connection: any SQLConnection) throws(StoreFailure) -> Found {
        let journal = try connection.row(journal) { $0.text(0) }
        let version = try connection.row(library) { $0.text(0) }
        return (version ?? "", ["journal_mode": journal ?? ""])
    }

    static func postgreSQL(_ connection: any SQLConnection) throws(StoreFailure) -> Found {
        let row = try connection.row(settings) { row in names.indices.map { row.text(Int32($0)) } } ?? []
        let values = Dictionary(zip(names, row)) { first, _ in first }
        return (values["server_version"] ?? "", values.filter { $0.key != "server_version" })
    }
}
