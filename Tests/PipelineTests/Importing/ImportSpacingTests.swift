import Jobs
import Pipeline
import PurchaseModel
import Storage
import TestSupport
import Testing
import Verification

/// When Apple is asked what imports leave to it: of all an app's sources one after the other, whoever reads them and whenever.
@Suite struct ImportSpacingTests {
    private static let spacing = Duration.seconds(2)

    private static func importer(_ house: WorkHouse, _ due: Noted<Timestamp>) throws -> Importer {
        let queue = house.queue
        return Importer(
            verifier: try PipelineHouse.verifier(),
            store: house.store,
            app: house.app,
            delivery: .elsewhere,
            clock: house.clock,
            lanes: 2,
            spacing: spacing,
            reach: .everything
        ) { submission, moment, write throws(StoreFailure) in
            due.note(moment)
            try queue.enqueue(ImportedProofDecision(submission), due: moment, in: write)
        }
    }

    private static func rows(_ numbers: Range<Int64>) -> [ImportRow] {
        numbers.map { ImporterTests.row($0, Array("\(2_000_000_000_000_000 + $0)".utf8)) }
    }

    @Test func sourcesAreAskedAboutOneAfterTheOther() async throws {
        let (house, due) = (try WorkHouse(), Noted<Timestamp>())
        let (first, second) = (try Self.importer(house, due), try Self.importer(house, due))
        let begun = try await first.take(
            Self.rows(0..<3),
            after: try await first.progress(of: ImporterTests.id(1)),
            report: nil
        ).progress
        // Another process reads another source, at the same time.
        _ = try await second.take(
            Self.rows(3..<6),
            after: try await second.progress(of: ImporterTests.id(2)),
            report: nil
        )
        let more = try await first.take(Self.rows(6..<8), after: begun, report: nil).progress
        let start = WorkHouse.start
        #expect(due.values == (0..<8).map { start.advanced(by: Self.spacing * $0) })
        #expect(try await first.questionsLast() == Self.spacing * 8)
        // One that was cut off goes on a day later: what it asks then is not overdue.
        house.pass(.seconds(86_400))
        #expect(try await first.questionsLast() == .zero)
        _ = try await Self.importer(house, due).take(Self.rows(8..<11), after: more, report: nil)
        let later = start.advanced(by: .seconds(86_400))
        #expect(due.values.suffix(3) == (0..<3).map { later.advanced(by: Self.spacing * $0) })
        #expect(try await second.questionsLast() == Self.spacing * 3)
    }
}
