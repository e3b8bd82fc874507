import Encoding
import HTTP
import PurchaseModel
import Simulator
import TestSupport
import Testing

/// Products of very many goods: what is given is told, taken back and given again.
@Suite struct LargestProductTests {
    private static let delivery = "/v1/deliveries/dlv_9001.sandbox.test"

    /// Of so many goods, half of them amounts as large as a catalogue's may be, all with the longest of names, in letters of
    /// which JSON makes two.
    private static func terms(_ count: Int) throws -> AppTerms {
        let id = try #require(ProductID("com.example.demo.coins"))
        let goods = try (0..<count).map { number in
            let start = "\(number)"
            let name = start + String(repeating: "\\", count: 255 - start.utf8.count)
            return number % 2 == 0
                ? Goods.entitlement(try #require(EntitlementID(name)))
                : .amount(1_000_000_000_000, try #require(CurrencyID(name)))
        }
        let product = ProductTerms(product: id, kind: .consumable, goods: goods)
        return AppTerms(products: [id: product], sandbox: .everybody(until: Timestamp(milliseconds: .max)))
    }

    /// Each row: how many goods, and whether an event has room for them.
    @Test(arguments: [(1, true), (20, true), (60, false), (ProductTerms.goodsMax, false)])
    func itIsGivenTakenBackAndGivenAgain(count: Int, hasRoom: Bool) async throws {
        try await TestHouse(terms: Self.terms(count)).open { house in
            let signer = PurchaseSigner(TestAuthority.shared, app: try Sample.app())
            for (step, type) in ["", "REFUND", "REFUND_REVERSED"].enumerated() {
                let moment = TestHouse.now.advanced(by: .seconds(Int64(step) * 60))
                var sold = try Sample.transaction(9_001, revokedAt: step == 1 ? moment : nil, signedAt: moment)
                sold.quantity = 10
                if step == 0 {
                    let proof = try signer.transaction(sold)
                    #expect(await house.submit(proof).status == .ok)
                } else {
                    let uuid = "00000000-3d0b-4d4e-9a4e-2d1bb6b2f3a\(step)"
                    var notice = Notice(uuid: uuid, type: type, signedAt: moment)
                    notice.transaction = sold
                    let answer = await house.send(
                        try signer.notificationBody(notice),
                        to: "/v1/apple/notifications/demo"
                    )
                    #expect(answer.status == .ok)
                }
                let given = try await house.get(Self.delivery).json()
                #expect(given["state"]?.string == (step == 1 ? "reversed" : "granted"))
                #expect(given["goods"]?.array?.count == count)
                #expect(given["fence"]?.int64 == Int64(step) + 1)
            }
            let listed = try #require(try await house.get("/v1/events").json()["events"]?.array)
            let events = listed.compactMap { $0.object?["event"]?.object }
            let told = events.filter { $0["type"]?.string?.hasPrefix("delivery.") == true }
            #expect(
                told.compactMap { $0["type"]?.string } == [
                    "delivery.granted", "delivery.compensated", "delivery.restored",
                ]
            )
            for (step, event) in told.enumerated() {
                let data = try #require(event["data"]?.object)
                let delivery = try #require(data["delivery"]?.object)
                #expect(delivery["delivery_id"]?.string == "dlv_9001.sandbox.test")
                #expect(delivery["fence"]?.int64 == Int64(step) + 1)
                #expect(data["is_thin"]?.bool == (hasRoom ? nil : true))
                #expect(delivery["goods"]?.array?.count == (hasRoom ? count : nil))
            }
        }
    }
}
