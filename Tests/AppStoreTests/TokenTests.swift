import AppStore
import Crypto
import Encoding
import HTTP
import PurchaseModel
import Simulator
import Testing

/// The token by which we call: what it says, how long it is used, and what is made of a 401.
@Suite struct TokenTests {
    private static func ask(_ shop: ServerDesk) async -> AppStoreFailure? {
        guard let id = TransactionID("1") else { return nil }
        return await failure { () async throws(AppStoreFailure) in try await shop.client.transaction(id, in: .sandbox) }
    }

    private static func tokens(_ shop: ServerDesk) -> [String] {
        shop.desk.log.calls.compactMap { $0.fields["Authorization"] }
    }

    private static func part(_ token: String, _ index: Int) throws -> JSONObject {
        let parts = token.dropFirst("Bearer ".count).split(separator: ".").map { Array($0.utf8) }
        let bytes = try Base64.decode(parts[index], .url, padding: .forbidden)
        return try #require(try JSONDocument(bytes).root.object)
    }

    @Test func aTokenSaysWhatAppleAsksFor() async throws {
        let shop = try ServerDesk()
        #expect(await Self.ask(shop) == .refused(.transactionNotFound))
        let token = try #require(Self.tokens(shop).first)
        let (header, claims) = (try Self.part(token, 0), try Self.part(token, 1))
        #expect(header["alg"]?.string == "ES256" && header["typ"]?.string == "JWT")
        #expect(header["kid"]?.string == ServerDesk.keyID)
        #expect(claims["iss"]?.string == DemoCatalogue.issuerID && claims["bid"]?.string == AppleDesk.bundleID.text)
        #expect(claims["aud"]?.string == "appstoreconnect-v1")
        let now = AppleDesk.start.milliseconds / 1_000
        let (issuedAt, endsAt) = (try #require(claims["iat"]?.int64), try #require(claims["exp"]?.int64))
        #expect(issuedAt <= now && endsAt > now && endsAt - issuedAt <= 3_600)
    }

    @Test func aTokenIsUsedUntilShortlyBeforeItEnds() async throws {
        let shop = try ServerDesk()
        for _ in 0..<50 {
            #expect(await Self.ask(shop) == .refused(.transactionNotFound))
            shop.desk.clock.advance(by: .seconds(60))
        }
        let tokens = Self.tokens(shop)
        // Each lasts 900 s, 30 of them before it was made, and is left 120 s before its end.
        #expect(tokens.count == 50 && Set(tokens).count == 4)
    }

    @Test(arguments: [-7_200, -901, 901, 7_200])
    func aWrongClockIsSeenAndCorrectedOnce(seconds: Int) async throws {
        var chaos = Chaos.none
        chaos.clockSkewSeconds = seconds
        let shop = try ServerDesk(chaos: chaos)
        #expect(await Self.ask(shop) == .refused(.transactionNotFound))
        #expect(shop.desk.log.calls.count == 2)
        #expect(await Self.ask(shop) == .refused(.transactionNotFound))
        #expect(shop.desk.log.calls.count == 3)
        let told = shop.desk.log.events.compactMap { event -> Duration? in
            if case .clockSkew(let skew) = event { skew } else { nil }
        }
        #expect(told == [.seconds(seconds)])
    }

    @Test func aWrongKeyIsTriedOnce() async throws {
        let shop = try ServerDesk(key: PrivateKey(generate: .p256))
        #expect(await Self.ask(shop) == .unauthorized)
        #expect(shop.desk.log.calls.count == 1)
    }

    @Test func withoutAKeyNothingIsSent() async throws {
        let shop = try ServerDesk()
        let client = AppStoreServerClient(
            app: shop.desk.credentials,
            line: shop.desk.line(HTTPHandler { _ in HTTPResponse(.ok) }),
            verifier: try AppleDesk.verifier.get()
        )
        let id = try #require(TransactionID("1"))
        #expect(
            await failure { () async throws(AppStoreFailure) in try await client.transaction(id) } == .notConfigured
        )
        #expect(shop.desk.log.calls.isEmpty)
    }

    @Test func onlyKeysOnP256AreTaken() throws {
        for algorithm in [PrivateKey.Algorithm.p384, .rsa2048] {
            let pem = try PrivateKey(generate: algorithm).pem()
            #expect(throws: CryptoError.self) { try ServerAPIKey(issuerID: "i", keyID: "k", pem: pem) }
        }
        #expect(throws: CryptoError.self) { try ServerAPIKey(issuerID: "i", keyID: "k", pem: Array("no".utf8)) }
    }
}
