import Crypto
import Dashboard
import HTTP
import Jobs
import Pipeline
import PurchaseModel
import Storage
import Testing

/// A dashboard over an empty ledger, and a clock that stands until it is moved.
struct Desk: Sendable {
    static let app = AppID(checked: "shop")
    static let password = "a password of many words"

    let store = MemoryStore()
    /// The same, as the pages have it.
    let pages: InterruptedStore
    let clock = ManualClock(Timestamp(milliseconds: 1_800_000_000_000))
    let link = Token()
    let routes: [DashboardRoute]
    let policy: AppPolicy
    private let router: Router

    /// - Parameters:
    ///   - terms: how the app delivers.
    ///   - policies: the apps as they are configured, in place of that one.
    ///   - reach: what Apple can be asked about it.
    ///   - server: what runs beside the pages, over the desk's store and clock; by default a simulator that does not
    ///     answer.
    init(
        _ terms: AppTerms = AppTerms(),
        policies: [AppPolicy]? = nil,
        reach: AppleReach = .nothing,
        server: (MemoryStore, ManualClock) -> RunningServer = { _, _ in
            RunningServer(simulator: SimulatorLine { _, _, _ in nil })
        }
    ) {
        policy = AppPolicy(id: Self.app, bundleID: BundleID(checked: "com.example.shop"), terms: terms)
        let queue = JobQueue(store: store, clock: clock, random: Self.random)
        pages = InterruptedStore(store)
        let parts = DashboardParts(
            store: pages,
            clock: clock,
            apps: policies ?? [policy],
            firstRun: link.digest,
            verdict: { $0 == "signature_mismatch" ? "forged" : nil },
            meaning: { $0 == "signature_mismatch" ? "Another key signed it." : nil },
            explain: { "what is said of \(String(decoding: $0, as: UTF8.self))" },
            resync: ResyncDesk(queue: queue) { _, _ in reach },
            server: server(store, clock)
        )
        routes = dashboardRoutes(parts)
        router = Router([]).adding(routes.map(\.route)) { dashboardRefusal($0, of: $1) }
    }

    private static func random() -> UInt64 { UInt64.random(in: .min ... .max) }

    /// What is in the log of what was done, the newest first, but for signing in.
    func log() async throws -> [AdminAction] {
        let page = try await store.read { reader throws(StoreFailure) in
            try reader.adminActions(before: nil, limit: 100)
        }
        return page.actions.filter { $0.action != "signed_in" }
    }

    func respond(_ request: HTTPRequest) async -> HTTPResponse { await router.respond(to: request) }

    /// Makes an account without its page.
    func add(_ name: String, _ role: AdminRole) async throws {
        let hash = try PasswordHash(of: Array(Self.password.utf8))
        let account = AdminAccount(
            name: AdminName(checked: name),
            role: role,
            password: hash.text,
            createdAt: clock.now
        )
        try await store.write { write throws(StoreFailure) in try write.createAdmin(account) }
    }
}

/// Keeps cookies, and finds the token of a form, as a browser would.
final class Browser {
    let desk: Desk
    var cookies: [String: String] = [:]
    /// What stands in every request beside the cookies.
    var extra: [(String, String)] = [("Origin", "http://127.0.0.1:8080"), ("Host", "127.0.0.1:8080")]
    var remote = HTTPRemote(address: [192, 0, 2, 1], port: 4_000)

    init(_ desk: Desk) { self.desk = desk }

    func get(_ target: String) async -> HTTPResponse { await send(.get, target, body: nil) }

    func post(_ path: String, _ fields: [(String, String)]) async -> HTTPResponse {
        let body = fields.map { "\(Self.coded($0.0))=\(Self.coded($0.1))" }.joined(separator: "&")
        return await send(.post, path, body: body)
    }

    /// Sends a form with the token that stands in a page.
    func submit(_ page: String, _ path: String, _ fields: [(String, String)]) async -> HTTPResponse {
        let token = Self.formToken(in: await get(page))
        return await post(path, fields + [("form_token", token)])
    }

    func signIn(_ name: String, _ password: String = Desk.password) async -> HTTPResponse {
        await submit("/dashboard/sign-in", "/dashboard/sign-in", [("name", name), ("password", password)])
    }

    /// Presses a button: sends the first form of a page that goes to this place and has these words in it.
    func press(
        _ page: HTTPResponse,
        _ path: String,
        holding words: String = "",
        _ fields: [(String, String)] = []
    ) async -> HTTPResponse {
        let named = Set(fields.map(\.0))
        let hidden = Self.fields(page, of: path, holding: words).filter { !named.contains($0.0) }
        return await post(path, hidden + fields)
    }

    /// What a page's form would send: what is hidden in it, the form token too. Empty where there is no such form.
    static func fields(_ page: HTTPResponse, of path: String, holding words: String = "") -> [(String, String)] {
        let forms = page.text.split(separator: "<form ").filter { $0.hasPrefix("method=\"post\" action=\"\(path)\"") }
            .map { $0.prefix(upTo: $0.firstRange(of: "</form>")?.lowerBound ?? $0.endIndex) }
        guard let form = forms.first(where: { words.isEmpty || $0.contains(words) }) else { return [] }
        return form.matches(of: /type="hidden" name="([^"]*)" value="([^"]*)"/).map { match in
            var value = String(match.2)
            for (entity, text) in [
                ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&#96;", "`"), ("&amp;", "&"),
            ] {
                value = value.replacing(entity, with: text)
            }
            return (String(match.1), value)
        }
    }

    func send(_ method: HTTPMethod, _ target: String, body: String?) async -> HTTPResponse {
        let (path, query) = HTTPRequest.split(target: target.utf8)
        var fields = HTTPFields(extra.map { HTTPFields.Field(name: $0.0, value: $0.1) })
        let jar = cookies.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
        if !jar.isEmpty { fields.append("Cookie", jar) }
        if body != nil { fields.append("Content-Type", "application/x-www-form-urlencoded") }
        let request = HTTPRequest(
            method: method,
            path: path,
            query: query,
            fields: fields,
            body: Array((body ?? "").utf8),
            remote: remote
        )
        let response = await desk.respond(request)
        #expect(TableColumns.faults(response.text) == [], "\(target)")
        for cookie in response.fields.all("Set-Cookie") {
            let pair = cookie.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            cookies[String(pair[0])] = String(pair[1])
        }
        return response
    }

    static func formToken(in response: HTTPResponse) -> String {
        let mark = "name=\"form_token\" value=\""
        guard let start = response.text.range(of: mark) else { return "" }
        return String(response.text[start.upperBound...].prefix { $0 != "\"" })
    }

    private static func coded(_ text: String) -> String {
        text.utf8.map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return "%" + (digits.utf8.count == 1 ? "0" + digits : digits)
        }.joined()
    }
}

extension Desk {
    /// A browser in which somebody of a role is signed in.
    func browser(_ role: AdminRole) async throws -> Browser {
        try await add(role.rawValue, role)
        let browser = Browser(self)
        _ = await browser.signIn(role.rawValue)
        return browser
    }
}

extension HTTPResponse {
    var text: String { String(decoding: body, as: UTF8.self) }
}

extension String {
    /// The first place of a text.
    func range(of text: String) -> Range<String.Index>? { firstRange(of: text) }
}
