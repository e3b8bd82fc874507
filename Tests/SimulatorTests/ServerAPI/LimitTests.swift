import Encoding
import HTTP
import PurchaseModel
import Simulator
import TestSupport
import Testing

@Suite struct ServerAPILimitTests {
    private static let path = "/inApps/v1/notifications/test"

    @Test func anHourHasItsLimit() async throws {
        var options = ServerAPI.Options()
        options.limitsRates = true
        let shop = try Shop(options)
        // One a second in production, and a tenth of it here.
        for _ in 0..<360 { #expect(try await shop.code(.post, Self.path) == nil) }
        let refused = try await shop.call(.post, Self.path)
        #expect(refused.status == .tooManyRequests)
        #expect(try refused.object()["errorCode"]?.int64 == 4_290_000)
        let hour: Int64 = 3_600_000
        let next = (TestAuthority.moment.milliseconds / hour + 1) * hour
        #expect(refused.fields["Retry-After"] == String(next))
        // Another environment, another endpoint and no token have counts of their own, or none.
        #expect(try await shop.code(.post, Self.path, in: .production) == 4_040_007)
        #expect(try await shop.code(.get, Self.path + "/x") == 4_000_020)
        var token = Shop.Token()
        token.key = Shop.otherKey
        #expect(try await shop.call(.post, Self.path, token: token).status == .unauthorized)
        shop.clock.set(to: Timestamp(milliseconds: next - 1))
        #expect(try await shop.code(.post, Self.path) == 4_290_000)
        shop.clock.set(to: Timestamp(milliseconds: next))
        #expect(try await shop.code(.post, Self.path) == nil)
    }

    @Test func thereIsNoLimitUnlessAskedFor() async throws {
        let shop = try Shop()
        for _ in 0..<400 { #expect(try await shop.code(.get, Self.path + "/x") == 4_000_020) }
    }
}
