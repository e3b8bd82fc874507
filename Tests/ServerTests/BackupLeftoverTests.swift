import Foundation
import TestSupport
import Testing

/// What a copy, or a look at one, leaves behind when it is ended in its middle.
@Suite(.enabled(if: Program.isBuilt, Program.absence), .serialized) struct BackupLeftoverTests {
    private static func withLedger(_ body: (ServerFolder) async throws -> Void) async throws {
        try await ServerFolder.with { folder in
            try ServerFolder.write(try ImportSample(rows: 600, seed: 4).bytes, folder.path + "/old.jsonl")
            let words = ["import", "--config", folder.configuration, "--app", "demo", folder.path + "/old.jsonl"]
            #expect(try await Program.run(words).code == 1)
            try await body(folder)
        }
    }

    private static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    /// Wherever it strikes: there is the copy with its digest, or nothing.
    @Test func aSignalLeavesNothingHalf() async throws {
        try await Self.withLedger { folder in
            var random = SeededRandom(seed: 8)
            var struck = 0
            for number in 0..<10 {
                let copy = "\(folder.path)/\(number).sqlite"
                let words = ["backup", "--data", folder.data, "--to", copy]
                let code = try await Strike.run(words, SIGTERM, &random) { Self.exists(copy + ".part") }
                #expect([0, -SIGTERM].contains(code))
                #expect(!Self.exists(copy + ".part"))
                #expect(Self.exists(copy) == Self.exists(copy + ".sha256"))
                if !Self.exists(copy) { struck += 1 }
                #expect(Self.exists(copy) || code == -SIGTERM)
                // The next one finds nothing in its way.
                if !Self.exists(copy) { #expect(try await Program.run(words).code == 0) }
                #expect(try await Program.run(["backup", "--verify", copy]).code == 0)
            }
            #expect(struck > 0)
        }
    }

    /// A kill cannot be heard; the next copy says what it found, and what to do.
    @Test func whatWasKilledIsSaidToBeThere() async throws {
        try await Self.withLedger { folder in
            let copy = folder.path + "/copy.sqlite"
            let words = ["backup", "--data", folder.data, "--to", copy]
            for (path, says) in [
                (copy + ".part", "copy.sqlite.part is there: what was cut off has left it"),
                (copy + ".sha256", "copy.sqlite.sha256 is there, and what it is of is not"),
            ] {
                try ServerFolder.write([1], path)
                let run = try await Program.run(words)
                #expect(run.code == 2)
                #expect(run.errorText.contains(says) && run.errorText.contains("remove it"), "\(run.errorText)")
                #expect(FileManager.default.contents(atPath: path) == Data([1]))
                try FileManager.default.removeItem(atPath: path)
            }
            #expect(try await Program.run(words).code == 0)
            let again = try await Program.run(words)
            #expect(again.code == 2 && again.errorText.contains("copy.sqlite is there already; nothing is overwritten"))
            #expect(Self.exists(copy + ".sha256"))
        }
    }

    /// As under a limit of the size of files: it is not the ledger that is damaged.
    @Test func aCopyThatCannotBeWrittenIsNamed() async throws {
        try await TemporaryFolder.with { folder in
            let (data, copy) = (folder + "/data", folder + "/copy")
            #expect(try await Program.run(["migrate", "--data", data]).code == 0)
            let script = #"trap '' XFSZ; ulimit -f 100; exec "$0" backup --data "$1" --to "$2""#
            let run = try await Program.run(["-c", script, Program.path, data, copy], instead: "/bin/bash")
            #expect(run.code == 2)
            #expect(run.errorText == "assay backup: \(copy).part cannot be written (SQLite 778)\n")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["data"])
        }
    }

    /// The copy is a pipe that nobody writes to: so the look at it waits, its folder made.
    private static func withWaitingCopy(_ body: (_ folder: String, _ copy: String) async throws -> Void) async throws {
        try await TemporaryFolder.with { folder in
            let copy = folder + "/copy.sqlite"
            let pipe = try await Program.run(["-m", "600", copy], instead: "/usr/bin/mkfifo")
            #expect(pipe.code == 0)
            let digest = String(repeating: "0", count: 64) + "  copy.sqlite\n"
            try ServerFolder.write(Array(digest.utf8), copy + ".sha256")
            try await body(folder, copy)
        }
    }

    /// SIGHUP is what a terminal sends that closes.
    @Test(arguments: [SIGTERM, SIGHUP]) func aLookThatIsEndedLeavesNoFolder(signal: Int32) async throws {
        try await Self.withWaitingCopy { folder, copy in
            @Sendable func names() -> [String] {
                (try? FileManager.default.contentsOfDirectory(atPath: folder).sorted()) ?? []
            }
            var random = SeededRandom(seed: 1)
            let code = try await Strike.run(["backup", "--verify", copy], signal, &random) {
                names().contains { name in
                    name.hasPrefix("copy.sqlite.verify-") && Self.exists("\(folder)/\(name)/assay.sqlite")
                }
            }
            #expect(code == -signal)
            #expect(names() == ["copy.sqlite", "copy.sqlite.sha256"])
        }
    }

    /// What `nohup` has started goes on, here to the end of a copy with nothing in it.
    @Test func anIgnoredHangUpEndsNothing() async throws {
        try await Self.withWaitingCopy { folder, copy in
            let script = """
                trap '' HUP
                "$0" backup --verify "$1" &
                until compgen -G "$1.verify-*/assay.sqlite" >/dev/null; do sleep 0.01; done
                kill -HUP $!
                sleep 0.2
                exec 3<>"$1" 3>&-
                wait $!
                """
            let run = try await Program.run(["-c", script, Program.path, copy], instead: "/bin/bash")
            #expect(run.code == 2, "\(run.code) \(run.errorText)")
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(names.sorted() == ["copy.sqlite", "copy.sqlite.sha256"])
        }
    }
}
