import PurchaseModel
import Storage

// What Apple asks about purchases, and what people have Apple asked: each is settled, or a job goes on with it.
extension LedgerCheck {
    mutating func checkConsumptions(_ app: AppID) throws(StoreFailure) {
        let reader = reader
        try walk { place throws(StoreFailure) in
            try reader.walkConsumptionRequests(app: app, after: place, limit: Self.pageMax)
        } _: { check, page throws(StoreFailure) in
            check.findings.consumptions += page.count
            let bought = try LookedUp(page.map(\.transactionKey), by: \RecordedTransaction.key) {
                keys throws(StoreFailure) in try reader.transactions(keys)
            }
            let open = page.filter { !$0.state.isSettled }
            let jobs = try reader.openJobs(
                kind: ConsumptionAnswering.kind,
                keys: open.compactMap { ConsumptionAnswering($0).key }
            )
            for row in page {
                try check.checkNotification(of: row)
                check.check(row, bought)
                guard !row.state.isSettled, let key = ConsumptionAnswering(row).key, !jobs.contains(key) else {
                    continue
                }
                check.findings.add(.requestAbandoned, .of(row.key), "it is \(row.state.rawValue), and has no job")
            }
        }
    }

    private mutating func checkNotification(of row: ConsumptionRequest) throws(StoreFailure) {
        let key = NotificationKey(app: row.key.app, realm: row.key.realm, id: row.key.id)
        let found: KeptNotification?
        do throws(StoreFailure) {
            found = try reader.notification(key)
        } catch .broken {
            return findings.add(.rowUnreadable, .of(row.key), "its notification cannot be read")
        }
        let names: [LedgerViolation.Name] = .of(row.key)
        guard let found else {
            return findings.add(
                .consumptionWithoutNotification,
                names,
                "the notification in which Apple asks is missing"
            )
        }
        if let transaction = found.transaction, transaction != row.transaction {
            let what = "its notification is about \(transaction), and not about \(row.transaction)"
            findings.add(.consumptionWithoutNotification, names, what)
        }
    }

    private mutating func check(
        _ row: ConsumptionRequest,
        _ bought: LookedUp<TransactionKey, RecordedTransaction>
    ) {
        let names: [LedgerViolation.Name] = .of(row.key)
        if bought[row.transactionKey] == nil, !bought.unreadable.contains(row.transactionKey) {
            findings.add(.consumptionWithoutTransaction, names, "\(row.transaction) is not recorded")
        }
        if row.state.isSettled != (row.settledAt != nil) {
            findings.add(.consumptionContradicts, names, "its state does not go with when it was settled")
        }
        switch (row.state, row.answer) {
        case (.sending, nil), (.answered, nil), (.refused, nil):
            findings.add(.consumptionContradicts, names, "it is \(row.state.rawValue), and there is no answer")
        case (.open, _?), (.declined, _?):
            findings.add(.consumptionContradicts, names, "it is \(row.state.rawValue), and there is an answer")
        default: break
        }
    }

    mutating func checkSupports(_ app: AppID) throws(StoreFailure) {
        let reader = reader
        try walk { place throws(StoreFailure) in
            try reader.walkSupportRequests(app: app, after: place, limit: Self.pageMax)
        } _: { check, page throws(StoreFailure) in
            check.findings.supports += page.count
            let waiting = page.filter { $0.state == .waiting }.compactMap { SupportAsking($0).key }
            let jobs = try reader.openJobs(kind: SupportAsking.kind, keys: waiting)
            for row in page { check.check(row, jobs) }
        }
    }

    private mutating func check(_ row: SupportRequest, _ jobs: Set<String>) {
        let names: [LedgerViolation.Name] = .of(row.app, nil, ("request_id", row.id.text))
        if SupportQuestion(kind: row.kind, row.question) == nil {
            findings.add(.supportContradicts, names, "nobody can read what is asked")
        }
        let isSettled = row.state != .waiting
        if isSettled != (row.settledAt != nil) {
            findings.add(.supportContradicts, names, "its state does not go with when it was settled")
        }
        if isSettled, row.answer == nil {
            findings.add(.supportContradicts, names, "it is \(row.state.rawValue), and there is no answer")
        }
        if !isSettled, let key = SupportAsking(row).key, !jobs.contains(key) {
            findings.add(.requestAbandoned, names, "it is \(row.state.rawValue), and has no job")
        }
    }
}
