import Jobs
import Pipeline
import PurchaseModel
import Storage
import TestSupport
import Testing

/// Servers whose clocks are wrong share a database with others: which subscriptions and orders are due goes by its clock.
@Suite(.enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"))
struct WatchClockTests {
    /// Far ahead of any clock that runs these tests, and far behind it.
    private static let wrong: [Int64] = [4_000_000_000_000, 1_000]

    private static func withStore(_ body: (PostgreSQLStore, Timestamp) async throws -> Void) async throws {
        try await Tampering.withSchema { settings in
            var settings = settings
            settings.leaseClock = .database
            let store = try await PostgreSQLStore.open(settings)
            let now = try await store.read { reader throws(StoreFailure) in
                try reader.storeTime(Timestamp(milliseconds: 0))
            }
            try await body(store, now)
            await store.close()
        }
    }

    private static func subscription(_ number: Int64, nextLook: Timestamp) throws -> RecordedSubscription {
        RecordedSubscription(
            chain: ChainKey(
                app: try #require(AppID("game")),
                realm: Realm(environment: .production, isTestSigned: false),
                original: try #require(TransactionID(number: number))
            ),
            current: nil,
            renewal: nil,
            product: try #require(ProductID("pro.month")),
            group: nil,
            expiresAt: nil,
            graceEndsAt: nil,
            willAutoRenew: nil,
            state: .unknown,
            since: nil,
            nextLook: nextLook,
            lookedAt: Timestamp(milliseconds: 0),
            version: 1,
            ends: PeriodEnds()
        )
    }

    /// A look is made when the store says so; the next one would be due at once by a clock that is behind, and never by one
    /// that is ahead.
    @Test(arguments: wrong)
    func whatIsLookedAtIsLookedAtAgainByOneClock(clock: Int64) async throws {
        try await Self.withStore { store, now in
            let (hour, month) = (Duration.seconds(3_600), Duration.seconds(30 * 86_400))
            let ended = now.advanced(by: .zero - hour)
            let began = ended.advanced(by: .zero - month)
            let period = Transaction(
                id: try #require(TransactionID(number: 1)),
                originalID: TransactionID(number: 1),
                product: try #require(ProductID("pro.month")),
                kind: .autoRenewable,
                purchasedAt: began,
                expiresAt: ended,
                signedAt: began
            )
            let recording = Recording(
                app: try #require(AppID("game")),
                realm: Realm(environment: .production, isTestSigned: false),
                transactions: [period],
                customer: CustomerID("ann")
            )
            let evidence = EvidenceRow(
                digest: try #require(ProofDigest([UInt8](repeating: 1, count: 32))),
                format: "jws_transaction",
                proof: [1],
                customer: recording.customer,
                receivedAt: began,
                verdict: "genuine"
            )
            let found = try await store.write { write throws(StoreFailure) in
                let decision = decide(try write.situation(around: [recording]), recording, at: began)
                try write.apply(decision, evidence: evidence)
                let chain = recording.chain(of: period)
                _ = try LedgerRequests.look(at: [chain], at: Timestamp(milliseconds: clock), in: write)
                return try write.subscriptions([chain])
            }
            let next = try #require(found.first?.nextLook)
            #expect(next > now && next < now.advanced(by: month * 3), "\(next)")
        }
    }

    @Test(arguments: wrong)
    func whatIsDueIsPutOffByOneClock(clock: Int64) async throws {
        try await Self.withStore { store, now in
            let day = Duration.seconds(86_400)
            let rows = [
                try Self.subscription(1, nextLook: now.advanced(by: .zero - day)),
                try Self.subscription(2, nextLook: now.advanced(by: day)),
            ]
            try await store.write { write throws(StoreFailure) in
                var decision = Decision()
                decision.subscriptions = rows.map { .insert($0) }
                try write.apply(decision, evidence: nil)
            }
            let wall = ManualClock(Timestamp(milliseconds: clock))
            let queue = JobQueue(store: store, clock: wall) { 7 }
            let apps = Set(rows.map(\.chain.app))
            #expect(await SubscriptionWatch(store: store, apps: apps, queue: queue, clock: wall).sweep() == 1)
            let (found, isDue) = try await store.read { reader throws(StoreFailure) in
                (
                    try reader.subscriptions(rows.map(\.chain)).sorted { $0.chain.original < $1.chain.original },
                    try reader.hasDueJobs(kinds: [SubscriptionLook.kind], at: Timestamp(milliseconds: 0))
                )
            }
            #expect(isDue)
            #expect(found.map(\.version) == [2, 1])
            let off = now.duration(to: try #require(found.first?.nextLook))
            #expect(off > day && off < day * 3)
        }
    }

    @Test(arguments: wrong)
    func anOrderWaitsByOneClock(clock: Int64) async throws {
        try await Self.withStore { store, now in
            let (wall, hour) = (Timestamp(milliseconds: clock), Duration.seconds(3_600))
            let wanted = Order(
                app: try #require(AppID("game")),
                id: try #require(OrderID("o-1")),
                customer: try #require(CustomerID("ann")),
                product: try #require(ProductID("coins")),
                quantity: 1,
                accountToken: nil,
                placedAt: wall,
                expiresAt: wall.advanced(by: hour)
            )
            let app = AppPolicy(id: wanted.app, bundleID: try #require(BundleID("com.example.game")))
            for _ in 0..<2 {
                let placed = try await store.write { write throws(StoreFailure) in
                    try LedgerRequests.place(wanted, for: app, at: wall, in: write)
                }
                let order = try placed.get()
                #expect(order.placedAt >= now && order.placedAt < now.advanced(by: hour))
                #expect(order.placedAt.duration(to: order.expiresAt) == hour)
            }
        }
    }

    @Test(arguments: wrong)
    func ordersExpireByOneClock(clock: Int64) async throws {
        try await Self.withStore { store, now in
            let app = try #require(AppID("game"))
            let orders = try [(1, -1), (2, 1)].map { number, hours in
                Order(
                    app: app,
                    id: try #require(OrderID("o-\(number)")),
                    customer: try #require(CustomerID("ann")),
                    product: try #require(ProductID("coins")),
                    quantity: 1,
                    accountToken: nil,
                    placedAt: now.advanced(by: .seconds(-86_400)),
                    expiresAt: now.advanced(by: .seconds(hours * 3_600))
                )
            }
            try await store.write { write throws(StoreFailure) in
                var decision = Decision()
                decision.orders = orders.map { .insert($0) }
                try write.apply(decision, evidence: nil)
            }
            await Housekeeping(store: store, clock: ManualClock(Timestamp(milliseconds: clock))).sweep()
            let states = try await store.read { reader throws(StoreFailure) in
                try reader.orders(orders.map(\.key)).sorted { $0.id < $1.id }.map(\.state)
            }
            #expect(states == [.expired, .pending])
        }
    }
}
