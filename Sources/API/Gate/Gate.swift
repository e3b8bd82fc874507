import HTTP
import Pipeline
import PurchaseModel
import Storage

/// Lets in who holds a key, within the rate, for the one app that the key is for and for what it may do.
struct Gate: Sendable {
    typealias Respond = @Sendable (HTTPRequest, AppPolicy, PathParameters) async -> HTTPResponse
    typealias Write = @Sendable (Change, any StoreTransaction) throws(StoreFailure) -> HTTPResponse
    typealias WriteOnce = @Sendable (Change, any StoreTransaction) throws(StoreFailure) -> Answer

    /// A request that changes something, who asks, and when it came.
    struct Change: Sendable {
        let request: HTTPRequest
        let app: AppPolicy
        let key: APIKey
        let path: PathParameters
        let now: Timestamp

        /// The name of the key, as it is kept with what was done.
        var actor: String { key.holder.name }
    }

    /// An answer, and what the same request gets again under its `Idempotency-Key`.
    struct Answer: Sendable {
        let shown: HTTPResponse
        let kept: HTTPResponse
    }

    /// Who calls.
    struct Caller: Sendable {
        /// With no more stores than the key may bring proofs of.
        let app: AppPolicy
        let key: APIKey
        /// Shows for which customer a publishable key speaks.
        let customerToken: String?
    }

    private let keys: KeyRing
    private let customers: CustomerToken
    private let apps: [AppID: AppPolicy]
    private let rate: RateLimit
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
    }

    /// A route that only who holds such a key reaches.
    func route(_ method: HTTPMethod, _ template: String, for scope: Scope, _ respond: @escaping Respond) -> Route {
        Route(method, template) { request, path in
            switch admit(request, scope) {
            case .failure(let refusal): refusal.response
            case .success(let caller): await respond(request, caller.app, path)
            }
        }
    }

    /// A GET about the customer in the path, by `id`: also an app may read what its own customer has.
    func customer(_ template: String, _ respond: @escaping Respond) -> Route {
        Route(.get, template) { request, path in
            switch admit(request, .customer) {
            case .failure(let refusal): return refusal.response
            case .success(let caller):
                if let customer = path["id"].flatMap({ CustomerID($0) }), !mayAct(caller, for: customer) {
                    return Problem.customerToken()
                }
                return await respond(request, caller.app, path)
            }
        }
    }

    /// A POST whose answer is one write: read, decided and kept in one commit, under the client's `Idempotency-Key` if it
    /// sends one.
    func change(_ template: String, for scope: Scope, _ write: @escaping Write) -> Route {
        changeOnce(template, for: scope) { change, transaction throws(StoreFailure) in
            let response = try write(change, transaction)
            return Answer(shown: response, kept: response)
        }
    }

    /// The same for an answer that holds what is shown only once.
    func changeOnce(_ template: String, for scope: Scope, _ write: @escaping WriteOnce) -> Route {
        Route(.post, template) { request, path in
            let caller: Caller
            switch admit(request, scope) {
            case .failure(let refusal): return refusal.response
            case .success(let admitted): caller = admitted
            }
            guard request.body.isEmpty || JSONBody.isAnnounced(by: request.fields) else {
                return Problem.unsupportedMediaType()
            }
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
                if scope == .keys { try await keys.reload(from: store, at: clock.now) }
                return response
            } catch {
                return Problem.store(error)
            }
        }
    }

    /// The POST that takes proofs: its answers are kept with what they record.
    func submit(
        _ template: String,
        _ respond: @escaping @Sendable (HTTPRequest, Caller) async -> HTTPResponse
    ) -> Route {
        Route(.post, template) { request, _ in
            switch admit(request, .submit) {
            case .failure(let refusal): refusal.response
            case .success(let caller): await respond(request, caller)
            }
        }
    }

    /// Whether a caller may speak for a customer.
    func mayAct(_ caller: Caller, for customer: CustomerID) -> Bool {
        customers.admits(caller.key, for: customer, showing: caller.customerToken)
    }

    private struct Refusal: Error {
        let response: HTTPResponse
    }

    private func admit(_ request: HTTPRequest, _ scope: Scope) -> Result<Caller, Refusal> {
        let authorization = request.fields.single("Authorization")
        guard let key = keys.key(authorization: authorization, at: clock.now), let app = apps[key.holder.app] else {
            return .failure(Refusal(response: keys.isComplete ? Problem.unauthorized() : Problem.store(.busy)))
        }
        if let wait = rate.take(key.holder) {
            let response = Problem.response(
                .tooManyRequests,
                code: "rate_limited",
                detail: "More requests than this key may make.",
                retryAfter: wait
            )
            return .failure(Refusal(response: response))
        }
        guard key.opens(scope) else { return .failure(Refusal(response: Problem.scope(scope))) }
        let caller = Caller(
            app: key.environments.map(app.limited(to:)) ?? app,
            key: key,
            customerToken: request.fields.single(CustomerToken.field)
        )
        return .success(caller)
    }
}
