import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Simulator
import Storage
import TestSupport
import Testing

/// Whoever was told to wait hears how it ended: by what was bought, or by an event that says that nothing new was.
@Suite struct SettledSubmissionTests {
    private static let production = Realm(environment: .production, isTestSigned: false)

    /// The events of an app about proofs that had to wait, in the order of its feed.
    private static func told(_ store: any Store, of app: AppID) async throws -> [EventRow] {
        let page = try await store.read { reader throws(StoreFailure) in
            try reader.events(app: app, after: .start, where: EventFilter(realms: [production]), limit: 1_000)
        }
        return page.events.map(\.event).filter { $0.type == "submission.settled" }
    }

    /// The members of an event's only object.
    private static func members(_ event: EventRow) throws -> [String: String] {
        let data = try #require(try JSONDocument(event.data).root.object)
        let object = try #require(data["submission"]?.object)
        let names = [
            "submission_id", "result", "verdict", "reason", "customer_id", "order_id", "received_at", "decided_at",
        ]
        return names.reduce(into: [:]) { $0[$1] = object[$1]?.string }
    }

    /// Any name will do for what is kept without having been submitted.
    private static func digest(of proof: [UInt8]) throws -> ProofDigest {
        try #require(ProofDigest([UInt8](repeating: UInt8(proof.count), count: 32)))
    }

    private static func bare(_ number: Int) -> [UInt8] { Array("\(170_000_029_440_000 + number)".utf8) }

    @Test func whatAppleKnowsNothingOfIsToldOnce() async throws {
        try await WorkHouse().open { house in
            house.script.set(
                "/inApps/v1/transactions/",
                HTTPResponse(.notFound, body: Array(#"{"errorCode":4040010}"#.utf8))
            )
            let outcome = try await house.submit(Self.bare(1))
            for _ in 0..<30 {
                try await house.work()
                house.pass(.seconds(60))
            }
            let kept = try await house.submission(outcome)
            #expect(kept.settlement?.verdict == "not_yours")
            let events = try await Self.told(house.store, of: house.app.id)
            #expect(events.map(\.customer?.text) == ["ann"])
            #expect(events.map(\.realm) == [Self.production])
            #expect(events.first?.happenedAt == kept.settlement?.at)
            let members = try Self.members(try #require(events.first))
            #expect(members["submission_id"] == kept.id.hexadecimal)
            #expect(members["result"] == "decided" && members["verdict"] == "not_yours")
            #expect(members["customer_id"] == "ann")
            #expect(members["decided_at"] != nil && members["received_at"] != nil)
        }
    }

    /// What was recorded tells itself; twice would be one event too many to act upon.
    @Test func whatIsRecordedIsToldByItsDelivery() async throws {
        try await WorkHouse().open { house in
            let outcome = try await house.submit(Array("\(try house.buy("coins.100").id)".utf8))
            try await house.work()
            #expect(try await house.submission(outcome).settlement?.verdict == "test_signed")
            #expect(try await Self.told(house.store, of: house.app.id).isEmpty)
        }
    }

    /// Nothing is recorded anew, so that no delivery tells of it.
    @Test func whatWasKnownBeforeIsTold() async throws {
        try await WorkHouse().open { house in
            let number = Array("\(try house.buy("coins.100").id)".utf8)
            _ = try await house.submit(try house.receipt())
            #expect(try await Self.told(house.store, of: house.app.id).isEmpty)
            let again = try await house.submit(number)
            try await house.work()
            let kept = try await house.submission(again)
            let events = try await Self.told(house.store, of: house.app.id)
            #expect(events.map(\.customer?.text) == ["ann"])
            #expect(events.first?.happenedAt == kept.settlement?.at)
            let members = try Self.members(try #require(events.first))
            #expect(members["submission_id"] == kept.id.hexadecimal)
            #expect(members["result"] == "decided" && members["verdict"] == "test_signed")
            _ = try await house.submit([UInt8(ascii: " ")] + number)
            try await house.work()
            #expect(try await Self.told(house.store, of: house.app.id).map(\.sequence) == [1, 2])
        }
    }

    /// The one who has it hears of nothing, and the other that her proof waits no more.
    @Test func whatIsAnothersIsTold() async throws {
        try await WorkHouse().open { house in
            let number = Array("\(try house.buy("coins.100").id)".utf8)
            _ = try await house.submit(number)
            try await house.work()
            for customer in ["bob", ""] { _ = try await house.submit(number, customer: customer) }
            try await house.work()
            let events = try await Self.told(house.store, of: house.app.id)
            #expect(Set(events.map { $0.customer?.text ?? "nobody" }) == ["bob", "nobody"])
            #expect(events.count == 2)
            for event in events { #expect(try Self.members(event)["verdict"] == "test_signed") }
        }
    }

    /// Of several numbers one is new, in whichever commit that was: it is told by its delivery. None is, and it is told once.
    @Test(arguments: [[], [0], [1], [0, 1]]) func ofSeveralNumbersOneThatIsNewTellsIt(known: [Int]) async throws {
        try await WorkHouse().open { house in
            let sold = try ["sword", "coins.100"].map { try house.buy($0) }
            for place in known { _ = try await house.submit(Array("\(sold[place].id)".utf8)) }
            try await house.work()
            let outcome = try await house.submit(ProofDecisionTests.answer(naming: sold.map(\.id)))
            try await house.work()
            #expect(try await house.submission(outcome).settlement?.verdict == "test_signed")
            #expect(try await Self.told(house.store, of: house.app.id).count == (known.count == 2 ? 1 : 0))
        }
    }

    /// What was recorded in an attempt before, and told, is told by that; also where Apple knows none of it any more.
    @Test(arguments: [false, true]) func whatAnotherAttemptHasToldIsNotToldAgain(isForgotten: Bool) async throws {
        try await WorkHouse().open { house in
            let sold = try ["sword", "coins.100"].map { try house.buy($0) }
            house.script.set("/inApps/v1/transactions/\(sold[1].id)", HTTPResponse(.internalServerError))
            let outcome = try await house.submit(ProofDecisionTests.answer(naming: sold.map(\.id)))
            try await house.work()
            #expect(try await house.submission(outcome).settlement == nil)
            let unknown = HTTPResponse(.notFound, body: Array(#"{"errorCode":4040010}"#.utf8))
            house.script.set(isForgotten ? "/inApps/v1/transactions/" : "", isForgotten ? unknown : nil)
            for _ in 0..<30 {
                house.pass(.seconds(60))
                try await house.work()
            }
            #expect(try await house.submission(outcome).settlement?.verdict == "test_signed")
            #expect(try await Self.told(house.store, of: house.app.id).isEmpty)
        }
    }

    /// The rest is given up, and it is said that this is not all of it.
    @Test func whatIsGivenUpAfterAPartIsToldAsThat() async throws {
        try await WorkHouse().open { house in
            let sold = try ["sword", "coins.100"].map { try house.buy($0) }
            house.script.set("/inApps/v1/transactions/\(sold[1].id)", HTTPResponse(.internalServerError))
            _ = try await house.submit(ProofDecisionTests.answer(naming: sold.map(\.id)))
            try await house.work()
            house.pass(.seconds(31 * 86_400))
            let expiry = PendingExpiry(
                pipeline: house.pipeline,
                store: house.store,
                apps: [house.app],
                clock: house.clock,
                patience: .seconds(30 * 86_400)
            ) { _ in }
            await expiry.sweep()
            let members = try await Self.told(house.store, of: house.app.id).map(Self.members)
            #expect(members.map { $0["result"] } == ["given_up"])
            #expect(members.map { $0["reason"] } == ["recorded_in_part"])
        }
    }

    /// Two servers start at once, and one of them fails on the way: it is told by one of the commits.
    @Test func whatAReviewFindsKnownIsToldOnce() async throws {
        let store = WatchedStore()
        let authority = try StoreAuthority.one.get()
        let receipt = try authority.receipt(Proofs.transaction(1))
        let app = try await PipelineHouse(store: store).open { (house) async throws in
            for customer in ["ann", "bob"] {
                #expect(try await house.submit(receipt, customer: customer).word == "pending")
            }
            return house.app.id
        }
        let house = try PipelineHouse(store: store, intermediates: [authority.certificate])
        try await house.open { (house) async throws in
            store.fail(.full)
            await house.review.run()
            #expect(try await Self.told(store, of: app).isEmpty)
            async let one: Void = house.review.run()
            async let other: Void = house.review.run()
            _ = await (one, other)
            #expect(try await house.figures().pendingSubmissions == 0)
            await house.review.run()
            let events = try await Self.told(store, of: app)
            // The other came first then, and is told by the delivery.
            #expect(events.map(\.customer?.text) == ["ann"])
            let members = try Self.members(try #require(events.first))
            #expect(members["verdict"] == "test_signed")
        }
    }

    @Test func whatAReviewFindsForgedIsTold() async throws {
        let store = WatchedStore()
        let pending = PendingSubmission(
            id: try #require(SubmissionID([UInt8](repeating: 7, count: 16))),
            app: try #require(AppID("game")),
            digest: try Self.digest(of: Proofs.garbage(1)),
            format: "transaction_receipt",
            proof: Proofs.garbage(1),
            customer: CustomerID("ann"),
            order: OrderID("o-1"),
            reason: "needs_certificate",
            receivedAt: PipelineHouse.now
        )
        try await store.write { transaction throws(StoreFailure) in _ = try transaction.keepPending(pending) }
        try await PipelineHouse(store: store).open { house in
            await house.review.run()
            let members = try await Self.told(house.store, of: pending.app).map(Self.members)
            #expect(members.map { $0["verdict"] } == ["malformed"])
            #expect(members.map { $0["order_id"] } == ["o-1"])
            await house.review.run()
            #expect(try await Self.told(house.store, of: pending.app).count == 1)
        }
    }

    /// Those of one customer, given up in one write, are numbered one after the other; who named nobody has a stream, too.
    @Test func whatIsGivenUpIsTold() async throws {
        try await PipelineHouse().open { house in
            for number in 0..<3 { _ = try await house.submit(Self.bare(number)) }
            _ = try await house.submit(Self.bare(3), customer: "")
            _ = try await house.submit(Self.bare(4), customer: "bob", to: house.otherApp)
            house.clock.advance(by: PipelineHouse.patience + .milliseconds(1))
            await house.expiry.sweep()
            let events = try await Self.told(house.store, of: house.app.id)
            #expect(events.filter { $0.customer?.text == "ann" }.map(\.sequence) == [1, 2, 3])
            #expect(events.filter { $0.customer == nil }.map(\.sequence) == [1])
            for event in events {
                let members = try Self.members(event)
                #expect(members["result"] == "given_up" && members["reason"] == "waited_too_long")
                #expect(members["verdict"] == nil)
            }
            #expect(try await Self.told(house.store, of: house.otherApp.id).map(\.customer?.text) == ["bob"])
            await house.expiry.sweep()
            #expect(try await Self.told(house.store, of: house.app.id).count == 4)
        }
    }

    /// An import's report has said what it asks about, and nobody waits for an answer.
    @Test(arguments: [SubmissionOrigin.delivered, .imported])
    func anImportsAreNotTold(origin: SubmissionOrigin) async throws {
        let store = WatchedStore()
        var pending = PendingSubmission(
            id: try #require(SubmissionID([UInt8](repeating: 8, count: 16))),
            app: try #require(AppID("game")),
            digest: try Self.digest(of: Self.bare(9)),
            format: "transaction_id",
            proof: Self.bare(9),
            customer: CustomerID("ann"),
            order: nil,
            reason: "only_apple_knows",
            receivedAt: PipelineHouse.now
        )
        pending.origin = origin
        let kept = pending
        try await store.write { transaction throws(StoreFailure) in _ = try transaction.keepPending(kept) }
        try await PipelineHouse(store: store).open { house in
            house.clock.advance(by: PipelineHouse.patience + .milliseconds(1))
            await house.expiry.sweep()
            let figures = try await house.figures()
            #expect(figures.pendingSubmissions == 0)
            #expect(try await Self.told(house.store, of: kept.app).isEmpty)
        }
    }
}
