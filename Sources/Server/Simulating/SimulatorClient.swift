import Encoding
import HTTP

/// Speaks to the control API of a running simulator.
struct SimulatorClient: Sendable {
    static let usualBase = "http://127.0.0.1:8081"

    enum Fault: Error, CustomStringConvertible {
        case unreachable(base: String, HTTPCallFailure)
        /// Something else answers there.
        case foreign(base: String, status: Int)
        /// The store understood and will not, or has no such thing.
        case refused(code: String, detail: String)
        /// What was asked is no request.
        case invalid(String)

        var description: String {
            switch self {
            case .unreachable(let base, .unreachable):
                "no simulator answers at \(base); start one with \"assay simulate\", or name another with --at"
            case .unreachable(let base, .unresolved): "nobody knows the address of \(base)"
            case .unreachable(let base, .invalidCall): "--at \(base) is no URL such as \(usualBase)"
            case .unreachable(let base, let failure): "the simulator at \(base) cannot be asked: \(failure)"
            case .foreign(let base, let status): "what answers at \(base) is no simulator (HTTP \(status))"
            case .refused(let code, let detail): "\(code): \(detail)"
            case .invalid(let detail): detail
            }
        }

        var exitCode: Int32 {
            if case .refused = self { 1 } else { 2 }
        }
    }

    /// What came back.
    struct Answer: Sendable {
        let body: [UInt8]
        /// Nil without a body, and for one that is longer than we read.
        let json: JSONObject?
    }

    private let base: String
    private let caller: HTTPCaller

    /// - Parameters:
    ///   - base: the URL in front of `/simulator/v1`.
    ///   - caller: sends what is asked.
    init(base: String, caller: HTTPCaller) {
        self.base = base.hasSuffix("/") ? String(base.dropLast()) : base
        self.caller = caller
    }

    /// Asks, and takes nothing but success.
    ///
    /// - Parameters:
    ///   - method: of the request.
    ///   - path: below `/simulator/v1`, its parts escaped.
    ///   - body: JSON, if any.
    /// - Returns: the answer.
    /// - Throws: ``Fault``.
    func ask(_ method: HTTPMethod, _ path: String, _ body: [UInt8] = []) async throws(Fault) -> Answer {
        let response: HTTPResponse
        do throws(HTTPCallFailure) {
            response = try await caller.send(
                HTTPCall(
                    method: method,
                    url: "\(base)/simulator/v1\(path)",
                    fields: body.isEmpty ? [:] : ["Content-Type": "application/json"],
                    body: body
                )
            )
        } catch {
            throw .unreachable(base: base, error)
        }
        let json = try? JSONDocument(response.body).root.object
        let isOurs = response.body.isEmpty || response.fields["Content-Type"] == "application/json"
        if (200...299).contains(response.status.rawValue), isOurs { return Answer(body: response.body, json: json) }
        guard let code = json?["code"]?.string, let detail = json?["detail"]?.string else {
            throw .foreign(base: base, status: response.status.rawValue)
        }
        throw response.status == .badRequest ? .invalid(detail) : .refused(code: code, detail: detail)
    }
}
