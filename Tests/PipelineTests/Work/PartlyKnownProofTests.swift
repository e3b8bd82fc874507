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
}
