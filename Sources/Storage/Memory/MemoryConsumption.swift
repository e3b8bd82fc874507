import PurchaseModel

/// Whose acts, and about what.
struct MemoryAuditName: Hashable, Sendable {
    var app: AppID
    var subject: AuditSubject
}

/// One question of one app.
struct MemorySupportName: Hashable, Sendable {
    var app: AppID
    var id: SupportRequestID
}

extension MemoryTransaction {
    func applyConsumption(of decision: Decision) throws(StoreFailure) {
        for change in decision.consumptions { try write(change, \.version, at: \.consumptions[change.row.key]) }
        for change in decision.consents { try write(change, \.version, at: \.consents[change.row.key]) }
        for entry in decision.audit {
            let name = MemoryAuditName(app: entry.app, subject: entry.subject)
            let known = ledger.audit[name, default: []]
            guard !known.contains(where: { $0.number == entry.number }) else { throw conflict() }
            put(known + [entry], at: \.audit[name])
        }
    }

    func consumptionRequests(_ keys: [ConsumptionKey]) -> [ConsumptionRequest] {
        keys.compactMap { ledger.consumptions[$0] }
    }

    func openConsumptionRequests(of keys: [TransactionKey]) -> [ConsumptionRequest] {
        ledger.consumptions.values.filter { !$0.state.isSettled && keys.contains($0.transactionKey) }
    }

    func consumptionRequests(
        app: AppID,
        before cursor: ConsumptionCursor?,
        where filter: ConsumptionFilter,
        limit: Int
    ) -> ConsumptionPage {
        let limit = min(max(limit, 1), ConsumptionPage.limitMax)
        let rest = ledger.consumptions.values
            .filter { request in
                request.key.app == app && filter.includes(request)
                    && cursor.map { request.cursor < $0 } ?? true
            }
            .sorted { one, other in
                let (left, right) = (one.cursor, other.cursor)
                return left == right
                    ? RealmCode.wanted(one.key.realm) > RealmCode.wanted(other.key.realm) : left > right
            }
        let page = Array(rest.prefix(limit))
        let next = rest.count > limit ? page.last?.cursor : nil
        return ConsumptionPage(requests: page, next: next)
    }

    func consents(_ keys: [ConsentKey]) -> [Consent] { keys.compactMap { ledger.consents[$0] } }

    func audit(app: AppID, of subject: AuditSubject) -> [AuditEntry] {
        let found = ledger.audit[MemoryAuditName(app: app, subject: subject), default: []]
        return Array(found.sorted { $0.number < $1.number }.prefix(AuditEntry.listedMax))
    }

    func supportRequest(app: AppID, id: SupportRequestID) -> SupportRequest? {
        ledger.supportRequests[MemorySupportName(app: app, id: id)]
    }

    func supportRequests(app: AppID, before cursor: SupportCursor?, limit: Int) -> SupportPage {
        let limit = min(max(limit, 1), SupportPage.limitMax)
        let rest = ledger.supportRequests.values
            .filter { request in request.app == app && cursor.map { request.cursor < $0 } ?? true }
            .sorted { $0.cursor > $1.cursor }
        let page = Array(rest.prefix(limit))
        return SupportPage(requests: page, next: rest.count > limit ? page.last?.cursor : nil)
    }

    func put(_ request: SupportRequest) throws(StoreFailure) {
        guard request.isStorable else { throw .unstorable }
        let name = MemorySupportName(app: request.app, id: request.id)
        guard (ledger.supportRequests[name]?.version ?? 0) == request.version - 1 else { throw conflict() }
        put(request, at: \.supportRequests[name])
    }
}
