import Encoding
import HTTP
import Jobs
import Pipeline
import PurchaseModel
import Simulator
import Storage
import Testing

/// What the bytes do not settle, Apple does: by a job, however often it has to be asked.
@Suite struct ProofDecisionTests {
    enum Trouble: CaseIterable {
        case serverError, html, truncated, reset, tooManyRequests, unauthorized, temporaryStatus

        /// It falls upon every request.
        var always: Chaos {
            var chaos = Chaos.none
            switch self {
            case .serverError: chaos.serverError = 1_000
            case .html: chaos.html = 1_000
            case .truncated: chaos.truncated = 1_000
            case .reset: chaos.reset = 1_000
            case .tooManyRequests: chaos.tooManyRequests = 1_000
            case .unauthorized: chaos.unauthorized = 1_000
            case .temporaryStatus: chaos.temporaryStatus = 1_000
            }
            return chaos
        }
    }

    @Test(arguments: [("anna", StoreEnvironment.production), ("tester", .sandbox)])
    func aBareNumberIsRecordedOnceAppleKnowsIt(buyer: String, environment: StoreEnvironment) async throws {
        try await WorkHouse().open { house in
            let sold = try house.buy("coins.100", by: buyer)
            let outcome = try await house.submit(Array("\(sold.id)".utf8))
            #expect(try await house.submission(outcome).settlement == nil)
            // Taking it in asked nobody.
            #expect(house.calls.values.isEmpty)
            try await house.work()
            #expect(try await house.submission(outcome).settlement?.verdict == "test_signed")
            let recorded = try #require(try await house.recorded(sold.id, in: environment))
            #expect(recorded.customer?.text == "ann")
            #expect(recorded.transaction.product == DemoCatalogue.product("coins.100"))
            // Production first, the sandbox only where production knows nothing.
            #expect(house.calls.values.count == (environment == .production ? 1 : 2))
            try await house.work()
            #expect(house.calls.values.count == (environment == .production ? 1 : 2))
        }
    }

    @Test func aNumberThatNobodyHasIsGivenUpAfterAWhile() async throws {
        try await WorkHouse().open { house in
            let outcome = try await house.submit(Array("999999999999".utf8))
            for minute in 0..<30 {
                try await house.work()
                let settlement = try await house.submission(outcome).settlement
                if minute < 15 { #expect(settlement == nil) }
                if minute > 24 { #expect(settlement?.verdict == "not_yours") }
                house.pass(.seconds(60))
            }
            // Two hosts, each time later.
            #expect(house.calls.values.count <= 2 * 9, "\(house.calls.values.count) calls")
            #expect(try await house.deadLetters() == [])
        }
    }

    private static let unknown = HTTPResponse(
        .notFound,
        body: JSONWriter.object { json in
            json.member("errorCode", Int64(4_040_010))
            json.member("errorMessage", "planted")
        }
    )

    /// Whoever was away has not said that it knows of nothing, however often it was asked.
    @Test func theFirstAnswerAfterAnOutageIsNotTheLastWord() async throws {
        try await WorkHouse().open { house in
            let sold = try house.buy("coins.100", by: "tester")
            let outcome = try await house.submit(Array("\(sold.id)".utf8))
            house.chaos.set(Trouble.serverError.always)
            for _ in 0..<9 {
                try await house.work()
                house.pass(.seconds(60))
            }
            house.chaos.set(.none)
            house.script.set("/inApps/v1/transactions/", Self.unknown)
            let before = house.calls.values.count
            for _ in 0..<5 where house.calls.values.count == before {
                house.pass(.seconds(60))
                try await house.work()
            }
            #expect(house.calls.values.count > before)
            #expect(try await house.submission(outcome).settlement == nil)
            house.script.set("", nil)
            for _ in 0..<30 {
                house.pass(.seconds(60))
                try await house.work()
            }
            #expect(try await house.submission(outcome).settlement?.verdict == "test_signed")
            #expect(try await house.recorded(sold.id, in: .sandbox)?.customer?.text == "ann")
        }
    }

    /// What was unknown to Apple is asked about again when it is presented later, and no more often than once an hour.
    @Test func whatAppleDidNotKnowCanBePresentedAgain() async throws {
        try await WorkHouse().open { house in
            let sold = try house.buy("coins.100")
            let proof = Array("\(sold.id)".utf8)
            house.script.set("/inApps/v1/transactions/", Self.unknown)
            let outcome = try await house.submit(proof)
            for _ in 0..<30 {
                try await house.work()
                house.pass(.seconds(60))
            }
            house.script.set("", nil)
            #expect(try await house.submission(outcome).settlement?.verdict == "not_yours")
            #expect(try await house.decision(on: outcome, proof) == "refused not_yours")
            let calls = house.calls.values.count
            _ = try await house.submit(proof)
            try await house.work()
            #expect(house.calls.values.count == calls)
            house.pass(.seconds(3_600))
            _ = try await house.submit(proof)
            #expect(try await house.submission(outcome).settlement == nil)
            #expect(try await house.decision(on: outcome, proof) == nil)
            try await house.work()
            #expect(try await house.submission(outcome).settlement?.verdict == "test_signed")
            #expect(try await house.recorded(sold.id)?.customer?.text == "ann")
            #expect(try await house.decision(on: outcome, proof) == "known \(sold.id)")
        }
    }

    /// By the receipt that Apple was asked about, not by what somebody wrote around it.
    @Test func whoSendsADecidedAnswerAgainIsToldWhatIsRecorded() async throws {
        try await WorkHouse().open { house in
            let sold = try house.buy("pro.monthly")
            let proof = Self.answer(around: try house.receipt())
            let outcome = try await house.submit(proof)
            try await house.work()
            #expect(try await house.submission(outcome).settlement?.verdict == "test_signed")
            #expect(try await house.decision(on: outcome, proof) == "known \(sold.id)")
        }
    }

    /// An answer without a receipt in it: Apple is asked about each purchase that it names, and what it goes on not to know is
    /// none.
    @Test func eachPurchaseOfAnUnsignedAnswerIsAskedAbout() async throws {
        try await WorkHouse().open { house in
            let sold = try ["coins.100", "sword", "pro.monthly"].map { try house.buy($0) }
            let unknown = try #require(TransactionID(number: 888_888_888_888))
            let proof = Self.answer(naming: [sold[0].id, sold[1].id, unknown, sold[2].id, sold[0].id])
            house.script.set("/inApps/v1/transactions/\(sold[2].id)", HTTPResponse(.internalServerError))
            let outcome = try await house.submit(proof)
            try await house.work()
            // What was found is not held up by the rest.
            #expect(try await house.recorded(sold[0].id)?.customer?.text == "ann")
            #expect(try await house.submission(outcome).settlement == nil)
            house.script.set("", nil)
            house.pass(.seconds(60))
            try await house.work()
            for sold in sold { #expect(try await house.recorded(sold.id)?.customer?.text == "ann") }
            #expect(house.calls.values.count == 4 + 4)
            #expect(try await house.submission(outcome).settlement == nil)
            for _ in 0..<30 {
                house.pass(.seconds(60))
                try await house.work()
            }
            #expect(try await house.submission(outcome).settlement?.verdict == "test_signed")
            #expect(house.calls.values.count <= 4 * 10)
            let told = sold.map { "\($0.id)" }.joined(separator: " ")
            #expect(try await house.decision(on: outcome, proof) == "known \(told)")
        }
    }

    /// One of them Apple may know some seconds later than the others, or answer with what does not verify.
    @Test(arguments: [unknown, HTTPResponse(.ok, body: Array(#"{"signedTransactionInfo":5}"#.utf8))])
    func whatAppleDoesNotTellBesideOthersIsAskedAboutAgain(trouble: HTTPResponse) async throws {
        try await WorkHouse().open { house in
            let sold = try ["sword", "coins.100", "pro.monthly"].map { try house.buy($0) }
            house.script.set("/inApps/v1/transactions/\(sold[1].id)", trouble)
            let outcome = try await house.submit(Self.answer(naming: sold.map(\.id)))
            try await house.work()
            for sold in [sold[0], sold[2]] {
                #expect(try await house.recorded(sold.id)?.customer?.text == "ann")
            }
            #expect(try await house.recorded(sold[1].id) == nil)
            #expect(try await house.submission(outcome).settlement == nil)
            house.script.set("", nil)
            house.pass(.seconds(60))
            try await house.work()
            #expect(try await house.recorded(sold[1].id)?.customer?.text == "ann")
            #expect(try await house.submission(outcome).settlement?.verdict == "test_signed")
        }
    }

    /// What somebody made up costs no more calls than a bare number; and of a real one no more than some.
    @Test func ofAnAnswerThatNamesManyOnlySomeAreAskedAbout() async throws {
        try await WorkHouse().open { house in
            let made = (1...500).compactMap { TransactionID(number: 888_000_000_000 + $0) }
            let forged = try await house.submit(Self.answer(naming: made))
            for _ in 0..<30 {
                try await house.work()
                house.pass(.seconds(60))
            }
            #expect(try await house.submission(forged).settlement?.verdict == "not_yours")
            // As often as one, and once some of the others.
            #expect(house.calls.values.count <= 2 * (9 + 5))
            let before = house.calls.values.count
            let padded = try await house.submit(Self.answer(naming: [try house.buy("sword").id] + made))
            try await house.work()
            #expect(try await house.submission(padded).settlement?.verdict == "test_signed")
            #expect(house.calls.values.count - before == 50)
        }
    }

    /// A receipt in which the purchase does not stand yet: Apple may have a newer one, and if not, nothing is owed.
    @Test func anEmptyReceiptIsLookedIntoForAWhile() async throws {
        try await WorkHouse().open { house in
            let outcome = try await house.submit(house.receipt())
            for turn in 1...12 {
                try await house.work()
                #expect(try await house.submission(outcome).settlement?.verdict == (turn < 12 ? nil : "test_signed"))
                house.pass(.seconds(3_600))
            }
            #expect(house.calls.values.count == 12)
            #expect(try await house.deadLetters() == [])
        }
    }

    /// Nothing stands in it by which what Apple has told of it could be found, but whose it is.
    @Test func whoSendsAnEmptyReceiptAgainIsToldWhatIsRecordedOfHer() async throws {
        try await WorkHouse().open { house in
            let receipt = try house.receipt()
            let outcome = try await house.submit(receipt)
            for _ in 0..<12 {
                #expect(try await house.decision(on: outcome, receipt) == nil)
                try await house.work()
                house.pass(.seconds(3_600))
            }
            #expect(try await house.decision(on: outcome, receipt) == "nothing")
            let sold = try house.buy("coins.100")
            _ = try await house.submit(try house.receipt())
            #expect(try await house.decision(on: outcome, receipt) == "known \(sold.id)")
            #expect(try await house.decision(on: outcome, receipt, of: nil) == nil)
        }
    }

    /// What only Apple's answer told of is in what is answered, too.
    @Test func whoSendsAnOldReceiptAgainIsToldOfTheRenewals() async throws {
        try await WorkHouse().open { house in
            let sold = try house.buy("pro.monthly")
            let proof = Self.answer(around: try house.receipt())
            house.pass(.seconds(40 * 86_400))
            let outcome = try await house.submit(proof)
            try await house.work()
            let owner = SimulatedStore.Owner(customer: "anna", app: DemoCatalogue.bundleID)
            let bought = house.simulator.read { $0.transactions(of: owner).map(\.id) }
            #expect(bought.count > 1 && bought.contains(sold.id))
            let told = bought.sorted().map { "\($0)" }.joined(separator: " ")
            #expect(try await house.decision(on: outcome, proof) == "known \(told)")
        }
    }

    /// An answer of Apple's about a subscription brings what was renewed since.
    @Test func anOldAnswerBringsAllThatApplesHasSince() async throws {
        try await WorkHouse().open { house in
            let sold = try house.buy("pro.monthly")
            let outcome = try await house.submit(Self.answer(around: house.receipt()))
            house.pass(.seconds(40 * 86_400))
            try await house.work()
            #expect(try await house.submission(outcome).settlement?.verdict == "test_signed")
            let (app, ann) = (house.app.id, try #require(CustomerID("ann")))
            let page = try await house.store.read { reader throws(StoreFailure) in
                try reader.transactions(app: app, customer: ann, order: .oldestFirst, after: nil, limit: 10)
            }
            let owner = SimulatedStore.Owner(customer: "anna", app: DemoCatalogue.bundleID)
            let bought = house.simulator.read { $0.transactions(of: owner).map(\.id) }
            #expect(bought.count > 1)
            #expect(Set(page.transactions.map(\.id)) == Set(bought))
            #expect(page.transactions.allSatisfy { $0.transaction.originalID == sold.id })
        }
    }

    /// Hours without Apple: nothing is lost, nothing is refused, and nobody asks without end.
    @Test(arguments: Trouble.allCases)
    func whateverAppleSuffersFromEndsWell(trouble: Trouble) async throws {
        try await WorkHouse().open { house in
            let sold = try house.buy("pro.monthly")
            // One that needs the Server API, one that needs verifyReceipt.
            let number = try await house.submit(Array("\(sold.id)".utf8), customer: "bob")
            let receipt = try await house.submit(Self.answer(around: house.receipt()), customer: "bob")
            house.chaos.set(trouble.always)
            // Six hours, looked at every minute.
            for _ in 0..<360 {
                try await house.work()
                house.pass(.seconds(60))
            }
            #expect(try await house.submission(receipt).settlement == nil)
            // A quarter of a minute, then twice as long, then every half hour.
            #expect(house.calls.values.count <= 2 * 40, "\(house.calls.values.count) calls")
            house.chaos.set(.none)
            // One asks first whether Apple is back; the others hear of it.
            for _ in 0..<4 {
                house.pass(.seconds(3_600))
                try await house.work()
            }
            #expect(try await house.submission(number).settlement?.verdict == "test_signed")
            #expect(try await house.submission(receipt).settlement?.verdict == "test_signed")
            #expect(try await house.recorded(sold.id)?.customer?.text == "bob")
            #expect(try await house.deadLetters() == [])
        }
    }

    @Test func withoutAKeyItWaitsAndAsksNobody() async throws {
        try await WorkHouse(hasKey: false).open { house in
            let sold = try house.buy("coins.100")
            let outcome = try await house.submit(Array("\(sold.id)".utf8))
            for _ in 0..<5 {
                try await house.work()
                house.pass(.seconds(3_600))
            }
            #expect(try await house.submission(outcome).settlement == nil)
            #expect(house.calls.values.isEmpty)
            #expect(try await house.deadLetters() == [])
        }
    }

    @Test func aForeignReceiptIsRefusedByWhatAppleSays() async throws {
        try await WorkHouse().open { house in
            // An answer that somebody took from another store: a number that is nobody's.
            let outcome = try await house.submit(Self.answer(around: Array("no receipt at all".utf8)))
            for _ in 0..<25 {
                try await house.work()
                house.pass(.seconds(3_600))
            }
            let settlement = try await house.submission(outcome).settlement
            #expect(settlement != nil)
            #expect(settlement?.verdict != "genuine")
        }
    }

    /// An answer of verifyReceipt that somebody submits, with numbers alone.
    static func answer(naming ids: [TransactionID]) -> [UInt8] {
        JSONWriter.object { json in
            json.member("status", 0)
            json.member("environment", "Production")
            json.array("latest_receipt_info") { json in
                for id in ids {
                    json.object { json in
                        json.member("transaction_id", "\(id)")
                        json.member("product_id", "com.example.demo.coins")
                        json.member("purchase_date_ms", "1767225600000")
                        json.member("purchase_date", "2026-01-01 00:00:00 Etc/GMT")
                        json.member("original_purchase_date", "2026-01-01 00:00:00 Etc/GMT")
                        json.member("quantity", "1")
                    }
                }
            }
        }
    }

    /// An answer of verifyReceipt that somebody submits: unsigned, but it carries what to ask with.
    static func answer(around receipt: [UInt8]) -> [UInt8] {
        JSONWriter.object { json in
            json.member("status", 0)
            json.member("environment", "Production")
            json.member(
                "latest_receipt",
                String(decoding: Base64.encode(receipt, .standard, isPadded: true), as: UTF8.self)
            )
            json.array("latest_receipt_info") { json in
                json.object { json in
                    json.member("transaction_id", "888888888888")
                    json.member("product_id", "com.example.demo.coins")
                    json.member("purchase_date_ms", "1767225600000")
                    json.member("quantity", "1")
                }
            }
        }
    }
}

extension WorkHouse {
    /// What whoever sends a kept proof again is told, in words; `nil` while it waits.
    func decision(
        on kept: Outcome,
        _ proof: [UInt8],
        of customer: String? = "ann"
    ) async throws -> String? {
        let submission = Submission(app: app, bytes: proof, customer: customer.flatMap { CustomerID($0) })
        guard let id = kept.pendingID, let outcome = try await pipeline.decision(on: id, for: submission) else {
            return nil
        }
        guard case .recorded(let decision) = outcome else { return outcome.word }
        return "\(outcome.word) \(decision.outcomes.map { "\($0.recorded.id)" }.joined(separator: " "))"
    }
}
