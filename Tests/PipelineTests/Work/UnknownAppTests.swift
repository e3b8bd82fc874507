import HTTP
import Jobs
import Pipeline
import PurchaseModel
import Simulator
import Storage
import Testing

/// An app that is configured no more, or only at another server: to what the ledger keeps of it nothing happens here.
@Suite struct UnknownAppTests {
    @Test func aSubscriptionOfItDoesNotExpireUnasked() async throws {
        try await WorkHouse(knowsApp: false).open { house in
            let chain = try await Self.subscribe(house)
            let events = try await Self.events(house)
            for _ in 0..<100 {
                house.pass(.seconds(86_400))
                try await house.work()
            }
            let row = try #require(try await Self.subscription(chain, house))
            #expect(row.state == .active)
            #expect(try await Self.events(house) == events)
            #expect(house.calls.values.isEmpty)
            #expect(try await house.deadLetters() == [])
            // It stands in nobody's way.
            let next = try #require(row.nextLook)
            #expect(next.advanced(by: .seconds(3_601)) > house.clock.now)
        }
    }

    /// A server that knows the app takes it within the hour in which this one leaves it alone.
    @Test func whatIsDueIsLeftToWhoKnowsTheApp() async throws {
        try await WorkHouse().open { house in
            let chain = try await Self.subscribe(house)
            let due = try #require(try await Self.subscription(chain, house)?.nextLook)
            house.pass(house.clock.now.duration(to: due) + .seconds(10))
            let (store, queue, clock) = (house.store, house.queue, house.clock)
            let stranger = SubscriptionWatch(store: store, apps: [], queue: queue, clock: clock, percent: 1)
            for _ in 0..<9 { #expect(await stranger.sweep() == 0) }
            #expect(try await Self.subscription(chain, house)?.nextLook == due)
            let own = SubscriptionWatch(store: store, apps: [house.app.id], queue: queue, clock: clock, percent: 1)
            #expect(await own.sweep() == 1)
        }
    }

    /// Very many of them that are due do not keep this server from its own: more than are ever listed at once.
    @Test func whatNobodyKnowsStandsInNobodysWay() async throws {
        try await WorkHouse().open { house in
            let chain = try await Self.subscribe(house)
            let due = try #require(try await Self.subscription(chain, house)?.nextLook)
            let row = try #require(try await Self.subscription(chain, house))
            let others = try (1...RecordedSubscription.listedMax + 100).map { number in
                let original = try #require(TransactionID(number: Int64(number)))
                let app = try #require(AppID("old"))
                return RecordedSubscription(
                    chain: ChainKey(app: app, realm: chain.realm, original: original),
                    current: original,
                    renewal: row.renewal,
                    product: row.product,
                    group: row.group,
                    expiresAt: row.expiresAt,
                    graceEndsAt: nil,
                    willAutoRenew: true,
                    state: row.state,
                    since: row.since,
                    nextLook: due.advanced(by: .seconds(-60)),
                    lookedAt: row.lookedAt,
                    version: 1
                )
            }
            try await house.store.write { write throws(StoreFailure) in
                var decision = Decision()
                decision.subscriptions = others.map { .insert($0) }
                try write.apply(decision, evidence: nil)
            }
            house.pass(house.clock.now.duration(to: due) + .seconds(10))
            let (store, queue, clock) = (house.store, house.queue, house.clock)
            // Four at a time.
            let watch = SubscriptionWatch(store: store, apps: [house.app.id], queue: queue, clock: clock, percent: 1)
            #expect(await watch.sweep() == 1)
        }
    }

    private static func subscribe(_ house: WorkHouse) async throws -> ChainKey {
        house.inbox.open(false)
        let sold = try house.buy("pro.monthly")
        guard case .recorded = try await house.submit(house.receipt()) else { throw WorkHouse.Unexpected.outcome }
        let realm = Realm(environment: .production, isTestSigned: true)
        return ChainKey(app: house.app.id, realm: realm, original: sold.id)
    }

    private static func subscription(_ chain: ChainKey, _ house: WorkHouse) async throws -> RecordedSubscription? {
        try await house.store.read { reader throws(StoreFailure) in try reader.subscriptions([chain]).first }
    }

    private static func events(_ house: WorkHouse) async throws -> Int {
        let app = house.app.id
        return try await house.store.read { reader throws(StoreFailure) in
            let all = EventFilter(realms: Set(Realm.known))
            return try reader.events(app: app, after: .start, where: all, limit: EventPage.limitMax).events.count
        }
    }
}
