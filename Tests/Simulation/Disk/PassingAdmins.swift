package import PurchaseModel
package import Storage

// Who uses the dashboard.
extension PassingTransaction {
    package func admin(_ name: AdminName) throws(StoreFailure) -> AdminAccount? { try base.admin(name) }

    package func admins() throws(StoreFailure) -> [AdminAccount] { try base.admins() }

    package func adminSession(_ digest: [UInt8]) throws(StoreFailure) -> AdminSession? {
        try base.adminSession(digest)
    }

    package func adminActions(before place: Int64?, limit: Int) throws(StoreFailure) -> AdminActionPage {
        try base.adminActions(before: place, limit: limit)
    }

    package func auditHead() throws(StoreFailure) -> AuditLink? { try base.auditHead() }

    package func createAdmin(_ account: AdminAccount) throws(StoreFailure) { try base.createAdmin(account) }

    package func createFirstAdmin(_ account: AdminAccount) throws(StoreFailure) -> Bool {
        try base.createFirstAdmin(account)
    }

    package func firstAccountLink(_ digest: [UInt8]) throws(StoreFailure) -> Timestamp? {
        try base.firstAccountLink(digest)
    }

    package func keepFirstAccountLink(
        _ digest: [UInt8],
        madeAt moment: Timestamp,
        forgettingBefore old: Timestamp
    ) throws(StoreFailure) {
        try base.keepFirstAccountLink(digest, madeAt: moment, forgettingBefore: old)
    }

    package func holdAdmin(_ name: AdminName) throws(StoreFailure) -> AdminAccount? { try base.holdAdmin(name) }

    package func updateAdmin(_ account: AdminAccount) throws(StoreFailure) { try base.updateAdmin(account) }

    package func startAdminSession(_ session: AdminSession) throws(StoreFailure) {
        try base.startAdminSession(session)
    }

    package func noteAdminSession(_ digest: [UInt8], seenAt moment: Timestamp) throws(StoreFailure) -> Bool {
        try base.noteAdminSession(digest, seenAt: moment)
    }

    package func endAdminSession(_ digest: [UInt8], at moment: Timestamp) throws(StoreFailure) -> Bool {
        try base.endAdminSession(digest, at: moment)
    }

    package func endAdminSessions(
        of admin: AdminName,
        but digest: [UInt8]?,
        at moment: Timestamp
    ) throws(StoreFailure) -> Int {
        try base.endAdminSessions(of: admin, but: digest, at: moment)
    }

    package func sweepAdminSessions(startedBefore moment: Timestamp, limit: Int) throws(StoreFailure) -> Int {
        try base.sweepAdminSessions(startedBefore: moment, limit: limit)
    }

    package func noteAdminAction(_ action: AdminAction) throws(StoreFailure) { try base.noteAdminAction(action) }
}
