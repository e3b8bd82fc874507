import PurchaseModel
import Storage
import TestSupport
import Testing

/// Deliveries that end at the same time are finished in one commit, and each as if it were alone.
@Suite struct DeliveryBatchTests {
    @Test(arguments: StoreKind.allCases)
    func aLostLeaseSpoilsNoOther(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await store.create(try OutboxSamples.endpoint("a"), try OutboxSamples.endpoint("b"))
            try await store.append(try (1...4).map { try OutboxSamples.event("\($0)", $0, learnedAt: $0) })
            let mine = try await store.claim("a", try OutboxSamples.terms("w1", at: 9)).map(\.hold)
            let others = try await store.claim("b", try OutboxSamples.terms("w1", at: 9)).map(\.hold)
            // The longest due is another's by now; the others' leases have run out, and nobody came for them.
            let lost = try await store.claim("a", try OutboxSamples.terms("w2", at: 20_000), limit: 1).map(\.hold)
            #expect(lost.map(\.id) == [mine[0].id])
            let finished = [
                FinishedDelivery(mine[0], as: .delivered, attempt: OutboxSamples.attempt(1)),
                FinishedDelivery(mine[1], as: .delivered, attempt: OutboxSamples.attempt(1)),
                FinishedDelivery(others[1], as: .dead(because: "refused"), attempt: OutboxSamples.attempt(1)),
                // Again what was said before.
                FinishedDelivery(
                    mine[1],
                    as: .dead(because: "refused"),
                    attempt: OutboxSamples.attempt(1, status: 500)
                ),
                FinishedDelivery(mine[2], as: .again(after: .seconds(5)), attempt: nil),
                FinishedDelivery(mine[3], as: .released, attempt: nil),
            ]
            let isOurs = try await store.write { transaction throws(StoreFailure) in
                try transaction.finishDeliveries(finished, at: OutboxSamples.at(20_001))
            }
            #expect(isOurs == [false, true, true, false, true, true])
            let found = try await store.read { reader throws(StoreFailure) in
                (
                    try mine.map { hold throws(StoreFailure) in try reader.delivery(hold.id)?.state },
                    try mine.map { hold throws(StoreFailure) in try reader.attempts(of: hold.id, limit: 9) },
                    try reader.delivery(mine[2].id)?.dueAt, try reader.delivery(others[1].id)?.deadReason,
                    try reader.webhookFigures(mine[0].id.endpoint)?.failingSince
                )
            }
            #expect(found.0 == [.leased, .delivered, .pending, .pending])
            #expect(found.1 == [[OutboxSamples.attempt(1)], [OutboxSamples.attempt(1)], [], []])
            #expect(found.2 == OutboxSamples.at(25_001))
            #expect(found.3 == "refused")
            // A failure came after the success.
            #expect(found.4 == OutboxSamples.at(20_001))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func whatCannotBeStoredIsRefusedBeforeAnythingIsWritten(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await store.create(try OutboxSamples.endpoint("a"))
            try await store.append(try (1...2).map { try OutboxSamples.event("\($0)", $0) })
            let holds = try await store.claim("a", try OutboxSamples.terms("w", at: 0)).map(\.hold)
            let finished = [
                FinishedDelivery(holds[0], as: .delivered, attempt: OutboxSamples.attempt(1)),
                FinishedDelivery(holds[1], as: .dead(because: "no\0word"), attempt: nil),
            ]
            let failure = try await store.write { transaction throws(StoreFailure) -> StoreFailure? in
                do throws(StoreFailure) {
                    _ = try transaction.finishDeliveries(finished, at: OutboxSamples.at(1))
                    return nil
                } catch { return error }
            }
            #expect(failure == .unstorable)
            let found = try await store.read { reader throws(StoreFailure) in
                (try reader.delivery(holds[0].id)?.state, try reader.attempts(of: holds[0].id, limit: 9))
            }
            #expect(found.0 == .leased)
            #expect(found.1.isEmpty)
            #expect(try await store.finish(holds[0], .delivered, at: 2))
        }
    }

    /// What memory does one after the other is what it means.
    @Test(arguments: StoreKind.allCases, UInt64(0)..<12)
    func togetherIsTheSameAsOneByOne(kind: StoreKind, seed: UInt64) async throws {
        try await kind.withStore { together in
            let alone = MemoryStore()
            var random = SeededRandom(seed: seed)
            for store in [together, alone] as [any Store] {
                try await store.create(try OutboxSamples.endpoint("a", isOrdered: true))
                try await store.create(try OutboxSamples.endpoint("b"))
                try await store.append(
                    try (1...40).map {
                        try OutboxSamples.event("\($0)", $0 / 2 + $0 % 2, customer: $0 % 2 == 0 ? "ann" : "bob")
                    }
                )
            }
            var holds: [DeliveryHold] = []
            for step in Int64(1)...20 {
                let (name, worker) = (
                    ["a", "b"].randomElement(using: &random) ?? "", Bool.random(using: &random) ? "w1" : "w2"
                )
                // Some leases run out before they are finished.
                let terms = LeaseTerms(
                    owner: try OutboxSamples.terms(worker, at: 0).owner,
                    duration: .milliseconds(Int64.random(in: 5...500, using: &random)),
                    now: OutboxSamples.at(step * 50)
                )
                let limit = Int.random(in: 1...9, using: &random)
                let claimed = try await together.claim(name, terms, limit: limit)
                try #require(try await alone.claim(name, terms, limit: limit) == claimed)
                holds += claimed.map(\.hold)
                let finished = holds.shuffled(using: &random).prefix(Int.random(in: 0...9, using: &random)).map {
                    FinishedDelivery($0, as: Self.outcome(&random), attempt: OutboxSamples.attempt($0.token))
                }
                let now = OutboxSamples.at(step * 50 + 20)
                let answers = try await together.write { transaction throws(StoreFailure) in
                    try transaction.finishDeliveries(finished, at: now)
                }
                var expected: [Bool] = []
                for item in finished {
                    expected += try await alone.write { transaction throws(StoreFailure) in
                        try transaction.finishDeliveries([item], at: now)
                    }
                }
                try #require(answers == expected, "step \(step)")
                try #require(
                    try await Self.state(of: together) == (try await Self.state(of: alone)),
                    "step \(step)"
                )
            }
        }
    }

    private struct State: Equatable {
        var endpoints: [WebhookEndpoint]
        var figures: [WebhookFigures?]
        var deliveries: [WebhookDelivery]
        var attempts: [[WebhookAttempt]]
    }

    private static func state(of store: any Store) async throws -> State {
        let (app, ids) = (
            try Samples.app("game"), [try OutboxSamples.endpointID("a"), try OutboxSamples.endpointID("b")]
        )
        return try await store.read { reader throws(StoreFailure) in
            var state = State(endpoints: try reader.endpoints(app: app), figures: [], deliveries: [], attempts: [])
            for id in ids {
                state.figures.append(try reader.webhookFigures(id))
                state.deliveries += try reader.deliveries(endpoint: id, state: nil, before: nil, limit: 100).deliveries
            }
            for delivery in state.deliveries { state.attempts.append(try reader.attempts(of: delivery.id, limit: 9)) }
            return state
        }
    }

    private static func outcome(_ random: inout SeededRandom) -> DeliveryOutcome {
        switch Int.random(in: 0...9, using: &random) {
        case 0...1: .again(after: .milliseconds(Int64.random(in: 0...90, using: &random)))
        case 2...3: .dead(because: "refused")
        case 4: .released
        case 5 where Int.random(in: 0...5, using: &random) == 0: .gone
        default: .delivered
        }
    }
}
