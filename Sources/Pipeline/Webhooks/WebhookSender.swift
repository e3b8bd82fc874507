package import PurchaseModel
package import Storage
import Synchronization

/// Sends what is due, each message until its endpoint has it or it is given up.
///
/// It holds no message of its own: what is to be sent stands in the store and is leased, so any number of nodes send
/// beside each other, and what a dead one held is sent by another. A message may be sent twice, and never be lost.
package final class WebhookSender: Sendable {
    package struct Settings: Sendable {
        /// Under way at once, on this node.
        package var callsMax = 256
        /// Of these, to endpoints that have not shown lately that they answer.
        package var doubtfulMax = 128
        /// Longer than a call can take, so that what is sent is still ours when the answer comes.
        package var lease = LeaseTerms.durationMax
        package var schedule = WebhookSchedule.standard

        package init() {}
    }

    /// People ask for tests one by one, and what is to be sent is not to wait for them.
    private static let testsMax = 8
    /// Of these, of one app, whose receivers may all hang.
    private static let testsOfAppMax = 2

    private let work: any WebhookWork
    private let settler: WebhookSettler
    private let post: WebhookPost
    private let clock: any WallClock
    private let owner: LeaseOwner
    private let settings: Settings
    private let report: @Sendable (WebhookEvent) -> Void
    private let state: Mutex<State>
    private let bell = Bell()

    /// - Parameters:
    ///   - work: where deliveries are leased.
    ///   - post: sends one.
    ///   - clock: tells what is due.
    ///   - owner: names this process and this start of it, and no other.
    ///   - settings: how much at once.
    ///   - report: hears of what happens; it must be quick.
    package init(
        work: any WebhookWork,
        post: WebhookPost,
        clock: any WallClock,
        owner: LeaseOwner,
        settings: Settings = Settings(),
        report: @escaping @Sendable (WebhookEvent) -> Void
    ) {
        self.work = work
        settler = WebhookSettler(work: work, clock: clock)
        self.post = post
        self.clock = clock
        self.owner = owner
        self.settings = settings
        self.report = report
        state = Mutex(State(lanes: WebhookLanes(callsMax: settings.callsMax, doubtfulMax: settings.doubtfulMax)))
    }

    /// Sends until it is stopped, or until `wait` says false, which stops it.
    ///
    /// - Parameter wait: until it is time to look again: not long, for messages become due by themselves, and much less
    ///   than a lease.
    package func run(wait: @escaping @Sendable () async -> Bool) async {
        await withDiscardingTaskGroup { group in
            group.addTask { [self] in
                while await wait() {
                    state.withLock { $0.fruitless = [] }
                    wake()
                }
                stop()
            }
            for await _ in bell.rings() {
                await renewLeases()
                _ = await claim(into: &group)
                if state.withLock({ $0.isStopping && $0.lanes.isEmpty }) { break }
            }
            group.cancelAll()
        }
    }

    /// Sends what is due now, and what becomes due by that; returns when nothing is. Leases are not renewed.
    package func deliverDue() async {
        state.withLock { state in
            state.fruitless = []
            state.isAsking = true
        }
        await withDiscardingTaskGroup { group in
            for await _ in bell.rings() {
                let hasAsked = state.withLock { $0.isAsking }
                let isIdle = await claim(into: &group) == 0 && state.withLock { $0.lanes.isEmpty }
                if isIdle, hasAsked { break }
                if isIdle { wake() }
            }
        }
    }

    /// Has it look for work now: something was written that is to be sent.
    package func wake() {
        state.withLock { $0.isAsking = true }
        bell.ring()
    }

    /// Claims nothing more. What is under way comes to its end, which a call's time limit bounds; ``run(wait:)`` then
    /// returns. Cancel its task to break off calls, too: what they sent is sent again.
    package func stop() {
        state.withLock { $0.isStopping = true }
        bell.ring()
    }

    /// Sends a message that stands for nothing, once, to see whether the endpoint answers. Nothing of it is kept; an endpoint
    /// that does is left alone no longer. It takes a place among the calls to endpoints that have not shown that they answer.
    package func sendTest(
        to endpoint: WebhookEndpoint,
        id: WebhookMessageID
    ) async throws(TestRefusal) -> WebhookPost.Result {
        let refusal: TestRefusal? = state.withLock { state in
            if state.testing[endpoint.id] != nil { return .underWay }
            let hasRoom = state.lanes.room(isProven: false, isBusy: false) > 0
            guard hasRoom, state.testing.count < WebhookSender.testsMax,
                state.testing.values.count(where: { $0 == endpoint.app }) < WebhookSender.testsOfAppMax
            else { return .tooMany }
            state.testing[endpoint.id] = endpoint.app
            state.lanes.begin(1, isProven: false)
            return nil
        }
        if let refusal { throw refusal }
        let result = await post.send(WebhookBody.test(app: endpoint.app, id: id, at: clock.now), id: id, to: endpoint)
        state.withLock { state in
            state.testing[endpoint.id] = nil
            state.lanes.end(isProven: false)
            if state.isCrowded { state.isAsking = true }
        }
        bell.ring()
        if result.verdict == .delivered { reopen(endpoint.id) }
        return result
    }

    /// Leaves an endpoint alone no longer: a person has something sent to it. Other nodes do as they have come to know it.
    package func reopen(_ endpoint: WebhookEndpointID) {
        state.withLock { state in
            state.gates[endpoint]?.reopen()
            state.fruitless.remove(endpoint)
        }
        wake()
    }

    /// How this node has come to know an endpoint; `nil` when it has sent it nothing yet.
    package func standing(of endpoint: WebhookEndpointID) -> WebhookGate? { state.withLock { $0.gates[endpoint] } }

    // MARK: Claiming

    /// Begins claims for the endpoints that may be sent something; gives their number.
    private func claim(into group: inout DiscardingTaskGroup) async -> Int {
        let now = clock.now
        let (hungry, wanted) = state.withLock { state in
            defer {
                state.hungry = []
                if state.isAsking { state.isCrowded = false }
                state.isAsking = false
            }
            guard !state.isStopping else { return ([], 0) as (Set<WebhookEndpointID>, Int) }
            // Those that are left alone, or get no more for now, are longest due, and so stand before the others.
            let others = state.fruitless.count + state.gates.values.count { !$0.isProven || $0.isBusy }
            return (state.hungry, state.isAsking ? state.lanes.room(isProven: true, isBusy: false) + others + 1 : 0)
        }
        var count = 0
        func begin(_ endpoint: WebhookEndpointID, due: DueEndpoint?) {
            guard let place = state.withLock({ $0.reserve(endpoint, due: due, at: now) }) else { return }
            count += 1
            group.addTask { [self] in await claim(place) }
        }
        // In an order that nothing but their names decides, so that a run can be repeated.
        for endpoint in hungry.sorted(by: { $0.text < $1.text }) { begin(endpoint, due: nil) }
        guard wanted > 0 else { return count }
        do throws(StoreFailure) {
            for endpoint in try await work.dueEndpoints(at: now, limit: wanted) { begin(endpoint.id, due: endpoint) }
        } catch {
            report(.storeFailed(error))
        }
        return count
    }

    private func claim(_ place: Place) async {
        let now = clock.now
        let batch: DeliveryBatch?
        do throws(StoreFailure) {
            let terms = LeaseTerms(owner: owner, duration: settings.lease, now: now)
            batch = try await work.claim(place.endpoint, limit: place.limit, terms: terms)
        } catch {
            report(.storeFailed(error))
            batch = nil
        }
        let deliveries = batch?.deliveries ?? []
        state.withLock { $0.claimed(batch, for: place, at: now) }
        bell.ring()
        guard let endpoint = batch?.endpoint, !deliveries.isEmpty else { return }
        await withDiscardingTaskGroup { group in
            // Of a customer's later events none may have been claimed.
            let hasMore = deliveries.count == place.limit || endpoint.ordersPerCustomer
            for delivery in deliveries {
                group.addTask { [self] in
                    let verdict = await deliver(delivery, to: endpoint, isProven: place.isProven)
                    ended(endpoint.id, hasMore: hasMore, isTried: verdict != .notTried)
                }
            }
        }
    }

    // MARK: Delivering

    private func deliver(
        _ claimed: ClaimedDelivery,
        to endpoint: WebhookEndpoint,
        isProven: Bool
    ) async -> WebhookVerdict {
        let body = WebhookBody.bytes(of: claimed.event)
        let result = await post.send(body, id: WebhookMessageID(claimed.event.id), to: endpoint)
        let attempts = claimed.delivery.attempts
        let seed = WebhookSchedule.seed(of: claimed.delivery.id, attempt: attempts)
        let outcome = settings.schedule.outcome(of: result.verdict, attempts: attempts, seed: seed)
        let written = await finish(claimed, as: outcome, result, endpoint)
        // Of the endpoint as it is by now it says nothing.
        let verdict = written == .released ? WebhookVerdict.notTried : result.verdict
        let now = clock.now
        let (wasOpen, isOpen) = state.withLock { state in
            state.holds[claimed.hold] = nil
            state.lanes.end(isProven: isProven)
            let wasOpen = state.gates[endpoint.id]?.isOpen ?? false
            state.gates[endpoint.id]?.end(verdict, at: now)
            return (wasOpen, state.gates[endpoint.id]?.isOpen ?? false)
        }
        if isOpen, !wasOpen { report(.paused(endpoint: endpoint.id, app: endpoint.app)) }
        // Few fail so often, and each is asked for but once in a pause of the breaker's.
        if isOpen, written.isFailure { await disableIfHopeless(endpoint) }
        return result.verdict
    }

    /// What was not tried is due at once: it is left until later, or it would be claimed and let go on and on.
    private func ended(_ endpoint: WebhookEndpointID, hasMore: Bool, isTried: Bool) {
        state.withLock { state in
            if isTried { state.fruitless.remove(endpoint) } else { state.fruitless.insert(endpoint) }
            if hasMore, isTried { state.hungry.insert(endpoint) }
            if state.isCrowded { state.isAsking = true }
        }
        bell.ring()
    }

    /// - Returns: what became of it, or would have if it could have been written.
    private func finish(
        _ claimed: ClaimedDelivery,
        as outcome: DeliveryOutcome,
        _ result: WebhookPost.Result,
        _ endpoint: WebhookEndpoint
    ) async -> DeliveryOutcome {
        report(
            .attempted(
                endpoint: endpoint.id,
                app: endpoint.app,
                verdict: result.verdict,
                status: result.status,
                failure: result.failure,
                duration: result.duration
            )
        )
        let attempt = result.attempt(number: claimed.hold.token)
        let attempted = AttemptedDelivery(claimed: claimed, endpoint: endpoint, outcome: outcome, attempt: attempt)
        let event = claimed.event.id
        let settled = await settler.settle(attempted)
        switch settled {
        case .failure(let failure): report(.storeFailed(failure))
        case .success(nil): report(.leaseLost(endpoint: endpoint.id, event: event))
        case .success(.dead(let reason)):
            report(.died(endpoint: endpoint.id, event: event))
            guard reason == DeliveryOutcome.goneReason else { break }
            report(.disabled(endpoint: endpoint.id, app: endpoint.app, reason: reason))
        case .success(.delivered), .success(.again), .success(.released): break
        }
        if case .success(let written?) = settled { return written }
        return outcome
    }

    private func disableIfHopeless(_ endpoint: WebhookEndpoint) async {
        let (now, reason) = (clock.now, WebhookSchedule.hopeless)
        do throws(StoreFailure) {
            let isDisabled = try await work.disable(endpoint.id, because: reason, at: now) { since, now in
                WebhookSchedule.isHopeless(failingSince: since, at: now)
            }
            if isDisabled { report(.disabled(endpoint: endpoint.id, app: endpoint.app, reason: reason)) }
        } catch {
            report(.storeFailed(error))
        }
    }

    /// Keeps what is under way ours. What was lost in spite of it is another's by now; its answer is still noted.
    private func renewLeases() async {
        let now = clock.now
        let old = state.withLock { state in
            state.holds.filter { $0.value.duration(to: now) >= settings.lease / 3 }.map(\.key)
        }
        guard !old.isEmpty else { return }
        do throws(StoreFailure) {
            let terms = LeaseTerms(owner: owner, duration: settings.lease, now: now)
            let renewed = Set(try await work.renew(old, terms: terms))
            state.withLock { state in
                for hold in old where state.holds[hold] != nil {
                    state.holds[hold] = renewed.contains(hold) ? now : nil
                }
            }
        } catch {
            report(.storeFailed(error))
        }
    }
}

extension DeliveryOutcome {
    /// Whether the endpoint failed, as far as it is to be judged by that.
    fileprivate var isFailure: Bool {
        switch self {
        case .again: true
        case .dead(let reason): reason != DeliveryOutcome.goneReason
        case .delivered, .released: false
        }
    }
}
