import PurchaseModel
import Storage
import Testing

/// Proofs that are kept until they can be decided.
@Suite struct SubmissionTests {
    @Test(arguments: StoreKind.allCases)
    func theSameSubmissionKeepsItsID(kind: StoreKind) async throws {
        try await kind.withStore { store in
            var first = try Samples.submission(1, customer: "ann")
            first.environments = [.sandbox, .production]
            (first.isOnlyNamed, first.proofDigest) = (true, try Samples.digest(9))
            var again = first
            (again.environments, again.isOnlyNamed, again.proofDigest) = (nil, false, nil)
            (again.receivedAt, again.order) = (.init(milliseconds: 1), OrderID("o-9"))
            again.proof = []
            let others = [
                try Samples.submission(1, customer: "bob"), try Samples.submission(1),
                try Samples.submission(2, customer: "ann"), try Samples.submission(1, app: "other", customer: "ann"),
            ]
            let kept = try await Self.keep([first, again] + others + [again, others[1]], in: store)
            #expect(kept.map(\.isNew) == [true, false, true, true, true, true, false, false])
            #expect(kept[1].id == kept[0].id)
            #expect(kept[6].id == kept[0].id)
            #expect(kept[7].id == kept[3].id)
            #expect(Set(kept.map(\.id)).count == 5)
            let id = kept[0].id
            let found = try await store.read { reader throws(StoreFailure) in try reader.submission(id) }
            #expect(found == KeptSubmission(first))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func isSettledOnceAndKeepsItsID(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let submission = try Samples.submission(1)
            let id = try await Self.keep([submission], in: store)[0].id
            let unknown = try Samples.submissionID(9)
            let settlement = Settlement(verdict: "recorded", at: Samples.now)
            let settled = try await store.write { transaction throws(StoreFailure) in
                [
                    try transaction.settlePending(id, as: settlement),
                    try transaction.settlePending(id, as: Settlement(verdict: "refused", at: Samples.now)),
                    try transaction.settlePending(unknown, as: settlement),
                ]
            }
            #expect(settled == [true, false, false])
            let found = try await store.read { reader throws(StoreFailure) in
                (try reader.submission(id), try reader.figures(), try reader.submission(unknown))
            }
            var decided = submission
            decided.proof = []
            #expect(found.0 == KeptSubmission(decided, settlement: settlement), "its bytes are forgotten")
            #expect(found.1 == StoreFigures(submissions: 1, pendingSubmissions: 0))
            #expect(found.2 == nil)
            let again = try await Self.keep([submission], in: store)
            #expect(again.map(\.id) == [id])
            #expect(again.map(\.isNew) == [false])
        }
    }

    /// Only while it waits; sent again after it was given up, it waits for what it waits for then.
    @Test(arguments: StoreKind.allCases)
    func whatItWaitsForIsSaidAnew(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let submission = try Samples.submission(1)
            let id = try await Self.keep([submission], in: store)[0].id
            let (unknown, givenUp) = (try Samples.submissionID(9), Settlement(verdict: "given_up", at: Samples.now))
            let noted = try await store.write { write throws(StoreFailure) in
                [
                    try write.notePending(id, waitsFor: PendingSubmission.recordedInPart),
                    try write.notePending(unknown, waitsFor: PendingSubmission.recordedInPart),
                ]
            }
            #expect(noted == [true, false])
            var waiting = submission
            waiting.reason = PendingSubmission.recordedInPart
            let found = try await store.read { reader throws(StoreFailure) in try reader.submission(id) }
            #expect(found == KeptSubmission(waiting))
            await #expect(throws: StoreFailure.unstorable) {
                _ = try await store.write { write throws(StoreFailure) in
                    try write.notePending(id, waitsFor: "a\u{0}b")
                }
            }
            let after = try await store.write { write throws(StoreFailure) in
                _ = try write.settlePending(id, as: givenUp)
                return try write.notePending(id, waitsFor: "only_an_id")
            }
            #expect(!after)
            #expect(try await Self.keep([submission], in: store).map(\.isNew) == [true])
            let again = try await store.read { reader throws(StoreFailure) in try reader.submission(id) }
            #expect(again == KeptSubmission(submission))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func pendingOnesAreListedOldestFirst(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let submissions = try (1...9).map { try Samples.submission($0, app: $0 % 3 == 0 ? "other" : "game") }
            let ids = try await Self.keep(submissions, in: store).map(\.id)
            _ = try await store.write { transaction throws(StoreFailure) in
                try transaction.settlePending(ids[1], as: Settlement(verdict: "refused", at: Samples.now))
            }
            for app in [nil, try Samples.app("game"), try Samples.app("other"), try Samples.app("none")] {
                let expected = zip(ids, submissions).filter { $0.0 != ids[1] && (app == nil || $0.1.app == app) }
                var found: [KeptSubmission] = []
                var next: SubmissionCursor?
                repeat {
                    let after = next
                    let page = try await store.read { reader throws(StoreFailure) in
                        try reader.pendingSubmissions(app: app, after: after, limit: 2)
                    }
                    found += page.submissions
                    next = page.next
                } while next != nil
                #expect(found.map(\.id) == expected.map(\.0))
                #expect(found.map(\.submission) == expected.map(\.1))
            }
        }
    }

    /// Oldest first, so many at a time, and no other state is touched.
    @Test(arguments: StoreKind.allCases)
    func whatWaitedTooLongIsGivenUpAndWaitsAgainWhenItComesAgain(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let submissions = try (UInt8(1)...6).map { seed in
                var submission = try Samples.submission(seed, app: seed == 3 ? "other" : "game")
                submission.receivedAt = Timestamp(milliseconds: Int64(seed) * 100)
                return submission
            }
            let ids = try await Self.keep(submissions, in: store).map(\.id)
            let decided = Settlement(verdict: "genuine", at: Samples.now)
            let age = Timestamp(milliseconds: 500).duration(to: Samples.now)
            let given = try await store.write { transaction throws(StoreFailure) in
                _ = try transaction.settlePending(ids[0], as: decided)
                return [
                    try transaction.giveUpPending(olderThan: age, at: Samples.now, limit: 2),
                    try transaction.giveUpPending(olderThan: age, at: Samples.now, limit: 2),
                    try transaction.giveUpPending(olderThan: age, at: Samples.now, limit: 2),
                ]
            }
            let givenUp = Settlement(verdict: Settlement.givenUp, at: Samples.now)
            let told = submissions[1...3].map { submission in
                var submission = submission
                submission.proof = []
                return KeptSubmission(submission, settlement: givenUp)
            }
            #expect(given == [Array(told[..<2]), Array(told[2...]), []])
            let found = try await store.read { reader throws(StoreFailure) in
                var found: [Settlement?] = []
                for id in ids { found.append(try reader.submission(id)?.settlement) }
                return found
            }
            #expect(found == [decided, givenUp, givenUp, givenUp, nil, nil])

            var again = submissions[1]
            (again.id, again.order) = (try Samples.submissionID(99), OrderID("o-9"))
            (again.isOnlyNamed, again.proofDigest) = (true, try Samples.digest(9))
            again.receivedAt = Timestamp(milliseconds: 9_000)
            let alike = again
            #expect(try await store.read { reader throws(StoreFailure) in try reader.submission(alike: alike) } == nil)
            let kept = try await Self.keep([again, again, submissions[0]], in: store)
            #expect(kept.map(\.id) == [ids[1], ids[1], ids[0]])
            #expect(kept.map(\.isNew) == [true, false, false])
            again.id = ids[1]
            let reopened = try await store.read { reader throws(StoreFailure) in
                (
                    try reader.submission(ids[1]), try reader.pendingLoad(app: alike.app).submissions,
                    try reader.figures()
                )
            }
            #expect(reopened.0 == KeptSubmission(again))
            #expect(reopened.1 == 3)
            #expect(reopened.2 == StoreFigures(submissions: 6, pendingSubmissions: 3))
        }
    }

    /// What is not the app's today may be tomorrow; what is decided for good stays so.
    @Test(arguments: StoreKind.allCases)
    func whatWasNotYoursWaitsAgainWhenItComesAgainLater(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let submissions = [try Samples.submission(1), try Samples.submission(2)]
            let ids = try await Self.keep(submissions, in: store).map(\.id)
            let game = submissions[0].app
            try await store.write { transaction throws(StoreFailure) in
                for (id, verdict) in zip(ids, [Settlement.notYours, "forged"]) {
                    _ = try transaction.settlePending(id, as: Settlement(verdict: verdict, at: Samples.now))
                }
            }
            let over = Samples.now.advanced(by: Settlement.notYoursFor)
            for (moment, isOver) in [(over.advanced(by: .milliseconds(-1)), false), (over, true)] {
                let again = submissions.map { submission in
                    var again = submission
                    again.receivedAt = moment
                    return again
                }
                let alike = try await store.read { reader throws(StoreFailure) in
                    [try reader.submission(alike: again[0]), try reader.submission(alike: again[1])]
                }
                #expect(alike == [isOver ? nil : ids[0], ids[1]])
                let kept = try await Self.keep(again + [again[0]], in: store)
                #expect(kept.map(\.id) == ids + [ids[0]])
                #expect(kept.map(\.isNew) == [isOver, false, false])
                let found = try await store.read { reader throws(StoreFailure) in
                    (try reader.submission(ids[0])?.settlement == nil, try reader.pendingLoad(app: game).submissions)
                }
                #expect(found == (isOver, isOver ? 1 : 0))
            }
        }
    }

    /// An import that begins again asks once more about what was refused before it began.
    @Test(arguments: StoreKind.allCases)
    func whatWasRefusedBeforeWaitsAgainIfItShall(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let verdicts = ["forged", "malformed", Settlement.notYours, Settlement.givenUp, "genuine", "test_signed"]
            let submissions = try verdicts.indices.map { try Samples.submission(UInt8($0), customer: "ann") }
            let waiting = try Samples.submission(99)
            let ids = try await Self.keep(submissions + [waiting], in: store).map(\.id)
            try await store.write { transaction throws(StoreFailure) in
                for (id, verdict) in zip(ids, verdicts) {
                    _ = try transaction.settlePending(id, as: Settlement(verdict: verdict, at: Samples.now))
                }
            }
            let names = (submissions + [waiting, try Samples.submission(1)]).map(\.name)
            let later = Samples.now.advanced(by: .milliseconds(1))
            for (moment, count) in [(Samples.now, 4), (later, 0)] {
                let found = try await store.read { reader throws(StoreFailure) in
                    try reader.refusals(of: names, since: moment)
                }
                let pairs = zip(names, verdicts).prefix(count).map { ($0, Settlement(verdict: $1, at: Samples.now)) }
                #expect(found == Dictionary(uniqueKeysWithValues: pairs))
            }
            for (moment, isOver) in [(Samples.now, false), (later, true)] {
                let again = submissions.map { submission in
                    var again = submission
                    again.reopensBefore = moment
                    again.origin = .delivered
                    return again
                }
                let alike = try await store.read { reader throws(StoreFailure) in
                    [try reader.submission(alike: again[0]), try reader.submission(alike: again[4])]
                }
                #expect(alike == [isOver ? nil : ids[0], ids[4]])
                let isNew = try await Self.keep(again, in: store).map(\.isNew)
                // What nobody could decide is never over.
                #expect(isNew == [isOver, isOver, isOver, !isOver, false, false])
                let kept = try await store.read { reader throws(StoreFailure) in try reader.submission(ids[0]) }
                #expect((kept?.settlement == nil, kept?.submission.origin == .delivered) == (isOver, isOver))
            }
        }
    }

    /// The longest settled first, so many at a time; not what waits, what an import brought, or the last that was kept.
    @Test(arguments: StoreKind.allCases)
    func whatWasSettledLongAgoIsForgotten(kind: StoreKind) async throws {
        try await kind.withStore { store in
            var submissions = try (UInt8(1)...7).map { try Samples.submission($0) }
            submissions[3].origin = .imported
            let ids = try await Self.keep(submissions, in: store).map(\.id)
            let days = [5, 3, nil, 9, 4, 1, 9]
            let counts = try await store.write { transaction throws(StoreFailure) in
                for (id, days) in zip(ids, days) {
                    guard let days else { continue }
                    let at = Samples.now.advanced(by: .seconds(-86_400 * days))
                    _ = try transaction.settlePending(id, as: Settlement(verdict: "genuine", at: at))
                }
                let age = Duration.seconds(86_400 * 3)
                return try (0..<3).map { _ throws(StoreFailure) in
                    try transaction.forgetSettled(olderThan: age, at: Samples.now, limit: 1)
                }
            }
            #expect(counts == [1, 1, 0])
            let (left, figures) = try await store.read { reader throws(StoreFailure) in
                var left: [Bool] = []
                for id in ids { left.append(try reader.submission(id) != nil) }
                return (left, try reader.figures())
            }
            #expect(left == [false, true, true, true, false, true, true])
            #expect(figures == StoreFigures(submissions: 7, pendingSubmissions: 1), "as many were ever kept")
            let again = try await Self.keep([submissions[0], submissions[0], submissions[1]], in: store)
            #expect(again.map(\.isNew) == [true, false, false])
            #expect(again[0].id == ids[0])
            let found = try await store.read { reader throws(StoreFailure) in try reader.submission(ids[0]) }
            #expect(found == KeptSubmission(submissions[0]))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func whatWaitsIsWeighed(kind: StoreKind) async throws {
        try await kind.withStore { store in
            var submissions = try (UInt8(1)...5).map { try Samples.submission($0, app: $0 == 5 ? "other" : "game") }
            submissions[0].proof = []
            submissions[1].proof = [UInt8](repeating: 1, count: 300_000)
            submissions[2].proof = [0, 1, 2]
            submissions[3].origin = .imported
            let ids = try await Self.keep(submissions, in: store).map(\.id)
            let (game, none) = (submissions[0].app, try Samples.app("none"))
            let loads = [PendingLoad(submissions: 3, bytes: 300_003), PendingLoad(submissions: 2, bytes: 3)]
            for (settled, load) in zip([4, 1], loads) {
                _ = try await store.write { transaction throws(StoreFailure) in
                    try transaction.settlePending(ids[settled], as: Settlement(verdict: "forged", at: Samples.now))
                }
                let found = try await store.read { reader throws(StoreFailure) in
                    [try reader.pendingLoad(app: game), try reader.pendingLoad(app: none)]
                }
                #expect(found == [load, PendingLoad()])
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func whatWaitsOfACustomerIsCounted(kind: StoreKind) async throws {
        try await kind.withStore { store in
            var submissions = try (UInt8(1)...4).map { try Samples.submission($0, customer: "ann") }
            submissions[3].origin = .imported
            submissions.append(try Samples.submission(5, customer: "bob"))
            submissions.append(try Samples.submission(6))
            submissions.append(try Samples.submission(7, app: "other", customer: "ann"))
            let ids = try await Self.keep(submissions, in: store).map(\.id)
            let (ann, bob) = (try Samples.customer("ann"), try Samples.customer("bob"))
            let (game, other, none) = (submissions[0].app, try Samples.app("other"), try Samples.app("none"))
            for (settled, count) in [(nil, 3), (0, 2), (4, 2)] as [(Int?, Int)] {
                if let settled {
                    _ = try await store.write { transaction throws(StoreFailure) in
                        try transaction.settlePending(ids[settled], as: Settlement(verdict: "forged", at: Samples.now))
                    }
                }
                let found = try await store.read { reader throws(StoreFailure) in
                    [
                        try reader.pendingCount(app: game, customer: ann, limit: 20),
                        try reader.pendingCount(app: game, customer: bob, limit: 20),
                        try reader.pendingCount(app: other, customer: ann, limit: 20),
                        try reader.pendingCount(app: none, customer: ann, limit: 20),
                        try reader.pendingCount(app: game, customer: ann, limit: 1),
                        try reader.pendingCount(app: game, customer: ann, limit: 0),
                    ]
                }
                #expect(found == [count, settled == 4 ? 0 : 1, 1, 0, 1, 0])
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func whatWaitsOfEachAppIsToldWithItsAge(kind: StoreKind) async throws {
        try await kind.withStore { store in
            var submissions = try (UInt8(1)...5).map { try Samples.submission($0, app: $0 > 3 ? "other" : "game") }
            for place in submissions.indices {
                submissions[place].receivedAt = Samples.now.advanced(by: .seconds(-100 * place))
            }
            submissions[2].origin = .imported
            let ids = try await Self.keep(submissions, in: store).map(\.id)
            var found: [[PendingBacklog]] = []
            for settled in [nil, 4, 3] as [Int?] {
                if let settled {
                    _ = try await store.write { transaction throws(StoreFailure) in
                        try transaction.settlePending(ids[settled], as: Settlement(verdict: "forged", at: Samples.now))
                    }
                }
                found.append(try await store.read { reader throws(StoreFailure) in try reader.pendingBacklogs() })
            }
            let counts = found.map { $0.map { "\($0.app.text) \($0.submissions)" } }
            #expect(counts == [["game 2", "other 2"], ["game 2", "other 1"], ["game 2"]])
            // A shared store notes its own time, at which all of these came.
            let isShared = try await store.read { reader throws(StoreFailure) in
                try reader.storeTime(Samples.now) != Samples.now
            }
            if isShared { return }
            #expect(found[0].map(\.oldest) == [submissions[1].receivedAt, submissions[4].receivedAt])
            #expect(found[1].map(\.oldest) == [submissions[1].receivedAt, submissions[3].receivedAt])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func holdsALargeProofByteForByte(kind: StoreKind) async throws {
        try await kind.withStore { store in
            var submission = try Samples.submission(1)
            submission.proof = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let id = try await Self.keep([submission], in: store)[0].id
            let found = try await store.read { reader throws(StoreFailure) in try reader.submission(id) }
            #expect(found?.submission.proof == submission.proof)
        }
    }

    private struct Kept: Sendable {
        var id: SubmissionID
        var isNew: Bool
    }

    private static func keep(_ submissions: [PendingSubmission], in store: any Store) async throws -> [Kept] {
        try await store.write { transaction throws(StoreFailure) in
            var kept: [Kept] = []
            for submission in submissions {
                let (id, isNew) = try transaction.keepPending(submission)
                kept.append(Kept(id: id, isNew: isNew))
            }
            return kept
        }
    }
}
