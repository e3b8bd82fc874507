import PurchaseModel
import Storage
import TestSupport
import Testing

/// The memory store is the specification: whatever is asked of it and of another, the other answers the same.
@Suite struct SpecificationTests {
    @Test(arguments: StoreKind.allCases.filter { $0 != .memory }, UInt64(0)..<40)
    func everyStoreAnswersLikeMemory(kind: StoreKind, seed: UInt64) async throws {
        try await kind.withStore { store in try await Self.compare(store, seed: seed) }
    }

    /// What other databases that speak PostgreSQL do: some know one isolation only, and turn transactions back at any
    /// statement; some have no sessions that keep anything.
    @Test(.enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"), arguments: UInt64(0)..<20)
    func whatIsTurnedBackAtRandomAnswersLikeMemory(seed: UInt64) async throws {
        let random = SharedRandom(seed: seed)
        let change = { (settings: inout PostgreSQLSettings) in
            settings.isolation = .serializable
            settings.isPooled = seed % 2 == 0
            settings.attemptsMax = 60
            settings.pause = { _ in }
            settings.faults = { _ in random.happens(oneIn: 60) }
        }
        try await PostgreSQLServer.withStore(change) { store in try await Self.compare(store, seed: seed) }
    }

    /// Through a pooler that lends its few sessions for a transaction at a time.
    @Test(
        .enabled(if: TestDatabase.poolerURL != nil, "ASSAY_TEST_PGBOUNCER is not set: scripts/postgres.sh sets it"),
        arguments: UInt64(0)..<10
    )
    func throughAPoolerPostgreSQLAnswersLikeMemory(seed: UInt64) async throws {
        let change = { (settings: inout PostgreSQLSettings) in settings.isPooled = true }
        try await PostgreSQLServer.withStore(url: TestDatabase.poolerURL, change) { store in
            try await Self.compare(store, seed: seed)
        }
    }

    /// A fulfilment is its chain's: what another chain has of the same transaction is not in its way.
    @Test(arguments: StoreKind.allCases)
    func whatIsOfAnotherChainByNowIsFulfilledThere(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let (first, evidence) = (try Samples.fullTransaction(1), try Samples.evidence())
            let second = try Samples.transaction(1)
            let verbs: [Verb] = [
                .record([try Self.recording(first)], evidence, nil),
                .force([.update(try Samples.recorded(second))], evidence),
                .record([try Self.recording(second)], evidence, nil),
            ]
            for verb in verbs {
                if case .failure(let failure) = await verb.perform(on: store) { Issue.record("\(verb): \(failure)") }
            }
            #expect(try await Self.chains(of: 1, [first, second], in: store) == [first.originalID, second.originalID])
        }
    }

    /// Whatever chain a later proof names: it was fulfilled in the one that the first named, once.
    @Test(arguments: StoreKind.allCases)
    func aProofThatNamesAnotherChainIsFulfilledOnce(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let facts = try [(Int64(7), Int64(1)), (8, 2), (8, 3)].map { original, signed in
                var fact = try Samples.transaction(1, signedAt: Timestamp(milliseconds: signed))
                fact.originalID = TransactionID(number: original)
                return fact
            }
            for fact in facts {
                let verb = Verb.record([try Self.recording(fact)], try Samples.evidence(), nil)
                if case .failure(let failure) = await verb.perform(on: store) { Issue.record("\(verb): \(failure)") }
            }
            #expect(try await Self.chains(of: 1, facts, in: store) == [TransactionID(number: 7)])
        }
    }

    private static func recording(_ transaction: Transaction) throws -> Recording {
        Recording(app: try Samples.app(), realm: Samples.production, transactions: [transaction])
    }

    /// The chains in which a transaction was fulfilled, of those that some facts name.
    private static func chains(
        of number: Int64,
        _ facts: [Transaction],
        in store: any Store
    ) async throws -> [TransactionID?] {
        let key = try Samples.key(number)
        let chains = Set(facts.compactMap(\.originalID)).map { ChainKey(app: key.app, realm: key.realm, original: $0) }
        let found = try await store.read { reader throws(StoreFailure) in try reader.fulfilments(chains) }
        #expect(found.allSatisfy { $0.transaction == key })
        return found.map(\.original).sorted { $0 > $1 }
    }

    private static func compare(_ store: any Store, seed: UInt64) async throws {
        let memory = MemoryStore()
        var random = SeededRandom(seed: seed)
        for step in 0..<120 {
            let verb = try Verb.random(&random)
            let expected = await verb.perform(on: memory)
            let found = await verb.perform(on: store)
            #expect(found == expected, "step \(step): \(verb)")
        }
    }
}

/// What a store answered.
private enum Answer: Hashable, Sendable {
    case failure(StoreFailure)
    case decisions([Decision])
    case kept(SubmissionID, Bool)
    case settled(Bool)
    case givenUp([KeptSubmission])
    case forgotten(Int)
    case alike(SubmissionID?)
    case done
    case recorded([RecordedTransaction])
    case page(TransactionPage)
    case proofs(EvidenceRow?, EvidenceRow?)
    case submission(KeptSubmission?)
    case submissions([[KeptSubmission]], more: Bool)
    case figures(StoreFigures)
    case counts([RefusalCount])
    case totals([RefusalTotal])
    case samples([RefusalSample])
}

/// Something to ask a store for.
private enum Verb: Sendable {
    /// A batch of proofs, as the recorder writes it; the write ends in a failure if there is one.
    case record([Recording], EvidenceRow, StoreFailure?)
    /// Changes that nobody decided: they may conflict.
    case force([LedgerChange], EvidenceRow)
    case keep(PendingSubmission)
    case settle(SubmissionID, Settlement)
    case giveUp(Timestamp, Int)
    case forget(Duration, Int)
    case refuse([RefusalKey: Int], [RefusalSample])
    case find([TransactionKey])
    case findNumber(AppID, TransactionID)
    case list(AppID, CustomerID, ListingOrder, TransactionCursor?, Int)
    case prove(TransactionKey)
    case submission(SubmissionID)
    case alike(PendingSubmission)
    /// So many pages, each of so many: the places in between are each store's own.
    case pending(AppID?, pages: Int, Int)
    case figures
    case counts(HourOfTime, Int)
    case totals(HourOfTime, Int)
    case samples(Int)
    case samplesOf(RefusalSubject, Int)

    func perform(on store: any Store) async -> Answer {
        do throws(StoreFailure) {
            return switch self {
            case .record, .force, .keep, .settle, .giveUp, .forget, .refuse:
                try await store.write { transaction throws(StoreFailure) in try write(transaction) }
            default:
                try await store.read { reader throws(StoreFailure) in try read(reader) }
            }
        } catch {
            return .failure(error)
        }
    }

    private func write(_ transaction: any StoreTransaction) throws(StoreFailure) -> Answer {
        switch self {
        case .record(let recordings, let evidence, let failure):
            var situation = try transaction.situation(around: recordings)
            var decisions: [Decision] = []
            for recording in recordings {
                let decision = decide(situation, recording, at: Samples.now)
                situation.apply(decision)
                try transaction.apply(decision, evidence: evidence)
                decisions.append(decision)
            }
            if let failure { throw failure }
            return .decisions(decisions)
        case .force(let changes, let evidence):
            try transaction.apply(Decision(changes: changes), evidence: evidence)
            return .done
        case .keep(let submission):
            let (id, isNew) = try transaction.keepPending(submission)
            return .kept(id, isNew)
        case .settle(let id, let settlement):
            return .settled(try transaction.settlePending(id, as: settlement))
        case .giveUp(let moment, let limit):
            let age = moment.duration(to: Samples.now)
            return .givenUp(try transaction.giveUpPending(olderThan: age, at: Samples.now, limit: limit))
        case .forget(let age, let limit):
            return .forgotten(try transaction.forgetSettled(olderThan: age, at: Samples.now, limit: limit))
        case .refuse(let counts, let samples):
            try transaction.addRefusals(counts: counts, samples: samples)
            return .done
        default:
            // A writer reads what it has written.
            return try read(transaction)
        }
    }

    private func read(_ reader: any StoreReader) throws(StoreFailure) -> Answer {
        switch self {
        case .find(let keys): .recorded(try reader.transactions(keys))
        case .findNumber(let app, let id): .recorded(try reader.transactions(app: app, id: id))
        case .list(let app, let customer, let order, let cursor, let limit):
            .page(try reader.transactions(app: app, customer: customer, order: order, after: cursor, limit: limit))
        case .prove(let key): .proofs(try reader.evidence(of: key), try reader.latestEvidence(of: key))
        case .submission(let id): .submission(try reader.submission(id))
        case .alike(let submission): .alike(try reader.submission(alike: submission))
        case .pending(let app, let pages, let limit): try Self.list(reader, app: app, pages: pages, limit: limit)
        case .figures: .figures(try reader.figures())
        case .counts(let hour, let limit): .counts(try reader.refusalCounts(since: hour, limit: limit))
        case .totals(let hour, let limit): .totals(try reader.refusalTotals(since: hour, limit: limit))
        case .samples(let limit): .samples(try reader.refusalSamples(limit: limit))
        case .samplesOf(let subject, let limit): .samples(try reader.refusalSamples(of: subject, limit: limit))
        case .record, .force, .keep, .settle, .giveUp, .forget, .refuse: .done
        }
    }
}

extension Verb {
    private static func list(
        _ reader: any StoreReader,
        app: AppID?,
        pages: Int,
        limit: Int
    ) throws(StoreFailure) -> Answer {
        var found: [[KeptSubmission]] = []
        var cursor: SubmissionCursor?
        repeat {
            let page = try reader.pendingSubmissions(app: app, after: cursor, limit: limit)
            found.append(page.submissions)
            cursor = page.next
        } while cursor != nil && found.count < pages
        return .submissions(found, more: cursor != nil)
    }

    static func random(_ random: inout SeededRandom) throws -> Verb {
        switch Int.random(in: 0...20, using: &random) {
        case 0...4:
            let recordings = try (0...Int.random(in: 0...3, using: &random)).map { _ in try recording(&random) }
            let failure = Int.random(in: 0...5, using: &random) == 0 ? StoreFailure.busy : nil
            return .record(recordings, try evidence(&random), failure)
        case 5:
            let recorded = try Samples.recorded(transaction(&random), app: app(&random), realm: realm(&random))
            let changes: [LedgerChange] = [.insert(recorded), .update(recorded), .amend(recorded)]
            let change = try #require(changes.randomElement(using: &random))
            return .force([change], try evidence(&random))
        case 6, 7: return .keep(try submission(&random))
        case 8:
            let at = Timestamp(milliseconds: .random(in: 0...9, using: &random)).advanced(by: .seconds(-3_600))
            let settlements = [
                Settlement(verdict: "recorded", at: Samples.now), Settlement(verdict: "refused", at: Samples.now),
                Settlement(verdict: Settlement.notYours, at: at), Settlement(verdict: "forged", at: Samples.now),
            ]
            return .settle(try id(&random), try #require(settlements.randomElement(using: &random)))
        case 9:
            let keys = try [refusal(&random), refusal(&random)]
            return .refuse(Dictionary(keys.map { ($0, 2) }, uniquingKeysWith: +), try samples(&random))
        case 10: return .find(try (0...5).map { _ in try key(&random) })
        case 11: return .findNumber(try Samples.app(app(&random)), try key(&random).id)
        case 12, 13:
            let limit = Int.random(in: 0...4, using: &random)
            let cursor =
                try Bool.random(using: &random)
                ? TransactionCursor(realm: realm(&random), id: key(&random).id) : nil
            let order: ListingOrder = .random(using: &random) ? .newestFirst : .oldestFirst
            let customer = try Samples.customer(customer(&random) ?? "ann")
            return .list(try Samples.app(app(&random)), customer, order, cursor, limit)
        case 14: return .prove(try key(&random))
        case 15: return .submission(try id(&random))
        case 16:
            let app = Bool.random(using: &random) ? nil : try Samples.app(app(&random))
            return .pending(app, pages: .random(in: 1...3, using: &random), .random(in: 0...4, using: &random))
        case 17:
            return .giveUp(.init(milliseconds: .random(in: 0...9, using: &random)), .random(in: 0...3, using: &random))
        case 18: return .alike(try submission(&random))
        case 19:
            let ages = [Duration.zero - .seconds(1), .seconds(3_600), .seconds(4_000)]
            return .forget(try #require(ages.randomElement(using: &random)), .random(in: 0...3, using: &random))
        default:
            let hour = HourOfTime(number: .random(in: 0...3, using: &random))
            let subjects: [RefusalSubject] = [
                .customer(try Samples.app(app(&random)), try Samples.customer("ann")),
                .transaction(try Samples.app(app(&random)), try key(&random).id),
                .proof(try Samples.digest(.random(in: 0...9, using: &random))),
            ]
            let verbs: [Verb] =
                [.figures, .counts(hour, 5), .totals(hour, 3), .samples(5)] + subjects.map { .samplesOf($0, 3) }
            return verbs.randomElement(using: &random) ?? .figures
        }
    }

    private static func app(_ random: inout SeededRandom) -> String {
        ["game", "Game", "other"].randomElement(using: &random) ?? "game"
    }

    private static func customer(_ random: inout SeededRandom) -> String? {
        [nil, "ann", "bob"].randomElement(using: &random) ?? nil
    }

    private static func realm(_ random: inout SeededRandom) -> Realm {
        Realm(environment: Bool.random(using: &random) ? .production : .xcode, isTestSigned: .random(using: &random))
    }

    private static func id(_ random: inout SeededRandom) throws -> SubmissionID {
        try submission(&random).id
    }

    private static func key(_ random: inout SeededRandom) throws -> TransactionKey {
        try Samples.key(.random(in: 0...6, using: &random), app: app(&random), realm: realm(&random))
    }

    private static func transaction(_ random: inout SeededRandom) throws -> Transaction {
        let number = Int64.random(in: 0...6, using: &random)
        var transaction =
            try Bool.random(using: &random) ? Samples.fullTransaction(number) : Samples.transaction(number)
        transaction.signedAt = Timestamp(milliseconds: .random(in: 0...5, using: &random))
        return transaction
    }

    private static func recording(_ random: inout SeededRandom) throws -> Recording {
        Recording(
            app: try Samples.app(app(&random)),
            realm: realm(&random),
            transactions: try (0..<Int.random(in: 0...3, using: &random)).map { _ in try transaction(&random) },
            customer: try customer(&random).map { try Samples.customer($0) },
            order: OrderID("o-\(Int.random(in: 0...1, using: &random))")
        )
    }

    private static func evidence(_ random: inout SeededRandom) throws -> EvidenceRow {
        try Samples.evidence(random.bytes(.random(in: 0...9, using: &random)), customer: customer(&random))
    }

    private static func submission(_ random: inout SeededRandom) throws -> PendingSubmission {
        let seed = UInt8.random(in: 0...3, using: &random)
        var submission = try Samples.submission(seed, app: app(&random), customer: customer(&random))
        submission.receivedAt = Timestamp(milliseconds: .random(in: 0...9, using: &random))
        if Bool.random(using: &random) {
            let milliseconds = Samples.now.milliseconds + .random(in: -9...9, using: &random)
            submission.reopensBefore = Timestamp(milliseconds: milliseconds)
        }
        return submission
    }

    private static func refusal(_ random: inout SeededRandom) throws -> RefusalKey {
        RefusalKey(
            hour: HourOfTime(number: .random(in: 0...3, using: &random)),
            app: Bool.random(using: &random) ? nil : try Samples.app(app(&random)),
            reason: ["malformed", "untrusted"].randomElement(using: &random) ?? "other"
        )
    }

    private static func samples(_ random: inout SeededRandom) throws -> [RefusalSample] {
        try (0..<Int.random(in: 0...2, using: &random)).map { _ in
            let proof = random.bytes(3)
            return RefusalSample(
                app: Bool.random(using: &random) ? nil : try Samples.app(app(&random)),
                reason: "untrusted",
                customer: try customer(&random).map { try Samples.customer($0) },
                receivedAt: Samples.now,
                digest: try Samples.digest(proof[0] % 10),
                bytesInAll: 3,
                proof: proof,
                format: [nil, "app_receipt"].randomElement(using: &random) ?? nil,
                claimed: try (0..<Int.random(in: 0...4, using: &random)).map { _ in try key(&random).id }
            )
        }
    }
}
