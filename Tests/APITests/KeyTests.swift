import API
import Crypto
import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage
import Testing
import TestSupport

/// Keys that are made over the API.
@Suite struct KeyTests {
    @Test func aNewKeyOpensWhatItSaysAndItsSecretIsKeptNowhere() async throws {
        let store = MemoryStore()
        try await TestHouse(store: store).open { house in
            let made = await house.change("/v1/keys", #"{"name": "backend", "kind": "secret", "scopes": ["read"]}"#)
            #expect(made.status == .created)
            let json = try made.json()
            let secret = try #require(json["secret"]?.string)
            #expect(secret.hasPrefix("sk_live_") && secret.utf8.count == 56)
            #expect(json["hint"]?.string == String(secret.suffix(4)))
            #expect(json["created_by"]?.string == "shop")
            #expect(await house.get("/v1/orders", key: secret).status == .ok)
            let refused = await house.get("/v1/keys", key: secret)
            #expect(refused.status == .forbidden)
            #expect(try refused.json()["code"]?.string == "scope_missing")
            let app = try Self.app()
            let rows = try await store.read { reader throws(StoreFailure) in
                try reader.apiKeys(app: app, at: TestHouse.now)
            }
            let row = try #require(rows.first { _ in true })
            #expect(row.sha256 == Digest.sha256(Array(secret.utf8)))
            // Nowhere, the listing among it.
            let listed = await house.get("/v1/keys")
            #expect(!String(decoding: listed.body, as: UTF8.self).contains(secret))
        }
    }

    /// The same request again gets the same answer, but for the secret: it would have to be kept.
    @Test func aRepeatedRequestMakesNoSecondKeyAndShowsNoSecret() async throws {
        try await TestHouse().open { house in
            let body = #"{"name": "backend", "kind": "secret"}"#
            let first = await house.change("/v1/keys", body, idempotencyKey: "k")
            let again = await house.change("/v1/keys", body, idempotencyKey: "k")
            let (made, repeated) = (try first.json(), try again.json())
            #expect(made["secret"] != nil)
            #expect(again.status == .created && again.fields["Idempotent-Replayed"] == "true")
            #expect(repeated["secret"] == nil)
            #expect(repeated["key_id"]?.string == made["key_id"]?.string)
            #expect(try await house.get("/v1/keys").json()["keys"]?.array?.count == 1)
        }
    }

    @Test func theOldSecretLivesOnUntilTheOverlapIsOver() async throws {
        try await TestHouse().open { house in
            let made = try await house.change("/v1/keys", #"{"name": "backend", "kind": "secret"}"#).json()
            let (id, old) = (try #require(made["key_id"]?.string), try #require(made["secret"]?.string))
            let rotated = await house.change("/v1/keys/\(id)/rotate", #"{"overlap_seconds": 60}"#)
            #expect(rotated.status == .created)
            let new = try #require(try rotated.json()["secret"]?.string)
            #expect(try rotated.json()["name"]?.string == "backend")
            house.clock.advance(by: .seconds(59))
            for secret in [old, new] { #expect(await house.get("/v1/orders", key: secret).status == .ok) }
            house.clock.advance(by: .seconds(1))
            #expect(await house.get("/v1/orders", key: old).status == .unauthorized)
            #expect(await house.get("/v1/orders", key: new).status == .ok)
            // What is over cannot be rotated any more.
            #expect(await house.change("/v1/keys/\(id)/rotate").status == .notFound)
        }
    }

    @Test func whoMadeRotatedAndRevokedAKeyIsInTheLog() async throws {
        let store = MemoryStore()
        try await TestHouse(store: store).open { house in
            let body = #"{"name": "backend", "kind": "secret", "scopes": ["keys", "read"]}"#
            let made = try await house.change("/v1/keys", body, idempotencyKey: "k").json()
            _ = await house.change("/v1/keys", body, idempotencyKey: "k")
            // What is refused changes nothing.
            _ = await house.change("/v1/keys", body)
            let (id, secret) = (try #require(made["key_id"]?.string), try #require(made["secret"]?.string))
            let rotated = try await house.change("/v1/keys/\(id)/rotate", key: secret).json()
            let new = try #require(rotated["key_id"]?.string)
            _ = await house.change("/v1/keys/\(new)/revoke")
            let page = try await store.read { reader throws(StoreFailure) in
                try reader.adminActions(before: nil, limit: 10)
            }
            #expect(page.actions.map(\.action) == ["key_revoked", "key_rotated", "key_made"])
            #expect(page.actions.map(\.subject) == [new, new, id])
            // The first key is the configuration's, and has a name alone.
            #expect(page.actions.map(\.key) == ["demo/shop", "demo/\(id)", "demo/shop"])
            #expect(page.actions.allSatisfy { $0.admin == nil && !$0.remote.utf8.isEmpty })
            #expect(page.actions.allSatisfy { action in action.detail.map { !$0.contains(secret) } ?? false })
        }
    }

    @Test func aRevokedKeyOpensNothing() async throws {
        try await TestHouse().open { house in
            let made = try await house.change("/v1/keys", #"{"name": "backend", "kind": "secret"}"#).json()
            let (id, secret) = (try #require(made["key_id"]?.string), try #require(made["secret"]?.string))
            #expect(await house.change("/v1/keys/\(id)/revoke", key: TestHouse.otherKey).status == .notFound)
            #expect(await house.get("/v1/orders", key: secret).status == .ok)
            #expect(await house.change("/v1/keys/\(id)/revoke").status == .ok)
            #expect(await house.get("/v1/orders", key: secret).status == .unauthorized)
            // The name is free again.
            #expect(await house.change("/v1/keys", #"{"name": "backend", "kind": "secret"}"#).status == .created)
        }
    }

    @Test func aKeyThatEndsIsOverThen() async throws {
        try await TestHouse().open { house in
            let body = #"{"name": "short", "kind": "secret", "expires_in_days": 1}"#
            let secret = try #require(try await house.change("/v1/keys", body).json()["secret"]?.string)
            house.clock.advance(by: .seconds(86_399))
            #expect(await house.get("/v1/orders", key: secret).status == .ok)
            house.clock.advance(by: .seconds(1))
            #expect(await house.get("/v1/orders", key: secret).status == .unauthorized)
        }
    }

    /// Bodies that make no key, each with what is said of it.
    static let bad: [(body: String, code: String, field: String?)] = [
        (#"{"kind": "secret"}"#, "invalid_request", "name"), (#"{"name": "a"}"#, "invalid_request", "kind"),
        (#"{"name": "a b", "kind": "secret"}"#, "invalid_request", "name"),
        (#"{"name": "a,b", "kind": "secret"}"#, "invalid_request", "name"),
        (#"{"name": "a", "kind": "root"}"#, "invalid_request", "kind"),
        (#"{"name": "a", "kind": "secret", "scopes": []}"#, "invalid_request", "scopes"),
        (#"{"name": "a", "kind": "secret", "scopes": ["all"]}"#, "invalid_request", "scopes"),
        (#"{"name": "a", "kind": "secret", "scopes": ["read", "read"]}"#, "invalid_request", "scopes"),
        (#"{"name": "a", "kind": "publishable", "scopes": ["write"]}"#, "invalid_request", "scopes"),
        (#"{"name": "a", "kind": "secret", "environments": ["moon"]}"#, "invalid_request", "environments"),
        (#"{"name": "a", "kind": "secret", "expires_in_days": 0}"#, "invalid_request", "expires_in_days"),
        (#"{"name": "shop", "kind": "secret"}"#, "key_name_taken", nil),
    ]

    @Test(arguments: bad)
    func aBadRequestMakesNone(row: (body: String, code: String, field: String?)) async throws {
        try await TestHouse().open { house in
            let answer = await house.change("/v1/keys", row.body)
            let problem = try answer.json()
            #expect(problem["code"]?.string == row.code)
            #expect(problem["field"]?.string == row.field)
            #expect(try await house.get("/v1/keys").json()["keys"]?.array?.count == 0)
        }
    }

    /// A key that may make others gives them no more than it has, and no new secret for a mightier one.
    @Test func nobodyGivesMoreThanHeHas() async throws {
        try await TestHouse().open { house in
            let body =
                #"{"name": "limited", "kind": "secret", "scopes": ["keys", "read"], "environments": ["sandbox"]}"#
            let limited = try #require(try await house.change("/v1/keys", body).json()["secret"]?.string)
            #expect(limited.hasPrefix("sk_test_"))
            for scopes in [#"["write"]"#, #"["read", "submit"]"#] {
                let asked = #"{"name": "x", "kind": "secret", "scopes": \#(scopes)}"#
                let refused = await house.change("/v1/keys", asked, key: limited)
                #expect(try refused.status == .forbidden && refused.json()["code"]?.string == "more_than_own")
            }
            let wider = #"{"name": "x", "kind": "secret", "scopes": ["read"], "environments": ["production"]}"#
            let refused = await house.change("/v1/keys", wider, key: limited)
            #expect(try refused.status == .forbidden && refused.json()["code"]?.string == "more_than_own")
            let heir = await house.change(
                "/v1/keys",
                #"{"name": "x", "kind": "secret", "scopes": ["read"]}"#,
                key: limited
            )
            #expect(heir.status == .created)
            #expect(try heir.json()["environments"]?.array?.compactMap(\.string) == ["sandbox"])
            // Without what is usual to give there is nothing to give.
            let maker = #"{"name": "maker", "kind": "secret", "scopes": ["keys"]}"#
            let making = try #require(try await house.change("/v1/keys", maker).json()["secret"]?.string)
            for kind in ["secret", "publishable"] {
                let empty = await house.change("/v1/keys", #"{"name": "x", "kind": "\#(kind)"}"#, key: making)
                #expect(try empty.status == .forbidden && empty.json()["code"]?.string == "more_than_own")
            }
            let mighty = try await house.change("/v1/keys", #"{"name": "mighty", "kind": "secret"}"#).json()
            let id = try #require(mighty["key_id"]?.string)
            let stolen = await house.change("/v1/keys/\(id)/rotate", key: limited)
            #expect(stolen.status == .forbidden)
            #expect(try stolen.json()["code"]?.string == "more_than_own")
            // Nor does it end what reaches other stores; what reaches none it may.
            let ended = await house.change("/v1/keys/\(id)/revoke", key: limited)
            #expect(try ended.status == .forbidden && ended.json()["code"]?.string == "more_than_own")
            let own = try #require(try heir.json()["key_id"]?.string)
            #expect(await house.change("/v1/keys/\(own)/revoke", key: limited).status == .ok)
        }
    }

    /// Nor does a key that ends make one that outlives it, nor a new secret for one.
    @Test func nobodyMakesAKeyThatOutlivesHisOwn() async throws {
        try await TestHouse().open { house in
            func make(_ name: String, _ days: Int?, key: String = TestHouse.key) async -> HTTPResponse {
                let end = days.map { #", "expires_in_days": \#($0)"# } ?? ""
                let body = #"{"name": "\#(name)", "kind": "secret", "scopes": ["keys", "read"]\#(end)}"#
                return await house.change("/v1/keys", body, key: key)
            }
            let limited = try await make("limited", 3).json()
            let (id, key) = (try #require(limited["key_id"]?.string), try #require(limited["secret"]?.string))
            let end = try #require(limited["expires_at"]?.string)
            for days in [4, 3_650] {
                let refused = await make("x", days, key: key)
                #expect(try refused.status == .forbidden && refused.json()["code"]?.string == "more_than_own")
            }
            // Without a word it ends with the one that makes it; sooner it may.
            let heir = await make("heir", nil, key: key)
            #expect(try heir.status == .created && heir.json()["expires_at"]?.string == end)
            let short = await make("short", 2, key: key)
            #expect(try short.status == .created && short.json()["expires_at"]?.string?.isEmpty == false)
            let lasting = try #require(try await make("lasting", nil).json()["key_id"]?.string)
            let taken = await house.change("/v1/keys/\(lasting)/rotate", key: key)
            #expect(try taken.status == .forbidden && taken.json()["code"]?.string == "more_than_own")
            let rotated = await house.change("/v1/keys/\(id)/rotate", key: key)
            #expect(try rotated.status == .created && rotated.json()["expires_at"]?.string == end)
        }
    }

    /// A secret that was rotated away ends: who has it does not get hold of its successor.
    @Test func anOldSecretTakesNoNewOne() async throws {
        try await TestHouse().open { house in
            let body = #"{"name": "backend", "kind": "secret", "scopes": ["keys", "read"]}"#
            let made = try await house.change("/v1/keys", body).json()
            let (id, old) = (try #require(made["key_id"]?.string), try #require(made["secret"]?.string))
            let new = try #require(try await house.change("/v1/keys/\(id)/rotate").json()["key_id"]?.string)
            #expect(await house.change("/v1/keys/\(new)/rotate", key: old).status == .forbidden)
            let heir = await house.change("/v1/keys", body.replacing("backend", with: "x"), key: old)
            #expect(try heir.status == .created && heir.json()["expires_at"] != nil)
        }
    }

    /// Another server has not heard yet that the key was revoked.
    @Test func aRevokedKeyMakesNoneAnywhere() async throws {
        let (store, ring) = (MemoryStore(), KeyRing([:]))
        let (one, other) = (try TestHouse(store: store), try TestHouse(store: store, keys: ring))
        try await one.open { one in
            let body = #"{"name": "backend", "kind": "secret", "scopes": ["keys"]}"#
            let made = try await one.change("/v1/keys", body).json()
            let (id, secret) = (try #require(made["key_id"]?.string), try #require(made["secret"]?.string))
            #expect(await other.get("/v1/keys", key: secret).status == .ok)
            #expect(await one.change("/v1/keys/\(id)/revoke").status == .ok)
            let heir = body.replacing("backend", with: "heir")
            let refused = await other.change("/v1/keys", heir, key: secret)
            #expect(try refused.status == .forbidden && refused.json()["code"]?.string == "more_than_own")
        }
    }

    /// What is signed for StoreKit gives a discount in every store.
    @Test(arguments: [
        (more: "", signs: true), (#", "environments": ["sandbox"]"#, false),
        (#", "environments": ["sandbox", "production"]"#, true),
        (#", "environments": ["sandbox"], "scopes": ["sign"]"#, true),
    ])
    func aKeyOfTheSandboxSignsOnlyIfSomebodySaysSo(more: String, signs: Bool) async throws {
        try await TestHouse().open { house in
            let made = await house.change("/v1/keys", #"{"name": "tester", "kind": "secret"\#(more)}"#)
            let key = try #require(try made.json()["secret"]?.string)
            let answer = await house.change("/v1/signatures/promotional-offer", "{}", key: key)
            #expect((try answer.json()["code"]?.string == "scope_missing") == !signs)
        }
    }

    /// A key for the sandbox brings nothing from production in.
    @Test func aKeyBringsProofsOfItsStoresOnly() async throws {
        try await TestHouse().open { house in
            let body = #"{"name": "tester", "kind": "secret", "environments": ["sandbox"]}"#
            let key = try #require(try await house.change("/v1/keys", body).json()["secret"]?.string)
            let refused = await house.submit(try Sample.jws(9_001, environment: .production), key: key)
            #expect(refused.status == .unprocessableContent)
            #expect(await house.submit(try Sample.jws(9_001, environment: .production)).status == .ok)
            #expect(await house.submit(try Sample.jws(9_002, environment: .sandbox), key: key).status == .ok)
        }
    }

    @Test func whenAKeyWasUsedIsWrittenToTheHour() async throws {
        let store = MemoryStore()
        let ring = KeyRing([:])
        let row = APIKeyRow(
            id: try #require(APIKeyID("key_1")),
            app: try Self.app(),
            name: "backend",
            kind: "secret",
            scopes: ["read"],
            environments: nil,
            sha256: Digest.sha256(Array("secret".utf8)),
            hint: "cret",
            createdAt: TestHouse.now,
            createdBy: "root"
        )
        try await store.write { write throws(StoreFailure) in try write.addAPIKey(row) }
        try await TestHouse(store: store, keys: ring).open { house in
            try await ring.reload(from: store, at: TestHouse.now)
            for _ in 1...3 { #expect(await house.get("/v1/orders", key: "secret").status == .ok) }
            try await ring.writeUses(to: store)
            let used = try await store.read { reader throws(StoreFailure) in try reader.apiKey(row.id)?.lastUsedAt }
            #expect(used?.milliseconds == TestHouse.now.milliseconds / 3_600_000 * 3_600_000)
        }
    }

    /// Until the keys of the ledger are read, nobody can tell that a key is none: that is our trouble, not the caller's.
    @Test func beforeTheKeysAreReadNobodyIsTurnedAway() async throws {
        let store = MemoryStore()
        let ring = KeyRing([:], isComplete: false)
        try await TestHouse(store: store, keys: ring).open { house in
            let early = await house.get("/v1/orders", key: "secret")
            #expect(early.status == .serviceUnavailable && early.fields["Retry-After"] != nil)
            try await ring.reload(from: store, at: TestHouse.now)
            #expect(await house.get("/v1/orders", key: "secret").status == .unauthorized)
        }
    }

    /// What hinders reading them is what a caller is told whose key may be among them, however long it lasts.
    @Test func whileTheDatabaseIsAwayAKeyOfItsIsToldSo() async throws {
        let ring = KeyRing([:], isComplete: false)
        let (away, store) = (AwayStore(), MemoryStore())
        try await TestHouse(store: away, keys: ring).open { house in
            func code() async throws -> String? {
                try await house.get("/v1/orders", key: Self.strange).json()["code"]?.string
            }
            #expect(try await code() == "busy", "nobody has tried yet")
            await #expect(throws: StoreFailure.unreachable) { try await ring.reload(from: away, at: TestHouse.now) }
            #expect(try await code() == "database_unreachable")
            // Those that are known may be looked up again for a while: then it is the look-up that fails.
            try await ring.reload(from: store, at: TestHouse.now)
            #expect(try await code() == "database_unreachable")
            await #expect(throws: StoreFailure.unreachable) { try await ring.reload(from: away, at: TestHouse.now) }
            ring.doubt()
            let answer = await house.get("/v1/orders", key: Self.strange)
            #expect(answer.status == .serviceUnavailable && answer.fields["Retry-After"] == "1")
            #expect(try answer.json()["code"]?.string == "database_unreachable")
            try await ring.reload(from: store, at: TestHouse.now)
            #expect(ring.trouble == .busy)
        }
    }

    private static let strange = "sk_live_" + String(repeating: "0", count: 48)

    /// The other server has not read the keys since.
    @Test func whatOneServerMakesOpensTheOthersAtOnce() async throws {
        let store = MemoryStore()
        let ring = KeyRing([:])
        let (one, other) = (try TestHouse(store: store), try TestHouse(store: store, keys: ring))
        try await one.open { one in
            let made = try await one.change("/v1/keys", #"{"name": "backend", "kind": "secret"}"#).json()
            let (id, secret) = (try #require(made["key_id"]?.string), try #require(made["secret"]?.string))
            for _ in 0..<2 { #expect(await other.get("/v1/orders", key: secret).status == .ok) }
            #expect(await other.get("/v1/orders", key: secret + "0").status == .unauthorized)
            #expect(await other.get("/v1/orders", key: String(secret.dropLast()) + "g").status == .unauthorized)
            #expect(await one.change("/v1/keys/\(id)/revoke").status == .ok)
            try await ring.reload(from: store, at: TestHouse.now)
            for _ in 0..<2 { #expect(await other.get("/v1/orders", key: secret).status == .unauthorized) }
        }
    }

    private static func app() throws -> AppID { try #require(AppID("demo")) }
}

/// A store whose database nobody reaches.
private struct AwayStore: Store {
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreTransaction) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        throw .unreachable
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        throw .unreachable
    }

    func close() async {}
}
