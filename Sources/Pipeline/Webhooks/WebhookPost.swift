import Crypto
package import HTTP
package import PurchaseModel
package import Storage

/// One request to an endpoint: signs it, sends it, and says what came of it.
package struct WebhookPost: Sendable {
    /// What came of one request.
    package struct Result: Sendable {
        package let verdict: WebhookVerdict
        /// False when there was no room for the call, and nothing left this process.
        package let isSent: Bool
        package let beganAt: Timestamp
        package let duration: Duration
        package let status: Int?
        /// The word for why there is no answer.
        package let failure: String?
        /// The address that answered.
        package let address: String?
        /// The answer's beginning.
        package let answer: ArraySlice<UInt8>

        /// As it is kept; `nil` where nothing was sent.
        func attempt(number: Int64) -> WebhookAttempt? {
            guard isSent else { return nil }
            return WebhookAttempt(
                number: number,
                beganAt: beganAt,
                milliseconds: Int(duration / .milliseconds(1)),
                status: status,
                failure: failure,
                address: address,
                answer: answer
            )
        }
    }

    private let caller: HTTPCaller
    private let clock: any WallClock
    private let rule: EgressRule

    /// - Parameters:
    ///   - caller: sends; made with `CallerSettings.outward` of the same rule.
    ///   - clock: tells the time of an attempt.
    ///   - rule: which URLs may be called.
    package init(caller: HTTPCaller, clock: any WallClock, rule: EgressRule) {
        self.caller = caller
        self.clock = clock
        self.rule = rule
    }

    /// Sends one message once.
    package func send(_ body: [UInt8], id: WebhookMessageID, to endpoint: WebhookEndpoint) async -> Result {
        let began = clock.now
        func result(
            _ verdict: WebhookVerdict,
            _ failure: String? = nil,
            isSent: Bool = true,
            answer: HTTPResponse? = nil
        ) -> Result {
            let duration = max(.zero, began.duration(to: clock.now))
            let address = answer.flatMap { $0.remote == .none ? nil : $0.remote.description }
            return Result(
                verdict: verdict,
                isSent: isSent,
                beganAt: began,
                duration: duration,
                status: answer?.status.rawValue,
                failure: failure,
                address: address,
                answer: answer?.body.prefix(WebhookAttempt.answerBytesMax) ?? []
            )
        }
        do throws(EgressURLFault) { try rule.check(url: endpoint.url) } catch {
            return result(.failed(nil), "url_\(error.rawValue)")
        }
        let keys = endpoint.signingKey.flatMap(WebhookSigningKey.init(kept:)).map { [$0] } ?? []
        let signed = Swift.Result { () throws(CryptoError) in
            try WebhookSignature.headers(id: id, timestamp: began, body: body, secrets: endpoint.secrets, keys: keys)
        }
        guard case .success(var fields) = signed else { return result(.failed(nil), "not_signed") }
        fields["Content-Type"] = "application/json"
        fields["User-Agent"] = "Assay"
        do throws(HTTPCallFailure) {
            let call = HTTPCall(method: .post, url: endpoint.url, fields: fields, body: body)
            let answer = try await caller.send(call)
            return result(WebhookVerdict(answer, at: clock.now), answer: answer)
        } catch {
            return result(WebhookVerdict(error), error.word, isSent: error != .tooManyCalls)
        }
    }
}

extension HTTPCallFailure {
    /// Stands in logs of attempts.
    fileprivate var word: String {
        switch self {
        case .invalidCall: "invalid_call"
        case .unresolved: "name_not_resolved"
        case .unreachable: "connection_refused"
        case .addressRefused: "address_not_allowed"
        case .timedOut: "timed_out"
        case .tls: "tls_failed"
        case .noResponse: "no_response"
        case .closedEarly: "closed_early"
        case .connectionLost: "connection_lost"
        case .malformedResponse: "malformed_response"
        case .tooLarge: "response_too_large"
        case .tooManyRedirects: "too_many_redirects"
        case .proxy: "proxy_failed"
        case .tooManyCalls: "too_many_calls"
        case .cancelled: "cancelled"
        case .other(let code): "transport_error_\(code)"
        }
    }
}
