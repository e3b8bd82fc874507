import Glibc
import Storage

/// Where a ledger is.
enum LedgerPlace: Sendable {
    case folder(String)
    /// With what may be shown of its address.
    case database(PostgreSQLSettings, shown: String)

    /// The shared database if there is one, and else the folder.
    init(_ database: Configuration.Database, folder: String) {
        guard let url = database.url else {
            self = .folder(folder)
            return
        }
        let settings = PostgreSQLSettings(url: url.secret, schema: database.schema) { duration in
            try? await Task.sleep(for: duration)
        }
        guard var settings else { preconditionFailure("the configuration's schema has a name that was checked") }
        settings.isPooled = database.isPooled
        self = .database(settings, shown: url.description)
    }

    init(_ arguments: Arguments, _ environment: [String: String]) throws(UsageFault) {
        self.init(try Self.configuration(arguments, environment))
    }

    /// What is configured for a command that only wants a ledger: by the same layers as the server's, but apps and keys may be
    /// missing.
    static func configuration(
        _ arguments: Arguments,
        _ environment: [String: String]
    ) throws(UsageFault) -> Configuration {
        do throws(ConfigurationFaults) {
            return try Configuration.read(environment: environment, flags: arguments.flags, isToServe: false)
        } catch {
            throw UsageFault(error)
        }
    }

    init(_ configuration: Configuration) {
        self.init(configuration.database, folder: configuration.data)
    }

    /// For people.
    var shown: String {
        switch self {
        case .folder(let folder): folder
        case .database(_, let shown): shown
        }
    }

    /// Opens it to write to it, as a server does.
    ///
    /// - Parameter tell: hears when a database is lost, and when it is back.
    /// - Returns: the store; who opened it closes it.
    /// - Throws: `StoreOpenFailure`.
    func openToWrite(
        telling tell: @escaping @Sendable (DatabaseEvent) -> Void = { _ in }
    ) async throws(StoreOpenFailure) -> any Store {
        switch self {
        case .folder(let folder): return try SQLiteStore.open(folder: folder)
        case .database(var settings, _):
            settings.tell = tell
            return try await PostgreSQLStore.open(settings)
        }
    }

    /// Opens it to look at it, if there is one; changes nothing.
    ///
    /// - Returns: `nil` when no ledger was made there yet.
    /// - Throws: `StoreOpenFailure` of one that is there, or may be.
    func openToReadIfThere() async throws(StoreOpenFailure) -> OpenedLedger? {
        do throws(StoreOpenFailure) {
            return try await openToRead()
        } catch .absent {
            return nil
        } catch .inaccessible(_, ENOENT) {
            return nil
        }
    }

    /// Opens it to look at it; changes nothing.
    func openToRead() async throws(StoreOpenFailure) -> OpenedLedger {
        switch self {
        case .folder(let folder): .folder(try ReadOnlyLedger.open(folder: folder))
        case .database(let settings, _): .database(try await PostgreSQLStore.open(toRead: settings))
        }
    }
}

/// A ledger that is looked at, beside servers or without one.
enum OpenedLedger: Sendable {
    case folder(ReadOnlyLedger)
    case database(PostgreSQLStore)

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        switch self {
        case .folder(let ledger): try await ledger.read(body)
        case .database(let store): try await store.read(body)
        }
    }

    /// What the database finds wrong with its own file. PostgreSQL has tools of its own for that.
    func integrityProblems() async throws(StoreFailure) -> [String] {
        switch self {
        case .folder(let ledger): try await ledger.integrityProblems()
        case .database: []
        }
    }

    /// What decides how surely it keeps what it confirmed.
    func settings() async throws(StoreFailure) -> DatabaseSettings {
        switch self {
        case .folder(let ledger): try await ledger.settings()
        case .database(let store): try await store.settings()
        }
    }

    func close() async {
        switch self {
        case .folder(let ledger): await ledger.close()
        case .database(let store): await store.close()
        }
    }
}
