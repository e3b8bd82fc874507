import Encoding
import Foundation
import PurchaseModel
import Storage
import TestSupport
import Testing

@testable import Server

/// `assay import` of a file that was read to its end, and about whose rows Apple was asked.
@Suite(.enabled(if: Program.isBuilt, Program.absence), .serialized) struct ImportAgainTests {
    private static let again = "; it is read again from its first row"

    private typealias Row = (nothing: Int64, other: Int64, refused: Int64, invalid: Int64, since: Int64, says: String)

    /// Besides nine that were recorded. What is `nothing` has those of other stores in it.
    private static let rows: [Row] = [
        (0, 0, 0, 0, 0, "every row was taken; no row is taken again"),
        (2, 2, 0, 0, 0, "every row was taken; no row is taken again"),
        (0, 0, 0, 0, 3, "3 of 9 rows were refused by Apple since\(again)"),
        (4, 1, 0, 0, 0, "3 of 13 rows had no purchase\(again)"),
        (4, 1, 0, 0, 2, "3 of 13 rows had no purchase\(again)"),
        (2, 2, 2, 1, 0, "3 of 14 rows were refused or invalid\(again)"),
        (1, 0, 0, 2, 1, "of 12 rows 2 were refused or invalid, and 1 had no purchase\(again)"),
    ]

    /// An export of ours has rows of other kinds than purchases, which nobody need worry about.
    @Test func whatBecameOfTheRowsIsSaid() throws {
        let id = try #require(ProofDigest([UInt8](repeating: 1, count: 32)))
        let app = try #require(AppID("demo"))
        for row in Self.rows {
            var progress = ImportProgress(id: id, app: app, startedAt: Timestamp(milliseconds: 0))
            progress.counts.recorded = 9
            progress.counts.nothing = row.nothing
            progress.counts.otherStore = row.other
            progress.counts.refused = row.refused
            progress.counts.invalid = row.invalid
            let said = ImportText.ofOneReadBefore(progress, row.since, "a.csv")
            #expect(said == "a.csv was read to its end before, and \(row.says)")
        }
    }

    @Test func whatAppleHasRefusedSinceIsReadAgain() async throws {
        try await ServerFolder.with { folder in
            try await Self.readAgain(folder, []) { try SQLiteStore.open(folder: folder.data) }
        }
    }

    @Test(.enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"))
    func onPostgreSQLToo() async throws {
        try await SharedDatabaseTests.withDatabase { folder, flags in
            try await Self.readAgain(folder, flags) {
                let url = try #require(flags.last)
                let settings = PostgreSQLSettings(url: url) { try? await Task.sleep(for: $0) }
                return try await PostgreSQLStore.open(try #require(settings))
            }
        }
    }

    private static func readAgain(
        _ folder: ServerFolder,
        _ place: [String],
        _ open: () async throws -> any Store
    ) async throws {
        // So that Apple can be asked, which nobody does here.
        try folder.addAppleKey()
        let (file, report) = (folder.path + "/old.csv", folder.path + "/report.csv")
        let rows = "transaction_id,customer_id\n2000000000000001,ann\n2000000000000002,bob\n2000000000000003,cid\n"
        try ServerFolder.write(Array(rows.utf8), file)
        let words = ["import", "--config", folder.configuration, "--app", "demo", "--report", report, file] + place
        #expect(try await Program.run(words).code == 0)
        let whole = try await Program.run(words)
        #expect(whole.errorText.contains("and every row was taken; no row is taken again"), "\(whole.errorText)")

        let store = try await open()
        let pending = try await store.read { reader throws(StoreFailure) in
            try reader.pendingSubmissions(app: nil, after: nil, limit: 20)
        }
        #expect(pending.submissions.count == 3)
        let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
        try await store.write { write throws(StoreFailure) in
            for (kept, verdict) in zip(pending.submissions, ["forged", "genuine"]) {
                let settlement = Settlement(verdict: verdict, at: try write.storeTime(now))
                _ = try write.settlePending(kept.id, as: settlement)
            }
        }
        await store.close()

        let plan = try await Program.run(
            ["import", "--config", folder.configuration, "--app", "demo", "--plan", "--json", file] + place
        )
        #expect(plan.text.contains(#""known":2,"need_apple":1,"#), "\(plan.text)")
        let again = try await Program.run(words)
        #expect(again.code == 0, "\(again.errorText)")
        let sentence = "and 1 of 3 rows were refused by Apple since; it is read again from its first row"
        #expect(again.errorText.contains(sentence), "\(again.errorText)")
        let told = String(decoding: try Data(contentsOf: URL(filePath: report)), as: UTF8.self).split(separator: "\n")
        #expect(told[1].hasPrefix("2,asked,forged,only_an_id,"), "\(told[1])")
        #expect(told.dropFirst(2).allSatisfy { $0.contains(",known,,") }, "\(told)")
        let last = try await Program.run(words)
        #expect(last.errorText.contains("and every row was taken; no row is taken again"), "\(last.errorText)")
    }
}
