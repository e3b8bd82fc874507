import PurchaseModel
import Storage
import TestSupport

/// What a store answered about what goes out of it and what is done later.
enum OutboxAnswer: Hashable, Sendable {
    case failure(StoreFailure)
    case done
    case flag(Bool)
    case flags([Bool])
    case count(Int64)
    case event(PlacedEvent?, Int64)
    case feed(EventPage)
    case endpoints([WebhookEndpoint], WebhookEndpoint?)
    case due([DueEndpoint], Timestamp?, [WebhookEndpointID])
    case batch(DeliveryBatch?)
    case renewed([DeliveryHold])
    case deliveries(WebhookDeliveryPage, WebhookDelivery?, [WebhookAttempt])
    case figures(WebhookFigures?, WebhookFigures?)
    case step(WebhookReplayStep)
    case enqueued(JobID, Bool)
    case claim(JobClaim)
    case jobs([JobHold])
    case job(JobRow?)
    case letters(DeadLetterPage)
    case kinds([JobFigures], [JobBacklog])
    case answer(KeptAnswer?)
}

/// Something to ask a store for.
struct OutboxVerb: Sendable, CustomStringConvertible {
    private enum Body: Sendable {
        case read(@Sendable (any StoreReader) throws(StoreFailure) -> OutboxAnswer)
        case write(@Sendable (any StoreTransaction) throws(StoreFailure) -> OutboxAnswer)
    }

    let description: String
    /// What the write ends in, if it is not to be kept.
    var failure: StoreFailure?
    private let body: Body

    static func read(
        _ description: String,
        _ body: @escaping @Sendable (any StoreReader) throws(StoreFailure) -> OutboxAnswer
    ) -> OutboxVerb {
        OutboxVerb(description: description, body: .read(body))
    }

    static func write(
        _ description: String,
        _ body: @escaping @Sendable (any StoreTransaction) throws(StoreFailure) -> OutboxAnswer
    ) -> OutboxVerb {
        OutboxVerb(description: description, body: .write(body))
    }

    func perform(on store: any Store) async -> OutboxAnswer {
        do throws(StoreFailure) {
            switch body {
            case .read(let body):
                return try await store.read { reader throws(StoreFailure) in try body(reader) }
            case .write(let body):
                return try await store.write { [failure] transaction throws(StoreFailure) in
                    let answer = try body(transaction)
                    if let failure { throw failure }
                    return answer
                }
            }
        } catch {
            return .failure(error)
        }
    }
}

/// Makes verbs by a seed. It remembers who holds what, as the workers of a server would.
struct OutboxVerbs {
    private var random: SeededRandom
    private var now: Int64 = 0
    private var made = 0
    private var deliveries: [DeliveryHold] = []
    private var jobs: [JobHold] = []

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// Learns from an answer what may be finished.
    mutating func learn(_ answer: OutboxAnswer) {
        switch answer {
        case .batch(let batch): deliveries += batch?.deliveries.map(\.hold) ?? []
        case .claim(let claim):
            jobs += claim.jobs.compactMap(\.hold)
        default: break
        }
    }

    mutating func next() throws -> OutboxVerb {
        now += number(0...4)
        var verb =
            switch number(0...19) {
            case 0...3: try append()
            case 4: try changeEndpoint()
            case 5...7: try claimDeliveries()
            case 8...10: try finishDelivery()
            case 11: try replay()
            case 12...14: try readOutbox()
            case 15, 16: try changeJob()
            case 17: try finishJobs()
            case 18: try readJobs()
            default: try keep()
            }
        if chance(8) { verb.failure = .busy }
        return verb
    }

    private mutating func append() throws -> OutboxVerb {
        let events = try (0..<number(1...4)).map { _ in
            made += 1
            return try OutboxSamples.event(
                chance(25) ? "e1" : "e\(made)",
                chance(25) ? 2 : 1,
                app: pick(["game", "other"]),
                customer: pick(["ann", "bob", nil]),
                realm: pick([Samples.production, OutboxSamples.sandbox]),
                type: pick(["purchase.verified", "refund.received"]),
                learnedAt: now + number(-2...2),
                data: "{\"n\":\(made)}"
            )
        }
        return .write("append \(events)") { transaction throws(StoreFailure) in
            // Each counts on from what is there; a step of 2 leaves a gap, which is refused.
            var last: [String: Int64] = [:]
            var counted: [EventRow] = []
            for var event in events {
                let name = "\(event.app) \(event.realm) \(event.customer.map(\.text) ?? "-")"
                var before = last[name]
                if before == nil {
                    before = try transaction.lastEventSequence(
                        app: event.app,
                        realm: event.realm,
                        customer: event.customer
                    )
                }
                event.sequence += before ?? 0
                last[name] = event.sequence
                counted.append(event)
            }
            try transaction.append(counted)
            return .done
        }
    }

    private mutating func changeEndpoint() throws -> OutboxVerb {
        let name = pick(["a", "b", "c"])
        var endpoint = try OutboxSamples.endpoint(
            name,
            app: pick(["game", "game", "other"]),
            types: pick([nil, ["refund.received"], []]),
            realms: pick([[Samples.production], [Samples.production, OutboxSamples.sandbox]]),
            concurrencyMax: Int(number(1...4)),
            isOrdered: chance(2),
            isEnabled: !chance(4)
        )
        endpoint.version = number(1...3)
        if chance(3) {
            return .write("create \(endpoint)") { [endpoint] transaction throws(StoreFailure) in
                try transaction.createEndpoint(endpoint)
                return .done
            }
        }
        let isDeletion = chance(6)
        return .write("change \(endpoint), delete \(isDeletion)") { [endpoint] transaction throws(StoreFailure) in
            var changed = endpoint
            changed.version = try transaction.endpoint(endpoint.id)?.version ?? endpoint.version
            guard isDeletion else { return .count(try transaction.updateEndpoint(changed)) }
            try transaction.deleteEndpoint(changed.id, version: changed.version)
            return .count(
                Int64(
                    try transaction.buryDeliveries(
                        endpoint: changed.id,
                        because: "gone",
                        at: changed.createdAt,
                        limit: 2
                    ).count
                )
            )
        }
    }

    private mutating func claimDeliveries() throws -> OutboxVerb {
        let endpoint = try OutboxSamples.endpointID(pick(["a", "b", "c"]))
        let (limit, terms) = (Int(number(1...4)), try terms())
        if chance(4) {
            let holds = someDeliveries()
            return .write("renew \(holds)") { transaction throws(StoreFailure) in
                .renewed(try transaction.renewDeliveries(holds, terms: terms))
            }
        }
        return .write("claim \(limit) of \(endpoint) \(terms)") { transaction throws(StoreFailure) in
            .batch(try transaction.claimDeliveries(endpoint: endpoint, limit: limit, terms: terms))
        }
    }

    private mutating func finishDelivery() throws -> OutboxVerb {
        let finished = someDeliveries().map { hold in
            let outcome = pick([
                DeliveryOutcome.delivered, .delivered, .again(after: .milliseconds(number(0...9))),
                .dead(because: "refused"), .released, chance(4) ? .gone : .delivered,
            ])
            let attempt = chance(3) ? nil : OutboxSamples.attempt(hold.token, status: pick([200, 500, nil]))
            return FinishedDelivery(hold, as: outcome, attempt: attempt)
        }
        if finished.isEmpty { return try append() }
        let moment = OutboxSamples.at(now)
        return .write("finish \(finished)") { transaction throws(StoreFailure) in
            .flags(try transaction.finishDeliveries(finished, at: moment))
        }
    }

    private mutating func replay() throws -> OutboxVerb {
        let endpoint = try OutboxSamples.endpointID(pick(["a", "b", "c"]))
        let id = WebhookDeliveryID(endpoint: endpoint, event: try OutboxSamples.eventID("e\(number(1...20))"))
        let (from, to) = (OutboxSamples.at(number(0...40)), OutboxSamples.at(number(20...99)))
        let replay: WebhookReplay =
            chance(2) ? .dead : chance(2) ? .learned(from: from, to: to) : .undelivered(from: from, to: to)
        let (cursor, limit) = (EventCursor(position: number(-1...9)), Int(number(1...9)))
        let moment = OutboxSamples.at(now)
        if chance(3) {
            return .write("replay \(id)") { transaction throws(StoreFailure) in
                .flag(try transaction.replayDelivery(id, at: moment))
            }
        }
        return .write("replay \(replay) to \(endpoint)") { transaction throws(StoreFailure) in
            .step(
                try transaction.replayDeliveries(replay, endpoint: endpoint, after: cursor, limit: limit, at: moment)
            )
        }
    }

    private mutating func readOutbox() throws -> OutboxVerb {
        let app = try Samples.app(pick(["game", "other", "none"]))
        let endpoint = try OutboxSamples.endpointID(pick(["a", "b", "c"]))
        let event = try OutboxSamples.eventID("e\(number(1...30))")
        let (cursor, limit) = (EventCursor(position: number(-1...12)), Int(number(0...5)))
        let id = WebhookDeliveryID(endpoint: endpoint, event: event)
        switch number(0...4) {
        case 0:
            let filter = EventFilter(
                types: pick([nil, ["refund.received"]]),
                realms: pick([[Samples.production], [Samples.production, OutboxSamples.sandbox], []])
            )
            return .read("feed of \(app) after \(cursor)") { reader throws(StoreFailure) in
                .feed(try reader.events(app: app, after: cursor, where: filter, limit: limit))
            }
        case 1:
            return .read("event \(event)") { reader throws(StoreFailure) in
                let last = try reader.lastEventSequence(app: app, realm: Samples.production, customer: nil)
                return .event(try reader.event(app: app, id: event), last)
            }
        case 2:
            return .read("endpoints of \(app), \(endpoint)") { reader throws(StoreFailure) in
                .endpoints(try reader.endpoints(app: app), try reader.endpoint(endpoint))
            }
        case 3:
            let state = pick([nil, DeliveryState.dead, .pending, .delivered])
            let before = chance(2) ? nil : cursor
            return .read("deliveries of \(endpoint) before \(cursor)") { reader throws(StoreFailure) in
                .deliveries(
                    try reader.deliveries(endpoint: endpoint, state: state, before: before, limit: limit),
                    try reader.delivery(id),
                    try reader.attempts(of: id, limit: limit)
                )
            }
        default:
            let moment = OutboxSamples.at(now)
            if chance(2) { return .figures(of: endpoint, countingTo: limit) }
            return .read("due") { reader throws(StoreFailure) in
                let due = try reader.dueEndpoints(at: moment, limit: 2)
                return .due(due, try reader.nextDeliveryDue(), try reader.endpointsToBury(limit: 2))
            }
        }
    }

    private mutating func someDeliveries() -> [DeliveryHold] {
        var holds = (0..<number(1...3)).compactMap { _ in deliveries.randomElement(using: &random) }
        // Sometimes a token that nobody holds.
        if chance(9), !holds.isEmpty { holds[0].token += 1 }
        return holds
    }

    // MARK: Jobs and answers

    private mutating func changeJob() throws -> OutboxVerb {
        let kinds: Set<String> = pick([["mail"], ["mail", "print"], []])
        let (terms, limit) = (try terms(), Int(number(1...4)))
        switch number(0...5) {
        case 0, 1:
            made += 1
            let job = try OutboxSamples.job(
                chance(9) ? "j1" : "j\(made)",
                kind: pick(["mail", "print"]),
                due: now + number(-3...3),
                key: pick([nil, nil, "k1", "k2"])
            )
            return .write("enqueue \(job)") { transaction throws(StoreFailure) in
                let (id, isNew) = try transaction.enqueue(job)
                return .enqueued(id, isNew)
            }
        case 2:
            return .write("claim \(limit) of \(kinds) \(terms)") { transaction throws(StoreFailure) in
                .claim(try transaction.claimJobs(kinds: kinds, .sound(limit: limit), terms: terms))
            }
        case 3:
            return .write("claim a suspect of \(kinds) \(terms)") { transaction throws(StoreFailure) in
                .claim(try transaction.claimJobs(kinds: kinds, .suspect, terms: terms))
            }
        case 4:
            let id = try OutboxSamples.jobID("j\(number(1...40))")
            let due = OutboxSamples.at(now)
            return .write("hasten \(id)") { store throws(StoreFailure) in .flag(try store.hastenJob(id, at: due)) }
        default:
            let id = try OutboxSamples.jobID("j\(number(1...40))")
            let due = OutboxSamples.at(now)
            return .write("revive \(id)") { store throws(StoreFailure) in .flag(try store.reviveJob(id, at: due)) }
        }
    }

    private mutating func finishJobs() throws -> OutboxVerb {
        let finished = (0..<number(1...3)).compactMap { _ in jobs.randomElement(using: &random) }.map { hold in
            let pause = Duration.milliseconds(number(0...9))
            let (again, afresh) = (JobEnding.again(after: pause, because: "no answer"), JobEnding.afresh)
            return FinishedJob(hold, as: pick([.done, again, afresh(pause, "é"), .dead(because: "é"), .released]))
        }
        if finished.isEmpty { return try changeJob() }
        let (terms, moment) = (try terms(), OutboxSamples.at(now))
        if chance(4) {
            return .write("renew \(finished)") { store throws(StoreFailure) in
                .jobs(try store.renewJobs(finished.map(\.hold), terms: terms))
            }
        }
        return .write("finish \(finished)") { store throws(StoreFailure) in
            .flags(try store.finishJobs(finished, at: moment))
        }
    }

    private mutating func readJobs() throws -> OutboxVerb {
        let id = try OutboxSamples.jobID("j\(number(1...40))")
        let moment = OutboxSamples.at(now)
        let cursor = chance(2) ? nil : DeadLetterCursor(diedAt: OutboxSamples.at(number(0...now)), id: id)
        return switch number(0...3) {
        case 0: .read("job \(id)") { store throws(StoreFailure) in .job(try store.job(id)) }
        case 1:
            .read("dead letters after \(id)") { store throws(StoreFailure) in
                .letters(try store.deadLetters(after: cursor, limit: 2))
            }
        case 2:
            .read("due jobs") { store throws(StoreFailure) in
                .flag(try store.hasDueJobs(kinds: ["print", "mail"], at: moment))
            }
        default: .jobFigures(at: moment, countingTo: Int(number(1...4)))
        }
    }

    private mutating func keep() throws -> OutboxVerb {
        let answer = OutboxSamples.answer("k\(number(0...5))", holder: pick(["shop", "Shop"]), keptAt: now)
        let (moment, limit) = (OutboxSamples.at(now - number(0...9)), Int(number(0...3)))
        let age = Duration.milliseconds(number(0...9))
        return switch number(0...2) {
        case 0:
            .read("answer \(answer.name)") { store throws(StoreFailure) in .answer(try store.keptAnswer(answer.name)) }
        case 1:
            .write("keep \(answer.name)") { transaction throws(StoreFailure) in
                try transaction.keepAnswer(answer)
                return .done
            }
        default:
            .write("sweep") { store throws(StoreFailure) in
                .count(Int64(try store.sweepAnswers(olderThan: age, at: moment, limit: limit)))
            }
        }
    }

    // MARK: Chances

    private mutating func terms() throws -> LeaseTerms {
        LeaseTerms(
            owner: try OutboxSamples.terms(pick(["w1", "w2"]), at: 0).owner,
            duration: .milliseconds(number(1...20)),
            now: OutboxSamples.at(now)
        )
    }

    private mutating func number(_ range: ClosedRange<Int64>) -> Int64 { .random(in: range, using: &random) }

    /// Once in so many times.
    private mutating func chance(_ times: Int64) -> Bool { number(1...times) == 1 }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int(number(0...Int64(values.count - 1)))]
    }
}
