package import PurchaseModel
package import Storage
package import Verification

/// Takes a proof of purchase through the house: verify, then record it, keep it for later, or refuse it.
///
/// It decides nothing itself: Verification says what is true, `PurchaseModel/Rules` what follows.
package struct PurchasePipeline: Sendable {
    let verifier: Verifier
    private let recorder: Recorder
    let store: any Store
    private let desk: RefusalDesk
    let clock: any WallClock
    private let waiting: PendingDesk
    private let retryAfterFull: Duration
    private let report: @Sendable (PipelineEvent) -> Void

    package init(
        verifier: Verifier,
        recorder: Recorder,
        store: any Store,
        refusals: RefusalLedger,
        clock: any WallClock,
        limits: PipelineLimits = PipelineLimits(),
        later: PendingPlanner? = nil,
        report: @escaping @Sendable (PipelineEvent) -> Void
    ) {
        self.verifier = verifier
        self.recorder = recorder
        self.store = store
        desk = RefusalDesk(refusals: refusals, clock: clock, report: report)
        self.clock = clock
        self.report = report
        waiting = PendingDesk(store: store, limits: limits, clock: clock, later: later)
        retryAfterFull = limits.retryAfterFull
    }

    /// Takes one proof in. Safe to repeat: the same bytes give the same outcome.
    ///
    /// - Throws: `StoreFailure` when nothing is known to have been written; the sender should try again.
    package func submit(_ submission: Submission) async throws(StoreFailure) -> Outcome {
        try await take(submission, kept: nil)
    }

    /// Looks again at what is kept. What stays undecided stays as it is, and nobody hears of it again; what is recorded ends
    /// in the same commit.
    func review(_ submission: Submission, kept: KeptSubmission) async throws(StoreFailure) -> Outcome {
        try await take(submission, kept: kept)
    }

    /// Has an app's places counted, so that none is lost of what is settled from now on.
    func countPending(of app: AppID) async throws(StoreFailure) {
        try await waiting.count(of: app)
    }

    /// Has them counted anew: several servers settle what waits in one ledger.
    func recountPending(of app: AppID) async throws(StoreFailure) {
        try await waiting.recount(of: app)
    }

    /// What to do once one waits no more, to be asked for before that: its place is free for others, if it has one.
    func leaving(_ kept: KeptSubmission) -> @Sendable () -> Void { waiting.leaving(kept) }

    /// What to ask Apple about a kept proof; `nil` when there is nothing.
    func question(about kept: KeptSubmission) -> AppleQuestion? { verifier.question(about: kept.submission.proof) }

    /// Whether somebody whom we believe has signed it, for whatever app.
    func hasGoodSignature(_ receipt: [UInt8]) -> Bool {
        verifier.examine(receipt, expecting: Expectation()).report.vouchedBy != nil
    }

    /// Decides what was kept by what Apple said when it was asked: recorded and settled in one commit.
    ///
    /// - Parameters:
    ///   - kept: what waits.
    ///   - app: whose it is.
    ///   - proof: what Apple said.
    ///   - renewals: what Apple said beside it of what comes next.
    ///   - isOneOfSeveral: whether Apple was asked about more numbers of it, each by itself.
    /// - Throws: `StoreFailure`; then it waits on.
    func decide(
        _ kept: KeptSubmission,
        of app: AppPolicy,
        by proof: Verified<Proof>,
        _ renewals: [Renewal] = [],
        isOneOfSeveral: Bool = false
    ) async throws(StoreFailure) {
        let refusal = try await record(
            kept,
            of: app,
            by: proof,
            renewals,
            isOneOfSeveral: isOneOfSeveral,
            isLast: true
        )
        guard let refusal else { return }
        // Of what was recorded in part the shop has heard: it is not refused after that.
        try await settle(kept, as: refusal, verdict: kept.submission.isRecordedInPart ? proof.verdict : nil)
    }

    /// Records a part of what Apple said of what was kept, which waits on unless it is the last.
    ///
    /// - Parameters:
    ///   - kept: what waits.
    ///   - app: whose it is.
    ///   - proof: what Apple said.
    ///   - renewals: what Apple said beside it of what comes next.
    ///   - isOneOfSeveral: whether Apple is asked about more numbers of it, each by itself.
    ///   - isLast: whether its wait ends with it, in the same commit.
    /// - Returns: why the app does not take it, and nothing was recorded; `nil` when it was.
    /// - Throws: `StoreFailure`.
    func record(
        _ kept: KeptSubmission,
        of app: AppPolicy,
        by proof: Verified<Proof>,
        _ renewals: [Renewal] = [],
        isOneOfSeveral: Bool = false,
        isLast: Bool = false
    ) async throws(StoreFailure) -> Reason? {
        let app = app.limited(for: kept)
        guard app.mayCount(proof) else { return proof.provenance.vouchedBy.reason }
        guard let realm = proof.realm, app.environments.contains(realm.environment) else {
            return .environmentNotAccepted
        }
        var recording = proof.recording(for: app, in: realm, renewals)
        recording.customer = kept.submission.customer
        recording.order = kept.submission.order
        recording.customerToken = kept.submission.customer.flatMap { AccountToken(ofCustomer: $0) }
        recording.isOneOfSeveral = isOneOfSeveral
        recording.isOnlyNamed = kept.submission.isOnlyNamed
        if kept.submission.origin == .delivered {
            recording.source = .imported
            recording.booksClosedAt = closing(of: kept.submission, recording.transactions)
        }
        recording.isUndelivered = kept.submission.origin == .imported
        if kept.submission.origin == .presented { recording.presentedAt = kept.submission.receivedAt }
        do throws(StoreFailure) {
            let evidence = proof.evidence(from: kept.submission.customer, at: clock.now)
            let decision = try await recorder.record(
                recording,
                evidence: evidence,
                with: isLast ? nil : Self.note(partOf: kept.submission),
                ending: isLast ? ending(kept, as: proof.verdict) : nil
            )
            tell(decision, proof.fact.format, of: app.id)
            let name = RefusedBefore.Name(app: app.id, digest: kept.submission.digestOfProof)
            // An import's are told in its report.
            if kept.submission.origin == .presented, let anothers = decision.anothers {
                let (bytes, customer) = (kept.submission.proof, kept.submission.customer)
                desk.noteAnothers(proof.fact.format, bytes, from: customer, name, anothers, isPart: true)
            }
            return nil
        } catch .unstorable {
            return .fieldOutOfRange
        }
    }

    /// That what was kept waits no more once it is recorded.
    private func ending(_ kept: KeptSubmission, as verdict: Verdict) -> KeptEnding {
        KeptEnding(id: kept.id, verdict: verdict.rawValue, whenOver: leaving(kept))
    }

    /// Notes with a part of what waits that the shop has heard of it: then its end need not be told as well.
    private static func note(partOf kept: PendingSubmission) -> Recorder.Companion? {
        guard kept.origin == .presented else { return nil }
        let (id, customer) = (kept.id, kept.customer)
        return { decision, transaction throws(StoreFailure) in
            guard decision.tellsOfPurchases(to: customer) else { return }
            _ = try transaction.notePending(id, waitsFor: PendingSubmission.recordedInPart)
        }
    }

    /// When the books were handed in out of which something was kept; never before what stands in it itself: Apple charges
    /// for a period up to a day before it begins, and our clock may be behind.
    private func closing(of kept: PendingSubmission, _ answer: [Transaction]) -> Timestamp {
        let named: Set<TransactionID> =
            switch verifier.question(about: kept.proof) {
            case .transactions(let numbers): Set(numbers)
            case .receipt(let receipt):
                Set(verifier.examine(receipt, expecting: Expectation()).report.claims.transactions.map(\.id))
            case nil: []
            }
        let last = answer.filter { named.contains($0.id) }.map(\.purchasedAt).max()
        return last.map { max(kept.receivedAt, $0.advanced(by: .milliseconds(1))) } ?? kept.receivedAt
    }

    /// Ends the wait of what was kept, without recording anything.
    ///
    /// - Parameters:
    ///   - kept: what waits.
    ///   - reason: why it waits no more.
    ///   - verdict: what is said of it, if that is another than the reason's: a receipt without purchases is genuine.
    /// - Throws: `StoreFailure`; then it waits on.
    func settle(
        _ kept: KeptSubmission,
        as reason: Reason,
        verdict: Verdict? = nil
    ) async throws(StoreFailure) {
        let (end, now, leave) = (verdict ?? reason.verdict, clock.now, leaving(kept))
        let isSettled = try await store.write { transaction throws(StoreFailure) in
            let settlement = Settlement(verdict: end.rawValue, at: try transaction.storeTime(now))
            guard try transaction.settlePending(kept.id, as: settlement) else { return false }
            let ended = KeptSubmission(kept.submission, settlement: settlement)
            try LedgerRequests.tell([ended], at: settlement.at, in: transaction)
            return true
        }
        guard isSettled else { return }
        leave()
        // An import's are told in its report.
        if end == reason.verdict, kept.submission.origin == .presented {
            desk.note(kept, because: reason, claiming: asked(about: kept.submission.proof))
        }
        report(.settled(app: kept.submission.app, reason: reason))
    }

    /// Has what waits already decided in time, too: now, if whoever plans brings forward what waits longer.
    func plan(_ kept: KeptSubmission) async throws(StoreFailure) { try await waiting.plan(kept) }

    private func take(_ submission: Submission, kept: KeptSubmission?) async throws(StoreFailure) -> Outcome {
        let digest = ProofDigest(of: submission.bytes)
        let name = RefusedBefore.Name(app: submission.app.id, digest: digest)
        if let reason = desk.repetition(of: name, submission.bytes, from: submission.customer) {
            return .refused(Outcome.Refused(reason))
        }
        let examination = verifier.examine(submission.bytes, expecting: submission.expectation)
        let found = examination.report
        switch found.verdict {
        case .genuine, .testSigned:
            guard let proof = examination.proof, submission.app.mayCount(proof) else {
                return refuse(found.format, found.reason, submission, name, found.claimed)
            }
            return try await record(proof, submission, name, kept: kept)
        case .undecidable:
            // What an app would not record when it is decided does not wait to be decided.
            if let voucher = found.vouchedBy, voucher.isTest, !submission.app.acceptsTestSigned {
                return refuse(found.format, voucher.reason, submission, name, found.claimed)
            }
            guard !found.isSignedWithoutPurchase else {
                return nothingToRecord(found.format, submission, found.vouchedBy)
            }
            if submission.mustBeSigned, found.format.isUnsigned {
                return refuse(found.format, found.reason, submission, name, found.claimed)
            }
            // Nothing would ever decide it. What was kept all the same is given up in time: nobody has proved anything.
            if kept == nil, found.format == .notificationV1, verifier.question(about: submission.bytes) == nil {
                return nothingToRecord(found.format, submission, nil)
            }
            return try await keepForLater(submission, found.format, found.reason, digest, kept: kept?.id)
        case .notYours, .forged, .malformed:
            return refuse(found.format, found.reason, submission, name, found.claimed)
        }
    }

    private func record(
        _ proof: Verified<Proof>,
        _ submission: Submission,
        _ name: RefusedBefore.Name,
        kept: KeptSubmission?
    ) async throws(StoreFailure) -> Outcome {
        let (format, digest) = (proof.fact.format, name.digest)
        guard !format.recordsNothing(of: proof.fact.transactions) else {
            return nothingToRecord(format, submission, proof.provenance.vouchedBy)
        }
        guard let realm = proof.realm else {
            return try await keepForLater(submission, format, .environmentUnknown, digest, kept: kept?.id)
        }
        guard !proof.fact.transactions.isEmpty else {
            return try await keepForLater(submission, format, .noPurchases, digest, kept: kept?.id)
        }
        var recording = proof.recording(for: submission.app, in: realm)
        recording.customer = submission.customer
        recording.order = submission.order
        recording.customerToken = submission.customerToken
        let evidence = proof.evidence(digest, from: submission.customer, at: clock.now)
        let decision: Decision
        do throws(StoreFailure) {
            let ending = kept.map { self.ending($0, as: proof.verdict) }
            decision = try await recorder.record(
                recording,
                evidence: evidence,
                answering: submission.kept,
                ending: ending
            ).told
        } catch .unstorable {
            // A text in it that no row can hold. Nobody asks for it again in vain: it will never be another.
            return refuse(format, .fieldOutOfRange, submission, name, proof.fact.transactions.map(\.id))
        }
        tell(decision, format, of: submission.app.id)
        if let anothers = decision.anothers {
            desk.noteAnothers(format, submission.bytes, from: submission.customer, name, anothers)
        }
        return .recorded(decision)
    }

    private func tell(_ decision: Decision, _ format: ProofFormat, of app: AppID) {
        report(
            .recorded(
                app: app,
                format: format,
                transactions: decision.outcomes.count,
                isRepetition: decision.isRepetition
            )
        )
    }

    private func nothingToRecord(_ format: ProofFormat, _ submission: Submission, _ voucher: Voucher?) -> Outcome {
        report(.nothingToRecord(app: submission.app.id, format: format))
        return .nothingToRecord(format: format.rawValue, isTestSigned: voucher?.isTest == true)
    }

    private func keepForLater(
        _ submission: Submission,
        _ format: ProofFormat,
        _ reason: Reason,
        _ digest: ProofDigest,
        kept: SubmissionID?
    ) async throws(StoreFailure) -> Outcome {
        if let kept { return .pending(kept) }
        let matter = submission.isFromShop ? nil : verifier.matter(of: submission.bytes)
        let name = submission.keptDigest(digest, about: matter)
        let pending = PendingSubmission(
            id: submission.id(of: name),
            app: submission.app.id,
            digest: name,
            format: format.rawValue,
            proof: submission.bytes,
            customer: submission.customer,
            order: submission.order,
            environments: submission.environments,
            isOnlyNamed: matter?.onlyNames == true,
            proofDigest: name == digest ? nil : digest,
            reason: reason.rawValue,
            receivedAt: clock.now
        )
        switch try await waiting.keep(pending, unless: pending.asShops) {
        case .place(let id, let isNew):
            report(.pending(app: submission.app.id, format: format, reason: reason, isRepetition: !isNew))
            return .pending(id)
        case .appIsFull: return .busy(retryAfter: retryAfterFull)
        case .customerIsFull: return .customerBusy(retryAfter: retryAfterFull)
        }
    }

    private func refuse(
        _ format: ProofFormat,
        _ reason: Reason,
        _ submission: Submission,
        _ name: RefusedBefore.Name,
        _ claimed: [TransactionID]
    ) -> Outcome {
        desk.refuse(format, reason, submission.bytes, from: submission.customer, name, claiming: claimed)
        return .refused(Outcome.Refused(reason))
    }
}

extension Report {
    /// Whether a good signature stands over something that records nothing, whichever store it is from.
    var isSignedWithoutPurchase: Bool { vouchedBy != nil && format.recordsNothing(of: claims.transactions) }
}

extension ProofFormat {
    /// Whether Apple judges these very bytes when it is asked about them, and not only a number in them.
    var isReceipt: Bool { self == .appReceipt || self == .transactionReceipt }

    /// Whether nothing is to be recorded of what is proved, now or later: none can stand in it, or none does, as in a
    /// notification about something else. An app receipt is another matter: Apple may know of purchases that do not stand in it.
    func recordsNothing(of transactions: [Transaction]) -> Bool {
        guard mayHoldPurchases else { return true }
        return self != .appReceipt && transactions.isEmpty
    }

    /// Whether a transaction can stand in it at all.
    var mayHoldPurchases: Bool {
        switch self {
        case .jwsAppTransaction, .jwsRenewalInfo: false
        default: true
        }
    }
}
