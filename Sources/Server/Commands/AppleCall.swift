import Encoding
import Foundation
import HTTP

/// `assay apple …`: hands a question for Apple to a running server, and waits for what comes of it.
struct AppleCall {
    static let usualBase = "http://127.0.0.1:8080"
    private static let usualWait = 60
    private static let waitMax = 86_400

    enum Fault: Error, CustomStringConvertible {
        case unreachable(base: String, HTTPCallFailure)
        /// Something else answers there.
        case foreign(base: String, status: Int)
        /// The server understood, and will not.
        case refused(code: String, detail: String)

        var description: String {
            switch self {
            case .unreachable(let base, let failure): "the server at \(base) cannot be asked: \(failure)"
            case .foreign(let base, let status): "what answers at \(base) is no Assay (HTTP \(status))"
            case .refused(let code, let detail): "\(code): \(detail)"
            }
        }

        var exitCode: Int32 {
            if case .refused = self { 1 } else { 2 }
        }
    }

    private let base: String
    private let key: String
    private let wait: Int
    private let arguments: Arguments
    private let caller: HTTPCaller

    private init(_ arguments: Arguments, _ environment: [String: String]) throws(UsageFault) {
        self.arguments = arguments
        let base = arguments.value("at") ?? Self.usualBase
        self.base = base.hasSuffix("/") ? String(base.dropLast()) : base
        key = try Self.key(arguments, environment)
        wait = try Self.whole(arguments.value("wait"), "wait", 0...Self.waitMax) ?? Self.usualWait
        caller = CurlCaller(CallerSettings()).caller
    }

    private static func key(_ arguments: Arguments, _ environment: [String: String]) throws(UsageFault) -> String {
        guard let path = arguments.value("key-file") else {
            guard let key = environment["ASSAY_KEY"] else {
                throw UsageFault("the app's key is missing", hint: "name its file with --key-file, or set ASSAY_KEY")
            }
            return key
        }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw UsageFault("\(path) cannot be read")
        }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func whole(
        _ text: String?,
        _ flag: String,
        _ range: ClosedRange<Int>
    ) throws(UsageFault) -> Int? {
        guard let text else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw UsageFault("--\(flag) is a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Runs the command of this name.
    ///
    /// - Parameters:
    ///   - name: with `apple ` in front.
    ///   - arguments: what follows it.
    ///   - environment: may hold the key.
    /// - Returns: 0 when it was done, 1 when somebody says no, 2 when nobody could be asked, 3 when it goes on.
    /// - Throws: ``UsageFault``.
    static func run(
        _ name: String,
        _ arguments: Arguments,
        _ environment: [String: String]
    ) async throws(UsageFault) -> Int32 {
        let call = try AppleCall(arguments, environment)
        let request = try call.request(name)
        do throws(Fault) {
            return try await call.answer(to: request)
        } catch {
            Console.error("assay \(name): \(ReportText.printable("\(error)"))")
            return error.exitCode
        }
    }

    /// What to send, and where; `nil` body for a question that was asked before.
    private func request(_ name: String) throws(UsageFault) -> (path: String, body: [UInt8]?) {
        let word = PercentCoding.encode(arguments.positionals[0])
        switch name {
        case "apple order": return ("/v1/apple/orders/\(word)/lookup", Array("{}".utf8))
        case "apple extend": return ("/v1/apple/subscriptions/\(word)/extend", try extensionBody())
        case "apple extend-all":
            return ("/v1/apple/subscriptions/extend", try extensionBody(of: arguments.positionals[0]))
        case "apple set-token":
            let body = JSONWriter.object { json in
                json.member("app_account_token", arguments.positionals[0])
                json.member("environment", arguments.value("environment"))
            }
            switch (arguments.value("transaction"), arguments.value("customer")) {
            case (let id?, nil): return ("/v1/apple/transactions/\(PercentCoding.encode(id))/account-token", body)
            case (nil, let id?): return ("/v1/apple/customers/\(PercentCoding.encode(id))/account-token", body)
            default: throw UsageFault("--transaction or --customer is needed, and not both")
            }
        default: return ("/v1/apple/requests/\(word)", nil)
        }
    }

    private func extensionBody(of product: String? = nil) throws(UsageFault) -> [UInt8] {
        guard let days = try Self.whole(arguments.value("days"), "days", 1...90) else {
            throw UsageFault("--days is missing")
        }
        return JSONWriter.object { json in
            json.member("product_id", product)
            json.member("days", days)
            json.member("reason", arguments.value("reason"))
            json.member("environment", arguments.value("environment"))
            if let storefronts = arguments.value("storefronts") {
                json.array("storefronts") { json in
                    for country in storefronts.split(separator: ",") { json.element(String(country)) }
                }
            }
        }
    }

    private func answer(to request: (path: String, body: [UInt8]?)) async throws(Fault) -> Int32 {
        var body = try await send(request.path, request.body)
        var waited = 0
        while true {
            guard let json = try? JSONDocument(body).root.object, let id = json["id"]?.string else {
                throw .foreign(base: base, status: 200)
            }
            let state = json["state"]?.string ?? ""
            guard state == "waiting", waited < wait else {
                show(json, body)
                return state == "done" ? 0 : state == "waiting" ? 3 : 1
            }
            try? await Task.sleep(for: .seconds(1))
            waited += 1
            body = try await send("/v1/apple/requests/\(id)", nil)
        }
    }

    private func send(_ path: String, _ body: [UInt8]?) async throws(Fault) -> [UInt8] {
        var call = HTTPCall(method: body == nil ? .get : .post, url: base + path)
        call.fields = ["Authorization": "Bearer \(key)"]
        if let body {
            call.fields["Content-Type"] = "application/json"
            call.body = body
        }
        let response: HTTPResponse
        do throws(HTTPCallFailure) { response = try await caller.send(call) } catch {
            throw .unreachable(base: base, error)
        }
        if (200...299).contains(response.status.rawValue) { return response.body }
        let json = try? JSONDocument(response.body).root.object
        guard let code = json?["code"]?.string, let detail = json?["detail"]?.string else {
            throw .foreign(base: base, status: response.status.rawValue)
        }
        throw .refused(code: code, detail: detail)
    }

    /// The answer as lines of names and values, one level deep, or as it came.
    private func show(_ json: JSONObject, _ body: [UInt8]) {
        if arguments.isSet("json") {
            Console.write(body + [0x0A])
            return
        }
        var lines = ["\(json["kind"]?.string ?? ""): \(json["state"]?.string ?? "") (\(json["id"]?.string ?? ""))"]
        if let answer = json["answer"]?.object {
            for (name, value) in answer.members { lines += Self.lines(name, value) }
        }
        Console.write(lines.map { ReportText.printable($0) + "\n" }.joined())
    }

    private static func lines(_ name: String, _ value: JSONValue) -> [String] {
        guard let rows = value.array else { return ["  \(name): \(text(value))"] }
        return rows.map { row in
            let members = row.object.map { $0.members.map { "\($0.0)=\(text($0.1))" } } ?? [text(row)]
            return "  \(name): " + members.joined(separator: " ")
        }
    }

    private static func text(_ value: JSONValue) -> String {
        value.string ?? String(decoding: value.raw, as: UTF8.self)
    }
}
