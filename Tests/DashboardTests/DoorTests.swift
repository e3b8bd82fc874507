import Dashboard
import HTTP
import PurchaseModel
import Storage
import Testing

/// Every route, every role: who may take it, and what a forged form may do.
@Suite struct DoorTests {
    private static let open: Set<String> = [
        "GET /dashboard/sign-in", "POST /dashboard/sign-in", "GET /dashboard/first-account",
        "POST /dashboard/first-account", "GET /dashboard/assets/style.css", "GET /dashboard/assets/icon.svg",
    ]

    @Test func whatIsOpenToEverybodyIsThisAndNothingElse() {
        let found = Desk().routes.filter { $0.role == nil }.map { "\($0.route.method) \($0.route.template)" }
        #expect(Set(found) == Self.open)
    }

    @Test func whoIsNotSignedInReachesNothing() async throws {
        let desk = Desk()
        try await desk.add("ann", .admin)
        let browser = Browser(desk)
        for route in desk.routes where route.role != nil {
            let response =
                route.route.method == .get
                ? await browser.get(route.route.template) : await browser.post(route.route.template, [])
            #expect(response.status == .seeOther, "\(route.route)")
            #expect(response.fields["Location"]?.hasPrefix("/dashboard/sign-in") == true)
        }
    }

    @Test(arguments: AdminRole.allCases)
    func aRoleReachesWhatIsForItAndNoMore(role: AdminRole) async throws {
        let desk = Desk()
        try await desk.add("ann", role)
        for route in desk.routes {
            guard let least = route.role else { continue }
            let browser = Browser(desk)
            _ = await browser.signIn("ann")
            let response =
                route.route.method == .get
                ? await browser.get(route.route.template)
                : await browser.submit("/dashboard", route.route.template, [])
            #expect((response.status == .forbidden) == (role < least), "\(role) at \(route.route)")
        }
    }

    /// Each row: what is asked for, and what is answered. Who is signed in sees the same page as everybody.
    @Test(arguments: [
        (HTTPMethod.get, "/dashboard/nothing", HTTPStatus.notFound), (.get, "/dashboard/orders/1", .notFound),
        (.get, "/dashboard/", .notFound), (.head, "/dashboard/nothing", .notFound),
        (.post, "/dashboard/nothing", .notFound), (.get, "/dashboard/sign-out", .methodNotAllowed),
        (.post, "/dashboard/orders", .methodNotAllowed), (.get, "/dashboard/%zz", .badRequest),
    ])
    func aWrongPathIsAPageForPeople(method: HTTPMethod, path: String, status: HTTPStatus) async throws {
        let desk = Desk()
        try await desk.add("ann", .admin)
        let browser = Browser(desk)
        let stranger = await browser.send(method, path, body: nil)
        _ = await browser.signIn("ann")
        let answer = await browser.send(method, path, body: nil)
        #expect(answer.status == status)
        #expect(answer.fields["Content-Type"] == "text/html; charset=utf-8")
        #expect(answer.fields["Content-Security-Policy"]?.hasPrefix("default-src 'none'") == true)
        #expect((answer.fields["Allow"] != nil) == (status == .methodNotAllowed))
        let page = String(decoding: answer.body, as: UTF8.self)
        #expect(page.contains("<a href=\"/dashboard\">"))
        #expect(!page.contains("ann") && !page.contains("nothing"))
        #expect((stranger.status, stranger.body) == (answer.status, answer.body))
    }

    @Test(arguments: ["/", "/dashboards", "/v1/dashboard/x", "/dashboard%2Fx"])
    func elsewhereAWrongPathIsAProblem(path: String) async {
        let answer = await Desk().respond(HTTPRequest(method: .get, path: path))
        #expect(answer.status == .notFound)
        #expect(answer.fields["Content-Type"] == "application/problem+json")
    }

    @Test(arguments: ["", "x", Token().formToken])
    func aFormWithoutItsTokenChangesNothing(token: String) async throws {
        let desk = Desk()
        try await desk.add("ann", .admin)
        let browser = Browser(desk)
        _ = await browser.signIn("ann")
        for route in desk.routes where route.route.method == .post {
            let response = await browser.post(route.route.template, [("form_token", token), ("name", "eve")])
            #expect(response.status == .forbidden, "\(route.route)")
        }
        #expect(await browser.get("/dashboard").status == .ok)
    }

    @Test func theTokenOfAnotherBrowserIsWorthNothing() async throws {
        let desk = Desk()
        try await desk.add("ann", .admin)
        let (ann, eve) = (Browser(desk), Browser(desk))
        _ = await ann.signIn("ann")
        _ = await eve.signIn("ann")
        let token = Browser.formToken(in: await eve.get("/dashboard"))
        #expect(await ann.post("/dashboard/sign-out", [("form_token", token)]).status == .forbidden)
    }

    @Test(arguments: [
        ([("Sec-Fetch-Site", "cross-site")], HTTPStatus.forbidden), ([("Sec-Fetch-Site", "same-site")], .forbidden),
        ([("Origin", "http://evil.example")], .forbidden), ([("Origin", "null")], .forbidden),
        // Over TLS nobody is signed in under that name.
        ([("Origin", "https://evil.example")], .seeOther),
    ])
    func whatAnotherSiteSendsIsRefused(fields: [(String, String)], status: HTTPStatus) async throws {
        let desk = Desk()
        try await desk.add("ann", .admin)
        let browser = Browser(desk)
        _ = await browser.signIn("ann")
        let token = Browser.formToken(in: await browser.get("/dashboard"))
        let own = browser.extra
        browser.extra = fields + [("Host", "127.0.0.1:8080")]
        #expect(await browser.post("/dashboard/sign-out", [("form_token", token)]).status == status)
        browser.extra = own
        #expect(await browser.get("/dashboard").status == .ok)
    }

    @Test func everyAnswerCarriesThePolicy() async throws {
        let desk = Desk()
        try await desk.add("ann", .admin)
        let browser = Browser(desk)
        _ = await browser.signIn("ann")
        for route in desk.routes {
            let response =
                route.route.method == .get
                ? await browser.get(route.route.template) : await browser.post(route.route.template, [])
            let policy = response.fields["Content-Security-Policy"] ?? ""
            #expect(policy.hasPrefix("default-src 'none'; style-src 'self';"), "\(route.route)")
            #expect(!policy.contains("unsafe"))
            #expect(response.fields["X-Content-Type-Options"] == "nosniff")
            #expect(response.fields.isSendable)
        }
    }

    @Test func whatKeysDoStandsThere() async throws {
        let desk = Desk()
        try await desk.add("ann", .admin)
        let action = AdminAction(
            at: desk.clock.now,
            admin: nil,
            key: "shop/key_1",
            remote: "192.0.2.7",
            action: "key_made",
            subject: "key_2"
        )
        try await desk.store.write { write throws(StoreFailure) in try write.noteAdminAction(action) }
        let browser = Browser(desk)
        _ = await browser.signIn("ann")
        let page = String(decoding: await browser.get("/dashboard/audit").body, as: UTF8.self)
        for text in ["key shop/key_1", "192.0.2.7", "key_made", "key_2"] { #expect(page.contains(text)) }
    }

    /// Each row its own, and the last one as a whole: so it can be noted elsewhere.
    @Test func theLinksOfTheLogAreShown() async throws {
        let desk = Desk()
        try await desk.add("ann", .admin)
        let browser = Browser(desk)
        _ = await browser.signIn("ann", "another password")
        _ = await browser.signIn("ann")
        _ = await browser.submit("/dashboard", "/dashboard/sign-out", [])
        _ = await browser.signIn("ann")
        let page = String(decoding: await browser.get("/dashboard/audit").body, as: UTF8.self)
        let rows = try await desk.store.read { reader throws(StoreFailure) in
            try reader.adminActions(before: nil, limit: 10).rows
        }
        #expect(rows.map(\.number) == [3, 2, 1, nil])
        for row in rows {
            guard let number = row.number, let link = row.link else { continue }
            let digits = link.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            #expect(page.contains("<td>\(number) \(digits.prefix(12))</td>"))
            #expect(page.contains("\(number):\(digits)") == (number == 3))
        }
    }

    @Test func whatIsDoneIsInTheLog() async throws {
        let desk = Desk()
        try await desk.add("ann", .admin)
        let browser = Browser(desk)
        _ = await browser.signIn("ann", "another password")
        _ = await browser.signIn("ann")
        let fields = [("name", "bob"), ("role", "viewer"), ("password", Desk.password)]
        let made = await browser.submit("/dashboard/accounts", "/dashboard/accounts/make", fields)
        #expect(made.status == .seeOther)
        _ = await browser.submit("/dashboard", "/dashboard/sign-out", [])
        let page = try await desk.store.read { reader throws(StoreFailure) in
            try reader.adminActions(before: nil, limit: 10)
        }
        #expect(page.actions.map(\.action) == ["signed_out", "account_made", "signed_in", "sign_in_refused"])
        #expect(page.actions.map { $0.admin?.text } == ["ann", "ann", "ann", nil])
    }
}
