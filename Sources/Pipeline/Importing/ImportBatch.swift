import PurchaseModel
import Storage
import Verification

/// The rows of one commit, one after the other.
struct ImportBatch {
    private let before: ImportProgress
    private let spacing: Duration
    private let later: Importer.Later
    private let now: Timestamp
    private var counts: ImportCounts
    private var last: ImportRow?
    /// What Apple is to be asked, and behind how many others of the same commit.
    private var questions: [(id: SubmissionID, place: Int)] = []
    /// What Apple has refused of what its rows would ask.
    private var refusals: [SubmissionName: Settlement] = [:]
    private(set) var outcomes: [ImportOutcome] = []

    init(after progress: ImportProgress, spacing: Duration, later: @escaping Importer.Later, at now: Timestamp) {
        before = progress
        self.spacing = spacing
        self.later = later
        self.now = now
        counts = progress.counts
    }

    mutating func write(_ rows: [ExaminedRow], in transaction: any StoreTransaction) throws(StoreFailure) {
        var situation = try ImportInquiry(rows).answered(by: transaction)
        let questions = rows.compactMap(\.finding.question)
        refusals = try transaction.refusals(of: questions, since: Timestamp(milliseconds: .min))
        var events: [LedgerEvent] = []
        for row in rows {
            var outcome = try take(row.finding, row.row.line, &situation, &events, in: transaction)
            if row.row.namesNobody, outcome.kind.isTaken {
                counts.withoutCustomer += 1
                outcome.reason = outcome.reason ?? FulfilmentReason.noCustomer.rawValue
            }
            add(outcome, row.row)
        }
        try plan(in: transaction)
        if !events.isEmpty { try transaction.append(EventRows.rows(events)) }
    }

    /// Plans the questions behind those of all sources of the app, also of those that were read before: Apple's limit is one for
    /// all of them.
    private func plan(in transaction: any StoreTransaction) throws(StoreFailure) {
        guard !questions.isEmpty else { return }
        let asked = Int(counts.asked - before.counts.asked)
        let wait = try transaction.planImportQuestions(asked, of: before.app, every: spacing, at: now)
        for question in questions {
            try later(question.id, now.advanced(by: wait + spacing * question.place), transaction)
        }
    }

    private mutating func take(
        _ finding: ExaminedRow.Finding,
        _ line: Int64,
        _ situation: inout Situation,
        _ events: inout [LedgerEvent],
        in transaction: any StoreTransaction
    ) throws(StoreFailure) -> ImportOutcome {
        let decision: Decision
        let outcome: ImportOutcome
        switch finding {
        case .over(let found): return found
        case .ask(let pending, let number, let format, let refused):
            let claims = (number?.claims ?? []).filter { situation[$0.key].map(pending.isAnswered) == true }
            if !claims.isEmpty {
                try settle(claims, &situation, &events, in: transaction)
                return Self.known(claims[0].id, line, format)
            }
            if let refused { return try asked(before: pending, format, line, or: refused, in: transaction) }
            return try ask(pending, format, line, in: transaction)
        case .claim(let claim, let otherwise):
            guard let known = situation[claim.key] else {
                return try take(otherwise, line, &situation, &events, in: transaction)
            }
            decision = decide(situation, claim.recording(of: known.transaction))
            try transaction.apply(decision, evidence: nil)
            outcome = Self.outcome(of: decision, line, .transactionID, nil)
        case .record(let recording, let evidence, let format, let verdict):
            decision = decide(situation, recording)
            do throws(StoreFailure) {
                try transaction.apply(decision, evidence: evidence)
            } catch .unstorable {
                return Self.unstorable(line, format)
            }
            outcome = Self.outcome(of: decision, line, format, verdict)
        }
        situation.apply(decision)
        events += decision.events
        return outcome
    }

    /// How far the source is read once this is written.
    func progress(report: ImportReport?) -> ImportProgress {
        var next = before
        next.version += 1
        next.updatedAt = now
        next.counts = counts
        if let last { (next.place, next.line) = (last.end, last.lineAfter) } else { next.isDone = true }
        // At the end no line is added, and the last ones go on telling whose the file is.
        guard !outcomes.isEmpty || before.isAtBeginning else { return next }
        next.reportBytes += Int64(before.reportTail.count)
        next.reportTail = report?.lines(of: outcomes) ?? []
        if let report, next.reportBytes == 0 { next.reportTail = report.head + next.reportTail }
        return next
    }

    private mutating func add(_ outcome: ImportOutcome, _ row: ImportRow) {
        outcomes.append(outcome)
        counts.add(outcome)
        last = row
    }

    private func decide(_ situation: Situation, _ recording: Recording) -> Decision {
        PurchaseModel.decide(situation, recording, ownToken: AccountToken.init(ofCustomer:), at: now)
    }

    private static func unstorable(_ line: Int64, _ format: ProofFormat) -> ImportOutcome {
        let reason = Reason.fieldOutOfRange
        return ImportOutcome(line: line, .refused, format: format, verdict: reason.verdict, reason: reason.rawValue)
    }

    private static func outcome(
        of decision: Decision,
        _ line: Int64,
        _ format: ProofFormat,
        _ verdict: Verdict?
    ) -> ImportOutcome {
        let isForeign = decision.outcomes.contains { $0.standing == .ownedByAnother }
        var outcome = ImportOutcome(
            line: line,
            decision.isRepetition ? .known : .recorded,
            format: format,
            verdict: verdict,
            reason: isForeign ? Standing.ownedByAnother.rawValue : nil
        )
        outcome.transactions = decision.outcomes.map(\.recorded.id)
        return outcome
    }

    /// What is recorded under a number is of the old books from now on, unless it was delivered here.
    private func settle(
        _ claims: [ImportedClaim],
        _ situation: inout Situation,
        _ events: inout [LedgerEvent],
        in transaction: any StoreTransaction
    ) throws(StoreFailure) {
        for claim in claims where claim.template.source == .imported {
            guard let known = situation[claim.key] else { continue }
            let decision = decide(situation, claim.recording(of: known.transaction))
            try transaction.apply(decision, evidence: nil)
            situation.apply(decision)
            events += decision.events
        }
    }

    private static func known(_ id: TransactionID, _ line: Int64, _ format: ProofFormat) -> ImportOutcome {
        var outcome = ImportOutcome(line: line, .known, format: format)
        outcome.transactions = [id]
        return outcome
    }

    /// What is known of what Apple cannot be asked about: that she was, when she could be.
    private func asked(
        before pending: PendingSubmission,
        _ format: ProofFormat,
        _ line: Int64,
        or refused: ImportOutcome,
        in transaction: any StoreTransaction
    ) throws(StoreFailure) -> ImportOutcome {
        do throws(StoreFailure) {
            guard let waiting = try transaction.submission(alike: pending) else { return refused }
            var outcome = ImportOutcome(line: line, .known, format: format, reason: pending.reason)
            outcome.submission = waiting
            return outcome
        } catch .unstorable {
            return Self.unstorable(line, format)
        }
    }

    private mutating func ask(
        _ pending: PendingSubmission,
        _ format: ProofFormat,
        _ line: Int64,
        in transaction: any StoreTransaction
    ) throws(StoreFailure) -> ImportOutcome {
        let kept: (id: SubmissionID, isNew: Bool)
        let first = try transaction.importedSubmission(like: pending)
        do throws(StoreFailure) {
            if let known = try transaction.submission(alike: pending) {
                kept = (known, false)
            } else {
                kept = try transaction.keepPending(pending)
            }
        } catch .unstorable {
            return Self.unstorable(line, format)
        }
        // Whoever asks for the first row tells the others, too. A job of its own each has all the same: it sees to it that
        // none waits for ever.
        if kept.isNew { questions.append((kept.id, Int(counts.asked - before.counts.asked))) }
        let isAsked = kept.isNew && first == nil
        var outcome = ImportOutcome(line: line, isAsked ? .asked : .known, format: format, reason: pending.reason)
        if kept.isNew { outcome.verdict = refusals[pending.name].flatMap { Verdict(rawValue: $0.verdict) } }
        if let first, first.id != kept.id, Self.isOf(first.submission, not: pending) {
            outcome.reason = Standing.ownedByAnother.rawValue
        }
        outcome.submission = kept.id
        return outcome
    }

    /// Whether what was delivered long ago will be the customer's of an earlier row: old books take nothing away.
    private static func isOf(_ first: PendingSubmission, not pending: PendingSubmission) -> Bool {
        guard let owner = first.customer, let customer = pending.customer else { return false }
        return pending.origin == .delivered && owner != customer
    }
}
