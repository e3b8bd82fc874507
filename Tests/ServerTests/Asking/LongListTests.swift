import Encoding
import Foundation
import Pipeline
import PurchaseModel
import Storage
import Testing

@testable import Server

/// What a server answers piece by piece is asked for to its end.
@Suite(.enabled(if: Program.isBuilt, Program.absence)) struct LongListTests {
    private static let app = AppID(checked: "demo")
    private static let realm = Realm(environment: .sandbox, isTestSigned: true)
    /// Not so long ago that it would be cleared away.
    private static let past = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 - 3_600) * 1_000)

    /// Fills a ledger, and asks a server over it.
    private static func with(
        _ fill: @escaping @Sendable (any StoreTransaction) throws -> Void,
        _ body: (_ run: (_ words: [String]) async throws -> Program.Run) async throws -> Void
    ) async throws {
        try await ServerFolder.with { folder in
            let store = try SQLiteStore.open(folder: folder.data)
            let filled = try await store.write { write throws(StoreFailure) in Result { try fill(write) } }
            try filled.get()
            await store.close()
            let server = try await folder.serve()
            let there = ["--server", "http://127.0.0.1:\(server.port)", "--key-file", folder.path + "/key"]
            try await body { try await Program.run($0 + there) }
            server.stop()
            #expect(await server.exitCode() == 0)
        }
    }

    @Test func allThatWereGivenUpRunAgain() async throws {
        try await Self.with(Self.bury(650)) { run in
            let done = try await run(["jobs", "retry-all", "--kind", CustomerReading.kind, "--json"])
            #expect(done.code == 0, "\(done.errorText)")
            let answers = try done.output.split(separator: 0x0A).map { try JSONDocument(Array($0)).root.object }
            #expect(answers.count == 2)
            #expect(answers.compactMap { $0?["retried"]?.int64 }.reduce(0, +) == 650)
            #expect(answers.last.flatMap { $0?["next"] } == nil)
        }
    }

    private static func bury(_ count: Int64) -> @Sendable (any StoreTransaction) throws -> Void {
        { write in
            for number in 1...count {
                let id = try #require(TransactionID(number: number))
                let job = CustomerReading(.history, of: TransactionKey(app: app, realm: realm, id: id))
                let new = NewJob(
                    id: try #require(JobID("job_\(number)")),
                    kind: CustomerReading.kind,
                    payload: job.payload,
                    due: past,
                    key: job.key,
                    createdAt: past
                )
                _ = try write.enqueue(new)
            }
            let terms = LeaseTerms(owner: LeaseOwner(checked: "w"), duration: .seconds(60), now: past)
            while true {
                let jobs = try write.claimJobs(kinds: [CustomerReading.kind], .sound(limit: 100), terms: terms).jobs
                if jobs.isEmpty { return }
                let dead = jobs.compactMap(\.hold).map { FinishedJob($0, as: .dead(because: "Apple said no")) }
                _ = try write.finishJobs(dead, at: past)
            }
        }
    }

    /// The server looks at 5,000 events for a page: the first two have none of these.
    @Test func nothingIsSaidOnlyWhereThereIsNothing() async throws {
        try await Self.with(Self.tell(10_020, last: "delivery.granted")) { run in
            let list = ["events", "list", "--types", "delivery.granted"]
            let all = try await run(list + ["--all"])
            let lines = all.text.split(separator: "\n")
            #expect(all.code == 0 && lines.count == 2 && lines[1].contains("delivery.granted"), "\(all.text)")
            let page = try await run(list)
            #expect(page.code == 0 && page.output == [] && page.errorText.hasPrefix("more: --after "), "\(page.text)")
            let none = ["events", "list", "--types", "delivery.compensated", "--all"]
            #expect(try await run(none).text == "nothing\n")
            #expect(try await run(none + ["--json"]).output == [])
        }
    }

    private static func tell(_ count: Int64, last: String) -> @Sendable (any StoreTransaction) throws -> Void {
        { write in
            let stream = StreamKey(app: app, realm: realm, customer: CustomerID(checked: "anna"))
            let events = (1...count).map { number in
                EventRow(
                    id: EventRows.id(stream, number),
                    app: app,
                    realm: realm,
                    customer: stream.customer,
                    sequence: number,
                    type: number == count ? last : "purchase.waiting",
                    happenedAt: past,
                    learnedAt: past,
                    data: Array("{}".utf8)
                )
            }
            try write.append(events)
        }
    }
}
