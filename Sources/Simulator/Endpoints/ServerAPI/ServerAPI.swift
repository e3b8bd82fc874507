package import Crypto
package import HTTP
import PurchaseModel

/// Apple's App Store Server API, answered by the simulated store.
///
/// Source: Apple, *App Store Server API* 1.22. Each endpoint is there three times: under `/production`, under
/// `/sandbox`, and under the bare path for requests to one of Apple's host names.
package struct ServerAPI: Sendable {
    /// What a deployment may set.
    package struct Options: Sendable {
        /// Whether Apple's hourly limits are enforced, by the real clock. Off, so that a test may ask as often as it
        /// likes.
        package var limitsRates = false
        /// How long a page of notifications may be continued, by the real clock. Apple names no figure.
        package var paginationLifetime: Duration = .seconds(86_400)
        /// What a good token gets whose `bid` is no app of the store: `nil` is 401. Both have been seen of Apple.
        package var foreignApp: ServerAPIError?
        /// What fails on purpose; asked before anything else is looked at.
        package var fault: @Sendable (HTTPRequest) -> ServerAPIError? = { _ in nil }

        package init() {}
    }

    let simulator: AppStoreSimulator
    let signer: StoreSigner
    let sent: SentNotices
    let options: Options
    let tokens: PageTokens
    private let limits = HourlyLimits()

    /// - Parameters:
    ///   - simulator: the store that answers.
    ///   - sent: what was sent to merchants, for the endpoints about notifications.
    ///   - options: what a deployment may set.
    /// - Throws: when the authority cannot make its keys.
    package init(
        _ simulator: AppStoreSimulator,
        sent: SentNotices,
        options: Options = Options()
    ) throws(CryptoError) {
        self.simulator = simulator
        self.sent = sent
        self.options = options
        signer = try StoreSigner(simulator.authority)
        tokens = PageTokens(key: Digest.sha256(try simulator.authority.chain(.jws).key.pem()))
    }

    /// For a `Router`.
    package var routes: [Route] {
        Endpoint.all.flatMap { endpoint in
            [
                Route(endpoint.method, "/production" + endpoint.path) { request, parameters in
                    respond(endpoint, .production, request, parameters)
                },
                Route(endpoint.method, "/sandbox" + endpoint.path) { request, parameters in
                    respond(endpoint, .sandbox, request, parameters)
                },
                Route(endpoint.method, endpoint.path) { request, parameters in
                    guard let environment = ServerAPI.environment(ofHost: request.fields.single("Host")) else {
                        return .problem(.notFound, code: "not_found")
                    }
                    return respond(endpoint, environment, request, parameters)
                },
            ]
        }
    }

    /// Apple's host names, those of before 2026 too, and the one that Apple's libraries use for local tests.
    static func environment(ofHost host: String?) -> StoreEnvironment? {
        switch AppleHost.name(inField: host) {
        case "api.storekit.apple.com", "api.storekit.itunes.apple.com": return .production
        case "api.storekit-sandbox.apple.com", "api.storekit-sandbox.itunes.apple.com", "local-testing-base-url":
            return .sandbox
        default: return nil
        }
    }

    private func respond(
        _ endpoint: Endpoint,
        _ environment: StoreEnvironment,
        _ request: HTTPRequest,
        _ parameters: PathParameters
    ) -> HTTPResponse {
        if let fault = options.fault(request) { return fault.response }
        let merchant: Merchant
        do throws(TokenFault) {
            merchant = try authorize(request)
        } catch {
            // Apple's 401 has no body.
            guard error == .foreignApp, let instead = options.foreignApp else { return HTTPResponse(.unauthorized) }
            return instead.response
        }
        if options.limitsRates {
            let wall = simulator.wallTime
            let bucket = HourlyLimits.Bucket(
                app: merchant.app.bundleID,
                environment: environment,
                endpoint: endpoint.name
            )
            if let until = limits.take(bucket, perSecond: endpoint.perSecond, at: wall) {
                var response = ServerAPIError.rateLimitExceeded.response
                response.fields["Retry-After"] = String(until.milliseconds)
                return response
            }
        }
        let call = MerchantCall(merchant, environment, request, parameters)
        do throws(ServerAPIError) {
            return try endpoint.answer(self)(call)
        } catch {
            return error.response
        }
    }
}
