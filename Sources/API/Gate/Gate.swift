import HTTP
import Pipeline
import PurchaseModel
import Storage

/// Lets in who holds a key, within the rate, for the one app that the key is for and for what it may do.
struct Gate: Sendable {
    typealias Respond = @Sendable (HTTPRequest, AppPolicy, PathParameters) async -> HTTPResponse
    typealias Write = @Sendable (Change, any StoreTransaction) throws(StoreFailure) -> HTTPResponse
    typealias WriteOnce = @Sendable (Change, any StoreTransaction) throws(StoreFailure) -> Answer

    typealias Follow =
        @Sendable (HTTPRequest, AppPolicy, _ isInForce: @escaping @Sendable () -> Bool) async -> HTTPResponse

    /// A request that changes something, who asks, and when it came.
    struct Change: Sendable {
        let request: HTTPRequest
        let app: AppPolicy
        let key: APIKey
        let path: PathParameters
        let now: Timestamp

        /// The name of the key, as it is kept with what was done.
        var actor: String { key.holder.name }

        /// What the key does that changes who may do what, for the log of it.
        func action(_ word: String, of subject: String, _ detail: String? = nil) -> AdminAction {
            AdminAction(
                at: now,
                admin: nil,
                key: "\(key.holder.app)/\(key.id?.text ?? key.holder.name)",
                remote: request.remote.description,
                action: word,
                subject: subject,
                detail: detail
            )
        }
    }

    /// An answer, and what the same request gets again under its `Idempotency-Key`.
    struct Answer: Sendable {
        let shown: HTTPResponse
        let kept: HTTPResponse

        init(shown: HTTPResponse, kept: HTTPResponse) {
            self.shown = shown
            self.kept = kept
        }

        /// One that may be shown as often as it is asked for.
        init(_ response: HTTPResponse) {
            self.init(shown: response, kept: response)
        }
    }

    /// Who calls.
    struct Caller: Sendable {
        /// With no more stores than the key may bring proofs of.
        let app: AppPolicy
        let key: APIKey
        /// Shows for which customer a publishable key speaks.
        let customerToken: String?
        let ticket: RateLimit.Ticket
    }

    private let keys: KeyRing
    private let customers: CustomerToken
    private let apps: [AppID: AppPolicy]
    private let rate: RateLimit
    private let strangers: StrangerLimit
    private let store: any Store
    private let clock: any WallClock
    private let changed: @Sendable () -> Void

    /// - Parameters:
    ///   - keys: who may come in.
    ///   - customers: for whom a publishable key speaks.
    ///   - apps: which apps there are.
    ///   - rate: how often.
    ///   - store: where changes are written.
    ///   - clock: dates them.
    ///   - changed: called after each.
    init(
        keys: KeyRing,
        customers: CustomerToken,
        apps: [AppPolicy],
        rate: RateLimit,
        store: any Store,
        clock: any WallClock,
        changed: @escaping @Sendable () -> Void
    ) {
        self.store = store
        self.clock = clock
        self.changed = changed
        self.keys = keys
        self.customers = customers
        self.apps = Dictionary(apps.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        self.rate = rate
        strangers = StrangerLimit(clock: clock)
    }

    /// A route that only who holds such a key reaches.
    ///
    /// - Parameters:
    ///   - method: how.
    ///   - template: where.
    ///   - scope: what a key must be allowed to do.
    ///   - readsQuery: whether `respond` reads the query itself; else one with fields is refused here.
    ///   - respond: what is answered.
    /// - Returns: the route.
    func route(
        _ method: HTTPMethod,
        _ template: String,
        for scope: Scope,
        readsQuery: Bool = false,
        _ respond: @escaping Respond
    ) -> Route {
        Route(method, template) { request, path in
            switch await admit(request, scope) {
            case .failure(let refusal): return refusal.response
            case .success(let caller):
                return await answer(request, caller, readsQuery) { await respond(request, caller.app, path) }
            }
        }
    }

    /// A GET whose answer may go on for long after the key was looked at: it can ask whether that is in force still.
    func stream(_ template: String, for scope: Scope, _ respond: @escaping Follow) -> Route {
        Route(.get, template) { request, _ in
            switch await admit(request, scope) {
            case .failure(let refusal): return refusal.response
            case .success(let caller):
                let isInForce = keys.watch(KeyRing.bearer(request.fields.single("Authorization")) ?? [])
                return caller.ticket.mark(await respond(request, caller.app) { [clock] in isInForce(clock.now) })
            }
        }
    }

    /// Answers who may ask. A query that `respond` does not read is refused.
    private func answer(
        _ request: HTTPRequest,
        _ caller: Caller,
        _ readsQuery: Bool,
        _ respond: () async -> HTTPResponse
    ) async -> HTTPResponse {
        if !readsQuery, let refusal = QueryFields.refusal(of: request) { return caller.ticket.mark(refusal) }
        return caller.ticket.mark(await respond())
    }

    /// A GET about the customer in the path, by `id`: also an app may read what its own customer has.
    func customer(_ template: String, readsQuery: Bool = false, _ respond: @escaping Respond) -> Route {
        Route(.get, template) { request, path in
            switch await admit(request, .customer) {
            case .failure(let refusal): return refusal.response
            case .success(let caller):
                if let customer = path["id"].flatMap({ CustomerID($0) }), !mayAct(caller, for: customer) {
                    return caller.ticket.mark(Problem.customerToken())
                }
                return await answer(request, caller, readsQuery) { await respond(request, caller.app, path) }
            }
        }
    }

    /// A POST whose answer is one write: read, decided and kept in one commit, under the client's `Idempotency-Key` if it
    /// sends one.
    ///
    /// - Parameters:
    ///   - template: where.
    ///   - scope: what a key must be allowed to do.
    ///   - follow: what is done in this process once it is written; nothing after a problem.
    ///   - write: what is written, and answered.
    /// - Returns: the route.
    func change(
        _ template: String,
        for scope: Scope,
        then follow: @escaping @Sendable (PathParameters) -> Void = { _ in },
        _ write: @escaping Write
    ) -> Route {
        changeOnce(template, for: scope, then: follow) { change, transaction throws(StoreFailure) in
            Answer(try write(change, transaction))
        }
    }

    /// The same for an answer that holds what is shown only once.
    func changeOnce(
        _ template: String,
        for scope: Scope,
        then follow: @escaping @Sendable (PathParameters) -> Void = { _ in },
        _ write: @escaping WriteOnce
    ) -> Route {
        Route(.post, template) { request, path in
            switch await admit(request, scope) {
            case .failure(let refusal): return refusal.response
            case .success(let caller):
                let response = await change(request, path, caller, scope, write)
                if response.status.rawValue < 300 { follow(path) }
                return caller.ticket.mark(response)
            }
        }
    }

    private func change(
        _ request: HTTPRequest,
        _ path: PathParameters,
        _ caller: Caller,
        _ scope: Scope,
        _ write: @escaping WriteOnce
    ) async -> HTTPResponse {
        guard request.body.isEmpty || JSONBody.isAnnounced(by: request.fields) else {
            return Problem.unsupportedMediaType()
        }
        if let refusal = QueryFields.refusal(of: request) { return refusal }
        let header = Idempotency.read(request, holder: caller.key.holder)
        if case .invalid = header { return Idempotency.invalid }
        do throws(StoreFailure) {
            let response = try await store.write { transaction throws(StoreFailure) in
                let now = clock.now
                let change = Change(request: request, app: caller.app, key: caller.key, path: path, now: now)
                guard case .key(let idempotency) = header else { return try write(change, transaction).shown }
                return try idempotency.answer(in: transaction, at: now) { () throws(StoreFailure) in
                    try write(change, transaction)
                }
            }
            changed()
            // What was done is done, and is answered for: who cannot read it now does soon.
            if scope == .keys { try? await keys.reload(from: store, at: clock.now) }
            return response
        } catch {
            return Problem.store(error)
        }
    }

    /// What takes proofs and tells what became of them: for which customer the caller may speak, their bodies and rows say.
    func submission(
        _ method: HTTPMethod,
        _ template: String,
        readsQuery: Bool = false,
        _ respond: @escaping @Sendable (HTTPRequest, Caller, PathParameters) async -> HTTPResponse
    ) -> Route {
        Route(method, template) { request, path in
            switch await admit(request, .submit) {
            case .failure(let refusal): return refusal.response
            case .success(let caller):
                return await answer(request, caller, readsQuery) { await respond(request, caller, path) }
            }
        }
    }

    /// Whether a caller may speak for a customer, or for nobody.
    func mayAct(_ caller: Caller, for customer: CustomerID?) -> Bool {
        customers.admits(caller.key, for: customer, showing: caller.customerToken)
    }

    /// Why somebody is not let in.
    enum Refusal: Error {
        /// There is no such key.
        case unknown
        /// The keys are still to be read, or cannot be: it may be one.
        case notYet(StoreFailure)
        case tooOften(RateLimit.Ticket, wait: Duration)
        /// Too many keys that are none came from there.
        case tooManyUnknown(wait: Duration)
        case closed(RateLimit.Ticket, Scope)

        var response: HTTPResponse {
            switch self {
            case .unknown: Problem.unauthorized()
            case .notYet(let trouble): Problem.store(trouble)
            case .tooOften(let ticket, let wait):
                ticket.mark(
                    Problem.response(
                        .tooManyRequests,
                        code: "rate_limited",
                        detail: "More requests than this key may make.",
                        retryAfter: wait
                    )
                )
            case .tooManyUnknown(let wait):
                Problem.response(
                    .tooManyRequests,
                    code: "too_many_unknown_keys",
                    detail: "Too many requests without a known key came from this address.",
                    retryAfter: wait
                )
            case .closed(let ticket, let scope): ticket.mark(Problem.scope(scope))
            }
        }
    }

    private func admit(_ request: HTTPRequest, _ scope: Scope) async -> Result<Caller, Refusal> {
        await admit(KeyRing.bearer(request.fields.single("Authorization")), request, scope)
    }

    /// Lets somebody in whose key stands where another protocol has it.
    func admit(_ shown: [UInt8]?, _ request: HTTPRequest, _ scope: Scope) async -> Result<Caller, Refusal> {
        let (key, app): (APIKey, AppPolicy)
        switch await holder(of: shown, request) {
        case .success(let found): (key, app) = found
        case .failure(let refusal): return .failure(refusal)
        }
        let ticket = rate.take(key.holder)
        if let wait = ticket.wait { return .failure(.tooOften(ticket, wait: wait)) }
        guard key.opens(scope) else { return .failure(.closed(ticket, scope)) }
        let caller = Caller(
            app: key.environments.map(app.limited(to:)) ?? app,
            key: key,
            customerToken: request.fields.single(CustomerToken.field),
            ticket: ticket
        )
        return .success(caller)
    }

    private func holder(of shown: [UInt8]?, _ request: HTTPRequest) async -> Result<(APIKey, AppPolicy), Refusal> {
        let known = shown.flatMap { keys.key($0, at: clock.now) }
        if let known, let app = apps[known.holder.app] { return .success((known, app)) }
        guard keys.isComplete else { return .failure(.notYet(keys.trouble)) }
        // Who shows none tries none.
        guard let shown else { return .failure(.unknown) }
        // Counted before it is looked for: who tries many keys asks the ledger no oftener than an address may.
        if let wait = strangers.note(request.remote) { return .failure(.tooManyUnknown(wait: wait)) }
        do throws(StoreFailure) {
            guard known == nil, let found = try await keys.find(shown, in: store, at: clock.now),
                let app = apps[found.holder.app]
            else { return .failure(.unknown) }
            return .success((found, app))
        } catch {
            return .failure(.notYet(error))
        }
    }
}
