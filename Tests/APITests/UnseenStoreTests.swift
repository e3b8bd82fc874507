import Crypto
import HTTP
import Pipeline
import PurchaseModel
import Storage
import Testing
import TestSupport

/// What a key for the sandbox is told of orders and proofs that turn out to be production's.
@Suite struct UnseenStoreTests {
    private static func house(_ terms: AppTerms = AppTerms()) throws -> TestHouse {
        let app = try #require(AppID("demo"))
        func holder(_ name: String) -> KeyRing.Holder { KeyRing.Holder(name: name, app: app) }
        let keys = KeyRing([
            Digest.sha256(Array(TestHouse.key.utf8)): APIKey(holder("shop")),
            Digest.sha256(Array("tests".utf8)): APIKey(holder("tests"), environments: [.sandbox]),
            Digest.sha256(Array("live".utf8)): APIKey(holder("live"), environments: [.production]),
        ])
        return try TestHouse(terms: terms, keys: keys)
    }

    private static func place(_ id: String, of customer: String, in house: TestHouse) async {
        let order =
            #"{"order_id": "\#(id)", "customer_id": "\#(customer)", "product_id": "com.example.demo.coins"}"#
        #expect(await house.change("/v1/orders", order).status == .created)
    }

    /// As one that is not there. What nothing has paid is of no store, and everybody's.
    @Test func anOrderPaidElsewhereIsNotChanged() async throws {
        try await Self.house(OrderTests.terms()).open { house in
            await Self.place("o-1", of: "ann", in: house)
            let paid = try Sample.jws(9_800_001, environment: .production)
            #expect(await house.submit(paid, customer: "ann", order: "o-1").status == .ok)
            #expect(await house.submit(try Sample.jws(9_800_002), customer: "ann", key: "tests").status == .ok)
            let bought = #"{"transaction_id": "9800002", "environment": "sandbox", "test_signed": true}"#
            for (verb, body) in [("cancel", ""), ("attach", bought)] {
                let unseen = await house.change("/v1/orders/o-1/\(verb)", body, key: "tests")
                let missing = await house.change("/v1/orders/o-0/\(verb)", body, key: "tests")
                #expect(unseen.status == .notFound, "\(verb)")
                #expect(unseen.body == missing.body, "\(verb)")
            }
            for key in [TestHouse.key, "live"] {
                #expect(await house.change("/v1/orders/o-1/cancel", key: key).status == .conflict, "\(key)")
            }
            for (id, key) in [("o-2", "tests"), ("o-3", "live")] {
                await Self.place(id, of: "bob", in: house)
                let path = "/v1/orders/\(id)/cancel"
                #expect(await house.change(path, idempotencyKey: "once", key: key).status == .ok, "\(id)")
                let again = await house.change(path, idempotencyKey: "once", key: key)
                #expect(again.status == .ok && again.fields["Idempotent-Replayed"] == "true", "\(id)")
            }
        }
    }

    /// By whom a proof was brought, how it ended, and whether the sandbox's key is told.
    @Test(
        arguments: [
            (TestHouse.key, nil, true), (TestHouse.key, "not_yours", true), (TestHouse.key, "genuine", true),
            ("tests", nil, true), ("tests", "genuine", true),
            ("live", nil, false), ("live", "genuine", false), ("live", "not_yours", false),
        ] as [(String, String?, Bool)]
    )
    func aProofIsToldWhereItsStoreIsSeen(key: String, verdict: String?, isTold: Bool) async throws {
        try await Self.house().open { house in
            let path = try #require(await house.submit("170000029449420", key: key).fields["Location"])
            if let verdict { try await house.settle(as: verdict) }
            #expect(await house.get(path, key: "tests").status == (isTold ? .ok : .notFound))
            for other in [TestHouse.key, key] { #expect(await house.get(path, key: other).status == .ok, "\(other)") }
        }
    }
}
