import HTTP
import Pipeline
import PurchaseModel
import Simulator
import Storage
import Testing

/// A proof with several numbers in it, of which Apple knows some.
@Suite struct PartlyKnownProofTests {
    private static let unknown = HTTPResponse(.notFound, body: Array(#"{"errorCode":4040010}"#.utf8))

    /// Long enough for what Apple does not know to count as that.
    private static func wait(_ house: WorkHouse) async throws {
        for _ in 0..<30 {
            try await house.work()
            house.pass(.seconds(60))
        }
    }

    /// Whichever comes first in it; but of numbers that are all made up only some are tried, and once.
    @Test(arguments: [Int64(1), 5]) func anUnknownNumberInFrontRefusesNoOther(count: Int64) async throws {
        try await WorkHouse().open { house in
            let made = (1...count).compactMap { TransactionID(number: 888_000_000_000 + $0) }
            let sold = try ["sword", "coins.100"].map { try house.buy($0) }
            let outcome = try await house.submit(ProofDecisionTests.answer(naming: made + sold.map(\.id)))
            try await Self.wait(house)
            #expect(try await house.submission(outcome).settlement?.verdict == "test_signed")
            for sold in sold { #expect(try await house.recorded(sold.id)?.customer?.text == "ann") }
            #expect(try await house.deadLetters() == [])
        }
    }

    /// Apple may forget what it knew: the first was recorded before, and the other is genuine all the same.
    @Test func aNumberThatAppleForgetsRefusesNoOther() async throws {
        try await WorkHouse().open { house in
            let sold = try ["sword", "coins.100"].map { try house.buy($0) }
            house.script.set("/inApps/v1/transactions/\(sold[1].id)", HTTPResponse(.internalServerError))
            let outcome = try await house.submit(ProofDecisionTests.answer(naming: sold.map(\.id)))
            try await house.work()
            #expect(try await house.recorded(sold[0].id)?.customer?.text == "ann")
            house.script.set("/inApps/v1/transactions/\(sold[0].id)", Self.unknown)
            try await Self.wait(house)
            #expect(try await house.submission(outcome).settlement?.verdict == "test_signed")
            #expect(try await house.recorded(sold[1].id)?.customer?.text == "ann")
        }
    }

    /// Apple may forget all of it, too: what is hers is told as hers, and what is another's or nobody's is not made hers.
    @Test(arguments: [[0], [0, 1], [0, 2]]) func whatAppleForgetsStaysWhoseItIs(named: [Int]) async throws {
        try await WorkHouse().open { house in
            let bought = try ["sword", "coins.100"].map { try house.buy($0).id }
            let made = try #require(TransactionID(number: 888_000_000_001))
            _ = try await house.submit(try house.receipt())
            for number in bought { #expect(try await house.recorded(number)?.customer?.text == "ann") }
            house.script.set("/inApps/v1/transactions/", Self.unknown)
            let numbers = named.map { (bought + [made])[$0] }
            // One alone comes as a bare number.
            let proof = named == [0] ? Array("\(bought[0])".utf8) : ProofDecisionTests.answer(naming: numbers)
            let outcomes = [
                "ann": try await house.submit(proof), "bob": try await house.submit(proof, customer: "bob"),
                "": try await house.submit(proof, customer: ""),
            ]
            try await Self.wait(house)
            // Of a number that the ledger does not have either nobody has said anything.
            let hers = named.contains(2) ? "not_yours" : "test_signed"
            let verdicts = ["ann": hers, "bob": "not_yours", "": hers]
            for (customer, outcome) in outcomes {
                #expect(try await house.submission(outcome).settlement?.verdict == verdicts[customer], "\(customer)")
            }
        }
    }

    /// Each is recorded by itself; the order is that of what it asks for, and the other one pays its own.
    @Test(arguments: [[0, 1], [1, 0]]) func theOrderIsNamedForWhatItAsksFor(places: [Int]) async throws {
        try await WorkHouse(terms: AppTerms(needsOrder: true)).open { house in
            let sold = try ["sword", "coins.100"].map { try house.buy($0) }
            for (id, sold) in zip(["o-sword", "o-coins"], sold) {
                let order = Order(
                    app: house.app.id,
                    id: try #require(OrderID(id)),
                    customer: try #require(CustomerID("ann")),
                    product: sold.fact.product,
                    quantity: 1,
                    accountToken: nil,
                    placedAt: house.clock.now,
                    expiresAt: house.clock.now.advanced(by: .seconds(3_600))
                )
                try await house.store.write { [app = house.app, now = house.clock.now] write throws(StoreFailure) in
                    _ = try LedgerRequests.place(order, for: app, at: now, in: write)
                }
            }
            var submission = Submission(
                app: house.app,
                bytes: ProofDecisionTests.answer(naming: places.map { sold[$0].id }),
                customer: CustomerID("ann"),
                order: OrderID("o-coins")
            )
            submission.isFromShop = true
            let outcome = try await house.pipeline.submit(submission)
            try await Self.wait(house)
            #expect(try await house.submission(outcome).settlement?.verdict == "test_signed")
            let keys = try ["o-sword", "o-coins"].map { OrderKey(app: house.app.id, id: try #require(OrderID($0))) }
            let orders = try await house.store.read { reader throws(StoreFailure) in try reader.orders(keys) }
            let payers = keys.map { key in orders.first { $0.key == key }?.payment?.transaction }
            #expect(payers == sold.map(\.id))
            #expect(try await house.recorded(sold[0].id)?.order == nil)
            #expect(try await house.recorded(sold[1].id)?.order?.text == "o-coins")
        }
    }

    /// A part was recorded, and told; by what Apple says then the app does not take the rest.
    @Test func whatWasRecordedInPartIsNotRefused() async throws {
        try await WorkHouse().open { house in
            let sold = [try house.buy("sword"), try house.buy("coins.100", by: "tester")]
            house.script.set("/inApps/v1/transactions/\(sold[1].id)", HTTPResponse(.internalServerError))
            var submission = Submission(
                app: house.app,
                bytes: ProofDecisionTests.answer(naming: sold.map(\.id)),
                customer: CustomerID("ann")
            )
            submission.environments = [.production]
            let outcome = try await house.pipeline.submit(submission)
            try await house.work()
            #expect(try await house.submission(outcome).submission.isRecordedInPart)
            house.script.set("/inApps/v1/transactions/\(sold[1].id)", nil)
            house.script.set("/inApps/v1/transactions/\(sold[0].id)", Self.unknown)
            try await Self.wait(house)
            #expect(try await house.submission(outcome).settlement?.verdict == "test_signed")
            #expect(try await house.recorded(sold[1].id, in: .sandbox) == nil)
        }
    }
}
