import Encoding
import HTTP

/// `assay apple …`: hands a question for Apple to a running server, and waits for what comes of it.
struct AppleCall {
    typealias Fault = APIClient.Fault

    private static let usualWait = 60
    private static let waitMax = 86_400

    private let wait: Int
    private let arguments: Arguments
    private let client: APIClient

    private init(_ arguments: Arguments, _ environment: [String: String]) throws(UsageFault) {
        self.arguments = arguments
        wait = try Self.whole(arguments.value("wait"), "wait", 0...Self.waitMax) ?? Self.usualWait
        client = try ServerAccess.client(arguments, environment)
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
        var body = try await client.ask(request.body == nil ? .get : .post, request.path, request.body ?? []).body
        var waited = 0
        while true {
            guard let json = try? JSONDocument(body).root.object, let id = json["id"]?.string else {
                throw .invalid("the answer has no id")
            }
            let state = json["state"]?.string ?? ""
            guard state == "waiting", waited < wait else {
                show(json, body)
                return state == "done" ? 0 : state == "waiting" ? 3 : 1
            }
            try? await Task.sleep(for: .seconds(1))
            waited += 1
            body = try await client.ask(.get, "/v1/apple/requests/\(id)").body
        }
    }

    /// The answer as lines of names and values, one level deep, or as it came.
    private func show(_ json: JSONObject, _ body: [UInt8]) {
        if arguments.isSet("json") {
            Console.write(body + [0x0A])
            return
        }
        let head = "\(json["kind"]?.string ?? ""): \(json["state"]?.string ?? "") (\(json["id"]?.string ?? ""))"
        var lines = [ReportText.printable(head)]
        if let answer = json["answer"]?.object { lines += AnswerTable.lines(answer, "  ") }
        Console.write(lines.map { $0 + "\n" }.joined())
    }
}
