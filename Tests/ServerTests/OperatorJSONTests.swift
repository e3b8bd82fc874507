import Encoding
import Foundation
import Storage
import TestSupport
import Testing

/// What scripts read of commands that look after a ledger, or a configuration: `--json`.
@Suite(.enabled(if: Program.isBuilt, Program.absence)) struct OperatorJSONTests {
    private static func json(_ words: [String], code: Int32 = 0) async throws -> JSONObject {
        let run = try await Program.run(words + ["--json"])
        #expect(run.code == code, "\(run.errorText)")
        #expect(run.errors == [])
        #expect(run.output.count { $0 == 0x0A } == 1 && run.output.last == 0x0A)
        return try #require(try JSONDocument(run.output.dropLast()).root.object)
    }

    private static func record(_ count: Int64, _ folder: ServerFolder) async throws {
        let server = try await folder.serve()
        for number in 1...count { _ = await server.post(Purchase.body(try Purchase.jws(number))) }
        server.stop()
        #expect(await server.exitCode() == 0)
    }

    @Test func migrationsAreNamed() async throws {
        try await TemporaryFolder.with { folder in
            let (words, names) = (["migrate", "--data", folder + "/ledger"], SQLiteStore.migrationNames)
            for (more, isDry) in [(["--dry-run"], true), ([], false)] {
                let found = try await Self.json(words + more)
                #expect(found["is_dry_run"]?.bool == isDry && found["is_up_to_date"]?.bool == !isDry)
                #expect(found["migrations"]?.array?.map { $0.string } == names)
            }
            let again = try await Self.json(words + ["--dry-run"])
            #expect(again["is_up_to_date"]?.bool == true && again["migrations"]?.array?.isEmpty == true)
        }
    }

    @Test func aCopyIsToldAndTriedAndRestored() async throws {
        try await ServerFolder.with { folder in
            try await Self.record(3, folder)
            let (file, data) = (folder.path + "/copy.sqlite", folder.path + "/other")
            let made = try await Self.json(["backup", "--data", folder.data, "--to", file])
            let digest = String(decoding: try Data(contentsOf: URL(filePath: file + ".sha256")), as: UTF8.self)
            #expect(made["file"]?.string == file && made["sha256"]?.string == String(digest.prefix(64)))
            let size = try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int64
            #expect(made["bytes"]?.int64 == size)
            let tried = try await Self.json(["backup", "--verify", file])
            #expect(tried["is_sound"]?.bool == true && tried["transactions"]?.int64 == 3)
            let restored = try await Self.json(["restore", "--from", file, "--data", data])
            #expect(restored["is_restored"]?.bool == true && restored["data"]?.string == data)
            #expect(restored["newest_proof_at"]?.string != nil)
            #expect(restored["is_sound"]?.bool == true && restored["fulfilments"]?.int64 == 3)
        }
    }

    @Test(.enabled(if: Tampering.hasPython, "python3 is missing: nothing changes a file"))
    func whatIsRebuiltIsListed() async throws {
        try await ServerFolder.with { folder in
            try await Self.record(2, folder)
            let words = ["rebuild", "--config", folder.configuration]
            let same = try await Self.json(words)
            #expect(same["differences"]?.int64 == 0 && same["transactions"]?.int64 == 2)
            #expect(same["listed"]?.array?.isEmpty == true && same["is_applied"]?.bool == false)
            try Tampering.run(
                "UPDATE fulfilments SET state = 'waiting', reason = 'no_customer' WHERE fence = 0 OR fence > 0",
                folder
            )
            let other = try await Self.json(words, code: 1)
            let count = try #require(other["differences"]?.int64) + (try #require(other["left"]?.int64))
            #expect(count == 2 && other["listed"]?.array?.count == 2)
            let first = try #require(other["listed"]?.array?.first { _ in true }?.object)
            #expect(first["kind"]?.string == "fulfilment" && first["app"]?.string == "demo")
            #expect(first["environment"]?.string == "sandbox" && first["test_signed"]?.bool == true)
            #expect(first["transaction_id"]?.string?.hasPrefix("2000000000000") == true)
        }
    }

    @Test func anExportTellsWhatItWrote() async throws {
        try await ServerFolder.with { folder in
            try await Self.record(3, folder)
            let (file, words) = (folder.path + "/demo.jsonl", ["export", "--data", folder.data, "--app", "demo"])
            let found = try await Self.json(words + ["--to", file])
            let lines = try Data(contentsOf: URL(filePath: file)).split(separator: 0x0A)
            #expect(found["file"]?.string == file && found["rows"]?.int64 == Int64(lines.count - 1))
            #expect(found["counts"]?.object?["transaction"]?.int64 == 3)
            let last = try #require(lines.last)
            let end = try #require(try JSONDocument(Array(last)).root.object)
            #expect(end["kind"]?.string == "end")
            for name in ["rows", "unreadable", "events_after"] {
                let number = try #require(found[name]?.int64, "\(name)")
                #expect(number == end[name]?.int64, "\(name)")
            }
            #expect(found["left_out"]?.array?.isEmpty == true)
            // On standard output the rows are.
            let mixed = try await Program.run(words + ["--json"])
            #expect(mixed.code == 2 && mixed.output == [] && mixed.errorText.contains("--json needs --to"))
        }
    }

    @Test func aConfigurationIsToldWithItsOrigins() async throws {
        try await ServerFolder.with { folder in
            let file = folder.configuration
            let check = try await Self.json(["config", "check", "--config", file])
            #expect(check["is_good"]?.bool == true && check["faults"]?.array?.isEmpty == true)
            let shown = try await Self.json(["config", "print", "--config", file, "--listen", "127.0.0.1:1"])
            let settings = try #require(shown["settings"]?.array).compactMap(\.object)
            func setting(_ path: String) -> JSONObject? { settings.first { $0["path"]?.string == path } }
            let listen = try #require(setting("listen"))
            #expect(listen["value"]?.string == "127.0.0.1:1" && listen["origin"]?.string == "flag")
            #expect(listen["name"]?.string == "--listen")
            #expect(setting("data")?["origin"]?.string == "file" && setting("data")?["name"]?.string == file)
            #expect(setting("database.url")?["value"]?.isNull == true)
            #expect(setting("database.url")?["origin"]?.string == "default")
            #expect(setting("apps[0].accept_test_signed")?["value"]?.bool == true)
            #expect(setting("apps[0].apple_id")?["value"]?.string == "any")

            let words = ["config", "check", "--config", file, "--limits-in-flight", "none"]
            let refused = try await Self.json(words, code: 2)
            let flagged = try #require(refused["faults"]?.array).compactMap(\.object)
            #expect(flagged.map { $0["path"]?.string } == ["limits.in_flight"])
            #expect(flagged.map { $0["origin"]?.string } == ["flag"])
            #expect(flagged.map { $0["name"]?.string } == ["--limits-in-flight"])

            try ServerFolder.write(Array(#"{"listen": 5, "aps": []}"#.utf8), file)
            for verb in ["check", "print"] {
                let bad = try await Self.json(["config", verb, "--config", file], code: 2)
                #expect(bad["is_good"]?.bool == false)
                let faults = try #require(bad["faults"]?.array).compactMap(\.object)
                let unknown = try #require(faults.first { $0["path"]?.string == "aps" })
                #expect(unknown["origin"]?.string == "file" && unknown["name"]?.string == file)
                #expect(unknown["message"]?.string?.hasPrefix("unknown") == true)
            }
        }
    }
}
