import Jobs
import Pipeline
import PurchaseModel
import Simulator
import Storage
import Testing
import Verification

/// What imports have Apple asked, beside what somebody waits for.
@Suite struct ImportBacklogTests {
    private static func digits(_ sold: SoldTransaction) -> [UInt8] { Array(sold.id.description.utf8) }

    private static func take(_ sold: [SoldTransaction], _ house: WorkHouse) async throws -> [SubmissionID] {
        let importer = try ImporterTests.importer(house)
        let rows = sold.enumerated().map { ImporterTests.row(Int64($0.offset + 1), digits($0.element)) }
        let progress = try await importer.progress(of: ImporterTests.id())
        return try await importer.take(rows, after: progress, report: nil).outcomes.compactMap(\.submission)
    }

    private static func count(_ sold: [SoldTransaction], _ house: WorkHouse) async throws -> Int {
        var count = 0
        for one in sold where try await house.recorded(one.id) != nil { count += 1 }
        return count
    }

    /// Of a minute of Apple's limit, 27 questions here, customers find half, however much of an import is due.
    @Test func whatIsOverdueLeavesPartOfApplesLimitToCustomers() async throws {
        let house = try WorkHouse(applePercent: 1)
        try await house.open { house in
            let old = try (0..<40).map { _ in try house.buy("coins.100") }
            #expect(try await Self.take(old, house).count == 40)
            house.pass(.seconds(3_600))
            try await house.work()
            #expect(try await Self.count(old, house) == 13)
            let new = try (0..<10).map { _ in try house.buy("coins.100", by: "bert") }
            for (place, sold) in new.enumerated() {
                _ = try await house.submit(Self.digits(sold), customer: "c\(place)")
            }
            try await house.work()
            #expect(try await Self.count(new, house) == 10)
            // Nothing of the import is lost.
            for _ in 0..<40 {
                house.pass(.seconds(600))
                try await house.work()
            }
            #expect(try await Self.count(old, house) == 40)
        }
    }

    /// An import's jobs are not those behind which a customer's stands.
    @Test func whatCustomersWaitForIsOfAnotherKind() async throws {
        let house = try WorkHouse()
        try await house.open { house in
            let (old, new) = (try house.buy("coins.100"), try house.buy("coins.100", by: "bert"))
            #expect(try await Self.take([old], house).count == 1)
            #expect(try await house.due().map(\.job.kind) == [ImportedProofDecision.kind])
            _ = try await house.submit(Self.digits(new), customer: "bob")
            #expect(try await house.due().map(\.job.kind) == [ProofDecision.kind])
        }
    }

    /// A person who asks waits behind no import; the job that was there already does no harm.
    @Test func whatAPersonAsksForHasItsTurnNow() async throws {
        let house = try WorkHouse()
        try await house.open { house in
            let old = try (0..<3).map { _ in try house.buy("coins.100") }
            let ids = try await Self.take(old, house)
            let desk = ResyncDesk(queue: house.queue) { _, _ in .everything }
            let last = try #require(ids.last)
            try await house.store.write { write throws(StoreFailure) in
                guard case .success(let question) = try desk.question(about: last, write) else { return }
                try desk.ask(question, in: write)
            }
            try await house.work()
            #expect(try await house.recorded(old[1].id) == nil)
            #expect(try await house.recorded(old[2].id) != nil)
            house.pass(.seconds(60))
            try await house.work()
            #expect(try await Self.count(old, house) == 3)
            #expect(house.calls.values.count == 3)
            for kind in [ProofDecision.kind, ImportedProofDecision.kind] {
                #expect(try await !house.waits(for: kind))
            }
        }
    }

    /// Who presents what an import keeps for her waits for no turn of its; and who does so again costs no write.
    @Test(arguments: [true, false]) func whatACustomerPresentsOfItHasItsTurnNow(isFromShop: Bool) async throws {
        let house = try WorkHouse()
        try await house.open { house in
            let old = try (0..<3).map { _ in try house.buy("coins.100") }
            let ids = try await Self.take(old, house)
            let store = WatchedStore(house.store)
            let pipeline = try Self.pipeline(house, over: store)
            for _ in 0..<3 {
                var submission = Submission(app: house.app, bytes: Self.digits(old[2]), customer: CustomerID("ann"))
                submission.isFromShop = isFromShop
                #expect(try await pipeline.submit(submission).pendingID == ids[2])
            }
            #expect(store.writes == 1)
            try await house.work()
            #expect(try await house.recorded(old[1].id) == nil)
            #expect(try await house.recorded(old[2].id) != nil)
            house.pass(.seconds(60))
            try await house.work()
            #expect(try await Self.count(old, house) == 3)
            #expect(house.calls.values.count == 3)
        }
    }

    /// The row whose turn is first has it now: whose the purchase becomes stays the same.
    @Test func whatAnEarlierRowKeepsForAnotherIsDecidedWithIt() async throws {
        let house = try WorkHouse()
        try await house.open { house in
            let old = try (0..<2).map { _ in try house.buy("coins.100") }
            let importer = try ImporterTests.importer(house)
            let rows = [
                ImporterTests.row(1, Self.digits(old[0])), ImporterTests.row(2, Self.digits(old[1]), "bob"),
                ImporterTests.row(3, Self.digits(old[1])),
            ]
            let progress = try await importer.progress(of: ImporterTests.id())
            _ = try await importer.take(rows, after: progress, report: nil)
            let outcome = try await house.submit(Self.digits(old[1]), customer: "ann")
            try await house.work()
            #expect(try await house.recorded(old[1].id)?.customer?.text == "bob")
            #expect(try await house.submission(outcome).settlement != nil)
        }
    }

    /// Somebody waits for it: a server that cannot ask does not put it off for hours.
    @Test func whatACustomerWaitsForIsNotPutOffForHoursWithoutAKey() async throws {
        let house = try WorkHouse()
        try await house.open { house in
            let old = try (0..<40).map { _ in try house.buy("coins.100") }
            _ = try await Self.take(old, house)
            _ = try await house.submit(Self.digits(old[39]))
            try await house.work(hasKey: false)
            house.pass(.seconds(60))
            try await house.work()
            #expect(try await house.recorded(old[39].id) != nil)
        }
    }

    /// The same house, with its writes counted.
    private static func pipeline(_ house: WorkHouse, over store: any Store) throws -> PurchasePipeline {
        PurchasePipeline(
            verifier: try PipelineHouse.verifier(),
            recorder: house.recorder,
            store: store,
            refusals: RefusalLedger(),
            clock: house.clock,
            later: PendingPlanner(house.queue, asking: [house.app.id])
        ) { _ in }
    }

    /// Whose job it is, for who may see one app's alone.
    @Test func itIsTheAppsWhoseProofIsKept() async throws {
        let house = try WorkHouse()
        try await house.open { house in
            #expect(try await Self.take([try house.buy("coins.100")], house).count == 1)
            let job = try #require(try await house.due().first)
            let subject = try await house.store.read { reader throws(StoreFailure) in
                try JobSubject.of(job.job, in: reader)
            }
            #expect(subject?.app == house.app.id && subject?.environment == nil)
        }
    }
}
