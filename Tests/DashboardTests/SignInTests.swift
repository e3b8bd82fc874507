import Dashboard
import HTTP
import PurchaseModel
import Storage
import Testing

/// Who gets in, how, and until when.
@Suite struct SignInTests {
    @Test func theFirstAccountIsMadeByTheLinkAndOnlyOnce() async throws {
        let desk = Desk()
        let link = DashboardParts.firstAccountPath(desk.link)
        let browser = Browser(desk)
        #expect(await browser.get("/dashboard").status == .seeOther)
        #expect(await browser.get("/dashboard/first-account?token=" + Token().text).status == .forbidden)
        let fields = [("token", desk.link.text), ("name", "ann"), ("password", Desk.password)]
        let wrong = [("token", Token().text), ("name", "eve"), ("password", Desk.password)]
        #expect(await browser.submit(link, "/dashboard/first-account", wrong).status == .forbidden)
        let short = [("token", desk.link.text), ("name", "ann"), ("password", "too short")]
        #expect(await browser.submit(link, "/dashboard/first-account", short).status == .unprocessableContent)
        #expect(await browser.submit(link, "/dashboard/first-account", fields).status == .seeOther)
        #expect(await browser.get("/dashboard").status == .ok)
        let second = Browser(desk)
        #expect(await second.get(link).status == .forbidden)
        let account = try await desk.store.read { reader throws(StoreFailure) in
            try reader.admin(AdminName(checked: "ann"))
        }
        #expect(account?.role == .admin)
    }

    /// A proxy brings whoever follows a link to any of them.
    @Test func anotherServersLinkMakesTheFirstAccountForADay() async throws {
        let desk = Desk()
        func link() async throws -> (path: String, token: Token) {
            let token = try #require(
                await DashboardParts.firstAccountToken(in: desk.store, isShared: true, at: desk.clock.now)
            )
            return (DashboardParts.firstAccountPath(token), token)
        }
        let (old, browser) = (try await link(), Browser(desk))
        desk.clock.advance(by: .seconds(86_400))
        #expect(await browser.get(old.path).status == .ok)
        desk.clock.advance(by: .seconds(1))
        #expect(await browser.get(old.path).status == .forbidden)
        #expect(await browser.get(DashboardParts.firstAccountPath(desk.link)).status == .ok)
        let new = try await link()
        let fields = [("token", new.token.text), ("name", "ann"), ("password", Desk.password)]
        #expect(await browser.submit(new.path, "/dashboard/first-account", fields).status == .seeOther)
        #expect(await browser.get("/dashboard").status == .ok)
        #expect(await Browser(desk).get(new.path).status == .forbidden)
        #expect(await DashboardParts.firstAccountToken(in: desk.store, isShared: true, at: desk.clock.now) == nil)
    }

    @Test func aPasswordOpensASessionWhoseCookieOnlyThisServerReads() async throws {
        let desk = Desk()
        try await desk.add("ann", .viewer)
        let browser = Browser(desk)
        #expect(await browser.signIn("ann", "another password").status == .forbidden)
        #expect(await browser.signIn("bob").status == .forbidden)
        let response = await browser.signIn("ann")
        #expect(response.status == .seeOther)
        let cookie = try #require(response.fields.all("Set-Cookie").first)
        #expect(cookie.contains("; HttpOnly; SameSite=Strict; Path=/;"))
        // The store has the token's digest, and nothing by which one could sign in.
        let token = try #require(browser.cookies["assay"])
        #expect(token.utf8.count == 43)
        browser.extra = [("Origin", "https://dash.example"), ("Host", "dash.example")]
        let secure = await browser.signIn("ann")
        #expect(secure.fields.all("Set-Cookie").first?.hasPrefix("__Host-assay=") == true)
        #expect(secure.fields.all("Set-Cookie").first?.contains("; Secure") == true)
        browser.extra = [("Origin", "http://dash.example"), ("Host", "dash.example")]
        #expect(await browser.signIn("ann").status == .forbidden)
    }

    @Test func aSessionEndsByItselfAndBySigningOut() async throws {
        let desk = Desk()
        try await desk.add("ann", .viewer)
        let browser = Browser(desk)
        _ = await browser.signIn("ann")
        // Used now and then, it goes on until its whole length is over.
        for _ in 0..<11 {
            desk.clock.advance(by: .seconds(3_600))
            #expect(await browser.get("/dashboard").status == .ok)
        }
        desk.clock.advance(by: .seconds(3_600))
        #expect(await browser.get("/dashboard").status == .seeOther)
        // Left alone, it ends sooner.
        _ = await browser.signIn("ann")
        desk.clock.advance(by: Sessions.idleMax)
        #expect(await browser.get("/dashboard").status == .seeOther)
        _ = await browser.signIn("ann")
        let old = browser.cookies
        #expect(await browser.submit("/dashboard", "/dashboard/sign-out", []).status == .seeOther)
        browser.cookies = old
        #expect(await browser.get("/dashboard").status == .seeOther)
    }

    @Test func whoIsSignedInAnewGetsAnotherToken() async throws {
        let desk = Desk()
        try await desk.add("ann", .viewer)
        let browser = Browser(desk)
        // One that an attacker has put there.
        let planted = Token().text
        browser.cookies["assay"] = planted
        _ = await browser.signIn("ann")
        #expect(browser.cookies["assay"] != planted)
        let first = browser.cookies
        _ = await browser.signIn("ann")
        #expect(browser.cookies["assay"] != first["assay"])
        browser.cookies = first
        #expect(await browser.get("/dashboard").status == .seeOther)
    }

    /// Another host of the domain, or whoever answers for this one over plain HTTP, can give a browser a cookie of any name but
    /// the one with the prefix: of a session of their own, say, in which somebody else would then work.
    @Test func overTLSASessionCountsUnderItsOwnNameAlone() async throws {
        let desk = Desk()
        try await desk.add("eve", .viewer)
        let eve = Browser(desk)
        _ = await eve.signIn("eve")
        let planted = try #require(eve.cookies["assay"])
        let local = ("Host", "127.0.0.1:8080")
        let secure: [[(String, String)]] = [
            [("Host", "dash.example")], [("Host", "dash.example:8080")], [("Host", "localhost.example")], [],
            [("Host", "127.0.0.1.example")], [local, ("X-Forwarded-Proto", "https")],
            [local, ("Origin", "https://dash.example")],
        ]
        let plain = ["127.0.0.1:8080", "127.0.0.1", "localhost:9", "localhost", "[::1]:8080", "[::1]"]
        let browser = Browser(desk)
        for fields in secure {
            browser.cookies = ["assay": planted]
            browser.extra = fields
            #expect(await browser.get("/dashboard").status == .seeOther, "\(fields)")
            // A proxy may ask the machine itself: the name with the prefix counts by whatever way.
            browser.cookies = ["__Host-assay": planted]
            #expect(await browser.get("/dashboard").status == .ok, "\(fields)")
        }
        for host in plain {
            browser.cookies = ["assay": planted]
            browser.extra = [("Host", host)]
            #expect(await browser.get("/dashboard").status == .ok, "\(host)")
        }
    }

    /// What would not count afterwards is not given out.
    @Test func overPlainHTTPOnlyTheMachineItselfIsSignedInTo() async throws {
        let desk = Desk()
        try await desk.add("ann", .viewer)
        for host in ["dash.example", "127.0.0.1.example"] {
            let browser = Browser(desk)
            browser.extra = [("Origin", "http://127.0.0.1"), ("Host", host), ("Sec-Fetch-Site", "same-origin")]
            #expect(await browser.signIn("ann").status == .forbidden)
            #expect(browser.cookies["assay"] == nil)
        }
    }

    @Test func anAccountThatIsDisabledIsOutAtOnce() async throws {
        let desk = Desk()
        try await desk.add("ann", .admin)
        try await desk.add("bob", .operator)
        let (ann, bob) = (Browser(desk), Browser(desk))
        _ = await ann.signIn("ann")
        _ = await bob.signIn("bob")
        #expect(await bob.get("/dashboard").status == .ok)
        let fields = [("name", "bob"), ("version", "1"), ("role", "disabled")]
        #expect(await ann.submit("/dashboard/accounts", "/dashboard/accounts/change", fields).status == .seeOther)
        #expect(await bob.get("/dashboard").status == .seeOther)
        #expect(await bob.signIn("bob").status == .forbidden)
        let changes = try await desk.log().filter { $0.action == "account_changed" }
        #expect(changes.map { $0.detail } == ["from operator to disabled"])
    }

    /// Both forms were sent before either of them counted.
    @Test(arguments: 0..<10) func twoAdministratorsDoNotShutEachOtherOut(round: Int) async throws {
        let desk = Desk()
        for name in ["ann", "bob"] { try await desk.add(name, .admin) }
        await withTaskGroup(of: Void.self) { group in
            for (name, other) in [("ann", "bob"), ("bob", "ann")] {
                group.addTask {
                    let browser = Browser(desk)
                    _ = await browser.signIn(name)
                    let fields = [("name", other), ("version", "1"), ("role", "disabled")]
                    _ = await browser.submit("/dashboard/accounts", "/dashboard/accounts/change", fields)
                }
            }
        }
        let left = try await desk.store.read { reader throws(StoreFailure) in try reader.admins() }
        #expect(left.count { $0.isEnabled } == 1)
    }

    @Test func aNewPasswordSignsOutAllOtherBrowsers() async throws {
        let desk = Desk()
        try await desk.add("ann", .viewer)
        let (one, other) = (Browser(desk), Browser(desk))
        _ = await one.signIn("ann")
        _ = await other.signIn("ann")
        let new = "an entirely new password"
        let path = "/dashboard/account/password"
        let wrong = await one.submit("/dashboard/account", path, [("old", "not this one"), ("password", new)])
        #expect(wrong.status == .unprocessableContent)
        let right = await one.submit("/dashboard/account", path, [("old", Desk.password), ("password", new)])
        #expect(right.status == .seeOther)
        #expect(await one.get("/dashboard").status == .ok)
        #expect(await other.get("/dashboard").status == .seeOther)
        #expect(await other.signIn("ann").status == .forbidden)
        #expect(await other.signIn("ann", new).status == .seeOther)
    }

    /// What is changed of an account while a password is compared: for up to a second, where many others are.
    static let changes: [@Sendable (inout AdminAccount) -> Void] = [
        { $0.password = "another" }, { $0.isEnabled = false }, { $0.role = .viewer },
    ]

    @Test(arguments: changes.indices)
    func whoeverIsSigningInMeanwhileDoesNotGetIn(change: Int) async throws {
        let desk = Desk()
        try await desk.add("ann", .operator)
        let (change, browser, store, now) = (Self.changes[change], Browser(desk), desk.store, desk.clock.now)
        desk.pages.beforeNextWrite {
            try? await store.write { write throws(StoreFailure) in
                guard var account = try write.admin(AdminName(checked: "ann")) else { return }
                change(&account)
                try write.updateAdmin(account)
                _ = try write.endAdminSessions(of: account.name, but: nil, at: now)
            }
        }
        let response = await browser.signIn("ann")
        #expect(response.status == .forbidden && response.fields["Set-Cookie"]?.hasPrefix("assay=") != true)
        #expect(response.text.contains("changed"))
        #expect(browser.cookies["assay"] == nil)
        let log = try await desk.log()
        #expect(log.map(\.action) == ["sign_in_refused"] && log.first?.admin == nil)
    }

    /// A session that ends while the password of a new account is hashed makes none.
    @Test func whoIsSignedOutMeanwhileMakesNoAccount() async throws {
        let desk = Desk()
        try await desk.add("ann", .admin)
        let browser = Browser(desk)
        _ = await browser.signIn("ann")
        let (store, now) = (desk.store, desk.clock.now)
        desk.pages.beforeNextWrite {
            _ = try? await store.write { write throws(StoreFailure) in
                try write.endAdminSessions(of: AdminName(checked: "ann"), but: nil, at: now)
            }
        }
        let fields = [("name", "eve"), ("password", "a password of hers"), ("role", "admin")]
        let response = await browser.submit("/dashboard/accounts", "/dashboard/accounts/make", fields)
        #expect(response.fields["Location"] == "/dashboard/sign-in")
        let accounts = try await store.read { reader throws(StoreFailure) in try reader.admins() }
        #expect(accounts.map(\.name.text) == ["ann"])
    }

    @Test(arguments: [
        ("/dashboard/triage?span=month", "/dashboard/triage?span=month"), ("https://evil.example", "/dashboard"),
        ("//evil.example", "/dashboard"), ("/dashboard.evil", "/dashboard"), ("/dashboard\\@evil", "/dashboard"),
        ("/dashboard/../v1", "/dashboard"), ("/dashboard/a/%2E./x", "/dashboard"), ("/dashboard/%2e%2e", "/dashboard"),
        ("/dashboard/a..b?from=../c", "/dashboard/a..b?from=../c"),
        ("/v1/orders", "/dashboard"), ("", "/dashboard"),
    ])
    func signingInLeadsNowhereElse(next: String, place: String) async throws {
        let desk = Desk()
        try await desk.add("ann", .viewer)
        let browser = Browser(desk)
        let fields = [("name", "ann"), ("password", Desk.password), ("next", next)]
        let response = await browser.submit("/dashboard/sign-in", "/dashboard/sign-in", fields)
        #expect(response.fields["Location"] == place)
    }
}
