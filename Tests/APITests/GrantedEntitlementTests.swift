import Encoding
import HTTP
import Pipeline
import PurchaseModel
import TestSupport
import Testing

/// Entitlements granted by hand, over the API.
@Suite struct GrantedEntitlementTests {
    private static let place = "/v1/customers/ann/granted-entitlements"

    private static func terms() throws -> AppTerms {
        let product = try #require(ProductID("plan"))
        let goods = [Goods.entitlement(try #require(EntitlementID("pro")))]
        return AppTerms(products: [product: ProductTerms(product: product, kind: .nonConsumable, goods: goods)])
    }

    private static func entitlements(_ house: TestHouse) async throws -> [JSONObject] {
        let all = try await house.get("/v1/customers/ann/entitlements").json()["entitlements"]?.array
        return all?.compactMap(\.object) ?? []
    }

    @Test func itIsInForceUntilItEndsOrIsRevoked() async throws {
        try await TestHouse(terms: Self.terms()).open { house in
            #expect(try await Self.entitlements(house).isEmpty)
            let until = try #require(RFC3339.text(milliseconds: TestHouse.now.milliseconds + 60_000))
            let body = #"{"until": "\#(until)", "reason": "the outage"}"#
            let granted = await house.change("\(Self.place)/pro/grant", body)
            #expect(granted.status == .ok)
            #expect(try granted.json()["changed_by"]?.string == "shop")
            #expect(try granted.json()["reason"]?.string == "the outage")
            let found = try #require(try await Self.entitlements(house).first)
            #expect(found["until"]?.string == until && found["granted_by_hand"]?.bool == true)
            #expect(found["product_id"] == nil && found["transaction_id"] == nil)
            house.clock.advance(by: .seconds(60))
            #expect(try await Self.entitlements(house).isEmpty)
            #expect(await house.change("\(Self.place)/pro/grant", #"{"until": null}"#).status == .ok)
            #expect(try await Self.entitlements(house).first?["until"] == nil)
            #expect(await house.change("\(Self.place)/pro/revoke", #"{"reason": "a mistake"}"#).status == .ok)
            #expect(try await Self.entitlements(house).isEmpty)
            let listed = try await house.get(Self.place).json()["granted_entitlements"]?.array
            let row = try #require(listed?.first { _ in true }?.object)
            #expect(row["is_revoked"]?.bool == true && row["version"]?.int64 == 3)
            #expect(row["reason"]?.string == "a mistake")
            let events = try await house.get("/v1/events").json()["events"]?.array
            let types = events?.compactMap { $0.object?["event"]?.object?["type"]?.string }
            #expect(types == ["entitlement.granted", "entitlement.granted", "entitlement.revoked"])
        }
    }

    /// Each row: what is asked, and the status and code of the refusal.
    @Test(arguments: [
        ("pro/revoke", "", 404, "not_found"), ("premium/grant", #"{"until": null}"#, 404, "not_found"),
        ("pro/grant", "{}", 400, "invalid_request"), ("pro/grant", "", 400, "invalid_request"),
        ("pro/grant", #"{"until": "2001-01-01T00:00:00Z"}"#, 409, "already_over"),
        ("pro/grant", #"{"until": "tomorrow"}"#, 400, "invalid_request"),
        ("pro/grant", #"{"until": 5}"#, 400, "invalid_request"),
        ("pro/grant", #"{"until": null, "reason": ""}"#, 400, "invalid_request"),
        ("pro/grant", #"{"until": null, "reason": "a\u0000b"}"#, 400, "invalid_request"),
        ("pro/grant", #"{"until": null, "reason": "\#(String(repeating: "x", count: 501))"}"#, 400, "invalid_request"),
        ("pro/grant", #"{"until": null, "environment": "moon"}"#, 400, "invalid_request"),
        ("pro/revoke", #"{"until": null}"#, 400, "invalid_request"),
    ])
    func whatCannotBeIsRefused(path: String, body: String, status: Int, code: String) async throws {
        try await TestHouse(terms: Self.terms()).open { house in
            let answer = await house.change("\(Self.place)/\(path)", body)
            #expect(answer.status.rawValue == status)
            #expect(try answer.json()["code"]?.string == code)
            let listed = try await house.get(Self.place).json()["granted_entitlements"]?.array
            #expect(listed?.count == 0)
        }
    }
}
