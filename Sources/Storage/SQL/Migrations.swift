/// The steps that make a file's schema the one we know: numbered SQL texts, each applied once, in order, in a
/// transaction of its own.
enum Migrations {
    /// "ASAY": how a file says that it is ours.
    static let applicationID: Int64 = 0x4153_4159

    /// The texts in order; the number of each is its place, from 1. One that was released is never changed.
    static let texts = [
        PackageResources.sqlite_0001_sql, PackageResources.sqlite_0002_sql, PackageResources.sqlite_0003_sql,
        PackageResources.sqlite_0004_sql, PackageResources.sqlite_0005_sql, PackageResources.sqlite_0006_sql,
        PackageResources.sqlite_0007_sql, PackageResources.sqlite_0008_sql, PackageResources.sqlite_0009_sql,
        PackageResources.sqlite_0010_sql, PackageResources.sqlite_0011_sql, PackageResources.sqlite_0012_sql,
        PackageResources.sqlite_0013_sql, PackageResources.sqlite_0014_sql, PackageResources.sqlite_0015_sql,
        PackageResources.sqlite_0016_sql, PackageResources.sqlite_0017_sql, PackageResources.sqlite_0018_sql,
        PackageResources.sqlite_0019_sql, PackageResources.sqlite_0020_sql, PackageResources.sqlite_0021_sql,
        PackageResources.sqlite_0022_sql, PackageResources.sqlite_0023_sql, PackageResources.sqlite_0024_sql,
        PackageResources.sqlite_0025_sql, PackageResources.sqlite_0026_sql, PackageResources.sqlite_0027_sql,
        PackageResources.sqlite_0028_sql, PackageResources.sqlite_0029_sql, PackageResources.sqlite_0030_sql,
        PackageResources.sqlite_0031_sql, PackageResources.sqlite_0032_sql, PackageResources.sqlite_0033_sql,
        PackageResources.sqlite_0034_sql, PackageResources.sqlite_0035_sql, PackageResources.sqlite_0036_sql,
        PackageResources.sqlite_0037_sql, PackageResources.sqlite_0038_sql,
        PackageResources.sqlite_0039_sql, PackageResources.sqlite_0040_sql,
        PackageResources.sqlite_0041_sql, PackageResources.sqlite_0042_sql,
        PackageResources.sqlite_0043_sql, PackageResources.sqlite_0044_sql,
        PackageResources.sqlite_0045_sql, PackageResources.sqlite_0046_sql,
        PackageResources.sqlite_0047_sql, PackageResources.sqlite_0048_sql,
        PackageResources.sqlite_0049_sql, PackageResources.sqlite_0050_sql,
        PackageResources.sqlite_0051_sql, PackageResources.sqlite_0052_sql,
        PackageResources.sqlite_0053_sql,
    ].map { String(decoding: $0, as: UTF8.self) }

    private static let identity = Query(
        """
        SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
        FROM pragma_application_id, pragma_user_version
        """
    )
    private static let applied = Query("SELECT number, text FROM migrations ORDER BY number")
    private static let remember = Query("INSERT INTO migrations (number, text) VALUES ($1, $2)")

    /// Refuses a file that is not ours, or newer than we are, or was made otherwise. Writes nothing.
    ///
    /// - Returns: how many migrations are applied to it.
    @discardableResult
    static func check(_ connection: SQLiteConnection, texts: [String] = texts) throws(StoreOpenFailure) -> Int {
        let version = try version(of: connection)
        guard version <= texts.count else { throw .newerSchema(found: version, known: texts.count) }
        try compare(connection, texts.prefix(version))
        return version
    }

    /// Brings a checked file up to date.
    static func run(on connection: SQLiteConnection, texts: [String] = texts) throws(StoreOpenFailure) {
        let version = try check(connection, texts: texts)
        guard version > 0 else {
            // A new file gets all of it or nothing: one that was cut off would be taken for an older version's.
            return try connection.opening { connection throws(StoreFailure) in
                try connection.write { connection throws(StoreFailure) in
                    for (index, text) in texts.enumerated() { try apply(text, number: index + 1, on: connection) }
                }
            }
        }
        for (index, text) in texts.enumerated().dropFirst(version) {
            try connection.opening { connection throws(StoreFailure) in
                try connection.write { connection throws(StoreFailure) in
                    try apply(text, number: index + 1, on: connection)
                }
            }
        }
    }

    private static func apply(
        _ text: String,
        number: Int,
        on connection: SQLiteConnection
    ) throws(StoreFailure) {
        if number == 1 {
            try connection.runScript(
                """
                PRAGMA application_id = \(applicationID);
                CREATE TABLE migrations (number INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
                """
            )
        }
        try connection.runScript(text)
        try connection.run(remember, [.integer(Int64(number)), .text(text)])
        try connection.runScript("PRAGMA user_version = \(number)")
    }

    private static func version(of connection: SQLiteConnection) throws(StoreOpenFailure) -> Int {
        let found = try connection.opening { connection throws(StoreFailure) in
            try connection.row(identity) { (application: $0.integer(0), version: $0.integer(1), tables: $0.integer(2)) }
        }
        guard let found else { throw .foreign }
        if found.application == 0, found.version == 0, found.tables == 0 { return 0 }
        guard found.application == applicationID, found.version >= 1 else { throw .foreign }
        return Int(found.version)
    }

    private static func compare(
        _ connection: SQLiteConnection,
        _ known: ArraySlice<String>
    ) throws(StoreOpenFailure) {
        if known.isEmpty { return }
        let found = try connection.opening { connection throws(StoreFailure) in
            try connection.rows(applied) { (number: Int($0.integer(0)), text: $0.text(1)) }
        }
        for (index, text) in known.enumerated() {
            // Compared as bytes: two texts that differ only in their normalisation are two texts.
            guard index < found.count, found[index].number == index + 1, found[index].text.utf8.elementsEqual(text.utf8)
            else { throw .changedMigration(number: index + 1) }
        }
    }
}
