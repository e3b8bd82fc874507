import PurchaseModel
import Storage
import Testing

/// Deliveries that are made again.
@Suite struct ReplayTests {
    @Test(arguments: StoreKind.allCases)
    func oneIsDeliveredAgainAndItsAttemptsAreCountedAnew(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await store.create(try OutboxSamples.endpoint("a"))
            try await store.append([try OutboxSamples.event("1", 1)])
            let claimed = try #require(try await store.claim("a", try OutboxSamples.terms("w", at: 0)).first)
            let id = claimed.hold.id
            // It is on its way.
            #expect(try await store.replay(id, at: 1) == false)
            #expect(try await store.finish(claimed.hold, .dead(because: "refused"), at: 1))
            #expect(try await store.replay(id, at: 50))
            let again = try await store.read { reader throws(StoreFailure) in try reader.delivery(id) }
            #expect(again?.state == .pending)
            #expect(again?.attempts == 0)
            #expect(again?.dueAt == OutboxSamples.at(50))
            #expect(again?.deadReason == nil)
            let second = try #require(try await store.claim("a", try OutboxSamples.terms("w", at: 50)).first)
            #expect(second.delivery.attempts == 1)
            #expect(second.hold.token == 2)
            let unknown = [
                WebhookDeliveryID(endpoint: id.endpoint, event: try OutboxSamples.eventID("9")),
                WebhookDeliveryID(endpoint: try OutboxSamples.endpointID("b"), event: id.event),
            ]
            for id in unknown { #expect(try await store.replay(id, at: 51) == false) }
        }
    }

    /// The schedule is one of hours, and a shop that is back need not wait for them.
    @Test(arguments: StoreKind.allCases)
    func whatWaitsForItsNextTurnIsDueWhenItIsAskedFor(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await store.create(try OutboxSamples.endpoint("a"))
            try await store.append([try OutboxSamples.event("1", 1)])
            let first = try #require(try await store.claim("a", try OutboxSamples.terms("w", at: 0)).first)
            #expect(try await store.finish(first.hold, .again(after: .seconds(3_600)), at: 1))
            #expect(try await store.claim("a", try OutboxSamples.terms("w", at: 50)).isEmpty)
            #expect(try await store.replay(first.hold.id, at: 50))
            // It is due.
            #expect(try await store.replay(first.hold.id, at: 50) == false)
            let second = try #require(try await store.claim("a", try OutboxSamples.terms("w", at: 50)).first)
            #expect(second.delivery.attempts == 1)
            #expect(second.hold.token == 2)
        }
    }

    /// What an endpoint missed while it was disabled, or before it was there, is not lost.
    @Test(arguments: StoreKind.allCases)
    func aRangeReachesWhatWasNeverSent(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await store.append([
                try OutboxSamples.event("1", 1, learnedAt: 10), try OutboxSamples.event("2", 2, learnedAt: 20),
                try OutboxSamples.event("3", 1, realm: OutboxSamples.sandbox, learnedAt: 20),
                try OutboxSamples.event("4", 3, learnedAt: 30), try OutboxSamples.event("5", 4, learnedAt: 40),
            ])
            try await store.create(try OutboxSamples.endpoint("a"))
            try await store.append([try OutboxSamples.event("6", 5, learnedAt: 25)])
            let steps = try await store.steps(
                .learned(from: OutboxSamples.at(20), to: OutboxSamples.at(40)),
                limit: 4
            )
            // The sixth one waits already.
            #expect(
                steps == [
                    WebhookReplayStep(replayed: 2, next: EventCursor(position: 4)), .init(replayed: 0, next: nil),
                ]
            )
            let claimed = try await store.claim("a", try OutboxSamples.terms("w", at: 1_000))
            #expect(claimed.map(\.event.id.text) == ["evt_2", "evt_4", "evt_6"])
        }
    }

    /// Of years of events the last minutes are found at once; and what a clock that is behind has dated is among them.
    @Test(arguments: StoreKind.allCases)
    func aRangeIsLookedForWhereItIs(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let count: Int64 = 3_000
            func learned(_ number: Int64) -> Int64 { (number * 60 - number % 2 * 1_800) * 1_000 }
            for start in stride(from: Int64(0), to: count, by: 500) {
                var events: [EventRow] = []
                for number in start..<start + 500 {
                    events.append(try OutboxSamples.event("\(number)", number + 1, learnedAt: learned(number)))
                }
                try await store.append(events)
            }
            try await store.create(try OutboxSamples.endpoint("a"))
            for first: Int64 in [0, 59, 1_500, 2_970] {
                let (from, to) = (first * 60_000, (first + 30) * 60_000)
                let replay = WebhookReplay.learned(from: OutboxSamples.at(from), to: OutboxSamples.at(to))
                let steps = try await store.steps(replay, limit: 200)
                let wanted = (0..<count).count { from <= learned($0) && learned($0) < to }
                #expect(steps.prefix(2).map(\.replayed).reduce(0, +) == wanted, "\(first)")
            }
        }
    }

    /// A server whose clock was a day behind wrote 300 events, twice: what stands before them is no older for that.
    @Test(arguments: StoreKind.allCases)
    func aClockThatWasBehindHidesNothing(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let (count, day): (Int64, Int64) = (3_000, 86_400)
            func learned(_ number: Int64) -> Int64 {
                let isBehind = (1_000..<1_300).contains(number) || (1_450..<1_750).contains(number)
                return (number * 60 + (isBehind ? 0 : day)) * 1_000
            }
            for start in stride(from: Int64(0), to: count, by: 500) {
                try await store.append(
                    try (start..<start + 500).map {
                        try OutboxSamples.event("\($0)", $0 + 1, learnedAt: learned($0))
                    }
                )
            }
            try await store.create(try OutboxSamples.endpoint("a"))
            for first: Int64 in [870, 950, 1_310, 1_420] {
                let (from, to) = (learned(first), learned(first) + 1_800_000)
                let replay = WebhookReplay.learned(from: OutboxSamples.at(from), to: OutboxSamples.at(to))
                let steps = try await store.steps(replay, limit: 200)
                #expect(steps.map(\.replayed).reduce(0, +) == 30, "\(first)")
                #expect(steps.count < 13, "\(first)")
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func allThatFailedAreSentAgainStepByStep(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await store.create(try OutboxSamples.endpoint("a"))
            try await store.append(try (1...7).map { try OutboxSamples.event("\($0)", $0) })
            for claimed in try await store.claim("a", try OutboxSamples.terms("w", at: 0)) {
                let isDead = claimed.event.sequence % 2 == 1
                let outcome = isDead ? DeliveryOutcome.dead(because: "refused") : .delivered
                #expect(try await store.finish(claimed.hold, outcome, at: 1))
            }
            let steps = try await store.steps(.dead, limit: 3)
            #expect(
                steps == [
                    WebhookReplayStep(replayed: 3, next: EventCursor(position: 5)), .init(replayed: 1, next: nil),
                ]
            )
            let claimed = try await store.claim("a", try OutboxSamples.terms("w", at: 1_000))
            #expect(claimed.map(\.event.id.text) == ["evt_1", "evt_3", "evt_5", "evt_7"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func whatWasDeliveredIsLeftOutWhereThatIsWished(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await store.append([try OutboxSamples.event("1", 1), try OutboxSamples.event("2", 2)])
            try await store.create(try OutboxSamples.endpoint("a"))
            try await store.append(try (3...6).map { try OutboxSamples.event("\($0)", $0) })
            let ends: [DeliveryOutcome] = [
                .delivered, .dead(because: "refused"), .again(after: .seconds(60)), .delivered,
            ]
            let terms = try OutboxSamples.terms("w", at: 0)
            for (claimed, end) in zip(try await store.claim("a", terms), ends) {
                #expect(try await store.finish(claimed.hold, end, at: 1))
            }
            // Two that were never sent, one that is dead, and one that waits for its next turn.
            let (from, to) = (OutboxSamples.at(-1), OutboxSamples.at(99))
            #expect(try await store.steps(.undelivered(from: from, to: to), limit: 9).map(\.replayed) == [4])
            #expect(try await store.steps(.undelivered(from: from, to: to), limit: 9).map(\.replayed) == [0])
            let claimed = try await store.claim("a", try OutboxSamples.terms("w", at: 1_000))
            #expect(claimed.map(\.event.id.text) == ["evt_1", "evt_2", "evt_4", "evt_5"])
            #expect(try await store.steps(.learned(from: from, to: to), limit: 9).map(\.replayed) == [2])
        }
    }

    /// An event that is replayed goes before the later ones of its customer that still wait.
    @Test(arguments: StoreKind.allCases)
    func aReplayedEventIsInOrderAgain(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await store.create(try OutboxSamples.endpoint("a", isOrdered: true))
            try await store.append([try OutboxSamples.event("1", 1), try OutboxSamples.event("2", 2)])
            let first = try #require(try await store.claim("a", try OutboxSamples.terms("w", at: 0)).first)
            #expect(try await store.finish(first.hold, .dead(because: "refused"), at: 1))
            let second = try #require(try await store.claim("a", try OutboxSamples.terms("w", at: 1)).first)
            #expect(second.event.id.text == "evt_2")
            #expect(try await store.replay(first.hold.id, at: 2))
            #expect(try await store.finish(second.hold, .again(after: .zero), at: 3))
            let third = try await store.claim("a", try OutboxSamples.terms("w", at: 4))
            #expect(third.map(\.event.id.text) == ["evt_1"])
        }
    }
}

extension Store {
    fileprivate func replay(_ id: WebhookDeliveryID, at now: Int64) async throws -> Bool {
        try await write { transaction throws(StoreFailure) in
            try transaction.replayDelivery(id, at: OutboxSamples.at(now))
        }
    }

    /// A whole replay to endpoint a.
    fileprivate func steps(_ replay: WebhookReplay, limit: Int) async throws -> [WebhookReplayStep] {
        let endpoint = try OutboxSamples.endpointID("a")
        var (cursor, steps) = (Optional(EventCursor.start), [WebhookReplayStep]())
        while let after = cursor {
            let step = try await write { transaction throws(StoreFailure) in
                try transaction.replayDeliveries(
                    replay,
                    endpoint: endpoint,
                    after: after,
                    limit: limit,
                    at: OutboxSamples.at(100)
                )
            }
            steps.append(step)
            cursor = step.next
        }
        return steps
    }
}
