import PurchaseModel

/// When it is the turn of what imports ask Apple: one plan for all sources of an app.
struct ImportQuestionQueries {
    let connection: any SQLConnection
    let apps: AppQueries
    let time: LeaseTime

    private static let find = Query("SELECT asks_until FROM apps WHERE code = $1")
    /// Of two who plan at once the second waits for the first, and comes after it.
    private static let plan = Query(planning(by: "max"), postgresql: planning(by: "greatest"))
    private static func planning(by greater: String) -> String {
        """
        UPDATE apps SET asks_until = \(greater)(asks_until, $2) + $3 WHERE code = $1
        RETURNING asks_until - $3 - $2
        """
    }
    private static let hasten = Query(
        """
        UPDATE apps SET asks_until = CASE WHEN asks_until - $2 > $1 THEN asks_until - $2 ELSE $1 END
        WHERE asks_until > $1
        """
    )

    func last(of app: AppID, at callers: Timestamp) throws(StoreFailure) -> Duration {
        guard let code = try apps.code(of: app) else { return .zero }
        let until = try connection.row(Self.find, [.integer(code)]) { Timestamp(milliseconds: $0.integer(0)) }
        guard let until else { return .zero }
        return max(try time.now(callers).duration(to: until), .zero)
    }

    func plan(
        _ count: Int,
        of app: AppID,
        every spacing: Duration,
        at callers: Timestamp
    ) throws(StoreFailure) -> Duration {
        guard count > 0 else { return try last(of: app, at: callers) }
        let now = try time.now(callers)
        let length = now.advanced(by: spacing * count).milliseconds - now.milliseconds
        let values: [SQLValue] = [
            .integer(try apps.codeForWriting(app)), .integer(now.milliseconds), .integer(length),
        ]
        let wait = try connection.row(Self.plan, values) { Duration.milliseconds($0.integer(0)) }
        guard let wait else { throw SQLiteResult.unreadableRow }
        return wait
    }

    func hasten(by lead: ClockLead) throws(StoreFailure) {
        try connection.run(Self.hasten, [.integer(lead.now.milliseconds), .integer(lead.milliseconds)])
    }
}
