import HTTP
import Pipeline
import PurchaseModel
import Storage

/// Lets in who holds a key, within the rate, for the one app that the key is for.
struct Gate: Sendable {
    typealias Respond = @Sendable (HTTPRequest, AppPolicy, PathParameters) async -> HTTPResponse
    typealias Write = @Sendable (Change, any StoreTransaction) throws(StoreFailure) -> HTTPResponse

    /// A request that changes something, and when it came.
    struct Change: Sendable {
        let request: HTTPRequest
        let app: AppPolicy
        let path: PathParameters
        let now: Timestamp
    }

    private let keys: KeyRing
    private let apps: [AppID: AppPolicy]
    private let rate: RateLimit
    private let store: any Store
    private let clock: any WallClock
    private let changed: @Sendable () -> Void

    /// - Parameters:
    ///   - keys: who may come in.
    ///   - apps: which apps there are.
    ///   - rate: how often.
    ///   - store: where changes are written.
    ///   - clock: dates them.
    ///   - changed: called after each.
    init(
        keys: KeyRing,
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
        self.apps = Dictionary(apps.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        self.rate = rate
    }

    /// A route that only a key's holder reaches.
    func route(_ method: HTTPMethod, _ template: String, _ respond: @escaping Respond) -> Route {
        Route(method, template) { request, path in
            switch admit(request) {
            case .failure(let refusal): refusal.response
            case .success(let caller): await respond(request, caller.app, path)
            }
        }
    }

    /// A POST whose answer is one write: read, decided and kept in one commit, under the client's `Idempotency-Key` if it
    /// sends one.
    func change(_ template: String, _ write: @escaping Write) -> Route {
        Route(.post, template) { request, path in
            let caller: Caller
            switch admit(request) {
            case .failure(let refusal): return refusal.response
            case .success(let admitted): caller = admitted
            }
            guard request.body.isEmpty || JSONBody.isAnnounced(by: request.fields) else {
                return Problem.unsupportedMediaType()
            }
            let header = Idempotency.read(request, holder: caller.holder)
            if case .invalid = header { return Idempotency.invalid }
            do throws(StoreFailure) {
                let response = try await store.write { transaction throws(StoreFailure) in
                    let now = clock.now
                    let change = Change(request: request, app: caller.app, path: path, now: now)
                    guard case .key(let idempotency) = header else { return try write(change, transaction) }
                    return try idempotency.answer(in: transaction, at: now) { () throws(StoreFailure) in
                        try write(change, transaction)
                    }
                }
                changed()
                return response
            } catch {
                return Problem.store(error)
            }
        }
    }

    /// The POST that takes proofs: its answers are kept with what they record.
    func submit(
        _ template: String,
        _ respond: @escaping @Sendable (HTTPRequest, AppPolicy, KeyRing.Holder) async -> HTTPResponse
    ) -> Route {
        Route(.post, template) { request, _ in
            switch admit(request) {
            case .failure(let refusal): refusal.response
            case .success(let caller): await respond(request, caller.app, caller.holder)
            }
        }
    }

    private struct Caller {
        let app: AppPolicy
        let holder: KeyRing.Holder
    }

    private struct Refusal: Error {
        let response: HTTPResponse
    }

    private func admit(_ request: HTTPRequest) -> Result<Caller, Refusal> {
        let authorization = request.fields.single("Authorization")
        guard let holder = keys.holder(authorization: authorization), let app = apps[holder.app] else {
            return .failure(Refusal(response: Problem.unauthorized()))
        }
        if let wait = rate.take(holder) {
            let response = Problem.response(
                .tooManyRequests,
                code: "rate_limited",
                detail: "More requests than this key may make.",
                retryAfter: wait
            )
            return .failure(Refusal(response: response))
        }
        return .success(Caller(app: app, holder: holder))
    }
}
