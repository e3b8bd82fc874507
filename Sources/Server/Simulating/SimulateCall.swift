import Encoding
import HTTP
import PurchaseModel
import Simulator

/// `assay simulate buy …` and its sisters: each asks the simulator's control API once or a few times, and shows what came
/// of it.
struct SimulateCall {
    typealias Fault = APIClient.Fault

    private static let usage: Int32 = 2

    private let client: APIClient
    private let arguments: Arguments

    /// What is written, and how the process ends.
    private struct Shown {
        var text: [UInt8]
        var code: Int32 = 0
    }

    private init(_ arguments: Arguments) {
        self.arguments = arguments
        var settings = CallerSettings()
        settings.responseBytesMax = 256 << 20
        // A story of years, or of many customers, takes a while to tell.
        settings.timeout = .seconds(600)
        client = APIClient(.simulator, at: arguments.value("at"), caller: CurlCaller(settings).caller)
    }

    /// Runs the command of this name.
    ///
    /// - Parameters:
    ///   - name: with `simulate ` in front.
    ///   - arguments: what follows it.
    /// - Returns: 0 when it was done, 1 when the store refused, 2 when it could not be asked.
    /// - Throws: ``UsageFault``.
    static func run(_ name: String, _ arguments: Arguments) async throws(UsageFault) -> Int32 {
        do {
            let shown = try await SimulateCall(arguments).shown(name)
            guard Console.write(shown.text) else {
                Console.error("assay \(name): standard output cannot be written")
                return usage
            }
            return shown.code
        } catch let fault as Fault {
            Console.error("assay \(name): \(ReportText.printable("\(fault)"))")
            return fault.exitCode
        } catch let fault as UsageFault {
            throw fault
        } catch {
            throw UsageFault("\(error)")
        }
    }

    private func shown(_ name: String) async throws -> Shown {
        switch name {
        case "simulate customer": try await customer()
        case "simulate buy": try await buy()
        case "simulate cancel": try await subscription("cancel")
        case "simulate resume": try await subscription("resume")
        case "simulate renew": try await renew()
        case "simulate refund": try await refund()
        case "simulate act": try await acted(read(word(0), isFile: false))
        case "simulate clock": try await clock()
        case "simulate story": try await stories()
        case "simulate show": try await show()
        case "simulate proof": try await proof()
        case "simulate chaos": try await chaos()
        default: try await notify()
        }
    }

    private func word(_ index: Int) -> String { arguments.positionals[index] }

    private func wordIfAny(_ index: Int) -> String? {
        arguments.positionals.indices.contains(index) ? arguments.positionals[index] : nil
    }

    /// The answer itself, or what it says to people.
    private func show(
        _ answer: APIClient.Answer,
        _ text: (JSONObject) -> String
    ) throws(Fault) -> Shown {
        if arguments.isSet("json") { return Shown(text: answer.body.isEmpty ? [] : answer.body + [0x0A]) }
        guard let json = answer.json else { throw .invalid("the answer is too long for a table; --json prints it") }
        return Shown(text: Array(text(json).utf8))
    }

    // MARK: Customers and acts

    private func customer() async throws(Fault) -> Shown {
        let body = JSONWriter.object { json in
            json.member("name", word(0))
            for name in ["environment", "storefront", "pace", "family"] { json.member(name, arguments.value(name)) }
        }
        return try show(try await client.ask(.post, "/customers", body), SimulatorText.customer)
    }

    private func buy() async throws -> Shown {
        var quantity: Int64?
        if let text = arguments.value("quantity") {
            quantity = Int64(text)
            if quantity == nil { throw UsageFault("--quantity is a whole number") }
        }
        let body = JSONWriter.object { json in
            json.member("act", "buy")
            json.member("customer", word(0))
            json.member("product", word(1))
            json.member("quantity", quantity)
            json.member("offer", arguments.value("offer"))
            json.member("account_token", arguments.value("token"))
        }
        return try await acted(body, addingCustomer: word(0))
    }

    /// The act; and once more when she who is to do it had to be added first.
    private func acted(_ body: [UInt8], addingCustomer name: String) async throws(Fault) -> Shown {
        let refusal: Fault
        do throws(Fault) {
            return try await acted(body)
        } catch {
            refusal = error
        }
        guard case .refused("unknown_customer", _) = refusal else { throw refusal }
        _ = try await client.ask(.post, "/customers", JSONWriter.object { $0.member("name", name) })
        return try await acted(body)
    }

    private func subscription(_ act: String) async throws(Fault) -> Shown {
        try await acted(
            JSONWriter.object { json in
                json.member("act", act)
                json.member("customer", word(0))
                json.member("product", word(1))
            }
        )
    }

    private func refund() async throws(Fault) -> Shown {
        try await acted(
            JSONWriter.object { json in
                json.member("act", "decide_refund")
                json.member("customer", word(0))
                json.member("product", wordIfAny(1))
                json.member("decision", arguments.value("decision") ?? "full")
            }
        )
    }

    private func acted(_ body: [UInt8]) async throws(Fault) -> Shown {
        try show(try await client.ask(.post, "/acts", body), SimulatorText.outcome)
    }

    private func stories() async throws -> Shown {
        var shown = Shown(text: [])
        for file in arguments.positionals {
            let answer = try await client.ask(.post, "/stories", try read(file, isFile: true))
            let told = try show(answer) { SimulatorText.story($0) }
            shown.text += told.text
            if answer.json?["differences"]?.array?.isEmpty == false { shown.code = 1 }
        }
        return shown
    }

    /// Standard input for `-`; otherwise a file, or the word itself.
    private func read(_ word: String, isFile: Bool) throws(UsageFault) -> [UInt8] {
        guard isFile || word == "-" else { return Array(word.utf8) }
        guard let bytes = try? OpenFile.named(word).read() else { throw UsageFault("\(word) cannot be read") }
        return bytes
    }

    // MARK: Time

    private func clock() async throws -> Shown {
        guard let verb = wordIfAny(0) else {
            return try show(try await client.ask(.get, "/clock"), SimulatorText.clock)
        }
        guard ["advance", "to", "pace"].contains(verb), let value = wordIfAny(1) else {
            throw UsageFault("the clock takes advance SPAN, to MOMENT or pace N", hint: "clock advance P31D")
        }
        let pace = verb == "pace" ? Int64(value) : nil
        if verb == "pace", pace == nil { throw UsageFault("a pace is a whole number: virtual seconds in a real one") }
        let body = JSONWriter.object { json in
            if let pace {
                json.member(verb, pace)
            } else {
                json.member(verb, verb == "advance" ? SimulateCall.span(value) : value)
            }
        }
        return try show(try await client.ask(.post, "/clock", body), SimulatorText.clock)
    }

    /// `31d` as people write it becomes `P31D`; anything else is left for the store to judge.
    private static func span(_ text: String) -> String {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty, let form = spans[String(text.dropFirst(digits.count))] else { return text }
        return form.before + digits + form.after
    }

    private static let spans: [String: (before: String, after: String)] = [
        "s": ("PT", "S"), "min": ("PT", "M"), "h": ("PT", "H"), "d": ("P", "D"), "w": ("P", "W"), "mo": ("P", "M"),
        "y": ("P", "Y"),
    ]

    private func renew() async throws(Fault) -> Shown {
        let path = "/customers/\(PercentCoding.encode(word(0)))"
        let before = try await client.ask(.get, path).json
        let renewing = (before?["subscriptions"]?.array).map(Array.init)?.compactMap(\.object).filter { line in
            line["status"]?.string == "active" && line["will_auto_renew"]?.bool == true
        }
        // Moments of one form are in the order of their texts.
        let next = renewing?.min { ($0["expires_at"]?.string ?? "") < ($1["expires_at"]?.string ?? "") }
        guard let moment = next?["expires_at"]?.string, let line = next?["original_transaction_id"]?.string else {
            throw .refused(code: "nothing_renews", detail: "\(word(0)) has no active subscription that will renew.")
        }
        _ = try await client.ask(.post, "/clock", JSONWriter.object { $0.member("to", moment) })
        return try show(try await client.ask(.get, path)) { SimulatorText.renewal($0, of: line) }
    }

    // MARK: What there is

    private func show() async throws(Fault) -> Shown {
        if let name = wordIfAny(0) {
            let answer = try await client.ask(.get, "/customers/\(PercentCoding.encode(name))")
            return try show(answer, SimulatorText.wholeCustomer)
        }
        let customers = try await client.ask(.get, "/customers")
        if arguments.isSet("json") { return try show(customers) { _ in "" } }
        let clock = try show(try await client.ask(.get, "/clock"), SimulatorText.clock)
        let subscriptions = try await client.ask(.get, "/subscriptions")
        let rest = try show(customers) { SimulatorText.customers($0, subscriptions.json) }
        return Shown(text: clock.text + rest.text)
    }

    private func proof() async throws -> Shown {
        let customer = "/customers/\(PercentCoding.encode(word(0)))"
        let format = arguments.value("format") ?? "jws"
        let (path, member): (String, String)
        switch format {
        case "jws": (path, member) = ("/transactions/\(try await newest(customer))", "signed_transaction_info")
        case "renewal": (path, member) = ("/transactions/\(try await newest(customer))", "signed_renewal_info")
        case "transaction-receipt":
            (path, member) = ("/transactions/\(try await newest(customer))/receipt", "receipt_data")
        case "receipt", "app-transaction":
            if wordIfAny(1) != nil { throw UsageFault("\(format) is of the whole app: leave PRODUCT out") }
            let isReceipt = format == "receipt"
            path = customer + (isReceipt ? "/receipt" : "/app_transaction")
            member = isReceipt ? "receipt_data" : "signed_app_transaction_info"
        default:
            let formats = ["jws", "renewal", "app-transaction", "receipt", "transaction-receipt"]
            throw UsageFault(
                "--format is one of \(formats.joined(separator: ", "))" + Suggestion.phrase(for: format, among: formats)
            )
        }
        let answer = try await client.ask(.get, path)
        guard let proof = answer.json?[member]?.string else {
            throw Fault.refused(code: "no_proof", detail: "\(format) is only there for subscriptions.")
        }
        return try show(answer) { _ in proof + "\n" }
    }

    /// The number of the customer's newest transaction, of the product if one is named.
    private func newest(_ path: String) async throws(Fault) -> String {
        let customer = try await client.ask(.get, path).json
        let product = wordIfAny(1)
        let sold = (customer?["transactions"]?.array).map(Array.init)?.compactMap(\.object).last { transaction in
            guard let product else { return true }
            let whole = transaction["product"]?.string ?? ""
            return whole == product || whole == "\(transaction["app"]?.string ?? "").\(product)"
        }
        guard let id = sold?["transaction_id"]?.string else {
            let what = product.map { " of \($0)" } ?? ""
            throw .refused(code: "no_transaction", detail: "\(word(0)) has no transaction\(what).")
        }
        return PercentCoding.encode(id)
    }

    // MARK: Settings

    private func chaos() async throws(Fault) -> Shown {
        guard let word = wordIfAny(0) else {
            return try show(try await client.ask(.get, "/chaos"), SimulatorText.chaos)
        }
        let body = Array((word == "none" ? "{}" : word).utf8)
        return try show(try await client.ask(.put, "/chaos", body), SimulatorText.chaos)
    }

    private func notify() async throws(Fault) -> Shown {
        let url = word(0) == "none" ? nil : word(0)
        let body = JSONWriter.object { $0.member("url", url) }
        let app = PercentCoding.encode(DemoCatalogue.bundleID.text)
        _ = try await client.ask(.put, "/apps/\(app)/notifications", body)
        guard !arguments.isSet("json") else { return Shown(text: []) }
        let text = url.map { "notifications go to \(ReportText.printable($0))\n" } ?? "notifications go nowhere\n"
        return Shown(text: Array(text.utf8))
    }
}
