import AppStore
package import Jobs
package import PurchaseModel
package import Storage

/// The job that answers Apple's request for consumption information, once nobody has objected, and before it is too late.
package struct ConsumptionAnswering: Job, Hashable {
    package static let kind = "consumption.answer"

    package let request: ConsumptionKey
    /// Whoever has it answered at once makes another job; the ones before end without doing anything.
    package let turn: Int64

    package init(_ request: ConsumptionRequest) {
        self.request = request.key
        turn = request.turn
    }

    package init?(payload: [UInt8]) {
        let parts = payload.split(separator: UInt8(ascii: " "), maxSplits: 2).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard parts.count == 3, let turn = TransactionID(parts[0])?.number,
            let (name, realm) = SidedName.read(parts[1].utf8), let id = NotificationID(name), let app = AppID(parts[2])
        else { return nil }
        request = ConsumptionKey(app: app, realm: realm, id: id)
        self.turn = turn
    }

    package var payload: [UInt8] { Array(name.utf8) }

    package var key: String? { name }

    private var name: String { "\(turn) \(SidedName.text(request.id.text, request.realm)) \(request.app)" }
}

extension ConsumptionQueue {
    /// Into these jobs; each is due when its answer goes out.
    package init(_ queue: JobQueue) {
        self.init { request, write throws(StoreFailure) in
            try queue.enqueue(ConsumptionAnswering(request), due: request.answerAt, in: write)
        }
    }
}

/// Sends what the ledger knows of a purchase to Apple, if the customer has consented.
package struct ConsumptionAnswerer: Sendable {
    /// An answer that does not get through is tried for as long as Apple waits, in the sandbox for minutes.
    package static let schedule = RetrySchedule(first: .seconds(20), longest: .seconds(900), attemptsMax: .max)
    /// When it is not known what hinders: the key may be there tomorrow.
    private static let untilChanged = Duration.seconds(600)
    static let noKey = "no_key"

    private let store: any Store
    private let accounts: [AppID: AppleAccount]
    private let clock: any WallClock

    /// - Parameters:
    ///   - store: where requests, and what is known of the purchases, are.
    ///   - accounts: how Apple is told, and by which policy, for each app.
    ///   - clock: says what is too late.
    package init(store: any Store, accounts: [AppID: AppleAccount], clock: any WallClock) {
        self.store = store
        self.accounts = accounts
        self.clock = clock
    }

    package var handler: JobHandler {
        JobHandler(ConsumptionAnswering.self, schedule: Self.schedule) { job, _ in await answer(job) }
    }

    /// What is left to do after the look at a request.
    private enum Next: Sendable {
        case end
        case later(Duration, String)
        case send(ConsumptionAnswer, ConsumptionRequest, AccountToken?)
    }

    private func answer(_ job: ConsumptionAnswering) async -> JobOutcome {
        do throws(StoreFailure) {
            switch try await next(job) {
            case .end: return .done
            case .later(let pause, let why): return .again(after: pause, because: why)
            case .send(let answer, let request, let account): return try await send(answer, request, account)
            }
        } catch {
            return .failed(because: "the store: \(error)")
        }
    }

    /// Decides in one write: nobody can object, and no consent be withdrawn, between the look and the note that it is on
    /// its way.
    private func next(_ job: ConsumptionAnswering) async throws(StoreFailure) -> Next {
        let (now, account) = (clock.now, accounts[job.request.app])
        let terms = account?.app.terms.consumption ?? ConsumptionTerms()
        let canSend = account?.hasKey == true && account?.isTest == job.request.realm.isTestSigned
        return try await store.write { transaction throws(StoreFailure) -> Next in
            let situation = try transaction.situation(of: job.request)
            guard let request = situation.consumption(job.request), request.turn == job.turn else { return .end }
            let facts = try transaction.facts(of: request)
            switch nextStep(of: request, facts, terms, at: now) {
            case .nothing: return .end
            case .wait(let moment, let why):
                return .later(now.duration(to: moment), why.rawValue)
            case .close(let word):
                let ending = canSend ? word : Self.noKey
                let decision = decide(situation, settling: job.request, as: .lapsed, because: ending, at: now)
                try LedgerRequests.apply(decision, in: transaction)
                return .end
            case .send(let answer):
                guard canSend else { return .later(Self.patience(until: request.deadline, now), Self.noKey) }
                try LedgerRequests.apply(
                    decide(situation, sending: answer, to: job.request, at: now),
                    in: transaction
                )
                return .send(answer, request, facts.transaction?.transaction.accountToken)
            }
        }
    }

    private func send(
        _ answer: ConsumptionAnswer,
        _ request: ConsumptionRequest,
        _ account: AccountToken?
    ) async throws(StoreFailure) -> JobOutcome {
        guard let apple = accounts[request.key.app] else { return .done }
        do throws(AppStoreFailure) {
            let store = request.key.realm.environment
            try await apple.server.send(answer, as: request.form, of: request.transaction, account: account, in: store)
        } catch {
            return try await settle(request, after: error)
        }
        try await settle(request, as: .answered, because: nil)
        return .done
    }

    /// Only what Apple says about this answer ends it; whatever is wrong with the way there may be mended in time.
    private func settle(
        _ request: ConsumptionRequest,
        after failure: AppStoreFailure
    ) async throws(StoreFailure) -> JobOutcome {
        let now = clock.now
        switch failure {
        case .refused(let code) where code.remedy != .retry:
            try await settle(request, as: .refused, because: code.description)
            return .done
        case .invalidRequest(let field):
            try await settle(request, as: .refused, because: field)
            return .done
        default: break
        }
        let pause = Self.patience(until: request.deadline, now)
        if case .change = failure.remedy { return .again(after: pause, because: "Apple: \(failure)") }
        return AppleTrouble.outcome(of: failure, at: now) ?? .again(after: pause, because: "Apple: \(failure)")
    }

    private func settle(
        _ request: ConsumptionRequest,
        as state: ConsumptionState,
        because ending: String?
    ) async throws(StoreFailure) {
        let (key, now) = (request.key, clock.now)
        try await store.write { transaction throws(StoreFailure) in
            let situation = try transaction.situation(of: key)
            try LedgerRequests.apply(
                decide(situation, settling: key, as: state, because: ending, at: now),
                in: transaction
            )
        }
    }

    /// So often that a short time to answer is not slept through.
    private static func patience(until deadline: Timestamp, _ now: Timestamp) -> Duration {
        min(untilChanged, max(now.duration(to: deadline) / 8, .seconds(1)))
    }
}
