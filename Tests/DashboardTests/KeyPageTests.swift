import Crypto
import Dashboard
import HTTP
import Pipeline
import PurchaseModel
import Storage
import Testing

/// Keys of the API, and what admins do about them.
@Suite struct KeyPageTests {
    private static func desk() -> (desk: Desk, ring: KeyRing) {
        let given = APIKey(KeyRing.Holder(name: "<script>alert(1)</script>", app: Desk.app), scopes: [.read])
        let ring = KeyRing([Digest.sha256(Array("sk_given".utf8)): given])
        return (Desk { _, _ in RunningServer(keys: ring) }, ring)
    }

    private static func keys(_ desk: Desk) async throws -> [APIKeyRow] {
        let now = desk.clock.now
        return try await desk.store.read { reader throws(StoreFailure) in try reader.apiKeys(app: Desk.app, at: now) }
    }

    private static func secret(in page: HTTPResponse) -> [UInt8]? {
        page.text.firstMatch(of: /[sp]k_(?:live|test)_[0-9a-f]{48}/).map { Array($0.output.utf8) }
    }

    private static func make(_ browser: Browser, _ fields: [(String, String)]) async -> HTTPResponse {
        await browser.press(await browser.get("/dashboard/keys"), "/dashboard/keys/make", fields)
    }

    @Test func aKeyIsMadeOnceAndShownOnce() async throws {
        let (desk, ring) = Self.desk()
        let browser = try await desk.browser(.admin)
        let form = Browser.fields(await browser.get("/dashboard/keys"), of: "/dashboard/keys/make")
        let fields =
            form + [
                ("name", "backend"), ("kind", "secret"), ("days", "30"), ("may_read", "on"), ("may_write", "on"),
                ("of_sandbox", "on"),
            ]
        let made = await browser.post("/dashboard/keys/make", fields)
        #expect(made.status == .ok)
        let secret = try #require(Self.secret(in: made))
        let row = try #require(try await Self.keys(desk).first)
        #expect(row.sha256 == Digest.sha256(secret))
        #expect(row.scopes == ["read", "write"] && row.environments == ["sandbox"])
        #expect(row.createdBy == "dashboard/admin")
        #expect(row.expiresAt == desk.clock.now.advanced(by: .seconds(30 * 86_400)))
        // It opens at once.
        #expect(ring.key(secret, at: desk.clock.now)?.scopes == [.read, .write])
        let again = await browser.post("/dashboard/keys/make", fields)
        #expect(again.status == .conflict && Self.secret(in: again) == nil)
        #expect(try await Self.keys(desk).count == 1)
        for page in ["keys", "key?id=\(row.id.text)"] {
            let shown = await browser.get("/dashboard/\(page)")
            #expect(shown.text.contains("backend") && Self.secret(in: shown) == nil)
        }
        #expect(try await desk.log().map { [$0.action, $0.subject] } == [["key_made", row.id.text]])
    }

    @Test(arguments: [
        ([("name", "a b"), ("kind", "secret")], HTTPStatus.unprocessableContent, "name: "),
        ([("name", "shop"), ("kind", "golden")], .unprocessableContent, "kind: "),
        ([("name", "shop"), ("kind", "publishable"), ("may_keys", "on")], .unprocessableContent, "scopes: "),
        ([("name", "shop"), ("kind", "secret"), ("days", "0")], .unprocessableContent, "expires_in_days: "),
        ([("name", "<script>alert(1)</script>"), ("kind", "secret")], .conflict, "has this name"),
    ])
    func aBadKeyIsNotMade(fields: [(String, String)], status: HTTPStatus, words: String) async throws {
        let (desk, _) = Self.desk()
        let browser = try await desk.browser(.admin)
        let answer = await Self.make(browser, fields)
        #expect(answer.status == status && answer.text.contains(words))
        #expect(!answer.text.contains("<script"))
        #expect(try await Self.keys(desk).isEmpty)
        #expect(try await desk.log().isEmpty)
    }

    @Test func aSecretIsReplacedAndTheOldOneLivesOn() async throws {
        let (desk, ring) = Self.desk()
        let browser = try await desk.browser(.admin)
        let old = try #require(Self.secret(in: await Self.make(browser, [("name", "shop"), ("kind", "secret")])))
        let id = try #require(try await Self.keys(desk).first?.id.text)
        let page = await browser.get("/dashboard/key?id=\(id)")
        let rotated = await browser.press(page, "/dashboard/key/rotate", [("overlap", "3600")])
        let new = try #require(Self.secret(in: rotated))
        #expect(rotated.status == .ok && new != old)
        for secret in [old, new] { #expect(ring.key(secret, at: desk.clock.now) != nil) }
        let later = desk.clock.now.advanced(by: .seconds(3_600))
        #expect(ring.key(old, at: later) == nil && ring.key(new, at: later) != nil)
        // What the page showed is not there any more: nobody's second click makes a third secret.
        let again = await browser.press(page, "/dashboard/key/rotate", [("overlap", "0")])
        #expect(again.status == .conflict && Self.secret(in: again) == nil)
        let stale = await browser.press(page, "/dashboard/key/rotate", [("overlap", "0"), ("once", Token().text)])
        #expect(stale.status == .conflict)
        #expect(try await Self.keys(desk).count == 2)
        #expect(try await desk.log().map(\.action) == ["key_rotated", "key_made"])
    }

    @Test func aRevokedKeyOpensNothing() async throws {
        let (desk, ring) = Self.desk()
        let browser = try await desk.browser(.admin)
        let secret = try #require(Self.secret(in: await Self.make(browser, [("name", "shop"), ("kind", "secret")])))
        let id = try #require(try await Self.keys(desk).first?.id.text)
        let page = await browser.get("/dashboard/key?id=\(id)")
        #expect(await browser.press(page, "/dashboard/key/revoke").status == .seeOther)
        #expect(ring.key(secret, at: desk.clock.now) == nil)
        #expect(await browser.press(page, "/dashboard/key/revoke").status == .seeOther)
        let shown = await browser.get("/dashboard/key?id=\(id)")
        #expect(shown.text.contains("revoked") && !shown.text.contains("/dashboard/key/revoke"))
        #expect(try await desk.log().map(\.action) == ["key_revoked", "key_made"])
    }

    @Test(arguments: [AdminRole.viewer, .operator])
    func onlyAdminsMakeKeys(role: AdminRole) async throws {
        let (desk, _) = Self.desk()
        let browser = try await desk.browser(role)
        let page = await browser.get("/dashboard/keys")
        #expect(page.status == .ok && !page.text.contains("/dashboard/keys/make"))
        #expect(page.text.contains("alert(1)") && !page.text.contains("<script"))
        let fields = [
            ("form_token", Browser.formToken(in: page)), ("once", "x"), ("app", "shop"), ("name", "k"),
            ("kind", "secret"),
        ]
        #expect(await browser.post("/dashboard/keys/make", fields).status == .forbidden)
        #expect(try await Self.keys(desk).isEmpty)
    }

    @Test func aPageOfManyKeysStaysSmall() async throws {
        let (desk, _) = Self.desk()
        let scopes = KeyKind.secret.scopes.map(\.rawValue).sorted()
        let rows = (0..<APIKeyRow.listedMax).map { number in
            APIKeyRow(
                id: APIKeyID(checked: "key_\(number)"),
                app: Desk.app,
                name: String(repeating: "<", count: 60) + String(number),
                kind: "secret",
                scopes: scopes,
                environments: StoreEnvironment.known.map(\.rawValue),
                sha256: Digest.sha256([UInt8(number)]),
                hint: "abcd",
                createdAt: desk.clock.now,
                createdBy: "shop"
            )
        }
        try await desk.store.write { write throws(StoreFailure) in for row in rows { try write.addAPIKey(row) } }
        let browser = try await desk.browser(.admin)
        for page in ["keys", "keys?from=50", "keys?from=199"] {
            let shown = await browser.get("/dashboard/\(page)")
            #expect(shown.status == .ok)
            #expect(shown.body.count < 100_000, "\(shown.body.count)")
        }
    }
}
