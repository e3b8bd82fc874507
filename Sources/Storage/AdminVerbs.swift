package import PurchaseModel

/// The questions about who uses the dashboard.
package protocol AdminReader {
    func admin(_ name: AdminName) throws(StoreFailure) -> AdminAccount?

    /// When a link to the first account was made, by its token's SHA-256; `nil` when none was, or it was forgotten.
    func firstAccountLink(_ digest: [UInt8]) throws(StoreFailure) -> Timestamp?

    /// All accounts by name; at most ``AdminAccount/listedMax``.
    func admins() throws(StoreFailure) -> [AdminAccount]

    /// A session by its token's SHA-256, also one that has ended; `nil` once it was swept.
    func adminSession(_ digest: [UInt8]) throws(StoreFailure) -> AdminSession?

    /// What was done, the newest first, before a place in the listing; the limit is brought between 1 and
    /// ``AdminActionPage/limitMax``.
    func adminActions(before place: Int64?, limit: Int) throws(StoreFailure) -> AdminActionPage

    /// The newest link of the log's chain; `nil` when none was noted yet.
    func auditHead() throws(StoreFailure) -> AuditLink?
}

/// Accounts of the dashboard, their sessions, and the log of what is done with them.
package protocol AdminVerbs: AdminReader {
    /// Keeps a new account; its version is 1.
    ///
    /// - Throws: ``StoreFailure/conflict`` when the name is taken. ``StoreFailure/unstorable``.
    func createAdmin(_ account: AdminAccount) throws(StoreFailure)

    /// Keeps the first account of all; its version is 1. The links to it are forgotten.
    ///
    /// - Returns: false when there is any account; then nothing is written.
    /// - Throws: ``StoreFailure/conflict`` when somebody else is the first just now. ``StoreFailure/unstorable``.
    func createFirstAdmin(_ account: AdminAccount) throws(StoreFailure) -> Bool

    /// Keeps a link to the first account, by its token's SHA-256, and forgets those that were made before a moment.
    ///
    /// - Throws: ``StoreFailure/conflict`` when there is one of this digest. ``StoreFailure/unstorable``.
    func keepFirstAccountLink(
        _ digest: [UInt8],
        madeAt moment: Timestamp,
        forgettingBefore old: Timestamp
    ) throws(StoreFailure)

    /// An account as it is until this write has ended: whoever changes it at the same moment waits, or is made again.
    func holdAdmin(_ name: AdminName) throws(StoreFailure) -> AdminAccount?

    /// Writes an account's role, password and whether it is enabled.
    ///
    /// - Parameter account: its version is the one that the change was made from.
    /// - Throws: ``StoreFailure/conflict`` when there is none of this name and version. ``StoreFailure/unstorable``.
    func updateAdmin(_ account: AdminAccount) throws(StoreFailure)

    /// Keeps a new session.
    ///
    /// - Throws: ``StoreFailure/conflict`` when there is one of this digest. ``StoreFailure/unstorable``.
    func startAdminSession(_ session: AdminSession) throws(StoreFailure)

    /// Notes that a session was used.
    ///
    /// - Returns: false when there is none that goes on; then nothing is written.
    func noteAdminSession(_ digest: [UInt8], seenAt moment: Timestamp) throws(StoreFailure) -> Bool

    /// Ends a session.
    ///
    /// - Returns: false when there is none that goes on; then nothing is written.
    func endAdminSession(_ digest: [UInt8], at moment: Timestamp) throws(StoreFailure) -> Bool

    /// Ends all sessions of an account but one.
    ///
    /// - Parameters:
    ///   - admin: whose.
    ///   - digest: the one that goes on, if any.
    ///   - moment: when they ended.
    /// - Returns: how many ended.
    /// - Throws: ``StoreFailure``.
    func endAdminSessions(of admin: AdminName, but digest: [UInt8]?, at moment: Timestamp) throws(StoreFailure) -> Int

    /// Forgets sessions that started before a moment, the first ones first.
    ///
    /// - Returns: how many; fewer than the limit when none are left.
    func sweepAdminSessions(startedBefore moment: Timestamp, limit: Int) throws(StoreFailure) -> Int

    /// Forgets refused sign-ins of long ago, on a walk through the log from its beginning; but never the newest row of all.
    ///
    /// - Parameters:
    ///   - age: what is younger stays.
    ///   - now: the caller's time. A store that several machines share goes by its database's.
    ///   - place: up to where the walk has come; 0 to begin.
    ///   - limit: how many rows are looked at, so that no write takes long.
    /// - Returns: up to where it has come now: the last one that is old enough. The same place when there is none.
    /// - Throws: ``StoreFailure``; then none was forgotten.
    func sweepRefusedSignIns(
        olderThan age: Duration,
        at now: Timestamp,
        after place: Int64,
        limit: Int
    ) throws(StoreFailure) -> Int64

    /// Adds to the log of what was done, by people and by keys: in the write that does it. It gets the next link of the
    /// chain, unless it is of those that are forgotten; where another server gives out the same one, this write is repeated.
    ///
    /// - Throws: ``StoreFailure/unstorable`` before anything is written.
    func noteAdminAction(_ action: AdminAction) throws(StoreFailure)
}
