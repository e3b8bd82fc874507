import HTTP
import Pipeline
import PurchaseModel
import Storage
import Testing

/// The sender over a store as it is, instead of one that a test made up.
@Suite struct StoredWebhookTests {
    private static let start = Timestamp(seconds: 1_795_219_200)
    private static let app = AppID(checked: "shop")
    private static let realm = Realm(environment: .production, isTestSigned: false)

    private struct Shop {
        let store = MemoryStore()
        let clock = ManualClock(StoredWebhookTests.start)
        let inbox = WebhookInbox()
        let endpoint = WebhookEndpoint(
            id: WebhookEndpointID(checked: "whe_1"),
            app: app,
            url: "https://shop.example/",
            secrets: [WebhookSecret.generate()],
            filter: EventFilter(realms: [realm]),
            concurrencyMax: 4,
            ordersPerCustomer: true,
            acknowledgesBy2xx: false,
            createdAt: start
        )

        func prepare(events count: Int) async throws {
            try await store.write { [endpoint] transaction throws(StoreFailure) in
                try transaction.createEndpoint(endpoint)
                try transaction.append((1...count).map(Self.event))
            }
        }

        static func event(_ number: Int) -> EventRow {
            EventRow(
                id: EventID(checked: "evt_\(number)"),
                app: app,
                realm: realm,
                customer: CustomerID(checked: "user"),
                sequence: Int64(number),
                type: "order.paid",
                happenedAt: start,
                learnedAt: start,
                data: Array(#"{"order_id":"ord_1"}"#.utf8)
            )
        }

        func sender(
            report: @escaping @Sendable (WebhookEvent) -> Void = { _ in },
            _ answer: @escaping @Sendable (Int) async -> HTTPStatus
        ) -> WebhookSender {
            let caller = HTTPCaller { [inbox] call async throws(HTTPCallFailure) in
                inbox.append(call)
                return HTTPResponse(await answer(inbox.all.count))
            }
            return WebhookSender(
                work: StoredWebhookWork(store),
                post: WebhookPost(caller: caller, clock: clock, rule: EgressRule()),
                clock: clock,
                owner: LeaseOwner(checked: "node-1"),
                report: report
            )
        }

        func setURL(_ url: String) async throws(StoreFailure) {
            try await store.write { [endpoint] write throws(StoreFailure) in
                guard var endpoint = try write.endpoint(endpoint.id) else { throw .conflict }
                endpoint.url = url
                _ = try write.updateEndpoint(endpoint)
            }
        }

        func setEnabled(_ isEnabled: Bool) async throws -> MissedEvents? {
            let (id, now) = (endpoint.id, clock.now)
            return try await store.write { write throws(StoreFailure) in
                guard var endpoint = try write.endpoint(id) else { throw .conflict }
                let last = try write.lastEventCursor(app: endpoint.app)
                endpoint.setEnabled(isEnabled, at: now, after: last)
                _ = try write.updateEndpoint(endpoint)
                return MissedEvents(of: endpoint)
            }
        }

        var terms: LeaseTerms {
            LeaseTerms(owner: LeaseOwner(checked: "node-1"), duration: LeaseTerms.durationMax, now: clock.now)
        }

        static func attempted(
            _ claimed: ClaimedDelivery,
            _ endpoint: WebhookEndpoint,
            _ outcome: DeliveryOutcome
        ) -> AttemptedDelivery {
            let attempt = WebhookAttempt(
                number: claimed.hold.token,
                beganAt: start,
                milliseconds: 1,
                status: 410,
                failure: nil,
                address: nil,
                answer: []
            )
            return AttemptedDelivery(claimed: claimed, endpoint: endpoint, outcome: outcome, attempt: attempt)
        }

        func replay(_ replay: WebhookReplay, after cursor: EventCursor) async throws -> WebhookReplayStep {
            let (id, now) = (endpoint.id, clock.now)
            return try await store.write { write throws(StoreFailure) in
                guard let endpoint = try write.endpoint(id) else { throw .conflict }
                return try replay.carryOut(to: endpoint, after: cursor, at: now, in: write)
            }
        }

        func found() async throws -> WebhookEndpoint? {
            try await store.read { [endpoint] reader throws(StoreFailure) in try reader.endpoint(endpoint.id) }
        }

        func states() async throws -> [DeliveryState] {
            let page = try await store.read { [endpoint] reader throws(StoreFailure) in
                try reader.deliveries(endpoint: endpoint.id, state: nil, before: nil, limit: 100)
            }
            return page.deliveries.reversed().map(\.state)
        }
    }

    @Test func everyMessageArrivesInOrderInSpiteOfFailures() async throws {
        let shop = Shop()
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

    @Test func goneDisablesTheEndpoint() async throws {
        let shop = Shop()
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
        let shop = Shop()
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
            let attempted = deliveries.map { Shop.attempted($0, batch.endpoint, .gone) }
            let written = try await work.finish(attempted, at: shop.clock.now)
            #expect(written.count == attempted.count && written.allSatisfy { $0 == .gone })
            found.append(try #require(try await shop.found()))
            shop.clock.advance(by: .seconds(9))
            try await shop.store.write { write throws(StoreFailure) in try write.append([Shop.event(event)]) }
        }
        #expect(found[0].disabledAt == Self.start && found[0].missedAfter == EventCursor(position: 3))
        #expect(found[1] == found[0])
    }

    /// A call takes up to 20 seconds: what it is answered with by then is about the address that was called.
    @Test func a410OfTheOldAddressIsNoneOfTheNewOne() async throws {
        let (shop, reports) = (Shop(), Noted<String>())
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
        let shop = Shop()
        try await shop.prepare(events: 1)
        let work = StoredWebhookWork(
            Interrupted(store: shop.store) { () async throws(StoreFailure) in
                if isMended { try await shop.setURL("https://new.example/") }
            }
        )
        let batch = try #require(try await work.claim(shop.endpoint.id, limit: 1, terms: shop.terms))
        let failed = batch.deliveries.map { Shop.attempted($0, batch.endpoint, .again(after: .seconds(5))) }
        _ = try await work.finish(failed, at: shop.clock.now)
        shop.clock.advance(by: .seconds(6 * 86_400))
        let (id, now) = (shop.endpoint.id, shop.clock.now)
        let isDisabled = try await work.disable(id, because: "failing", at: now) { since, now in
            WebhookSchedule.isHopeless(failingSince: since, at: now)
        }
        #expect(isDisabled == !isMended)
        #expect(try await shop.found()?.isEnabled == isMended)
    }

    /// Each row: how long after it was disabled it is enabled; how many events there were meanwhile, and what a replay of what
    /// it missed sends again.
    @Test(arguments: [(0, 0), (1, 2), (86_400, 5)])
    func whatWasMissedIsSentByAReplay(seconds: Int, count: Int) async throws {
        let shop = Shop()
        try await shop.prepare(events: 3)
        let sender = shop.sender { _ in .ok }
        await sender.deliverDue()
        #expect(try await shop.setEnabled(false) == nil)
        for number in 4..<4 + count {
            try await shop.store.write { write throws(StoreFailure) in try write.append([Shop.event(number)]) }
        }
        shop.clock.advance(by: .seconds(seconds))
        let missed = try #require(try await shop.setEnabled(true))
        // Whoever did not hear of it asks once more, later, and is told the same.
        shop.clock.advance(by: .seconds(5))
        #expect(try await shop.setEnabled(true) == missed)
        let endpoint = try #require(try await shop.found())
        #expect(endpoint.isEnabled && endpoint.disabledAt == nil && endpoint.missedAfter == nil)
        // A part of it, or what is dead, is not all of it.
        for replay in [WebhookReplay.dead, .learned(from: missed.from, to: Self.start)] {
            _ = try await shop.replay(replay, after: EventCursor(position: 1_000))
            #expect(try await shop.found().flatMap(MissedEvents.init(of:)) == missed)
        }
        let step = try await shop.replay(.learned(from: missed.from, to: missed.to), after: missed.after)
        #expect(step == WebhookReplayStep(replayed: count, next: nil))
        #expect(try await shop.setEnabled(true) == nil)
        await sender.deliverDue()
        #expect(shop.inbox.ids() == (1..<4 + count).map { "evt_\($0)" })
    }

    @Test func fiveDaysOfFailuresDisableTheEndpoint() async throws {
        let shop = Shop()
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
        let shop = Shop()
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
                try transaction.append([Shop.event(number)])
            }
            await sender.deliverDue()
            shop.clock.advance(by: .seconds(3_600))
        }
        #expect(try await shop.found()?.isEnabled == true)
    }

    @Test func twoNodesSendEachMessageOnce() async throws {
        let shop = Shop()
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
