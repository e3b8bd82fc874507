import Encoding
import Foundation
import TestSupport
import Testing

/// Which ledger a command uses, and what it does not do to one.
@Suite(.enabled(if: Program.isBuilt, Program.absence)) struct LedgerPlaceTests {
    /// A rehearsal in a folder, by the configuration of a server whose ledger is a database that cannot be reached.
    @Test func aFolderOnTheCommandLineIsMeant() async throws {
        try await ServerFolder.with { folder in
            try Self.replace(
                #""listen""#,
                with: #""database":{"url":"postgresql://nobody@127.0.0.1:1/none"},"listen""#,
                in: folder
            )
            let secret = "0123456789abcdef0123456789abcdef"
            try ServerFolder.write(Array(secret.utf8), folder.path + "/secret", isSecret: true)
            try Self.replace(
                #""id":"demo""#,
                with: #""app_store":{"shared_secret_file":"\#(folder.path)/secret"},"id":"demo""#,
                in: folder
            )
            let (old, trial) = (folder.path + "/old.txt", folder.path + "/trial")
            try ServerFolder.write(Array((try Purchase.jws(1) + "\n").utf8), old)
            let importing = ["import", "--app", "demo", old]
            let reconcile = ["reconcile", "--since", "2026-01-02T00:00:00Z"]
            let rows: [(words: [String], says: String)] = [
                (importing, "\(old): 1 rows into \(trial)\n"),
                (importing + ["--plan"], "1 rows, compared with \(trial); nothing was written\n"),
                (["rebuild"], "looked at in \(trial), 0 to rebuild"),
                (["rebuild", "--apply"], "looked at in \(trial), 0 rebuilt"),
                (reconcile, "\(trial): done\n"),
                (["check"], "\n  transactions   1\n"),
                (["migrate"], "up to date\n"),
                (["export", "--app", "demo"], #""kind":"transaction""#),
                (["ledger", "certificates"], "no certificate seen"),
                (["backup", "--to", folder.path + "/copy"], folder.path + "/copy"),
            ]
            for (words, says) in rows {
                let command = words + ["--config", folder.configuration]
                let named = try await Program.run(command + ["--data", trial])
                #expect(named.code == 0 && named.text.contains(says), "\(words[0]): \(named.text) \(named.errorText)")
                guard words[0] != "backup" else { continue }
                // Without it the database is meant.
                let configured = try await Program.run(command)
                #expect(configured.code == 2, "\(words[0]): \(configured.text)")
                #expect(configured.errorText.contains("database server"), "\(words[0]): \(configured.errorText)")
                #expect(!configured.errorText.contains("\\u{"), "\(words[0]): \(configured.errorText)")
            }
            let doctor = ["doctor", "--offline", "--config", folder.configuration, "--data", trial]
            let found = try await Program.run(doctor).text
            #expect(found.contains("\(trial): up to date"), "\(found)")
            #expect(!FileManager.default.fileExists(atPath: folder.data))
            // A server that had served the database would begin anew.
            let served = folder.path + "/served"
            for command in [["serve"], ["config", "check"]] {
                let refused = try await Program.run(command + ["--config", folder.configuration, "--data", served])
                #expect(refused.code == 2 && refused.errorText.contains("a database is named as well"))
            }
            #expect(!FileManager.default.fileExists(atPath: served))
        }
    }

    @Test(.enabled(if: Tampering.hasPython, "python3 is missing: nothing changes a file"))
    func anOlderSchemaIsLeftAlone() async throws {
        try await ServerFolder.with { folder in
            let place = ["--data", folder.data]
            #expect(try await Program.run(["migrate"] + place).code == 0)
            try Tampering.run("PRAGMA user_version = 7", folder)
            try await Self.confirmLeftAlone(place, folder)
        }
    }

    /// Older servers may be running there.
    @Test(.enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"))
    func anOlderSchemaOfADatabaseIsLeftAlone() async throws {
        try await ServerFolder.with { folder in
            let schema = TestDatabase.freshName()
            defer { _ = try? TestDatabase.query("DROP SCHEMA IF EXISTS \(schema) CASCADE") }
            let place = ["--database-url", try #require(TestDatabase.url), "--database-schema", schema]
            #expect(try await Program.run(["migrate"] + place).code == 0)
            for table in ["migrations", "migration_steps"] {
                try TestDatabase.query("DELETE FROM \(schema).\(table) WHERE number > 7")
            }
            try await Self.confirmLeftAlone(place, folder)
        }
    }

    private static func confirmLeftAlone(_ place: [String], _ folder: ServerFolder) async throws {
        let old = folder.path + "/old.txt"
        try ServerFolder.write(Array((try Purchase.jws(1) + "\n").utf8), old)
        let missing = try await Program.run(["migrate", "--dry-run"] + place).text
        #expect(missing.hasPrefix("would apply ") && missing.contains("_0008\n"), "\(missing)")
        let importing = ["import", "--app", "demo", old]
        for words in [
            importing, importing + ["--plan"], ["reconcile", "--since", "2026-01-02T00:00:00Z"],
            ["rebuild", "--apply"], ["check"],
        ] {
            let run = try await Program.run(words + ["--config", folder.configuration] + place)
            #expect(run.code == 2 && run.text == "", "\(words): \(run.text)")
            #expect(run.errorText.contains("an older version of Assay made this ledger"), "\(run.errorText)")
            #expect(try await Program.run(["migrate", "--dry-run"] + place).text == missing)
        }
    }

    @Test func aLedgerThatIsNotThereIsNotReconciled() async throws {
        try await ServerFolder.with { folder in
            let words = ["reconcile", "--config", folder.configuration, "--since", "2026-01-02T00:00:00Z"]
            let run = try await Program.run(words)
            #expect(run.code == 2 && run.errorText.contains(folder.data), "\(run.errorText)")
            #expect(!FileManager.default.fileExists(atPath: folder.data))
        }
    }

    private static func replace(_ text: String, with other: String, in folder: ServerFolder) throws {
        let old = String(decoding: try Data(contentsOf: URL(filePath: folder.configuration)), as: UTF8.self)
        try ServerFolder.write(Array(old.replacing(text, with: other).utf8), folder.configuration)
    }
}
