import HTTP
import Pipeline
import PurchaseModel
import Storage
import Synchronization

/// Deliveries in memory, leased as a store leases them, and a sender over them.
final class WebhookDesk: WebhookWork {
    private struct State {
        var endpoints: [WebhookEndpointID: WebhookEndpoint] = [:]
        var deliveries: [WebhookDeliveryID: WebhookDelivery] = [:]
        /// Those that have not ended, in the order of their events.
        var open: [WebhookEndpointID: [WebhookDeliveryID]] = [:]
        var events: [EventID: EventRow] = [:]
        var failingSince: [WebhookEndpointID: Timestamp] = [:]
        var attempts: [(WebhookDeliveryID, WebhookAttempt)] = []
        var renewals = 0
        var claims = 0
        var claiming: [WebhookEndpointID: Int] = [:]
        var claimsAtOnceMax = 0
        var questions = 0
        var failure: StoreFailure?
        var finishing: (@Sendable ([AttemptedDelivery]) async -> StoreFailure?)?
    }

    static let start = Timestamp(seconds: 1_795_219_200)
    let clock = ManualClock(start)
    private let state = Mutex(State())

    // MARK: What a test arranges and asks

    /// An endpoint at `https://NAME.example/`.
    @discardableResult
    func addEndpoint(
        _ name: String,
        of app: String = "shop",
        concurrencyMax: Int = 4,
        ordersPerCustomer: Bool = false,
        url: String? = nil
    ) -> WebhookEndpoint {
        let endpoint = WebhookEndpoint(
            id: WebhookEndpointID(checked: "whe_\(name)"),
            app: AppID(checked: app),
            url: url ?? "https://\(name).example/",
            secrets: [WebhookSecret.generate()],
            filter: EventFilter(realms: []),
            concurrencyMax: concurrencyMax,
            ordersPerCustomer: ordersPerCustomer,
            acknowledgesBy2xx: false,
            createdAt: Self.start
        )
        state.withLock { $0.endpoints[endpoint.id] = endpoint }
        return endpoint
    }

    /// Its owner changes an endpoint, which makes it another version.
    func change(_ endpoint: WebhookEndpoint, _ body: (inout WebhookEndpoint) -> Void) {
        state.withLock { state in
            guard var known = state.endpoints[endpoint.id] else { return }
            body(&known)
            known.version += 1
            state.endpoints[endpoint.id] = known
        }
    }

    /// So many events of a customer for an endpoint, due now.
    func addEvents(_ count: Int, to endpoint: WebhookEndpoint, customer: String = "user") {
        state.withLock { state in
            for _ in 0..<count {
                let number = state.events.count + 1
                let event = EventRow(
                    id: EventID(checked: "evt_\(number)"),
                    app: endpoint.app,
                    realm: Realm(environment: .production, isTestSigned: false),
                    customer: CustomerID(checked: customer),
                    sequence: Int64(number),
                    type: "order.paid",
                    happenedAt: Self.start,
                    learnedAt: Self.start,
                    data: Array("{}".utf8)
                )
                state.events[event.id] = event
                let id = WebhookDeliveryID(endpoint: endpoint.id, event: event.id)
                state.open[endpoint.id, default: []].append(id)
                state.deliveries[id] = WebhookDelivery(
                    id: id,
                    cursor: EventCursor(position: Int64(number)),
                    state: .pending,
                    attempts: 0,
                    dueAt: clock.now,
                    lease: nil,
                    lastStatus: nil,
                    deadReason: nil,
                    endedAt: nil
                )
            }
        }
    }

    func sender(
        _ settings: WebhookSender.Settings = WebhookSender.Settings(),
        report: @escaping @Sendable (WebhookEvent) -> Void = { _ in },
        answer: @escaping @Sendable (HTTPCall) async -> Result<HTTPResponse, HTTPCallFailure>
    ) -> WebhookSender {
        let caller = HTTPCaller { call async throws(HTTPCallFailure) in try await answer(call).get() }
        return WebhookSender(
            work: self,
            post: WebhookPost(caller: caller, clock: clock, rule: EgressRule()),
            clock: clock,
            owner: LeaseOwner(checked: "node-1"),
            settings: settings,
            report: report
        )
    }

    /// In the order in which their events were made.
    func deliveries(of endpoint: WebhookEndpoint) -> [WebhookDelivery] {
        state.withLock { $0.deliveries.values.filter { $0.id.endpoint == endpoint.id } }.sorted {
            $0.cursor < $1.cursor
        }
    }

    func endpoint(_ endpoint: WebhookEndpoint) -> WebhookEndpoint? { state.withLock { $0.endpoints[endpoint.id] } }
    var attempts: [WebhookAttempt] { state.withLock { $0.attempts.map(\.1) } }
    var renewals: Int { state.withLock { $0.renewals } }
    var claims: Int { state.withLock { $0.claims } }
    /// How many claims of one endpoint were under way at the same time.
    var claimsAtOnceMax: Int { state.withLock { $0.claimsAtOnceMax } }
    /// How often it was asked who has something due.
    var questions: Int { state.withLock { $0.questions } }

    /// What every verb throws from now on.
    func fail(with failure: StoreFailure?) { state.withLock { $0.failure = failure } }

    /// What is done before attempts are noted, and what becomes of them instead if it says so.
    func whenFinishing(_ body: @escaping @Sendable ([AttemptedDelivery]) async -> StoreFailure?) {
        state.withLock { $0.finishing = body }
    }

    /// Another node takes over what is leased, or some of it.
    func loseLeases(of lost: Set<WebhookDeliveryID>? = nil) {
        state.withLock { state in
            for (id, delivery) in state.deliveries where delivery.state == .leased && lost?.contains(id) ?? true {
                state.deliveries[id]?.lease?.token += 1
            }
        }
    }

    // MARK: WebhookWork

    func dueEndpoints(at now: Timestamp, limit: Int) async throws(StoreFailure) -> [DueEndpoint] {
        try check { state in
            state.questions += 1
            var since: [WebhookEndpointID: Timestamp] = [:]
            for (endpoint, open) in state.open where state.endpoints[endpoint]?.isEnabled == true {
                let due = open.compactMap { state.deliveries[$0] }.filter { Self.isDue($0, at: now) }
                since[endpoint] = due.map(\.dueAt).min()
            }
            let first = since.sorted { ($0.value, $0.key.text) < ($1.value, $1.key.text) }.prefix(limit)
            return first.compactMap { id, since in
                state.endpoints[id].map { DueEndpoint(id: id, app: $0.app, since: since, version: $0.version) }
            }
        }
    }

    func claim(
        _ endpoint: WebhookEndpointID,
        limit: Int,
        terms: LeaseTerms
    ) async throws(StoreFailure) -> DeliveryBatch? {
        state.withLock { state in
            state.claiming[endpoint, default: 0] += 1
            state.claimsAtOnceMax = max(state.claimsAtOnceMax, state.claiming[endpoint] ?? 0)
        }
        defer { state.withLock { $0.claiming[endpoint, default: 0] -= 1 } }
        await Task.yield()
        return try check { state in
            state.claims += 1
            guard let owner = state.endpoints[endpoint], owner.isEnabled else { return nil }
            var batch = DeliveryBatch(endpoint: owner, deliveries: [])
            var waiting: Set<CustomerID> = []
            for id in state.open[endpoint] ?? [] {
                guard var delivery = state.deliveries[id], let event = state.events[id.event],
                    let customer = event.customer
                else { continue }
                let isFirst = waiting.insert(customer).inserted
                guard batch.deliveries.count < limit, Self.isDue(delivery, at: terms.now),
                    isFirst || !owner.ordersPerCustomer
                else { continue }
                delivery.state = .leased
                delivery.attempts += 1
                delivery.dueAt = terms.now.advanced(by: terms.duration)
                let token = (delivery.lease?.token ?? 0) + 1
                delivery.lease = Lease(owner: terms.owner, until: delivery.dueAt, token: token)
                state.deliveries[delivery.id] = delivery
                let hold = DeliveryHold(id: delivery.id, cursor: delivery.cursor, owner: terms.owner, token: token)
                batch.deliveries.append(ClaimedDelivery(delivery: delivery, event: event, hold: hold))
            }
            return batch
        }
    }

    func renew(_ holds: [DeliveryHold], terms: LeaseTerms) async throws(StoreFailure) -> [DeliveryHold] {
        try check { state in
            state.renewals += holds.count
            let ours = holds.filter { Self.isHeld($0, state) }
            for hold in ours { state.deliveries[hold.id]?.dueAt = terms.now.advanced(by: terms.duration) }
            return ours
        }
    }

    func finish(_ attempted: [AttemptedDelivery], at now: Timestamp) async throws(StoreFailure) -> [DeliveryOutcome?] {
        if let failure = await state.withLock({ $0.finishing })?(attempted) { throw failure }
        return try check { state in attempted.map { Self.finish($0, at: now, &state) ? $0.outcome : nil } }
    }

    private static func finish(_ attempted: AttemptedDelivery, at now: Timestamp, _ state: inout State) -> Bool {
        let (hold, outcome) = (attempted.claimed.hold, attempted.outcome)
        if let attempt = attempted.attempt { state.attempts.append((hold.id, attempt)) }
        guard isHeld(hold, state), var delivery = state.deliveries[hold.id] else { return false }
        delivery.state = .pending
        let endpoint = hold.id.endpoint
        switch outcome {
        case .delivered: delivery.state = .delivered
        case .again(let pause): delivery.dueAt = now.advanced(by: pause)
        case .dead: delivery.state = .dead
        case .released:
            delivery.dueAt = now
            delivery.attempts -= 1
        }
        switch outcome {
        case .delivered: state.failingSince[endpoint] = nil
        case .again, .dead: state.failingSince[endpoint] = state.failingSince[endpoint] ?? now
        case .released: break
        }
        if case .dead(let reason) = outcome { delivery.deadReason = reason }
        if delivery.state != .pending { state.open[endpoint]?.removeAll { $0 == hold.id } }
        if outcome == .gone {
            state.endpoints[endpoint]?.isEnabled = false
            state.endpoints[endpoint]?.disabledReason = DeliveryOutcome.goneReason
        }
        state.deliveries[hold.id] = delivery
        return true
    }

    func disable(
        _ endpoint: WebhookEndpointID,
        because reason: String,
        at now: Timestamp,
        if isHopeless: @escaping @Sendable (Timestamp?, Timestamp) -> Bool
    ) async throws(StoreFailure) -> Bool {
        try check { state in
            guard isHopeless(state.failingSince[endpoint], now), state.endpoints[endpoint]?.isEnabled == true else {
                return false
            }
            state.endpoints[endpoint]?.isEnabled = false
            state.endpoints[endpoint]?.disabledReason = reason
            return true
        }
    }

    private static func isDue(_ delivery: WebhookDelivery, at now: Timestamp) -> Bool {
        (delivery.state == .pending || delivery.state == .leased) && delivery.dueAt <= now
    }

    private static func isHeld(_ hold: DeliveryHold, _ state: State) -> Bool {
        let delivery = state.deliveries[hold.id]
        return delivery?.state == .leased && delivery?.lease?.token == hold.token
            && delivery?.lease?.owner == hold.owner
    }

    private func check<Value>(_ body: (inout State) -> Value) throws(StoreFailure) -> Value {
        let result: Result<Value, StoreFailure> = state.withLock { state in
            if let failure = state.failure { return .failure(failure) }
            return .success(body(&state))
        }
        return try result.get()
    }
}

/// What was posted, in the order in which it came.
final class WebhookInbox: Sendable {
    private let calls = Mutex<[HTTPCall]>([])

    func append(_ call: HTTPCall) { calls.withLock { $0.append(call) } }
    var all: [HTTPCall] { calls.withLock { $0 } }

    func ids(at url: String? = nil) -> [String] {
        all.filter { url == nil || $0.url == url }.compactMap { $0.fields["webhook-id"] }
    }
}

/// Keeps tasks waiting until it is opened.
final class WebhookBarrier: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var count = 0
    }
    private let state = Mutex(State())

    /// How many have come, whether or not they still wait.
    var count: Int { state.withLock { $0.count } }

    /// Returns when it is opened or the task is cancelled.
    func pass() async {
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isFree = state.withLock { state in
                    if state.isOpen || Task.isCancelled { return true }
                    state.waiting[number] = continuation
                    return false
                }
                if isFree { continuation.resume() }
            }
        } onCancel: {
            let waiting = state.withLock { $0.waiting.removeValue(forKey: number) }
            waiting?.resume()
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return state.waiting.values.map(\.self)
        }
        for continuation in waiting { continuation.resume() }
    }
}
