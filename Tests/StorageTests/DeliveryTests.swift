import PurchaseModel
import Storage
import Testing

/// Webhook deliveries: who holds them, in which order, and how they end.
@Suite struct DeliveryTests {
    @Test(arguments: StoreKind.allCases)
    func aLeaseThatRunsOutIsClaimedAgainAndItsHolderIsRefused(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await store.create(try OutboxSamples.endpoint("a"))
            try await store.append([try OutboxSamples.event("1", 1)])
            let first = try #require(try await store.claim("a", try OutboxSamples.terms("w1", at: 0)).first)
            #expect(first.delivery.attempts == 1)
            #expect(first.delivery.lease == Lease(owner: first.hold.owner, until: OutboxSamples.at(10_000), token: 1))
            #expect(try await store.claim("a", try OutboxSamples.terms("w2", at: 9_999)).isEmpty)
            let renewed = try await store.write { transaction throws(StoreFailure) in
                try transaction.renewDeliveries(
                    [first.hold],
                    terms: LeaseTerms(owner: first.hold.owner, duration: .seconds(99), now: OutboxSamples.at(5_000))
                )
            }
            #expect(renewed == [first.hold])
            // Never longer than half a minute.
            #expect(try await store.claim("a", try OutboxSamples.terms("w2", at: 34_999)).isEmpty)
            let second = try #require(try await store.claim("a", try OutboxSamples.terms("w2", at: 35_000)).first)
            #expect(second.delivery.attempts == 2)
            #expect(second.hold.token == 2)
            let late = OutboxSamples.attempt(1, status: 200)
            let terms = try OutboxSamples.terms("w1", at: 35_001)
            #expect(try await store.finish(first.hold, .delivered, at: 35_001, attempt: late) == false)
            #expect(
                try await store.write { transaction throws(StoreFailure) in
                    try transaction.renewDeliveries([first.hold], terms: terms)
                } == []
            )
            var stranger = second.hold
            stranger.owner = first.hold.owner
            #expect(try await store.finish(stranger, .delivered, at: 35_002) == false)
            let attempt = OutboxSamples.attempt(2, status: 204)
            #expect(try await store.finish(second.hold, .delivered, at: 35_003, attempt: attempt))
            #expect(try await store.finish(second.hold, .delivered, at: 35_004) == false)
            let found = try await store.read { reader throws(StoreFailure) in
                (try reader.delivery(first.hold.id), try reader.attempts(of: first.hold.id, limit: 9))
            }
            #expect(found.0?.state == .delivered)
            #expect(found.0?.lastStatus == 204)
            #expect(found.0?.endedAt == OutboxSamples.at(35_003))
            // What was sent was sent, whoever holds the lease by now.
            #expect(found.1 == [attempt, late])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func customersWaitForTheirOwnEarlierEventsOnly(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await store.create(try OutboxSamples.endpoint("a", isOrdered: true))
            try await store.append([
                try OutboxSamples.event("1", 1), try OutboxSamples.event("2", 2),
                try OutboxSamples.event("3", 1, customer: "bob"), try OutboxSamples.event("4", 1, customer: nil),
                try OutboxSamples.event("5", 2, customer: nil), try OutboxSamples.event("6", 3),
            ])
            let first = try await store.claim("a", try OutboxSamples.terms("w1", at: 0))
            #expect(first.map(\.event.id.text) == ["evt_1", "evt_3", "evt_4", "evt_5"])
            #expect(try await store.claim("a", try OutboxSamples.terms("w2", at: 1)).isEmpty)
            for claimed in first.dropFirst() { #expect(try await store.finish(claimed.hold, .delivered, at: 2)) }
            // A failure keeps the place in the queue.
            #expect(try await store.finish(first[0].hold, .again(after: .seconds(60)), at: 2))
            #expect(try await store.claim("a", try OutboxSamples.terms("w2", at: 59_999)).isEmpty)
            let again = try await store.claim("a", try OutboxSamples.terms("w2", at: 60_002))
            #expect(again.map(\.event.id.text) == ["evt_1"])
            #expect(try await store.finish(again[0].hold, .delivered, at: 60_003))
            // The next one is due in the instant in which the one before it ends.
            let second = try await store.claim("a", try OutboxSamples.terms("w2", at: 60_003))
            #expect(second.map(\.event.id.text) == ["evt_2"])
            // What is dead stands in nobody's way.
            #expect(try await store.finish(second[0].hold, .dead(because: "refused"), at: 60_004))
            let third = try await store.claim("a", try OutboxSamples.terms("w2", at: 60_004))
            #expect(third.map(\.event.id.text) == ["evt_6"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func whereNoOrderIsWantedNobodyWaits(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await store.create(try OutboxSamples.endpoint("a"))
            try await store.append([try OutboxSamples.event("1", 1), try OutboxSamples.event("2", 2)])
            let claimed = try await store.claim("a", try OutboxSamples.terms("w1", at: 0))
            #expect(claimed.map(\.event.id.text) == ["evt_1", "evt_2"])
        }
    }

    /// A customer whose first event fails for hours must not keep others from being found behind the many that wait.
    @Test(arguments: StoreKind.allCases)
    func aLongQueueOfOneCustomerHidesNobody(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await store.create(try OutboxSamples.endpoint("a", isOrdered: true))
            try await store.append(try (1...900).map { try OutboxSamples.event("\($0)", $0) })
            try await store.append([try OutboxSamples.event("bob", 1, customer: "bob")])
            let first = try #require(try await store.claim("a", try OutboxSamples.terms("w", at: 0), limit: 1).first)
            #expect(first.event.id.text == "evt_1")
            var found: [String] = []
            for moment in Int64(1)...3 {
                found += try await store.claim("a", try OutboxSamples.terms("w", at: moment)).map(\.event.id.text)
            }
            #expect(found == ["evt_bob"])
        }
    }

    /// What waits is not looked at before its customer's first one is due, unless that ends; ten minutes at most.
    @Test(arguments: StoreKind.allCases)
    func whatWaitsIsHeldBackUntilTheFirstOnesTurn(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await store.create(try OutboxSamples.endpoint("a", isOrdered: true))
            try await store.append(try (1...3).map { try OutboxSamples.event("\($0)", $0) })
            let endpoint = try OutboxSamples.endpointID("a")
            /// Claims all that it may, and says which, how many were held back, and when the second and third are due.
            func claim(at now: Int64) async throws -> (holds: [DeliveryHold], heldBack: Int?, due: [Timestamp?]) {
                let terms = try OutboxSamples.terms("w", at: now)
                let waiting = try ["2", "3"].map { try OutboxSamples.eventID($0) }
                return try await store.write { transaction throws(StoreFailure) in
                    let batch = try transaction.claimDeliveries(endpoint: endpoint, limit: 9, terms: terms)
                    var due: [Timestamp?] = []
                    for event in waiting {
                        due.append(try transaction.delivery(WebhookDeliveryID(endpoint: endpoint, event: event))?.dueAt)
                    }
                    return (batch?.deliveries.map(\.hold) ?? [], batch?.heldBackCount, due)
                }
            }
            func expect(_ now: Int64, _ claimed: [String], heldBack: Int, until due: [Int64]) async throws
                -> DeliveryHold?
            {
                let found = try await claim(at: now)
                #expect(found.holds.map(\.id.event.text) == claimed, "at \(now)")
                #expect(found.heldBack == heldBack && found.due == due.map(OutboxSamples.at), "at \(now)")
                return found.holds.first
            }
            let first = try #require(try await expect(0, ["evt_1"], heldBack: 2, until: [30_000, 30_000]))
            #expect(try await store.finish(first, .again(after: .seconds(60)), at: 2))
            _ = try await expect(30_000, [], heldBack: 2, until: [60_002, 60_002])
            let again = try #require(try await expect(60_002, ["evt_1"], heldBack: 2, until: [90_002, 90_002]))
            #expect(try await store.finish(again, .again(after: .seconds(86_400)), at: 60_003))
            _ = try await expect(90_002, [], heldBack: 2, until: [690_002, 690_002])
            _ = try await expect(90_003, [], heldBack: 0, until: [690_002, 690_002])
            func replayFirst(at now: Int64) async throws -> Bool {
                try await store.write { transaction throws(StoreFailure) in
                    try transaction.replayDelivery(first.id, at: OutboxSamples.at(now))
                }
            }
            #expect(try await replayFirst(at: 100_000))
            let third = try #require(try await expect(100_000, ["evt_1"], heldBack: 0, until: [690_002, 690_002]))
            #expect(try await store.finish(third, .delivered, at: 100_001))
            let next = try #require(try await expect(100_001, ["evt_2"], heldBack: 0, until: [110_001, 690_002]))
            // What was tried is hastened by no end.
            #expect(try await store.finish(next, .again(after: .zero), at: 100_002))
            #expect(try await replayFirst(at: 100_003))
            let fourth = try #require(try await expect(100_003, ["evt_1"], heldBack: 1, until: [130_003, 690_002]))
            #expect(try await store.finish(fourth, .again(after: .seconds(86_400)), at: 100_004))
            _ = try await expect(130_003, [], heldBack: 1, until: [160_003, 690_002])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func noMoreAreUnderWayThanTheEndpointAllows(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await store.create(try OutboxSamples.endpoint("a", concurrencyMax: 2))
            try await store.append(try (1...5).map { try OutboxSamples.event("\($0)", $0, learnedAt: 10 - $0) })
            let first = try await store.claim("a", try OutboxSamples.terms("w", at: 10))
            // Longest due first.
            #expect(first.map(\.event.id.text) == ["evt_4", "evt_5"])
            #expect(try await store.claim("a", try OutboxSamples.terms("w", at: 11)).isEmpty)
            #expect(try await store.finish(first[0].hold, .delivered, at: 12))
            #expect(try await store.claim("a", try OutboxSamples.terms("w", at: 12)).map(\.event.id.text) == ["evt_3"])
            // What was let go counts as not tried.
            #expect(try await store.finish(first[1].hold, .released, at: 13))
            let again = try await store.claim("a", try OutboxSamples.terms("w", at: 13), limit: 1)
            #expect(again.map(\.event.id.text) == ["evt_2"])
            // Leases that ran out take no room, and come first.
            let late = try await store.claim("a", try OutboxSamples.terms("w", at: 20_000))
            #expect(late.map(\.event.id.text) == ["evt_2", "evt_3"])
            #expect(late.map(\.delivery.attempts) == [2, 2])
        }
    }

    /// What was mended begins anew; what its owner only tunes, or disables, does not.
    @Test(arguments: StoreKind.allCases)
    func whatIsEnabledAgainOrMovedHasNotFailedYet(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await store.create(try OutboxSamples.endpoint("a"))
            try await store.append(try (1...9).map { try OutboxSamples.event("\($0)", $0, learnedAt: $0) })
            let id = try OutboxSamples.endpoint("a").id
            func change(_ body: (inout WebhookEndpoint) -> Void) async throws -> Timestamp? {
                let found = try await store.read { reader throws(StoreFailure) in try reader.endpoint(id) }
                var endpoint = try #require(found)
                body(&endpoint)
                return try await store.write { [endpoint] transaction throws(StoreFailure) in
                    _ = try transaction.updateEndpoint(endpoint)
                    return try transaction.webhookFigures(id)?.failingSince
                }
            }
            func fail(at moment: Int64) async throws {
                let claimed = try await store.claim("a", try OutboxSamples.terms("w", at: moment), limit: 1)
                let hold = try #require(claimed.first).hold
                #expect(try await store.finish(hold, .again(after: .seconds(900)), at: moment))
            }
            try await fail(at: 20)
            #expect(try await change { $0.perSecondMax = 3 } == OutboxSamples.at(20))
            #expect(try await change { $0.isEnabled = false } == OutboxSamples.at(20))
            #expect(try await change { $0.perSecondMax = 4 } == OutboxSamples.at(20))
            #expect(try await change { $0.isEnabled = true } == nil)
            try await fail(at: 30)
            #expect(try await change { $0.isEnabled = true } == OutboxSamples.at(30))
            #expect(try await change { $0.url = "https://shop.example/new" } == nil)
            try await fail(at: 40)
            #expect(try await change { $0.isEnabled = true } == OutboxSamples.at(40))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func whatFailsIsDatedAndStaysSoWhenTheEndpointIsDisabled(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let endpoint = try OutboxSamples.endpoint("a")
            try await store.create(endpoint)
            try await store.append(try (1...4).map { try OutboxSamples.event("\($0)", $0, learnedAt: $0) })
            let claimed = try await store.claim("a", try OutboxSamples.terms("w", at: 9), limit: 3)
            var figures: [WebhookFigures?] = []
            let outcomes: [DeliveryOutcome] = [.again(after: .seconds(5)), .delivered, .gone]
            for (hold, outcome) in zip(claimed.map(\.hold), outcomes) {
                #expect(try await store.finish(hold, outcome, at: 9 + hold.cursor.position))
                figures.append(
                    try await store.read { reader throws(StoreFailure) in try reader.webhookFigures(endpoint.id) }
                )
            }
            #expect(
                figures == [
                    WebhookFigures(
                        backlog: 4,
                        leased: 2,
                        oldest: OutboxSamples.at(1),
                        failingSince: OutboxSamples.at(10)
                    ),
                    WebhookFigures(backlog: 3, leased: 1, oldest: OutboxSamples.at(1)),
                    WebhookFigures(
                        backlog: 2,
                        dead: 1,
                        oldest: OutboxSamples.at(1),
                        failingSince: OutboxSamples.at(12)
                    ),
                ]
            )
            var disabled = endpoint
            disabled.disable(because: DeliveryOutcome.goneReason, at: OutboxSamples.at(13), after: .start)
            let version = try await store.write { [disabled] write throws(StoreFailure) in
                try write.updateEndpoint(disabled)
            }
            #expect(version == 2)
            let found = try await store.read { reader throws(StoreFailure) in
                (try reader.webhookFigures(endpoint.id), try reader.delivery(claimed[2].hold.id))
            }
            #expect(found.0 == figures[2])
            #expect(found.1?.deadReason == "endpoint_gone")
            #expect(try await store.claim("a", try OutboxSamples.terms("w", at: 99_999)).isEmpty)
            #expect(try await store.read { reader throws(StoreFailure) in try reader.nextDeliveryDue() } == nil)
        }
    }
}
