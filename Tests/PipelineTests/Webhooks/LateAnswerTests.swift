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

    /// What its owner does with an endpoint while a call is under way.
    enum Change: CaseIterable, Sendable {
        case moved, enabledAgain, tuned, disabled

        func happen(to shop: StoredWebhookShop) async throws {
            switch self {
            case .moved: try await shop.setURL("https://new.example/")
            case .enabledAgain:
                _ = try await shop.setEnabled(false)
                shop.clock.advance(by: .seconds(1))
                _ = try await shop.setEnabled(true)
            case .tuned: try await shop.change { $0.perSecondMax = 7 }
            case .disabled: _ = try await shop.setEnabled(false)
            }
        }

        var isAnew: Bool { self == .moved || self == .enabledAgain }
    }

    /// Where it has begun anew, what fails was not tried. Any other change lets nobody off.
    @Test(arguments: Change.allCases, [DeliveryOutcome.gone, .dead(because: "exhausted"), .again(after: .seconds(9))])
    func whatBeginsAnewIsNotJudgedByWhatWas(change: Change, outcome: DeliveryOutcome) async throws {
        let shop = StoredWebhookShop()
        try await shop.prepare(events: 1)
        let work = StoredWebhookWork(shop.store)
        let batch = try #require(try await work.claim(shop.endpoint.id, limit: 1, terms: shop.terms))
        try await change.happen(to: shop)
        let before = try #require(try await shop.found())
        let attempted = batch.deliveries.map { StoredWebhookShop.attempted($0, batch.endpoint, outcome) }
        let written = try await work.finish(attempted, at: shop.clock.now)
        #expect(written == [change.isAnew ? .released : outcome])
        let (id, delivery) = (shop.endpoint.id, try #require(batch.deliveries.first).hold.id)
        let (found, figures) = try await shop.store.read { reader throws(StoreFailure) in
            (try reader.delivery(delivery), try reader.webhookFigures(id))
        }
        #expect((figures?.failingSince == nil) == change.isAnew)
        if change.isAnew {
            #expect(found?.state == .pending && found?.attempts == 0 && found?.dueAt == shop.clock.now)
            #expect(try await shop.found() == before)
        } else {
            #expect(found?.state == (outcome == .again(after: .seconds(9)) ? .pending : .dead))
            let endpoint = try await shop.found()
            #expect(endpoint?.isEnabled == (change != .disabled && outcome != .gone))
            #expect(
                endpoint?.disabledReason == (change == .disabled ? before.disabledReason : endpoint?.disabledReason)
            )
        }
    }

    /// Six calls are under way when its owner gives it another address, and all fail.
    @Test func theBreakerIsNotOpenedForAnAddressThatWasNeverCalled() async throws {
        let (shop, door, reports) = (StoredWebhookShop(), WebhookBarrier(), Noted<String>())
        try await shop.prepare(events: 10)
        try await shop.change { ($0.ordersPerCustomer, $0.concurrencyMax) = (false, 8) }
        let report: @Sendable (WebhookEvent) -> Void = { if case .attempted = $0 {} else { reports.note("\($0)") } }
        let sender = shop.sender(report: report) { number in
            guard (11...16).contains(number) else { return .ok }
            if number == 16 {
                do { try await shop.setURL("https://new.example/") } catch { Issue.record(error) }
                door.open()
            }
            await door.pass()
            return .internalServerError
        }
        await sender.deliverDue()
        try await shop.store.write { write throws(StoreFailure) in
            try write.append((11...16).map(StoredWebhookShop.event))
        }
        await sender.deliverDue()
        #expect(shop.inbox.ids(at: "https://shop.example/").count == 16)
        #expect(Set(shop.inbox.ids(at: "https://new.example/")).count == 6)
        #expect(try await shop.states() == [DeliveryState](repeating: .delivered, count: 16))
        #expect(reports.values == [])
        #expect(sender.standing(of: shop.endpoint.id)?.isProven == true)
    }
}
