import Encoding
import HTTP

/// `assay apple …`: hands a question for Apple to a running server, and waits for what comes of it.
struct AppleCall {
    typealias Fault = APIClient.Fault

    private static let usualWait = 60
    /// Between two looks.
    private static let pause = Duration.seconds(1)
    private static let waitMax = 86_400

    private let name: String
    private let wait: Int
    private let arguments: Arguments
    private let change: ChangeName
    private let client: APIClient

    private init(_ name: String, _ arguments: Arguments, _ environment: [String: String]) throws(UsageFault) {
        self.name = name
        self.arguments = arguments
        change = ChangeName(arguments)
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
        let call = try AppleCall(name, arguments, environment)
        let request = try call.request()
        let asked: Asked
        do throws(Fault) {
            asked = try await call.ask(request)
        } catch {
            guard request.body == nil else { return call.change.tell(error, of: name) }
            call.say("\(error)")
            return error.exitCode
        }
        return await call.outcome(of: asked)
    }

    /// What to send, and where; `nil` body for a question that was asked before.
    private func request() throws(UsageFault) -> (path: String, body: [UInt8]?) {
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

    /// What the server has taken in, as it was last told of.
    private struct Asked {
        let id: String
        let state: String
        let json: JSONObject
        let body: [UInt8]

        var isWaiting: Bool { state == "waiting" }

        init(_ answer: APIClient.Answer) throws(Fault) {
            guard let json = answer.json, let id = json["id"]?.string else { throw .invalid("the answer has no id") }
            self.id = id
            self.json = json
            state = json["state"]?.string ?? ""
            body = answer.body
        }
    }

    private func ask(_ request: (path: String, body: [UInt8]?)) async throws(Fault) -> Asked {
        guard let body = request.body else { return try Asked(try await client.ask(.get, request.path)) }
        return try Asked(try await client.ask(.post, request.path, body, idempotency: change.text))
    }

    /// Waits for what comes of it. From here on the server goes on, whether it can be asked or not: what is not answered is
    /// not known yet, and is never a reason to ask for the same again.
    private func outcome(of first: Asked) async -> Int32 {
        var asked = first
        var trouble: Fault?
        let show = "assay apple show \(first.id)"
        let end = ContinuousClock.now.advanced(by: .seconds(wait))
        // Said at once: whoever stops waiting finds it again by that.
        if asked.isWaiting, wait > 0 { say("the server asks Apple; \"\(show)\" tells what comes of it") }
        while asked.isWaiting, trouble?.mayPass ?? true {
            let left = ContinuousClock.now.duration(to: end)
            guard left > .zero, trouble?.retryAfter ?? .zero < left else { break }
            try? await Task.sleep(for: min(left, max(Self.pause, trouble?.retryAfter ?? .zero)))
            do throws(Fault) {
                asked = try await ask(("/v1/apple/requests/\(PercentCoding.encode(first.id))", nil))
                trouble = nil
            } catch {
                trouble = error
            }
        }
        self.show(asked.json, asked.body)
        if let trouble { say("\(trouble); what comes of it is not known yet: \"\(show)\"") }
        return asked.state == "done" ? 0 : asked.isWaiting ? 3 : 1
    }

    private func say(_ text: String) { Console.error("assay \(name): \(ReportText.printable(text))") }

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
