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

    /// A write looks at so many and no more. Where the store fails after the first, the next sweep goes on with the rest; where
    /// the process ends, the rest stays as it was put off. Nothing is moved twice.
    @Test(arguments: [false, true])
    func aSweepThatIsCutOffMovesEachOnce(isKilled: Bool) async throws {
        let store = WatchedStore()
        let clock = ManualClock(Timestamp(seconds: 1_800_000_000))
        let (start, lead) = (clock.now, Duration.seconds(28_800))
        let due = start.advanced(by: .seconds(86_400))
        let jobs = (0..<Housekeeping.hastenedMax + 1).map { number in
            NewJob(id: JobID(checked: "job_\(number)"), kind: "list", payload: [], due: due, createdAt: start)
        }
        try await store.write { write throws(StoreFailure) in
            for job in jobs { _ = try write.enqueue(job) }
        }
        let hastened = Mutex<[Int]>([])
        func sweep(_ count: Int, setBackAfter first: Bool) async {
            let housekeeping = Housekeeping(store: store, clock: clock) { event in
                guard case .clockSetBack(_, let count) = event else { return }
                hastened.withLock { $0.append(count) }
            }
            let swept = Mutex(0)
            let uptime = Mutex(Duration.zero)
            await housekeeping.run(uptime: { uptime.withLock(\.self) }) {
                let number = swept.withLock { number in
                    number += 1
                    return number
                }
                uptime.withLock { $0 += .seconds(60) }
                clock.advance(by: number == 1 && first ? .seconds(60) - lead : .seconds(60))
                if number == 1, first { store.afterNextWrite { store.fail(.full) } }
                return number < count
            }
        }
        await sweep(isKilled ? 2 : 3, setBackAfter: true)
        if isKilled { await sweep(3, setBackAfter: false) }
        let found = try await store.read { reader throws(StoreFailure) in
            try jobs.map { job throws(StoreFailure) in try reader.job(job.id)?.dueAt }
        }
        // The newest go first.
        let rest = isKilled ? due : due.advanced(by: .zero - lead)
        #expect(found.first == rest)
        #expect(found.dropFirst().allSatisfy { $0 == due.advanced(by: .zero - lead) })
        #expect(hastened.withLock(\.self) == (isKilled ? [] : [jobs.count]))
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
            let lead = ClockLead(ahead, at: house.clock.now)
            var (place, hastened): (HastePlace?, Int) = (.start, 0)
            while let from = place {
                let step = try await house.store.write { transaction throws(StoreFailure) in
                    try transaction.hasten(by: lead, from: from, limit: 100)
                }
                (place, hastened) = (step.next, hastened + step.hastened)
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
