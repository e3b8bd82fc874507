import Encoding
import HTTP
import PurchaseModel
import Storage

/// What operators have happen in a demo's App Store: each an act of its control API.
struct SimulatorActions: Sendable {
    /// The acts of the form, in its order.
    static let acts: [(word: String, label: String)] = [
        ("buy", "buys"), ("renew", "lives until the next renewal"), ("refund", "gets the money back"),
        ("revoke", "loses what the family shares"), ("cancel", "switches renewal off"),
        ("resume", "switches renewal on"),
    ]
    static let spans: [(value: String, text: String)] = [
        ("PT1H", "an hour"), ("P1D", "a day"), ("P7D", "a week"), ("P31D", "31 days"), ("P1Y", "a year"),
    ]
    /// A bad day of Apple's, in thousandths: names and numbers of the control API.
    static let chaos: [(name: String, share: Int)] = [
        ("slow", 50), ("time_out", 20), ("reset", 20), ("server_error", 100), ("too_many_requests", 30), ("html", 10),
        ("truncated", 10), ("notices_lost", 100), ("notices_twice", 100), ("notices_reordered", 50),
        ("notices_late", 50),
    ]
    private static let lateSeconds = 3_600
    private static let timeOutMilliseconds = 5_000

    let parts: DashboardParts
    let line: SimulatorLine

    private var page: SimulatorPage { SimulatorPage(parts: parts, line: line) }

    func act(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        let (word, name, product) = (visit.fields["act"], visit.fields["customer"], visit.fields["product"])
        // What the log cannot hold is no name.
        guard !name.isEmpty, !(name + product).utf8.contains(0), Self.acts.contains(where: { $0.word == word }) else {
            return await page.page(visit, SimulatorPage.Note(refusal: .incomplete))
        }
        let detail = Texts.cut(product.isEmpty ? word : "\(word) \(product)", to: 400)
        return try await carry(visit, visit.action("simulator_act", of: Texts.cut(name, to: 400), detail)) {
            switch word {
            case "buy": await buy(name, product)
            case "renew": await renew(name)
            default: await told(.post, "/acts", Self.body(word, name, product))
            }
        }
    }

    func clock(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        let span = visit.fields["span"]
        guard Self.spans.contains(where: { $0.value == span }) else {
            return await page.page(visit, SimulatorPage.Note(refusal: .incomplete))
        }
        return try await carry(visit, visit.action("simulator_clock", of: nil, span)) {
            await told(.post, "/clock", JSONWriter.object { $0.member("advance", span) })
        }
    }

    func chaos(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        let isOn = visit.fields["on"] == "true"
        let before = (await line.object("/chaos")).map { SimulatorPage.isOn($0) ? "on" : "off" } ?? "unknown"
        let detail = "from \(before) to \(isOn ? "on" : "off")"
        return try await carry(visit, visit.action("simulator_chaos", of: nil, detail)) {
            let body = JSONWriter.object { json in
                guard isOn else { return }
                for (name, share) in Self.chaos { json.member(name, share) }
                json.member("late_seconds", Self.lateSeconds)
                json.member("time_out_ms", Self.timeOutMilliseconds)
            }
            return await told(.put, "/chaos", body)
        }
    }

    /// The log has it before the store is asked, whatever the store says.
    private func carry(
        _ visit: Visit,
        _ action: AdminAction,
        _ body: () async -> Refusal?
    ) async throws(StoreFailure) -> HTTPResponse {
        let carried = try await visit.carryOut(in: parts.store) { _ in .success((true, action)) }
        var note = SimulatorPage.Note()
        switch carried {
        case .refused(let refusal): note.refusal = refusal
        case .again: note.sentence = "It was done."
        case .done:
            note.refusal = await body()
            note.sentence = note.refusal == nil ? "It was done." : nil
        }
        return await page.page(visit, note)
    }

    // MARK: The store

    private static func body(_ word: String, _ name: String, _ product: String) -> [UInt8] {
        JSONWriter.object { json in
            json.member("act", ["refund": "decide_refund", "revoke": "set_sharing"][word] ?? word)
            json.member("customer", name)
            json.member("product", product.isEmpty ? nil : product)
            if word == "refund" { json.member("decision", "full") }
            if word == "revoke" { json.member("on", false) }
        }
    }

    /// Who has not been there before is added first.
    private func buy(_ name: String, _ product: String) async -> Refusal? {
        let body = Self.body("buy", name, product)
        let answer = await line.ask(.post, "/acts", body)
        guard let answer, answer.status == .conflict, Self.code(answer) == "unknown_customer" else {
            return Self.refusal(answer)
        }
        if let refusal = await told(.post, "/customers", JSONWriter.object { $0.member("name", name) }) {
            return refusal
        }
        return await told(.post, "/acts", body)
    }

    /// Until the end of the period that is paid for, whichever ends first.
    private func renew(_ name: String) async -> Refusal? {
        let answer = await line.ask(.get, "/customers/\(PercentCoding.encode(name))", [])
        guard let answer, answer.status == .ok, let customer = try? JSONDocument(answer.body).root.object else {
            return Self.refusal(answer)
        }
        let lines = customer["subscriptions"]?.array.map { $0.compactMap(\.object) } ?? []
        let moments = lines.filter { $0["status"]?.string == "active" && $0["will_auto_renew"]?.bool == true }
            .compactMap { $0["expires_at"]?.string.flatMap { RFC3339.milliseconds($0) } }
        guard let next = moments.min(), let text = RFC3339.text(milliseconds: next) else {
            return Refusal(.conflict, "There is no active subscription that will renew.")
        }
        return await told(.post, "/clock", JSONWriter.object { $0.member("to", text) })
    }

    private func told(_ method: HTTPMethod, _ path: String, _ body: [UInt8]) async -> Refusal? {
        Self.refusal(await line.ask(method, path, body))
    }

    private static func refusal(_ answer: HTTPResponse?) -> Refusal? {
        guard let answer else { return Refusal(.serviceUnavailable, "The simulator does not answer.") }
        if (200...299).contains(answer.status.rawValue) { return nil }
        let detail = (try? JSONDocument(answer.body).root.object)?["detail"]?.string ?? "The store does not do that."
        return Refusal(answer.status == .conflict ? .conflict : .unprocessableContent, Texts.cut(detail, to: 1_000))
    }

    private static func code(_ answer: HTTPResponse) -> String? {
        (try? JSONDocument(answer.body).root.object)?["code"]?.string
    }
}
