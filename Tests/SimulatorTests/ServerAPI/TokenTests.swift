import Crypto
import Encoding
import HTTP
import PurchaseModel
import Simulator
import TestSupport
import Testing

@Suite struct ServerAPITokenTests {
    private typealias Change = @Sendable (inout Shop.Token) -> Void

    private static let path = "/inApps/v1/notifications/test"

    @Test func aGoodTokenLetsIn() async throws {
        let response = try await Shop().call(.post, Self.path)
        #expect(response.status == .ok)
    }

    private static let now = TestAuthority.moment.milliseconds / 1_000

    private static let wrong: [(name: String, change: Change)] = [
        ("another algorithm", { $0.header["alg"] = .text("HS256") }),
        ("no algorithm", { $0.header["alg"] = nil }),
        ("algorithm none", { $0.header["alg"] = .text("none") }),
        ("an unknown key", { $0.header["kid"] = .text("KLMNOPQRST") }),
        ("no key", { $0.header["kid"] = nil }),
        ("another type", { $0.header["typ"] = .text("JWS") }),
        ("another audience", { $0.claims["aud"] = .text("appstoreconnect-v2") }),
        ("several audiences", { $0.claims["aud"] = .list([.text("appstoreconnect-v1")]) }),
        ("another issuer", { $0.claims["iss"] = .text("57246542-96fe-1a63-e053-0824d011072b") }),
        ("no issuer", { $0.claims["iss"] = nil }),
        ("an unknown app", { $0.claims["bid"] = .text("com.example.nobody") }),
        ("another team's app", { $0.claims["bid"] = .text(Shop.otherBundleID.text) }),
        ("no app", { $0.claims["bid"] = nil }),
        ("signed by another", { $0.key = Shop.otherKey }),
        ("a changed signature", { $0.signature = { [$0[0] ^ 1] + $0.dropFirst() } }),
        ("half a signature", { $0.signature = { Array($0.prefix(32)) } }),
        (
            "expired",
            {
                $0.claims["iat"] = .number(now - 400); $0.claims["exp"] = .number(now)
            }
        ),
        ("too long", { $0.claims["exp"] = .number(now + 3_601) }),
        (
            "of tomorrow",
            {
                $0.claims["iat"] = .number(now + 86_400); $0.claims["exp"] = .number(now + 86_700)
            }
        ),
        (
            "ends before it begins",
            {
                $0.claims["iat"] = .number(now + 30); $0.claims["exp"] = .number(now + 20)
            }
        ),
        (
            "an overflow",
            {
                $0.claims["iat"] = .number(.min); $0.claims["exp"] = .number(.max)
            }
        ),
        ("no end", { $0.claims["exp"] = nil }),
        ("a beginning in words", { $0.claims["iat"] = .text("\(now)") }),
        (
            "too long without a beginning",
            {
                $0.claims["iat"] = nil
                $0.claims["exp"] = .number(now + 3_601)
            }
        ),
        ("an end in words", { $0.claims["exp"] = .text("\(now + 300)") }),
    ]

    @Test(arguments: wrong.indices) func aWrongTokenGetsNothing(index: Int) async throws {
        var token = Shop.Token()
        Self.wrong[index].change(&token)
        let response = try await Shop().call(.post, Self.path, token: token)
        #expect(response.status == .unauthorized, "\(Self.wrong[index].name)")
        #expect(response.body.isEmpty)
    }

    @Test(arguments: [nil, "", "Bearer", "Bearer ", "Bearer a.b.c", "Bearer ..", "Basic YTpi", "eyJ.eyJ.sig"])
    func noTokenGetsNothing(field: String?) async throws {
        var request = HTTPRequest(method: .post, path: "/sandbox" + Self.path)
        request.fields["Authorization"] = field
        let response = await (try Shop()).router.respond(to: request)
        #expect(response.status == .unauthorized)
        #expect(response.body.isEmpty)
    }

    @Test func twoTokensAreNone() async throws {
        var request = HTTPRequest(method: .post, path: "/sandbox" + Self.path)
        for _ in 0..<2 { request.fields.append("Authorization", "Bearer " + (try Shop.Token().text())) }
        #expect(await (try Shop()).router.respond(to: request).status == .unauthorized)
    }

    @Test func theLongestTokenLetsIn() async throws {
        var token = Shop.Token()
        token.claims["exp"] = .number(Self.now + 3_600)
        #expect(try await Shop().call(.post, Self.path, token: token).status == .ok)
    }

    /// As Apple's Python library makes them.
    @Test func aTokenNeedsNoBeginning() async throws {
        var token = Shop.Token()
        token.claims["iat"] = nil
        #expect(try await Shop().call(.post, Self.path, token: token).status == .ok)
    }

    @Test func virtualTimeCountsAsWellAsTheRealOne() async throws {
        let shop = try Shop()
        shop.pass(.seconds(86_400 * 400))
        let virtual = Shop.Token(at: shop.simulator.now)
        let real = Shop.Token(at: shop.clock.now)
        let neither = Shop.Token(at: shop.clock.now.advanced(by: .seconds(86_400 * 200)))
        #expect(try await shop.call(.post, Self.path, token: virtual).status == .ok)
        #expect(try await shop.call(.post, Self.path, token: real).status == .ok)
        #expect(try await shop.call(.post, Self.path, token: neither).status == .unauthorized)
    }

    @Test func aForeignAppMayGetAnErrorInstead() async throws {
        var options = ServerAPI.Options()
        options.foreignApp = .appNotFound
        let shop = try Shop(options)
        var token = Shop.Token()
        token.claims["bid"] = .text("com.example.nobody")
        let response = try await shop.call(.post, Self.path, token: token)
        #expect(response.status == .notFound)
        #expect(try response.object()["errorCode"]?.int64 == 4_040_003)
        token.key = Shop.otherKey
        token.header["kid"] = .text("KLMNOPQRST")
        #expect(try await shop.call(.post, Self.path, token: token).status == .unauthorized)
    }

    @Test(arguments: [
        ("api.storekit.apple.com", 200), ("api.storekit.itunes.apple.com", 200), ("API.storekit.apple.COM:443", 200),
        ("api.storekit-sandbox.apple.com", 404), ("api.storekit-sandbox.itunes.apple.com", 404),
        ("local-testing-base-url", 404), ("localhost", 0), ("api.storekit.apple.com.evil.example", 0), ("", 0),
    ])
    func aHostOfApplesNeedsNoPrefix(host: String, status: Int) async throws {
        let shop = try Shop()
        let id = try shop.buy("coins", by: "berta")
        let request = HTTPRequest(
            method: .get,
            path: "/inApps/v1/transactions/\(id)",
            fields: ["Authorization": "Bearer " + (try Shop.Token().text()), "Host": host]
        )
        let response = await shop.router.respond(to: request)
        // A purchase in production is unknown in the sandbox; elsewhere nobody looks.
        let code = try response.object()["errorCode"]?.int64
        #expect(response.status.rawValue == (status == 0 ? 404 : status))
        #expect((code == 4_040_010) == (status == 404))
    }
}
