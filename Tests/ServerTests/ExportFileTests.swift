import Encoding
import Foundation
import TestSupport
import Testing

@testable import Server

/// The file of an export is whole, or has no name; also where a database, a disk or a signal ends it early.
@Suite(.enabled(if: Program.isBuilt, Program.absence), .serialized) struct ExportFileTests {
    /// A ledger with some hundred purchases: more than a pipe or a buffer holds.
    private static func fill(_ folder: ServerFolder, _ flags: [String] = []) async throws {
        try ServerFolder.write(try ImportSample(rows: 600, seed: 11).bytes, folder.path + "/old.jsonl")
        let words = ["import", "--config", folder.configuration, "--app", "demo"] + flags
        #expect(try await Program.run(words + [folder.path + "/old.jsonl"]).code == 1)
    }

    private static func lines(_ path: String) throws -> [[UInt8]] {
        try Data(contentsOf: URL(filePath: path)).split(separator: 0x0A).map(Array.init)
    }

    @Test func whatIsBegunAnewHasNothingOfBefore() async throws {
        try await TemporaryFolder.with { folder in
            let unfinished = UnfinishedFile(folder + "/all")
            try unfinished.make()
            let file = try ExportFile(unfinished.partPath)
            for text in ["of a first attempt", "whole"] {
                try file.begin()
                #expect(file.write(Array(text.utf8)))
            }
            try file.close()
            try unfinished.finish()
            #expect(FileManager.default.contents(atPath: unfinished.path) == Data("whole".utf8))
        }
    }

    /// It waits at a table that somebody has locked, and meanwhile its session is ended.
    @Test(.enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"), arguments: [true, false])
    func aDatabaseThatIsLostLeavesNoRowTwice(hasFile: Bool) async throws {
        try await SharedDatabaseTests.withDatabase { folder, flags in
            try await Self.fill(folder, flags)
            let export = ["export", "--app", "demo"] + flags
            let whole = folder.path + "/whole.jsonl"
            #expect(try await Program.run(export + ["--to", whole]).code == 0)
            let name = String(flags[1].split(separator: "/").last ?? "")
            let lock = "BEGIN; LOCK TABLE assay.granted_entitlements; SELECT pg_sleep(600)"
            let locker = try ChildProcess(["/usr/bin/psql", flags[1], "-XAtq", "-c", lock]).start()
            defer { kill(locker.id, SIGKILL) }
            _ = try await Self.session("wait_event = 'PgSleep'", name)
            let file = folder.path + "/all.jsonl"
            var process = ChildProcess([Program.path] + export + (hasFile ? ["--to", file] : []))
            process.environment = [:]
            process.output = .file(folder.path + "/out")
            process.errors = .file(folder.path + "/errors")
            let running = try process.start()
            let exit = ProcessExit()
            running.whenEnded { exit.note($0) }
            let first = try await Self.session("wait_event_type = 'Lock'", name)
            if hasFile {
                // The first snapshot may have had more.
                let part = try FileHandle(forWritingTo: URL(filePath: file + ".part"))
                try part.seekToEnd()
                try part.write(contentsOf: Data(repeating: 0x20, count: 4 << 20))
                try part.close()
            }
            try TestDatabase.query("SELECT pg_terminate_backend(\(first), 5000)")
            if hasFile { _ = try await Self.session("wait_event_type = 'Lock'", name) }
            try TestDatabase.query(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)' AND wait_event = 'PgSleep'"
            )
            let code = await exit.code()
            let said = String(decoding: try Data(contentsOf: URL(filePath: folder.path + "/errors")), as: UTF8.self)
            if hasFile {
                #expect(code == 0, "\(said)")
                #expect(try Self.lines(file) == Self.lines(whole))
            } else {
                #expect(code == 2)
                #expect(said.contains("what stands there is not whole"), "\(said)")
            }
        }
    }

    /// The session of the database that is in this state, once there is one.
    private static func session(_ state: String, _ database: String) async throws -> String {
        for _ in 0..<600 {
            let query = "SELECT pid FROM pg_stat_activity WHERE datname = '\(database)' AND \(state)"
            if let found = try TestDatabase.query(query).first { return found }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw TestDatabase.Missing()
    }

    @Test func aDiskThatIsFullLeavesNothing() async throws {
        try await ServerFolder.with { folder in
            try await Self.fill(folder)
            let before = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            // Files of 32 KB at most: a write beyond fails, as on a full disk.
            let limited = "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\""
            let words = ["export", "--data", folder.data, "--app", "demo", "--to", folder.path + "/all.jsonl"]
            let run = try await Program.run(["-c", limited, Program.path] + words, instead: "/bin/sh")
            #expect(run.code == 2)
            #expect(run.errorText.contains("all.jsonl.part: File too large (errno 27)"), "\(run.errorText)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == before)
        }
    }

    @Test func aLedgerThatIsNotThereLeavesNothing() async throws {
        try await ServerFolder.with { folder in
            let words = ["export", "--data", folder.data, "--app", "demo", "--to", folder.path + "/all.jsonl"]
            let run = try await Program.run(words)
            #expect(run.code == 2)
            #expect(!FileManager.default.fileExists(atPath: folder.path + "/all.jsonl"))
            #expect(!FileManager.default.fileExists(atPath: folder.path + "/all.jsonl.part"))
        }
    }

    /// Wherever it strikes: there is the whole file, or none.
    @Test func aSignalLeavesNothingHalf() async throws {
        try await ServerFolder.with { folder in
            try await Self.fill(folder)
            let words = ["export", "--data", folder.data, "--app", "demo"]
            let whole = folder.path + "/whole.jsonl"
            #expect(try await Program.run(words + ["--to", whole]).code == 0)
            var random = SeededRandom(seed: 3)
            var struck = 0
            for number in 0..<8 {
                let file = "\(folder.path)/\(number).jsonl"
                let code = try await Strike.run(words + ["--to", file], SIGTERM, &random) {
                    FileManager.default.fileExists(atPath: file + ".part")
                }
                #expect([0, -SIGTERM].contains(code))
                #expect(!FileManager.default.fileExists(atPath: file + ".part"))
                let isThere = FileManager.default.fileExists(atPath: file)
                if !isThere { struck += 1 }
                #expect(isThere || code == -SIGTERM)
                if isThere { #expect(try Self.lines(file) == Self.lines(whole)) }
            }
            #expect(struck > 0)
        }
    }

    @Test func whatWasKilledIsSaidToBeThere() async throws {
        try await ServerFolder.with { folder in
            try await Self.fill(folder)
            let file = folder.path + "/all.csv"
            try ServerFolder.write([1], file + ".part")
            let words = ["export", "--data", folder.data, "--app", "demo", "--format", "csv", "--only", "transaction"]
            let run = try await Program.run(words + ["--to", file])
            #expect(run.code == 2)
            #expect(run.errorText.contains("all.csv.part is there: what was cut off has left it"), "\(run.errorText)")
            #expect(FileManager.default.contents(atPath: file + ".part") == Data([1]))
            try FileManager.default.removeItem(atPath: file + ".part")
            #expect(try await Program.run(words + ["--to", file]).code == 0)
        }
    }
}
