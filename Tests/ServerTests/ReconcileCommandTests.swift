import Encoding
import Foundation
import Pipeline
import PurchaseModel
import Storage
import TestSupport
import Testing

/// `assay reconcile` as an operator runs it; what it finds is for the pipeline's tests.
@Suite(.enabled(if: Program.isBuilt, Program.absence)) struct ReconcileCommandTests {
    @Test(arguments: [
        (words: [], says: "--since is needed"),
        (["--since", "yesterday"], "--since is a moment"),
        (["--since", "2026-01-02T00:00:00Z", "--until", "2026-01-01T00:00:00Z"], "ends before it begins"),
        (["--since", "2026-01-02T00:00:00Z", "--app", "dmeo"], "has no app dmeo; did you mean \"demo\"? (there is"),
        (["--since", "2026-01-02T00:00:00Z", "--patience", "0"], "--patience is a number of minutes"),
        (["--since", "2026-01-02T00:00:00Z", "--refunds", "x"], "--refunds is a number of days"),
        (["--since", "2026-01-02T00:00:00Z"], "there is nothing to ask Apple with"),
    ])
    func whatCannotBeDoneIsSaid(words: [String], says: String) async throws {
        try await ServerFolder.with { folder in
            #expect(try await Program.run(["migrate", "--config", folder.configuration]).code == 0)
            let run = try await Program.run(["reconcile", "--config", folder.configuration] + words)
            #expect(run.code == 2)
            #expect(run.errorText.contains(says), "\(run.errorText)")
        }
    }

    /// A subscription there is none, and nothing waits.
    @Test func whereThereIsNothingToReadItEnds() async throws {
        try await ServerFolder.with { folder in
            let server = try await folder.serve()
            #expect(await server.post(Purchase.body(try Purchase.jws(1)))?.status == 200)
            server.stop()
            #expect(await server.exitCode() == 0)
            try Self.addSecret(to: folder)
            let run = try await Program.run([
                "reconcile", "--config", folder.configuration, "--since", "2026-01-02T00:00:00Z", "--json",
            ])
            #expect(run.code == 0, "\(run.errorText)")
            let found = try #require(try JSONDocument(run.output.dropLast()).root.object)
            #expect(found["is_done"]?.bool == true)
            #expect(found["windows"]?.int64 == 0)
            #expect(found["new_transactions"]?.int64 == 0)
        }
    }

    /// What Apple would be told of customers stands in the ledger as at the copy. The subscription is what it works on.
    @Test func whatIsSentToAppleIsLeftToServers() async throws {
        try await ServerFolder.with { folder in
            let server = try await folder.serve()
            var period = try Purchase.transaction(1, product: "pro.monthly")
            period.kind = .autoRenewable
            period.expiresAt = period.purchasedAt.advanced(by: .seconds(30 * 86_400))
            #expect(await server.post(Purchase.body(try Purchase.jws(period)))?.status == 200)
            server.stop()
            #expect(await server.exitCode() == 0)
            try Self.addSecret(to: folder)
            let left = Reconciliation.leftToServers.sorted()
            let moment = TestAuthority.moment
            let jobs = left.enumerated().map { place, kind in
                NewJob(id: JobID(checked: "job_\(place)"), kind: kind, payload: [], due: moment, createdAt: moment)
            }
            let ledger = try SQLiteStore.open(folder: folder.data)
            try await ledger.write { write throws(StoreFailure) in
                for job in jobs { _ = try write.enqueue(job) }
            }
            await ledger.close()
            let run = try await Program.run([
                "reconcile", "--config", folder.configuration, "--since", "2020-01-01T00:00:00Z", "--json",
            ])
            #expect(run.code == 0, "\(run.errorText)")
            let report = try #require(try JSONDocument(run.output.dropLast()).root.object)
            #expect(report["subscriptions"]?.int64 == 1)
            let after = try SQLiteStore.open(folder: folder.data)
            let found = try await after.read { reader throws(StoreFailure) in
                try jobs.map { job throws(StoreFailure) in try reader.job(job.id) }
            }
            await after.close()
            #expect(found.count == 2)
            #expect(found.allSatisfy { $0?.state == .pending })
        }
    }

    /// Without a key there is no history of notifications to read.
    private static func addSecret(to folder: ServerFolder) throws {
        try ServerFolder.write(Array("0123456789abcdef0123456789abcdef".utf8), folder.path + "/secret", isSecret: true)
        let text = String(decoding: try Data(contentsOf: URL(filePath: folder.configuration)), as: UTF8.self)
        let store = "\"app_store\":{\"shared_secret_file\":\"\(folder.path)/secret\"},\"id\":\"demo\""
        try ServerFolder.write(
            Array(text.replacing("\"id\":\"demo\"", with: store).utf8),
            folder.configuration
        )
    }
}
