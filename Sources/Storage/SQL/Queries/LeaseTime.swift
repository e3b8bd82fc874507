import PurchaseModel

/// What time it is for leases and due moments: the one place that says so.
///
/// Where one process writes, its own clock will do. Where several write, it is the database's.
struct LeaseTime {
    let connection: any SQLConnection

    private static let database = Query("SELECT unixepoch() * 1000", postgresql: "SELECT \(databaseNow)")
    /// For a statement that notes the moment by itself: so it needs no question before it.
    static let databaseNow = "CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS BIGINT)"

    func now(_ callers: Timestamp) throws(StoreFailure) -> Timestamp {
        switch connection.leaseClock {
        case .callers: callers
        case .database:
            try connection.row(Self.database) { Timestamp(milliseconds: $0.integer(0)) } ?? callers
        }
    }

    /// What time it was at each of these moments of the caller's: one question for all of them.
    func moments(_ callers: [Timestamp]) throws(StoreFailure) -> [Timestamp] {
        guard connection.leaseClock == .database, let first = callers.first else { return callers }
        return Array(repeating: try now(first), count: callers.count)
    }

    /// What a statement is given for now: nothing, where it is to take ``databaseNow``.
    func noted(_ callers: Timestamp) -> SQLValue {
        switch connection.leaseClock {
        case .callers: .integer(callers.milliseconds)
        case .database: .null
        }
    }

    /// Has open rows be due sooner, by ``values(of:)``; see ``ClockLead``.
    static let hastening = (
        assignments: "due_at = CASE WHEN due_at - $2 > $1 THEN due_at - $2 ELSE $1 END",
        condition: "due_at > $3 OR state <> 1 AND due_at > $1"
    )

    static func values(of lead: ClockLead) -> [SQLValue] {
        [.integer(lead.now.milliseconds), .integer(lead.milliseconds), .integer(lead.leasesEnd.milliseconds)]
    }

    func terms(_ callers: LeaseTerms) throws(StoreFailure) -> LeaseTerms {
        LeaseTerms(owner: callers.owner, duration: callers.duration, now: try now(callers.now))
    }
}
