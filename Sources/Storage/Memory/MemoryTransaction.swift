import PurchaseModel

/// One write over a memory ledger, with what takes it back.
final class MemoryTransaction: StoreTransaction, HasteSteps {
    var ledger: MemoryLedger
    /// A failure that the closure may have swallowed, but that must not be committed over.
    private(set) var doom: StoreFailure?
    var undo: [(inout MemoryLedger) -> Void] = []
    /// What entitlements follow from and decisions wrote.
    private(set) var entitlementPlaces: Set<EntitlementMarks.Place> = []

    init(over ledger: MemoryLedger) {
        self.ledger = ledger
    }

    func rollBack() {
        while let step = undo.popLast() { step(&ledger) }
    }

    /// Puts a value into the ledger, and notes what takes it back.
    func put<Value>(_ value: Value, at place: WritableKeyPath<MemoryLedger, Value>) {
        let before = ledger[keyPath: place]
        ledger[keyPath: place] = value
        undo.append { $0[keyPath: place] = before }
    }

    /// Fails in a way that no commit may pass over.
    func conflict() -> StoreFailure {
        doom = .conflict
        return .conflict
    }

    func apply(_ decision: Decision, evidence: EvidenceRow?) throws(StoreFailure) {
        guard decision.isStorable(with: evidence) else { throw .unstorable }
        var place: Int?
        if let evidence, decision.keeps(evidence) {
            place = ledger.evidence.count
            ledger.evidence.append(evidence)
            undo.append { $0.evidence.removeLast() }
        }
        for change in decision.changes { try apply(change, provedAt: place) }
        if let place {
            for key in decision.shown { ledger.transactions[key]?.firstEvidence = place }
        }
        try applyRest(of: decision)
        add(decision.figures)
        decision.note(in: &entitlementPlaces)
    }

    func keepPending(_ submission: PendingSubmission) throws(StoreFailure) -> (id: SubmissionID, isNew: Bool) {
        guard submission.isStorable else { throw .unstorable }
        let name = submission.name
        if let place = ledger.submissionPlaces[name] { return reopen(at: place, submission) }
        let place = ledger.submissions.count
        ledger.submissions.append(KeptSubmission(submission))
        ledger.submissionPlaces[name] = place
        undo.append { ledger in
            ledger.submissions.removeLast()
            ledger.submissionPlaces[name] = nil
        }
        return (submission.id, true)
    }

    private func reopen(at place: Int, _ submission: PendingSubmission) -> (id: SubmissionID, isNew: Bool) {
        let known = ledger.submissions[place]
        guard known.settlement?.isOver(for: submission) == true else { return (known.id, false) }
        var again = submission
        again.id = known.id
        ledger.submissions[place] = KeptSubmission(again)
        undo.append { $0.submissions[place] = known }
        return (known.id, true)
    }

    func giveUpPending(olderThan age: Duration, at now: Timestamp, limit: Int) -> [KeptSubmission] {
        let moment = now.advanced(by: .zero - age)
        let overdue = ledger.submissions.indices.filter { place in
            guard ledger.submissions[place].settlement == nil else { return false }
            let submission = ledger.submissions[place].submission
            let last = submission.origin == .presented ? .zero : importQuestionsLast(of: submission.app, at: moment)
            let hadTurn = submission.receivedAt < moment.advanced(by: .zero - Settlement.turnsFor)
            return submission.receivedAt < moment && (last == .zero || hadTurn)
        }
        .sorted { one, other in
            (ledger.submissions[one].submission.receivedAt, one)
                < (ledger.submissions[other].submission.receivedAt, other)
        }
        return overdue.prefix(limit).map { place in
            ledger.submissions[place].settlement = Settlement(verdict: Settlement.givenUp, at: now)
            undo.append { $0.submissions[place].settlement = nil }
            var givenUp = ledger.submissions[place]
            givenUp.submission.proof = []
            return givenUp
        }
    }

    func settlePending(_ id: SubmissionID, as settlement: Settlement) throws(StoreFailure) -> Bool {
        guard settlement.isStorable else { throw .unstorable }
        guard let place = place(of: id), ledger.submissions[place].settlement == nil else { return false }
        let known = ledger.submissions[place]
        ledger.submissions[place].settlement = settlement
        ledger.submissions[place].submission.proof = []
        undo.append { $0.submissions[place] = known }
        return true
    }

    func notePending(_ id: SubmissionID, waitsFor reason: String) throws(StoreFailure) -> Bool {
        guard StorableText.isWord(reason) else { throw .unstorable }
        guard let place = place(of: id), ledger.submissions[place].settlement == nil else { return false }
        let known = ledger.submissions[place]
        ledger.submissions[place].submission.reason = reason
        undo.append { $0.submissions[place] = known }
        return true
    }

    func forgetSettled(olderThan age: Duration, at now: Timestamp, limit: Int) -> Int {
        let (known, moment) = (ledger.submissions, now.advanced(by: .zero - age))
        let old = known.indices.dropLast().compactMap { place -> (at: Timestamp, place: Int)? in
            guard let settlement = known[place].settlement, settlement.at < moment,
                known[place].submission.origin == .presented
            else { return nil }
            return (settlement.at, place)
        }
        let places = Set(old.sorted { ($0.at, $0.place) < ($1.at, $1.place) }.prefix(limit).map(\.place))
        guard !places.isEmpty else { return 0 }
        undo.append { ledger in
            ledger.submissionsForgotten -= places.count
            ledger.setSubmissions(known)
        }
        ledger.submissionsForgotten += places.count
        ledger.setSubmissions(known.indices.filter { !places.contains($0) }.map { known[$0] })
        return places.count
    }

    func addRefusals(counts: [RefusalKey: Int], samples: [RefusalSample]) throws(StoreFailure) {
        guard counts.keys.allSatisfy(\.isStorable), samples.allSatisfy(\.isStorable) else { throw .unstorable }
        let before = (refusals: ledger.refusals, samples: ledger.samples)
        undo.append { ledger in
            ledger.refusals = before.refusals
            ledger.samples = before.samples
        }
        for (key, count) in counts where count > 0 { ledger.refusals[key, default: 0] += count }
        ledger.samples = (ledger.samples + samples).suffix(RefusalSample.keptMax)
    }

    private func apply(_ change: LedgerChange, provedAt place: Int?) throws(StoreFailure) {
        let key = change.recorded.key
        let known = ledger.transactions[key]
        switch (change, known) {
        case (.insert(let recorded), nil):
            guard let place else { throw .unstorable }
            let sequence = Int64(ledger.transactions.count + 1)
            ledger.transactions[key] = MemoryLedger.Entry(
                sequence: sequence,
                recorded: recorded,
                firstEvidence: place,
                latestEvidence: place
            )
        case (.update(let recorded), .some(var known)):
            guard let place else { throw .unstorable }
            (known.recorded, known.latestEvidence, known.fullerEvidence) = (recorded, place, nil)
            ledger.transactions[key] = known
        case (.updateByLess(let recorded), .some(var known)):
            guard let place else { throw .unstorable }
            known.fullerEvidence = known.fullerEvidence ?? known.latestEvidence
            (known.recorded, known.latestEvidence) = (recorded, place)
            ledger.transactions[key] = known
        case (.amend(let recorded), .some(var known)):
            known.recorded = recorded
            ledger.transactions[key] = known
        case (.amendByMore(let recorded), .some(var known)):
            guard let place else { throw .unstorable }
            (known.recorded, known.fullerEvidence) = (recorded, place)
            ledger.transactions[key] = known
        case (.insert, .some), (.update, nil), (.updateByLess, nil), (.amend, nil), (.amendByMore, nil):
            throw conflict()
        }
        undo.append { $0.transactions[key] = known }
    }

    private func place(of id: SubmissionID) -> Int? {
        ledger.submissions.firstIndex { $0.id == id }
    }
}
