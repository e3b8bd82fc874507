import HTTP
import Pipeline
import PurchaseModel
import Storage
import Testing

/// The sender over a store as it is, instead of one that a test made up.
@Suite struct StoredWebhookTests {
    @Test func everyMessageArrivesInOrderInSpiteOfFailures() async throws {
        let shop = StoredWebhookShop()
        try await shop.prepare(events: 6)
        let sender = shop.sender { $0 % 2 == 1 ? .internalServerError : .ok }
        for _ in 0..<60 {
            await sender.deliverDue()
            shop.clock.advance(by: .seconds(1))
        }
        let ids = (1...6).flatMap { ["evt_\($0)", "evt_\($0)"] }
        #expect(shop.inbox.ids() == ids)
        #expect(try await shop.states() == [DeliveryState](repeating: .delivered, count: 6))
    }

    /// Thousands that wait for a customer's first one are passed over at once, not some hundreds at each turn.
    @Test func aLongQueueOfOneCustomerDelaysNobody() async throws {
        let shop = StoredWebhookShop()
        try await shop.prepare(events: 3_000)
        try await shop.store.write { write throws(StoreFailure) in
            var event = StoredWebhookShop.event(3_001)
            (event.customer, event.sequence) = (CustomerID(checked: "other"), 1)
            try write.append([event])
        }
        let sender = shop.sender { $0 == 1 ? .internalServerError : .ok }
        await sender.deliverDue()
        #expect(shop.inbox.ids() == ["evt_1", "evt_3001"])
    }

    @Test func goneDisablesTheEndpoint() async throws {
        let shop = StoredWebhookShop()
        try await shop.prepare(events: 3)
        let sender = shop.sender { _ in HTTPStatus(rawValue: 410) }
        await sender.deliverDue()
        await sender.deliverDue()
        #expect(shop.inbox.all.count == 1)
        let endpoint = try #require(try await shop.found())
        #expect(!endpoint.isEnabled && endpoint.disabledReason == "endpoint_gone")
        #expect(endpoint.disabledAt == shop.clock.now && endpoint.missedAfter == EventCursor(position: 3))
    }

    /// What was under way says the same again: since when it is disabled stays as it was.
    @Test func goneTwiceIsGoneSinceTheFirst() async throws {
        let shop = StoredWebhookShop()
        try await shop.prepare(events: 3)
        let work = StoredWebhookWork(shop.store)
        try await shop.store.write { [endpoint = shop.endpoint] write throws(StoreFailure) in
            guard var endpoint = try write.endpoint(endpoint.id) else { return }
            endpoint.ordersPerCustomer = false
            _ = try write.updateEndpoint(endpoint)
        }
        let batch = try #require(try await work.claim(shop.endpoint.id, limit: 3, terms: shop.terms))
        try #require(batch.deliveries.count == 3)
        var found: [WebhookEndpoint] = []
        for (deliveries, event) in [(batch.deliveries.prefix(2), 4), (batch.deliveries.suffix(1), 5)] {
            let attempted = deliveries.map { StoredWebhookShop.attempted($0, batch.endpoint, .gone) }
            let written = try await work.finish(attempted, at: shop.clock.now)
            #expect(written.count == attempted.count && written.allSatisfy { $0 == .gone })
            found.append(try #require(try await shop.found()))
            shop.clock.advance(by: .seconds(9))
            try await shop.store.write { write throws(StoreFailure) in
                try write.append([StoredWebhookShop.event(event)])
            }
        }
        #expect(found[0].disabledAt == StoredWebhookShop.start && found[0].missedAfter == EventCursor(position: 3))
        #expect(found[1] == found[0])
    }

    /// A store in which somebody does something after each read.
    private struct Interrupted: Store {
        let store: MemoryStore
        let meanwhile: @Sendable () async throws(StoreFailure) -> Void

        func write<Value: Sendable>(
            _ body: @escaping @Sendable (any StoreTransaction) throws(StoreFailure) -> Value
        ) async throws(StoreFailure) -> Value { try await store.write(body) }

        func read<Value: Sendable>(
            _ body: @escaping @Sendable (any StoreReader) throws(StoreFailure) -> Value
        ) async throws(StoreFailure) -> Value {
            let value = try await store.read(body)
            try await meanwhile()
            return value
        }

        func close() async { await store.close() }
    }

    /// Between the question and the write somebody may give it another address, which has not failed.
    @Test(arguments: [false, true])
    func whoIsMendedMeanwhileIsNotDisabled(isMended: Bool) async throws {
        let shop = StoredWebhookShop()
        try await shop.prepare(events: 1)
        let work = StoredWebhookWork(
            Interrupted(store: shop.store) { () async throws(StoreFailure) in
                if isMended { try await shop.setURL("https://new.example/") }
            }
        )
        let batch = try #require(try await work.claim(shop.endpoint.id, limit: 1, terms: shop.terms))
        let failed = batch.deliveries.map {
            StoredWebhookShop.attempted($0, batch.endpoint, .again(after: .seconds(5)))
        }
        _ = try await work.finish(failed, at: shop.clock.now)
        shop.clock.advance(by: .seconds(6 * 86_400))
        let (id, now) = (shop.endpoint.id, shop.clock.now)
        let isDisabled = try await work.disable(id, because: "failing", at: now) { since, now in
            WebhookSchedule.isHopeless(failingSince: since, at: now)
        }
        #expect(isDisabled == !isMended)
        #expect(try await shop.found()?.isEnabled == isMended)
    }

    @Test func fiveDaysOfFailuresDisableTheEndpoint() async throws {
        let shop = StoredWebhookShop()
        try await shop.prepare(events: 3)
        let sender = shop.sender { _ in .badRequest }
        for _ in 0..<120 {
            await sender.deliverDue()
            #expect(try await shop.found()?.isEnabled == true)
            shop.clock.advance(by: .seconds(3_600))
        }
        for _ in 0..<30 {
            await sender.deliverDue()
            shop.clock.advance(by: .seconds(3_600))
        }
        let endpoint = try #require(try await shop.found())
        #expect(!endpoint.isEnabled && endpoint.disabledReason == "failing_for_days")
        #expect(try await shop.states().first == .dead)
    }

    /// Whoever enables it again has mended something: it gets five days anew.
    @Test func whatIsEnabledAgainIsNotDisabledByItsFirstFailure() async throws {
        let shop = StoredWebhookShop()
        try await shop.prepare(events: 3)
        let sender = shop.sender { _ in .badRequest }
        for _ in 0..<150 {
            await sender.deliverDue()
            shop.clock.advance(by: .seconds(3_600))
        }
        let endpoint = try #require(try await shop.found())
        #expect(endpoint.disabledReason == "failing_for_days" && endpoint.disabledAt != nil)
        _ = try await shop.setEnabled(true)
        for number in 4...6 {
            try await shop.store.write { transaction throws(StoreFailure) in
                try transaction.append([StoredWebhookShop.event(number)])
            }
            await sender.deliverDue()
            shop.clock.advance(by: .seconds(3_600))
        }
        #expect(try await shop.found()?.isEnabled == true)
    }

    @Test func twoNodesSendEachMessageOnce() async throws {
        let shop = StoredWebhookShop()
        try await shop.prepare(events: 40)
        let (one, other) = (shop.sender { _ in .ok }, shop.sender { _ in .ok })
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await one.deliverDue() }
            group.addTask { await other.deliverDue() }
        }
        await one.deliverDue()
        #expect(shop.inbox.ids().count == 40 && Set(shop.inbox.ids()).count == 40)
    }
}
