import HTTP
import Pipeline
import PurchaseModel
import Storage
import Testing

/// An endpoint in a store, and a sender over it.
struct StoredWebhookShop {
    static let start = Timestamp(seconds: 1_795_219_200)
    static let app = AppID(checked: "shop")
    static let realm = Realm(environment: .production, isTestSigned: false)

    let store = MemoryStore()
    let clock = ManualClock(Self.start)
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

    func setURL(_ url: String) async throws(StoreFailure) { try await change { $0.url = url } }

    /// Its owner changes the endpoint.
    func change(_ body: @escaping @Sendable (inout WebhookEndpoint) -> Void) async throws(StoreFailure) {
        try await store.write { [endpoint] write throws(StoreFailure) in
            guard var endpoint = try write.endpoint(endpoint.id) else { throw .conflict }
            body(&endpoint)
            _ = try write.updateEndpoint(endpoint)
        }
    }

    /// Disables it, has events happen, and enables it again.
    func missing(_ numbers: ClosedRange<Int>) async throws -> MissedEvents? {
        _ = try await setEnabled(false)
        try await store.write { write throws(StoreFailure) in try write.append(numbers.map(Self.event)) }
        return try await setEnabled(true)
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
