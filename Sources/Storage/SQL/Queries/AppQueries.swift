import PurchaseModel

/// Apps as the small numbers that stand for them in rows.
///
/// A number that was read is kept for as long as the connection, for it never changes; one that this transaction gave only
/// until its end: a rolled-back one leaves no number behind.
final class AppQueries {
    private let connection: any SQLConnection
    private var given: [AppID: Int64] = [:]
    /// Most writes are of one app, whose number each row of theirs asks for.
    private var last: (app: AppID, code: Int64)?

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
        if let last, last.app == app { return last.code }
        if let known = connection.appCodes[app] ?? given[app] {
            last = (app, known)
            return known
        }
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

    /// What is asked about apps that we know, and the values to ask with. Of an app that nothing was written for there is
    /// nothing to find.
    ///
    /// - Parameters:
    ///   - keys: what is wanted.
    ///   - app: of which app each is.
    ///   - values: of the app's number and a key.
    /// - Returns: what is asked about, and with which values, in the order of the keys.
    /// - Throws: what looking an app up throws.
    func keys<Key>(
        _ keys: [Key],
        app: (Key) -> AppID,
        _ values: (SQLValue, Key) -> [SQLValue]
    ) throws(StoreFailure) -> (asked: [Key], values: [[SQLValue]]) {
        var asked: [Key] = []
        var found: [[SQLValue]] = []
        asked.reserveCapacity(keys.count)
        found.reserveCapacity(keys.count)
        // Of an app that is new each key would ask anew.
        var unknown: Set<AppID> = []
        for key in keys where !unknown.contains(app(key)) {
            guard let code = try code(of: app(key)) else {
                unknown.insert(app(key))
                continue
            }
            asked.append(key)
            found.append(values(.integer(code), key))
        }
        return (asked, found)
    }
}
