import Encoding
import HTTP
import PurchaseModel
import Simulator
import TestSupport
import Testing

/// What Apple took back in part, as every answer tells of it: over the API, with proofs that the simulator signs.
@Suite struct PartialRefundTests {
    private static let coins = "com.example.demo.coins"
    private static let number: Int64 = 2_000_000_000_000_001

    private static func terms() throws -> AppTerms {
        let (coins, gems) = (try #require(ProductID(coins)), try #require(CurrencyID("gems")))
        let product = ProductTerms(product: coins, kind: .consumable, goods: [.amount(100, gems)])
        return AppTerms(products: [coins: product])
    }

    /// The coins as Apple signs them after so many seconds; a part of them may be taken back.
    private static func proof(after seconds: Int64 = 0, percentage: Int? = nil) throws -> String {
        let moment = TestHouse.now.advanced(by: .seconds(seconds))
        var sold = try Sample.transaction(number, signedAt: moment)
        sold.revocation = percentage.map { part in
            Revocation(at: moment, reason: 0, type: "REFUND_PRORATED", percentage: part)
        }
        let signer = PurchaseSigner(TestAuthority.shared, app: try Sample.app("com.example.demo", .production))
        return try signer.transaction(sold)
    }

    private static func shown(_ house: TestHouse, _ proof: String) async throws -> JSONObject {
        let answer = await house.submit(proof, customer: "ann")
        #expect(answer.status == .ok)
        return try #require(try answer.json()["transactions"]?.array?.first { _ in true }?.object)
    }

    private static func ordered(_ house: TestHouse) async throws {
        let order = #"{"order_id": "o-1", "customer_id": "ann", "product_id": "\#(coins)"}"#
        #expect(await house.change("/v1/orders", order).status == .created)
        #expect(try await shown(house, proof())["decision"]?.string == "recorded")
    }

    private static func order(_ house: TestHouse) async throws -> [String] {
        let order = try await house.get("/v1/orders/o-1").json()
        return [order["state"]?.string ?? "", order["refunded_percentage"]?.int64.map(String.init) ?? ""]
    }

    @Test func whoGoesByTheWordsTakesBackThePartAlone() async throws {
        try await TestHouse(terms: Self.terms()).open { house in
            try await Self.ordered(house)
            let ack = "/v1/deliveries/dlv_\(Self.number).production.test/ack"
            #expect(await house.change(ack, #"{"fence": 1}"#).status == .ok)
            let told = try await Self.shown(house, Self.proof(after: 60, percentage: 40_000))
            #expect(told["decision"]?.string == "partly_revoked" && told["is_partly_revoked"]?.bool == true)
            #expect(told["revocation_type"]?.string == "REFUND_PRORATED")
            let delivery = try #require(told["fulfilment"]?.object)
            #expect(delivery["state"]?.string == "partly_reversed" && delivery["delivery"]?.string == "acknowledged")
            #expect(delivery["reversed_percentage"]?.int64 == 40_000 && delivery["fence"]?.int64 == 2)
            let goods = delivery["goods"]?.array?.first { _ in true }?.object
            #expect(["amount", "reversed", "left"].map { goods?[$0]?.int64 } == [100, 40, 60])
            #expect(try await Self.order(house) == ["delivered", "40000"])
            // Taken back in whole, and given again.
            _ = try await Self.shown(house, Self.proof(after: 120, percentage: 100_000))
            #expect(try await Self.order(house) == ["refunded", "100000"])
            let again = try await Self.shown(house, Self.proof(after: 180))
            #expect(again["decision"]?.string == "recorded")
            #expect(again["fulfilment"]?.object?["reversed_percentage"] == nil)
            #expect(try await Self.order(house) == ["paid", ""])
            let events = try await house.get("/v1/events").json()["events"]?.array
            let types = events?.compactMap { $0.object?["event"]?.object?["type"]?.string }
            #expect(
                types?.dropFirst(5) == [
                    "order.refund_changed", "delivery.compensated", "order.refunded", "delivery.compensated",
                    "order.paid",
                    "delivery.restored",
                ]
            )
        }
    }

    @Test func aCustomersListTellsOfThePart() async throws {
        try await TestHouse(terms: Self.terms()).open { house in
            try await Self.ordered(house)
            _ = try await Self.shown(house, Self.proof(after: 60, percentage: 40_000))
            let listed = try await house.get("/v1/customers/ann/transactions").json()["transactions"]?.array
            #expect(listed?.map { $0.object?["decision"]?.string } == ["partly_revoked"])
            let order = #"{"order_id": "o-2", "customer_id": "ann", "product_id": "\#(Self.coins)"}"#
            #expect(await house.change("/v1/orders", order).status == .created)
            let body = #"{"transaction_id": "\#(Self.number)", "environment": "production", "test_signed": true}"#
            let refused = await house.change("/v1/orders/o-2/attach", body)
            #expect(try refused.json()["code"]?.string == "purchase_is_partly_reversed")
        }
    }

    /// Other protocols know no part: of a consumable the rest is bought, and what gives access is over.
    @Test(arguments: [
        (ProductKind.consumable, true, false), (.nonConsumable, true, true), (.consumable, false, false),
        (.nonConsumable, false, true),
    ])
    func theFacadesCallTheRestBought(kind: ProductKind, isNamed: Bool, isOver: Bool) async throws {
        try await TestHouse().open { house in
            let later = TestHouse.now.advanced(by: .seconds(60))
            var sold = try Sample.transaction(Self.number, signedAt: later)
            (sold.kind, sold.revocation) = (kind, Revocation(at: later, reason: 0, percentage: 40_000))
            let signer = PurchaseSigner(TestAuthority.shared, app: try Sample.app("com.example.demo", .production))
            let proof = try signer.transaction(sold)
            let named = isNamed ? #""applicationUsername": "ann""# : ""
            let asked = #"""
                {"id": "\#(Self.coins)", "type": "consumable", "additionalData": {\#(named)},
                 "transaction": {"type": "apple-sk2", "id": "\#(Self.coins)", "jwsRepresentation": "\#(proof)"}}
                """#
            let validated = try await house.change("/validator", asked).json()["data"]?.object?["collection"]?.array
            #expect(validated?.map { $0.object?["isExpired"]?.bool } == [isOver])
            let reason = isOver ? "Customer.OtherReason" : ""
            #expect(validated?.map { $0.object?["cancelationReason"]?.string } == [reason])
            let receipt = #"{"receipt-data": "\#(proof)"}"#
            let verified = try await house.change("/verifyReceipt", receipt).json()["receipt"]?.object?["in_app"]?.array
            #expect(verified?.map { $0.object?["cancellation_date_ms"] != nil } == [isOver])
        }
    }
}
