import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Simulator
import Storage
import TestSupport
import Testing
import Verification

/// A number that comes by the app's own key has Apple asked, and takes nothing: anybody may guess it.
@Suite struct OnlyNamedProofTests {
    private static func number(_ sold: SoldTransaction) -> [UInt8] { Array("\(sold.id)".utf8) }

    /// Whether Apple had told of it before, or has to be asked first, and fails to answer at first.
    @Test(arguments: [true, false], [true, false])
    func theNumberOfWhatIsNobodysTakesNothing(isKnown: Bool, isWrapped: Bool) async throws {
        try await WorkHouse().open { house in
            let sold = try house.buy("coins.100")
            if isKnown {
                _ = try await house.submit(Self.number(sold), customer: "")
                try await house.work()
                #expect(try await house.recorded(sold.id) != nil)
            }
            let proof = isWrapped ? ProofDecisionTests.answer(naming: [sold.id]) : Self.number(sold)
            let outcome = try await house.submit(proof, customer: "mal", isFromShop: false)
            #expect(try await house.submission(outcome).submission.isOnlyNamed)
            house.script.set("/inApps/v1/transactions/\(sold.id)", HTTPResponse(.internalServerError))
            try await house.work()
            #expect(try await house.submission(outcome).settlement == nil)
            let isSound = try await house.store.read { reader throws(StoreFailure) in
                try LedgerCheck.run(over: reader).isSound
            }
            #expect(isSound)
            house.script.set("/inApps/v1/transactions/\(sold.id)", nil)
            house.pass(.seconds(60))
            try await house.work()
            #expect(try await house.submission(outcome).settlement?.verdict == "test_signed")
            let recorded = try #require(try await house.recorded(sold.id))
            #expect(recorded.customer == nil)
            for _ in 0..<2 { #expect(try await Self.standing(house, outcome, proof, "mal") == .ownedByAnother) }
            // The receipt is the buyer's.
            let shown = try await house.submit(try house.receipt(), customer: "ann")
            guard case .recorded(let decision) = shown else { throw WorkHouse.Unexpected.outcome }
            #expect(decision.outcomes.map(\.standing) == [.recorded])
            #expect(try await house.recorded(sold.id)?.customer?.text == "ann")
            #expect(try await Self.standing(house, outcome, proof, "mal") == .ownedByAnother)
        }
    }

    private static func standing(
        _ house: WorkHouse,
        _ kept: Outcome,
        _ proof: [UInt8],
        _ customer: String
    ) async throws -> Standing? {
        let submission = Submission(app: house.app, bytes: proof, customer: CustomerID(customer))
        let id = try #require(kept.pendingID)
        guard case .recorded(let decision) = try await house.pipeline.decision(on: id, for: submission) else {
            return nil
        }
        #expect(decision.outcomes.map(\.fulfilment) == [nil])
        return decision.outcomes.first.map(\.standing)
    }

    /// The shop's server is believed, also while the same waits that its app has sent, and after that is decided.
    @Test(arguments: ["first", "meanwhile", "after"]) func theShopsServerIsBelieved(comes: String) async throws {
        try await WorkHouse().open { house in
            let number = Self.number(try house.buy("coins.100"))
            let first = try await house.submit(number, isFromShop: comes == "first")
            if comes != "meanwhile" { try await house.work() }
            let second = try await house.submit(number, isFromShop: comes != "first")
            try await house.work()
            // What the shop has brought says no less: its app's question finds that.
            #expect(first.pendingID != nil && second.pendingID != nil)
            #expect((first.pendingID == second.pendingID) == (comes == "first"))
            for outcome in [first, second] {
                #expect(try await house.submission(outcome).settlement?.verdict == "test_signed")
                #expect(try await Self.word(house, outcome, number) == "recorded ann")
            }
            for isFromShop in [true, false] {
                let shops = comes == "first" ? first : second
                #expect(try await house.submit(number, isFromShop: isFromShop).pendingID == shops.pendingID)
            }
        }
    }

    private static func word(_ house: WorkHouse, _ kept: Outcome, _ proof: [UInt8]) async throws -> String? {
        let submission = Submission(app: house.app, bytes: proof, customer: CustomerID("ann"))
        let id = try #require(kept.pendingID)
        guard case .recorded(let decision) = try await house.pipeline.decision(on: id, for: submission) else {
            return nil
        }
        return decision.outcomes.map { "\($0.standing.rawValue) \($0.recorded.customer?.text ?? "nobody")" }.first
    }

    /// Apple signed it for her: then she has it by its number, too.
    @Test func whatAppleSignedForHerIsHers() async throws {
        try await WorkHouse().open { house in
            var act = Act.Purchase(
                customer: "anna",
                app: DemoCatalogue.bundleID,
                product: DemoCatalogue.product("coins.100")
            )
            act.accountToken = AccountToken(ofCustomer: try #require(CustomerID("ann")))
            guard case .done(let ids) = try house.simulator.perform(.buy(act)), let id = ids.last else {
                throw WorkHouse.Unexpected.outcome
            }
            for customer in ["mal", "ann"] {
                _ = try await house.submit(Array("\(id)".utf8), customer: customer, isFromShop: false)
                try await house.work()
                #expect(try await house.recorded(id)?.customer?.text == (customer == "mal" ? nil : "ann"))
            }
        }
    }

    /// What somebody has signed names more than a number: a receipt within an answer, a transaction of a time when Apple
    /// named no store.
    @Test func aReceiptIsShownByWhoeverHasIt() async throws {
        try await WorkHouse().open { house in
            let sold = try house.buy("coins.100")
            let proof = ProofDecisionTests.answer(around: try house.receipt())
            let outcome = try await house.submit(proof, isFromShop: false)
            #expect(try await !house.submission(outcome).submission.isOnlyNamed)
            try await house.work()
            #expect(try await house.recorded(sold.id)?.customer?.text == "ann")
        }
        let old = try #require(try Proofs.withoutStore().last).proof
        #expect(try !PipelineHouse.verifier().matter(of: old).onlyNames)
    }
}
