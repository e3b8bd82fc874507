import Encoding
import HTTP
import PurchaseModel
import Simulator
import Testing
import TestSupport

/// How subscriptions stand, over the API, with proofs that the simulator signs.
@Suite struct SubscriptionTests {
    private static let number: Int64 = 2_000_000_000_000_009

    private static func proof(_ change: (inout Renewal) -> Void = { _ in }) throws -> String {
        let id = try #require(TransactionID(number: number))
        let product = try #require(ProductID("com.example.demo.pro.month"))
        var period = Transaction(
            id: id,
            originalID: id,
            product: product,
            kind: .autoRenewable,
            purchasedAt: TestHouse.now,
            signedAt: TestHouse.now
        )
        period.expiresAt = TestHouse.now.advanced(by: .seconds(30 * 86_400))
        period.subscriptionGroup = "21"
        var renewal = Renewal(originalID: id, product: product, signedAt: TestHouse.now)
        renewal.willAutoRenew = true
        renewal.nextProduct = product
        renewal.renewsAt = period.expiresAt
        change(&renewal)
        var notice = Notice(uuid: "\(renewal.signedAt.milliseconds)", type: "DID_RENEW", signedAt: renewal.signedAt)
        notice.transaction = period
        notice.renewal = renewal
        return try PurchaseSigner(TestAuthority.shared, app: Sample.app()).notification(notice)
    }

    private static func terms() throws -> AppTerms {
        let product = try #require(ProductID("com.example.demo.pro.month"))
        let premium = try #require(EntitlementID("premium"))
        return AppTerms(
            products: [product: ProductTerms(product: product, kind: .autoRenewable, goods: [.entitlement(premium)])],
            sandbox: .everybody(until: Timestamp(milliseconds: .max))
        )
    }

    private static func first(_ response: HTTPResponse) throws -> JSONObject {
        try #require(try response.json()["subscriptions"]?.array?.first { _ in true }?.object)
    }

    @Test func aSubscriptionIsReadByItsCustomerAndByItsNumber() async throws {
        try await TestHouse(terms: Self.terms()).open { house in
            let none = try await house.get("/v1/customers/ann/subscriptions").json()["subscriptions"]?.array
            #expect(none?.compactMap(\.object).count == 0)
            #expect(await house.get("/v1/subscriptions/\(Self.number)").status == .notFound)
            #expect(await house.get("/v1/subscriptions/x").status == .notFound)
            let proof = try Self.proof()
            #expect(await house.submit(proof, customer: "ann").status == .ok)
            for path in ["/v1/customers/ann/subscriptions", "/v1/subscriptions/\(Self.number)"] {
                let found = try Self.first(await house.get(path))
                #expect(found["state"]?.string == "active" && found["apple_status"]?.int64 == 1)
                #expect(found["product_id"]?.string == "com.example.demo.pro.month")
                #expect(found["will_auto_renew"]?.bool == true && found["customer_id"]?.string == "ann")
                #expect(found["expires_at"]?.string == "2025-12-20T00:53:20.000Z")
                // A month after it was verified or a day before its end, spread by its number.
                let look = try #require(found["next_look_at"]?.string)
                #expect("2025-12-17T02:13:20.000Z" < look && look < "2025-12-19T18:53:20.000Z")
            }
            #expect(await house.get("/v1/customers/a b/subscriptions").status == .notFound)
        }
    }

    /// Access lasts until the grace ends, and no longer.
    @Test func graceIsAccess() async throws {
        try await TestHouse(terms: Self.terms()).open { house in
            let proof = try Self.proof()
            #expect(await house.submit(proof, customer: "ann").status == .ok)
            house.clock.advance(by: .seconds(30 * 86_400))
            #expect(try await Self.rights(in: house) == [])
            let now = house.clock.now
            let failing = try Self.proof { renewal in
                (renewal.signedAt, renewal.isInBillingRetry) = (now, true)
                renewal.graceEndsAt = now.advanced(by: .seconds(16 * 86_400))
            }
            #expect(await house.submit(failing, customer: "ann").status == .ok)
            #expect(try await Self.rights(in: house) == ["premium"])
            let found = try Self.first(await house.get("/v1/customers/ann/subscriptions"))
            #expect(found["state"]?.string == "grace_period")
            #expect(found["access_until"]?.string == found["grace_ends_at"]?.string)
            house.clock.advance(by: .seconds(16 * 86_400))
            #expect(try await Self.rights(in: house) == [])
            let later = try Self.first(await house.get("/v1/customers/ann/subscriptions"))
            #expect(later["state"]?.string == "billing_retry" && later["access_until"] == nil)
        }
    }

    private static func rights(in house: TestHouse) async throws -> [String] {
        let found = try await house.get("/v1/customers/ann/entitlements").json()["entitlements"]?.array
        return found?.compactMap { $0.object?["entitlement"]?.string } ?? []
    }
}
