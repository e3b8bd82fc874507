import Crypto
import Jobs
import Pipeline
import PurchaseModel
import Simulator
import Storage
import Testing
import Verification

/// Rows by number alone: Apple is asked about a number once, and whose the purchase becomes the file's order says, as it does
/// where rows have proofs.
@Suite struct ImportTurnsTests {
    private static let unknown = Array("2000000099999999".utf8)

    private static func digits(_ sold: SoldTransaction) -> [UInt8] { Array(sold.id.description.utf8) }

    private static func rows(from line: Int64, _ number: [UInt8], _ customers: [String?]) -> [ImportRow] {
        customers.enumerated().map { ImporterTests.row(line + Int64($0.offset), number, $0.element) }
    }

    private static func owner(of sold: SoldTransaction, in house: WorkHouse) async throws -> String? {
        let realm = Realm(environment: .production, isTestSigned: true)
        let chain = ChainKey(app: house.app.id, realm: realm, original: sold.id)
        return try await house.store.read { reader throws(StoreFailure) in
            try reader.owners([chain]).first?.customer.text
        }
    }

    private static func verdicts(_ ids: [SubmissionID?], in house: WorkHouse) async throws -> [String?] {
        try await house.store.read { reader throws(StoreFailure) in
            var verdicts: [String?] = []
            for id in ids { if let id { verdicts.append(try reader.submission(id)?.settlement?.verdict) } }
            return verdicts
        }
    }

    @Test(arguments: ImportDelivery.allCases)
    func theFirstRowsCustomerHasItWhateverJobRunsFirst(delivery: ImportDelivery) async throws {
        let house = try WorkHouse()
        try await house.open { house in
            let sold = try house.buy("coins.100")
            // The first question is another one: so the number is not asked about at once.
            let first = try await ImporterTests.importer(house, delivery).take(
                Self.rows(from: 1, Self.unknown, ["zoe"]) + Self.rows(from: 2, Self.digits(sold), ["ann", "bob"]),
                after: ImportProgress(id: try ImporterTests.id(), app: house.app.id, startedAt: WorkHouse.start),
                report: nil
            )
            // Another process goes on with the file.
            let rest = try await ImporterTests.importer(house, delivery).take(
                Self.rows(from: 4, Self.digits(sold), ["cid", "bob", "ann", nil]),
                after: first.progress,
                report: nil
            )
            let outcomes = (first.outcomes + rest.outcomes).dropFirst()
            #expect(outcomes.map(\.kind) == [.asked, .known, .known, .known, .known, .known])
            let (waits, another) = (try #require(outcomes.first?.reason), "owned_by_another_customer")
            let reason = delivery == .elsewhere ? another : waits
            #expect(outcomes.map(\.reason) == [waits, reason, reason, reason, waits, waits])
            let ids = outcomes.map(\.submission)
            #expect(Set(ids).count == 4)

            // The third customer's job has its turn before the first one's.
            let early = ProofDecision(try #require(ids[2]))
            try await house.store.write { write throws(StoreFailure) in try house.queue.hasten(early, in: write) }
            try await house.work()
            #expect(try await house.recorded(sold.id) == nil)
            house.pass(.seconds(60))
            try await house.work()
            #expect(house.calls.values.count { $0.contains(sold.id.description) } == 1)
            #expect(try await Self.owner(of: sold, in: house) == "ann")
            #expect(Set(try await Self.verdicts(ids, in: house)) == ["test_signed"])
            // Each job ends, and asks nothing more.
            house.pass(.seconds(3_600))
            try await house.work()
            #expect(house.calls.values.count { $0.contains(sold.id.description) } == 1)
        }
    }

    /// A server works on the first rows while the import is cut off in the middle.
    @Test(arguments: ImportDelivery.allCases)
    func whatIsDecidedBeforeTheNextRowComesStaysSo(delivery: ImportDelivery) async throws {
        let house = try WorkHouse()
        try await house.open { house in
            let sold = try house.buy("coins.100")
            var progress = ImportProgress(id: try ImporterTests.id(), app: house.app.id, startedAt: WorkHouse.start)
            var outcomes: [ImportOutcome] = []
            for row in Self.rows(from: 1, Self.digits(sold), ["ann", "bob", "ann"]) {
                let importer = try ImporterTests.importer(house, delivery)
                let taken = try await importer.take([row], after: progress, report: nil)
                progress = taken.progress
                outcomes += taken.outcomes
                house.pass(.seconds(60))
                try await house.work()
            }
            #expect(outcomes.map(\.kind) == [.asked, .asked, .known])
            #expect(try await Self.owner(of: sold, in: house) == "ann")
        }
    }

    @Test func whatAppleDoesNotKnowIsAskedAboutForAllAtOnce() async throws {
        let house = try WorkHouse()
        try await house.open { house in
            let taken = try await ImporterTests.importer(house).take(
                Self.rows(from: 1, Self.unknown, ["ann", "bob", "cid"]),
                after: ImportProgress(id: try ImporterTests.id(), app: house.app.id, startedAt: WorkHouse.start),
                report: nil
            )
            var calls = 0
            // No two of them are due in the same round.
            for _ in 0..<12 {
                house.pass(.seconds(500))
                try await house.work()
                // On both sides of the wall.
                #expect(house.calls.values.count <= calls + 2)
                calls = house.calls.values.count
            }
            let verdicts = try await Self.verdicts(taken.outcomes.map(\.submission), in: house)
            #expect(verdicts == Array(repeating: Settlement.notYours, count: 3))
        }
    }

    /// What was wrong may be mended by now: a `bundle_id`, a key. Each run asks once more, and no more than once.
    @Test(arguments: ["forged", "malformed", Settlement.notYours])
    func whatAppleHasRefusedIsAskedAboutByTheNextRun(verdict: String) async throws {
        let house = try WorkHouse()
        try await house.open { house in
            let sold = try house.buy("coins.100")
            let importer = try ImporterTests.importer(house)
            let rows =
                Self.rows(from: 1, Self.digits(sold), ["ann", "bob"]) + [ImporterTests.row(3, try house.receipt())]
            let start = try await importer.progress(of: ImporterTests.id())
            let first = try await importer.take(Array(rows.prefix(2)), after: start, report: nil)
            #expect(first.outcomes.map(\.kind) == [.asked, .known])
            house.pass(.seconds(10))
            let (ids, now) = (first.outcomes.compactMap(\.submission), house.clock.now)
            try await house.store.write { write throws(StoreFailure) in
                for id in ids { _ = try write.settlePending(id, as: Settlement(verdict: verdict, at: now)) }
            }
            try await house.work()
            // In the same run it is refused for good.
            let more = try await importer.take(
                Self.rows(from: 3, Self.digits(sold), ["ann"]),
                after: first.progress,
                report: nil
            )
            #expect(more.outcomes.map(\.kind) == [.known])
            let end = try await importer.take([], after: more.progress, report: nil).progress
            #expect(end.counts.untaken == 0)
            #expect(try await importer.refused(among: rows, since: end) == 2)

            house.pass(.seconds(10))
            let again = try await importer.continuation(of: end, refusedSince: 2)
            #expect(again.isAtBeginning)
            let taken = try await importer.take(Array(rows.prefix(2)), after: again, report: nil)
            #expect(taken.outcomes.map(\.kind) == [.asked, .known])
            #expect(taken.outcomes.map(\.verdict?.rawValue) == [verdict, verdict])
            #expect(taken.outcomes.compactMap(\.submission) == ids)
            house.pass(.seconds(60))
            try await house.work()
            #expect(try await Self.owner(of: sold, in: house) == "ann")
            let last = try await importer.take([], after: taken.progress, report: nil).progress
            #expect(try await importer.refused(among: rows, since: last) == 0)
        }
    }

    /// As older versions kept it: under the name of a whole request to verifyReceipt.
    @Test func whatWasRefusedOfAWholeRequestIsAskedAboutByTheNextRun() async throws {
        let house = try WorkHouse()
        try await house.open { house in
            let sold = try house.buy("coins.100")
            let body = Array(#"{"receipt-data":"\#(sold.id)","password":"hush"}"#.utf8)
            let rows = Self.rows(from: 1, body, ["ann", "bob"])
            let importer = try ImporterTests.importer(house)
            var end = try await importer.progress(of: ImporterTests.id())
            end.isDone = true
            var older = try Self.kept(sold, house.app.id)[0]
            (older.digest, older.proof) = (try #require(ProofDigest(Digest.sha256(body))), body)
            house.pass(.seconds(10))
            let now = house.clock.now
            try await house.store.write { [older] write throws(StoreFailure) in
                _ = try write.keepPending(older)
                _ = try write.settlePending(older.id, as: Settlement(verdict: "forged", at: now))
            }
            #expect(try await importer.refused(among: rows, since: end) == 1)

            house.pass(.seconds(10))
            let again = try await importer.continuation(of: end, refusedSince: 1)
            let taken = try await importer.take(rows, after: again, report: nil)
            #expect(taken.outcomes.map(\.kind) == [.asked, .known])
            #expect(try await importer.refused(among: rows, since: taken.progress) == 0)
        }
    }

    /// The same number for two customers.
    private static func kept(_ sold: SoldTransaction, _ app: AppID) throws -> [PendingSubmission] {
        try [UInt8(1), 2].map { seed in
            PendingSubmission(
                id: try #require(SubmissionID([UInt8](repeating: seed, count: SubmissionID.byteCount))),
                app: app,
                digest: try ImporterTests.id(),
                format: ProofFormat.transactionID.rawValue,
                proof: digits(sold),
                customer: CustomerID(seed == 1 ? "ann" : "bob"),
                order: nil,
                reason: Reason.onlyAnID.rawValue,
                receivedAt: WorkHouse.start,
                origin: .delivered
            )
        }
    }

    /// An older version gave imports the customers' kind of job: one has its turn before a newer one's.
    @Test func aJobOfAnOlderVersionKeepsItsTurn() async throws {
        let house = try WorkHouse()
        try await house.open { house in
            let sold = try house.buy("coins.100")
            let (kept, queue) = (try Self.kept(sold, house.app.id), house.queue)
            let later = house.clock.now.advanced(by: .seconds(60))
            try await house.store.write { write throws(StoreFailure) in
                for submission in kept { _ = try write.keepPending(submission) }
                try queue.enqueue(ProofDecision(kept[0].id), due: later, in: write)
                // A reconciliation makes anew what was lost, and nothing that is there.
                for submission in kept { try queue.plan(submission, in: write) }
            }
            try await house.work()
            #expect(try await house.recorded(sold.id) == nil)
            house.pass(.seconds(60))
            try await house.work()
            #expect(try await Self.owner(of: sold, in: house) == "ann")
            #expect(Set(try await Self.verdicts(kept.map(\.id), in: house)) == ["test_signed"])
            #expect(house.calls.values.count { $0.contains(sold.id.description) } == 1)
        }
    }

    /// A server that cannot ask: of an import there may be very many, and each is looked at some times a day. So it is with
    /// what is decided by another's job, and, after a day, with an older version's.
    @Test func withoutAKeyNoneComesEachHalfHourForEver() async throws {
        let house = try WorkHouse()
        try await house.open { house in
            let (kept, queue) = (try Self.kept(try house.buy("coins.100"), house.app.id), house.queue)
            try await house.store.write { write throws(StoreFailure) in
                for submission in kept { _ = try write.keepPending(submission) }
                try queue.enqueue(ProofDecision(kept[0].id), in: write)
                try queue.enqueue(ImportedProofDecision(kept[1].id), in: write)
            }
            try await house.work(hasKey: false)
            house.pass(.seconds(3_600))
            let now = house.clock.now
            let isDue = try await house.store.read { reader throws(StoreFailure) in
                try [ProofDecision.kind, ImportedProofDecision.kind].map { kind throws(StoreFailure) in
                    try reader.hasDueJobs(kinds: [kind], at: now)
                }
            }
            #expect(isDue == [true, false])
            for _ in 0..<100 {
                try await house.work(hasKey: false)
                house.pass(.seconds(3_600))
            }
            house.pass(.seconds(8 * 3_600))
            let job = try #require(try await house.due().first { $0.job.kind == ProofDecision.kind })
            #expect(job.attempt > 48 && job.attempt < 70)
        }
    }

    /// Where the first one's job has died, another's decides for both, in the same order.
    @Test func aJobThatIsLeftDecidesForThoseBeforeIt() async throws {
        let house = try WorkHouse()
        try await house.open { house in
            let sold = try house.buy("coins.100")
            let (kept, queue) = (try Self.kept(sold, house.app.id), house.queue)
            try await house.store.write { write throws(StoreFailure) in
                for submission in kept { _ = try write.keepPending(submission) }
                try queue.enqueue(ImportedProofDecision(kept[1].id), in: write)
            }
            try await house.work()
            #expect(try await Self.owner(of: sold, in: house) == "ann")
            #expect(Set(try await Self.verdicts(kept.map(\.id), in: house)) == ["test_signed"])
        }
    }

    /// As many questions as the run will ask, and known what it will know.
    @Test func aPlanCountsRowsByNumberAsTheRunDoes() async throws {
        let house = try WorkHouse()
        try await house.open { house in
            let (first, second) = (try house.buy("coins.100"), try house.buy("coins.100"))
            let importer = try ImporterTests.importer(house)
            let before = try await importer.take(
                Self.rows(from: 1, Self.digits(first), ["ann"]),
                after: ImportProgress(id: try ImporterTests.id(2), app: house.app.id, startedAt: WorkHouse.start),
                report: nil
            )
            #expect(before.outcomes.map(\.kind) == [.asked])
            try await house.work()
            // Asked about, and not decided yet.
            _ = try await importer.take(
                Self.rows(from: 1, Self.digits(second), ["ann"]),
                after: ImportProgress(id: try ImporterTests.id(3), app: house.app.id, startedAt: WorkHouse.start),
                report: nil
            )
            let rows =
                Self.rows(from: 1, Self.digits(first), ["ann", nil, "bob", "cid"])
                + Self.rows(from: 5, Self.digits(second), ["ann", "bob"])
                + Self.rows(from: 7, Self.unknown, ["ann", "bob", "ann", nil])
            var plan = ImportPlan(
                app: house.app,
                verifier: try PipelineHouse.verifier(),
                reach: .everything,
                at: WorkHouse.start
            )
            let store = house.store
            try await plan.look(at: rows, lanes: 2) { lookup throws(StoreFailure) in
                try await store.read { reader throws(StoreFailure) in try lookup.answered(by: reader) }
            }
            #expect((plan.rows, plan.known, plan.needApple, plan.repeated) == (10, 4, 2, 4))
            #expect(plan.withoutCustomer == 2)
            let taken = try await importer.take(
                rows,
                after: ImportProgress(id: try ImporterTests.id(), app: house.app.id, startedAt: WorkHouse.start),
                report: nil
            )
            let counts = taken.progress.counts
            #expect((counts.asked, counts.known) == (plan.needApple, plan.known + plan.repeated))
            #expect(counts.withoutCustomer == 2)
        }
    }
}
