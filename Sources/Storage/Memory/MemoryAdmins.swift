import PurchaseModel

/// Who uses the dashboard.
struct MemoryAdmins: Sendable {
    var accounts: [AdminName: AdminAccount] = [:]
    /// By their digests.
    var sessions: [[UInt8]: AdminSession] = [:]
    /// When each link to the first account was made, by its token's digest.
    var links: [[UInt8]: Timestamp] = [:]
    /// An action's place in the listing is its place here, from 1; `nil` is what was forgotten.
    var actions: [AuditRow?] = []
    /// The newest link of the log's chain.
    var auditHead: AuditLink?
}

extension MemoryTransaction {
    func admin(_ name: AdminName) -> AdminAccount? { ledger.admins.accounts[name] }

    func admins() -> [AdminAccount] {
        Array(ledger.admins.accounts.values.sorted { $0.name < $1.name }.prefix(AdminAccount.listedMax))
    }

    func adminSession(_ digest: [UInt8]) -> AdminSession? { ledger.admins.sessions[digest] }

    func adminActions(before place: Int64?, limit: Int) -> AdminActionPage {
        let limit = min(max(limit, 1), AdminActionPage.limitMax)
        let rest = ledger.admins.actions.reversed().compactMap(\.self).filter { $0.place < place ?? .max }
        let page = rest.prefix(limit)
        return AdminActionPage(rows: Array(page), next: rest.count > limit ? page.last?.place : nil)
    }

    func auditHead() -> AuditLink? { ledger.admins.auditHead }

    func createAdmin(_ account: AdminAccount) throws(StoreFailure) {
        guard account.isStorable else { throw .unstorable }
        guard ledger.admins.accounts[account.name] == nil else { throw conflict() }
        put(account, at: \.admins.accounts[account.name])
    }

    func createFirstAdmin(_ account: AdminAccount) throws(StoreFailure) -> Bool {
        guard ledger.admins.accounts.isEmpty else { return false }
        try createAdmin(account)
        put([:], at: \.admins.links)
        return true
    }

    func firstAccountLink(_ digest: [UInt8]) -> Timestamp? { ledger.admins.links[digest] }

    func keepFirstAccountLink(
        _ digest: [UInt8],
        madeAt moment: Timestamp,
        forgettingBefore old: Timestamp
    ) throws(StoreFailure) {
        guard digest.count == AdminSession.digestLength else { throw .unstorable }
        guard ledger.admins.links[digest] == nil else { throw conflict() }
        var links = ledger.admins.links.filter { $0.value >= old }
        links[digest] = moment
        put(links, at: \.admins.links)
    }

    func holdAdmin(_ name: AdminName) -> AdminAccount? { admin(name) }

    func updateAdmin(_ account: AdminAccount) throws(StoreFailure) {
        guard account.isStorable else { throw .unstorable }
        guard var kept = ledger.admins.accounts[account.name], kept.version == account.version else {
            throw conflict()
        }
        kept.role = account.role
        kept.password = account.password
        kept.isEnabled = account.isEnabled
        kept.version += 1
        put(kept, at: \.admins.accounts[account.name])
    }

    func startAdminSession(_ session: AdminSession) throws(StoreFailure) {
        guard session.isStorable else { throw .unstorable }
        guard ledger.admins.sessions[session.digest] == nil else { throw conflict() }
        put(session, at: \.admins.sessions[session.digest])
    }

    func noteAdminSession(_ digest: [UInt8], seenAt moment: Timestamp) -> Bool {
        change(digest) { $0.seenAt = moment }
    }

    func endAdminSession(_ digest: [UInt8], at moment: Timestamp) -> Bool {
        change(digest) { $0.endedAt = moment }
    }

    func endAdminSessions(of admin: AdminName, but digest: [UInt8]?, at moment: Timestamp) -> Int {
        let theirs = ledger.admins.sessions.values.filter { $0.admin == admin && $0.digest != digest }
        return theirs.count { endAdminSession($0.digest, at: moment) }
    }

    func sweepAdminSessions(startedBefore moment: Timestamp, limit: Int) -> Int {
        let old = ledger.admins.sessions.values.filter { $0.startedAt < moment }.sorted { $0.startedAt < $1.startedAt }
        for session in old.prefix(max(limit, 0)) { put(nil, at: \.admins.sessions[session.digest]) }
        return min(old.count, max(limit, 0))
    }

    func noteAdminAction(_ action: AdminAction) throws(StoreFailure) {
        guard action.isStorable else { throw .unstorable }
        let place = Int64(ledger.admins.actions.count + 1)
        let head = ledger.admins.auditHead ?? AuditLink(number: 0, digest: AuditLink.start)
        let link = action.isChained ? AuditLink(of: action, at: place, after: head) : nil
        ledger.admins.actions.append(AuditRow(place: place, action: action, link))
        undo.append { $0.admins.actions.removeLast() }
        if let link { put(link, at: \.admins.auditHead) }
    }

    func sweepRefusedSignIns(olderThan age: Duration, at now: Timestamp, after place: Int64, limit: Int) -> Int64 {
        let moment = now.advanced(by: .zero - age)
        let looked = ledger.admins.actions.enumerated().filter { $0.element != nil && Int64($0.offset + 1) > place }
            .prefix(max(limit, 0))
        let old = looked.filter { $0.element.map { $0.action.at < moment } ?? false }
        let last = ledger.admins.actions.count - 1
        for (offset, row) in old where row?.action.action == AdminAction.signInRefused && offset < last {
            put(nil, at: \.admins.actions[offset])
        }
        return old.last.map { Int64($0.offset + 1) } ?? place
    }

    private func change(_ digest: [UInt8], _ change: (inout AdminSession) -> Void) -> Bool {
        guard var session = ledger.admins.sessions[digest], session.endedAt == nil else { return false }
        change(&session)
        put(session, at: \.admins.sessions[digest])
        return true
    }
}
