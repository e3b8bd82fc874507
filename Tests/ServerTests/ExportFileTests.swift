import Foundation
import TestSupport
import Testing

@testable import Server

/// The file of an export is whole, or has no name; also where a disk or a signal ends it early.
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

    @Test func aDiskThatIsFullLeavesNothing() async throws {
        try await ServerFolder.with { folder in
            try await Self.fill(folder)
            let before = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            // Files of 32 KB at most: a write beyond fails, as on a full disk.
            let limited = "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\""
            let words = ["export", "--data", folder.data, "--app", "demo", "--to", folder.path + "/all.jsonl"]
            let run = try await Program.run(["-c", limited, Program.path] + words, instead: "/bin/sh")
            #expect(run.code == 2)
            #expect(run.errorText.contains("all.jsonl cannot be written"), "\(run.errorText)")
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
