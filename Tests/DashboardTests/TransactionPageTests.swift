import Dashboard
import Foundation
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
            "Its order was placed", "Bought, says Apple", "Told: order.paid", "Told: delivery.granted", "Recorded",
            "Last changed, and stands as: Granted", "Told: delivery.acknowledged",
        ]
        let places = steps.map { page.text.range(of: $0)?.lowerBound }
        for (step, place) in zip(steps, places) { #expect(place != nil, "\(step)") }
        #expect(places.compactMap(\.self) == places.compactMap(\.self).sorted())
        #expect(page.isEscaped)
    }

    /// A step of the page's timeline, as its row has it.
    private static func step(_ words: String, in page: HTTPResponse) -> String? {
        page.text.components(separatedBy: "<tr>").first { $0.contains("<bdi>\(words)") }
    }

    @Test func anOrderWasPaidWhenItWasAndNotWhenItWasRefunded() async throws {
        let acting = try await ActingDesk()
        let bought = acting.desk.clock.now
        try await acting.place(acting.order, product: ActingDesk.coins)
        try await acting.buy(7)
        acting.desk.clock.advance(by: .seconds(21 * 86_400))
        _ = await acting.browser.signIn("olga")
        try await acting.buy(7) { sold in
            (sold.purchasedAt, sold.revocation) = (bought, Revocation(at: sold.signedAt, reason: 0))
        }
        let page = await acting.browser.get(Self.page)
        let paid = try #require(Self.step("Told: order.paid", in: page))
        #expect(paid.contains("2027-01-15") && !paid.contains("2027-02-05"), "\(paid)")
        #expect(Self.step("It pays order", in: page) == nil, "that is told, with its time")
        let last = try #require(Self.step("Last changed, and stands as: Granted, and taken back", in: page))
        #expect(last.contains("2027-02-05"), "\(last)")
        // When so much was told of the customer since that the event is not looked at, nothing says when.
        for number in Int64(101)...200 { try await acting.buy(number) }
        let later = await acting.browser.get(Self.page)
        #expect(Self.step("Told: order.paid", in: later) == nil)
        let undated = try #require(Self.step("It pays order", in: later))
        #expect(undated.hasPrefix("<td>–</td><td>–</td>") && undated.contains("matched by"), "\(undated)")
        #expect(later.isEscaped)
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

    /// A notification of version 1 that somebody presented has the app's shared secret in it.
    @Test(arguments: [
        (format: "notification_v1", proof: #"{"notification_type":"CANCEL","password":"abc"}"#, file: true),
        ("notification_v1", "eyJwYXNzd29yZCI6ImFiYyJ9", false), ("unknown", #"{"password":"abc"}"#, true),
    ])
    func ofANotificationThatWaitsTheSecretIsNotTaken(format: String, proof: String, file: Bool) async throws {
        let acting = try await ActingDesk(needsOrder: false)
        let submission = PendingSubmission(
            id: try #require(SubmissionID([UInt8](repeating: 5, count: 16))),
            app: Desk.app,
            digest: try #require(ProofDigest([UInt8](repeating: 3, count: 32))),
            format: format,
            proof: Array(proof.utf8),
            customer: acting.customer,
            order: nil,
            reason: "unsettled",
            receivedAt: acting.desk.clock.now
        )
        _ = try await acting.desk.store.write { write throws(StoreFailure) in try write.keepPending(submission).id }
        let page = await acting.browser.get("/dashboard/submission?id=" + String(repeating: "05", count: 16))
        #expect(page.status == .ok && page.text.contains("/dashboard/proof") == file)
        guard file else { return }
        let taken = await acting.browser.press(page, "/dashboard/proof")
        let isNotification = format == "notification_v1"
        let shown = isNotification ? #"{"notification_type":"CANCEL","password":""}"# : proof
        #expect(taken.status == .ok && taken.body == Array(shown.utf8))
    }
}
