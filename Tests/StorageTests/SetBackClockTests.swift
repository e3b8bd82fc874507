import PurchaseModel
import Storage
import Testing

/// What is due when the clock that it was written by is found to have been ahead: it is due so much sooner, whether it waits,
/// is held or was tried before. What is due already, has ended or was taken since stays.
@Suite struct SetBackClockTests {
    private static let ahead: Int64 = 1_000_000
    /// What the clock is set back to.
    private static let right: Int64 = 60

    /// What is added between two steps was put off by the right clock.
    @Test(arguments: StoreKind.allCases)
    func whatIsAddedMeanwhileStays(kind: StoreKind) async throws {
        try await kind.withStore { store in
            for name in ["a", "b", "c"] {
                try await store.add(try OutboxSamples.job(name, kind: "list", due: Self.ahead + 7))
            }
            let lead = ClockLead(.milliseconds(Self.ahead - Self.right), at: OutboxSamples.at(Self.right))
            var place: HastePlace? = .start
            var hastened: [Int] = []
            while let from = place {
                let step = try await store.write { transaction throws(StoreFailure) in
                    try transaction.hasten(by: lead, from: from, limit: 2)
                }
                hastened.append(step.hastened)
                place = step.next
                guard hastened.count == 1 else { continue }
                try await store.add(try OutboxSamples.job("meanwhile", kind: "list", due: 1_000))
            }
            #expect(hastened == [2, 1, 0, 0, 0])
            let found = try await store.read { reader throws(StoreFailure) in
                try ["a", "b", "c", "meanwhile"].map { name throws(StoreFailure) in
                    try reader.job(JobID(checked: "job_\(name)"))?.dueAt.milliseconds
                }
            }
            #expect(found == [67, 67, 67, 1_000])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func deliveriesAreDueSoMuchSooner(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await store.create(try OutboxSamples.endpoint("a"))
            let events = try (1...4).map { number in
                try OutboxSamples.event("\(number)", number, learnedAt: Self.ahead)
            }
            try await store.append(events)
            let leases = try await store.claim("a", try OutboxSamples.terms("w", at: Self.ahead), limit: 3)
            #expect(leases.map(\.event.id.text) == ["evt_1", "evt_2", "evt_3"])
            #expect(try await store.finish(leases[0].hold, .delivered, at: Self.ahead))
            #expect(try await store.finish(leases[1].hold, .again(after: .seconds(60)), at: Self.ahead))
            try await store.create(try OutboxSamples.endpoint("b"))
            try await store.append([try OutboxSamples.event("5", 5, learnedAt: 20)])
            #expect(try await store.claim("b", try OutboxSamples.terms("w", at: 55)).count == 1)
            #expect(try await Self.hasten(store) == 3)
            let found = try await store.read { reader throws(StoreFailure) in
                try ["a", "b"].map { name throws(StoreFailure) in
                    let endpoint = WebhookEndpointID(checked: "whe_\(name)")
                    return try reader.deliveries(endpoint: endpoint, state: nil, before: nil, limit: 9).deliveries
                }
            }
            let due = found.map { all in all.map { $0.state == .delivered ? nil : $0.dueAt.milliseconds } }
            // Newest first: one was due, one waits, one is held, one is tried again, one was delivered.
            #expect(due == [[20, 60, 10_060, 60_060, nil], [10_055]])
            #expect(found[0][2].lease?.until.milliseconds == 10_060)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func jobsAreDueSoMuchSooner(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let rows = [("waits", Self.ahead + 7), ("soon", 100), ("due", 50)]
            for (name, due) in rows { try await store.add(try OutboxSamples.job(name, kind: "list", due: due)) }
            for (name, due) in [("held", Self.ahead), ("taken", 55)] {
                try await store.add(try OutboxSamples.job(name, due: due))
                #expect(try await store.jobs(.sound(limit: 9), "w", at: due).jobs.count == 1)
            }
            #expect(try await Self.hasten(store) == 3)
            let found = try await store.read { reader throws(StoreFailure) in
                try ["waits", "soon", "due", "held", "taken"].map { name throws(StoreFailure) in
                    try reader.job(JobID(checked: "job_\(name)"))
                }
            }
            #expect(found.map { $0?.dueAt.milliseconds } == [67, 60, 50, 10_060, 10_055])
            #expect(found[3]?.lease?.until.milliseconds == 10_060)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func whatImportsAskIsPlannedSoMuchSooner(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let (app, other) = (try Samples.app(), try Samples.app("other"))
            try await store.write { write throws(StoreFailure) in
                let ahead = OutboxSamples.at(Self.ahead)
                _ = try write.planImportQuestions(7, of: app, every: .milliseconds(100), at: ahead)
                let right = OutboxSamples.at(Self.right)
                _ = try write.planImportQuestions(1, of: other, every: .milliseconds(40), at: right)
            }
            #expect(try await Self.hasten(store) == 0)
            let found = try await store.read { reader throws(StoreFailure) in
                try [app, other].map { app throws(StoreFailure) in
                    try reader.importQuestionsLast(of: app, at: OutboxSamples.at(Self.right))
                }
            }
            #expect(found == [.milliseconds(700), .zero])
        }
    }

    /// What it saw in a subscription may not be so yet, and is looked at again. What a clock has looked at that shows no more
    /// than it is now has its time.
    @Test(arguments: StoreKind.allCases)
    func whatWasLookedAtTooEarlyIsLookedAtAgain(kind: StoreKind) async throws {
        let longest: Int64 = 120 * 86_400_000
        let rows: [(lookedAt: Int64, nextLook: Int64?, then: Int64?)] = [
            (Self.ahead, Self.ahead + 7, 60), (61, nil, 60), (61, 50, 50), (60, nil, nil), (60, Self.ahead, Self.ahead),
            // What nobody looks at was put off to a day after a day that is none yet, without being looked at.
            (60, 60 + longest, 60 + longest), (60, 61 + longest, 60),
        ]
        try await kind.withStore { store in
            let looked = try rows.enumerated().map { place, row in
                let key = try Samples.key(Int64(place + 1))
                return RecordedSubscription(
                    chain: ChainKey(app: key.app, realm: key.realm, original: key.id),
                    current: nil,
                    renewal: nil,
                    product: try #require(ProductID("pro.month")),
                    group: nil,
                    expiresAt: nil,
                    graceEndsAt: nil,
                    willAutoRenew: nil,
                    state: .expired,
                    since: nil,
                    nextLook: row.nextLook.map { OutboxSamples.at($0) },
                    lookedAt: OutboxSamples.at(row.lookedAt),
                    version: 1,
                    ends: PeriodEnds()
                )
            }
            try await store.write { write throws(StoreFailure) in
                var decision = Decision()
                decision.subscriptions = looked.map { .insert($0) }
                try write.apply(decision, evidence: nil)
            }
            #expect(try await Self.hasten(store) == 3)
            let found = try await store.read { reader throws(StoreFailure) in
                try reader.subscriptions(looked.map(\.chain)).sorted { $0.chain.original < $1.chain.original }
            }
            #expect(found.map { $0.nextLook?.milliseconds } == rows.map(\.then))
            #expect(found.map(\.version) == [2, 2, 1, 1, 1, 1, 2])
        }
    }

    /// A row at a time: each is come upon once, however few a step looks at, and a step that is taken back moves nothing.
    private static func hasten(_ store: any Store, limit: Int = 1) async throws -> Int {
        let lead = ClockLead(.milliseconds(ahead - right), at: OutboxSamples.at(right))
        var (place, hastened, steps): (HastePlace?, Int, Int) = (.start, 0, 0)
        while let from = place {
            do throws(StoreFailure) {
                try await store.write { transaction throws(StoreFailure) in
                    _ = try transaction.hasten(by: lead, from: from, limit: limit)
                    throw .busy
                }
                Issue.record("it was not taken back")
            } catch {
                #expect(error == .busy)
            }
            let step = try await store.write { transaction throws(StoreFailure) in
                try transaction.hasten(by: lead, from: from, limit: limit)
            }
            hastened += step.hastened
            #expect(step.hastened <= limit)
            place = step.next
            steps += 1
            try #require(steps < 100)
        }
        return hastened
    }
}
