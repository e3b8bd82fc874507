import HTTP
import Pipeline
import PurchaseModel
import Storage
import Testing

/// What an endpoint is answered for after its owner has changed it. A call takes up to 20 seconds.
@Suite struct LateAnswerTests {
    @Test func a410OfTheOldAddressIsNoneOfTheNewOne() async throws {
        let (shop, reports) = (StoredWebhookShop(), Noted<String>())
        try await shop.prepare(events: 2)
        let report: @Sendable (WebhookEvent) -> Void = { if case .attempted = $0 {} else { reports.note("\($0)") } }
        let sender = shop.sender(report: report) { number in
            guard number == 1 else { return .ok }
            do { try await shop.setURL("https://new.example/") } catch { Issue.record(error) }
            return HTTPStatus(rawValue: 410)
        }
        await sender.deliverDue()
        let endpoint = try #require(try await shop.found())
        #expect(endpoint.isEnabled && endpoint.disabledReason == nil)
        #expect(shop.inbox.all.map(\.url) == ["https://shop.example/", "https://new.example/", "https://new.example/"])
        #expect(shop.inbox.ids() == ["evt_1", "evt_1", "evt_2"])
        #expect(try await shop.states() == [.delivered, .delivered])
        #expect(reports.values == [])
    }
}
