import Jobs
import Pipeline
import PurchaseModel
import Simulator
import Storage
import TestSupport
import Testing
import Verification

/// What an import writes, and that whoever goes on after a crash writes it once.
@Suite struct ImporterTests {
    private static let spacing = Duration.seconds(2)

    static func importer(
        _ house: WorkHouse,
        _ delivery: ImportDelivery = .elsewhere,
        reach: AppleReach = .everything
    ) throws -> Importer {
        let queue = house.queue
        let later: Importer.Later = { submission, due, write throws(StoreFailure) in
            try queue.enqueue(ImportedProofDecision(submission), due: due, in: write)
        }
        return Importer(
            verifier: try PipelineHouse.verifier(),
            store: house.store,
            app: house.app,
            delivery: delivery,
            clock: house.clock,
            lanes: 2,
            spacing: spacing,
            reach: reach,
            later: later
        )
    }

    static func id(_ seed: UInt8 = 1) throws -> ProofDigest {
        try #require(ProofDigest([UInt8](repeating: seed, count: 32)))
    }

    static func row(_ line: Int64, _ proof: [UInt8], _ customer: String? = "ann") -> ImportRow {
        let claim = ImportRow.Claim(proof: proof, customer: customer.flatMap { CustomerID($0) })
        return ImportRow(line: line, end: line * 10, lineAfter: line + 1, claim: .success(claim))
    }

    private static func events(_ house: WorkHouse) async throws -> [String] {
        let app = house.app.id
        let filter = EventFilter(realms: [Realm(environment: .production, isTestSigned: true)])
        let page = try await house.store.read { reader throws(StoreFailure) in
            try reader.events(app: app, after: .start, where: filter, limit: 100)
        }
        return page.events.map(\.event.type)
    }

    @Test func eachRowIsRecordedOrTellsWhyNot() async throws {
        let house = try WorkHouse()
        let coins = try house.buy("coins.100")
        let receipt = try house.receipt()
        let importer = try Self.importer(house)
        var forged = receipt
        forged[forged.count / 2] ^= 1
        let rows = [
            Self.row(1, receipt), Self.row(2, forged), Self.row(3, receipt), Self.row(4, receipt, "bob"),
            Self.row(5, Array(coins.id.description.utf8)), Self.row(6, Array("2000000099999999".utf8)),
            ImportRow(line: 7, end: 70, lineAfter: 8, claim: .failure(.json)),
            ImportRow(line: 8, end: 80, lineAfter: 9, claim: .failure(.otherStore)),
        ]
        let (progress, outcomes) = try await importer.take(
            rows,
            after: try await importer.progress(of: Self.id()),
            report: .csv
        )
        #expect(outcomes.map(\.kind) == [.recorded, .refused, .known, .known, .known, .asked, .invalid, .nothing])
        #expect(outcomes[3].reason == "owned_by_another_customer")
        #expect(outcomes[5].submission != nil)
        #expect(progress.counts.rows == 8)
        // One was bought elsewhere, which is no failure.
        #expect((progress.counts.nothing, progress.counts.otherStore, progress.counts.untaken) == (1, 1, 2))
        #expect((progress.place, progress.line) == (80, 9))
        let lines = String(decoding: progress.reportTail, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 9)
        #expect(lines[1] == "1,recorded,test_signed,,\(coins.id),,")
        #expect(lines[2].hasPrefix("2,refused,forged,"))
        #expect(try await Self.events(house) == [])
        let recorded = try #require(try await house.recorded(coins.id))
        #expect(recorded.customer?.text == "ann")
    }

    @Test func whatCouldRecordNothingIsNotAskedAbout() async throws {
        let house = try WorkHouse()
        let importer = try Self.importer(house)
        let rows = try Proofs.withoutStore(of: house.app.bundleID).enumerated().map { place, one in
            Self.row(Int64(place) + 1, one.proof)
        }
        let progress = try await importer.progress(of: Self.id())
        let outcomes = try await importer.take(rows, after: progress, report: nil).outcomes
        #expect(outcomes.map(\.kind) == [.nothing, .nothing, .asked])
        #expect(outcomes.map(\.verdict) == [.undecidable, .undecidable, nil])
    }

    @Test func whatAppleIsAskedIsSpreadAndDeliveredToNobody() async throws {
        let house = try WorkHouse()
        try await house.open { house in
            let sold = try (0..<3).map { _ in try house.buy("coins.100") }
            let importer = try Self.importer(house)
            let rows = sold.enumerated().map { Self.row(Int64($0.offset) + 1, Array($0.element.id.description.utf8)) }
            let first = try await importer.take(
                Array(rows.prefix(2)),
                after: try await importer.progress(of: Self.id()),
                report: nil
            )
            _ = try await importer.take(Array(rows.suffix(1)), after: first.progress, report: nil)
            let app = house.app.id
            let waiting = try await house.store.read { reader throws(StoreFailure) in try reader.pendingLoad(app: app) }
            #expect(waiting == PendingLoad())
            for (place, sale) in sold.enumerated() {
                try await house.work()
                #expect(try await house.recorded(sale.id) != nil)
                if place < 2 { #expect(try await house.recorded(sold[place + 1].id) == nil) }
                house.pass(Self.spacing)
            }
            #expect(try await Self.events(house) == [])
            // The same numbers once more are known.
            let again = try await importer.take(
                rows,
                after: try await importer.progress(of: Self.id(2)),
                report: nil
            )
            #expect(again.outcomes.map(\.kind) == [.known, .known, .known])
        }
    }

    /// Apple's answer has what was bought since, too: that does not stand in the books.
    @Test(arguments: [false, true]) func whatIsBoughtWhileAppleIsAskedIsDelivered(isRenewed: Bool) async throws {
        let house = try WorkHouse()
        try await house.open { house in
            let sold = try house.buy("pro.monthly")
            let importer = try Self.importer(house)
            let taken = try await importer.take(
                [Self.row(1, ProofDecisionTests.answer(around: try house.receipt()))],
                after: try await importer.progress(of: Self.id()),
                report: nil
            )
            #expect(taken.outcomes.map(\.kind) == [.asked])
            house.pass(.seconds(isRenewed ? 40 * 86_400 : 86_400))
            try await house.work()
            #expect(try await house.recorded(sold.id) != nil)
            let granted = try await Self.events(house).filter { $0 == "delivery.granted" }
            #expect(granted.count == (isRenewed ? 1 : 0))
        }
    }

    @Test func whatIsStillToBeDeliveredIsTold() async throws {
        let house = try WorkHouse()
        try await house.open { house in
            let sold = try house.buy("coins.100")
            let importer = try Self.importer(house, .here)
            _ = try await importer.take(
                [Self.row(1, Array(sold.id.description.utf8)), Self.row(2, try house.receipt())],
                after: try await importer.progress(of: Self.id()),
                report: nil
            )
            try await house.work()
            #expect(try await Self.events(house) == ["delivery.granted"])
        }
    }

    /// Each row: what Apple can be asked, and what becomes of a number, of a receipt whose issuer is not known, and of an
    /// answer of verifyReceipt in which only a number stands.
    @Test(arguments: [
        (reach: AppleReach.nothing, kinds: [ImportOutcome.Kind.refused, .refused, .refused]),
        (.receipts, [.refused, .asked, .refused]), (.everything, [.asked, .asked, .asked]),
    ])
    func whatAppleCannotBeAskedIsRefused(reach: AppleReach, kinds: [ImportOutcome.Kind]) async throws {
        let books = try OwnedBooks()
        let answer = """
            {"status":0,"environment":"Production","receipt":{"bundle_id":"\(TestAuthority.bundleID)","in_app":[\
            {"product_id":"coins.100","transaction_id":"2000000000000003","purchase_date_ms":"1700000000000"}]}}
            """
        let rows = [
            Self.row(1, Array("2000000000000001".utf8)),
            Self.row(2, try StoreAuthority.one.get().receipt(OwnedBooks.sold(2))), Self.row(3, Array(answer.utf8)),
        ]
        let outcomes = try await books.take(rows, into: MemoryStore(), reach: reach)
        #expect(outcomes.map(\.kind) == kinds)
        for outcome in outcomes where outcome.kind == .refused {
            #expect(outcome.verdict?.rawValue == "undecidable")
        }
        var plan = ImportPlan(app: books.app, verifier: try PipelineHouse.verifier(), reach: reach, at: OwnedBooks.now)
        try await plan.look(at: rows, lanes: 2, known: nil)
        #expect(plan.needApple == Int64(kinds.count { $0 == .asked }))
        #expect(plan.refused.values.reduce(0, +) == Int64(kinds.count { $0 == .refused }))
    }

    /// Genuine, and of which store is not known: a purchase that would be passed over. By itself, and with its number.
    @Test(arguments: [(AppleReach.nothing, 2, 0), (.receipts, 1, 1), (.everything, 0, 2)])
    func whatIsOfNoKnownStoreIsNotPassedOver(reach: AppleReach, refused: Int64, asked: Int64) async throws {
        let (books, authority) = (try OwnedBooks(), try StoreAuthority.one.get())
        let rows = [
            Self.row(1, try authority.receipt(OwnedBooks.sold(9)), nil),
            OwnedBooks.row(2, try authority.receipt(OwnedBooks.sold(8)), nil, try OwnedBooks.subject(8)),
        ]
        let verifier = try PipelineHouse.verifier([authority.certificate])
        var plan = ImportPlan(app: books.app, verifier: verifier, reach: reach, at: OwnedBooks.now)
        try await plan.look(at: rows, lanes: 2, known: nil)
        #expect(plan.refused.values.reduce(0, +) == refused && plan.needApple == asked)
        // What will not be taken is nobody's purchase.
        #expect(plan.withoutCustomer == asked)
    }

    /// What the ledger knows needs no question.
    @Test(arguments: [AppleReach.nothing, .receipts, .everything])
    func aNumberThatIsRecordedIsKnownWhateverAppleCanBeAsked(reach: AppleReach) async throws {
        let house = try WorkHouse()
        try await house.open { house in
            let sold = try house.buy("coins.100")
            _ = try await house.submit(try house.receipt())
            let rows = [Self.row(1, Array(sold.id.description.utf8)), Self.row(2, Array("2000000099999999".utf8))]
            let verifier = try PipelineHouse.verifier()
            var plan = ImportPlan(app: house.app, verifier: verifier, reach: reach, at: house.clock.now)
            try await plan.look(at: rows, lanes: 2) { lookup throws(StoreFailure) in
                try await house.store.read { reader throws(StoreFailure) in try lookup.answered(by: reader) }
            }
            let isAsked = reach == .everything
            #expect((plan.known, plan.needApple) == (1, isAsked ? 1 : 0))
            let importer = try Self.importer(house, reach: reach)
            let taken = try await importer.take(rows, after: try await importer.progress(of: Self.id()), report: nil)
            #expect(taken.outcomes.map(\.kind) == [.known, isAsked ? .asked : .refused])
        }
    }

    /// A key that was missing may be there by now.
    @Test func whatWasReadToItsEndIsReadAgainIfRowsOfItWereNotTaken() async throws {
        let house = try WorkHouse()
        let rows = [Self.row(1, Array("2000000000000001".utf8)), Self.row(2, Array("2000000000000001".utf8), "bob")]
        let blind = try Self.importer(house, reach: .nothing)
        let first = try await blind.take(rows, after: try await blind.progress(of: Self.id()), report: .jsonLines)
        #expect(try await blind.continuation(of: first.progress, refusedSince: 0) == first.progress)
        let end = try await blind.take([], after: first.progress, report: .jsonLines).progress
        // By its last lines whoever comes next knows the report.
        #expect((end.reportBytes, end.reportTail) == (0, first.progress.reportTail))
        house.pass(.seconds(86_400))
        let importer = try Self.importer(house)
        let again = try await importer.continuation(
            of: try await importer.progress(of: Self.id()),
            refusedSince: 0
        )
        #expect(again.isAtBeginning && again.counts == ImportCounts())
        #expect((again.place, again.line, again.reportBytes, again.reportTail) == (0, 1, 0, []))
        // What Apple is asked now is spread from now on.
        #expect(again.startedAt == end.startedAt.advanced(by: .seconds(86_400)))
        let taken = try await importer.take(rows, after: again, report: .jsonLines)
        #expect(taken.outcomes.map(\.kind) == [.asked, .known])
        #expect((taken.progress.counts.rows, taken.progress.counts.refused) == (2, 0))
        let whole = try await importer.take([], after: taken.progress, report: .jsonLines).progress
        #expect(try await importer.progress(of: Self.id()) == whole)
        #expect(try await importer.continuation(of: whole, refusedSince: 0) == whole)
        let begun = try await importer.continuation(of: whole, refusedSince: 1)
        #expect(begun == whole.begunAgain(at: house.clock.now))
    }

    @Test func ofTwoWhoReadTheSameSourceOneGoesOn() async throws {
        let house = try WorkHouse()
        let importer = try Self.importer(house)
        let start = try await importer.progress(of: Self.id())
        let rows = [Self.row(1, Array("nothing".utf8))]
        _ = try await importer.take(rows, after: start, report: nil)
        await #expect(throws: StoreFailure.conflict) { try await importer.take(rows, after: start, report: nil) }
        #expect(try await importer.progress(of: Self.id()).counts.invalid == 0)
        #expect(try await importer.progress(of: Self.id()).counts.refused == 1)
    }

    @Test func aPlanWritesNothingAndSaysWhatWouldBecomeOfIt() async throws {
        let house = try WorkHouse()
        let sold = try house.buy("coins.100")
        let receipt = try house.receipt()
        let verifier = try PipelineHouse.verifier()
        var plan = ImportPlan(app: house.app, verifier: verifier, reach: .everything, at: WorkHouse.start)
        let rows = [
            Self.row(1, receipt), Self.row(2, receipt), Self.row(3, Array("2000000099999999".utf8)),
            Self.row(4, Array("nothing".utf8)), ImportRow(line: 5, end: 9, lineAfter: 6, claim: .failure(.json)),
        ]
        try await plan.look(at: rows, lanes: 2, known: nil)
        #expect(plan.rows == 5)
        #expect((plan.genuine, plan.repeated, plan.needApple) == (1, 1, 1))
        #expect(plan.refused.values.reduce(0, +) == 1)
        #expect(plan.invalid == ["json": 1])
        #expect(plan.faults.map(\.line) == [4, 5])
        var later = ImportPlan(app: house.app, verifier: verifier, reach: .everything, at: WorkHouse.start)
        try await later.look(at: Array(rows.prefix(1)), lanes: 1) { .init(recorded: Set($0.keys)) }
        #expect((later.genuine, later.known) == (0, 1))
        #expect(try await house.recorded(sold.id) == nil)
    }
}
