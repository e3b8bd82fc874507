import HTTP
import Pipeline
import PurchaseModel

/// Lets in who holds a key, within the rate, for the one app that the key is for.
struct Gate: Sendable {
    typealias Respond = @Sendable (HTTPRequest, AppPolicy, PathParameters) async -> HTTPResponse

    private let keys: KeyRing
    private let apps: [AppID: AppPolicy]
    private let rate: RateLimit

    init(keys: KeyRing, apps: [AppPolicy], rate: RateLimit) {
        self.keys = keys
        self.apps = Dictionary(apps.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        self.rate = rate
    }

    /// A route that only a key's holder reaches.
    func route(_ method: HTTPMethod, _ template: String, _ respond: @escaping Respond) -> Route {
        Route(method, template) { request, path in
            let authorization = request.fields.single("Authorization")
            guard let holder = keys.holder(authorization: authorization), let app = apps[holder.app] else {
                return Problem.unauthorized()
            }
            if let wait = rate.take(holder) {
                return Problem.response(
                    .tooManyRequests,
                    code: "rate_limited",
                    detail: "More requests than this key may make.",
                    retryAfter: wait
                )
            }
            return await respond(request, app, path)
        }
    }
}
