import PurchaseModel
import Storage
import Testing

@Suite struct ImportTests {
    @Test(arguments: StoreKind.allCases)
    func howFarASourceWasReadIsWrittenOverWhatWasRead(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let first = try Self.progress()
            var second = first.begunAgain(at: Timestamp(milliseconds: 8))
            second.version = 2
            second.updatedAt = Timestamp(milliseconds: 9)
            (second.place, second.line, second.isDone) = (5_000_000_000, 70, true)
            second.counts.recorded = 1
            second.counts.known = 2
            second.counts.asked = 3
            second.counts.nothing = 4
            second.counts.refused = 5
            second.counts.invalid = 6
            second.counts.withoutCustomer = 7
            second.counts.otherStore = 3
            (second.reportBytes, second.reportTail) = (8, [0, 10, 255])
            let next = second
            try await store.write { write throws(StoreFailure) in try write.noteImport(first) }
            try await store.write { write throws(StoreFailure) in try write.noteImport(next) }
            for late in [first, next] {
                await #expect(throws: StoreFailure.conflict) {
                    try await store.write { write throws(StoreFailure) in try write.noteImport(late) }
                }
            }
            let other = try #require(ProofDigest([UInt8](repeating: 7, count: 32)))
            let found = try await store.read { reader throws(StoreFailure) in
                [try reader.importProgress(first.id), try reader.importProgress(other)]
            }
            #expect(found == [next, nil])
            #expect(next.counts.rows == 21)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func whatWaitsWithAnImportTakesNoPlaceOfCustomers(kind: StoreKind) async throws {
        try await kind.withStore { store in
            var imported = try Samples.submission(1)
            imported.origin = .delivered
            let (one, other) = (imported, try Samples.submission(2))
            try await store.write { write throws(StoreFailure) in
                for submission in [one, other] { _ = try write.keepPending(submission) }
            }
            let app = one.app
            let found = try await store.read { reader throws(StoreFailure) in
                (try reader.pendingLoad(app: app).submissions, try reader.submission(one.id)?.submission.origin)
            }
            #expect(found.0 == 1)
            #expect(found.1 == .delivered)
        }
    }

    /// Its turn comes within the app's plan, which may be longer than anything may wait.
    @Test(arguments: StoreKind.allCases)
    func whatAnImportKeepsIsNotGivenUpBeforeItsTurn(kind: StoreKind) async throws {
        try await kind.withStore { store in
            var imported = try Samples.submission(1)
            imported.origin = .delivered
            let (kept, presented) = (imported, try Samples.submission(2))
            let (age, app) = (Duration.seconds(60), kept.app)
            let found = try await store.write { write throws(StoreFailure) in
                for submission in [kept, presented] { _ = try write.keepPending(submission) }
                // The last is asked about after a hundred seconds.
                _ = try write.planImportQuestions(10, of: app, every: .seconds(10), at: Samples.now)
                var found: [[SubmissionID]] = []
                for second in [Int64(61), 159, 160] {
                    let moment = Samples.now.advanced(by: .seconds(second))
                    found.append(try write.giveUpPending(olderThan: age, at: moment, limit: 9).map(\.id))
                }
                return found
            }
            #expect(found == [[presented.id], [], [kept.id]])
        }
    }

    /// Each night's import makes the plan longer, and no night comes on which it is over.
    @Test(arguments: StoreKind.allCases)
    func whatAnImportKeepsIsGivenUpThoughOthersFollow(kind: StoreKind) async throws {
        try await kind.withStore { store in
            var imported = try Samples.submission(1)
            imported.origin = .imported
            let (kept, age, app) = (imported, Duration.seconds(86_400), imported.app)
            let found = try await store.write { write throws(StoreFailure) in
                _ = try write.keepPending(kept)
                var found: [Int64] = []
                for hour in Int64(0)...(100 * 24) {
                    let moment = Samples.now.advanced(by: .seconds(hour * 3_600 + 1))
                    if hour % 24 == 0 { _ = try write.planImportQuestions(1, of: app, every: .seconds(1), at: moment) }
                    if try !write.giveUpPending(olderThan: age, at: moment, limit: 9).isEmpty { found.append(hour) }
                }
                return found
            }
            #expect(found == [91 * 24])
        }
    }

    /// Whoever is asked about first has come first, and those who present it themselves are not among them.
    @Test(arguments: StoreKind.allCases)
    func ofWhatImportsKeepOfTheSameTheFirstIsFound(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let presented = try Samples.submission(1, customer: "eve")
            var kept = try ["zoe", "ann", "mia"].map { try Samples.submission(1, customer: $0) }
            kept.append(try Samples.submission(2, customer: "bob"))
            kept.append(try Samples.submission(1, app: "other", customer: "bob"))
            for place in kept.indices { kept[place].origin = place == 1 ? .imported : .delivered }
            let imported = kept
            let ids = try await store.write { write throws(StoreFailure) in
                _ = try write.keepPending(presented)
                var ids: [SubmissionID] = []
                for submission in imported { ids.append(try write.keepPending(submission).id) }
                return ids
            }
            for first in ids.prefix(3) {
                let found = try await store.read { reader throws(StoreFailure) in
                    try reader.importedSubmission(like: presented)
                }
                #expect(found?.id == first)
                try await store.write { write throws(StoreFailure) in
                    _ = try write.settlePending(first, as: Settlement(verdict: "genuine", at: Samples.now))
                }
            }
            let others = try await store.read { reader throws(StoreFailure) in
                var others: [SubmissionID?] = []
                for submission in [presented] + imported.suffix(2) {
                    others.append(try reader.importedSubmission(like: submission)?.id)
                }
                return others
            }
            #expect(others == [nil] + ids.suffix(2))
            // All in one question, under the names that were asked about.
            let names = ([presented] + imported.suffix(2)).map(\.name)
            let found = try await store.read { reader throws(StoreFailure) in
                try reader.importedSubmissions(under: names).mapValues(\.id)
            }
            #expect(found == [names[1]: ids[3], names[2]: ids[4]])
        }
    }

    /// One plan for all that an app's imports ask, whatever source it stands in.
    @Test(arguments: StoreKind.allCases)
    func questionsArePlannedBehindThoseOfOtherSources(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let (app, other) = (try Samples.app(), try Samples.app("other"))
            func plan(_ count: Int, _ app: AppID, at second: Int64) async throws -> Duration {
                try await store.write { write throws(StoreFailure) in
                    try write.planImportQuestions(count, of: app, every: .seconds(10), at: Timestamp(seconds: second))
                }
            }
            func last(_ app: AppID, at second: Int64) async throws -> Duration {
                try await store.read { reader throws(StoreFailure) in
                    try reader.importQuestionsLast(of: app, at: Timestamp(seconds: second))
                }
            }
            #expect(try await last(app, at: 1_000) == .zero)
            #expect(try await plan(0, app, at: 1_000) == .zero)
            #expect(try await plan(3, app, at: 1_000) == .zero)
            #expect(try await plan(2, app, at: 1_001) == .seconds(29))
            #expect(try await plan(0, app, at: 1_001) == .seconds(49))
            #expect(try await last(app, at: 1_020) == .seconds(30))
            #expect(try await plan(1, other, at: 1_020) == .zero)
            // What was planned is over.
            #expect(try await last(app, at: 1_060) == .zero)
            #expect(try await plan(1, app, at: 1_060) == .zero)
            // A write that comes to nothing plans nothing.
            await #expect(throws: StoreFailure.full) {
                try await store.write { write throws(StoreFailure) in
                    _ = try write.planImportQuestions(9, of: app, every: .seconds(10), at: Timestamp(seconds: 1_060))
                    throw .full
                }
            }
            #expect(try await last(app, at: 1_060) == .seconds(10))
        }
    }

    private static func progress() throws -> ImportProgress {
        var progress = ImportProgress(
            id: try #require(ProofDigest([UInt8](repeating: 1, count: 32))),
            app: try Samples.app(),
            startedAt: Timestamp(milliseconds: 3)
        )
        progress.version = 1
        return progress
    }
}
