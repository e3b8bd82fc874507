import AppStore
import Crypto
import Encoding
import HTTP
package import Jobs
package import PurchaseModel
package import Storage
import Verification

/// The job that asks Apple what a person wants to know, or have done.
package struct SupportAsking: Job, Hashable {
    package static let kind = "support.ask"

    package let app: AppID
    package let request: SupportRequestID

    package init(_ request: SupportRequest) {
        app = request.app
        self.request = request.id
    }

    package init?(payload: [UInt8]) {
        let parts = payload.split(separator: UInt8(ascii: " "), maxSplits: 1).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard parts.count == 2, let request = SupportRequestID(parts[0]), let app = AppID(parts[1]) else { return nil }
        self.app = app
        self.request = request
    }

    package var payload: [UInt8] { Array(name.utf8) }

    package var key: String? { name }

    private var name: String { "\(request) \(app)" }
}

extension SupportQueue {
    /// Into these jobs; each is due at once.
    package init(_ queue: JobQueue) {
        self.init { request, write throws(StoreFailure) in try queue.enqueue(SupportAsking(request), in: write) }
    }
}

/// Asks, and writes down what Apple says. What is asked may be asked twice: each is harmless when repeated.
package struct SupportAsker: Sendable {
    /// A person waits: seconds at first.
    package static let schedule = RetrySchedule(first: .seconds(2), longest: .seconds(300), attemptsMax: .max)
    /// After so long without an answer nobody waits any more.
    private static let patience = Duration.seconds(86_400)
    /// Apple extends many subscriptions in hours to days.
    private static let massPatience = Duration.seconds(7 * 86_400)
    private static let massPause = Duration.seconds(600)
    /// How many tokens are set before that is noted.
    private static let tokensMax = 50

    private let store: any Store
    private let recorder: Recorder
    private let accounts: [AppID: AppleAccount]
    private let clock: any WallClock

    package init(store: any Store, recorder: Recorder, accounts: [AppID: AppleAccount], clock: any WallClock) {
        self.store = store
        self.recorder = recorder
        self.accounts = accounts
        self.clock = clock
    }

    package var handler: JobHandler {
        JobHandler(SupportAsking.self, schedule: Self.schedule) { job, _ in await ask(job) }
    }

    private func ask(_ job: SupportAsking) async -> JobOutcome {
        do {
            let found = try await store.read { reader throws(StoreFailure) in
                try reader.supportRequest(app: job.app, id: job.request)
            }
            guard let request = found, request.state == .waiting else { return .done }
            guard let question = SupportQuestion(kind: request.kind, request.question) else {
                return try await fail(request, "unreadable")
            }
            guard let account = accounts[job.app], account.hasKey else {
                return try await withoutKey(request)
            }
            do {
                return try await ask(question, request, account)
            } catch let failure as AppStoreFailure {
                return try await trouble(failure, request)
            }
        } catch {
            return .failed(because: "the store: \(error)")
        }
    }

    private func ask(
        _ question: SupportQuestion,
        _ request: SupportRequest,
        _ account: AppleAccount
    ) async throws -> JobOutcome {
        let apple = account.server
        switch question {
        case .lookUpOrder(let order): return try await note(try await apple.order(order), request, account)
        case .extend(let id, let store, let terms):
            let end = try await apple.extend(
                days: terms.days,
                reason: terms.reason.number,
                identifier: request.id.text,
                original: id,
                in: store
            )
            guard let end else { return try await fail(request, "not_extended") }
            return try await settle(request) { $0.member("expires_date", end) }
        case .extendAll(let product, let store, let terms, let storefronts):
            return try await extendAll(product, store, terms, storefronts, request, account)
        case .setToken(let token, let id, let store):
            try await apple.setAccountToken(token, ofOriginal: id, in: store)
            return try await settle(request) { $0.member("done", 1) }
        case .setTokens(let token, let customer, let store):
            return try await setTokens(token, of: customer, store, request, account)
        }
    }

    // MARK: Orders

    /// Each purchase of an order is recorded as Apple's history of a customer is: nobody presents it, and what was delivered
    /// of it is not known. It waits for whoever presents it, or for a person to attach it.
    private func note(
        _ proofs: [Verified<Proof>],
        _ request: SupportRequest,
        _ account: AppleAccount
    ) async throws -> JobOutcome {
        guard !proofs.isEmpty else { return try await fail(request, "unknown_order") }
        var outcomes: [TransactionOutcome] = []
        for proof in proofs {
            let app = account.app
            guard let realm = app.realm(of: proof) else { continue }
            do throws(StoreFailure) {
                var recording = proof.recording(for: app, in: realm)
                (recording.source, recording.isLookedUp) = (.history, true)
                outcomes += try await recorder.record(recording, evidence: proof.evidence(at: clock.now)).outcomes
            } catch .unstorable {
                // A text in it that no row can hold: it will never be another.
                continue
            }
        }
        let found = outcomes
        let owners = try await store.read { reader throws(StoreFailure) in
            try reader.owners(Array(Set(found.map(\.recorded.chain))))
        }
        let customers = Dictionary(owners.map { ($0.chain, $0.customer) }) { first, _ in first }
        return try await settle(request) { json in
            json.array("transactions") { json in
                for outcome in found {
                    json.object { json in
                        TransactionJSON.write(outcome.recorded, into: &json)
                        json.member("was_known", !outcome.isNew)
                        json.member("owner_id", customers[outcome.recorded.chain]?.text)
                    }
                }
            }
        }
    }

    // MARK: Free days for many

    /// Apple takes its time: it is told once, and then asked how far it is.
    private func extendAll(
        _ product: ProductID,
        _ store: StoreEnvironment,
        _ terms: ExtensionTerms,
        _ storefronts: [String]?,
        _ request: SupportRequest,
        _ account: AppleAccount
    ) async throws -> JobOutcome {
        let identifier = Self.uuid(of: request)
        guard request.answer != nil else {
            try await account.server.extendAll(
                days: terms.days,
                reason: terms.reason.number,
                identifier: identifier,
                of: product,
                storefronts: storefronts,
                in: store
            )
            try await note(request) { json in
                json.member("request_identifier", identifier)
                json.member("is_complete", false)
            }
            return .again(after: .seconds(60), because: "Apple extends them")
        }
        let progress: ExtensionProgress
        do throws(AppStoreFailure) {
            progress = try await account.server.extensionProgress(identifier, of: product, in: store)
        } catch {
            let waited = request.askedAt.duration(to: clock.now)
            // What was just asked for need not be found at once.
            guard case .giveUp = error.remedy, waited < Self.patience else { throw error }
            return .again(after: Self.massPause, because: "Apple: \(error)")
        }
        guard progress.isComplete else {
            guard request.askedAt.duration(to: clock.now) < Self.massPatience else {
                return try await fail(request, "apple_did_not_answer", "it was not complete in time")
            }
            return .again(after: Self.massPause, because: "Apple extends them")
        }
        return try await settle(request) { json in
            json.member("request_identifier", identifier)
            json.member("is_complete", true)
            json.member("succeeded", progress.succeeded)
            json.member("failed", progress.failed)
        }
    }

    /// Apple wants a UUID: the same for the same request, however often it is sent.
    private static func uuid(of request: SupportRequest) -> String {
        let hash = Digest.sha256(Array("\(request.app) \(request.id)".utf8))
        let halves = [hash.prefix(8), hash.dropFirst(8).prefix(8)].map { bytes in
            bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        // Version 8 of RFC 9562: bits of our own.
        let high = halves[0] & 0xFFFF_FFFF_FFFF_0FFF | 0x8000
        let low = halves[1] & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        return AccountToken(high: high, low: low).description
    }

    // MARK: Whose purchases are

    /// All first transactions that the customer owns, in their order, some at a time: what was done is noted, so that a
    /// run that was cut off goes on where it was.
    private func setTokens(
        _ token: AccountToken,
        of customer: CustomerID,
        _ environment: StoreEnvironment,
        _ request: SupportRequest,
        _ account: AppleAccount
    ) async throws -> JobOutcome {
        var progress = TokenProgress(request.answer)
        let (app, realm) = (request.app, Realm(environment: environment, isTestSigned: account.isTest))
        let chains = try await store.read { reader throws(StoreFailure) in
            let chains = try reader.chains(app: app, customer: customer).filter { $0.realm == realm }
            // A member of a family has no purchase of her own to name.
            return try reader.owners(chains).filter { $0.customer == customer }.map(\.chain.original).sorted()
        }
        let left = chains.filter { id in progress.after.map { $0 < id } ?? true }
        for id in left.prefix(Self.tokensMax) {
            do throws(AppStoreFailure) {
                try await account.server.setAccountToken(token, ofOriginal: id, in: environment)
                progress.done += 1
            } catch {
                guard case .refused(let code) = error, code.remedy != .retry else {
                    try await note(request, progress.write)
                    throw error
                }
                progress.refuse(id, code.description)
            }
            progress.after = id
        }
        guard left.count > Self.tokensMax else { return try await settle(request, progress.write) }
        try await note(request, progress.write)
        return .again(after: .seconds(1), because: "more are left")
    }

    // MARK: What is written down

    /// What Apple says no to is told; what it did not answer is asked again, as long as anybody may wait.
    private func trouble(_ failure: AppStoreFailure, _ request: SupportRequest) async throws(StoreFailure) -> JobOutcome
    {
        let now = clock.now
        switch failure {
        case .refused(let code) where code.remedy != .retry:
            return try await fail(request, "apple_refused", code.description)
        case .invalidRequest(let field): return try await fail(request, "invalid", field)
        case .notConfigured: return try await withoutKey(request)
        // We hung up: Apple did not fail to answer, however long it is that somebody asked.
        case .unreachable(.cancelled): return .failed(because: "Apple: \(failure)")
        default: break
        }
        guard mayWait(request, at: now) else {
            return try await fail(request, "apple_did_not_answer", "\(failure)")
        }
        return AppleTrouble.outcome(of: failure, at: now) ?? .failed(because: "Apple: \(failure)")
    }

    /// The API takes no question in without a key: the server next to this one has it, or this one gets it back. What Apple has
    /// been told must not end here: whoever asks again has it done twice.
    private func withoutKey(_ request: SupportRequest) async throws(StoreFailure) -> JobOutcome {
        guard mayWait(request, at: clock.now) else { return try await fail(request, "no_key") }
        return .failed(because: AppleTrouble.noKey)
    }

    /// Longer where it is under way.
    private func mayWait(_ request: SupportRequest, at now: Timestamp) -> Bool {
        request.askedAt.duration(to: now) < (request.answer == nil ? Self.patience : Self.massPatience)
    }

    private func settle(
        _ request: SupportRequest,
        _ body: (inout JSONObjectWriter) -> Void
    ) async throws(StoreFailure) -> JobOutcome {
        try await write(request, .done, JSONWriter.object(body))
        return .done
    }

    private func fail(
        _ request: SupportRequest,
        _ code: String,
        _ detail: String? = nil
    ) async throws(StoreFailure) -> JobOutcome {
        let known = request.answer.flatMap { try? JSONDocument($0).root.object }
        let answer = JSONWriter.object { json in
            json.member("code", code)
            json.member("detail", detail)
            // That Apple has it in hand, whatever became of our asking.
            json.member("request_identifier", known?["request_identifier"]?.string)
        }
        try await write(request, .failed, answer)
        return .done
    }

    /// Notes how far it is; it goes on.
    private func note(
        _ request: SupportRequest,
        _ body: (inout JSONObjectWriter) -> Void
    ) async throws(StoreFailure) {
        try await write(request, .waiting, JSONWriter.object(body))
    }

    private func write(
        _ request: SupportRequest,
        _ state: SupportRequest.State,
        _ answer: [UInt8]
    ) async throws(StoreFailure) {
        let now = clock.now
        try await store.write { transaction throws(StoreFailure) in
            guard var row = try transaction.supportRequest(app: request.app, id: request.id), row.state == .waiting
            else { return }
            row.state = state
            row.answer = answer.count <= SupportRequest.bytesMax ? answer : Array(#"{"code":"too_long"}"#.utf8)
            row.settledAt = state == .waiting ? nil : now
            row.version += 1
            try transaction.put(row)
        }
    }
}
