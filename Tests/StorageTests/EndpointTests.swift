import PurchaseModel
import Storage
import Testing

/// Webhook endpoints, and what an event makes for them.
@Suite struct EndpointTests {
    /// Whoever counts them first holds them: many at once, by servers of their own, make no more than there may be.
    @Test(arguments: StoreKind.allCases)
    func noMoreAreMadeThanThereMayBe(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let app = try Samples.app()
            let made = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<8 {
                    let endpoint = try OutboxSamples.endpoint("e\(number)")
                    group.addTask {
                        try await store.write { write throws(StoreFailure) in
                            guard try write.holdEndpoints(app: app).count < 3 else { return false }
                            try write.createEndpoint(endpoint)
                            return true
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(made.count(where: \.self) == 3)
            let found = try await store.read { reader throws(StoreFailure) in try reader.endpoints(app: app) }
            #expect(found.count == 3)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func anEndpointIsKeptAsItIs(kind: StoreKind) async throws {
        try await kind.withStore { store in
            var first = try OutboxSamples.endpoint("a", types: ["purchase.verified", "refund.received"])
            first.disable(because: "by_hand", at: OutboxSamples.at(6), after: EventCursor(position: 4))
            var second = try OutboxSamples.endpoint("b", realms: [Samples.production, OutboxSamples.sandbox])
            second.signingKey = nil
            second.perSecondMax = nil
            second.gap = WebhookGap(from: OutboxSamples.at(2), to: OutboxSamples.at(5), after: EventCursor(position: 3))
            second.version = 99
            try await store.create(first, second, try OutboxSamples.endpoint("c", app: "other"))
            second.version = 1
            let (app, id) = (try Samples.app(), first.id)
            let found = try await store.read { reader throws(StoreFailure) in
                (try reader.endpoints(app: app), try reader.endpoint(id))
            }
            #expect(found.0 == [first, second])
            #expect(found.1 == first)
        }
    }

    /// How far it has been sent what it missed is no change of its owner's, and goes back nowhere.
    @Test(arguments: StoreKind.allCases)
    func whatItMissedMovesOnWithoutAnotherVersion(kind: StoreKind) async throws {
        try await kind.withStore { store in
            var first = try OutboxSamples.endpoint("a")
            first.gap = WebhookGap(from: OutboxSamples.at(2), to: OutboxSamples.at(5), after: EventCursor(position: 3))
            let second = try OutboxSamples.endpoint("b")
            try await store.create(first, second)
            for (place, after) in [(Int64(9), Int64(9)), (7, 9), (12, 12)] {
                let ids = [first.id, second.id]
                let found = try await store.write { write throws(StoreFailure) in
                    for id in ids { try write.moveGap(of: id, to: EventCursor(position: place)) }
                    return (try write.endpoint(ids[0]), try write.endpoint(ids[1]))
                }
                first.gap?.after = EventCursor(position: after)
                #expect(found.0 == first)
                #expect(found.1 == second)
            }
            // Whoever read it before changes something else of it; then it is disabled once more; then it misses other things.
            for (from, to, after, kept) in [(Int64(2), Int64(5), Int64(9), Int64(12)), (2, 8, 12, 12), (9, 9, 4, 4)] {
                first.gap = WebhookGap(
                    from: OutboxSamples.at(from),
                    to: OutboxSamples.at(to),
                    after: EventCursor(position: after)
                )
                let written = first
                let found = try await store.write { write throws(StoreFailure) in
                    _ = try write.updateEndpoint(written)
                    return try write.endpoint(written.id)
                }
                first.gap?.after = EventCursor(position: kept)
                first.version += 1
                #expect(found == first)
            }
            first.gap = nil
            let ended = first
            let found = try await store.write { write throws(StoreFailure) in
                _ = try write.updateEndpoint(ended)
                return try write.endpoint(ended.id)
            }
            #expect(found.map { $0.gap == nil } == true)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aChangeIsMadeFromTheNewestVersionOrNotAtAll(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let endpoint = try OutboxSamples.endpoint("a")
            try await store.create(endpoint)
            var changed = endpoint
            changed.url = "https://shop.example/new"
            changed.secrets = [try OutboxSamples.secret(1)]
            changed.disable(because: "failing", at: OutboxSamples.at(7), after: .start)
            let version = try await store.write { [changed] transaction throws(StoreFailure) in
                try transaction.updateEndpoint(changed)
            }
            #expect(version == 2)
            let unknown = try OutboxSamples.endpoint("b")
            for stale in [changed, unknown] {
                await #expect(throws: StoreFailure.conflict) {
                    try await store.write { transaction throws(StoreFailure) in
                        _ = try transaction.updateEndpoint(stale)
                    }
                }
            }
            await #expect(throws: StoreFailure.conflict) { try await store.create(endpoint) }
            changed.version = 2
            let found = try await store.read { reader throws(StoreFailure) in try reader.endpoint(endpoint.id) }
            #expect(found == changed)
        }
    }

    /// What its filter leaves out by now it was sent once: that is not forgotten.
    @Test(arguments: StoreKind.allCases)
    func whatAnEndpointWasEverForIsKept(kind: StoreKind) async throws {
        try await kind.withStore { store in
            var endpoint = try OutboxSamples.endpoint("a")
            try await store.create(endpoint)
            for (realms, ever) in [
                ([OutboxSamples.sandbox], [Samples.production, OutboxSamples.sandbox]),
                ([Samples.production], [Samples.production, OutboxSamples.sandbox]),
            ] as [(Set<Realm>, Set<Realm>)] {
                endpoint.filter.realms = realms
                let version = try await store.write { [endpoint] write throws(StoreFailure) in
                    try write.updateEndpoint(endpoint)
                }
                let id = endpoint.id
                endpoint = try #require(
                    try await store.read { reader throws(StoreFailure) in try reader.endpoint(id) }
                )
                #expect(endpoint.version == version && endpoint.filter.realms == realms && endpoint.realmsEver == ever)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aDeletedEndpointLeavesItsLogAndNoSecret(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let endpoint = try OutboxSamples.endpoint("a")
            try await store.create(endpoint)
            try await store.append([try OutboxSamples.event("1", 1), try OutboxSamples.event("2", 2)])
            // One is on its way.
            #expect(try await store.claim("a", try OutboxSamples.terms("w", at: 1), limit: 1).count == 1)
            #expect(try await Self.toBury(in: store) == [])
            try await store.write { transaction throws(StoreFailure) in
                try transaction.deleteEndpoint(endpoint.id, version: 1)
            }
            #expect(try await Self.toBury(in: store) == [endpoint.id])
            let (buried, left) = try await store.write { transaction throws(StoreFailure) in
                var (buried, left): ([[Int64]], [[WebhookEndpointID]]) = ([], [])
                for _ in 0..<3 {
                    buried.append(
                        try transaction.buryDeliveries(
                            endpoint: endpoint.id,
                            because: "deleted",
                            at: OutboxSamples.at(5),
                            limit: 1
                        ).map(\.cursor.position)
                    )
                    left.append(try transaction.endpointsToBury(limit: 9))
                }
                return (buried, left)
            }
            // What waits comes before what is on its way.
            #expect(buried == [[2], [1], []])
            #expect(left == [[endpoint.id], [], []])
            #expect(try await store.claim("a", try OutboxSamples.terms("w", at: 9)).isEmpty)
            let found = try await store.read { reader throws(StoreFailure) in
                (
                    try reader.endpoint(endpoint.id), try reader.endpoints(app: endpoint.app),
                    try reader.deliveries(endpoint: endpoint.id, state: .dead, before: nil, limit: 9).deliveries,
                    try reader.nextDeliveryDue()
                )
            }
            #expect(found.0 == nil)
            #expect(found.1 == [])
            #expect(found.2.map(\.cursor.position) == [2, 1])
            #expect(found.2.allSatisfy { $0.deadReason == "deleted" && $0.endedAt == OutboxSamples.at(5) })
            #expect(found.3 == nil)
            // Its name is never given again, and it gets nothing more.
            await #expect(throws: StoreFailure.conflict) { try await store.create(endpoint) }
            try await store.append([try OutboxSamples.event("3", 3)])
            let all = try await store.read { reader throws(StoreFailure) in
                try reader.deliveries(endpoint: endpoint.id, state: nil, before: nil, limit: 9).deliveries
            }
            #expect(all.count == 2)
        }
    }

    private static func toBury(in store: any Store) async throws -> [WebhookEndpointID] {
        try await store.read { reader throws(StoreFailure) in try reader.endpointsToBury(limit: 9) }
    }

    /// Two events. Each row: what becomes of the first at one endpoint, and at another; and whether it is still to be sent.
    @Test(
        arguments: StoreKind.allCases,
        [
            ("waits", "waits", true), ("sent", "waits", true), ("dead", "waits", true), ("sent", "dead", false),
            ("dead", "dead", false), ("dead", "under way", true), ("dead", "disabled", true),
            ("dead", "deleted", false), ("sent", "sent", false),
        ]
    )
    func whatIsStillToBeSentIsKnown(kind: StoreKind, row: (String, String, Bool)) async throws {
        try await kind.withStore { store in
            try await store.create(try OutboxSamples.endpoint("a"), try OutboxSamples.endpoint("b"))
            try await store.append([try OutboxSamples.event("1", 1), try OutboxSamples.event("2", 2)])
            for (name, what) in [("a", row.0), ("b", row.1)] {
                try await Self.treat(name, as: what, in: store)
            }
            let (app, other) = (try Samples.app(), try Samples.app("other"))
            let places = (1...3).map { EventCursor(position: $0) }
            let found = try await store.read { reader throws(StoreFailure) in
                (try reader.awaitedEvents(app: app, among: places), try reader.awaitedEvents(app: other, among: places))
            }
            let isSecondAwaited = row.0 != "deleted" || row.1 != "deleted"
            #expect(found.0.contains(places[0]) == row.2)
            #expect(found.0.contains(places[1]) == isSecondAwaited && !found.0.contains(places[2]))
            #expect(found.1 == [])
        }
    }

    /// The first event comes to this end at an endpoint, and the second waits.
    private static func treat(_ name: String, as what: String, in store: any Store) async throws {
        let id = try OutboxSamples.endpointID(name)
        switch what {
        case "waits": return
        case "disabled", "deleted":
            try await store.write { write throws(StoreFailure) in
                guard var endpoint = try write.endpoint(id) else { return }
                endpoint.isEnabled = false
                if what == "deleted" { return try write.deleteEndpoint(id, version: endpoint.version) }
                _ = try write.updateEndpoint(endpoint)
            }
        default:
            let claimed = try await store.claim(name, try OutboxSamples.terms("w", at: 1), limit: 1)
            let outcome: DeliveryOutcome = what == "dead" ? .dead(because: "refused") : .delivered
            if what == "under way" { return }
            let finished = claimed.map { FinishedDelivery($0.hold, as: outcome, attempt: nil) }
            _ = try await store.write { write throws(StoreFailure) in
                try write.finishDeliveries(finished, at: OutboxSamples.at(2))
            }
        }
    }

    /// One delivery for each event and endpoint that wants it, in the write that adds the event.
    @Test(arguments: StoreKind.allCases)
    func anEventIsForWhoSubscribedToIt(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await store.create(
                try OutboxSamples.endpoint("all"),
                try OutboxSamples.endpoint("refunds", types: ["refund.received"]),
                try OutboxSamples.endpoint("sandbox", realms: [OutboxSamples.sandbox]),
                try OutboxSamples.endpoint("none", types: []),
                try OutboxSamples.endpoint("disabled", isEnabled: false),
                try OutboxSamples.endpoint("foreign", app: "other")
            )
            let events = [
                try OutboxSamples.event("1", 1, learnedAt: 3),
                try OutboxSamples.event("2", 2, type: "refund.received", learnedAt: 4),
                try OutboxSamples.event("3", 1, realm: OutboxSamples.sandbox),
            ]
            await #expect(throws: StoreFailure.busy) {
                try await store.write { transaction throws(StoreFailure) in
                    try transaction.append(events)
                    throw .busy
                }
            }
            try await store.append(events)
            let expected: [(String, [String])] = [
                ("all", ["evt_1", "evt_2"]), ("refunds", ["evt_2"]), ("sandbox", ["evt_3"]), ("none", []),
                ("disabled", []), ("foreign", []),
            ]
            for (name, ids) in expected {
                let endpoint = try OutboxSamples.endpointID(name)
                let page = try await store.read { reader throws(StoreFailure) in
                    try reader.deliveries(endpoint: endpoint, state: nil, before: nil, limit: 9)
                }
                #expect(page.deliveries.reversed().map(\.id.event.text) == ids, "\(name)")
                #expect(page.deliveries.allSatisfy { $0.state == .pending && $0.attempts == 0 })
            }
            let due = try await store.read { reader throws(StoreFailure) in
                try reader.dueEndpoints(at: OutboxSamples.at(3), limit: 9)
            }
            #expect(due.map(\.id.text) == ["whe_sandbox", "whe_all"])
            #expect(due.map(\.since) == [OutboxSamples.at(0), OutboxSamples.at(3)])
            #expect(due.map(\.version) == [1, 1])
        }
    }

    @Test func aSecretDoesNotShowItself() throws {
        let secret = try OutboxSamples.secret(77)
        let endpoint = try OutboxSamples.endpoint("a")
        var dumped = ""
        dump([secret], to: &dumped)
        dump(endpoint, to: &dumped)
        for text in [
            "\(secret)", String(reflecting: secret), "\(endpoint)", String(describing: Optional(secret)), dumped,
        ] {
            #expect(!text.contains("77") && !text.contains("7, 7"), "\(text)")
        }
    }
}
