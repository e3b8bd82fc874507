import Encoding
import HTTP

/// Asks an HTTP API of ours: a server's, or a running simulator's.
struct APIClient: Sendable {
    /// Whom it asks, in the words of its messages.
    enum Side: Sendable {
        case server, simulator

        var usualBase: String {
            switch self {
            case .server: "http://127.0.0.1:8080"
            case .simulator: "http://127.0.0.1:8081"
            }
        }

        /// In front of the paths.
        fileprivate var prefix: String { self == .server ? "" : "/simulator/v1" }
        fileprivate var noun: String { self == .server ? "server" : "simulator" }
        fileprivate var name: String { self == .server ? "Assay" : "simulator" }
        fileprivate var start: String { self == .server ? "assay serve" : "assay simulate" }
        fileprivate var flag: String { self == .server ? "--server" : "--at" }
    }

    enum Fault: Error, CustomStringConvertible {
        case unreachable(Side, base: String, HTTPCallFailure)
        /// Something else answers there.
        case foreign(Side, base: String, status: Int)
        /// It understood and will not, or has no such thing.
        case refused(code: String, detail: String)
        /// It is in trouble, or was asked too often: later it may do. With how long to wait, if it says so.
        case troubled(HTTPStatus, code: String, detail: String, retryAfter: Duration?)
        /// What was asked is no request.
        case invalid(String)

        var description: String {
            switch self {
            case .unreachable(let side, let base, .unreachable):
                "no \(side.noun) answers at \(base); start one with \"\(side.start)\", or name another with \(side.flag)"
            case .unreachable(_, let base, .unresolved): "nobody knows the address of \(base)"
            case .unreachable(let side, let base, .invalidCall):
                "\(side.flag) \(base) is no URL such as \(side.usualBase)"
            case .unreachable(let side, let base, let failure):
                "the \(side.noun) at \(base) cannot be asked: \(failure)"
            case .foreign(let side, let base, let status): "what answers at \(base) is no \(side.name) (HTTP \(status))"
            case .refused(let code, let detail), .troubled(_, let code, let detail, _): "\(code): \(detail)"
            case .invalid(let detail): detail
            }
        }

        var exitCode: Int32 {
            switch self {
            case .refused, .troubled: 1
            case .unreachable, .foreign, .invalid: 2
            }
        }

        /// Whether a change may be done for which this came instead of its answer.
        var mayBeDone: Bool {
            switch self {
            case .unreachable(_, _, let failure):
                // Of these nothing was sent.
                ![.unreachable, .unresolved, .addressRefused, .invalidCall, .tooManyCalls].contains(failure)
            // Such as a proxy, which has lost what the server said.
            case .foreign(_, _, let status): !(400...499).contains(status)
            case .troubled(let status, _, _, _): status != .tooManyRequests
            case .refused, .invalid: false
            }
        }

        /// Whether the same may be answered by and by: the server is started again, say.
        var mayPass: Bool {
            switch self {
            case .unreachable(_, _, let failure): failure.isRetryable
            case .foreign, .troubled: true
            case .refused, .invalid: false
            }
        }

        /// How long the server wants not to be asked.
        var retryAfter: Duration? {
            if case .troubled(_, _, _, let duration) = self { duration } else { nil }
        }
    }

    /// What came back.
    struct Answer: Sendable {
        let body: [UInt8]
        /// Nil without a body, and for one that is longer than we read.
        let json: JSONObject?
    }

    private let side: Side
    private let base: String
    private let key: String?
    private let caller: HTTPCaller

    /// - Parameters:
    ///   - side: whom it asks.
    ///   - base: its URL; the usual one if nil.
    ///   - key: what opens it, if it is locked.
    ///   - caller: sends what is asked.
    init(_ side: Side, at base: String?, key: String? = nil, caller: HTTPCaller) {
        self.side = side
        let base = base ?? side.usualBase
        self.base = base.hasSuffix("/") ? String(base.dropLast()) : base
        self.key = key
        self.caller = caller
    }

    /// Asks, and takes nothing but success.
    ///
    /// - Parameters:
    ///   - method: of the request.
    ///   - path: its parts escaped; of the simulator's, what is below `/simulator/v1`.
    ///   - body: JSON, if any.
    ///   - idempotency: the request's name, under which it is done once.
    /// - Returns: the answer.
    /// - Throws: ``Fault``.
    func ask(
        _ method: HTTPMethod,
        _ path: String,
        _ body: [UInt8] = [],
        idempotency: String? = nil
    ) async throws(Fault) -> Answer {
        var call = HTTPCall(method: method, url: base + side.prefix + path, body: body)
        if !body.isEmpty { call.fields["Content-Type"] = "application/json" }
        if let key { call.fields["Authorization"] = "Bearer \(key)" }
        if let idempotency { call.fields["Idempotency-Key"] = idempotency }
        let response: HTTPResponse
        do throws(HTTPCallFailure) { response = try await caller.send(call) } catch {
            throw .unreachable(side, base: base, error)
        }
        let json = try? JSONDocument(response.body).root.object
        let isOurs = response.body.isEmpty || response.fields["Content-Type"] == "application/json"
        if (200...299).contains(response.status.rawValue), isOurs { return Answer(body: response.body, json: json) }
        guard let code = json?["code"]?.string, let detail = json?["detail"]?.string else {
            throw .foreign(side, base: base, status: response.status.rawValue)
        }
        let status = response.status
        if status == .badRequest { throw .invalid(detail) }
        guard status.rawValue >= 500 || status == .requestTimeout || status == .tooManyRequests else {
            throw .refused(code: code, detail: detail)
        }
        let seconds = response.fields["Retry-After"].flatMap { Int64($0) }.map { Duration.seconds($0) }
        throw .troubled(status, code: code, detail: detail, retryAfter: seconds)
    }
}
