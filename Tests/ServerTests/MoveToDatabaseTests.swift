import Encoding
import Foundation
import PurchaseModel
import TestSupport
import Testing

/// A ledger moves from a folder to a database as operations.md says, with a shop that keeps the fences of what it delivers.
@Suite(.enabled(if: Program.isBuilt, Program.absence), .serialized) struct MoveToDatabaseTests {
    /// What the shop has delivered, by what it was told: it forgets the ids of events, and no fence.
    private struct Shelf {
        private(set) var fences: [String: Int64] = [:]
        private(set) var states: [String: String] = [:]
        private(set) var done = 0

        mutating func read(_ events: [JSONObject]) throws {
            for event in events {
                let delivery = event["data"]?.object?["delivery"]?.object
                // What gives nothing has no fence.
                guard let delivery, let fence = delivery["fence"]?.int64 else { continue }
                let id = try #require(delivery["delivery_id"]?.string)
                guard fence > fences[id] ?? 0 else { continue }
                (fences[id], states[id]) = (fence, delivery["state"]?.string)
                done += 1
            }
        }
    }

    @Test func intoAnotherFolder() async throws {
        try await ServerFolder.with { try await Self.move(to: $0, flags: [], place: ["--data", $0.data]) }
    }

    @Test(.enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"))
    func intoADatabase() async throws {
        try await SharedDatabaseTests.withDatabase { folder, flags in
            #expect(try await Program.run(["migrate"] + flags).code == 0)
            try await Self.move(to: folder, flags: flags, place: flags)
        }
    }

    /// The sandbox is all that the folder's app takes: its purchases are delivered to these customers.
    private static func deliver(_ folder: ServerFolder) throws {
        let text = String(decoding: try Data(contentsOf: URL(filePath: folder.configuration)), as: UTF8.self)
        let changed = text.replacing(
            #""id":"demo""#,
            with: #""id":"demo","sandbox":{"customers":["customer-1","customer-2"]}"#
        )
        #expect(changed != text)
        try ServerFolder.write(Array(changed.utf8), folder.configuration)
    }

    private static func refund(_ number: Int64, _ percentage: Int?, after seconds: Int64) throws -> String {
        var sold = try Purchase.transaction(number)
        sold.signedAt = sold.signedAt.advanced(by: .seconds(seconds))
        sold.revocation = Revocation(at: sold.signedAt, reason: 0, percentage: percentage)
        return try Purchase.jws(sold)
    }

    private static func events(_ place: [String]) async throws -> [JSONObject] {
        let run = try await Program.run(["export", "--app", "demo", "--only", "event"] + place)
        #expect(run.code == 0, "\(run.errorText)")
        return try run.output.split(separator: 0x0A).dropLast().map {
            try #require(try JSONDocument(Array($0)).root.object)
        }
    }

    private static func served(_ folder: ServerFolder, _ flags: [String], _ bodies: [[UInt8]]) async throws -> [String]
    {
        let server = try await folder.serve(flags)
        var results: [String] = []
        for body in bodies { results.append(await server.post(body)?.result ?? "none") }
        server.stop()
        #expect(await server.exitCode() == 0)
        return results
    }

    private static func move(to target: ServerFolder, flags: [String], place: [String]) async throws {
        try await ServerFolder.with { source in
            for folder in [source, target] { try deliver(folder) }
            // One is nobody's yet: an import knows no customer of it, and nobody has delivered it.
            let nobodys = source.path + "/nobodys.txt"
            try ServerFolder.write(Array(try Purchase.jws(3).utf8), nobodys)
            let words = ["import", "--config", source.configuration, "--app", "demo", "--deliver", "grant", nobodys]
            #expect(try await Program.run(words).code == 0)
            let first = [
                Purchase.body(try Purchase.jws(1)), Purchase.body(try Purchase.jws(2), customer: "customer-2"),
            ]
            let bodies = first + [Purchase.body(try refund(1, 40_000, after: 60))]
            #expect(try await served(source, [], bodies).allSatisfy { $0 != "none" })
            var shelf = Shelf()
            try shelf.read(try await events(["--data", source.data]))
            #expect(shelf.fences.values.sorted() == [1, 2] && shelf.done == 3)
            // The move.
            let file = source.path + "/all.jsonl"
            let export = try await Program.run(["export", "--data", source.data, "--app", "demo", "--to", file])
            #expect(export.code == 0, "\(export.errorText)")
            let taken = try await Program.run(
                ["import", "--config", target.configuration, "--app", "demo", "--from", "assay", file] + flags
            )
            #expect(taken.code == 0, "\(taken.errorText) \(taken.text)")
            #expect(try await events(place).isEmpty)
            // What happens since is told by what the shop does not know yet.
            let later = [Purchase.body(try refund(1, nil, after: 120)), Purchase.body(try Purchase.jws(3))]
            #expect(try await served(target, flags, later).allSatisfy { $0 != "none" })
            try shelf.read(try await events(place))
            #expect(shelf.fences.values.sorted() == [1, 1, 3] && shelf.done == 5)
            #expect(shelf.states.values.sorted() == ["granted", "granted", "reversed"])
            let check = try await Program.run(["check"] + place)
            #expect(check.code == 0, "\(check.text)")
        }
    }
}
