import PurchaseModel

/// Apps as the small numbers that stand for them in rows.
///
/// A number that was read is kept for as long as the connection, for it never changes; one that this transaction gave only
/// until its end: a rolled-back one leaves no number behind.
final class AppQueries {
    private let connection: any SQLConnection
    private var given: [AppID: Int64] = [:]

    init(_ connection: any SQLConnection) { self.connection = connection }

    private static let list = Query("SELECT name FROM apps ORDER BY name")
    private static let find = Query("SELECT code FROM apps WHERE name = $1")
    private static let insert = Query("INSERT INTO apps (name) VALUES ($1) ON CONFLICT (name) DO NOTHING")

    /// All of them, by name.
    func all() throws(StoreFailure) -> [AppID] {
        try connection.rows(Self.list) { row throws(StoreFailure) in
            guard let app: AppID = try row.identifier(0) else { throw SQLiteResult.unreadableRow }
            return app
        }
    }

    /// `nil` for an app that nothing was written for.
    func code(of app: AppID) throws(StoreFailure) -> Int64? {
        if let known = connection.appCodes[app] ?? given[app] { return known }
        let code = try find(app)
        if let code { connection.appCodes[app] = code }
        return code
    }

    /// The app's number; gives it one if need be.
    func codeForWriting(_ app: AppID) throws(StoreFailure) -> Int64 {
        if let code = try code(of: app) { return code }
        try connection.run(Self.insert, [.text(app.text)])
        guard let code = try find(app) else { throw SQLiteResult.unreadableRow }
        given[app] = code
        return code
    }

    private func find(_ app: AppID) throws(StoreFailure) -> Int64? {
        try connection.row(Self.find, [.text(app.text)]) { $0.integer(0) }
    }

    /// What is asked about apps that we know, and the values to ask with: the app's number, and the rest. Of an app that
    /// nothing was written for there is nothing to find.
    func keys<Key>(
        _ keys: [Key],
        app: (Key) -> AppID,
        _ rest: (Key) -> [SQLValue]
    ) throws(StoreFailure) -> (asked: [Key], values: [[SQLValue]]) {
        var asked: [Key] = []
        var values: [[SQLValue]] = []
        // Of an app that is new each key would ask anew.
        var unknown: Set<AppID> = []
        for key in keys where !unknown.contains(app(key)) {
            guard let code = try code(of: app(key)) else {
                unknown.insert(app(key))
                continue
            }
            asked.append(key)
            values.append([.integer(code)] + rest(key))
        }
        return (asked, values)
    }
}
