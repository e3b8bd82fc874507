import PurchaseModel

// Who uses the dashboard: hands each verb to the file that knows its SQL.
extension SQLTransaction {
    private var accounts: AdminQueries { AdminQueries(connection: connection) }
    private var sessions: AdminSessionQueries { AdminSessionQueries(connection: connection) }
    private var log: AuditQueries { AuditQueries(connection: connection) }

    func admin(_ name: AdminName) throws(StoreFailure) -> AdminAccount? { try accounts.find(name) }

    func admins() throws(StoreFailure) -> [AdminAccount] { try accounts.list() }

    func adminSession(_ digest: [UInt8]) throws(StoreFailure) -> AdminSession? { try sessions.find(digest) }

    func adminActions(before place: Int64?, limit: Int) throws(StoreFailure) -> AdminActionPage {
        try log.list(before: place, limit: limit)
    }

    func auditHead() throws(StoreFailure) -> AuditLink? { try log.head() }

    func createAdmin(_ account: AdminAccount) throws(StoreFailure) { try accounts.create(account) }

    func createFirstAdmin(_ account: AdminAccount) throws(StoreFailure) -> Bool { try accounts.createFirst(account) }

    func firstAccountLink(_ digest: [UInt8]) throws(StoreFailure) -> Timestamp? { try accounts.link(digest) }

    func keepFirstAccountLink(
        _ digest: [UInt8],
        madeAt moment: Timestamp,
        forgettingBefore old: Timestamp
    ) throws(StoreFailure) {
        try accounts.keepLink(digest, madeAt: moment, forgettingBefore: old)
    }

    func holdAdmin(_ name: AdminName) throws(StoreFailure) -> AdminAccount? { try accounts.hold(name) }

    func updateAdmin(_ account: AdminAccount) throws(StoreFailure) { try accounts.update(account) }

    func startAdminSession(_ session: AdminSession) throws(StoreFailure) { try sessions.start(session) }

    func noteAdminSession(_ digest: [UInt8], seenAt moment: Timestamp) throws(StoreFailure) -> Bool {
        try sessions.note(digest, seenAt: moment)
    }

    func endAdminSession(_ digest: [UInt8], at moment: Timestamp) throws(StoreFailure) -> Bool {
        try sessions.end(digest, at: moment)
    }

    func endAdminSessions(
        of admin: AdminName,
        but digest: [UInt8]?,
        at moment: Timestamp
    ) throws(StoreFailure) -> Int {
        try sessions.endAll(of: admin, but: digest, at: moment)
    }

    func sweepAdminSessions(startedBefore moment: Timestamp, limit: Int) throws(StoreFailure) -> Int {
        try sessions.sweep(startedBefore: moment, limit: limit)
    }

    func sweepRefusedSignIns(
        olderThan age: Duration,
        at now: Timestamp,
        after place: Int64,
        limit: Int
    ) throws(StoreFailure) -> Int64 {
        try AuditSweepQueries(connection: connection, time: time)
            .sweepRefusedSignIns(olderThan: age, at: now, after: place, limit: limit)
    }

    func noteAdminAction(_ action: AdminAction) throws(StoreFailure) { try log.note(action) }
}
