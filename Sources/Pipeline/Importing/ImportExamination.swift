import PurchaseModel
import Storage
import Verification

/// A row whose proof was looked at, on this machine alone.
struct ExaminedRow: Sendable {
    enum Finding: Sendable {
        case record(Recording, EvidenceRow, ProofFormat, Verdict)
        /// The bytes alone do not settle it. What the ledger does not know of it yet is refused where Apple cannot be asked.
        case ask(PendingSubmission, ImportedNumber?, ProofFormat, refused: ImportOutcome?)
        /// What is recorded already needs no proof; the other finding counts while it is not.
        indirect case claim(ImportedClaim, unless: Finding)
        case over(ImportOutcome)

        /// Whether nothing is taken of it, by what the ledger knows of what Apple would be asked about.
        func isOver(_ decided: Set<SubmissionID>) -> Bool {
            switch self {
            case .over: true
            case .ask(let pending, _, _, let refused): refused != nil && !decided.contains(pending.id)
            case .claim, .record: false
            }
        }

        /// What Apple may be asked about it.
        var question: SubmissionName? {
            switch self {
            case .ask(let pending, _, _, _): pending.name
            case .claim(_, let otherwise): otherwise.question
            case .record, .over: nil
            }
        }
    }

    let row: ImportRow
    let finding: Finding
}

/// How rows are judged: as whatever is submitted, by the same verifier and the same policy.
struct ImportExaminer: Sendable {
    let verifier: Verifier
    let app: AppPolicy
    let delivery: ImportDelivery
    /// What Apple will be asked.
    let reach: AppleReach
    /// When the source's first row was read: what was refused before is asked about again.
    let startedAt: Timestamp
    /// When the newest transaction was recorded in the export of ours that is read. Until their own rows say until when, books
    /// end then. `nil` for what else is read, whose books are closed now.
    var closedAt: Timestamp?
    let now: Timestamp

    /// No period begins later than that after it was charged.
    private static let aheadMax = Duration.seconds(2 * 86_400)

    /// Looks at rows on several processors at once.
    ///
    /// - Returns: in the order of the rows.
    func examine(_ rows: [ImportRow], lanes: Int) async -> [ExaminedRow] {
        let share = max(1, (rows.count + lanes - 1) / lanes)
        return await withTaskGroup(of: (Int, [ExaminedRow]).self) { group in
            for start in stride(from: 0, to: rows.count, by: share) {
                let part = rows[start..<min(start + share, rows.count)]
                group.addTask { (start, part.map { ExaminedRow(row: $0, finding: find($0)) }) }
            }
            var parts: [(Int, [ExaminedRow])] = []
            for await part in group { parts.append(part) }
            return parts.sorted { $0.0 < $1.0 }.flatMap(\.1)
        }
    }

    private func find(_ row: ImportRow) -> ExaminedRow.Finding {
        switch row.claim {
        case .failure(let fault) where !fault.isInvalid:
            return .over(ImportOutcome(line: row.line, .nothing, reason: fault.rawValue))
        case .failure(let fault):
            var outcome = ImportOutcome(line: row.line, .invalid, reason: fault.rawValue)
            if row.faultOfManyLines != nil { outcome.lastLine = row.lastLine }
            return .over(outcome)
        case .success(let claim): return find(claim, row.line)
        }
    }

    private func find(_ claim: ImportRow.Claim, _ line: Int64) -> ExaminedRow.Finding {
        // What is in no catalogue of today was sold once all the same.
        let examination = verifier.examine(claim.proof, expecting: app.expectationOfNotifications)
        let found = examination.report
        func refusal(_ reason: Reason) -> ImportOutcome {
            ImportOutcome(
                line: line,
                .refused,
                format: found.format,
                verdict: reason.verdict,
                reason: reason.rawValue
            )
        }
        func refused(_ reason: Reason) -> ExaminedRow.Finding { .over(refusal(reason)) }
        switch found.verdict {
        case .genuine, .testSigned:
            guard let proof = examination.proof, app.mayCount(proof) else { return refused(found.reason) }
            return record(proof, claim, line, unplaced: refusal(.environmentUnknown))
        case .undecidable:
            if let voucher = found.vouchedBy, voucher.isTest, !app.acceptsTestSigned { return refused(voucher.reason) }
            if claim.subject == nil, found.isSignedWithoutPurchase {
                return .over(ImportOutcome(line: line, .nothing, format: found.format, verdict: found.verdict))
            }
            return undecided(claim, found.format, found.reason, or: refusal(found.reason))
        case .notYours, .forged, .malformed: return refused(found.reason)
        }
    }

    private func record(
        _ proof: Verified<Proof>,
        _ claim: ImportRow.Claim,
        _ line: Int64,
        unplaced: ImportOutcome
    ) -> ExaminedRow.Finding {
        let format = proof.fact.format
        let nothing = ImportOutcome(line: line, .nothing, format: format, verdict: proof.verdict)
        if let subject = claim.subject, !proof.isOf(subject) {
            let reason = ImportRowFault.otherTransaction.rawValue
            return .over(ImportOutcome(line: line, .invalid, format: format, verdict: proof.verdict, reason: reason))
        }
        guard format.mayHoldPurchases else { return .over(nothing) }
        guard let realm = proof.realm else {
            return undecided(claim, format, .environmentUnknown, or: unplaced)
        }
        // An old receipt without purchases has none, and nobody waits for one.
        guard !proof.fact.transactions.isEmpty else { return .over(nothing) }
        var recording = proof.recording(for: app, in: realm)
        mark(&recording, as: claim)
        recording.claimed = claim.subject?.id
        return .record(recording, proof.evidence(from: claim.customer, at: now), format, proof.verdict)
    }

    /// What the bytes alone do not settle. Where the row is about one transaction, Apple is asked about that one: whose the
    /// rest of a receipt is, other rows say.
    private func undecided(
        _ claim: ImportRow.Claim,
        _ format: ProofFormat,
        _ reason: Reason,
        or refusal: ImportOutcome
    ) -> ExaminedRow.Finding {
        guard let subject = claim.subject else { return ask(claim, format, reason, or: refusal) }
        var numbered = claim
        numbered.proof = subject.digits
        let other = ask(numbered, .transactionID, reason, or: refusal)
        guard let realm = subject.realm else { return other }
        return .claim(ImportedClaim(id: subject.id, template: template(of: claim, in: realm)), unless: other)
    }

    /// What is taken of a row whose transaction is recorded.
    private func template(of claim: ImportRow.Claim, in realm: Realm) -> Recording {
        var template = Recording(app: app.id, realm: realm, transactions: [], terms: app.terms)
        mark(&template, as: claim)
        return template
    }

    /// Whose it is by the row, and who delivers it.
    private func mark(_ recording: inout Recording, as claim: ImportRow.Claim) {
        recording.customer = claim.customer
        recording.customerToken = claim.customer.flatMap { AccountToken(ofCustomer: $0) }
        guard delivery == .elsewhere else { return recording.isUndelivered = true }
        recording.source = .imported
        recording.booksClosedAt = closedAt.map { min($0, now) }
        guard let id = claim.subject?.id, closedAt != nil || claim.exported != nil else { return }
        // A period that is charged ahead is bought after this moment, by a day at most.
        let until = claim.exported?.booksUntil.map { min($0, now.advanced(by: Self.aheadMax)) }
        recording.exported = ExportedRow(id, claim.exported?.outcome ?? .delivered(fence: 0), booksUntil: until)
    }

    /// How a row that Apple decides is taken once it has: what waited is still to be delivered.
    private func origin(of claim: ImportRow.Claim) -> SubmissionOrigin {
        if case .notGiven(.waiting, _, _) = claim.exported?.outcome { return .imported }
        return delivery == .elsewhere ? .delivered : .imported
    }

    /// Asks Apple, where she can be asked: what cannot would wait in vain.
    private func ask(
        _ claim: ImportRow.Claim,
        _ format: ProofFormat,
        _ reason: Reason,
        or refusal: ImportOutcome
    ) -> ExaminedRow.Finding {
        let isReached = reach.includes(verifier.question(about: claim.proof))
        let digest = ProofDigest(of: claim.proof)
        let pending = PendingSubmission(
            id: SubmissionID(app: app.id, customer: claim.customer, digest),
            app: app.id,
            digest: digest,
            format: format.rawValue,
            proof: claim.proof,
            customer: claim.customer,
            order: nil,
            reason: reason.rawValue,
            receivedAt: now,
            origin: origin(of: claim),
            reopensBefore: startedAt
        )
        // Where the side of the wall is known, the same number on another side says nothing.
        let id = claim.subject?.realm == nil ? TransactionID(digits: claim.proof.span) : nil
        let number = id.map { id in
            let anywhere = Realm(environment: .production, isTestSigned: false)
            return ImportedNumber(id: id, template: template(of: claim, in: anywhere))
        }
        return .ask(pending, number, format, refused: isReached ? nil : refusal)
    }
}

extension Verified<Proof> {
    fileprivate func isOf(_ subject: ImportRow.Subject) -> Bool {
        if let wanted = subject.realm, let realm, wanted != realm { return false }
        return fact.transactions.contains { $0.id == subject.id }
    }
}
