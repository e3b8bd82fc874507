import PurchaseModel
import Storage
import Testing

/// Events and their feed.
@Suite struct EventTests {
    private static let everything = EventFilter(realms: [Samples.production, OutboxSamples.sandbox])

    @Test(arguments: StoreKind.allCases)
    func theFeedGivesEachEventOnceInTheOrderOfTheCommits(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let first = try OutboxSamples.event("a", 1, data: "{\"amount\":1}")
            let second = try OutboxSamples.event("b", 1, customer: "bob", type: "refund.received", learnedAt: 9)
            let third = try OutboxSamples.event("c", 1, customer: nil, realm: OutboxSamples.sandbox)
            let foreign = try OutboxSamples.event("a", 1, app: "other")
            let fourth = try OutboxSamples.event("d", 2)
            try await store.append([first, foreign, second])
            try await store.append([third])
            try await store.append([fourth])
            let app = try Samples.app()
            let (all, byID, sequences) = try await store.read { reader throws(StoreFailure) in
                (
                    try reader.events(app: app, after: .start, where: Self.everything, limit: 10),
                    try reader.event(app: app, id: second.id),
                    [
                        try reader.lastEventSequence(app: app, realm: Samples.production, customer: first.customer),
                        try reader.lastEventSequence(app: app, realm: OutboxSamples.sandbox, customer: nil),
                        try reader.lastEventSequence(app: app, realm: OutboxSamples.sandbox, customer: first.customer),
                    ]
                )
            }
            #expect(all.events.map(\.event) == [first, second, third, fourth])
            #expect(all.events.map(\.cursor.position) == [1, 2, 3, 4])
            #expect(all.next == EventCursor(position: 4))
            #expect(!all.hasMore)
            #expect(byID == all.events[1])
            #expect(sequences == [2, 1, 0])
        }
    }

    /// One filter for each row, read in pages of two.
    @Test(
        arguments: StoreKind.allCases,
        [
            (nil, [true], [1, 2, 4, 5]),
            (nil, [true, false], [1, 2, 3, 4, 5]),
            (["refund.received"], [true, false], [2, 3]),
            (["refund.received", "none.such"], [true], [2]),
            ([], [true, false], []),
            (nil, [], []),
        ] as [(Set<String>?, [Bool], [Int64])]
    )
    func aFilterPassesOverWhatItDoesNotInclude(
        kind: StoreKind,
        row: (types: Set<String>?, isProduction: [Bool], positions: [Int64])
    ) async throws {
        try await kind.withStore { store in
            try await store.append([
                try OutboxSamples.event("1", 1),
                try OutboxSamples.event("2", 2, type: "refund.received"),
                try OutboxSamples.event("3", 1, realm: OutboxSamples.sandbox, type: "refund.received"),
                try OutboxSamples.event("4", 3), try OutboxSamples.event("5", 4),
            ])
            let realms = row.isProduction.map { $0 ? Samples.production : OutboxSamples.sandbox }
            let filter = EventFilter(types: row.types, realms: Set(realms))
            let app = try Samples.app()
            var (cursor, found, pages) = (EventCursor.start, [Int64](), 0)
            var hasMore = true
            while hasMore {
                let page = try await store.read { [cursor] reader throws(StoreFailure) in
                    try reader.events(app: app, after: cursor, where: filter, limit: 2)
                }
                found += page.events.map(\.cursor.position)
                (cursor, hasMore) = (page.next, page.hasMore)
                pages += 1
            }
            #expect(found == row.positions)
            #expect(cursor == EventCursor(position: 5))
            #expect(pages <= 3)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aFilterThatNothingMeetsLooksAtSoManyPlacesAtOnce(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let count = EventPage.lookedAtMax + 1
            try await store.append(try (1...count).map { try OutboxSamples.event("\($0)", $0) })
            let app = try Samples.app()
            let filter = EventFilter(types: ["none.such"], realms: [Samples.production])
            let pages = try await store.read { reader throws(StoreFailure) in
                let first = try reader.events(app: app, after: .start, where: filter, limit: 5)
                return [first, try reader.events(app: app, after: first.next, where: filter, limit: 5)]
            }
            #expect(pages.map(\.next.position) == [EventPage.lookedAtMax, count])
            #expect(pages.map(\.hasMore) == [true, false])
            #expect(pages.map(\.events) == [[], []])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func theEndOfAFeedIsItsLastEvent(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let apps = [try Samples.app(), try Samples.app("other")]
            let ends: @Sendable (any StoreReader) throws(StoreFailure) -> [Int64] = { reader throws(StoreFailure) in
                var ends: [Int64] = []
                for app in apps { ends.append(try reader.lastEventCursor(app: app).position) }
                return ends
            }
            #expect(try await store.read(ends) == [0, 0])
            try await store.append([try OutboxSamples.event("a", 1), try OutboxSamples.event("b", 2)])
            try await store.append([try OutboxSamples.event("c", 1, realm: OutboxSamples.sandbox)])
            #expect(try await store.read(ends) == [3, 0])
        }
    }

    /// Whoever decides from an old reading is told so, and nothing of the write is kept.
    @Test(arguments: StoreKind.allCases)
    func aSequenceThatIsNotTheNextOneIsAConflict(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await store.append([try OutboxSamples.event("a", 1)])
            let refused = [
                try OutboxSamples.event("b", 1), try OutboxSamples.event("b", 3), try OutboxSamples.event("a", 2),
                try OutboxSamples.event("b", 2, customer: nil), try OutboxSamples.event("b", 0, customer: "bob"),
            ]
            for event in refused {
                await #expect(throws: StoreFailure.conflict, "\(event)") { try await store.append([event]) }
                // Also when the closure swallows it.
                await #expect(throws: StoreFailure.conflict) {
                    try await store.write { transaction throws(StoreFailure) in
                        do { try transaction.append([event]) } catch {}
                    }
                }
            }
            try await store.append([try OutboxSamples.event("b", 2)])
            let app = try Samples.app()
            let page = try await store.read { reader throws(StoreFailure) in
                try reader.events(app: app, after: .start, where: Self.everything, limit: 9)
            }
            #expect(page.events.map(\.cursor.position) == [1, 2])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func whatIsNoEventIsRefusedBeforeAnythingIsWritten(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let good = try OutboxSamples.event("a", 1)
            var rows = Array(repeating: try OutboxSamples.event("b", 2), count: 6)
            rows[0].type = ""
            rows[1].type = "purchase verified"
            rows[2].type = "café"
            rows[3].data = Array("[]".utf8)
            rows[4].data = [UInt8(ascii: "{")] + [UInt8](repeating: 0x20, count: 19_000) + [UInt8(ascii: "}")]
            rows[5].realm = Realm(environment: StoreEnvironment(rawValue: "Moon"), isTestSigned: false)
            for row in rows {
                let thrown = try await store.write { transaction throws(StoreFailure) -> StoreFailure? in
                    do throws(StoreFailure) { try transaction.append([good, row]) } catch { return error }
                    return nil
                }
                #expect(thrown == .unstorable)
            }
            let app = try Samples.app()
            let tooMany = EventFilter(types: Set((0...16).map { "t\($0)" }), realms: [])
            await #expect(throws: StoreFailure.unstorable) {
                try await store.read { reader throws(StoreFailure) in
                    try reader.events(app: app, after: .start, where: tooMany, limit: 1)
                }
            }
            #expect(
                try await store.read { reader throws(StoreFailure) in
                    try reader.event(app: app, id: good.id)
                } == nil
            )
        }
    }

    /// Each reads what is there and counts on; who loses the race tries again.
    @Test(arguments: StoreKind.allCases)
    func manyWritersLeaveNoGap(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await withThrowingTaskGroup { group in
                for writer in 0..<50 {
                    group.addTask {
                        let event = try OutboxSamples.event("w\(writer)", 0, customer: writer % 2 == 0 ? "ann" : "bob")
                        try await store.write { transaction throws(StoreFailure) in
                            var event = event
                            event.sequence =
                                try transaction.lastEventSequence(
                                    app: event.app,
                                    realm: event.realm,
                                    customer: event.customer
                                ) + 1
                            try transaction.append([event])
                        }
                    }
                }
                try await group.waitForAll()
            }
            let app = try Samples.app()
            let page = try await store.read { reader throws(StoreFailure) in
                try reader.events(app: app, after: .start, where: Self.everything, limit: 100)
            }
            #expect(page.events.map(\.cursor.position) == Array(1...50))
            for customer in ["ann", "bob"] {
                let own = page.events.map(\.event).filter { $0.customer?.text == customer }
                #expect(own.map(\.sequence) == Array(1...25))
            }
        }
    }

    @Test(arguments: [
        ("evt_a", true), ("evt_0Az-_", true), ("evt_" + String(repeating: "a", count: 64), true), ("evt_", false),
        ("evt", false), ("EVT_a", false), ("whe_a", false), ("evt_a.b", false), ("evt_é", false), ("evt_a b", false),
        ("evt_a\n", false), ("evt_" + String(repeating: "a", count: 65), false), ("", false),
    ])
    func anIDIsItsPrefixAndAPlainName(text: String, isGood: Bool) {
        #expect((EventID(text)?.text == text) == isGood)
    }
}
