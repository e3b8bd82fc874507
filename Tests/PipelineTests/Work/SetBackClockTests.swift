import Pipeline
import PurchaseModel
import Simulator
import Storage
import Synchronization
import TestSupport
import Testing

/// A server that starts hours ahead of the time puts off by as much what it does meanwhile.
@Suite struct SetBackClockTests {
    /// Each row: by how many seconds the clock is set back between two sweeps, and whether that is made good.
    @Test(arguments: [(28_800, true), (5, true), (4, false), (-60, false)])
    func whatWasPutOffIsDueOnceTheClockIsRight(seconds: Int64, isMadeGood: Bool) async throws {
        let shop = try CheckedShop(MemoryStore())
        try await shop.addEndpoint("first")
        let clock = ManualClock(shop.now)
        try await shop.show(CheckedShop.sold(1))
        let due = try #require(try await Self.due(in: shop))
        let events = Mutex<[String]>([])
        let housekeeping = Housekeeping(store: shop.store, clock: clock) { event in
            guard case .clockSetBack(let lead, let hastened) = event else { return }
            events.withLock { $0.append("\(lead) \(hastened)") }
        }
        let sweeps = Mutex(3)
        let uptime = Mutex(Duration.seconds(7))
        await housekeeping.run(uptime: { uptime.withLock(\.self) }) {
            // The second sweep sees it, and the third nothing more.
            let left = sweeps.withLock { left in
                left -= 1
                return left
            }
            uptime.withLock { $0 += .seconds(60) }
            clock.advance(by: .seconds(left == 2 ? 60 - seconds : 60))
            return left > 0
        }
        let moved = try #require(try await Self.due(in: shop)).duration(to: due)
        // What would be due before the sweep is due at it.
        #expect(moved == (isMadeGood ? .seconds(max(seconds - 60, 0)) : .zero))
        #expect(events.withLock(\.self) == (isMadeGood ? ["\(Duration.seconds(seconds)) \(seconds > 60 ? 1 : 0)"] : []))
    }

    /// Taken for over by a clock that showed next year, and for good: the one that is right finds that it is not.
    @Test func whatWasTakenForOverGoesOn() async throws {
        try await WorkHouse().open { house in
            let sold = try house.buy("pro.monthly")
            _ = try await house.submit(try house.receipt())
            let realm = Realm(environment: .production, isTestSigned: true)
            let chain = ChainKey(app: house.app.id, realm: realm, original: sold.id)
            let ahead = Duration.seconds(400 * 86_400)
            house.clock.advance(by: ahead)
            // Apple is not asked: nothing but the clock says so.
            try await house.work(hasKey: false)
            #expect(try await Self.state(of: chain, house) == .expired)
            house.clock.advance(by: .zero - ahead)
            let now = house.clock.now
            let hastened = try await house.store.write { transaction throws(StoreFailure) in
                try transaction.hastenAll(by: ahead, at: now)
            }
            #expect(hastened == 1)
            try await house.work(hasKey: false)
            #expect(try await Self.state(of: chain, house) == .active)
            let app = house.app.id
            let told = try await house.store.read { reader throws(StoreFailure) in
                try reader.events(app: app, after: .start, where: .everything, limit: 100).events.map(\.event.type)
            }
            #expect(told.filter { $0.hasPrefix("subscription.") }.last == "subscription.restored", "\(told)")
        }
    }

    private static func state(of chain: ChainKey, _ house: WorkHouse) async throws -> SubscriptionState? {
        try await house.store.read { reader throws(StoreFailure) in try reader.subscriptions([chain]).first?.state }
    }

    private static func due(in shop: CheckedShop) async throws -> Timestamp? {
        try await shop.store.read { reader throws(StoreFailure) in try reader.nextDeliveryDue() }
    }
}
