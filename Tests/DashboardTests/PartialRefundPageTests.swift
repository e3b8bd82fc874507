import Dashboard
import HTTP
import PurchaseModel
import Storage
import Testing

/// The pages of an order, a transaction and a customer, where Apple took back a part.
@Suite struct PartialRefundPageTests {
    private static func acting(_ percentage: Int) async throws -> ActingDesk {
        let acting = try await ActingDesk(.viewer)
        try await acting.place(acting.order)
        try await acting.buy(1)
        acting.desk.clock.advance(by: .seconds(60))
        let bought = acting.desk.clock.now.advanced(by: .seconds(-60))
        try await acting.buy(1) { sold in
            sold.purchasedAt = bought
            sold.revocation = Revocation(at: sold.signedAt, reason: 0, type: "REFUND_PRORATED", percentage: percentage)
        }
        return acting
    }

    @Test(arguments: [(40_000, "40 %", 40, 60), (67_932, "67.932 %", 67, 33), (500, "0.5 %", 0, 100)])
    func eachPageSaysHowMuchWasTakenBackAndIsLeft(
        percentage: Int,
        part: String,
        taken: Int,
        left: Int
    ) async throws {
        let acting = try await Self.acting(percentage)
        let transaction = await acting.browser.get(ActingDesk.transaction("/transaction", 1)).text
        #expect(transaction.contains("Granted, and \(part) taken back"))
        #expect(transaction.contains("Apple took \(part) of it back, reason 0"))
        #expect(transaction.contains("Taken back: \(part)"))
        let goods = "100 gold&lt;i&gt;" + (taken > 0 ? ", \(taken) taken back, \(left) left" : "")
        #expect(transaction.contains(goods))
        let customer = ActingDesk.address("/customer", [("app", "shop"), ("id", ActingDesk.hostile)])
        let order = ActingDesk.address("/order", [("app", "shop"), ("id", acting.order.text)])
        for (page, words) in [
            (order, ["paid, \(part) refunded"]), ("/dashboard/orders", ["paid, \(part) refunded"]),
            (customer, ["paid, \(part) refunded", "Granted, and \(part) taken back"]),
        ] {
            let text = await acting.browser.get(page).text
            for word in words { #expect(text.contains(word), "\(word) on \(page)") }
        }
    }

    @Test func theWholeIsToldAsTheWhole() async throws {
        let acting = try await Self.acting(100_000)
        let transaction = await acting.browser.get(ActingDesk.transaction("/transaction", 1)).text
        #expect(transaction.contains("Granted, and taken back") && transaction.contains("Apple took it back, reason 0"))
        #expect(!(await acting.browser.get("/dashboard/orders").text.contains("% refunded")))
    }

    /// What is left of it and was not delivered is for an operator to acknowledge.
    @Test func whatIsLeftIsAcknowledged() async throws {
        let acting = try await ActingDesk()
        try await acting.place(acting.order)
        try await acting.buy(1) { $0.revocation = Revocation(at: $0.signedAt, percentage: 40_000) }
        let address = ActingDesk.transaction("/acknowledge", 1)
        #expect(
            await acting.browser.get(ActingDesk.transaction("/transaction", 1)).text.contains(
                "Acknowledge its delivery"
            )
        )
        #expect(await acting.act(address).status == .seeOther)
        #expect(try await acting.fulfilment(1)?.delivery == .acknowledged)
        #expect(try await acting.state(of: acting.order) == .delivered)
    }
}
