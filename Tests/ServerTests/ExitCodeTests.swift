import Foundation
import TestSupport
import Testing

/// What a process ends with, as `docs/cli.md` has it: each code by commands of every kind.
@Suite(.enabled(if: Program.isBuilt, Program.absence)) struct ExitCodeTests {
    /// In the words `FOLDER`, `DATA`, `CONFIG`, `KEY` and `SERVER` stand for those of a server that runs.
    private static let rows: [(words: String, code: Int32)] = [
        // It was done; what was asked for is so.
        ("--help", 0), ("help", 0), ("--version", 0), ("orders --help", 0), ("config -h", 0), ("orders list --help", 0),
        ("man", 0), ("completion zsh", 0), ("config check --config CONFIG", 0), ("config print --config CONFIG", 0),
        ("check --data DATA", 0), ("export --data DATA --app demo", 0), ("ledger refusals --data DATA", 0),
        ("migrate --data DATA", 0), ("rebuild --config CONFIG", 0), ("backup --data DATA --to FOLDER/copy", 0),
        ("orders list --server SERVER --key-file KEY", 0), ("apps show --server SERVER --key-file KEY", 0),
        // What was asked for is not so, or somebody says no.
        ("verify KEY", 1), ("ledger evidence --data DATA --app demo 1", 1),
        ("orders show none --server SERVER --key-file KEY", 1), ("orders list --server SERVER --key-file CONFIG", 1),
        ("import --config CONFIG --app demo --plan KEY", 1), ("apple order M1 --server SERVER --key-file KEY", 1),
        // The command could not be obeyed: its words, a file, another process, a server.
        ("", 2), ("orders", 2), ("ordres --help", 2), ("orders lsit", 2), ("orders list --nope", 2), ("orders show", 2),
        ("config check --config FOLDER/none", 2), ("verify FOLDER/none", 2), ("check --data FOLDER/none", 2),
        ("export --data DATA --app nope", 2), ("ledger evidence --data DATA --app nope 1", 2),
        ("import --config CONFIG --app nope KEY", 2), ("import --config CONFIG --app demo FOLDER/none", 2),
        ("serve --config CONFIG", 2), ("serve --config CONFIG --data KEY", 2),
        ("serve --config CONFIG --data FOLDER/other --listen 192.0.2.1:80", 2),
        ("serve --config CONFIG --data FOLDER/other --trust-roots FOLDER/none", 2),
        ("import --config CONFIG --app demo KEY", 2), ("rebuild --config CONFIG --apply", 2),
        ("reconcile --config CONFIG --since 2026-01-01T00:00:00Z", 2), ("restore --from KEY --data FOLDER/new", 2),
        ("orders list --server http://127.0.0.1:1 --key-file KEY", 2), ("simulate clock --at http://127.0.0.1:1", 2),
        ("simulate --data FOLDER/store --listen 192.0.2.1:80", 2), ("webhook verify --fields KEY --secret-file KEY", 2),
    ]

    private static func with(_ body: (ServerFolder, (String) -> [String]) async throws -> Void) async throws {
        try await ServerFolder.with { folder in
            let server = try await folder.serve()
            #expect(await server.post(Purchase.body(try Purchase.jws(1)))?.status == 200)
            let places = [
                "FOLDER": folder.path, "DATA": folder.data, "CONFIG": folder.configuration, "KEY": folder.path + "/key",
                "SERVER": "http://127.0.0.1:\(server.port)",
            ]
            try await body(folder) { words in
                words.split(separator: " ").map { word in
                    places.reduce(String(word)) { $0.replacing($1.key, with: $1.value) }
                }
            }
            server.stop()
            #expect(await server.exitCode() == 0)
        }
    }

    @Test func eachCodeMeansWhatIsWritten() async throws {
        try await Self.with { _, words in
            for row in Self.rows {
                let run = try await Program.run(words(row.words))
                #expect(run.code == row.code, "\(row.words): \(run.code) \(run.errorText)")
                // Whoever could not be obeyed is told why, and gets nothing that looks like an answer.
                if row.code == 2 { #expect(!run.errors.isEmpty && run.output.isEmpty, "\(row.words)") }
            }
        }
    }

    /// Apple has not answered, and the server goes on asking.
    @Test func whatAppleHasNotAnsweredYetIsThree() async throws {
        try await ServerFolder.with { folder in
            try folder.addAppleKey()
            let server = try await folder.serve()
            let there = ["--server", "http://127.0.0.1:\(server.port)", "--key-file", folder.path + "/key"]
            let run = try await Program.run(["apple", "order", "MK1234", "--wait", "0"] + there)
            #expect(run.code == 3, "\(run.errorText)")
        }
    }

    /// A report that nobody can read is none, whatever it says.
    @Test func whereNothingCanBeWrittenEveryAnswerIsTwo() async throws {
        try await Self.with { folder, words in
            try Data("no proof\n".utf8).write(to: URL(filePath: folder.path + "/rows"))
            let rows = [
                ("verify KEY", 1), ("import --config CONFIG --app demo --plan KEY", 1),
                ("import --config CONFIG --app demo --plan --json FOLDER/rows", 1),
                ("doctor --config CONFIG --backups FOLDER/none", 1),
                ("doctor --json --config CONFIG --backups FOLDER/none", 1),
                ("check --data DATA", 0), ("rebuild --config CONFIG", 0),
                ("orders list --server SERVER --key-file KEY", 0),
            ]
            for (row, code) in rows {
                let good = try await Program.run(words(row))
                #expect(Int(good.code) == code && !good.output.isEmpty, "\(row): \(good.code) \(good.errorText)")
                let run = try await Program.run(words(row), output: "/dev/full")
                #expect(run.code == 2, "\(row): \(run.code)")
                let told = run.errorText.ranges(of: "standard output cannot be written").count
                #expect(told == 1, "\(row): \(run.errorText)")
            }
        }
    }

    /// What is opened next must not stand in the place of a standard output that is closed: a file of the ledger, say, or the
    /// line to a server, into which the answer would go.
    @Test func whereStandardOutputIsClosedNothingWasDone() async throws {
        try await Self.with { folder, words in
            let rows = [
                "--help", "orders --help", "--version", "man", "config print --config CONFIG", "check --data DATA",
                "export --data DATA --app demo", "ledger refusals --data DATA", "rebuild --config CONFIG",
                "backup --data DATA --to FOLDER/copy", "orders list --server SERVER --key-file KEY",
                "apps show --server SERVER --key-file KEY", "apps show --json --server SERVER --key-file KEY",
                "customers entitlements anna --server SERVER --key-file KEY",
            ]
            for row in rows {
                let shell = ["-c", "exec \"$0\" \"$@\" <&- >&-", Program.path] + words(row)
                let run = try await Program.run(shell, instead: "/bin/sh")
                #expect(run.code == 2, "\(row): \(run.code)")
                #expect(run.errorText.contains("standard output cannot be written"), "\(row): \(run.errorText)")
            }
            // Where nobody hears why, the code still tells.
            let deaf = ["-c", "exec \"$0\" \"$@\" <&- >&- 2>&-", Program.path] + words("verify FOLDER/none KEY")
            #expect(try await Program.run(deaf, instead: "/bin/sh").code == 2)
            #expect(try await Program.run(["check", "--data", folder.data]).code == 0)
        }
    }

    /// A pipe whose reader has gone would otherwise end the program, which then leaves what it was to remove.
    @Test func whereNobodyReadsThePipeItEndsInOrder() async throws {
        try await Self.with { folder, words in
            #expect(try await Program.run(words("backup --data DATA --to FOLDER/copy")).code == 0)
            let rows = [
                "--help", "--version", "config print --config CONFIG", "check --data DATA", "verify KEY",
                "export --data DATA --app demo", "events list --all --server SERVER --key-file KEY",
                "import --config CONFIG --app demo --plan KEY", "backup --verify FOLDER/copy",
                "restore --from FOLDER/copy --data FOLDER/new",
            ]
            for row in rows {
                let script = #"exec 3> >(exit); wait $!; exec "$0" "$@" >&3 3>&-"#
                let run = try await Program.run(["-c", script, Program.path] + words(row), instead: "/bin/bash")
                #expect(run.code == 2, "\(row): \(run.code)")
                #expect(run.errorText.contains("standard output cannot be written"), "\(row): \(run.errorText)")
            }
            for place in [folder.path, folder.path + "/new"] {
                let names = try FileManager.default.contentsOfDirectory(atPath: place)
                #expect(!names.contains { $0.contains(".verify-") || $0 == "restoring" }, "\(names)")
            }
        }
    }
}
