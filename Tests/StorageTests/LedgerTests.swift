import PurchaseModel
import Storage
import TestSupport
import Testing

/// What every store does with decisions about transactions.
@Suite struct LedgerTests {
    @Test(arguments: StoreKind.allCases)
    func readsBackEveryFieldOfWhatWasRecorded(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let full = try Samples.recorded(Samples.fullTransaction(7), customer: "ann", order: "o-1")
            let bare = try Samples.recorded(Samples.transaction(0))
            let evidence = try Samples.evidence()
            try await store.write { transaction throws(StoreFailure) in
                try transaction.apply(Decision(changes: [.insert(full), .insert(bare)]), evidence: evidence)
            }
            let found = try await store.read { reader throws(StoreFailure) in
                try reader.transactions([bare.key, full.key])
            }
            #expect(found == [bare, full])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func keepsOneRowForEachSideOfTheWall(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let evidence = try Samples.evidence()
            let realms = StoreEnvironment.known.flatMap {
                [Realm(environment: $0, isTestSigned: false), Realm(environment: $0, isTestSigned: true)]
            }
            let rows = try realms.map { try Samples.recorded(Samples.transaction(.max), realm: $0) }
            let other = try Samples.recorded(Samples.transaction(.max), app: "other")
            try await store.write { transaction throws(StoreFailure) in
                try transaction.apply(Decision(changes: (rows + [other]).map(LedgerChange.insert)), evidence: evidence)
            }
            let app = try Samples.app()
            let found = try await store.read { reader throws(StoreFailure) in
                try reader.transactions(app: app, id: rows[0].transaction.id)
            }
            #expect(found == rows)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func refusesADecisionMadeFromAnOldSituation(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let evidence = try Samples.evidence()
            let row = try Samples.recorded(Samples.transaction(1))
            let another = try Samples.recorded(Samples.transaction(2))
            try await store.write { transaction throws(StoreFailure) in
                try transaction.apply(Decision(changes: [.insert(row)]), evidence: evidence)
            }
            for changes: [LedgerChange] in [[.insert(another), .insert(row)], [.update(another)]] {
                await #expect(throws: StoreFailure.conflict) {
                    try await store.write { transaction throws(StoreFailure) in
                        try transaction.apply(Decision(changes: changes), evidence: evidence)
                    }
                }
            }
            #expect(try await store.read { reader throws(StoreFailure) in try reader.figures() }.transactions == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func commitsNothingOverASwallowedConflict(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let evidence = try Samples.evidence()
            let missing = try Samples.recorded(Samples.transaction(1))
            let good = try Samples.recorded(Samples.transaction(2))
            await #expect(throws: StoreFailure.conflict) {
                try await store.write { transaction throws(StoreFailure) in
                    try? transaction.apply(Decision(changes: [.update(missing)]), evidence: evidence)
                    try transaction.apply(Decision(changes: [.insert(good)]), evidence: evidence)
                }
            }
            #expect(try await store.read { reader throws(StoreFailure) in try reader.figures() } == StoreFigures())
        }
    }

    @Test(arguments: StoreKind.allCases)
    func keepsNothingOfAWriteThatThrows(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let evidence = try Samples.evidence()
            let row = try Samples.recorded(Samples.transaction(1), customer: "ann")
            let submission = try Samples.submission(1, app: "new")
            let count = RefusalKey(hour: HourOfTime(number: 1), app: nil, reason: "untrusted")
            await #expect(throws: StoreFailure.busy) {
                try await store.write { transaction throws(StoreFailure) in
                    try transaction.apply(Decision(changes: [.insert(row)]), evidence: evidence)
                    try transaction.apply(Decision(changes: [.update(row)]), evidence: evidence)
                    let kept = try transaction.keepPending(submission)
                    _ = try transaction.settlePending(kept.id, as: Settlement(verdict: "refused", at: Samples.now))
                    try transaction.addRefusals(counts: [count: 1], samples: [])
                    throw .busy
                }
            }
            let left = try await store.read { reader throws(StoreFailure) in
                (try reader.figures(), try reader.refusalCounts(since: HourOfTime(number: 0), limit: 9))
            }
            #expect(left.0 == StoreFigures())
            #expect(left.1 == [])
            // And the same write can be made again.
            try await store.write { transaction throws(StoreFailure) in
                try transaction.apply(Decision(changes: [.insert(row)]), evidence: evidence)
                _ = try transaction.keepPending(submission)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func tellsWhatProvedATransactionFirstAndWhatChangedItLast(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let first = try Samples.evidence([1, 0, 255], customer: "ann")
            let (second, third) = (try Samples.evidence([]), try Samples.evidence([3]))
            let row = try Samples.recorded(Samples.transaction(1))
            var revoked = row
            revoked.transaction.revocation = Revocation(at: Samples.now)
            let (update, amendment) = (LedgerChange.update(revoked), LedgerChange.amend(revoked))
            try await store.write { transaction throws(StoreFailure) in
                try transaction.apply(Decision(changes: [.insert(row)]), evidence: first)
                let before = try transaction.latestEvidence(of: row.key)
                precondition(before == first)
                try transaction.apply(Decision(changes: [update]), evidence: second)
                // Whoever brings an older proof is named; what proves it stays.
                try transaction.apply(Decision(changes: [amendment]), evidence: third)
            }
            let found = try await store.read { reader throws(StoreFailure) in
                (
                    try reader.evidence(of: row.key), try reader.latestEvidence(of: row.key),
                    try reader.transactions([row.key])
                )
            }
            #expect(found.0 == first)
            #expect(found.1 == second)
            #expect(found.2 == [revoked])
            let unknown = try Samples.key(2)
            #expect(try await store.read { reader throws(StoreFailure) in try reader.evidence(of: unknown) } == nil)
        }
    }

    /// Each row: how the row was changed after it was inserted with proof 1, by the proofs 2, 3, … in turn; and which of them
    /// tells more than the newest.
    @Test(
        arguments: StoreKind.allCases,
        [
            ("", nil), ("u", nil), ("l", 1), ("ul", 2), ("ll", 1), ("lu", nil), ("lul", 3), ("m", 2), ("lm", 3),
            ("a", nil),
            ("la", 1), ("mu", nil), ("ml", 2),
        ] as [(String, UInt8?)]
    )
    func keepsWhatToldMoreThanTheNewest(kind: StoreKind, row: (changes: String, fuller: UInt8?)) async throws {
        try await kind.withStore { store in
            let recorded = try Samples.recorded(Samples.transaction(1))
            let proofs = try (0...4).map { try Samples.evidence([$0]) }
            try await store.write { transaction throws(StoreFailure) in
                try transaction.apply(Decision(changes: [.insert(recorded)]), evidence: proofs[1])
            }
            for (place, word) in row.changes.enumerated() {
                let change = Self.change(word, recorded)
                try await store.write { transaction throws(StoreFailure) in
                    try transaction.apply(Decision(changes: [change]), evidence: proofs[place + 2])
                }
            }
            let found = try await store.read { reader throws(StoreFailure) in
                try reader.fullerEvidence(of: recorded.key)
            }
            #expect(found == row.fuller.map { proofs[Int($0)] })
        }
    }

    private static func change(_ word: Character, _ recorded: RecordedTransaction) -> LedgerChange {
        switch word {
        case "u": .update(recorded)
        case "l": .updateByLess(recorded)
        case "m": .amendByMore(recorded)
        default: .amend(recorded)
        }
    }

    /// What its customer first showed is found also after whatever came before it and after it.
    @Test(arguments: StoreKind.allCases, ["u", "l", "m", "a"] as [Character])
    func keepsWithWhatItWasFirstShown(kind: StoreKind, change: Character) async throws {
        try await kind.withStore { store in
            let recorded = try Samples.recorded(Samples.transaction(1))
            let proofs = try (1...3).map { try Samples.evidence([$0]) }
            var shown = Decision(changes: [Self.change(change, recorded)])
            shown.shown = [recorded.key]
            let decisions = [Decision(changes: [.insert(recorded)]), shown, Decision(changes: [.update(recorded)])]
            for (decision, proof) in zip(decisions, proofs) {
                try await store.write { transaction throws(StoreFailure) in
                    try transaction.apply(decision, evidence: proof)
                }
            }
            let found = try await store.read { reader throws(StoreFailure) in
                (try reader.evidence(of: recorded.key), try reader.latestEvidence(of: recorded.key))
            }
            #expect(found == (proofs[1], proofs[2]))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func withoutAProofAKnownRowKeepsTheOneItHas(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let (first, second) = (try Samples.evidence([1]), try Samples.evidence([2]))
            let row = try Samples.recorded(Samples.transaction(1))
            let fresh = try Samples.recorded(Samples.transaction(2))
            var claimed = row
            claimed.customer = try Samples.customer("ann")
            var known = Decision(changes: [.amend(claimed)])
            known.shown = [claimed.key]
            let decided = known
            try await store.write { transaction throws(StoreFailure) in
                try transaction.apply(Decision(changes: [.insert(row)]), evidence: first)
                try transaction.apply(Decision(changes: [.update(row)]), evidence: second)
            }
            try await store.write { transaction throws(StoreFailure) in
                try transaction.apply(decided, evidence: nil)
                // In the write that inserts it, too.
                try transaction.apply(Decision(changes: [.insert(fresh)]), evidence: first)
                try transaction.apply(Decision(changes: [.amend(fresh)]), evidence: nil)
            }
            let found = try await store.read { reader throws(StoreFailure) in
                (
                    try reader.transactions([row.key]), try reader.evidence(of: row.key),
                    try reader.latestEvidence(of: row.key), try reader.latestEvidence(of: fresh.key),
                    try reader.figures().evidence
                )
            }
            #expect(found.0 == [claimed])
            #expect(found.1 == first && found.2 == second && found.3 == first)
            #expect(found.4 == 3)
            // What is not known needs a proof, and is not changed without being there.
            let other = try Samples.recorded(Samples.transaction(3))
            let refused: [(LedgerChange, StoreFailure)] = [
                (.insert(other), .unstorable), (.update(row), .unstorable), (.amend(other), .conflict),
                (.updateByLess(row), .unstorable), (.amendByMore(row), .unstorable),
            ]
            for (change, failure) in refused {
                await #expect(throws: failure) {
                    try await store.write { transaction throws(StoreFailure) in
                        try transaction.apply(Decision(changes: [change]), evidence: nil)
                    }
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func recordsOnceWhatAThousandBringAtOnce(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let evidence = try Samples.evidence()
            let app = try Samples.app()
            let transaction = try Samples.transaction(9)
            let owners = try (0..<1_000).map { try Samples.customer("c\($0)") }
            let decisions = try await withThrowingTaskGroup(of: Decision.self) { group in
                for owner in owners {
                    let recording = Recording(
                        app: app,
                        realm: Samples.production,
                        transactions: [transaction],
                        customer: owner
                    )
                    group.addTask {
                        try await store.write { write throws(StoreFailure) in
                            let situation = try write.situation(around: [recording])
                            let decision = decide(situation, recording, at: Samples.now)
                            try write.apply(decision, evidence: evidence)
                            return decision
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(decisions.count == 1_000)
            #expect(decisions.count { !$0.isRepetition } == 1)
            #expect(decisions.count { $0.outcomes.first?.standing == .ownedByAnother } == 999)
            let figures = try await store.read { reader throws(StoreFailure) in try reader.figures() }
            #expect(figures.transactions == 1)
            #expect(figures.evidence == 1)
        }
    }

    /// Its first proof named no first transaction, a later one did, and meanwhile what it stood in became another's: whoever
    /// was given it is told of it still.
    @Test(arguments: StoreKind.allCases)
    func whoWasGivenSomethingIsKnownWhereverItStands(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let (ann, bob) = (try Samples.customer("ann"), try Samples.customer("bob"))
            let key = try Samples.key(2)
            let alone = ChainKey(app: key.app, realm: key.realm, original: key.id)
            var first = try Samples.transaction(2)
            first.originalID = nil
            var later = try Samples.transaction(2, signedAt: Samples.now.advanced(by: .seconds(1)))
            later.originalID = TransactionID(number: 1)
            for (transaction, customer) in [(first, ann), (later, ann)] {
                let recording = Recording(
                    app: key.app,
                    realm: key.realm,
                    transactions: [transaction],
                    customer: customer
                )
                let evidence = try Samples.evidence()
                try await store.write { write throws(StoreFailure) in
                    let situation = try write.situation(around: [recording])
                    try write.apply(decide(situation, recording, at: Samples.now), evidence: evidence)
                }
            }
            let event = try OutboxSamples.event("granted", 1, customer: "ann")
            var transfer = Decision()
            transfer.owners = [
                .update(Owner(chain: alone, customer: bob, since: Samples.now, previous: ann, version: 2))
            ]
            try await store.write { [transfer] write throws(StoreFailure) in
                try write.apply(transfer, evidence: nil)
                try write.append([event])
            }
            let situation = try await store.read { reader throws(StoreFailure) in
                try reader.situation(of: [key], AppTerms())
            }
            #expect(situation[key]?.chain.original == later.originalID)
            #expect(situation.fulfilment(of: key)?.chain == alone)
            #expect(situation.fulfilment(of: key)?.customer == ann)
            #expect(situation.sequence(of: StreamKey(app: key.app, realm: key.realm, customer: ann)) == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func refusesEveryVerbOnceItIsClosed(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await store.confirmWritable()
            await store.close()
            await store.close()
            await #expect(throws: StoreFailure.closed) { try await store.confirmWritable() }
            await #expect(throws: StoreFailure.closed) {
                try await store.read { reader throws(StoreFailure) in try reader.figures() }
            }
            await #expect(throws: StoreFailure.closed) {
                try await store.write { transaction throws(StoreFailure) in try transaction.figures() }
            }
        }
    }
}
