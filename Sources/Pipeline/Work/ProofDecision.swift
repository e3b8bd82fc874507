import AppStore
import Encoding
package import Jobs
package import PurchaseModel
package import Storage
import Verification

/// The job that has a kept proof decided by Apple: what the bytes alone did not settle, and somebody waits for.
package struct ProofDecision: Job, Hashable {
    package static let kind = "proof.decide"

    package let submission: SubmissionID

    package init(_ submission: SubmissionID) { self.submission = submission }

    package init?(payload: [UInt8]) {
        guard let bytes = Hexadecimal.decode(payload), let id = SubmissionID(bytes) else { return nil }
        submission = id
    }

    package var payload: [UInt8] { Array(name.utf8) }

    package var key: String? { name }

    private var name: String { Hexadecimal.encode(submission.bytes) }
}

/// Asks Apple about what waits, and records or refuses it.
package struct ProofDecider: Sendable {
    /// Seconds at first, since a customer waits; then as long as Apple is away. What waits too long is given up elsewhere.
    package static let schedule = RetrySchedule(first: .seconds(5), longest: .seconds(1_800), attemptsMax: .max)
    /// How long Apple may say that a receipt is malformed before it counts: in bad hours Apple says so of good ones.
    private static let malformedFor = Duration.seconds(3 * 86_400)
    /// How often a number may be unknown, and for how long after it came: in the sandbox it is for the first seconds, and
    /// attempts alone say little, for most of them may have met no Apple at all.
    private static let unknown = (max: 4, within: Duration.seconds(900))
    /// How many numbers beside one that is known may be unknown for as long: who has just bought has not bought more, and a
    /// list that is made up is not asked about again and again.
    private static let missingMax = 5
    /// How soon a server looks again at what an import has kept and it cannot ask about: there may be very many.
    private static let unasked = Duration.seconds(6 * 3_600)
    /// For how many attempts somebody may wait for it all the same, nearly a day: a job of this kind says so, or is an older
    /// version's, which gave imports no kind of their own.
    private static let awaitedMax = 48
    /// The same of a receipt that is looked into in which no purchase stands yet.
    private static let empty = (max: 12, within: Duration.seconds(3_600))

    private let pipeline: PurchasePipeline
    private let store: any Store
    private let accounts: [AppID: AppleAccount]
    private let clock: any WallClock

    package init(pipeline: PurchasePipeline, store: any Store, accounts: [AppID: AppleAccount], clock: any WallClock) {
        self.pipeline = pipeline
        self.store = store
        self.accounts = accounts
        self.clock = clock
    }

    package var handler: JobHandler {
        JobHandler(ProofDecision.self, schedule: Self.schedule) { job, run in
            await decide(job.submission, attempt: run.attempt, .awaited)
        }
    }

    /// Of what imports have kept, for a worker of its own.
    package var importedHandler: JobHandler {
        JobHandler(ImportedProofDecision.self, schedule: Self.schedule) { job, run in
            await decide(job.decision.submission, attempt: run.attempt, .patient)
        }
    }

    private func decide(_ id: SubmissionID, attempt: Int, _ urgency: AppleUrgency) async -> JobOutcome {
        do throws(StoreFailure) {
            switch try await turn(of: id) {
            case .over: return .done
            case .later(let pause): return .again(after: pause, because: "an earlier row asks the same")
            case .now(let first): return try await decide(allFrom: first, attempt, urgency)
            }
        } catch {
            return .failed(because: "the store: \(error)")
        }
    }

    /// Whether a job has anything to do.
    private enum Turn: Sendable {
        /// What it was for is decided.
        case over
        /// Another job decides it; how soon to see whether it has.
        case later(Duration)
        case now(KeptSubmission)
    }

    private func turn(of id: SubmissionID) async throws(StoreFailure) -> Turn {
        let askable = Set(accounts.keys)
        return try await store.read { reader throws(StoreFailure) -> Turn in
            guard let kept = try reader.submission(id), kept.settlement == nil else { return .over }
            let first = try reader.firstInTurn(with: kept)
            guard first.id != id else { return .now(first) }
            // One that has died leaves it to those that are left.
            guard try reader.hasDecision(of: first.id) else { return .now(first) }
            let isUnasked = kept.submission.origin != .presented && !askable.contains(kept.submission.app)
            return .later(isUnasked ? Self.unasked : Self.schedule.longest)
        }
    }

    /// The server next to this one may have the app's key or secret, or this one gets it back.
    private static func withoutAccount(_ kept: KeptSubmission, _ attempt: Int, _ urgency: AppleUrgency) -> JobOutcome {
        let isAwaited = urgency == .awaited && (kept.submission.origin == .presented || attempt <= awaitedMax)
        return .failed(because: AppleTrouble.noKey, notWithin: isAwaited ? .zero : unasked)
    }

    /// Decides what waits, and after it what imports have kept of the same for other customers, in the order of their rows:
    /// whose a purchase becomes is a matter of who comes first. Those that are not reached have jobs of their own.
    private func decide(
        allFrom first: KeptSubmission,
        _ attempt: Int,
        _ urgency: AppleUrgency
    ) async throws(StoreFailure) -> JobOutcome {
        guard let account = accounts[first.submission.app] else { return Self.withoutAccount(first, attempt, urgency) }
        var hearing = AppleHearing(account, for: urgency)
        var kept = first
        while true {
            let outcome = try await decide(kept, &hearing, attempt)
            guard outcome == .done, kept.submission.origin != .presented, !Task.isCancelled else { return outcome }
            let submission = kept.submission
            let next = try await store.read { reader throws(StoreFailure) in
                try reader.importedSubmission(like: submission)
            }
            guard let next, next.id != kept.id else { return outcome }
            kept = next
        }
    }

    private func decide(
        _ kept: KeptSubmission,
        _ hearing: inout AppleHearing,
        _ attempt: Int
    ) async throws(StoreFailure) -> JobOutcome {
        switch pipeline.question(about: kept) {
        case .transactions(let numbers): try await ask(numbers, kept, &hearing, attempt)
        case .receipt(let receipt): try await ask(receipt, kept, &hearing, attempt)
        case nil: .never(because: "there is nothing in it to ask Apple about")
        }
    }

    /// Asks about the first, and if Apple knows it about each of the others: what was made up costs a call or two.
    private func ask(
        _ numbers: [TransactionID],
        _ kept: KeptSubmission,
        _ hearing: inout AppleHearing,
        _ attempt: Int
    ) async throws(StoreFailure) -> JobOutcome {
        let account = hearing.account
        let (first, place): (Found<Verified<Proof>>, Int)
        switch try await lead(of: numbers, kept, &hearing, attempt) {
        case .known(let found, let at): (first, place) = (found, at)
        case .trouble(let outcome): return outcome
        case .none: return try await settleUnknown(kept, account)
        }
        // What it brings is brought at once, and its wait ends with the last.
        guard numbers.count > 1,
            try await pipeline.record(kept, of: account.app, by: first.value, isOneOfSeveral: true) == nil
        else {
            return try await record(first.value, [], kept, account, isOneOfSeveral: numbers.count > 1)
        }
        var missing = place
        var bad: JobOutcome?
        for number in numbers.dropFirst(place + 1) {
            let other: Verified<Proof>
            do throws(AppStoreFailure) {
                other = try await hearing.transaction(number, in: first.store).value
            } catch {
                let outcome = AppleTrouble.outcome(ofNumber: error, at: clock.now)
                switch error {
                // It speaks against this answer, and not against those that are still to come.
                case .untrusted: bad = outcome
                default:
                    if let outcome { return outcome }
                    missing += 1
                }
                continue
            }
            _ = try await pipeline.record(kept, of: account.app, by: other, isOneOfSeveral: true)
        }
        if let bad { return bad }
        // What Apple does not know beside what it knows was bought just now, or never.
        if (1...Self.missingMax).contains(missing), try await !isEnough(attempt, of: kept, Self.unknown) {
            return .failed(because: "Apple: \(missing) of its numbers are unknown")
        }
        return try await record(first.value, [], kept, account, isOneOfSeveral: true)
    }

    /// By which of its numbers a proof is known to Apple.
    private enum Lead {
        case known(Found<Verified<Proof>>, at: Int)
        /// Nothing is known yet.
        case trouble(JobOutcome)
        /// By none that was asked about, as often as that is done.
        case none
    }

    /// Finds the first number that Apple knows. Others are tried once the first is unknown for good, and only some of them:
    /// whoever makes up a list would else have it asked about again and again.
    private func lead(
        of numbers: [TransactionID],
        _ kept: KeptSubmission,
        _ hearing: inout AppleHearing,
        _ attempt: Int
    ) async throws(StoreFailure) -> Lead {
        for (place, number) in numbers.prefix(1 + Self.missingMax).enumerated() {
            do throws(AppStoreFailure) {
                return .known(try await hearing.transaction(number), at: place)
            } catch {
                if let outcome = AppleTrouble.outcome(ofNumber: error, at: clock.now) { return .trouble(outcome) }
                guard try await isEnough(attempt, of: kept, Self.unknown) else {
                    return .trouble(.failed(because: "Apple: \(error)"))
                }
            }
        }
        return .none
    }

    private func ask(
        _ receipt: [UInt8],
        _ kept: KeptSubmission,
        _ hearing: inout AppleHearing,
        _ attempt: Int
    ) async throws(StoreFailure) -> JobOutcome {
        let account = hearing.account
        var options = VerifyReceiptCall.Options()
        options.isVerifiedLocally = pipeline.hasGoodSignature(receipt)
        switch await hearing.receipt(receipt, options) {
        case .valid(let answered), .renewable(let answered), .expired(let answered):
            guard !answered.transactions.isEmpty else {
                guard try await isEnough(attempt, of: kept, Self.empty) else {
                    return .failed(because: "no purchase stands in it yet")
                }
                try await pipeline.settle(kept, as: .noPurchases, verdict: answered.proof.verdict)
                return .done
            }
            return try await record(answered.proof, answered.renewals.map(\.fact), kept, account)
        case .refused(let refusal):
            if refusal.mayPass, try await waited(kept) < Self.malformedFor {
                return .failed(because: "Apple: \(refusal)")
            }
            return try await settle(kept, as: refusal.reason)
        case .disagreement(let status):
            // Its signature is good. A person hears of it; whoever paid must not suffer for it.
            return .failed(because: "Apple refuses with \(status) what has a good signature")
        case .wrongSharedSecret: return AppleTrouble.wrongSecret
        case .unavailable(let trouble, let retryAt):
            return AppleTrouble.outcome(of: trouble, retryAt: retryAt, at: clock.now)
        }
    }

    /// For how long it has waited, by the clock that noted when it came.
    private func waited(_ kept: KeptSubmission) async throws(StoreFailure) -> Duration {
        let now = clock.now
        return try await store.read { reader throws(StoreFailure) in
            kept.submission.receivedAt.duration(to: try reader.storeTime(now))
        }
    }

    private func isEnough(
        _ attempt: Int,
        of kept: KeptSubmission,
        _ patience: (max: Int, within: Duration)
    ) async throws(StoreFailure) -> Bool {
        guard attempt >= patience.max else { return false }
        return try await waited(kept) >= patience.within
    }

    private func record(
        _ proof: Verified<Proof>,
        _ renewals: [Renewal],
        _ kept: KeptSubmission,
        _ account: AppleAccount,
        isOneOfSeveral: Bool = false
    ) async throws(StoreFailure) -> JobOutcome {
        try await pipeline.decide(kept, of: account.app, by: proof, renewals, isOneOfSeveral: isOneOfSeveral)
        return .done
    }

    /// What Apple has known before, and the shop has heard of, it does not make another's by knowing it no more.
    private func settleUnknown(
        _ kept: KeptSubmission,
        _ account: AppleAccount
    ) async throws(StoreFailure) -> JobOutcome {
        let verdict: Verdict? =
            if kept.submission.isRecordedInPart {
                account.isTest ? .testSigned : .genuine
            } else {
                try await pipeline.verdictOfForgotten(kept, of: account.app)
            }
        try await pipeline.settle(kept, as: .unknownToApple, verdict: verdict)
        return .done
    }

    private func settle(_ kept: KeptSubmission, as reason: Reason) async throws(StoreFailure) -> JobOutcome {
        try await pipeline.settle(kept, as: reason)
        return .done
    }
}

extension ReceiptRefusal {
    /// Our word for what Apple says.
    fileprivate var reason: Reason {
        switch self {
        case .notAuthentic: .refusedByApple
        case .malformed, .rejected, .empty: .unreadableToApple
        case .accountNotFound: .unknownToApple
        case .notOurs(let reason, _): reason
        }
    }
}
