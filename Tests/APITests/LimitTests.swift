import API
import Encoding
import HTTP
import PurchaseModel
import TestSupport
import Testing

/// How often who may come.
@Suite struct LimitTests {
    private static func ask(_ house: TestHouse, key: String, from address: [UInt8]) async -> HTTPResponse {
        let remote = HTTPRemote(address: address, port: 1)
        let fields: HTTPFields = ["Authorization": "Bearer \(key)"]
        return await house.router.respond(
            to: HTTPRequest(method: .get, path: "/v1/catalogue", fields: fields, remote: remote)
        )
    }

    /// draft-ietf-httpapi-ratelimit-headers-10, in good answers and bad ones.
    @Test func everyAnswerSaysHowTheKeyStands() async throws {
        try await TestHouse(requestsPerSecond: 2).open { house in
            for (remaining, status) in [(1, HTTPStatus.ok), (0, .ok), (0, .tooManyRequests)] {
                let answer = await house.get("/v1/catalogue")
                #expect(answer.status == status)
                #expect(answer.fields["RateLimit-Policy"] == #""key";q=2;w=1"#)
                #expect(answer.fields["RateLimit"] == "\"key\";r=\(remaining);t=1")
                #expect((answer.fields["Retry-After"] != nil) == (status == .tooManyRequests))
            }
            // Another key is another bucket.
            #expect(await house.get("/v1/catalogue", key: TestHouse.otherKey).status == .ok)
            house.clock.advance(by: .seconds(1))
            #expect(await house.get("/v1/catalogue").fields["RateLimit"] == #""key";r=1;t=1"#)
            let refused = await house.change("/v1/orders", "{}")
            #expect(refused.status == .badRequest && refused.fields["RateLimit"] == #""key";r=0;t=1"#)
        }
    }

    /// Also where it may not: it was counted all the same.
    @Test func aClosedDoorSaysHowTheKeyStands() async throws {
        try await TestHouse(requestsPerSecond: 3).open { house in
            let body = #"{"name": "reader", "kind": "secret", "scopes": ["read"]}"#
            let key = try #require(try await house.change("/v1/keys", body).json()["secret"]?.string)
            let closed = await house.get("/v1/keys", key: key)
            #expect(closed.status == .forbidden && closed.fields["RateLimit"] == #""key";r=2;t=1"#)
        }
    }

    @Test func withoutALimitNothingIsSaid() async throws {
        let answer = try await TestHouse().get("/v1/catalogue")
        #expect(answer.fields["RateLimit"] == nil && answer.fields["RateLimit-Policy"] == nil)
    }

    /// Six hundred a minute from one address; who has a key is not held up by them, and neither is another address.
    @Test func whoTriesKeysIsToldToWait() async throws {
        let house = try TestHouse()
        let address: [UInt8] = [192, 0, 2, 1]
        for _ in 0..<600 {
            #expect(await Self.ask(house, key: "no-key", from: address).status == .unauthorized)
        }
        let held = await Self.ask(house, key: "no-key", from: address)
        #expect(held.status == .tooManyRequests)
        #expect(try held.json()["code"]?.string == "too_many_unknown_keys")
        #expect(held.fields["Retry-After"] == "60")
        #expect(await Self.ask(house, key: TestHouse.key, from: address).status == .ok)
        #expect(await Self.ask(house, key: "no-key", from: [192, 0, 2, 2]).status == .unauthorized)
        house.clock.advance(by: .seconds(60))
        #expect(await Self.ask(house, key: "no-key", from: address).status == .unauthorized)
    }

    /// All of a /64 is one, since one household has as many addresses as it likes.
    @Test func oneNetworkOfIPv6IsOneAddress() async throws {
        let house = try TestHouse()
        let network: [UInt8] = [0x20, 1, 0x0D, 0xB8, 0, 0, 0, 1]
        for number in 0..<600 {
            let host = [0, 0, 0, 0, 0, 0, UInt8(number / 256), UInt8(number % 256)]
            _ = await Self.ask(house, key: "no-key", from: network + host)
        }
        let held = await Self.ask(house, key: "no-key", from: network + [9, 9, 9, 9, 9, 9, 9, 9])
        #expect(held.status == .tooManyRequests)
        let other: [UInt8] = [0x20, 1, 0x0D, 0xB8, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1]
        #expect(await Self.ask(house, key: "no-key", from: other).status == .unauthorized)
    }
}
