import Dashboard
import HTTP
import Pipeline
import PurchaseModel
import Storage
import Testing

/// What a transaction's page tells of what happened to it, how it is found, and its proof for an auditor.
@Suite struct TransactionPageTests {
    private static let page = "/dashboard/transaction?app=shop&id=7"

    @Test func whatHappenedIsToldTheOldestFirst() async throws {
        let acting = try await ActingDesk()
        try await acting.place(acting.order, product: ActingDesk.coins)
        acting.desk.clock.advance(by: .seconds(60))
        try await acting.buy(7) { $0.purchasedAt = $0.purchasedAt.advanced(by: .seconds(-30)) }
        acting.desk.clock.advance(by: .seconds(60))
        #expect(await acting.act(ActingDesk.transaction("/acknowledge", 7)).status == .seeOther)
        let page = await acting.browser.get(Self.page)
        let steps = [
            "Its order was placed", "Bought, says Apple", "Told: delivery.granted", "Recorded", "It pays order",
            "Decided: Granted", "Told: delivery.acknowledged",
        ]
        let places = steps.map { page.text.range(of: $0)?.lowerBound }
        for (step, place) in zip(steps, places) { #expect(place != nil, "\(step)") }
        #expect(places.compactMap(\.self) == places.compactMap(\.self).sorted())
        #expect(page.isEscaped)
    }

    @Test func aDeliveryAndAnEventLeadToTheirPurchase() async throws {
        let acting = try await ActingDesk(needsOrder: false)
        try await acting.buy(7)
        let stream = StreamKey(app: Desk.app, realm: ActingDesk.realm, customer: acting.customer)
        for id in ["dlv_7.production", EventRows.id(stream, 1).text] {
            let found = await acting.browser.get("/dashboard/search?q=\(id)")
            #expect(found.fields["Location"] == Self.page, "\(id)")
        }
        let other = await acting.browser.get("/dashboard/search?q=dlv_8.production")
        #expect(other.text.contains("Nothing has the id"))
    }

    @Test func anOperatorTakesTheProofAsItCameAndThatIsLogged() async throws {
        let acting = try await ActingDesk(needsOrder: false)
        try await acting.buy(7)
        let page = await acting.browser.get(Self.page)
        let fields = Browser.fields(page, of: "/dashboard/proof")
        let file = await acting.browser.press(page, "/dashboard/proof")
        #expect(file.status == .ok && file.body == Array(ActingDesk.hostile.utf8))
        #expect(file.fields["Content-Type"] == "application/octet-stream")
        let digest = String(repeating: "07", count: 32)
        #expect(file.fields["Content-Disposition"] == "attachment; filename=\"proof-\(digest).bin\"")
        let row = try #require(try await acting.desk.log().first)
        #expect(row.action == "proof_downloaded" && row.detail == "SHA-256 \(digest)")
        #expect(row.subject == "transaction 7 of shop, production")
        // Another proof than those of the page, and nobody without the right.
        let wrong = await acting.browser.press(
            page,
            "/dashboard/proof",
            [("sha256", String(repeating: "08", count: 32))]
        )
        #expect(wrong.status == .notFound)
        let viewer = try await acting.desk.browser(.viewer)
        let seen = await viewer.get(Self.page)
        #expect(seen.status == .ok && !seen.text.contains("/dashboard/proof"))
        let own = [("form_token", Browser.formToken(in: seen))]
        let refused = await viewer.post("/dashboard/proof", fields.filter { $0.0 != "form_token" } + own)
        #expect(refused.status == .forbidden)
        #expect(try await acting.desk.log().count { $0.action == "proof_downloaded" } == 1)
    }
}
