import AppleFormats
import Encoding
import HTTP
package import PurchaseModel
package import Verification

/// Apple's App Store Server API, for one app.
///
/// Whatever Apple signed in an answer has been verified for this app and store before it leaves; an answer in which one
/// signature does not verify fails as a whole. Nothing waits and nothing is repeated, save once after a clock was found
/// wrong: who calls learns when to ask again.
/// ```swift
/// let client = AppStoreServerClient(app: credentials, line: line, verifier: verifier)
/// for try await page in client.history(of: id) { record(page.transactions, upTo: page.revision) }
/// ```
package struct AppStoreServerClient: Sendable {
    package let app: AppCredentials
    let line: AppleLine
    private let verifier: Verifier
    private let hosts: AppStoreHosts
    private let tokens: BearerTokens?
    /// Apple's own libraries wait no longer.
    private let timeout: Duration

    /// - Parameters:
    ///   - app: whose purchases are asked about; without a key every call fails as ``AppStoreFailure/notConfigured``.
    ///   - line: what everything in the process calls Apple through.
    ///   - verifier: what proves the answers.
    ///   - hosts: Apple's, or the simulator's.
    ///   - timeout: for one request.
    package init(
        app: AppCredentials,
        line: AppleLine,
        verifier: Verifier,
        hosts: AppStoreHosts = .apple,
        timeout: Duration = .seconds(30)
    ) {
        self.app = app
        self.line = line
        self.verifier = verifier
        self.hosts = hosts
        self.timeout = timeout
        tokens = app.key.map { BearerTokens(app.bundleID, $0) }
    }

    /// Whether Apple, or the app's key, fails just now: whoever can wait, waits, and what needs no Apple goes on.
    package func isResting(in store: StoreEnvironment) -> Bool {
        let lane = AppleLane(app: app.bundleID, store: store, endpoint: ServerEndpoint.statuses.name, perSecond: 1)
        return line.isResting(lane, at: hosts.serverAPI(store))
    }

    /// One request as its endpoint wants it.
    struct Request: Sendable {
        var endpoint: ServerEndpoint
        var segments: [String] = []
        var query: [(name: String, value: String)] = []
        var body: [UInt8]?
        var urgency = AppleUrgency.awaited
    }

    /// Sends a request; after a 401 once more, if Apple's clock showed that ours is wrong.
    func send<Answer: Sendable>(
        _ request: Request,
        in store: StoreEnvironment,
        read: @Sendable (HTTPResponse) throws(AppStoreFailure) -> Answer
    ) async throws(AppStoreFailure) -> Answer {
        guard let tokens else { throw .notConfigured }
        let skew = tokens.skew
        do throws(AppStoreFailure) {
            return try await sendOnce(request, in: store, tokens, read: read)
        } catch {
            // Somebody else may have learned of it meanwhile.
            guard error == .unauthorized, tokens.skew != skew else { throw error }
            return try await sendOnce(request, in: store, tokens, read: read)
        }
    }

    private func sendOnce<Answer: Sendable>(
        _ request: Request,
        in store: StoreEnvironment,
        _ tokens: BearerTokens,
        read: (HTTPResponse) throws(AppStoreFailure) -> Answer
    ) async throws(AppStoreFailure) -> Answer {
        let token = try tokens.token(at: line.now)
        var call = HTTPCall(
            method: request.endpoint.method,
            url: hosts.serverAPI(store) + request.endpoint.path(request.segments) + PercentCoding.query(request.query),
            fields: ["Authorization": "Bearer " + token, "Accept": "application/json", "User-Agent": "assay"],
            timeout: timeout
        )
        if let body = request.body {
            call.fields["Content-Type"] = "application/json"
            call.body = body
        }
        let endpoint = request.endpoint
        let lane = AppleLane(
            app: app.bundleID,
            store: store,
            endpoint: endpoint.name,
            perSecond: endpoint.perSecond
        )
        return try await line.send(call, on: lane, for: request.urgency) { received throws(AppStoreFailure) in
            if received.response.status == .unauthorized {
                if let date = received.date, let skew = tokens.learn(date, at: received.receivedAt) {
                    line.tell(.clockSkew(skew))
                }
                throw .unauthorized
            }
            if let failure = ServerAnswers.failure(in: received.response) { throw failure }
            return try read(received.response)
        }
    }

    /// Sends a request whose answer is one of Apple's objects.
    func answer<Model: ServerAnswerModel>(
        _ request: Request,
        in store: StoreEnvironment,
        as model: Model.Type
    ) async throws(AppStoreFailure) -> Model {
        try await send(request, in: store) { response throws(AppStoreFailure) in
            try ServerAnswers.read(response, as: model)
        }
    }

    /// Sends a request that Apple answers without a body.
    func tell(_ request: Request, in store: StoreEnvironment) async throws(AppStoreFailure) {
        let status = request.endpoint.success
        try await send(request, in: store) { response throws(AppStoreFailure) in
            try ServerAnswers.expectNothing(in: response, status)
        }
    }

    /// Where an id is from is not to be seen of it: production is asked first, the sandbox when production does not have it. An
    /// app that was never released gets 401 from production: then only what is found in the sandbox counts, and else what
    /// production said stands. Any other failure is no reason to look there.
    func find<Found>(
        _ store: StoreEnvironment?,
        _ look: (StoreEnvironment) async throws(AppStoreFailure) -> Found
    ) async throws(AppStoreFailure) -> Found {
        if let store { return try await look(store) }
        do throws(AppStoreFailure) {
            return try await look(.production)
        } catch {
            if error == .refused(.transactionNotFound) { return try await look(.sandbox) }
            guard mayBeUnreleased(error) else { throw error }
            let production = error
            do throws(AppStoreFailure) { return try await look(.sandbox) } catch {
                throw error.saysNothing ? error : production
            }
        }
    }

    /// Whether it may be that the app has no release yet, and not only that its key is wrong: 401, or that after some of them
    /// nothing is sent for a while.
    private func mayBeUnreleased(_ failure: AppStoreFailure) -> Bool {
        switch failure {
        case .unauthorized: true
        case .resting: line.keyRests(of: app.bundleID, in: .production)
        default: false
        }
    }

    /// Proves one signed text of an answer, for this app and store, and that it is what belongs in its place.
    func prove(
        _ text: String,
        _ format: ProofFormat,
        from store: StoreEnvironment,
        _ endpoint: ServerEndpoint
    ) throws(AppStoreFailure) -> Verified<Proof> {
        let expecting = Expectation(bundleID: app.bundleID, appleID: app.appleID, environments: [store])
        let found = verifier.examine(Array(text.utf8), expecting: expecting)
        var (reason, detail) = (found.report.reason, found.report.detail)
        if let proof = found.proof {
            if found.report.format == format { return proof }
            (reason, detail) = (.nestedMismatch, "\(found.report.format.rawValue) in the place of \(format.rawValue)")
        }
        let lane = AppleLane(app: app.bundleID, store: store, endpoint: endpoint.name, perSecond: endpoint.perSecond)
        line.tell(.untrusted(lane, reason))
        throw .untrusted(reason, detail: detail)
    }

    func prove(
        _ texts: [String],
        _ format: ProofFormat,
        from store: StoreEnvironment,
        _ endpoint: ServerEndpoint
    ) throws(AppStoreFailure) -> [Verified<Proof>] {
        var proofs: [Verified<Proof>] = []
        for text in texts { proofs.append(try prove(text, format, from: store, endpoint)) }
        return proofs
    }
}

/// Answers and errors as bytes.
enum ServerAnswers {
    /// What an answer without success says; `nil` for a success. 401 and 429 are looked at before.
    static func failure(in response: HTTPResponse) -> AppStoreFailure? {
        let status = response.status
        guard !(200...299).contains(status.rawValue) else { return nil }
        if let document = try? JSONDocument(response.body, limits: limits),
            let error = try? ServerErrorAnswer(document),
            let code = Int(exactly: error.errorCode)
        {
            return .refused(AppleErrorCode(rawValue: code))
        }
        return status.rawValue >= 500 ? .unavailable(status) : .unexpected(status)
    }

    static func read<Model: ServerAnswerModel>(
        _ response: HTTPResponse,
        as model: Model.Type
    ) throws(AppStoreFailure) -> Model {
        guard let document = try? JSONDocument(response.body, limits: limits) else {
            throw .unreadable(UnreadableAnswer(of: response.body), response.status)
        }
        do throws(FormatFault) {
            return try Model(document)
        } catch {
            throw .unreadable(.shape, response.status)
        }
    }

    /// An answer that says yes by its status alone: a page of somebody else's, with a status like it, says nothing. What
    /// Apple may add one day is JSON.
    static func expectNothing(in response: HTTPResponse, _ status: HTTPStatus) throws(AppStoreFailure) {
        guard response.status == status else { throw .unreadable(.status, response.status) }
        let found = UnreadableAnswer(of: response.body)
        guard found == .empty || (try? JSONDocument(response.body, limits: limits)) != nil else {
            throw .unreadable(found, response.status)
        }
    }

    /// Apple's libraries read one MiB.
    private static let limits = JSONLimits(bytesMax: 8 << 20, depthMax: 16)
}

extension AppStoreFailure {
    /// Whether it only says to ask again.
    fileprivate var saysNothing: Bool {
        switch self {
        case .throttled, .unreachable: true
        default: isOutage
        }
    }
}
