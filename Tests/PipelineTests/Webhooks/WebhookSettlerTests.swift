import Pipeline
import PurchaseModel
import Storage
import Synchronization
import Testing

/// What has ended is written together, and each is answered for itself.
@Suite struct WebhookSettlerTests {
    /// Deliveries that were made, and who writes that they were.
    private struct House {
        let desk = WebhookDesk()
        let settler: WebhookSettler
        let attempted: [AttemptedDelivery]
        /// How many each write was about.
        let writes = Noted<Int>()

        init(_ count: Int) async throws {
            let endpoint = desk.addEndpoint("shop", concurrencyMax: count)
            desk.addEvents(count, to: endpoint)
            settler = WebhookSettler(work: desk, clock: desk.clock)
            let terms = LeaseTerms(
                owner: LeaseOwner(checked: "node-1"),
                duration: LeaseTerms.durationMax,
                now: desk.clock.now
            )
            let batch = try #require(try await desk.claim(endpoint.id, limit: count, terms: terms))
            attempted = batch.deliveries.map { claimed in
                let attempt = WebhookAttempt(
                    number: claimed.hold.token,
                    beganAt: terms.now,
                    milliseconds: 1,
                    status: 200,
                    failure: nil,
                    address: nil,
                    answer: []
                )
                return AttemptedDelivery(claimed: claimed, endpoint: endpoint, outcome: .delivered, attempt: attempt)
            }
        }

        /// Has the first one be written alone, and all others gather meanwhile.
        ///
        /// - Parameter refuse: what becomes of a write.
        /// - Returns: what became of each.
        func settle(
            _ refuse: @escaping @Sendable ([AttemptedDelivery]) -> StoreFailure? = { _ in nil }
        ) async -> [Result<DeliveryOutcome?, StoreFailure>] {
            let (first, writes) = (WebhookBarrier(), writes)
            desk.whenFinishing { attempted in
                await first.pass()
                writes.note(attempted.count)
                return refuse(attempted)
            }
            typealias Settled = Result<DeliveryOutcome?, StoreFailure>
            return await withTaskGroup(of: (Int, Settled).self) { [settler, attempted] group in
                group.addTask { (0, await settler.settle(attempted[0])) }
                while first.count < 1 { await Task.yield() }
                for place in attempted.indices.dropFirst() {
                    group.addTask { (place, await settler.settle(attempted[place])) }
                }
                while settler.waitingCount < attempted.count - 1 { await Task.yield() }
                first.open()
                var results: [Int: Settled] = [:]
                for await (place, result) in group { results[place] = result }
                return attempted.indices.compactMap { results[$0] }
            }
        }
    }

    @Test func whatGathersDuringACommitIsTheNextOne() async throws {
        let house = try await House(251)
        let results = await house.settle()
        #expect(results == Array(repeating: .success(.delivered), count: 251))
        #expect(house.writes.values == [1, 100, 100, 50])
        #expect(house.desk.attempts.count == 251)
    }

    @Test func aLostLeaseSpoilsNoOther() async throws {
        let house = try await House(5)
        house.desk.loseLeases(of: [house.attempted[2].claimed.hold.id])
        let results = await house.settle()
        let written: [DeliveryOutcome?] = [.delivered, .delivered, nil, .delivered, .delivered]
        #expect(results == written.map(Result.success))
        #expect(house.writes.values == [1, 4])
    }

    @Test(arguments: [StoreFailure.conflict, .unstorable, .broken(code: 11)])
    func whatMayBeTheFaultOfOneIsWrittenInHalves(failure: StoreFailure) async throws {
        let house = try await House(5)
        let guilty = house.attempted[3].claimed.hold
        let results = await house.settle { attempted in
            attempted.contains { $0.claimed.hold == guilty } ? failure : nil
        }
        var expected = [Result<DeliveryOutcome?, StoreFailure>](repeating: .success(.delivered), count: 5)
        expected[3] = .failure(failure)
        #expect(results == expected)
        // Which half the guilty one is in depends on who came first.
        let sizes = house.writes.values
        #expect([[1, 4, 2, 2, 1, 1], [1, 4, 2, 1, 1, 2]].contains(sizes), "\(sizes)")
    }

    @Test func aFullDiskFailsAllAlikeAndTheNextGoOn() async throws {
        let house = try await House(5)
        let results = await house.settle { $0.count > 1 ? .full : nil }
        let full = [Result<DeliveryOutcome?, StoreFailure>](repeating: .failure(.full), count: 4)
        #expect(results == [.success(.delivered)] + full)
        house.desk.whenFinishing { _ in nil }
        let last = await house.settler.settle(house.attempted[4])
        #expect(last == results[0])
    }
}
