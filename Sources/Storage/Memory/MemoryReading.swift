import PurchaseModel

// The questions, answered by looking at everything.
extension MemoryTransaction {
    func storeTime(_ callers: Timestamp) -> Timestamp { callers }

    func transactions(_ keys: [TransactionKey]) -> [RecordedTransaction] {
        keys.compactMap { ledger.transactions[$0]?.recorded }
    }

    func transactions(app: AppID, id: TransactionID) -> [RecordedTransaction] {
        entries { $0.app == app && $0.transaction.id == id }.map(\.recorded)
    }

    func transactions(
        app: AppID,
        customer: CustomerID,
        order: ListingOrder,
        after cursor: TransactionCursor?,
        limit: Int,
        where isListed: (Realm) -> Bool
    ) -> TransactionPage {
        let limit = min(max(limit, 1), TransactionPage.limitMax)
        let owned = Set(fulfilments(chains(app: app, customer: customer)).map(\.key))
        let listed = entries { owned.contains($0.key) && isListed($0.realm) }
        var place: Int64?
        if let cursor {
            place = ledger.transactions[TransactionKey(app: app, realm: cursor.realm, id: cursor.id)]?.sequence
            if place == nil { return TransactionPage() }
        }
        let rest =
            switch order {
            case .oldestFirst: listed.filter { $0.sequence > place ?? .min }
            case .newestFirst: listed.reversed().filter { $0.sequence < place ?? .max }
            }
        let page = rest.prefix(limit)
        let next = rest.count > limit ? page.last.map { TransactionCursor($0.recorded) } : nil
        return TransactionPage(transactions: page.map(\.recorded), next: next)
    }

    func evidence(of key: TransactionKey) -> EvidenceRow? {
        ledger.transactions[key].map { ledger.evidence[$0.firstEvidence] }
    }

    func latestEvidence(of key: TransactionKey) -> EvidenceRow? {
        ledger.transactions[key].map { ledger.evidence[$0.latestEvidence] }
    }

    func fullerEvidence(of key: TransactionKey) -> EvidenceRow? {
        ledger.transactions[key]?.fullerEvidence.map { ledger.evidence[$0] }
    }

    func submission(_ id: SubmissionID) -> KeptSubmission? {
        ledger.submissions.first { $0.id == id }
    }

    func keptSubmissions(among ids: [SubmissionID]) -> Set<SubmissionID> {
        Set(ids).intersection(ledger.submissions.map(\.id))
    }

    func submission(alike submission: PendingSubmission) -> SubmissionID? {
        let kept = ledger.submissionPlaces[submission.name].map { ledger.submissions[$0] }
        return kept.flatMap { $0.settlement?.isOver(for: submission) == true ? nil : $0.id }
    }

    func refusals(of names: [SubmissionName], since moment: Timestamp) -> [SubmissionName: Settlement] {
        var refusals: [SubmissionName: Settlement] = [:]
        for name in names {
            guard let place = ledger.submissionPlaces[name], let settlement = ledger.submissions[place].settlement,
                settlement.isRefusal, settlement.at >= moment
            else { continue }
            refusals[name] = settlement
        }
        return refusals
    }

    func importsWait(of app: AppID) -> Bool {
        ledger.submissions.contains {
            $0.settlement == nil && $0.submission.origin != .presented && $0.submission.app == app
        }
    }

    func importedSubmissions(under names: [SubmissionName]) -> [SubmissionName: KeptSubmission] {
        if names.isEmpty { return [:] }
        let waiting = ledger.submissions.filter { $0.settlement == nil && $0.submission.origin != .presented }
        var found: [SubmissionName: KeptSubmission] = [:]
        for name in names {
            found[name] = waiting.first { $0.submission.app == name.app && $0.submission.digest == name.digest }
        }
        return found
    }

    func pendingLoad(app: AppID) -> PendingLoad {
        let waiting = ledger.submissions.filter { kept in
            kept.settlement == nil && kept.submission.app == app && kept.submission.origin == .presented
        }
        return PendingLoad(submissions: waiting.count, bytes: waiting.reduce(0) { $0 + $1.submission.proof.count })
    }

    func pendingBacklogs() -> [PendingBacklog] {
        let waiting = ledger.submissions.filter { $0.settlement == nil && $0.submission.origin == .presented }
        return Dictionary(grouping: waiting, by: \.submission.app).compactMap { app, kept in
            guard let oldest = kept.map(\.submission.receivedAt).min() else { return nil }
            return PendingBacklog(app: app, submissions: kept.count, oldest: oldest)
        }
        .sorted { $0.app.text.utf8.lexicographicallyPrecedes($1.app.text.utf8) }
    }

    func pendingCount(app: AppID, customer: CustomerID, limit: Int) -> Int {
        let waiting = ledger.submissions.lazy.filter { kept in
            let other = kept.submission
            return kept.settlement == nil && other.origin == .presented && other.app == app
                && other.customer == customer
        }
        return waiting.prefix(max(limit, 0)).count { _ in true }
    }

    func pendingSubmissions(app: AppID?, after cursor: SubmissionCursor?, limit: Int) -> SubmissionPage {
        let limit = min(max(limit, 1), SubmissionPage.limitMax)
        let rest = ledger.submissions.enumerated().filter { place, kept in
            kept.settlement == nil && (app == nil || kept.submission.app == app)
                && Int64(place + 1) > cursor?.sequence ?? .min
        }
        let page = rest.prefix(limit)
        let next = rest.count > limit ? page.last.map { SubmissionCursor(sequence: Int64($0.offset + 1)) } : nil
        return SubmissionPage(submissions: page.map(\.element), next: next)
    }

    func figures() -> StoreFigures {
        StoreFigures(
            transactions: ledger.transactions.count,
            evidence: ledger.evidence.count,
            submissions: ledger.submissions.count + ledger.submissionsForgotten,
            pendingSubmissions: ledger.submissions.count { $0.settlement == nil }
        )
    }

    func refusalCounts(since hour: HourOfTime, limit: Int) -> [RefusalCount] {
        ledger.refusals.filter { $0.key.hour >= hour }
            .map { RefusalCount(key: $0.key, count: $0.value) }
            .sorted { Self.listing(of: $0.key).lexicographicallyPrecedes(Self.listing(of: $1.key)) }
            .prefix(min(max(limit, 1), TransactionPage.limitMax))
            .map(\.self)
    }

    func refusalTotals(since hour: HourOfTime, limit: Int) -> [RefusalTotal] {
        var totals: [RefusalKey: RefusalTotal] = [:]
        for (key, count) in ledger.refusals where key.hour >= hour {
            let name = RefusalKey(hour: hour, app: key.app, reason: key.reason)
            var total =
                totals[name]
                ?? RefusalTotal(app: key.app, reason: key.reason, count: 0, first: key.hour, last: key.hour)
            total.count += count
            total.first = min(total.first, key.hour)
            total.last = max(total.last, key.hour)
            totals[name] = total
        }
        let listed = totals.sorted { left, right in
            let (one, other) = (Self.listing(of: left.key), Self.listing(of: right.key))
            return left.value.count == right.value.count
                ? one.lexicographicallyPrecedes(other) : left.value.count > right.value.count
        }
        return listed.prefix(min(max(limit, 1), TransactionPage.limitMax)).map(\.value)
    }

    func refusalSamples(limit: Int) -> [RefusalSample] {
        ledger.samples.reversed().prefix(min(max(limit, 1), RefusalSample.listedMax)).map(\.self)
    }

    func refusalSamples(of subject: RefusalSubject, limit: Int) -> [RefusalSample] {
        let found = ledger.samples.reversed().lazy.filter { sample in
            switch subject {
            case .customer(let app, let customer): sample.app == app && sample.customer == customer
            case .transaction(let app, let id): sample.app == app && sample.claimed.contains(id)
            case .proof(let digest): sample.digest == digest
            }
        }
        return Array(found.prefix(min(max(limit, 1), RefusalSample.listedMax)))
    }

    private func entries(where isListed: (RecordedTransaction) -> Bool) -> [MemoryLedger.Entry] {
        ledger.transactions.values.filter { isListed($0.recorded) }.sorted { $0.sequence < $1.sequence }
    }

    /// What the counts are sorted by: the hour, then the bytes of the names, each ended by 0.
    private static func listing(of key: RefusalKey) -> [Int64] {
        [key.hour.number] + (key.app?.text.utf8.map(Int64.init) ?? []) + [0] + key.reason.utf8.map(Int64.init)
    }
}
