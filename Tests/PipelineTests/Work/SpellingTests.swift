import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Simulator
import Storage
import TestSupport
import Testing

/// What waits is named by what Apple is asked about: however it is written, it waits once.
@Suite struct SpellingTests {
    private static func kept(_ store: any Store) async throws -> [KeptSubmission] {
        try await store.read { reader throws(StoreFailure) in
            try reader.pendingSubmissions(app: nil, after: nil, limit: SubmissionPage.limitMax).submissions
        }
    }

    /// While it waits, and once it is decided: one submission, one job, one event.
    @Test func oneNumberInAHundredSpellingsWaitsOnce() async throws {
        try await WorkHouse().open { house in
            let unknown = HTTPResponse(.notFound, body: Array(#"{"errorCode":4040010}"#.utf8))
            house.script.set("/inApps/v1/transactions/", unknown)
            let number = Array("170000029449420".utf8)
            let others = [
                Array("\"170000029449420\"".utf8), Base64.encode(number, .standard, isPadded: true),
                ProofDecisionTests.answer(naming: [try #require(TransactionID("170000029449420"))]),
            ]
            let spellings = (0..<100).map { [UInt8](repeating: 0x20, count: $0) + number } + others
            let first = try #require(try await house.submit(spellings[0], isFromShop: false).pendingID)
            for spelling in spellings.prefix(50) + others {
                #expect(try await house.submit(spelling, isFromShop: false).pendingID == first)
            }
            for _ in 0..<30 {
                try await house.work()
                house.pass(.seconds(60))
            }
            for spelling in spellings {
                #expect(try await house.submit(spelling, isFromShop: false).pendingID == first)
            }
            let (figures, events) = try await house.store.read { reader throws(StoreFailure) in
                let filter = EventFilter(realms: [Realm(environment: .production, isTestSigned: false)])
                let page = try reader.events(app: house.app.id, after: .start, where: filter, limit: 1_000)
                return (try reader.figures(), page.events.map(\.event.type))
            }
            #expect(figures.submissions == 1)
            #expect(events == ["submission.settled"])
        }
    }

    /// A list of numbers is the same in another order, and another with one more; of another customer it is another.
    @Test func aListIsNamedByWhatStandsInIt() async throws {
        try await PipelineHouse().open { house in
            let numbers = (1...3).compactMap { TransactionID(number: 170_000_029_449_420 + $0) }
            let lists = [numbers, numbers.reversed(), [numbers[1], numbers[0], numbers[2], numbers[0]]]
            var ids = Set<SubmissionID?>()
            for list in lists {
                ids.insert(try await house.submit(ProofDecisionTests.answer(naming: list), isFromShop: false).pendingID)
            }
            #expect(ids.count == 1 && ids.first != .some(nil))
            ids.insert(
                try await house.submit(ProofDecisionTests.answer(naming: Array(numbers.dropLast())), isFromShop: false)
                    .pendingID
            )
            ids.insert(
                try await house.submit(ProofDecisionTests.answer(naming: numbers), customer: "bob", isFromShop: false)
                    .pendingID
            )
            #expect(ids.count == 3)
        }
    }

    /// A receipt with other line breaks, or as a text of JSON, is the same receipt.
    @Test func aReceiptIsNamedByItsBytes() async throws {
        try await PipelineHouse().open { house in
            let bytes = try StoreAuthority.one.get().receipt(Proofs.transaction(1))
            let text = Base64.encode(bytes, .standard, isPadded: true)
            var spellings = [bytes, text, Array("\"".utf8) + text + Array("\"".utf8)]
            for width in [16, 60, 64, 76] {
                let starts = stride(from: 0, to: text.count, by: width)
                let lines = starts.map { Array(text[$0..<min($0 + width, text.count)]) }
                spellings.append(Array(lines.joined(separator: [0x0D, 0x0A])))
                spellings.append(Array(lines.joined(separator: [0x0A])))
            }
            var ids = Set<SubmissionID?>()
            for spelling in spellings { ids.insert(try await house.submit(spelling, isFromShop: false).pendingID) }
            #expect(ids.count == 1 && ids.first != .some(nil))
            #expect(try await Self.kept(house.store).map(\.submission.proof) == [bytes])
            // Around it Apple alone decides, and another one is another.
            for around: [UInt8] in [[], [0x20], [0x0A]] {
                ids.insert(
                    try await house.submit(around + ProofDecisionTests.answer(around: bytes), isFromShop: false)
                        .pendingID
                )
            }
            #expect(ids.count == 2)
            let other = try StoreAuthority.one.get().receipt(Proofs.transaction(2))
            #expect(try await !ids.contains(house.submit(other, isFromShop: false).pendingID))
        }
    }

    /// The shop may have Apple asked once more, by a newer answer; and what it waits for already, its app's key finds.
    @Test func theShopsOwnIsNamedAsItIsWritten() async throws {
        try await PipelineHouse().open { house in
            let number = Array("170000029449420".utf8)
            let first = try await house.submit(number).pendingID
            #expect(try await house.submit([0x20] + number).pendingID != first)
            #expect(try await house.submit(number, isFromShop: false).pendingID == first)
            let receipt = Base64.encode(
                try StoreAuthority.one.get().receipt(Proofs.transaction(1)),
                .standard,
                isPadded: true
            )
            let kept = try await house.submit(receipt).pendingID
            #expect(kept != nil && kept != first)
            #expect(try await house.submit(receipt, isFromShop: false).pendingID == kept)
            #expect(try await house.submit(receipt, customer: "bob", isFromShop: false).pendingID != kept)
        }
    }

    /// What is signed and names no store is no number: a certificate or a store that is added decides it by itself.
    @Test func whatIsSignedIsNoNumber() async throws {
        try await PipelineHouse().open { house in
            let token = try #require(try Proofs.withoutStore().last).proof
            let number = Array("\(try Proofs.transaction(7).id)".utf8)
            let ids = [
                try await house.submit(number, isFromShop: false).pendingID,
                try await house.submit(token, isFromShop: false).pendingID,
                try await house.submit(token + [0x20, 0x0A], isFromShop: false).pendingID,
            ]
            #expect(ids[0] != nil && ids[0] != ids[1] && ids[1] == ids[2])
        }
    }
}
